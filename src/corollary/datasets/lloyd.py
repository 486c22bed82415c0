"""Starting points from which Lloyd's k-means iteration goes wrong."""

from typing import Literal, NamedTuple

import numpy as np

from corollary.core.estimator import checked


class LloydTrap(NamedTuple):
    """Points, a starting partition, and the cost J = sum of squared distances to the centroids.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Points.
    start : ndarray of shape (n_samples,)
        Starting partition, as cluster numbers.
    best : ndarray of shape (n_samples,)
        A partition of least cost.
    start_cost : float
        J of the start.
    best_cost : float
        J of the best partition.
    """

    X: np.ndarray
    start: np.ndarray
    best: np.ndarray
    start_cost: float
    best_cost: float


@checked
def lloyd_trap(which: Literal["empty", "rectangle", "triangle"]) -> LloydTrap:
    """Return a set on which Lloyd's iteration empties a cluster or stops at a bad fixed point.

    Parameters
    ----------
    which : {"empty", "rectangle", "triangle"}
        ``"empty"``: three points on a line; both centroids of the start coincide, so one cell
        empties. ``"rectangle"`` and ``"triangle"``: the start is a fixed point, four and about
        three times as costly as the best partition.

    Returns
    -------
    trap : LloydTrap
        The set, its start and the costs.

    Examples
    --------
    >>> from corollary.datasets import lloyd_trap
    >>> lloyd_trap("triangle").start_cost
    50.0
    """
    points, start, best = {
        "empty": ([[-1.0], [1.0], [0.0]], [0, 0, 1], [0, 1, 0]),
        "rectangle": ([[0, 1.0], [2, 1], [0, 0], [2, 0]], [0, 0, 1, 1], [0, 1, 0, 1]),
        "triangle": ([[-5.0, 1], [5, 1], [0, -2]], [0, 0, 1], [0, 1, 0]),
    }[which]
    X = np.array(points, dtype=float)
    partitions = np.array(start), np.array(best)
    return LloydTrap(X, *partitions, *(_cost(X, labels) for labels in partitions))


def _cost(X: np.ndarray, labels: np.ndarray) -> float:
    return float(
        sum(((X[labels == k] - X[labels == k].mean(axis=0)) ** 2).sum() for k in np.unique(labels))
    )
