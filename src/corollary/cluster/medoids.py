r"""k-medoids: centres that are rows.

The cost is :math:`\min_{\mu_k \in X} \sum_k \sum_{x \in C_k} d(x, \mu_k)`, here with the squared
Euclidean distance unless told otherwise; any dissimilarity will do, since no mean is taken.
"""

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.metrics import pairwise_distances
from sklearn.utils import check_array, check_random_state

from corollary.cluster._centers import CenterClusterer
from corollary.cluster._checks import refuse_few_rows
from corollary.cluster.means._rows import squared_distances
from corollary.core.compat import check_sample_weight
from corollary.core.estimator import ArrayLike, Count, checked, fitted
from corollary.core.schema import Array


class MedoidRun(NamedTuple):
    """Medoids that no step improves, with the nearest one of each row, the cost and the passes."""

    medoids: np.ndarray
    labels: np.ndarray
    cost: float
    n_iter: int


@checked
def find_medoids(
    dissimilarity: ArrayLike,
    medoids: ArrayLike,
    *,
    method: Literal["swap", "alternate"] = "swap",
    sample_weight: ArrayLike | None = None,
    max_iter: Count = 300,
) -> MedoidRun:
    """Improve medoids until no step lowers the cost.

    ``dissimilarity[i, j]`` is that of row i from row j, and ``medoids`` are the numbers of the rows
    to start from, all different. The method "swap" replaces a medoid by another row whenever that
    lowers the cost; "alternate" assigns rows to medoids and then takes the best member of each
    cluster, which is faster and stops earlier. See :class:`KMedoids` for passes; a row of weight k
    counts like k equal rows.

    The result has the ``medoids``, as ``labels`` the place of the nearest of them for each row (of
    equally near ones the first), as ``cost`` the weighted sum of dissimilarities from it, and the
    number ``n_iter`` of passes.

    References
    ----------
    L. Kaufman, P. J. Rousseeuw, "Finding groups in data", Wiley 1990, chapter 2.
    E. Schubert, P. J. Rousseeuw, "Fast and eager k-medoids clustering", Information Systems 101
    (2021).

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.cluster import find_medoids
    >>> x = np.array([0.0, 1.0, 2.0, 10.0])
    >>> run = find_medoids((x[:, None] - x) ** 2, [0, 1])
    >>> np.sort(run.medoids), run.cost
    (array([1, 3]), 2.0)
    """
    D = check_array(dissimilarity, dtype=np.float64, order="C")
    places = np.asarray(medoids)
    if (
        D.shape[0] != D.shape[1]
        or places.ndim != 1
        or not places.size
        or not np.issubdtype(places.dtype, np.integer)
        or not ((places >= 0) & (places < len(D))).all()
        or len(np.unique(places)) < len(places)
    ):
        raise ValueError(
            "find_medoids needs a square table of dissimilarities and medoids that are different "
            f"rows, one or more, by their numbers from 0 on. Got shape {D.shape} and medoids "
            f"{places.tolist()}."
        )
    places = places.astype(np.int64)
    weight = np.ones(len(D))
    if sample_weight is not None:
        weight = check_sample_weight(sample_weight, D, dtype=np.float64, ensure_non_negative=True)
    step = {"swap": _swap, "alternate": _alternate}[method]
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        better = step(D, weight, places)
        if np.array_equal(better, places):
            break
        places = better
    labels = D[:, places].argmin(axis=1)
    return MedoidRun(places, labels, float(weight @ D[np.arange(len(D)), places[labels]]), n_iter)


def _swap(D: np.ndarray, weight: np.ndarray, medoids: np.ndarray) -> np.ndarray:
    """Offer every row as a medoid once, and take it whenever the cost falls."""
    from corollary.cluster._loops.medoids import best_swap, two_nearest

    medoids = medoids.copy()
    first, second = np.empty(len(D), dtype=np.int64), np.empty(len(D), dtype=np.int64)
    two_nearest(D, medoids, first, second)
    gains, least = np.empty(len(medoids)), 1e-12 * float(weight @ D.max(axis=1, initial=0.0))
    for candidate in range(len(D)):
        if candidate in medoids:
            continue
        place, gain = best_swap(D, weight, medoids, first, second, candidate, gains)
        if gain > least:  # more than rounding
            medoids[place] = candidate
            two_nearest(D, medoids, first, second)
    return medoids


