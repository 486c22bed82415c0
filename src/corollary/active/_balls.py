"""Compiled loops over pairs of points: who lies within a radius of whom.

Rows come sorted by their first column. The distance of two points is at least the difference of
their first columns, which bounds the loop; the sum of squares stops as soon as it is too large.
Squares are added in the same order for both directions, so that balls are symmetric.
"""

import numpy as np
from numba import prange

from corollary.core.jit import jit

CHUNK = 4  # columns added between two looks at the sum


@jit
def _within(X, i, j, limit):
    """Whether rows i and j of X (C-contiguous doubles) are within the root of ``limit``."""
    d = X.shape[1]
    total = 0.0
    start = 0
    while start < d:
        stop = min(start + CHUNK, d)
        for k in range(start, stop):
            gap = X[i, k] - X[j, k]
            total += gap * gap
        if total > limit:
            return False
        start = stop
    return True


@jit(parallel=True)
def weigh_balls(X, starts, stops, weight, rows, limit, totals):
    """Set ``totals[i]`` to the weight of all points in the ball of ``rows[i]``."""
    for r in prange(len(rows)):
        i = rows[r]
        total = 0.0
        for j in range(starts[i], stops[i]):
            if weight[j] > 0.0 and _within(X, i, j, limit):
                total += weight[j]
        totals[i] = total


@jit(parallel=True)
def take_away(X, starts, stops, weight, lost, limit, totals):
    """Subtract from every ball the weight of those of its points that are listed in ``lost``.

    ``lost`` is sorted. Each ball is changed by one thread, its points in the order of the list.
    """
    for i in prange(len(X)):
        if totals[i] > 0.0:
            total = 0.0
            first = np.searchsorted(lost, starts[i])
            for r in range(first, len(lost)):
                j = lost[r]
                if j >= stops[i]:
                    break
                if _within(X, i, j, limit):
                    total += weight[j]
            totals[i] -= total


@jit
def ball_of(X, starts, stops, weight, i, limit):
    """Return the sorted indices of points with positive weight in the ball of point i."""
    found = np.empty(stops[i] - starts[i], dtype=np.int64)
    n = 0
    for j in range(starts[i], stops[i]):
        if weight[j] > 0.0 and _within(X, i, j, limit):
            found[n] = j
            n += 1
    return found[:n]


@jit(parallel=True)
def nearest(X, Y, labels, others, rows, avoid, squares, indices):
    """For each row of X the nearest row of Y, of another label if ``avoid``; first of equal ones.

    Sets squared distances (infinity if there is none) and indices (-1).
    """
    for r in prange(len(rows)):
        i = rows[r]
        best = np.inf
        index = -1
        for j in range(len(Y)):
            if avoid and labels[i] == others[j]:
                continue
            total = 0.0
            for k in range(X.shape[1]):
                gap = X[i, k] - Y[j, k]
                total += gap * gap
                if total >= best:
                    break
            if total < best:
                best = total
                index = j
        squares[i] = best
        indices[i] = index
