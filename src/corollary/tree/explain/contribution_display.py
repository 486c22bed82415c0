"""The picture of a prediction's parts: what each feature adds to the expectation."""

from typing import Any, Literal, Self

import numpy as np

from corollary.core.display import axes_for
from corollary.core.estimator import checked

_UP, _DOWN = "#c0392b", "#2e6da4"


class ContributionDisplay:
    """Draw the contributions of features to one prediction, or their mean size over many.

    Parameters
    ----------
    contributions : ndarray of shape (n_samples, n_features)
        As from ``contributions(X)`` of a model of trees.
    expected_value : float
        Where contributions start.
    feature_names : list of str or None, default=None
        Names of the features.
    values : ndarray of shape (n_samples, n_features) or None, default=None
        The inputs, shown beside the names in a waterfall.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure it belongs to.
    bars_ : matplotlib BarContainer
        The bars, from the top.

    See Also
    --------
    corollary.tree.tree_contributions : Computes them.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.tree import ContributionDisplay
    >>> display = ContributionDisplay(np.array([[1.0, -2.0]]), 0.5).plot()
    >>> [float(bar.get_width()) for bar in display.bars_]
    [-2.0, 1.0]
    """

    def __init__(
        self,
        contributions: np.ndarray,
        expected_value: float,
        *,
        feature_names: list[str] | None = None,
        values: np.ndarray | None = None,
    ) -> None:
        self.contributions = contributions
        self.expected_value = expected_value
        self.feature_names = feature_names
        self.values = values

    @checked
    def plot(
        self,
        ax: Any = None,
        *,
        kind: Literal["auto", "waterfall", "bar"] = "auto",
        row: int = 0,
        max_features: int = 10,
    ) -> Self:
        """Draw contributions, the largest on top.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        kind : {"auto", "waterfall", "bar"}, default="auto"
            A waterfall from the expected to the predicted value of one row, or bars of mean
            absolute contributions of all rows; "auto" draws a waterfall if there is one row.
        row : int, default=0
            The row of a waterfall.
        max_features : int, default=10
            Features to show; the others are one bar.

        Returns
        -------
        display : ContributionDisplay
            Itself, with ``ax_``, ``figure_`` and ``bars_``.
        """
        ax = axes_for(ax)
        waterfall = kind == "waterfall" or (kind == "auto" and len(self.contributions) == 1)
        sizes = self.contributions[row] if waterfall else np.abs(self.contributions).mean(axis=0)
        order = np.argsort(-np.abs(sizes), kind="stable")
        shown, others = order[:max_features], order[max_features:]
        widths = [float(sizes[j]) for j in shown]
        labels = [self._label(int(j), row if waterfall else None) for j in shown]
        if len(others):
            widths.append(float(sizes[others].sum()))
            labels.append(f"{len(others)} others")
        places = np.arange(len(widths))[::-1]
        if waterfall:
            # The smallest steps first, from the bottom: the last bar ends at the prediction.
            total = self.expected_value + np.cumsum(widths[::-1])[::-1]
            starts = total - widths
            colours = [_UP if w >= 0 else _DOWN for w in widths]
            self.bars_ = ax.barh(places, widths, left=starts, color=colours)
            ax.axvline(self.expected_value, color="0.5", linestyle=":", linewidth=1.0)
            ax.axvline(total[0], color="0.2", linestyle="--", linewidth=1.0)
            for place, width, start in zip(places, widths, starts):
                ax.annotate(
                    f"{width:+.3g}",
                    (max(start, start + width), place),
                    xytext=(3, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize="small",
                )
            ax.use_sticky_edges = False  # room for the numbers, on both sides
            ax.margins(x=0.12)
            ax.set_xlabel(
                f"raw prediction: expected {self.expected_value:.3g}, here {total[0]:.3g}"
            )
        else:
            self.bars_ = ax.barh(places, widths, color=_DOWN)
            ax.set_xlabel("mean absolute contribution")
        ax.set_yticks(places, labels)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _label(self, feature: int, row: int | None) -> str:
        name = f"x{feature}" if self.feature_names is None else str(self.feature_names[feature])
        if row is None or self.values is None:
            return name
        value = self.values[row, feature]
        return f"{name} = {value:.4g}" if isinstance(value, float) else f"{name} = {value}"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        output: int = 0,
        ax: Any = None,
        kind: Literal["auto", "waterfall", "bar"] = "auto",
        row: int = 0,
        max_features: int = 10,
    ) -> "ContributionDisplay":
        """Compute and draw the contributions of a model's predictions.

        Parameters
        ----------
        estimator : estimator
            With ``contributions(X)`` and ``expected_value_``.
        X : array-like or data frame of shape (n_samples, n_features)
            Inputs.
        output : int, default=0
            Which raw prediction, for models with several.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        kind : {"auto", "waterfall", "bar"}, default="auto"
            What to draw.
        row : int, default=0
            The row of a waterfall.
        max_features : int, default=10
            Features to show.

        Returns
        -------
        display : ContributionDisplay
            The drawn display.
        """
        if not hasattr(estimator, "contributions"):
            raise TypeError(
                "ContributionDisplay.from_estimator needs a model with a method contributions(X). "
                f"Got {type(estimator).__name__} instead."
            )
        contributions = estimator.contributions(X)
        expected = np.atleast_1d(estimator.expected_value_)
        if contributions.ndim == 3:
            contributions = contributions[:, :, output]
        names = getattr(estimator, "feature_names_in_", None)
        display = cls(
            contributions,
            float(expected[output]),
            feature_names=None if names is None else list(names),
            values=np.asarray(X, dtype=None if hasattr(X, "columns") else np.float64),
        )
        return display.plot(ax, kind=kind, row=row, max_features=max_features)
