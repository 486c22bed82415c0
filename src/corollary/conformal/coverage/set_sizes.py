"""How large prediction sets are, and what sets of each size cover."""

from typing import Any, NamedTuple, Self

import numpy as np

from corollary.conformal._checks import held_labels
from corollary.core.display import axes_for, html_table
from corollary.core.estimator import ArrayLike, Probability, checked


class SetSizes(NamedTuple):
    """Sizes of prediction sets with their coverage.

    Parameters
    ----------
    size : ndarray of int of shape (n_sizes,)
        Sizes that occur, ascending.
    n_sets : ndarray of int of shape (n_sizes,)
        Sets of each size.
    coverage : ndarray of shape (n_sizes,)
        Share of them that hold their label.
    lower : ndarray of shape (n_sizes,)
        Lower confidence limit of the coverage.
    upper : ndarray of shape (n_sizes,)
        Upper confidence limit.
    """

    size: np.ndarray
    n_sets: np.ndarray
    coverage: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    def _repr_html_(self) -> str:
        return html_table(self._asdict())


@checked
def coverage_by_size(
    y: ArrayLike, sets: ArrayLike, *, classes: ArrayLike, confidence: Probability = 0.95
) -> SetSizes:
    """Count prediction sets by their size, and how many of each size hold their label.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels of rows that neither trained nor calibrated.
    sets : array-like of bool of shape (n_samples, n_classes)
        Their prediction sets.
    classes : array-like of shape (n_classes,)
        Labels of the columns.
    confidence : float, default=0.95
        Confidence of the limits of each coverage, strictly between 0 and 1.

    Returns
    -------
    sizes : SetSizes
        One entry per size that occurs, with exact (Clopper and Pearson) limits.

    See Also
    --------
    SetSizeDisplay : The picture.
    coverage_score : The coverage of all sets together.

    Notes
    -----
    Conformal prediction promises the coverage of all rows, not of those whose sets have a certain
    size: sets of one class that cover too little are the price of full ones that cover always.

    Examples
    --------
    >>> from corollary.conformal import coverage_by_size
    >>> sets = [[True, False], [True, False], [True, True]]
    >>> found = coverage_by_size(["a", "b", "b"], sets, classes=["a", "b"])
    >>> found.size.tolist(), found.n_sets.tolist(), found.coverage.tolist()
    ([1, 2], [2, 1], [0.5, 1.0])
    """
    from corollary.theory import clopper_pearson_interval

    y, found, labels = np.asarray(y), np.asarray(sets), np.asarray(classes)
    if found.ndim != 2 or found.dtype != bool or found.shape != (len(y), len(labels)) or not len(y):
        raise ValueError(
            "coverage_by_size needs a boolean set of classes for every label, of shape "
            f"(n_samples, n_classes). Got {len(y)} labels, {len(labels)} classes and sets of shape "
            f"{found.shape} and type {found.dtype}."
        )
    covered = held_labels(y, found, labels, who="coverage_by_size")
    size, place = np.unique(found.sum(axis=1), return_inverse=True)
    count = np.bincount(place)
    hits = np.bincount(place[covered], minlength=len(size))
    lower, upper = clopper_pearson_interval(hits, count, 1 - confidence)
    return SetSizes(size, count, hits / count, np.asarray(lower), np.asarray(upper))


class SetSizeDisplay:
    """Draw how large prediction sets are, and what sets of each size cover.

    Bars are the shares of rows whose sets have a size; points are the shares of these sets that
    hold their label, with confidence limits; the line is the coverage of all rows together.

    Parameters
    ----------
    sizes : SetSizes
        What to draw.
    level : float or None, default=None
        The wanted coverage, drawn as a line; None leaves it out.
    name : str or None, default=None
        Title of the picture.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Its figure.
    bars_ : matplotlib BarContainer
        The shares of rows.
    points_ : matplotlib ErrorbarContainer
        The coverage of each size.

    See Also
    --------
    coverage_by_size : The numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from corollary.conformal import SetSizeDisplay, SplitConformalClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SplitConformalClassifier(LogisticRegression(max_iter=1000), random_state=0)
    >>> display = SetSizeDisplay.from_estimator(model.fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> display.ax_.get_xlabel()
    'classes in the set'
    """

    def __init__(
        self, sizes: SetSizes, *, level: float | None = None, name: str | None = None
    ) -> None:
        self.sizes = sizes
        self.level = level
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, name: str | None = None, ax: Any = None
    ) -> "SetSizeDisplay":
        """Predict sets and draw them.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier with ``predict_set``.
        X : array-like or data frame of shape (n_samples, n_features)
            Rows that neither trained nor calibrated.
        y : array-like of shape (n_samples,)
            Their labels.
        name : str or None, default=None
            Title of the picture.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : SetSizeDisplay
            The drawn display.
        """
        return cls.from_predictions(
            y,
            estimator.predict_set(X),
            classes=getattr(estimator, "set_labels_", estimator.classes_),
            level=estimator.confidence,
            name=name,
            ax=ax,
        )

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        sets: Any,
        *,
        classes: Any,
        confidence: float = 0.95,
        level: float | None = None,
        name: str | None = None,
        ax: Any = None,
    ) -> "SetSizeDisplay":
        """Draw given sets.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels.
        sets : array-like of bool of shape (n_samples, n_classes)
            Their prediction sets.
        classes : array-like of shape (n_classes,)
            Labels of the columns.
        confidence : float, default=0.95
            Confidence of the limits.
        level : float or None, default=None
            The wanted coverage.
        name : str or None, default=None
            Title of the picture.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : SetSizeDisplay
            The drawn display.
        """
        sizes = coverage_by_size(y, sets, classes=classes, confidence=confidence)
        return cls(sizes, level=level, name=name).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : SetSizeDisplay
            Itself, with ``ax_``, ``figure_``, ``bars_`` and ``points_``.
        """
        ax = axes_for(ax)
        found = self.sizes
        share = found.n_sets / found.n_sets.sum()
        self.bars_ = ax.bar(found.size, share, color="0.8", label="share of rows")
        # Limits of shares lie on both sides of them, up to rounding.
        limits = np.maximum([found.coverage - found.lower, found.upper - found.coverage], 0.0)
        self.points_ = ax.errorbar(
            found.size, found.coverage, yerr=limits, fmt="o", markersize=4, capsize=2,
            label="coverage of their sets",
        )  # fmt: skip
        overall = float(found.coverage @ share)
        ax.axhline(overall, color="C0", linewidth=1, label=f"coverage of all rows, {overall:.3f}")
        if self.level is not None:
            ax.axhline(
                self.level, color="black", linewidth=1, linestyle=":", label=f"wanted, {self.level}"
            )
        ax.set(xlabel="classes in the set", ylabel="share", ylim=(0, 1.02), title=self.name)
        ax.set_xticks(_ticks(found.size))
        ax.legend(fontsize="small", loc="center right")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _ticks(sizes: np.ndarray) -> np.ndarray:
    """Return whole numbers over the range of the sizes, twenty at most."""
    step = max(1, int(np.ceil((sizes[-1] - sizes[0] + 1) / 20)))
    return np.arange(sizes[0], sizes[-1] + 1, step)
