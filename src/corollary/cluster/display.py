"""The picture of clusters: rows by cluster, over the cells of their centres."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from corollary.core.display import Display


@dataclass(eq=False)
class ClusterDisplay(Display):
    """Draw rows in two columns, coloured by cluster, over the cells of the centres.

    ``points`` are the rows in the columns drawn, ``labels`` their clusters, ``centers`` those of
    the model in the same columns, and ``names`` what the axes are called; ``cells`` of centres can
    be drawn if there are no further columns. See :class:`KMeans`.

    Attributes
    ----------
    points_, centers_ : matplotlib PathCollection
        The rows, and the centres.

    Examples
    --------
    >>> from corollary.cluster import ClusterDisplay, KMeans
    >>> X = [[1, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]]
    >>> display = ClusterDisplay.from_estimator(KMeans(2, random_state=0).fit(X), X)
    >>> len(display.points_.get_offsets()), len(display.centers_.get_offsets())
    (6, 2)
    """

    points: np.ndarray
    labels: np.ndarray
    centers: np.ndarray
    names: tuple[str, str]
    cells: bool

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, columns: tuple[int, int] = (0, 1), ax: Any = None
    ) -> Self:
        """Draw two columns of rows X as a fitted model with ``cluster_centers_`` clusters them.

        Axes are those of :meth:`plot`. See :class:`ClusterDisplay`.
        """
        check_is_fitted(estimator, "cluster_centers_")
        centers, place = np.asarray(estimator.cluster_centers_), list(columns)
        if centers.shape[1] < 2:
            raise ValueError(
                "ClusterDisplay draws two columns. The model has one; draw a histogram instead."
            )
        titles = getattr(estimator, "feature_names_in_", None)
        names = [f"column {c}" if titles is None else str(titles[c]) for c in columns]
        points, labels = np.asarray(X)[:, place].astype(float), estimator.predict(X)
        whole = centers.shape[1] == 2
        return cls(points, labels, centers[:, place], (names[0], names[1]), whole).plot(ax)

    def _draw(self, ax: Any) -> None:
        from matplotlib import colormaps

        k = len(self.centers)
        palette = colormaps["tab10" if k <= 10 else "tab20" if k <= 20 else "viridis"]
        style = {"cmap": palette, "vmin": 0, "vmax": max(palette.N - 1 if k <= 20 else k - 1, 1)}
        self.points_ = ax.scatter(*self.points.T, c=self.labels, s=12, linewidths=0, **style)
        if self.cells:
            self._draw_cells(ax, dict(style))
        style |= {"marker": "X", "s": 90, "edgecolors": "black", "zorder": 3}
        self.centers_ = ax.scatter(*self.centers.T, c=np.arange(k), **style)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])

    def _draw_cells(self, ax: Any, style: dict[str, Any]) -> None:
        """Shade the points that are nearest to each centre."""
        from corollary.cluster.objective import nearest_centers

        (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
        across, up = np.meshgrid(np.linspace(left, right, 200), np.linspace(low, high, 200))
        labels = nearest_centers(np.column_stack([across.ravel(), up.ravel()]), self.centers)
        style |= {"extent": (left, right, low, high), "origin": "lower", "aspect": "auto"}
        ax.imshow(labels.reshape(across.shape), alpha=0.15, zorder=0, **style)
