"""What the estimators of this family share: parameters, the index, and whose vote counts."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator

from corollary.core.compat import Interval, StrOptions
from corollary.core.estimator import check_new_data, check_training_data
from corollary.core.fingerprint import Fingerprint
from corollary.core.schema import Array, Instance, Integer, Nullable, Optional, Size, Strings
from corollary.neighbors.consistency import consistent_k
from corollary.neighbors.index import ALGORITHMS, METRICS, NeighborIndex, check_count, check_metric

# Queries whose votes are counted together, so that memory stays bounded.
BLOCK = 8192

SEARCH_CONSTRAINTS: dict = {
    "n_neighbors": [Interval(Integral, 1, None, closed="left"), StrOptions({"consistent"})],
    "algorithm": [StrOptions(set(ALGORITHMS))],
    "leaf_size": [Interval(Integral, 1, None, closed="left")],
    "p": [Interval(Real, 0, None, closed="right")],
    "metric": [StrOptions(set(METRICS))],
    "n_jobs": [Integral, None],
}

FITTED = {
    "index_": Instance("query", "build"),
    "n_neighbors_": Integer(1),
    "weight_": Nullable(Array("f", "n", low=0.0)),
    "n_samples_fit_": Size("n"),
    "n_features_in_": Size("d"),
    "feature_names_in_": Optional(Strings("d")),
    "fingerprint_": Instance("union"),
}


def fits_together(model: Any) -> str | None:
    """Say what does not fit in a loaded model, or None.

    Parameters
    ----------
    model : estimator
        A model whose attributes fit their specifications.

    Returns
    -------
    sentence : str or None
        The first problem.
    """
    index, weight = model.index_, model.weight_
    if not isinstance(index, NeighborIndex) or not isinstance(model.fingerprint_, Fingerprint):
        return "its index or fingerprint is something else"
    if index.rows.shape != (model.n_samples_fit_, model.n_features_in_):
        return "its index has other rows"
    if model.n_neighbors_ > model.n_samples_fit_ and weight is None:
        return "it has fewer rows than neighbours"
    if weight is not None and not (np.isfinite(weight).all() and weight.min() > 0):
        return "its weights are impossible"
    if weight is not None and float(weight.sum()) < model.n_neighbors_ * (1 - 1e-9):
        return "its rows weigh less than the neighbours wanted"
    return None


class Votes(NamedTuple):
    """Neighbours of some queries, and how much each of them counts."""

    queries: np.ndarray
    neighbors: np.ndarray
    weights: np.ndarray


class NeighborsModel(BaseEstimator, ABC):
    """Base of the estimators; fits an index and searches it."""

    @abstractmethod
    def fit(self, X: Any, y: Any = None) -> Self:
        """Remember the rows."""

    def _fit_index(
        self, X: Any, y: Any = None, sample_weight: Any = None, **checks: Any
    ) -> np.ndarray | None:
        """Build the index of the rows of positive weight; return their targets."""
        name = type(self).__name__
        check_metric(name, self.metric, self.p)
        X, y, weight = check_training_data(self, X, y, sample_weight=sample_weight, **checks)
        if weight is not None:
            kept = weight > 0
            X, y, weight = X[kept], y[kept], weight[kept]
        total = float(len(X) if weight is None else weight.sum())
        self.n_samples_fit_ = len(X)
        self.n_neighbors_ = (
            consistent_k(max(1.0, total)) if self.n_neighbors == "consistent" else self.n_neighbors
        )
        if weight is not None and total < self.n_neighbors_ * (1 - 1e-9):
            raise ValueError(
                f"{name} counts a row of weight w as w rows, and the weights sum to {total:g} for "
                f"n_neighbors = {self.n_neighbors_}. Scale the weights up or take fewer neighbours."
            )
        self.weight_ = weight
        self.index_ = NeighborIndex.build(
            X,
            metric=self.metric,
            p=self.p,
            algorithm=self.algorithm,
            leaf_size=self.leaf_size,
            n_neighbors=min(self.n_neighbors_, len(X)),
        )
        return y

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Find the nearest training rows.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features) or None, default=None
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
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        k = self.n_neighbors_ if n_neighbors is None else n_neighbors
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
            raise ValueError(
                f"The 'n_neighbors' parameter of {type(self).__name__}.kneighbors must be an int, "
                f"at least 1. Got {k!r} instead."
            )
        if X is None:
            distances, found = self._others(int(k))
        else:
            X = check_new_data(self, X)
            check_count(type(self).__name__, int(k), self.n_samples_fit_)
            distances, found = self.index_.query(X, int(k), n_jobs=self.n_jobs)
        return (distances, found) if return_distance else found

    def _others(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Find neighbours of the training rows among the others."""
        n = self.n_samples_fit_
        if k >= n:
            raise ValueError(
                f"{type(self).__name__} expected n_neighbors < n_samples_fit without queries, "
                f"since no row is its own neighbour, but n_neighbors = {k}, n_samples_fit = {n}."
            )
        rows = np.empty_like(self.index_.rows)
        rows[self.index_.order] = self.index_.rows
        distances, found = self.index_.query(rows, k + 1, n_jobs=self.n_jobs)
        # Among many copies a row may be missing from its own list; then the last one leaves.
        leave = found == np.arange(n)[:, None]
        leave[~leave.any(axis=1), -1] = True
        return distances[~leave].reshape(n, k), found[~leave].reshape(n, k)

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity"
    ) -> Any:
        """Compute the graph of nearest neighbours.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features) or None, default=None
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

        if mode not in ("connectivity", "distance"):
            raise ValueError(
                f"The 'mode' parameter of {type(self).__name__}.kneighbors_graph must be "
                f"'connectivity' or 'distance'. Got {mode!r} instead."
            )
        distances, found = self.kneighbors(X, n_neighbors)
        data = np.ones(found.size) if mode == "connectivity" else distances.ravel()
        starts = np.arange(0, found.size + 1, found.shape[1])
        return csr_matrix((data, found.ravel(), starts), shape=(len(found), self.n_samples_fit_))

    def _votes(self, X: Any, weights: Any) -> Iterator[Votes]:
        """Yield neighbours and their weights, all queries in some order, in blocks."""
        X = check_new_data(self, X)
        check_count(
            type(self).__name__,
            self.n_neighbors_ if self.weight_ is None else 1,
            self.n_samples_fit_,
        )
        for start in range(0, len(X), BLOCK):
            queries = np.arange(start, min(start + BLOCK, len(X)))
            k = min(self.n_neighbors_, self.n_samples_fit_)
            while len(queries):
                distances, found = self.index_.query(X[queries], k, n_jobs=self.n_jobs)
                shares, full = self._shares(found)
                if k == self.n_samples_fit_:
                    full[:] = True
                counted = neighbor_weights(distances[full], weights) * shares[full]
                yield Votes(queries[full], found[full], counted)
                queries, k = queries[~full], min(2 * k, self.n_samples_fit_)

    def _shares(self, found: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return how many rows each neighbour counts for, and where these are enough."""
        if self.weight_ is None:
            return np.ones(found.shape), np.ones(len(found), dtype=bool)
        weight = self.weight_[found]
        before = np.cumsum(weight, axis=1) - weight
        shares = np.clip(self.n_neighbors_ - before, 0.0, weight)
        return shares, before[:, -1] + weight[:, -1] >= self.n_neighbors_ * (1 - 1e-12)


