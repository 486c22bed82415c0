r"""Lloyd's iteration: nearest centres, refilled clusters, new means.

From centres a step assigns every row to its nearest centre; a cluster without rows takes one, at
random, from a cluster that keeps at least one; then centres become means. No part of a step raises
the cost :math:`J(C) = \sum_k \sum_{x \in C_k} \|x - \mu(C_k)\|^2`: nearest centres minimise it for
given centres, means minimise it for given clusters, and the cost of a cluster falls when a row is
taken out of it, while a single row costs nothing.
"""

from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from corollary.cluster._checks import checked_centres, checked_labels, checked_rows, refuse_few_rows
from corollary.cluster.means._descent import LloydRun, descend, draw_seed, fill_empty
from corollary.cluster.means._rows import ArrayRows, nearest_labels
from corollary.cluster.objective import centroids, partition_cost
from corollary.core.estimator import ArrayLike, Count, NonNegative, RandomSeed, RowsLike, checked


class PartitionStep(NamedTuple):
    """One step from partition to partition, with the cost at each of its three stages."""

    assigned: np.ndarray
    labels: np.ndarray
    costs: tuple[float, float, float]


@checked
def lloyd_step(
    X: RowsLike,
    labels: ArrayLike,
    n_clusters: Count,
    *,
    sample_weight: ArrayLike | None = None,
    random_state: RandomSeed = None,
) -> PartitionStep:
    """Make one step of Lloyd's iteration on a partition.

    In the result rows are ``assigned`` to the nearest means, of equally near ones the first, and
    clusters may be empty; in its ``labels`` each of these has been given a random row. ``costs``
    are those before, after the assignment and after refilling. See :func:`partition_cost` for rows,
    weights and labels, of which no cluster is empty.

    Notes
    -----
    Guarantee: ``costs`` never rise, so that there are at most as many steps as partitions
    (:func:`count_partitions`). Checked at every step of random runs by
    ``tests/cluster/test_lloyd.py``.

    Examples
    --------
    >>> from corollary.cluster import lloyd_step
    >>> from corollary.datasets import lloyd_trap
    >>> trap = lloyd_trap("empty")  # the means of both clusters coincide
    >>> step = lloyd_step(trap.X, trap.start, 2, random_state=0)
    >>> step.assigned, step.costs
    (array([0, 0, 0], dtype=int32), (2.0, 2.0, 0.5))
    """
    X, weight = checked_rows(X, sample_weight)
    refuse_few_rows("lloyd_step", X.shape[0], n_clusters)
    before = checked_labels("lloyd_step", labels, X.shape[0], n_clusters)
    means = centroids(X, before, n_clusters=n_clusters, sample_weight=weight)
    assigned = nearest_labels(X, means)
    after = assigned.copy()
    counts, random = np.bincount(after, minlength=n_clusters), check_random_state(random_state)
    fill_empty(after, counts, np.arange(len(after)), random.choice)
    first, second, third = (
        partition_cost(X, stage, sample_weight=weight) for stage in (before, assigned, after)
    )
    return PartitionStep(assigned, after, (first, second, third))


@checked
def lloyd(
    X: RowsLike,
    centers: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    max_iter: Count = 300,
    tol: NonNegative = 0.0,
    random_state: RandomSeed = None,
) -> LloydRun:
    """Run Lloyd's iteration from centres until they rest.

    It ends when the squared movements of the centres sum to no more than ``tol``, or after
    ``max_iter`` steps; ``random_state`` determines which rows move to empty clusters. See
    :func:`partition_cost` for rows, which may be sparse, and weights.

    The result has the last ``centers``, the nearest of them as ``labels``, the ``cost``, the number
    ``n_iter`` of steps, whether the last one moved the centres by no more than the tolerance as
    ``converged``, and the numbers of rows as ``counts``. A centre stays without rows only if every
    other row of positive weight lies on its centre.

    Notes
    -----
    Bounds on distances, kept from step to step, spare most rows the comparison with all centres, as
    the references of :class:`KMeans` explain. Labels are those of distances computed
    coordinate by coordinate in double precision, of equally near centres the first.

    Examples
    --------
    >>> from corollary.cluster import lloyd
    >>> run = lloyd([[0.0], [1.0], [10.0]], [[0.0], [2.0]])
    >>> run.centers.ravel(), run.cost, run.n_iter
    (array([ 0.5, 10. ]), 0.5, 2)
    """
    X, weight = checked_rows(X, sample_weight)
    start = checked_centres("lloyd", centers, X.shape[1])
    seed = draw_seed(check_random_state(random_state))
    return descend(ArrayRows(X, weight), start, max_iter=max_iter, tol=tol, seed=seed)
