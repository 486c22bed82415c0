"""Intervals of shares, means and quantiles."""

import math
from typing import NamedTuple

import numpy as np

from corollary.core.estimator import ArrayLike, Positive, Probability, checked
from corollary.theory import clopper_pearson_interval, clopper_pearson_upper


class Estimate(NamedTuple):
    """A number with its interval.

    Parameters
    ----------
    value : float
        Point estimate.
    low : float
        Lower end.
    high : float
        Upper end.
    n : int
        Rows it was computed on.

    Examples
    --------
    >>> from corollary.validation import Estimate
    >>> Estimate(0.2, 0.1, 0.4, 50).high
    0.4
    """

    value: float
    low: float
    high: float
    n: int


@checked
def share_interval(
    hits: int, n: int, confidence: Probability, *, inflation: Positive = 1.0
) -> tuple[float, float]:
    """Bracket a probability from hits in n trials (Clopper and Pearson).

    Guarantee: covers the probability at least as often as the confidence says, for every n.

    Parameters
    ----------
    hits : int
        Hits.
    n : int
        Trials; 0 gives the interval from 0 to 1.
    confidence : float
        Probability that the interval covers, at least.
    inflation : float, default=1.0
        Factor on the standard error, for rows that are not independent: trials count as
        inflation squared times fewer. The guarantee is that of a factor of 1.

    Returns
    -------
    low : float
        Lower end.
    high : float
        Upper end.

    Examples
    --------
    >>> from corollary.validation import share_interval
    >>> low, high = share_interval(141, 143, 0.95)
    >>> round(low, 3), round(high, 3)
    (0.95, 0.998)
    """
    _check_hits("share_interval", hits, n)
    if n == 0:
        return 0.0, 1.0
    if inflation != 1:
        each = (1 + confidence) / 2
        return 1 - _upper(n - hits, n, each, inflation), _upper(hits, n, each, inflation)
    low, high = clopper_pearson_interval(int(hits), int(n), 1 - confidence)
    return float(low), float(high)


@checked
def share_upper(hits: int, n: int, confidence: Probability, *, inflation: Positive = 1.0) -> float:
    """Bound a probability from above after hits in n trials (one-sided, exact).

    Guarantee: the bound holds at least as often as the confidence says, for every n.

    Parameters
    ----------
    hits : int
        Hits.
    n : int
        Trials; 0 gives 1.
    confidence : float
        Probability that the bound holds, at least.
    inflation : float, default=1.0
        Factor on the standard error, for rows that are not independent: trials count as
        inflation squared times fewer. The guarantee is that of a factor of 1.

    Returns
    -------
    high : float
        The bound.

    Examples
    --------
    >>> from corollary.validation import share_upper
    >>> round(share_upper(0, 59, 0.95), 4)
    0.0495
    """
    _check_hits("share_upper", hits, n)
    if n and inflation != 1:
        return _upper(hits, n, confidence, inflation)
    return float(clopper_pearson_upper(int(hits), int(n), 1 - confidence)) if n else 1.0


def _upper(hits: int, n: int, confidence: float, inflation: float) -> float:
    """Bound a probability by the beta law that the exact bound has, with fewer trials."""
    from scipy.special import betaincinv

    if hits == n:
        return 1.0
    return float(betaincinv(hits / inflation**2 + 1, (n - hits) / inflation**2, confidence))


def _check_hits(who: str, hits: int, n: int) -> None:
    """Raise unless there are at most as many hits as trials."""
    if not 0 <= hits <= n:
        raise ValueError(f"{who} needs from 0 to n hits in n trials. Got {hits} hits in {n}.")


