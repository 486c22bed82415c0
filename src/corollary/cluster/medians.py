r"""k-medians: centres that outliers hardly move.

The cost is :math:`\min_{\mu_k} \sum_k \sum_{x \in C_k} \|x - \mu_k\|_p`, with the norm and not its
square. For p = 1 a centre is the median of every column, for p = 2 the geometric median, which has
no closed form.
"""

from dataclasses import KW_ONLY
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from corollary.cluster._centers import CenterClusterer
from corollary.cluster._checks import checked_rows, refuse_few_rows
from corollary.cluster.means._descent import fill_empty
from corollary.cluster.means._draws import draw_seeds
from corollary.cluster.means._rows import nearest_labels, squared_distances_to_own
from corollary.core.estimator import ArrayLike, Count, NonNegative, checked

_BLOCK = 1024


@checked
def coordinate_median(X: ArrayLike, *, sample_weight: ArrayLike | None = None) -> np.ndarray:
    """Return the median of every column, which minimises the sum of l1 distances.

    Where there are several it is the middle of their interval. See :func:`geometric_median`.

    Examples
    --------
    >>> from corollary.cluster import coordinate_median
    >>> coordinate_median([[0.0, 5.0], [1.0, 7.0], [9.0, 6.0]])
    array([1., 6.])
    """
    X, weight = checked_rows(X, sample_weight)
    if weight is None:
        return np.median(X, axis=0)
    order = np.argsort(X, axis=0, kind="stable")
    values = np.take_along_axis(X, order, axis=0)
    sums = np.cumsum(weight[order], axis=0)
    half = 0.5 * sums[-1]
    slack = 1e-12 * sums[-1]
    columns = np.arange(X.shape[1])
    low = values[(sums >= half - slack).argmax(axis=0), columns]
    high = values[(sums > half + slack).argmax(axis=0), columns]
    return 0.5 * (low + high)


@checked
def geometric_median(
    X: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    tol: NonNegative = 1e-10,
    max_iter: Count = 10_000,
) -> np.ndarray:
    r"""Return the point with the least sum of Euclidean distances from rows.

    Weiszfeld's iteration, the mean of rows with weights :math:`w_i / \|x_i - \mu\|`, with the
    correction of Vardi and Zhang where it meets a row: it leaves the row unless the pull of the
    others, :math:`\|\sum_j w_j (x_j - \mu) / \|x_j - \mu\|\|`, is at most the weight of the row,
    which is then the median. The iteration ends when the pull of all rows, or its excess over the
    weight of the row that is met, is at most the share ``tol`` of the total weight, or after
    ``max_iter`` steps. A row of weight k counts like k equal rows. See :class:`KMedians`.

    References
    ----------
    Y. Vardi, C.-H. Zhang, "The multivariate L1-median and associated data depth", PNAS 97 (2000),
    1423-1426.

    Examples
    --------
    >>> from corollary.cluster import geometric_median
    >>> geometric_median([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]]).round(6)
    array([1., 1.])
    """
    X, weight = checked_rows(X, sample_weight)
    weight = np.ones(len(X)) if weight is None else weight
    X, weight = X[weight > 0], weight[weight > 0]
    total = weight.sum()
    point, seen = coordinate_median(X, sample_weight=weight), -1
    for _ in range(max_iter):
        pull, share, here, nearest = _pull(X, weight, point)
        if nearest != seen:  # a row may be the median, towards which steps would only creep
            seen = nearest
            others, _, own, _ = _pull(X, weight, X[seen])
            if np.linalg.norm(others) <= own + tol * total:
                return X[seen].copy()
        force = float(np.linalg.norm(pull))
        if force <= here + tol * total:
            break
        point = point + pull / share * (1.0 - here / force)
    return point


def _pull(
    X: np.ndarray, weight: np.ndarray, point: np.ndarray
) -> tuple[np.ndarray, float, float, int]:
    """Return the pull of rows on a point, their share, the weight there, and the nearest row."""
    gaps = X - point
    length = np.sqrt((gaps**2).sum(axis=1))
    away = length > 0
    share = weight[away] / length[away]
    return share @ gaps[away], float(share.sum()), float(weight[~away].sum()), int(length.argmin())


