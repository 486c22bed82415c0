"""Compiled loops: classes ranked by probability, and order statistics of shifted, sorted lists."""

import numpy as np

from corollary.core.jit import jit, part

# Once so few candidates are left they are sorted.
_FEW = 32


@jit
def order_by_counting(probabilities, order):
    """Write the classes of every row in decreasing order; equal ones keep theirs.

    All pairs are compared. Counting has no branch to mispredict: for ten classes it is twice as
    fast as insertion.
    """
    n_rows, n_classes = probabilities.shape
    places = np.empty(n_classes, dtype=np.int64)
    for row in range(n_rows):
        for j in range(n_classes):
            value, ahead = probabilities[row, j], np.int64(0)
            for i in range(j):
                first = np.int64(probabilities[row, i] >= value)
                places[i] += 1 - first
                ahead += first
            places[j] = ahead
        for j in range(n_classes):
            order[row, places[j]] = j


@jit
def ranked_sums(probabilities, order, uniform, price, before, scores):
    """Write, for every class, the sum of the likelier ones and its score.

    The score adds the share ``uniform[row]`` of the class's own probability and the price of its
    place. Before the first class there is minus infinity.
    """
    n_rows, n_classes = probabilities.shape
    for row in range(n_rows):
        total = 0.0
        for place in range(n_classes):
            j = order[row, place]
            before[row, j] = total
            scores[row, j] = total + uniform[row] * probabilities[row, j] + price[place]
            total += probabilities[row, j]
        before[row, order[row, 0]] = -np.inf


@part
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
        below, n_left = 0, 0
        for k in range(n_lists):
            first[k] = starts[k]
            last[k] = _count(shifts[row, k], values, starts[k], starts[k + 1], high)
            # Values below `low` are at most the next number under it.
            first[k] = _count(shifts[row, k], values, first[k], last[k], np.nextafter(low, -np.inf))
            below += first[k] - starts[k]
            n_left += last[k] - first[k]
        while n_left > _FEW:
            middle = low + 0.5 * (high - low)
            if middle <= low or middle >= high:
                break
            upto = 0
            for k in range(n_lists):
                place[k] = _count(shifts[row, k], values, first[k], last[k], middle)
                upto += place[k] - starts[k]
            n_left = 0
            if upto >= rank:
                high = middle
                for k in range(n_lists):
                    last[k] = place[k]
                    n_left += last[k] - first[k]
            else:
                low, below = middle, upto
                for k in range(n_lists):
                    first[k] = place[k]
                    n_left += last[k] - first[k]
        size = 0
        for k in range(n_lists):
            for i in range(first[k], last[k]):
                left[size] = shifts[row, k] + values[i]
                size += 1
        out[row] = np.sort(left[:size])[rank - 1 - below]
