"""Compiled order statistics of shifted, sorted lists."""

import numpy as np

from corollary.core.jit import jit

# Once so few candidates are left they are sorted.
FEW = 32


@jit
def _count(shift, values, first, last, limit):
    """Return the first place in [first, last) whose shifted value exceeds the limit."""
    while first < last:
        middle = (first + last) // 2
        if shift + values[middle] <= limit:
            first = middle + 1
        else:
            last = middle
    return first


@jit
def shifted_quantiles(shifts, values, starts, rank, centre, out):
    """Write, for each row of shifts, the rank-th smallest of all ``shifts[row, k] + values[i]``.

    List k is ``values[starts[k] : starts[k + 1]]``, ascending. ``centre`` is the rank-th smallest
    of all values: the answer lies between it plus the smallest shift and it plus the largest.
    """
    n_lists = shifts.shape[1]
    first = np.empty(n_lists, dtype=np.int64)
    last = np.empty(n_lists, dtype=np.int64)
    place = np.empty(n_lists, dtype=np.int64)
    left = np.empty(len(values))
    for row in range(shifts.shape[0]):
        low, high = shifts[row, 0], shifts[row, 0]
        for k in range(n_lists):
            low, high = min(low, shifts[row, k]), max(high, shifts[row, k])
        low, high = low + centre, high + centre
        below, found = 0, 0
        for k in range(n_lists):
            first[k] = starts[k]
            last[k] = _count(shifts[row, k], values, starts[k], starts[k + 1], high)
            # Values below `low` are at most the next number under it.
            first[k] = _count(shifts[row, k], values, first[k], last[k], np.nextafter(low, -np.inf))
            below += first[k] - starts[k]
            found += last[k] - first[k]
        while found > FEW:
            middle = low + 0.5 * (high - low)
            if middle <= low or middle >= high:
                break
            upto = 0
            for k in range(n_lists):
                place[k] = _count(shifts[row, k], values, first[k], last[k], middle)
                upto += place[k] - starts[k]
            found = 0
            if upto >= rank:
                high = middle
                for k in range(n_lists):
                    last[k] = place[k]
                    found += last[k] - first[k]
            else:
                low, below = middle, upto
                for k in range(n_lists):
                    first[k] = place[k]
                    found += last[k] - first[k]
        size = 0
        for k in range(n_lists):
            for i in range(first[k], last[k]):
                left[size] = shifts[row, k] + values[i]
                size += 1
        out[row] = np.sort(left[:size])[rank - 1 - below]