@checked
def mean_interval(
    values: ArrayLike, confidence: Probability, *, inflation: Positive = 1.0
) -> Estimate:
    r"""Estimate a mean with Student's interval, corrected for skewness by Hall's transformation.

    Losses are skewed: a few rows cost much more than the rest. Student's symmetric interval then
    reaches too far on the side of the many and not far enough on the side of the few.

    With T the error of the mean over the standard deviation and g the skewness of the sample, the
    cubic :math:`T + g T^2 / 3 + g^2 T^3 / 27 + g / (6 n)` is monotone in T and has, up to terms of
    order 1 / n, no skewness; the interval inverts it at Student's quantiles.

    Guarantee: none for finite n. On exponential, log-normal and normal numbers and their mirror
    images it misses less often than Student's interval; checked by
    ``tests/validation/test_intervals.py``.

    Parameters
    ----------
    values : ndarray of shape (n,)
        The sample.
    confidence : float
        Nominal probability that the interval covers the mean.
    inflation : float, default=1.0
        Factor on the standard error, for rows that are not independent.

    Returns
    -------
    estimate : Estimate
        Mean and interval; without ends for fewer than two rows.

    References
    ----------
    .. [1] P. Hall (1992). On the removal of skewness by transformation. Journal of the Royal
       Statistical Society B 54.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.validation import mean_interval
    >>> mean, low, high, n = mean_interval(np.r_[np.ones(50), 9.0, 30.0], 0.95)
    >>> round(mean - low, 2), round(high - mean, 2)
    (0.75, 3.84)
    """
    from scipy.special import stdtrit

    n = len(values)
    mean = float(np.mean(values)) if n else math.nan
    if n < 2:
        return Estimate(mean, -math.inf, math.inf, n)
    deviation = np.asarray(values, dtype=np.float64) - mean
    # Scaled first, so that cubes of very large or small numbers stay in range.
    scale = float(np.max(np.abs(deviation)))
    if scale == 0:
        return Estimate(mean, mean, mean, n)
    if not math.isfinite(scale):
        return Estimate(mean, -math.inf, math.inf, n)
    scaled = deviation / scale
    variance = float(np.mean(scaled**2))
    skewness = float(np.mean(scaled**3)) / variance**1.5
    spread = scale * math.sqrt(variance * n / (n - 1))
    reach = inflation * float(stdtrit(n - 1, (1 + confidence) / 2)) / math.sqrt(n)
    low, high = (spread * _undo_skewness(w, skewness, n) for w in (reach, -reach))
    return Estimate(mean, mean - low, mean - high, n)


def _undo_skewness(value: float, skewness: float, n: int) -> float:
    """Solve Hall's cubic for T."""
    shifted = value - skewness / (6 * n)
    if abs(skewness) < 1e-8:
        return shifted
    return 3 / skewness * (float(np.cbrt(1 + skewness * shifted)) - 1)


@checked
def quantile_interval(
    values: ArrayLike, level: Probability, confidence: Probability, *, inflation: Positive = 1.0
) -> tuple[float, float | None, float | None]:
    """Estimate a quantile with the interval that order statistics give.

    Guarantee: the interval covers at least as often as the confidence says, for every continuous
    distribution and every n.

    Parameters
    ----------
    values : ndarray of shape (n,)
        The sample, in any order.
    level : float
        Level of the quantile, strictly between 0 and 1.
    confidence : float
        Probability that the interval covers, at least.
    inflation : float, default=1.0
        Factor on the distance of the ranks from that of the quantile, for rows that are not
        independent. The guarantee is that of a factor of 1.

    Returns
    -------
    value : float
        Empirical quantile.
    low : float or None
        Lower end; None where the sample is too small to have one.
    high : float or None
        Upper end; None where the sample is too small to have one.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.validation import quantile_interval
    >>> quantile_interval(np.arange(1.0, 21.0), 0.5, 0.95)
    (10.0, 6.0, 15.0)
    >>> quantile_interval(np.arange(1.0, 21.0), 0.99, 0.95)
    (20.0, 19.0, None)
    """
    from scipy.stats import binom

    ordered = np.sort(values)
    n = len(ordered)
    if n == 0 or np.isnan(ordered[-1]):  # which is where sorting puts them
        raise ValueError("quantile_interval needs at least one number, and none that is NaN.")
    value = float(ordered[min(max(math.ceil(level * n - 1e-9), 1), n) - 1])
    tail = (1 - confidence) / 2
    ranks = binom.ppf([tail, 1 - tail], n, level)
    if inflation != 1:
        ranks = level * n + inflation * (ranks - level * n)
    below, above = math.floor(ranks[0]), math.ceil(ranks[1]) + 1
    low = None if below < 1 else float(ordered[below - 1])
    high = None if above > n else float(ordered[above - 1])
    return value, low, high
