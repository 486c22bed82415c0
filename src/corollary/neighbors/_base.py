"""What the estimators of this family share: parameters, the index, and whose vote counts."""

import warnings
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY
from numbers import Real
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from corollary.core.compat import Interval, StrOptions
from corollary.core.estimator import Count, Learner, PositiveOrInfinite, fitted
from corollary.core.fingerprint import Fingerprint
from corollary.core.schema import Array, Instance, Nullable, Size
from corollary.neighbors.search._metrics import METRICS, OTHER_METRICS, check_metric
from corollary.neighbors.search._within import Neighborhoods
from corollary.neighbors.search.index import NeighborIndex, _build_index
from corollary.neighbors.search.metric_index import MetricIndex
from corollary.neighbors.search.sparse_index import SparseNeighborIndex

# Queries whose votes are counted together, so that memory stays bounded.
BLOCK = 8192

Metric = Annotated[str | Callable[..., Any], StrOptions({*METRICS, *OTHER_METRICS}), callable]
VoteWeights = Literal["uniform", "distance"] | Callable[..., Any] | None
Radius = Annotated[float, Interval(Real, 0, None, closed="both")]


class NeighborsModel(Learner):
    """Base of the estimators; fits an index and searches it.

    Rows of weight zero are left out. Subclasses say by ``_build`` how the index is built.
    """

    _: KW_ONLY
    algorithm: Literal["auto", "ball_tree", "brute", "kd_tree"] = "auto"
    leaf_size: Count = 30
    p: PositiveOrInfinite = 2
    metric: Metric = "minkowski"
    metric_params: dict[str, Any] | None = None
    n_jobs: int | None = None

    index_: Any = fitted(Instance("query", "query_radius"))
    weight_: np.ndarray | None = fitted(Nullable(Array("f", "n", low=0.0)))
    n_samples_fit_: int = fitted(Size("n"))
    fingerprint_: Any = fitted(Instance("union"))

    _rows: ClassVar[dict[str, Any]] = {"accept_sparse": "csr"}

    @abstractmethod
    def _build(self, X: Any) -> None:
        """Build the index of validated rows."""

    def _fits_together(self) -> str | None:
        index, weight = self.index_, self.weight_
        if not isinstance(index, NeighborIndex | SparseNeighborIndex | MetricIndex) or not (
            isinstance(self.fingerprint_, Fingerprint)
        ):
            return "its index or fingerprint is something else"
        if index.rows.shape != (self.n_samples_fit_, self.n_features_in_):
            return "its index has other rows"
        if weight is not None and not (np.isfinite(weight).all() and weight.min() > 0):
            return "its weights are impossible"
        return None

    @property
    def effective_metric_(self) -> Any:
        """The distance used, by its simplest name."""
        check_is_fitted(self)
        options = self._metric_options()
        special: dict[Any, str] = {1: "manhattan", 2: "euclidean", np.inf: "chebyshev"}
        plain = self._is_minkowski and options.keys() == {"p"} and options["p"] in special
        return special[options["p"]] if plain else self.metric

    @property
    def effective_metric_params_(self) -> dict[str, Any]:
        """The arguments of the distance used."""
        options = self._metric_options()
        if self.effective_metric_ in ("manhattan", "euclidean", "chebyshev"):
            options.pop("p", None)
        return options

    @property
    def _is_minkowski(self) -> bool:
        return isinstance(self.metric, str) and METRICS.get(self.metric) == "minkowski"

    def _metric_options(self) -> dict[str, Any]:
        """Return the arguments of the distance, by its name."""
        return ({"p": self.p} if self._is_minkowski else {}) | (self.metric_params or {})

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _row_checks(self) -> dict[str, Any]:
        missing = isinstance(self.metric, str) and self.metric == "nan_euclidean"
        return self._rows | ({"ensure_all_finite": "allow-nan"} if missing else {})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.positive_only = self._is_precomputed
        return tags

    def _check(self, X: Any, y: Any, sample_weight: Any, **checks: Any) -> Any:
        """Check data; return the rows of positive weight, their targets and their weights."""
        X, y, weight = super()._check(X, y, sample_weight, **checks)
        if self._is_precomputed:
            _check_distances(type(self).__name__, X, square=True)
        if weight is not None:
            kept = weight > 0
            if self._is_precomputed and not kept.all():
                raise ValueError(
                    f"{type(self).__name__} with metric='precomputed' needs positive weights. Got "
                    f"{np.count_nonzero(~kept)} of zero; leave their rows and columns out."
                )
            X, y, weight = X[kept], y[kept], weight[kept]
        self.weight_, self.n_samples_fit_ = weight, X.shape[0]
        return X, y, weight

    def _new(self, X: Any) -> Any:
        """Check new rows; None stays, for the training rows without themselves."""
        if X is None:
            check_is_fitted(self)
            return None
        X = super()._new(X)
        if self._is_precomputed:
            _check_distances(type(self).__name__, X)
        return X

    def _set_index(self, X: Any, **search: Any) -> None:
        options = self._metric_options()
        p = options.pop("p", 2)
        if "p" in (self.metric_params or {}) and self._is_minkowski and p != self.p:
            warnings.warn(
                f"{type(self).__name__} takes p={p} of metric_params, and not its own p={self.p}. "
                "Give one of them.",
                SyntaxWarning,
                stacklevel=4,
            )
        fast = isinstance(self.metric, str) and self.metric in METRICS and not options
        if fast and (p >= 1 or not self._is_minkowski):
            name = str(self.metric)
            check_metric(type(self).__name__, name, p)
            tree = {"ball_tree": "kd_tree"}.get(self.algorithm, self.algorithm)
            self.index_ = _build_index(
                X, metric=name, p=p, algorithm=tree, leaf_size=self.leaf_size, **search
            )
            return
        if p < 1 and self.algorithm in ("ball_tree", "kd_tree"):
            raise ValueError(
                f'algorithm="{self.algorithm}" does not support 0 < p < 1 for the Minkowski '
                f"metric, which is no metric then. Got p={p}; use algorithm='brute'."
            )
        if p < 1 and self._is_minkowski:
            warnings.warn(
                "Mind that for 0 < p < 1, Minkowski metrics are not distance metrics; every pair "
                "is measured.",
                UserWarning,
                stacklevel=4,
            )
        metric = "minkowski" if self._is_minkowski else self.metric
        self.index_ = MetricIndex(X, metric, self._metric_options())

    def _radius(self, radius: Any) -> float:
        """Return a radius that was given, or the model's."""
        who = type(self).__name__
        limit = getattr(self, "radius", None) if radius is None else radius
        if limit is None:
            raise ValueError(
                f"{who}.radius_neighbors needs a radius, since {who} has none of its own. Pass one."
            )
        if isinstance(limit, bool) or not isinstance(limit, Real) or not float(limit) >= 0:
            raise ValueError(
                f"The 'radius' parameter of {who}.radius_neighbors must be a number, at least 0. "
                f"Got {limit!r} instead."
            )
        return float(limit)

    def _within(self, X: Any, radius: float) -> Neighborhoods:
        """Find training rows within a radius; without queries, of the others."""
        if X is not None:
            return self.index_.query_radius(self._new(X), radius, n_jobs=self.n_jobs)
        near = self.index_.query_radius(self.index_.original_rows(), radius, n_jobs=self.n_jobs)
        return near.without(near.neighbors == near.queries)

    def radius_neighbors(
        self,
        X: Any = None,
        radius: float | None = None,
        return_distance: bool = True,
        sort_results: bool = False,
    ) -> Any:
        """Find all training rows within a distance.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, n_features) or None, default=None
            The queries; None for the training rows themselves, which then are not their own
            neighbours.
        radius : float or None, default=None
            The largest distance; None for the model's radius, if it has one.
        return_distance : bool, default=True
            Whether to return distances too.
        sort_results : bool, default=False
            Whether the nearest rows come first; otherwise they are in the order of their numbers.

        Returns
        -------
        distances : ndarray of shape (n_queries,)
            An array of distances for each query; only if ``return_distance``.
        neighbors : ndarray of shape (n_queries,)
            An array of numbers of the training rows (of those of positive weight) for each query.
        """
        check_is_fitted(self)
        near = self._within(X, self._radius(radius))
        if sort_results:
            near = near.sorted()
        rows = near.lists(near.neighbors)
        return (near.lists(near.distances), rows) if return_distance else rows

    def radius_neighbors_graph(
        self,
        X: Any = None,
        radius: float | None = None,
        mode: str = "connectivity",
        sort_results: bool = False,
    ) -> Any:
        """Compute the graph of neighbours within a distance.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, n_features) or None, default=None
            The queries; None for the training rows.
        radius : float or None, default=None
            The largest distance; None for the model's radius, if it has one.
        mode : {"connectivity", "distance"}, default="connectivity"
            Whether entries are ones or distances.
        sort_results : bool, default=False
            Whether the entries of a row are in the order of distance.

        Returns
        -------
        graph : sparse matrix of shape (n_queries, n_samples_fit)
            In compressed rows.
        """
        from scipy.sparse import csr_matrix

        check_is_fitted(self)
        check_mode(f"{type(self).__name__}.radius_neighbors_graph", mode)
        near = self._within(X, self._radius(radius))
        if sort_results:
            near = near.sorted()
        data = np.ones(len(near.neighbors)) if mode == "connectivity" else near.distances
        shape = (len(near.starts) - 1, self.n_samples_fit_)
        return csr_matrix((data, near.neighbors, near.starts), shape=shape)


