r"""Where k-means starts: k-means++ in memory, k-means|| over passes.

k-means++ draws the first centre from all rows and each further one with a chance proportional to
:math:`D(x)^2`, the squared distance from the nearest centre so far. The greedy variant draws
several candidates and keeps the one that leaves the smallest cost.

References
----------
D. Arthur, S. Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007.
"""

import numpy as np
from sklearn.utils import check_random_state

from corollary.cluster._checks import checked_rows, refuse_few_rows
from corollary.cluster.means._rows import nearest_labels, squared_distances_to_own
from corollary.cluster.means._seeds import Seeding, draw_seeds
from corollary.core.estimator import ArrayLike, Count, RandomSeed, RowsLike, checked


@checked
def seeding_probabilities(
    X: RowsLike, centers: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> np.ndarray:
    r"""Return the chance of each row to be the next centre of k-means++.

    It is :math:`w_i D(x_i)^2 / \sum_j w_j D(x_j)^2`, where :math:`D` is the distance from the
    nearest centre. If every row lies on a centre, it is proportional to the weight alone. There may
    be no centres yet. See :func:`kmeans_plusplus`.

    Examples
    --------
    >>> from corollary.cluster import seeding_probabilities
    >>> seeding_probabilities([[0.0], [1.0], [3.0]], [[0.0]])
    array([0. , 0.1, 0.9])
    """
    X, weight = checked_rows(X, sample_weight)
    weight = np.ones(X.shape[0]) if weight is None else weight
    centers = np.asarray(centers, dtype=np.float64).reshape(-1, X.shape[1])
    mass = weight
    if len(centers):
        labels = nearest_labels(X, centers)
        mass = weight * squared_distances_to_own(X, centers, labels)
    total = mass.sum()
    return mass / total if total > 0 else weight / weight.sum()


@checked
def kmeans_plusplus(
    X: RowsLike,
    n_clusters: Count,
    *,
    sample_weight: ArrayLike | None = None,
    random_state: RandomSeed = None,
    n_local_trials: Count | None = None,
) -> Seeding:
    """Draw ``centers`` from rows by k-means++, with their ``indices`` and the ``cost`` they leave.

    The cost is the weighted sum of squared distances of rows from the nearest of the centres.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows.
    n_clusters : int
        Number of centres, at most that of rows.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights, not all zero; a row of weight k is drawn like k equal rows.
    random_state : int, RandomState instance or None, default=None
        Determines the draws.
    n_local_trials : int or None, default=None
        Candidates for each centre, of which the best is kept; None for
        ``2 + int(log(n_clusters))``. With 1 it is k-means++ as it was published, of which
        :func:`kmeans_plusplus_factor` speaks.

    Examples
    --------
    >>> from corollary.cluster import kmeans_plusplus
    >>> X = [[0.0], [1.0], [10.0], [11.0]]
    >>> seeding = kmeans_plusplus(X, 2, random_state=0)
    >>> sorted(seeding.indices // 2), seeding.cost
    ([np.int64(0), np.int64(1)], 2.0)
    """
    X, weight = checked_rows(X, sample_weight)
    refuse_few_rows("kmeans_plusplus", X.shape[0], n_clusters)
    return draw_seeds(X, weight, n_clusters, check_random_state(random_state), n_local_trials)