def in_place(pieces: list[np.ndarray], places: list[np.ndarray]) -> np.ndarray:
    """Put pieces of a result at their places.

    Parameters
    ----------
    pieces : list of ndarray
        Rows of the result.
    places : list of ndarray of int
        Where each row belongs; all places occur once.

    Returns
    -------
    result : ndarray
        The rows in order.
    """
    rows = np.concatenate(pieces)
    result = np.empty_like(rows)
    result[np.concatenate(places)] = rows
    return result


def neighbor_weights(distances: np.ndarray, weights: Any) -> np.ndarray:
    """Turn distances into weights of votes.

    Parameters
    ----------
    distances : ndarray of shape (n_queries, k)
        Distances.
    weights : {"uniform", "distance"} or callable
        "uniform" for ones; "distance" for the distance of the nearest over the distance, so that
        neighbours at distance zero, if there are any, are the only ones that count; or a function
        of the distances.

    Returns
    -------
    weights : ndarray of shape (n_queries, k)
        The weights, not negative.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.neighbors import neighbor_weights
    >>> neighbor_weights(np.array([[1.0, 2.0], [0.0, 3.0]]), "distance")
    array([[1. , 0.5],
           [1. , 0. ]])
    """
    if callable(weights):
        values = np.asarray(weights(distances), dtype=float)
        if values.shape != distances.shape or not np.isfinite(values).all() or (values < 0).any():
            raise ValueError(
                "A function as 'weights' must return finite weights, not negative, of the shape "
                f"of the distances, {distances.shape}. Got shape {values.shape}."
            )
        return values
    if weights == "uniform":
        return np.ones(distances.shape)
    # In units of the nearest, so that the inverse of a tiny distance cannot overflow.
    nearest = distances.min(axis=1, keepdims=True)
    same = distances == nearest  # also where both are zero, or infinite
    values = np.divide(nearest, distances, out=np.zeros(distances.shape), where=~same)
    values[same] = 1.0
    return values