def _alternate(D: np.ndarray, weight: np.ndarray, medoids: np.ndarray) -> np.ndarray:
    """Take the best member of each cluster; the medoid stays unless another one is better."""
    labels = D[:, medoids].argmin(axis=1)
    better = medoids.copy()
    for place, medoid in enumerate(medoids):
        own = np.flatnonzero(labels == place)
        if len(own):
            costs = weight[own] @ D[np.ix_(own, own)]
            best = own[int(costs.argmin())]
            better[place] = best if costs.min() < weight[own] @ D[own, medoid] else medoid
    return better


class KMedoids(CenterClusterer):
    """Cluster rows around some of them, by any dissimilarity.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most that of rows.
    random_state : int, RandomState instance or None, default=None
        Determines where to start: like k-means++, with chances proportional to the dissimilarity
        from the nearest medoid so far.
    metric : str or callable, default="sqeuclidean"
        A dissimilarity of ``sklearn.metrics.pairwise_distances``, or a function of two rows. With
        "precomputed" X holds the dissimilarities of rows from the training rows.
    method : {"swap", "alternate"}, default="swap"
        How medoids are improved, see :func:`find_medoids`.
    n_init : int, default=1
        How often to start, of which the least cost counts.
    max_iter : int, default=300
        Largest number of passes.

    Attributes
    ----------
    medoid_indices_ : ndarray of shape (n_clusters,)
        Numbers of the training rows that are centres.
    cluster_centers_, labels_, inertia_, n_iter_ : ndarrays, float and int
        As in :class:`KMeans`, with these rows, or with "precomputed" their columns of X, as
        centres, dissimilarities in place of squared distances, and passes as steps.

    Notes
    -----
    The table of dissimilarities takes memory that grows with the square of the number of rows;
    :class:`KMeans` and :class:`KMedians` have no such table. See :func:`find_medoids` for sources.

    Examples
    --------
    >>> from corollary.cluster import KMedoids
    >>> model = KMedoids(n_clusters=2, random_state=0).fit([[0.0], [1.0], [2.0], [10.0], [99.0]])
    >>> model.cluster_centers_.ravel().tolist(), model.inertia_
    ([2.0, 99.0], 69.0)
    """

    _: KW_ONLY
    metric: str | Callable[..., Any] = "sqeuclidean"
    method: Literal["swap", "alternate"] = "swap"
    n_init: Count = 1
    max_iter: Count = 300

    medoid_indices_: np.ndarray = fitted(Array("i", "c"))

    def _fit(self, X: np.ndarray, sample_weight: np.ndarray | None) -> None:
        refuse_few_rows("KMedoids", len(X), self.n_clusters)
        weight = np.ones(len(X)) if sample_weight is None else sample_weight
        D = self._dissimilarities(X, X)
        if not np.isfinite(D.max(initial=0.0)):
            raise ValueError(
                f"KMedoids needs finite dissimilarities. Those of metric={self.metric!r} between "
                "these rows hold NaN or infinity: divide the features by a constant so that they "
                "are about one, or take another metric."
            )
        random = check_random_state(self.random_state)
        starts = (_draw_medoids(D, weight, self.n_clusters, random) for _ in range(self.n_init))
        how: Any = {"method": self.method, "max_iter": self.max_iter, "sample_weight": weight}
        best = min((find_medoids(D, start, **how) for start in starts), key=lambda run: run.cost)
        self.medoid_indices_, self.labels_, self.inertia_, self.n_iter_ = best
        rows = X.T if self.metric == "precomputed" else X
        self.cluster_centers_ = rows[self.medoid_indices_].copy()

    def _predict(self, X: np.ndarray) -> np.ndarray:
        if self.metric == "precomputed":
            return X[:, self.medoid_indices_].argmin(axis=1)
        return self._dissimilarities(X, self.cluster_centers_).argmin(axis=1)

    def _dissimilarities(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """Return those of the rows of X from the rows of Y, each computed by itself."""
        if self.metric == "precomputed":
            return X
        if self.metric in ("sqeuclidean", "euclidean"):
            squares = squared_distances(X, Y)
            return squares if self.metric == "sqeuclidean" else np.sqrt(squares)
        return np.asarray(pairwise_distances(X, Y, metric=self.metric))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags


def _draw_medoids(D: np.ndarray, weight: np.ndarray, k: int, random: Any) -> np.ndarray:
    """Draw different rows, far from those before; of rows that lie on them any."""
    medoids: list[int] = []
    mass = weight
    for _ in range(k):
        chance = mass.copy()
        chance[medoids] = 0.0
        if not chance.sum() > 0:
            chance = weight + (0.0 if np.delete(weight, medoids).any() else 1.0)
            chance[medoids] = 0.0
        medoids.append(int(random.choice(len(D), p=chance / chance.sum())))
        mass = weight * np.maximum(D[:, medoids].min(axis=1), 0.0)
    return np.array(medoids)
