"""The few intervals and tests that report sections compute from the test rows.

Shares get exact binomial intervals, quantiles get distribution-free ones from order statistics,
means get Student's corrected for skewness; families of groups are corrected by Holm's procedure.
"""

import itertools
import math

import numpy as np
from scipy import special

from corollary.theory.binomial import clopper_pearson_interval, clopper_pearson_upper


def share_interval(k: int, n: int, confidence: float) -> tuple[float, float]:
    """Bracket a probability from k hits in n trials (Clopper and Pearson)."""
    if n == 0:
        return 0.0, 1.0
    low, high = clopper_pearson_interval(int(k), int(n), 1 - confidence)
    return float(low), float(high)


def share_upper(k: int, n: int, confidence: float) -> float:
    """Bound a probability from above after k hits in n trials (one-sided, exact)."""
    return float(clopper_pearson_upper(int(k), int(n), 1 - confidence)) if n else 1.0


def mean_interval(
    values: np.ndarray, confidence: float, inflation: float = 1.0
) -> tuple[float, float, float]:
    r"""Estimate a mean with Student's interval, corrected for skewness by Hall's transformation.

    Losses are skewed: a few rows cost much more than the rest. Student's symmetric interval then
    reaches too far on the side of the many and not far enough on the side of the few.

    With T the error of the mean over the standard deviation and g the skewness of the sample, the
    cubic :math:`T + g T^2 / 3 + g^2 T^3 / 27 + g / (6 n)` is monotone in T and has, up to terms of
    order 1 / n, no skewness; the interval inverts it at Student's quantiles.

    Guarantee: none for finite n. On exponential, log-normal and normal numbers and their mirror
    images it misses less often than Student's interval; checked by
    ``tests/reporting/test_statistics.py``.

    References
    ----------
    Hall, P. (1992). On the removal of skewness by transformation. Journal of the Royal
    Statistical Society B 54.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.reporting.trust._statistics import mean_interval
    >>> mean_interval(np.array([1.0, 1.0, 1.0]), 0.95)
    (1.0, 1.0, 1.0)
    >>> mean, low, high = mean_interval(np.r_[np.ones(50), 9.0, 30.0], 0.95)
    >>> round(mean - low, 2), round(high - mean, 2)
    (0.75, 3.84)
    """
    n = len(values)
    if n == 0:
        return math.nan, -math.inf, math.inf
    mean = float(np.mean(values))
    if n < 2:
        return mean, -math.inf, math.inf
    deviation = np.asarray(values, dtype=np.float64) - mean
    # Scaled first, so that cubes of very large or small numbers stay in range.
    scale = float(np.max(np.abs(deviation)))
    if scale == 0:
        return mean, mean, mean
    if not math.isfinite(scale):
        return mean, -math.inf, math.inf
    scaled = deviation / scale
    variance = float(np.mean(scaled**2))
    skewness = float(np.mean(scaled**3)) / variance**1.5
    spread = scale * math.sqrt(variance * n / (n - 1))
    reach = inflation * float(special.stdtrit(n - 1, (1 + confidence) / 2)) / math.sqrt(n)
    low, high = (spread * _undo_skewness(w, skewness, n) for w in (reach, -reach))
    return mean, mean - low, mean - high


def _undo_skewness(value: float, skewness: float, n: int) -> float:
    """Solve Hall's cubic for T."""
    shifted = value - skewness / (6 * n)
    if abs(skewness) < 1e-8:
        return shifted
    return 3 / skewness * (float(np.cbrt(1 + skewness * shifted)) - 1)


def quantile_interval(
    ordered: np.ndarray, level: float, confidence: float
) -> tuple[float, float | None, float | None]:
    """Estimate a quantile with the interval that order statistics give.

    The interval holds for every continuous distribution. Near the ends of the sample there may
    be no finite end: it is then ``None``.
    """
    n = len(ordered)
    value = float(ordered[min(max(math.ceil(level * n - 1e-9), 1), n) - 1])
    tail = (1 - confidence) / 2
    below = binomial_quantile(tail, n, level)
    above = binomial_quantile(1 - tail, n, level) + 1
    low = None if below < 1 else float(ordered[below - 1])
    high = None if above > n else float(ordered[above - 1])
    return value, low, high


def binomial_quantile(level: float, n: int, p: float) -> int:
    """Find the smallest k with P(Binomial(n, p) <= k) >= level."""
    low, high = -1, n
    while high - low > 1:
        middle = (low + high) // 2
        if special.bdtr(float(middle), n, p) >= level:
            high = middle
        else:
            low = middle
    return high


def holm(p_values: np.ndarray) -> np.ndarray:
    """Adjust p-values so that the chance of any false finding stays below the level."""
    m = len(p_values)
    order = np.argsort(p_values, kind="stable")
    steps = np.maximum.accumulate(np.asarray(p_values)[order] * (m - np.arange(m)))
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def equal_count_bins(n: int, most: int, least: int) -> list[slice]:
    """Cut n ordered rows into bins of nearly equal count."""
    if n == 0:
        return []
    parts = max(min(most, n // least), 1)
    cuts = [round(i * n / parts) for i in range(parts + 1)]
    return [slice(a, b) for a, b in itertools.pairwise(cuts)]


def mean_ranks(values: np.ndarray) -> np.ndarray:
    """Rank numbers; equal ones share their mean rank."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts + 1) / 2.0)[inverse]
