r"""k-means++: where k-means starts, and how far that may be from the best partition.

The first centre is drawn from all rows and each further one with a chance proportional to
:math:`D(x)^2`, the squared distance from the nearest centre so far. The greedy variant draws
several candidates and keeps the one that leaves the smallest cost.

With one candidate the expected cost of the centres is at most :math:`8 (\ln k + 2)` times the least
cost of any k centres. Turned around, the costs of several draws bound the least cost from below,
and with it how much any partition could still gain.

References
----------
D. Arthur, S. Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007, theorem 1.1.
"""

import math

import numpy as np
from sklearn.utils import check_random_state

from corollary.cluster._checks import checked_rows, refuse_few_rows
from corollary.cluster.means._draws import Seeding, draw_seeds
from corollary.cluster.means._rows import nearest_labels, squared_distances_to_own
from corollary.core.estimator import ArrayLike, Count, Probability, RandomSeed, RowsLike, checked


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

    The cost is the weighted sum of squared distances of rows from the nearest of the centres. Of
    ``n_local_trials`` candidates for each centre, by default ``2 + int(log(n_clusters))``, the best
    is kept; a single one is k-means++ as it was published, of which :func:`kmeans_plusplus_factor`
    speaks. A row of weight k is drawn like k equal rows, and not all weights may be zero. See
    :func:`partition_cost` for rows, which may be sparse.

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


@checked
def kmeans_plusplus_factor(n_clusters: Count) -> float:
    r"""Return the factor of the least cost of k centres that k-means++ attains in expectation.

    It is :math:`8 (\ln k + 2) \ge E[J] / J^*`, where J is the cost of the centres that are drawn,
    of each further one a single candidate, and :math:`J^*` the least cost of k centres, for every
    set of rows and weights. See :func:`kmeans_plusplus`.

    Notes
    -----
    Guarantee: checked against the exact expectation over all draws, and the exact least cost, on
    small sets by ``tests/cluster/test_guarantee.py``.

    Examples
    --------
    >>> from corollary.cluster import kmeans_plusplus_factor
    >>> round(kmeans_plusplus_factor(1), 10), round(kmeans_plusplus_factor(10), 3)
    (16.0, 34.421)
    """
    return 8.0 * (math.log(n_clusters) + 2.0)


@checked
def least_cost_bound(
    costs: ArrayLike, n_clusters: Count, *, confidence: Probability = 0.95
) -> float:
    r"""Bound the least cost of k centres from below by the costs of independent draws of k-means++.

    By Markov's inequality a draw costs more than :math:`t` times its expectation with probability
    at most :math:`1 / t`, and all of m draws do with probability at most :math:`t^{-m}`. With
    :math:`t = \delta^{-1/m}` the least cost of the draws is at most :math:`t\, 8 (\ln k + 2) J^*`
    with probability :math:`1 - \delta`.

    The ``costs``, none negative, are those of draws with one candidate for each centre, before any
    step of Lloyd's iteration; k is ``n_clusters``, and :math:`1 - \delta` the ``confidence``. See
    :func:`certify_least_cost`, which draws.

    Examples
    --------
    >>> from corollary.cluster import least_cost_bound
    >>> round(least_cost_bound([160.0, 200.0], 1, confidence=0.75), 10)
    5.0
    """
    draws = np.asarray(costs, dtype=np.float64)
    if draws.ndim != 1 or not len(draws) or not (np.isfinite(draws) & (draws >= 0)).all():
        raise ValueError(
            "least_cost_bound needs a list of costs that are finite and not negative. Got "
            f"{np.asarray(costs)!r}."
        )
    share = (1.0 - confidence) ** (1.0 / len(draws))
    return float(draws.min() * share / kmeans_plusplus_factor(n_clusters))


@checked
def certify_least_cost(
    X: RowsLike,
    n_clusters: Count,
    *,
    sample_weight: ArrayLike | None = None,
    n_draws: Count = 20,
    confidence: Probability = 0.95,
    random_state: RandomSeed = None,
) -> float:
    """Bound the least cost of k centres for given rows from below, by draws of k-means++.

    ``model.inertia_ / certify_least_cost(X, k)`` says by which factor a fitted model is at most
    worse than the best one. Few rows, or one column, are better served by
    :func:`exact_kmeans` and :func:`kmeans_1d`, which find the least cost itself. See
    :func:`least_cost_bound` for the ``confidence`` and :func:`kmeans_plusplus` for the draws, of
    which there are ``n_draws``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.cluster import certify_least_cost
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> bound = certify_least_cost(X, 3, random_state=0)
    >>> bool(0 < bound < X.var(axis=0).sum() * 200)
    True
    """
    X, weight = checked_rows(X, sample_weight)
    refuse_few_rows("certify_least_cost", X.shape[0], n_clusters)
    random = check_random_state(random_state)
    costs = [draw_seeds(X, weight, n_clusters, random, 1).cost for _ in range(n_draws)]
    return least_cost_bound(costs, n_clusters, confidence=confidence)