def _check_distances(who: str, X: Any, square: bool = False) -> None:
    """Refuse what cannot be distances between rows."""
    if square and X.shape[0] != X.shape[1]:
        raise ValueError(
            f"Precomputed matrix must be square: {who}.fit needs the distances between all "
            f"training rows with metric='precomputed'. Input is a {X.shape[0]}x{X.shape[1]} matrix."
        )
    least = X.data.min(initial=0.0) if hasattr(X, "indptr") else X.min(initial=0.0)
    if least < 0:
        raise ValueError(
            f"Negative values in data passed to precomputed distance matrix: {who} got {least:.3g}."
        )


def check_mode(who: str, mode: str) -> None:
    """Verify what the entries of a graph shall be."""
    if mode not in ("connectivity", "distance"):
        raise ValueError(
            f"The 'mode' parameter of {who} must be 'connectivity' or 'distance'. Got {mode!r} "
            "instead."
        )


def in_place(pieces: list[np.ndarray], places: list[np.ndarray]) -> np.ndarray:
    """Put pieces of a result at their places."""
    rows = np.concatenate(pieces)
    result = np.empty_like(rows)
    result[np.concatenate(places)] = rows
    return result


def check_weights(values: np.ndarray, distances: np.ndarray) -> None:
    """Refuse what a function of distances cannot return as weights."""
    if values.shape != distances.shape or not (values >= 0).all():
        raise ValueError(
            "A function as 'weights' must return weights, not negative, of the shape of the "
            f"distances, {distances.shape}. Got shape {values.shape}."
        )


def neighbor_weights(distances: np.ndarray, weights: Any) -> np.ndarray:
    """Turn distances into weights of votes.

    Parameters
    ----------
    distances : ndarray of shape (n_queries, k)
        Distances.
    weights : {"uniform", "distance"}, callable or None
        "uniform" or None for ones; "distance" for the distance of the nearest over the distance,
        so that neighbours at distance zero, if there are any, are the only ones that count; or a
        function of the distances, of which infinite ones, if there are any, count alone.

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
        check_weights(values, distances)
        infinite = np.isinf(values)
        return np.where(infinite.any(axis=1, keepdims=True), infinite, values)
    if weights in (None, "uniform"):
        return np.ones(distances.shape)
    # In units of the nearest, so that the inverse of a tiny distance cannot overflow.
    nearest = distances.min(axis=1, keepdims=True)
    same = distances == nearest  # also where both are zero, or infinite
    values = np.divide(nearest, distances, out=np.zeros(distances.shape), where=~same)
    values[same] = 1.0
    return values
