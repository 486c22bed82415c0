"""The picture of a density in one or two columns: a curve, or contours by their mass."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from corollary.core.display import Display


@dataclass(eq=False)
class DensityDisplay(Display):
    """Draw a density as a curve, or as contours that hold given shares of its mass.

    Parameters
    ----------
    grid : tuple of ndarray
        Points of each axis, one or two of them.
    density : ndarray of shape (n_points,) or (n_second, n_first)
        Density at the points of the grid.
    rows : ndarray of shape (n_rows, n_axes) or None, default=None
        Rows to draw beside it.
    shares : sequence of float, default=(0.5, 0.8, 0.95)
        Each contour holds the smallest region with this share of the mass.
    cmap : str, default="viridis"
        Colours of the contours.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    levels_ : ndarray of shape (n_levels,)
        Heights of the contours; empty for a curve.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.density import DensityDisplay, KernelDensity
    >>> X = np.random.default_rng(0).normal(size=(200, 1))
    >>> model = KernelDensity(bandwidth="reference").fit(X)
    >>> display = DensityDisplay.from_estimator(model, X)
    >>> float((display.density.sum() * np.diff(display.grid[0])[0]).round(2))
    1.0
    """

    grid: tuple[np.ndarray, ...]
    density: np.ndarray
    _: KW_ONLY
    rows: np.ndarray | None = None
    shares: Any = (0.5, 0.8, 0.95)
    cmap: str = "viridis"

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, *, grid_resolution: int = 100, ax: Any = None, **options: Any
    ) -> Self:
        """Draw a fitted density of one or two columns around rows.

        Parameters
        ----------
        model : estimator
            With ``score_samples``.
        X : array-like of shape (n_rows, n_axes)
            Rows that say what to draw, and are drawn.
        grid_resolution : int, default=100
            Points of each axis.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        **options : object
            Passed to the constructor: ``shares`` and ``cmap``.
        """
        rows = np.asarray(X, dtype=float)
        if rows.ndim != 2 or rows.shape[1] not in (1, 2) or not len(rows):
            raise ValueError(
                f"DensityDisplay draws densities of 1 or 2 columns. Got shape {rows.shape}."
            )
        low, high = rows.min(axis=0), rows.max(axis=0)
        margin = np.where(high > low, 0.25 * (high - low), 1.0)
        ends = zip(low - margin, high + margin)
        grid = tuple(np.linspace(*pair, grid_resolution) for pair in ends)
        points = np.stack([axis.ravel() for axis in np.meshgrid(*grid)], axis=1)
        density = np.exp(model.score_samples(points))
        density = density.reshape((grid_resolution,) * len(grid))
        return cls(grid, density, rows=rows, **options).plot(ax)

    def _draw(self, ax: Any) -> None:
        if len(self.grid) == 1:
            self.levels_ = np.array([])
            ax.plot(self.grid[0], self.density)
            ax.set(ylim=(0, None), ylabel="density")
            if self.rows is not None:
                style = {"transform": ax.get_xaxis_transform(), "linestyle": "none"}
                ax.plot(self.rows[:, 0], np.zeros(len(self.rows)), marker="|", color="0.3", **style)
            return
        self.levels_ = mass_levels(self.density, self.shares)
        if self.rows is not None:
            ax.plot(*self.rows.T, ".", color="0.6", markersize=3)
        ax.contour(*self.grid, self.density, levels=self.levels_, cmap=self.cmap)


def mass_levels(density: Any, shares: Any) -> np.ndarray:
    """Return the heights above which given shares of the mass on a grid lie.

    They are ascending and distinct.

    Parameters
    ----------
    density : array-like
        Density at the points of a regular grid.
    shares : sequence of float
        Shares of the mass, between 0 and 1.

    Examples
    --------
    >>> from corollary.density import mass_levels
    >>> mass_levels([0.1, 0.4, 0.3, 0.2], [0.7])
    array([0.3])
    """
    heights = np.sort(np.ravel(density))[::-1]
    mass = np.cumsum(heights) / heights.sum()
    places = np.searchsorted(mass, np.asarray(shares, dtype=float) - 1e-12)
    return np.unique(heights[np.minimum(places, len(heights) - 1)])
