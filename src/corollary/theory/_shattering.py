"""Compiled enumeration of label patterns."""

import numpy as np

from corollary.core.jit import jit


@jit
def count_patterns(masks, points, seen):
    """Count the different labellings of some points by hypotheses packed into bits.

    ``masks[h]`` holds the labels of hypothesis h, bit i for point i; ``seen`` is scratch space of
    at least ``2 ** len(points)`` zeros, left as zeros.
    """
    count = 0
    for h in range(len(masks)):
        pattern = 0
        for j in range(len(points)):
            pattern |= ((masks[h] >> points[j]) & 1) << j
        if not seen[pattern]:
            seen[pattern] = True
            count += 1
    seen[: 1 << len(points)] = False
    return count


@jit
def grow_shattered(masks, sets, n_points):
    """Extend each shattered set by a later point, and keep the sets that stay shattered."""
    size = sets.shape[1] + 1
    seen = np.zeros(1 << size, dtype=np.bool_)
    found = np.empty((len(sets) * n_points, size), dtype=np.int64)
    count = 0
    candidate = np.empty(size, dtype=np.int64)
    for s in range(len(sets)):
        first = sets[s, size - 2] + 1 if size > 1 else 0
        candidate[: size - 1] = sets[s]
        for point in range(first, n_points):
            candidate[size - 1] = point
            if count_patterns(masks, candidate, seen) == 1 << size:
                found[count] = candidate
                count += 1
    return found[:count].copy()


@jit
def largest_growth(masks, subsets):
    """Return the largest number of labellings over the given sets of points."""
    best = 0
    seen = np.zeros(1 << subsets.shape[1], dtype=np.bool_)
    for s in range(len(subsets)):
        best = max(best, count_patterns(masks, subsets[s], seen))
    return best
