"""The picture of anomalies: the most unusual rows in order, and which columns make them so."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from corollary.anomaly.detector import AnomalyDetector
from corollary.core.display import Display, clean


@dataclass(eq=False)
class AnomalyDisplay(Display):
    """Draw the most unusual rows as bars that are made of their columns.

    Rows are positions, the most unusual first, with ``contributions`` of their columns, as many as
    ``names``, and ``p_values``. The ``n_columns`` that add most have a colour of their own, the
    others share one. Negative contributions, of columns that speak for a row, are left out. See
    :class:`AnomalyDetector`.

    Attributes
    ----------
    bars_ : dict of str to matplotlib BarContainer
        The bars of each column.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.anomaly import AnomalyDetector, AnomalyDisplay
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = AnomalyDetector(random_state=0).fit(X)
    >>> rows = np.vstack([X[:5], [[0.0, 7.0, 0.0]]])
    >>> display = AnomalyDisplay.from_estimator(model, rows, n_rows=2)
    >>> display.rows[0], list(display.bars_)[0]
    (np.int64(5), 'x1')
    """

    rows: np.ndarray
    contributions: np.ndarray
    p_values: np.ndarray
    names: Sequence[str]
    _: KW_ONLY
    n_columns: int = 5

    def _draw(self, ax: Any) -> None:
        parts = np.maximum(self.contributions, 0.0)
        shown = np.argsort(-parts.sum(axis=0), kind="stable")[: self.n_columns]
        widths = {clean(str(self.names[j])): parts[:, j] for j in shown}
        if len(shown) < parts.shape[1]:
            widths["other columns"] = np.delete(parts, shown, axis=1).sum(axis=1)
        places, left, self.bars_ = np.arange(len(self.rows)), np.zeros(len(self.rows)), {}
        for k, (name, width) in enumerate(widths.items()):
            colour = f"C{k}" if k < len(shown) else "0.8"
            self.bars_[name] = ax.barh(places, width, left=left, color=colour, label=name)
            left = left + width
        labels = [f"row {row} (p = {p:.2g})" for row, p in zip(self.rows, self.p_values)]
        ax.set(yticks=places, yticklabels=labels, xlabel="contribution to the score")
        ax.invert_yaxis()
        ax.legend(fontsize="small")

    @classmethod
    def from_estimator(
        cls,
        estimator: AnomalyDetector,
        X: Any,
        *,
        n_rows: int = 10,
        n_columns: int = 5,
        ax: Any = None,
    ) -> Self:
        """Draw the ``n_rows`` most unusual ones of new rows X, as a fitted detector sees them.

        Axes are those of :meth:`plot`. See :class:`AnomalyDisplay`.
        """
        rows = np.argsort(estimator.score_samples(X), kind="stable")[:n_rows]
        default = [f"x{j}" for j in range(estimator.n_features_in_)]
        names = getattr(estimator, "feature_names_in_", default)
        shown = estimator.contributions(X)[rows], estimator.p_values(X)[rows]
        return cls(rows, *shown, names, n_columns=n_columns).plot(ax)