def _assign(X: np.ndarray, centres: np.ndarray, norm: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest centre of each row, and the distance from it."""
    if norm == 2:
        labels = nearest_labels(X, centres)
        return labels, np.sqrt(squared_distances_to_own(X, centres, labels))
    from scipy.spatial.distance import cdist

    parts = (X[start : start + _BLOCK] for start in range(0, len(X), _BLOCK))
    labels = np.concatenate([cdist(part, centres, "cityblock").argmin(axis=1) for part in parts])
    return labels.astype(np.int32), np.abs(X - centres[labels]).sum(axis=1)


class KMedians(CenterClusterer):
    """Cluster rows around medians.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most that of rows.
    random_state : int, RandomState instance or None, default=None
        Determines where to start, and which rows move to empty clusters.
    norm : {1, 2}, default=1
        1 for distances summed over columns and the median of every column
        (:func:`coordinate_median`), 2 for Euclidean distances and the :func:`geometric_median`.
    n_init : int, default=1
        How often to start by k-means++, of which the least cost counts.
    max_iter : int, default=300
        Largest number of steps.

    Attributes
    ----------
    cluster_centers_, labels_, inertia_, n_iter_ : ndarrays, float and int
        As in :class:`KMeans`, with medians as centres, and distances that are not squared.

    Notes
    -----
    Guarantee: no step raises the cost. A cluster that no row is nearest to takes a random row from
    a cluster that keeps at least one, as in :class:`KMeans`.

    Examples
    --------
    >>> from corollary.cluster import KMedians
    >>> X = [[0.0], [1.0], [2.0], [50.0], [51.0], [99.0]]
    >>> model = KMedians(n_clusters=2, random_state=0).fit(X)
    >>> sorted(model.cluster_centers_.ravel().tolist()), model.inertia_
    ([1.0, 51.0], 51.0)
    """

    _: KW_ONLY
    norm: Literal[1, 2] = 1
    n_init: Count = 1
    max_iter: Count = 300

    def _fit(self, X: np.ndarray, sample_weight: np.ndarray | None) -> None:
        refuse_few_rows("KMedians", len(X), self.n_clusters)
        weight = np.ones(len(X)) if sample_weight is None else sample_weight
        random = check_random_state(self.random_state)
        runs = (self._descend(X, weight, random) for _ in range(self.n_init))
        best = min(runs, key=lambda run: run[0])
        self.inertia_, self.cluster_centers_, self.labels_, self.n_iter_ = best

    def _descend(
        self, X: np.ndarray, weight: np.ndarray, random: Any
    ) -> tuple[float, np.ndarray, np.ndarray, int]:
        """Alternate nearest centres and medians until labels rest."""
        centres = draw_seeds(X, weight, self.n_clusters, random).centers
        before, n_iter = None, 0
        while n_iter < self.max_iter:
            n_iter += 1
            labels, distances = _assign(X, centres, self.norm)
            _refill(labels, distances, weight, len(centres), random)
            if before is not None and np.array_equal(labels, before):
                break
            before, centres = labels, self._medians(X, weight, labels, centres)
        labels, distances = _assign(X, centres, self.norm)
        return float(weight @ distances), centres, labels, n_iter

    def _medians(
        self, X: np.ndarray, weight: np.ndarray, labels: np.ndarray, centres: np.ndarray
    ) -> np.ndarray:
        """Return the medians of clusters; one without weight stays where it is."""
        median = coordinate_median if self.norm == 1 else geometric_median
        medians = centres.copy()
        for k in range(len(centres)):
            w = weight[labels == k]
            if w.any():
                medians[k] = median(X[labels == k], sample_weight=w)
        return medians

    def _predict(self, X: np.ndarray) -> np.ndarray:
        return _assign(X, self.cluster_centers_, self.norm)[0]


def _refill(
    labels: np.ndarray, distances: np.ndarray, weight: np.ndarray, k: int, random: Any
) -> None:
    """Move a random row that is off its centre to each empty cluster."""
    counts = np.bincount(labels[weight > 0], minlength=k)
    off_centre = np.flatnonzero((weight > 0) & (distances > 0))
    fill_empty(labels, counts, off_centre, random.choice)
