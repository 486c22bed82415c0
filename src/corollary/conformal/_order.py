"""Order statistics: which of n scores is the threshold, and what it is."""

import math

import numpy as np

# Products such as 10 * (1 - 0.7) end just above a whole number. A rank is rounded up only beyond
# this share of the sample, which costs at most as much coverage; so are sums of weights.
_ROUNDING = 1e-12

# Up to so many values a sample saves nothing.
_FEW = 1024
# The order statistics of a sample bracket the wanted one within this many standard deviations of
# its place.
_DEVIATIONS = 3.0


def round_up(value: float, n: int) -> int:
    """Return the next whole number, up to the rounding of a sum of n + 1 shares."""
    return math.ceil(value - _ROUNDING * (n + 1))


def rank_of_level(n: int, confidence: float) -> int:
    """Return which order statistic of n scores covers the next one; n + 1 stands for infinity."""
    # The slack must not turn the rank of a tiny level into none.
    return max(1, round_up((n + 1) * confidence, n))


def suffices(count: np.ndarray, confidence: float) -> np.ndarray:
    """Say which numbers of scores, or sums of weights beside a new weight of one, are enough."""
    return count >= (confidence - _ROUNDING) * (count + 1)


def smallest_finite_size(confidence: float) -> int:
    """Return how many scores a finite threshold takes."""
    n = max(1, math.floor(confidence / (1 - confidence)) - 1)
    while rank_of_level(n, confidence) > n:
        n += 1
    return n


def order_statistic(values: np.ndarray, rank: int) -> float:
    """Return the rank-th smallest of some values.

    A sample says between which numbers it lies, so that it is sought, in the same way, among a few
    per cent of the values. Where the sample misleads or leaves half of them, all are partitioned.
    """
    n = len(values)
    if n > _FEW:
        sample = values[:: math.isqrt(n) // 4]
        share, m = rank / n, len(sample)
        slack = _DEVIATIONS * math.sqrt(m * share * (1 - share)) + 2
        ends = max(0, int(share * m - slack)), min(m - 1, int(share * m + slack))
        low, high = np.partition(sample, ends)[list(ends)]
        inside = values >= low
        n_below = n - int(np.count_nonzero(inside))
        inside &= values <= high
        near = values.compress(inside)
        if n_below < rank <= n_below + len(near) and 2 * len(near) <= n:
            return order_statistic(near, rank - n_below)
    return float(np.partition(values, rank - 1)[rank - 1])


def threshold(scores: np.ndarray, confidence: float) -> float:
    """Return the conformal quantile of scores, infinite if they are too few."""
    rank = rank_of_level(len(scores), confidence)
    return order_statistic(scores, rank) if rank <= len(scores) else math.inf


def weighted_thresholds(
    scores: np.ndarray, weights: np.ndarray, new_weights: np.ndarray, confidence: float
) -> np.ndarray:
    """Return the conformal quantile of ascending scores with weights, for each new weight."""
    # Ratios count, so that the largest weight is 1 and no sum overflows.
    largest = weights.max(initial=0.0)
    if largest > 0:
        weights = weights / largest
        with np.errstate(over="ignore"):
            new_weights = new_weights / largest
    through = np.cumsum(weights)
    total = (through[-1] if len(through) else 0.0) + new_weights
    place = np.searchsorted(through, (confidence - _ROUNDING) * total, side="left")
    # Without any mass nothing is known: no threshold is safe.
    place = np.where(total > 0, place, len(scores))
    return np.append(scores, np.inf)[place]


def grouped_threshold(scores: np.ndarray, weights: np.ndarray, confidence: float) -> float:
    """Return the conformal quantile of scores where each group, and the new one, weighs one.

    With weights of some of a group's rows only, it is a threshold of rows of their kind: the new
    group then has at most weight one among them.
    """
    order = np.argsort(scores, kind="stable")
    return float(weighted_thresholds(scores[order], weights[order], np.ones(1), confidence)[0])
