"""What the estimators of a number of neighbours share: whose vote counts."""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from corollary.core.estimator import Count, fitted
from corollary.core.schema import Integer
from corollary.neighbors._base import BLOCK, NeighborsModel, check_mode, neighbor_weights
from corollary.neighbors.limits.consistency import consistent_k
from corollary.neighbors.search.index import _check_count


class Votes(NamedTuple):
    """Neighbours of some queries, and how much each of them counts."""

    queries: np.ndarray
    neighbors: np.ndarray
    weights: np.ndarray


class NearestModel(NeighborsModel):
    """Base of the estimators that look at a number of neighbours."""

    n_neighbors: Count | Literal["consistent"] = 5
    n_neighbors_: int = fitted(Integer(1))

    def _fits_together(self) -> str | None:
        weight = self.weight_
        if self.n_neighbors_ > self.n_samples_fit_ and weight is None:
            return "it has fewer rows than neighbours"
        if weight is not None and float(weight.sum()) < self.n_neighbors_ * (1 - 1e-9):
            return "its rows weigh less than the neighbours wanted"
        return super()._fits_together()

    def _build(self, X: Any) -> None:
        weight = self.weight_
        total = float(X.shape[0] if weight is None else weight.sum())
        self.n_neighbors_ = (
            consistent_k(max(1.0, total)) if self.n_neighbors == "consistent" else self.n_neighbors
        )
        if weight is not None and total < self.n_neighbors_ * (1 - 1e-9):
            raise ValueError(
                f"{type(self).__name__} counts a row of weight w as w rows, and the weights sum to "
                f"{total:g} for n_neighbors = {self.n_neighbors_}. Scale the weights up or take "
                "fewer neighbours."
            )
        self._set_index(X, n_neighbors=min(self.n_neighbors_, self.n_samples_fit_))

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Find the nearest training rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, n_features) or None, default=None
            The queries; None for the training rows themselves, which then are not their own
            neighbours.
        n_neighbors : int or None, default=None
            How many; None for the model's number.
        return_distance : bool, default=True
            Whether to return distances too.

        Returns
        -------
        distances : ndarray of shape (n_queries, n_neighbors)
            Distances, nearest first; only if ``return_distance``.
        neighbors : ndarray of int of shape (n_queries, n_neighbors)
            Numbers of the training rows (of those of positive weight); equal distances are in
            the order of the numbers.
        """
        check_is_fitted(self)
        k = self.n_neighbors_ if n_neighbors is None else n_neighbors
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
            raise ValueError(
                f"The 'n_neighbors' parameter of {type(self).__name__}.kneighbors must be an int, "
                f"at least 1. Got {k!r} instead."
            )
        if X is None:
            distances, neighbors = self._others(int(k))
        else:
            X = self._new(X)
            _check_count(type(self).__name__, int(k), self.n_samples_fit_)
            distances, neighbors = self.index_.query(X, int(k), n_jobs=self.n_jobs)
        return (distances, neighbors) if return_distance else neighbors

    def _others(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Find neighbours of the training rows among the others."""
        n = self.n_samples_fit_
        if k >= n:
            raise ValueError(
                f"{type(self).__name__} expected n_neighbors < n_samples_fit without queries, "
                f"since no row is its own neighbour, but n_neighbors = {k}, n_samples_fit = {n}."
            )
        return self._without_themselves(self.index_.original_rows(), np.arange(n), k)

    def _without_themselves(
        self, rows: Any, numbers: np.ndarray, k: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find neighbours of some training rows, by their numbers, among the others."""
        distances, neighbors = self.index_.query(rows[numbers], k + 1, n_jobs=self.n_jobs)
        # Among many copies a row may be missing from its own list; then the last one leaves.
        leave = neighbors == numbers[:, None]
        leave[~leave.any(axis=1), -1] = True
        shape = len(numbers), k
        return distances[~leave].reshape(shape), neighbors[~leave].reshape(shape)

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity"
    ) -> Any:
        """Compute the graph of nearest neighbours.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, n_features) or None, default=None
            The queries; None for the training rows.
        n_neighbors : int or None, default=None
            How many; None for the model's number.
        mode : {"connectivity", "distance"}, default="connectivity"
            Whether entries are ones or distances.

        Returns
        -------
        graph : sparse matrix of shape (n_queries, n_samples_fit)
            In compressed rows; entries of a row are in the order of distance.
        """
        from scipy.sparse import csr_matrix

        check_mode(f"{type(self).__name__}.kneighbors_graph", mode)
        distances, neighbors = self.kneighbors(X, n_neighbors)
        data = np.ones(neighbors.size) if mode == "connectivity" else distances.ravel()
        starts = np.arange(0, neighbors.size + 1, neighbors.shape[1])
        return csr_matrix(
            (data, neighbors.ravel(), starts), shape=(len(neighbors), self.n_samples_fit_)
        )

    def _votes(self, X: Any, weights: Any) -> Iterator[Votes]:
        """Yield neighbours of validated rows and their weights, in some order, in blocks.

        None stands for the training rows, of which none is its own neighbour.
        """
        rows, most = (self.index_.original_rows() if X is None else X), self.n_samples_fit_
        if X is None:
            most -= 1
        _check_count(type(self).__name__, self.n_neighbors_ if self.weight_ is None else 1, most)
        for start in range(0, rows.shape[0], BLOCK):
            queries = np.arange(start, min(start + BLOCK, rows.shape[0]))
            k = min(self.n_neighbors_, most)
            while len(queries):
                if X is None:
                    distances, neighbors = self._without_themselves(rows, queries, k)
                else:
                    distances, neighbors = self.index_.query(rows[queries], k, n_jobs=self.n_jobs)
                shares, full = self._shares(neighbors)
                if k == most:
                    full[:] = True
                counted = neighbor_weights(distances[full], weights) * shares[full]
                yield Votes(queries[full], neighbors[full], counted)
                queries, k = queries[~full], min(2 * k, most)

    def _shares(self, neighbors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return how many rows each neighbour counts for, and where these are enough."""
        if self.weight_ is None:
            return np.ones(neighbors.shape), np.ones(len(neighbors), dtype=bool)
        weight = self.weight_[neighbors]
        before = np.cumsum(weight, axis=1) - weight
        shares = np.clip(self.n_neighbors_ - before, 0.0, weight)
        return shares, before[:, -1] + weight[:, -1] >= self.n_neighbors_ * (1 - 1e-12)
