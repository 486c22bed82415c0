"""Finding nearest rows by any distance: every pair is measured."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from corollary.core.schema import Array, Mapping, Number, Plain, Schema, Sparse, Text
from corollary.neighbors.search._metrics import OTHER_METRICS, PAIR_METRICS
from corollary.neighbors.search._within import Neighborhoods

# Distances that are held at a time.
VALUES_AT_ONCE = 2**22


@dataclass(frozen=True, eq=False)
class MetricIndex:
    """Rows that are searched by a distance of scikit-learn's, a function or a matrix.

    Parameters
    ----------
    rows : ndarray or sparse matrix of shape (n_samples, n_features)
        The rows; their distances, of shape (n_samples, n_samples), if `metric` is "precomputed".
    metric : str or callable
        One of scikit-learn's names, "precomputed", or a function of two rows.
    params : dict
        Further arguments of the distance.

    See Also
    --------
    NeighborIndex : Distances for which there are faster ways.

    Notes
    -----
    Neighbours come in the order of distance and row number, as in the other indices. The missing
    entries of a sparse matrix of distances are no neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.neighbors import MetricIndex
    >>> index = MetricIndex(np.array([[0.0, 1.0], [3.0, 1.0]]), "canberra", {})
    >>> index.query(np.array([[1.0, 1.0]]), 1)
    (array([[0.5]]), array([[1]]))
    """

    rows: Any
    metric: str | Callable[..., Any]
    params: dict[str, Any]

    _schema = Schema(
        rows=Array("f", "n", "d") | Sparse("n", "d"),
        metric=Text(("minkowski", *OTHER_METRICS)),
        params=Mapping(Plain() | Number() | Array("fiu", "*") | Array("fiu", "*", "*")),
    )

    algorithm = "brute"

    def distances(self, Q: Any) -> np.ndarray:
        """Measure all pairs.

        Parameters
        ----------
        Q : ndarray or sparse matrix of shape (n_queries, n_features)
            Queries; their distances to the rows if the metric is "precomputed".

        Returns
        -------
        distances : ndarray of shape (n_queries, n_samples)
            Distances; infinite where a sparse matrix of distances has no entry.
        """
        if isinstance(self.metric, str) and self.metric == "precomputed":
            return _filled(Q)
        dense = not (sparse.issparse(Q) or sparse.issparse(self.rows))
        if dense and self.metric in PAIR_METRICS:
            from sklearn.metrics import DistanceMetric

            measure = DistanceMetric.get_metric(self.metric, **self.params)
            return measure.pairwise(np.ascontiguousarray(Q), self.rows)
        from sklearn.metrics import pairwise_distances

        return pairwise_distances(Q, self.rows, metric=self.metric, **self.params)

    def query(self, Q: Any, k: int, *, n_jobs: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Find the k nearest rows of each query.

        Parameters
        ----------
        Q : ndarray or sparse matrix of shape (n_queries, n_features)
            Queries.
        k : int
            How many, at most as many as there are rows.
        n_jobs : int or None, default=None
            Not used.

        Returns
        -------
        distances : ndarray of shape (n_queries, k)
            Distances, nearest first.
        neighbors : ndarray of int of shape (n_queries, k)
            Numbers of the rows; equal distances are in the order of the numbers.
        """
        values, neighbors = np.empty((Q.shape[0], k)), np.empty((Q.shape[0], k), dtype=np.int64)
        for part, D in self._blocks(Q):
            neighbors[part] = np.argsort(D, axis=1, kind="stable")[:, :k]
            values[part] = np.take_along_axis(D, neighbors[part], axis=1)
        if not np.isfinite(values).all():
            raise ValueError(
                f"{k} neighbors are required for every row, and a matrix of distances has fewer "
                "entries than that in a row, or infinite ones. Compute it with more neighbours."
            )
        return values, neighbors

    def query_radius(self, Q: Any, radius: float, *, n_jobs: int | None = None) -> Neighborhoods:
        """Find all rows within a distance of each query.

        Parameters
        ----------
        Q : ndarray or sparse matrix of shape (n_queries, n_features)
            Queries.
        radius : float
            The largest distance wanted, not negative.
        n_jobs : int or None, default=None
            Not used.

        Returns
        -------
        neighborhoods : Neighborhoods
            Rows and distances, in the order of the row numbers.
        """
        counts, values, neighbors = [np.zeros(0, dtype=np.int64)], [np.empty(0)], [np.arange(0)]
        for _, D in self._blocks(Q):
            near = (radius >= D) & np.isfinite(D)
            counts.append(near.sum(axis=1))
            neighbors.append(np.nonzero(near)[1])
            values.append(D[near])
        starts = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
        return Neighborhoods(starts, np.concatenate(values), np.concatenate(neighbors))

    def original_rows(self) -> Any:
        """Return the rows in their own order.

        Returns
        -------
        rows : ndarray or sparse matrix of shape (n_samples, n_features)
            The rows.
        """
        return self.rows

    def _blocks(self, Q: Any) -> Iterator[tuple[slice, np.ndarray]]:
        step = max(1, VALUES_AT_ONCE // max(1, self.rows.shape[0]))
        for start in range(0, Q.shape[0], step):
            part = slice(start, start + step)
            yield part, self.distances(Q[part])


def _filled(Q: Any) -> np.ndarray:
    """Return distances as a matrix; those that are missing are infinite."""
    if not sparse.issparse(Q):
        return np.asarray(Q)
    entries = Q.tocoo()
    D = np.full(entries.shape, np.inf)
    D[entries.row, entries.col] = entries.data
    return D
