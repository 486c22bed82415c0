r"""Exact k-means: by search over the partitions of few rows, and by dynamic programming on a line.

The search adds rows one by one. What a partial partition costs, plus the least cost of the other
rows by themselves, bounds the cost of everything that can come of it, because the cost of a cluster
is at least the sum of the costs of its parts. The least costs of ever longer tails of rows are
found first, each with the help of those before it [1]_.

On a line the clusters of an optimum are segments. The best last cut moves to the right with the
number of rows, which makes the table of the dynamic programme cheap [2]_.

References
----------
.. [1] M. J. Brusco, "A repetitive branch-and-bound procedure for minimum within-cluster sums of
   squares partitioning", Psychometrika 71 (2006), 347-363.
.. [2] H. Wang, M. Song, "Ckmeans.1d.dp: optimal k-means clustering in one dimension by dynamic
   programming", The R Journal 3 (2011), 29-33.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import stirling2

from corollary.cluster._checks import checked_rows, refuse_few_rows
from corollary.cluster.means._descent import fill_empty
from corollary.cluster.means._rows import nearest_labels, squared_distances
from corollary.cluster.objective import centroids, partition_cost
from corollary.core.estimator import ArrayLike, Count, CountFromZero, RowsLike, checked

#: A cost below this share of the sum of squares is not told from their rounding to 8 digits.
_ROUNDING = 1e-8


class Partition(NamedTuple):
    """A partition of least cost, the means of its clusters, and the cost."""

    labels: np.ndarray
    centers: np.ndarray
    cost: float


@checked
def count_partitions(n_samples: CountFromZero, n_clusters: CountFromZero) -> int:
    """Count the partitions of n rows into k clusters, none of them empty.

    That is the Stirling number of the second kind, S(n, k) = k S(n - 1, k) + S(n - 1, k - 1): a
    further row joins one of k clusters, or is one. Lloyd's iteration, whose cost falls until it
    rests, makes no more steps than this. See :func:`lloyd_step`.

    Examples
    --------
    >>> from corollary.cluster import count_partitions
    >>> count_partitions(4, 2), count_partitions(10, 3)
    (7, 9330)
    """
    return int(stirling2(n_samples, n_clusters, exact=True))


@checked
def exact_kmeans(
    X: RowsLike,
    n_clusters: Count,
    *,
    sample_weight: ArrayLike | None = None,
    max_nodes: Count = 100_000_000,
) -> Partition:
    """Find the partition of least cost by search: for few rows, or few clusters that are far apart.

    Without structure about 30 rows can be searched, with it more, and in a single column any number
    by :func:`kmeans_1d`; a search that is not over after ``max_nodes`` partial partitions raises a
    ValueError. See :func:`partition_cost` for rows and weights.

    The result has the ``cost``, the means of the clusters as ``centers``, and ``labels`` in the
    order of the first rows of clusters; none is empty unless fewer rows than clusters have positive
    weight.

    Examples
    --------
    >>> from corollary.cluster import exact_kmeans
    >>> from corollary.datasets import lloyd_trap
    >>> exact_kmeans(lloyd_trap("rectangle").X, 2).cost  # a fixed point of Lloyd's costs 4
    1.0
    """
    X, weight, heavy = _weighted("exact_kmeans", X, n_clusters, sample_weight)
    order = heavy[_far_ones_last(X[heavy])]
    labels = np.empty(len(X), dtype=np.int64)
    labels[order] = _search(X[order], weight[order], n_clusters, max_nodes)
    _fill(labels, heavy, n_clusters)
    return _partition(X, labels, heavy, weight, n_clusters)


def _search(X: np.ndarray, weight: np.ndarray, k: int, budget: int) -> np.ndarray:
    """Return the labels of an optimal partition, solving ever longer tails of the rows."""
    from corollary.cluster._loops.exact import best_tail

    n = len(X)
    tails, labels = np.zeros(n + 1), np.zeros(n, dtype=np.int64)
    for first in range(n - 1, -1, -1):
        bound = _with_one_more(X[first:], weight[first:], k, labels[first:])
        slack = bound * (1 + 1e-12) + np.finfo(float).tiny
        tails[first], budget = best_tail(X, weight, k, first, tails, slack, labels, budget)
        if budget <= 0:
            raise ValueError(
                f"exact_kmeans has looked at max_nodes partial partitions of {n} rows into {k} "
                "clusters without finding an optimum that is proved. Raise max_nodes, take fewer "
                "rows, or use KMeans, or kmeans_1d for a single column."
            )
        tails[first] = min(tails[first], bound)
    return labels


def _with_one_more(X: np.ndarray, weight: np.ndarray, k: int, labels: np.ndarray) -> float:
    """Put the first row into the best cluster of the others; return the cost of all."""
    costs = []
    for label in range(min(k, len(X))):
        labels[0] = label
        costs.append(partition_cost(X, labels, sample_weight=weight))
    labels[0] = int(np.argmin(costs))
    return min(costs)


def _far_ones_last(X: np.ndarray) -> np.ndarray:
    """Order rows so that each tail holds rows that are far from each other, which cost much."""
    order = [int(((X - X.mean(axis=0)) ** 2).sum(axis=1).argmax())]
    near = squared_distances(X, X[order])[:, 0]
    for _ in range(len(X) - 1):
        near[order[-1]] = -1.0
        order.append(int(near.argmax()))
        near = np.minimum(near, squared_distances(X, X[order[-1:]])[:, 0])
    return np.array(order[::-1])


@checked
def kmeans_1d(
    x: ArrayLike, n_clusters: Count, *, sample_weight: ArrayLike | None = None
) -> Partition:
    """Find the partition of least cost of numbers, in O(k n log n).

    The numbers ``x`` may also be a column. See :func:`exact_kmeans` for the other parameters and
    the result, in which clusters are counted from left to right.

    Examples
    --------
    >>> from corollary.cluster import kmeans_1d
    >>> best = kmeans_1d([1.0, 9.0, 2.0, 10.0, 50.0], 3)
    >>> best.labels, best.cost
    (array([0, 1, 0, 1, 2]), 1.0)
    """
    from corollary.cluster._loops.exact import add_finely

    column = np.asarray(x, dtype=np.float64).reshape(len(x), -1)
    if column.shape[1] != 1:
        raise ValueError(f"kmeans_1d needs one column. Got {column.shape[1]}; use KMeans.")
    X, weight, heavy = _weighted("kmeans_1d", column, n_clusters, sample_weight)
    order = heavy[np.argsort(X[heavy, 0], kind="stable")]
    w, values = weight[order], X[order, 0] - np.median(X[order, 0])
    n, k = len(order), min(n_clusters, len(order))
    sums = np.zeros((n + 1, 3))
    sums[1:] = np.cumsum(np.column_stack([w, w * values, w * values**2]), axis=0)
    labels = np.empty(len(X), dtype=np.int64)
    labels[order] = _cut(sums, None, k)
    best = _partition(X, labels.copy(), heavy, weight, n_clusters)
    if 0 < best.cost <= _ROUNDING * np.sqrt(n) * sums[-1, 2]:  # differences of sums have lost it
        sums, lows = np.zeros((2, n + 1, 3))
        add_finely(w, values, sums, lows)
        labels[order] = _cut(sums, lows, k)
        finer = _partition(X, labels, heavy, weight, n_clusters)
        best = min(best, finer, key=lambda partition: partition.cost)
    return best


def _cut(sums: np.ndarray, lows: np.ndarray | None, k: int) -> np.ndarray:
    """Return the segment of each row of a sorted column, by its sums."""
    from corollary.cluster._loops.exact import cut_column

    n = len(sums) - 1
    cuts, labels, stop = np.zeros((k, n + 1), dtype=np.int64), np.empty(n, dtype=np.int64), n
    cut_column(sums, lows, k, cuts)
    for m in range(k - 1, -1, -1):
        start = cuts[m, stop] if m else 0
        labels[start:stop] = m
        stop = start
    return labels


def _weighted(who: str, X: Any, k: int, sample_weight: Any) -> tuple[np.ndarray, ...]:
    """Return dense rows, their weights, and which weights are positive."""
    X, weight = checked_rows(X, sample_weight)
    X = X.toarray() if hasattr(X, "toarray") else X
    if not np.isfinite(np.einsum("ij,ij->", X, X)):
        raise ValueError(
            f"{who} needs numbers whose squares have a finite sum. Got values from {X.min():.3g} "
            f"to {X.max():.3g}; divide them by a constant so that they are about one."
        )
    refuse_few_rows(who, len(X), k)
    weight = np.ones(len(X)) if weight is None else weight
    return X, weight, np.flatnonzero(weight)


def _fill(labels: np.ndarray, heavy: np.ndarray, k: int) -> None:
    """Give clusters numbers in the order of their first rows, and empty ones a row."""
    _, firsts, codes = np.unique(labels[heavy], return_index=True, return_inverse=True)
    labels[heavy] = np.argsort(np.argsort(firsts))[codes]
    # Copies of rows, or else the cost of the partition would fall.
    fill_empty(labels, np.bincount(labels[heavy], minlength=k), heavy, lambda donors: donors[0])


def _partition(
    X: np.ndarray, labels: np.ndarray, heavy: np.ndarray, weight: Any, k: int
) -> Partition:
    """Measure a partition of the rows of positive weight, and let the others join it."""
    centres = centroids(X[heavy], labels[heavy], n_clusters=k, sample_weight=weight[heavy])
    centres = np.where(np.isnan(centres), centres[0], centres)
    light = np.setdiff1d(np.arange(len(X)), heavy)
    if len(light):
        labels[light] = nearest_labels(X[light], centres)
    cost = partition_cost(X[heavy], labels[heavy], sample_weight=weight[heavy])
    return Partition(labels, centres, cost)
