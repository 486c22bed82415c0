"""Compiled searches for the partition of least cost."""

import numpy as np

from corollary.cluster._loops.distances import square
from corollary.core.jit import jit, part


@jit
def best_tail(X, weight, k, first, tails, bound, labels, budget):
    """Write the best labels of rows from ``first`` on; return their cost and the budget left."""
    # The cost is below `bound`; `tails[t]`, for t behind `first`, is the least one from row t on.
    n, d = X.shape
    means, totals = np.zeros((k, d)), np.zeros(k)
    before = np.zeros((n, d))  # the mean that a row has changed
    place = np.full(n, -1, dtype=np.int64)
    added = np.zeros(n, dtype=np.bool_)
    used = np.zeros(n + 1, dtype=np.int64)
    partial = np.zeros(n + 1)
    t = first
    while t >= first and budget > 0:
        if added[t]:
            j = place[t]
            totals[j] -= weight[t]
            means[j] = before[t]
            added[t] = False
        place[t] += 1
        j = place[t]
        if j > min(used[t], k - 1):
            place[t] = -1
            t -= 1
            continue
        budget -= 1
        cost = 0.0
        if j < used[t]:
            cost = totals[j] * weight[t] / (totals[j] + weight[t]) * square(X, t, means, j)
        if partial[t] + cost + tails[t + 1] >= bound:
            continue
        before[t] = means[j]
        totals[j] = totals[j] + weight[t] if j < used[t] else weight[t]
        share = weight[t] / totals[j]
        for c in range(d):
            means[j, c] += share * (X[t, c] - means[j, c])
        added[t] = True
        partial[t + 1] = partial[t] + cost
        used[t + 1] = max(used[t], j + 1)
        if t == n - 1:
            bound = partial[n]
            labels[first:] = place[first:]
        else:
            t += 1
    return bound, budget


@part(strict=True)
def _two_sum(a, b):
    """Return a sum, and what its rounding left out."""
    total = a + b
    share = total - a
    return total, (a - (total - share)) + (b - share)


@part(strict=True)
def _two_product(a, b):
    """Return a product, and what its rounding left out."""
    p, q = 134217729.0 * a, 134217729.0 * b  # halves of 26 bits have exact products
    a_high, b_high = p - (p - a), q - (q - b)
    a_low, b_low = a - a_high, b - b_high
    product = a * b
    missing = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, missing


@part(strict=True)
def _less(sums, lows, j, i, c):
    """Return the difference of two sums in two parts."""
    high, low = _two_sum(sums[i, c], -sums[j, c])
    return _two_sum(high, low + (lows[i, c] - lows[j, c]))


@part(strict=True)
def _fine_segment(sums, lows, j, i):
    """Return the cost of a segment by sums in two parts, with twice the digits."""
    w, w_low = _less(sums, lows, j, i, 0)
    if w <= 0.0:
        return 0.0
    x, x_low = _less(sums, lows, j, i, 1)
    square, square_low = _two_product(x, x)
    square_low += 2.0 * x * x_low
    share = square / w
    back, back_low = _two_product(share, w)
    share_low = (((square - back) - back_low) + square_low - share * w_low) / w
    whole, whole_low = _less(sums, lows, j, i, 2)
    cost, cost_low = _two_sum(whole, -share)
    return max(cost + (cost_low + whole_low - share_low), 0.0)


@jit
def add_finely(w, values, sums, lows):
    """Write sums of weights, weighted values and weighted squares, each in two parts."""
    for i in range(len(w)):
        x, x_low = _two_product(w[i], values[i])
        square, square_low = _two_product(x, values[i])
        square_low += x_low * values[i]
        for c, term, low in ((0, w[i], 0.0), (1, x, x_low), (2, square, square_low)):
            high, left = _two_sum(sums[i, c], term)
            sums[i + 1, c], lows[i + 1, c] = _two_sum(high, left + (lows[i, c] + low))


@part
def _segment(sums, lows, j, i):
    """Return the cost of rows j to i - 1 of a sorted column as one cluster."""
    if lows is not None:
        return _fine_segment(sums, lows, j, i)
    w = sums[i, 0] - sums[j, 0]
    if w <= 0.0:
        return 0.0
    x = sums[i, 1] - sums[j, 1]
    return max(sums[i, 2] - sums[j, 2] - x * x / w, 0.0)


@jit
def cut_column(sums, lows, k, cuts):
    """Write ``cuts[m, i]``, where the last of m + 1 segments of the first i rows begins."""
    # `sums[i]` holds the sums of weights, weighted values and weighted squares of the first i rows.
    # What their rounding left out is in `lows`, or None. The best last cut does not fall with i,
    # so that a row of the table is filled by halving.
    n = sums.shape[0] - 1
    before, now = np.empty(n + 1), np.empty(n + 1)
    for i in range(n + 1):
        before[i] = _segment(sums, lows, 0, i)
    stack = np.empty((64, 4), dtype=np.int64)
    for m in range(1, k):
        depth = 1
        stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = m + 1, n, m, n - 1
        while depth > 0:
            depth -= 1
            low, high = stack[depth, 0], stack[depth, 1]
            first, last = stack[depth, 2], stack[depth, 3]
            middle = (low + high) // 2
            best, cut = np.inf, first
            for j in range(first, min(last, middle - 1) + 1):
                value = before[j] + _segment(sums, lows, j, middle)
                if value < best:
                    best, cut = value, j
            now[middle], cuts[m, middle] = best, cut
            if low < middle:
                stack[depth, 0], stack[depth, 1] = low, middle - 1
                stack[depth, 2], stack[depth, 3] = first, cut
                depth += 1
            if middle < high:
                stack[depth, 0], stack[depth, 1] = middle + 1, high
                stack[depth, 2], stack[depth, 3] = cut, last
                depth += 1
        before, now = now, before
