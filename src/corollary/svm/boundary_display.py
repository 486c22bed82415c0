"""The picture of a classifier in the plane: boundary, margin and support vectors."""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from corollary.core.display import axes_for


class SVMBoundaryDisplay:
    """Draw the boundary of a two-class machine with its margin and support vectors.

    The boundary is where the score is zero, the margin lies between the scores -1 and 1.

    Parameters
    ----------
    xx : ndarray of shape (n_y, n_x)
        First coordinate of a grid.
    yy : ndarray of shape (n_y, n_x)
        Second coordinate.
    scores : ndarray of shape (n_y, n_x)
        Scores on the grid.
    X : ndarray of shape (n_samples, 2)
        Rows to draw.
    labels : ndarray of shape (n_samples,)
        Their classes.
    support : ndarray of shape (n_support, 2) or None, default=None
        Support vectors, drawn with a ring.
    names : tuple of two str, default=('x0', 'x1')
        Names of the axes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure it belongs to.
    contours_ : matplotlib QuadContourSet
        Lines at the scores -1, 0 and 1.
    points_ : list of matplotlib PathCollection
        The rows, class by class.
    rings_ : matplotlib PathCollection or None
        The rings around support vectors.

    See Also
    --------
    SVC : The classifier.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.svm import SVC, SVMBoundaryDisplay
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 1.0], [4.0, 0.0]])
    >>> model = SVC(kernel="linear", C=10.0).fit(X, [0, 0, 1, 1])
    >>> display = SVMBoundaryDisplay.from_estimator(model, X, [0, 0, 1, 1])
    >>> len(display.points_), len(display.support)
    (2, 2)
    """

    def __init__(
        self,
        xx: np.ndarray,
        yy: np.ndarray,
        scores: np.ndarray,
        X: np.ndarray,
        labels: np.ndarray,
        *,
        support: np.ndarray | None = None,
        names: tuple[str, str] = ("x0", "x1"),
    ) -> None:
        self.xx = xx
        self.yy = yy
        self.scores = scores
        self.X = X
        self.labels = labels
        self.support = support
        self.names = names

    def plot(self, ax: Any = None, *, fill: bool = True) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        fill : bool, default=True
            Whether to colour the plane by the score.

        Returns
        -------
        display : SVMBoundaryDisplay
            Itself, with ``ax_``, ``figure_``, ``contours_``, ``points_`` and ``rings_``.
        """
        ax = axes_for(ax)
        if fill:
            limit = float(max(np.abs(self.scores).max(), 1e-300))
            # An image: filled contours that are transparent show seams.
            ax.imshow(
                self.scores,
                extent=(self.xx.min(), self.xx.max(), self.yy.min(), self.yy.max()),
                origin="lower",
                aspect="auto",
                interpolation="bilinear",
                cmap="coolwarm",
                vmin=-limit,
                vmax=limit,
                alpha=0.3,
            )
        self.contours_ = ax.contour(
            self.xx,
            self.yy,
            self.scores,
            levels=[-1.0, 0.0, 1.0],
            colors="0.2",
            linestyles=["--", "-", "--"],
        )
        self.points_ = []
        for label, colour, marker in zip(np.unique(self.labels), ("C0", "C3"), ("o", "s")):
            rows = self.X[self.labels == label]
            style = {"color": colour, "marker": marker, "s": 20, "zorder": 3}
            self.points_.append(ax.scatter(rows[:, 0], rows[:, 1], label=str(label), **style))
        self.rings_ = None
        if self.support is not None and len(self.support):
            self.rings_ = ax.scatter(
                self.support[:, 0],
                self.support[:, 1],
                s=90,
                facecolors="none",
                edgecolors="0.1",
                label="support vectors",
                zorder=4,
            )
        ax.set_xlabel(self.names[0])
        ax.set_ylabel(self.names[1])
        ax.legend(fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        grid_resolution: int = 150,
        ax: Any = None,
        fill: bool = True,
    ) -> "SVMBoundaryDisplay":
        """Compute and draw the picture of a fitted classifier.

        Parameters
        ----------
        estimator : SVC, NuSVC or LinearSVC
            A machine for two classes, fitted on rows with two features. Any classifier with
            ``decision_function`` will do; rings need ``support_vectors_``.
        X : array-like of shape (n_samples, 2)
            Rows to draw.
        y : array-like of shape (n_samples,)
            Their classes.
        grid_resolution : int, default=150
            Points of the grid in each direction.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        fill : bool, default=True
            Whether to colour the plane by the score.

        Returns
        -------
        display : SVMBoundaryDisplay
            The drawn display.
        """
        check_is_fitted(estimator)
        names = tuple(str(c) for c in getattr(X, "columns", ("x0", "x1")))
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != 2:
            raise ValueError(
                "SVMBoundaryDisplay draws rows with two features. Got shape "
                f"{rows.shape}; choose two columns and fit on them."
            )
        if len(estimator.classes_) != 2:
            raise ValueError(
                "SVMBoundaryDisplay draws a machine for two classes. Got "
                f"{len(estimator.classes_)} classes."
            )
        low, high = rows.min(axis=0), rows.max(axis=0)
        room = 0.1 * np.where(high > low, high - low, 1.0)
        axes = [np.linspace(low[j] - room[j], high[j] + room[j], grid_resolution) for j in (0, 1)]
        xx, yy = np.meshgrid(*axes)
        grid: Any = np.c_[xx.ravel(), yy.ravel()]
        if hasattr(X, "columns"):
            import pandas as pd

            grid = pd.DataFrame(grid, columns=X.columns)
        scores = np.asarray(estimator.decision_function(grid)).reshape(xx.shape)
        display = cls(
            xx,
            yy,
            scores,
            rows,
            np.asarray(y),
            support=getattr(estimator, "support_vectors_", None),
            names=names,  # type: ignore[arg-type]
        )
        return display.plot(ax, fill=fill)
