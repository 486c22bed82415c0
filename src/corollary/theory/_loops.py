"""Compiled loops: capitals of bets on many means, suprema over signs, counts of labellings."""

import numpy as np

from corollary.core.jit import jit

# Beyond any threshold the size of a capital does not matter; that it is finite does.
LARGEST = 1e250


@jit
def lower_limits(x, bets, shares, means, caps, threshold, running, limits):
    """Write the largest mean that bets on larger observations refute, after every round.

    ``bets`` has a row per strategy and ``shares`` what each starts with; ``means`` ascends in
    (0, 1] and ``caps`` bounds the bets against each. A capital falls as the mean it bets against
    grows, so that the refuted means are the first ones. With ``running`` a mean stays refuted;
    without, only while the capital stays above the threshold.
    """
    n_strategies, n_means = shares.shape[0], means.shape[0]
    capital = np.empty((n_strategies, n_means))
    total = np.empty(n_means)
    for k in range(n_strategies):
        capital[k] = shares[k]
    refuted = 0
    for t in range(x.shape[0]):
        value = x[t]
        start = refuted if running else 0
        total[start:] = 0.0
        for k in range(n_strategies):
            bet = bets[k, t]
            for j in range(start, n_means):
                amount = bet if bet < caps[j] else caps[j]
                after = capital[k, j] * (1.0 + amount * (value - means[j]))
                after = after if after < LARGEST else LARGEST
                capital[k, j] = after
                total[j] += after
        if not running:
            refuted = 0
        while refuted < n_means and total[refuted] >= threshold:
            refuted += 1
        limits[t] = means[refuted - 1] if refuted else 0.0


@jit
def exact_supremum(values, absolute):
    """Average ``max_f sum_i e_i values[f, i]`` over all sign vectors e.

    Sign vectors follow a Gray code, so that one entry changes at a time. Without absolute values
    nothing is symmetric and all of them are needed; with them, half.
    """
    n_functions, n = values.shape
    sums = np.zeros(n_functions)
    for f in range(n_functions):
        for i in range(n):
            sums[f] += values[f, i]
    signs = np.ones(n)
    count = 1 << (n - 1) if absolute else 1 << n
    total = 0.0
    for step in range(count):
        best = abs(sums[0]) if absolute else sums[0]
        for f in range(1, n_functions):
            value = abs(sums[f]) if absolute else sums[f]
            if value > best:
                best = value
        total += best
        # The bit that the Gray code flips next is the number of trailing zeros of step + 1.
        place, odd_part = 0, step + 1
        while odd_part % 2 == 0:
            odd_part //= 2
            place += 1
        if place < n:
            signs[place] = -signs[place]
            for f in range(n_functions):
                sums[f] += 2.0 * signs[place] * values[f, place]
    return total / count


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
    grown = np.empty((len(sets) * n_points, size), dtype=np.int64)
    count = 0
    candidate = np.empty(size, dtype=np.int64)
    for s in range(len(sets)):
        first = sets[s, size - 2] + 1 if size > 1 else 0
        candidate[: size - 1] = sets[s]
        for point in range(first, n_points):
            candidate[size - 1] = point
            if count_patterns(masks, candidate, seen) == 1 << size:
                grown[count] = candidate
                count += 1
    return grown[:count].copy()


@jit
def largest_growth(masks, subsets):
    """Return the largest number of labellings over the given sets of points."""
    best = 0
    seen = np.zeros(1 << subsets.shape[1], dtype=np.bool_)
    for s in range(len(subsets)):
        best = max(best, count_patterns(masks, subsets[s], seen))
    return best
