"""The picture of boosting: loss by iteration, on training and other rows."""

from typing import Any, Self

import numpy as np

from corollary.core.display import axes_for
from corollary.ensemble.boosting._estimator import HistGradientBoosting


class BoostingCurveDisplay:
    """Draw the mean loss before the first and after each iteration.

    Parameters
    ----------
    curves : dict of str to ndarray
        Losses by name of the rows, each with one entry more than iterations.
    chosen : int or None, default=None
        An iteration to mark; None for the lowest point of the last curve, if there are several.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure it belongs to.
    lines_ : dict of str to matplotlib Line2D
        The curves by name.

    See Also
    --------
    HistGradientBoostingClassifier : The model.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import BoostingCurveDisplay, HistGradientBoostingRegressor
    >>> X = np.linspace(0, 1, 100)[:, None]
    >>> model = HistGradientBoostingRegressor(max_iter=10).fit(X, X[:, 0] ** 2)
    >>> display = BoostingCurveDisplay.from_estimator(model, {"training": (X, X[:, 0] ** 2)})
    >>> len(display.curves["training"])
    11
    """

    def __init__(self, curves: dict[str, np.ndarray], *, chosen: int | None = None) -> None:
        self.curves = curves
        self.chosen = chosen

    def plot(self, ax: Any = None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : BoostingCurveDisplay
            Itself, with ``ax_``, ``figure_`` and ``lines_``.
        """
        ax = axes_for(ax)
        self.lines_ = {}
        for name, losses in self.curves.items():
            (self.lines_[name],) = ax.plot(np.arange(len(losses)), losses, label=name)
        chosen = self.chosen
        if chosen is None and len(self.curves) > 1:
            chosen = int(np.argmin(list(self.curves.values())[-1]))
        if chosen is not None:
            ax.axvline(chosen, color="0.4", linestyle="--", linewidth=1.0, label=f"best: {chosen}")
        ax.set_xlabel("iterations")
        ax.set_ylabel("mean loss")
        ax.legend(fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def from_estimator(
        cls, estimator: HistGradientBoosting, data: dict[str, Any] | None = None, *, ax: Any = None
    ) -> "BoostingCurveDisplay":
        """Draw the losses of a fitted model.

        Parameters
        ----------
        estimator : HistGradientBoostingClassifier or HistGradientBoostingRegressor
            A fitted model.
        data : dict of str to tuple or None, default=None
            Rows ``(X, y)`` by name, for which losses are computed; None draws what early
            stopping has recorded.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : BoostingCurveDisplay
            The drawn display.
        """
        if not isinstance(estimator, HistGradientBoosting):
            raise TypeError(
                "BoostingCurveDisplay.from_estimator draws HistGradientBoostingClassifier and "
                f"HistGradientBoostingRegressor. Got {type(estimator).__name__} instead."
            )
        if data is not None:
            curves = {name: estimator.staged_loss(X, y) for name, (X, y) in data.items()}
            return cls(curves).plot(ax)
        if not len(estimator.train_score_):
            raise ValueError(
                "The model has recorded no losses. Fit it with early_stopping=True, or give rows "
                "in `data`."
            )
        curves = {"training": -estimator.train_score_}
        if len(estimator.validation_score_):
            curves["held out"] = -estimator.validation_score_
        return cls(curves, chosen=estimator.n_iter_).plot(ax)
