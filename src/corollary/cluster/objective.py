r"""What k-means minimises, in three forms, and the identity behind them.

For a partition of rows into clusters :math:`C_1, \dots, C_K` with means :math:`\mu(C_k)`,

.. math::

    J = \sum_k \sum_{x \in C_k} \|x - \mu(C_k)\|^2
      = \frac12 \sum_k \frac1{|C_k|} \sum_{x, y \in C_k} \|x - y\|^2
      = \min_{\mu_{1:K}} \sum_k \sum_{x \in C_k} \|x - \mu_k\|^2 .

The second form needs no means: variance is half the mean squared distance of two independent
copies. The third is minimised by means for given clusters, and by nearest centres for given means.
"""

import numpy as np

from corollary.cluster._checks import checked_centres, checked_labels, checked_rows
from corollary.cluster.means._rows import (
    ClusterSums,
    nearest_labels,
    squared_distances,
    squared_distances_to_own,
)
from corollary.core.estimator import ArrayLike, Count, RowsLike, checked

_BLOCK = 512


@checked
def partition_cost(
    X: RowsLike, labels: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the cost J of a partition, by the distances from the means of its clusters.

    It is the first of three forms; :func:`pairwise_cost` is the second, :func:`centers_cost` the
    third, whose minimum over centres it is.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows.
    labels : array-like of shape (n_samples,)
        Numbers of clusters, from 0 on.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights; a row of weight k counts like k equal rows.

    Examples
    --------
    >>> from corollary.cluster import centers_cost, pairwise_cost, partition_cost
    >>> X, labels = [[0.0], [1.0], [5.0], [8.0]], [0, 0, 1, 1]
    >>> partition_cost(X, labels), pairwise_cost(X, labels), centers_cost(X, labels, [[0.5], [6.5]])
    (5.0, 5.0, 5.0)
    """
    X, weight = checked_rows(X, sample_weight)
    labels = checked_labels("partition_cost", labels, X.shape[0])
    means = centroids(X, labels, sample_weight=weight)
    return centers_cost(X, labels, np.nan_to_num(means), sample_weight=weight)


@checked
def centers_cost(
    X: RowsLike, labels: ArrayLike, centers: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    r"""Return the weighted sum of squared distances of rows from the centres of their labels.

    :math:`J(C \mid \mu) = \sum_k \sum_{x \in C_k} \|x - \mu_k\|^2` is least at the means for given
    clusters, and at :func:`nearest_centers` for given centres. There is a row of ``centers`` for
    each cluster. See :func:`partition_cost` for the other parameters.

    Examples
    --------
    >>> from corollary.cluster import centers_cost
    >>> centers_cost([[0.0], [1.0]], [0, 0], [[0.0]])
    1.0
    """
    X, weight = checked_rows(X, sample_weight)
    centres = checked_centres("centers_cost", centers, X.shape[1])
    labels = checked_labels("centers_cost", labels, X.shape[0], len(centres))
    squares = squared_distances_to_own(X, centres, labels)
    return float(squares.sum() if weight is None else (squares * weight).sum())


@checked
def pairwise_cost(
    X: RowsLike, labels: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the cost J of a partition by the distances between rows of one cluster.

    See :func:`partition_cost`.

    Examples
    --------
    >>> from corollary.cluster import pairwise_cost
    >>> pairwise_cost([[0.0], [1.0], [5.0]], [0, 0, 1])
    0.5
    """
    X, weight = checked_rows(X, sample_weight)
    labels = checked_labels("pairwise_cost", labels, X.shape[0])
    weight = np.ones(X.shape[0]) if weight is None else weight
    cost = 0.0
    for k in np.unique(labels):
        members = np.flatnonzero(labels == k)
        w = weight[members]
        if w.any():
            cost += w.sum() * pairwise_variance(X[members], sample_weight=w)
    return float(cost)


@checked
def pairwise_variance(X: RowsLike, *, sample_weight: ArrayLike | None = None) -> float:
    r"""Return half the mean squared distance between two independent draws from rows.

    It is the total variance of the rows, :math:`\frac12 E \|X - X'\|^2 = E \|X - E X\|^2`, computed
    from pairs alone: time grows with the square of the number of rows, memory does not. Weights are
    the chances of rows to be drawn. See :func:`partition_cost`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.cluster import pairwise_variance
    >>> X = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 7.0]])
    >>> round(pairwise_variance(X), 10), round(X.var(axis=0).sum(), 10)
    (10.6666666667, np.float64(10.6666666667))
    """
    X, weight = checked_rows(X, sample_weight)
    chance = np.full(X.shape[0], 1.0 / X.shape[0]) if weight is None else weight / weight.sum()
    total = 0.0
    for start in range(0, X.shape[0], _BLOCK):
        part = X[start : start + _BLOCK]
        part = part.toarray() if hasattr(part, "toarray") else part
        squares = squared_distances(X, part)
        total += float(chance @ squares @ chance[start : start + _BLOCK])
    return 0.5 * total


@checked
def centroids(
    X: RowsLike,
    labels: ArrayLike,
    *,
    n_clusters: Count | None = None,
    sample_weight: ArrayLike | None = None,
) -> np.ndarray:
    """Return the mean of each cluster, a row for each; NaN for a cluster without weight.

    There are ``n_clusters`` of them, by default one more than the largest label. See
    :func:`partition_cost` for the other parameters.

    Examples
    --------
    >>> from corollary.cluster import centroids
    >>> centroids([[0.0], [1.0], [5.0]], [0, 0, 1])
    array([[0.5],
           [5. ]])
    """
    X, weight = checked_rows(X, sample_weight)
    labels = checked_labels("centroids", labels, X.shape[0], n_clusters)
    k = int(labels.max()) + 1 if n_clusters is None else n_clusters
    sums = ClusterSums.of(np.zeros((k, X.shape[1]))).of_labels(X, weight, labels)
    with np.errstate(invalid="ignore"):
        return sums.sums / sums.totals[:, None]


@checked
def nearest_centers(X: RowsLike, centers: ArrayLike) -> np.ndarray:
    """Return the number of the nearest centre of each row, of equally near ones the first.

    That is the partition of least cost for these centres. See :func:`centers_cost`.

    Examples
    --------
    >>> from corollary.cluster import nearest_centers
    >>> nearest_centers([[0.0], [1.0], [5.0]], [[0.0], [2.0]])
    array([0, 0, 1], dtype=int32)
    """
    X, _ = checked_rows(X)
    return nearest_labels(X, checked_centres("nearest_centers", centers, X.shape[1]))
