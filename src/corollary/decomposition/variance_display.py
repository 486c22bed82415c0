"""The picture of explained variance: what each component adds, and what they explain together."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from corollary.core.display import Display


@dataclass(eq=False)
class ExplainedVarianceDisplay(Display):
    """Draw the ratios of variance that components explain, in descending order, and their sum.

    A ``chosen`` number of components is marked, such as :func:`components_for_share` returns. See
    :class:`PCA`.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
        A bar for each component.
    line_ : matplotlib Line2D
        The share that the first components explain together.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.decomposition import ExplainedVarianceDisplay
    >>> display = ExplainedVarianceDisplay(np.array([0.7, 0.2, 0.1])).plot()
    >>> display.line_.get_ydata().round(2)
    array([0.7, 0.9, 1. ])
    """

    ratios: np.ndarray
    _: KW_ONLY
    chosen: int | None = None

    def _draw(self, ax: Any) -> None:
        numbers = np.arange(1, len(self.ratios) + 1)
        self.bars_ = ax.bar(numbers, self.ratios, color="C0", alpha=0.6, label="each")
        style = {"color": "C1", "marker": "o", "markersize": 3}
        (self.line_,) = ax.plot(numbers, np.cumsum(self.ratios), label="together", **style)
        if self.chosen is not None:
            ax.axvline(self.chosen + 0.5, color="0.2", linestyle="--", linewidth=1, label="chosen")
        ax.set(xlabel="component", ylabel="share of the variance", ylim=(0, 1.02))
        ax.legend(fontsize="small")

    @classmethod
    def from_estimator(cls, estimator: Any, *, chosen: int | None = None, ax: Any = None) -> Self:
        """Draw the ``explained_variance_ratio_`` of a fitted model, ours or scikit-learn's.

        Axes are those of :meth:`plot`. See :class:`ExplainedVarianceDisplay`.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "explained_variance_ratio_"):
            raise TypeError(
                "ExplainedVarianceDisplay.from_estimator needs a model with "
                f"explained_variance_ratio_, as PCA has. Got {type(estimator).__name__}."
            )
        return cls(np.asarray(estimator.explained_variance_ratio_), chosen=chosen).plot(ax)
