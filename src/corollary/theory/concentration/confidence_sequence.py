r"""Intervals for a mean that are true at every time at once.

A confidence interval for n observations is right with probability :math:`1-\delta` if n was fixed
beforehand. Who looks after every observation and stops when the interval looks good is wrong far
more often. A *confidence sequence* :math:`(L_t, U_t)` allows for that:

.. math:: P\{\exists t\ge 1:\ \mu\notin[L_t, U_t]\}\le\delta.

Both constructions here rest on Ville's inequality: a nonnegative process that starts at 1 and does
not grow on average, whatever happened before, ever reaches :math:`1/\delta` with probability at
most :math:`\delta`.

:func:`betting_sequence` lets a gambler bet against every candidate for the mean, and drops the
candidates at which the gambler becomes rich; it is the sharper one and asks that all observations
have the same mean. :func:`stitched_sequence` joins straight boundaries by the union bound; it
speaks about the running mean of the conditional means, which may drift.
"""

import math
from typing import Any, Literal, NamedTuple

import numpy as np

from corollary.core.estimator import (
    AnyReal,
    ArrayLike,
    Count,
    NonNegative,
    Positive,
    Probability,
    checked,
)
from corollary.theory.concentration.bounded_losses import check_losses

# A bet risks at most this share of the capital: more would be ruined by one observation.
_CAP = 0.75
# Strategies are tuned to 8, 64, 512, ... observations.
_RATIO = 8
# Candidates for the mean lie closer together by this factor on the way to the final mean.
_STEP = 1.01


class ConfidenceSequence(NamedTuple):
    """Limits after every observation.

    Parameters
    ----------
    lower : ndarray of shape (n_samples,)
        Lower limits after 1, 2, ... observations.
    upper : ndarray of shape (n_samples,)
        Upper limits.
    """

    lower: np.ndarray
    upper: np.ndarray


@checked
def betting_sequence(
    observations: ArrayLike,
    delta: Probability,
    *,
    low: AnyReal = 0.0,
    high: AnyReal = 1.0,
    sides: Literal[1, 2] = 2,
    running: bool = True,
    horizon: Count | None = None,
) -> ConfidenceSequence:
    r"""Bound the mean of bounded observations at every time, by betting.

    Against a candidate m for the mean of observations in [0, 1] a gambler starts with capital 1
    and puts a share :math:`\lambda_t(X_t - m)` of it at stake in round t:

    .. math:: K_t(m) = \prod_{s\le t}\bigl(1 + \lambda_s\,(X_s - m)\bigr).

    If m is the mean the game is fair, and :math:`K_t(m)` ever reaches :math:`1/\delta` with
    probability at most :math:`\delta`. The candidates at which it does are dropped; the lower limit
    is the largest of them. The upper limit is the same for :math:`1 - X_t`.

    Parameters
    ----------
    observations : array-like of shape (n_samples,)
        Observations in the order in which they came.
    delta : float
        Probability of ever failing, strictly between 0 and 1.
    low : float, default=0.0
        Smallest possible value.
    high : float, default=1.0
        Largest possible value.
    sides : {1, 2}, default=2
        2 for both limits at once; with 1 each of them is valid alone.
    running : bool, default=True
        Whether a limit never moves back: as all limits hold at once, so does the best so far.
    horizon : int or None, default=None
        Number of observations at which limits shall be sharpest; they hold at all others, too.
        None divides the capital among strategies for 8, 64, 512, ... observations.

    Returns
    -------
    sequence : ConfidenceSequence
        Lower and upper limits after every observation.

    Raises
    ------
    ValueError
        If an observation is not a number or lies outside the range.

    See Also
    --------
    stitched_sequence : For means that drift; shorter to compute.
    clopper_pearson_interval : For a number of observations that is fixed beforehand.

    Notes
    -----
    Stakes are :math:`\lambda_t = \sqrt{2\log(1/(\delta w))/(h\,\hat\sigma^2_{t-1})}` for horizon h
    and its share w of the capital, with the variance of the observations *before* t, and at most
    0.75 / m. They do not depend on m otherwise, so that :math:`K_t` falls in m, and candidates
    below a dropped one are dropped too. A finite set of candidates makes limits wider by up to a
    hundredth of their distance from the mean, never narrower.

    Guarantee: with probability at least 1 - delta the limits enclose the mean at all times, if
    every observation has this mean given those before it (independent observations of one law
    have). Checked by ``tests/guarantees/confidence_sequences.py``.

    References
    ----------
    Waudby-Smith, I. and Ramdas, A. (2023). Estimating means of bounded random variables by
    betting. Journal of the Royal Statistical Society B 86, theorem 3.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import betting_sequence
    >>> coins = (np.random.default_rng(0).random(1000) < 0.1).astype(float)
    >>> limits = betting_sequence(coins, delta=0.05)
    >>> round(float(limits.lower[-1]), 3), round(float(limits.upper[-1]), 3)
    (0.062, 0.127)
    """
    x = _unit("betting_sequence", observations, low, high)
    share = delta / sides
    lower = _lower_limits(x, share, running, horizon)
    upper = 1 - _lower_limits(1 - x, share, running, horizon)
    return _scaled(lower, upper, low, high)


def _lower_limits(x: np.ndarray, delta: float, running: bool, horizon: int | None) -> np.ndarray:
    from corollary.theory._loops import lower_limits

    bets, shares = _stakes(x, delta, horizon)
    means, limits = _candidates(x), np.empty(len(x))
    # A capital that rounding lifts over the threshold is not there.
    threshold = (1 + 1e-9) / delta
    lower_limits(x, bets, shares, means, _CAP / means, threshold, running, limits)
    return limits


def _stakes(x: np.ndarray, delta: float, horizon: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the stakes of every strategy in every round, and what each strategy starts with."""
    n = len(x)
    count = np.arange(1, n + 1)
    mean = (0.5 + np.cumsum(x)) / (count + 1)
    variance = (0.25 + np.cumsum((x - mean) ** 2)) / (count + 1)
    before = np.concatenate([[0.25], variance[:-1]])
    if horizon is not None:
        horizons, shares = np.array([float(horizon)]), np.ones(1)
    else:
        # Shares 1/2, 1/6, 1/12, ... add up to 1. Strategies for far later times are left out;
        # their capital would only help.
        k = np.arange(max(1, math.ceil(math.log(n, _RATIO))))
        horizons, shares = float(_RATIO) ** (k + 1), 1 / ((k + 1.0) * (k + 2.0))
    factors = np.sqrt(2 * np.log(1 / (delta * shares)) / horizons)
    return factors[:, None] / np.sqrt(before), shares


def _candidates(x: np.ndarray) -> np.ndarray:
    """Return candidates for the mean, dense where the limits are going to lie.

    They may depend on the observations: each is judged by a game of its own. A lower limit above
    all means but the first few would contradict them; such candidates are left out.
    """
    smallest = 1 / (20 * len(x))
    distances = np.geomspace(smallest, 1, 2 + int(math.log(1 / smallest) / math.log(_STEP)))
    centre = x.mean()
    means = np.concatenate([centre - distances, centre + distances, np.linspace(0, 1, 257)])
    count = np.arange(1, len(x) + 1)
    largest = (np.cumsum(x) / count)[len(x) // 10 :].max()
    return np.unique(means[(means > 0) & (means <= min(1.0, 1.01 * largest + smallest))])


@checked
def stitched_boundary(
    intrinsic_time: AnyReal | ArrayLike,
    delta: Probability,
    *,
    scale: NonNegative = 0.0,
    first: Positive = 1.0,
    sharp: bool = True,
) -> Any:
    r"""Bound a sum of differences at every time, by straight boundaries for doubling times.

    Let :math:`\exp(\lambda S_t - \psi(\lambda) V_t)` be a supermartingale that starts at 1 or less
    for all :math:`\lambda` in [0, 1/c), with :math:`\psi(\lambda)=(-\log(1-c\lambda)-c\lambda)/c^2`
    and, for c = 0, :math:`\psi(\lambda)=\lambda^2/2`. For one :math:`\lambda`, by Ville's
    inequality, :math:`S_t` ever crosses the line :math:`(\ell + \psi(\lambda)V_t)/\lambda` with
    probability at most :math:`e^{-\ell}`. Line k is tuned to :math:`V_t` around
    :math:`2^{k+1/2}v_0` and gets a share of delta that falls like :math:`k^{-1.4}`; the smallest
    line counts.

    Parameters
    ----------
    intrinsic_time : float or array-like
        V, the sum of variances or what stands for it, not negative.
    delta : float
        Probability of ever crossing, strictly between 0 and 1.
    scale : float, default=0.0
        c: 0 for sub-Gaussian sums, positive for sub-exponential ones.
    first : float, default=1.0
        :math:`v_0`, the intrinsic time from which on the boundary is meant to be sharp; chosen
        beforehand.
    sharp : bool, default=True
        False for the closed form :math:`\sqrt{k_1^2 v\ell(v) + k_2^2c^2\ell(v)^2} + k_2c\,\ell(v)`
        with :math:`\ell(v)=1.4\log(1+\log_2(v/v_0))+\log(\zeta(1.4)/\delta)`,
        :math:`k_1=(2^{1/4}+2^{-1/4})/\sqrt2`, :math:`k_2=(\sqrt2+1)/2` and v at least
        :math:`v_0`, which is never smaller.

    Returns
    -------
    boundary : float or ndarray
        With probability at least 1 - delta, :math:`S_t` is below it at all times.

    See Also
    --------
    stitched_sequence : Applied to means.
    azuma_bound : For one time.

    Notes
    -----
    Guarantee: checked by ``tests/guarantees/confidence_sequences.py``. The boundary grows like
    :math:`\sqrt{v\log\log v}`, as it must.

    References
    ----------
    Howard, S. R., Ramdas, A., McAuliffe, J. and Sekhon, J. (2021). Time-uniform, nonparametric,
    nonasymptotic confidence sequences. Annals of Statistics 49, theorem 1.

    Examples
    --------
    >>> from corollary.theory import stitched_boundary
    >>> round(stitched_boundary(1000.0, 0.05), 2), round(stitched_boundary(10.0**6, 0.05), 2)
    (122.85, 4125.66)
    """
    v = np.asarray(intrinsic_time, dtype=float)
    if not (np.all(v >= 0) and np.all(np.isfinite(v))):
        raise ValueError(
            "The 'intrinsic_time' parameter of stitched_boundary must be finite and not negative. "
            f"Got values from {v.min():g} to {v.max():g}."
        )
    if sharp:
        boundary = _lowest_line(v, delta, scale, first)
    else:
        later = np.maximum(v, first)
        level = 1.4 * np.log1p(np.log2(later / first)) + math.log(_ZETA / delta)
        k1, k2 = (2**0.25 + 2**-0.25) / math.sqrt(2), (math.sqrt(2) + 1) / 2
        boundary = np.sqrt(k1**2 * later * level + (k2 * scale * level) ** 2) + k2 * scale * level
    return float(boundary) if boundary.ndim == 0 else boundary


# The sum of k^-1.4 over k = 1, 2, ..., rounded up.
_ZETA = 3.10555


def _levels(count: int, delta: float) -> np.ndarray:
    """Return minus the logarithms of the shares of delta; the shares add up to it at most."""
    return 1.4 * np.log(np.arange(1, count + 1)) + math.log(_ZETA / delta)


def _lowest_line(v: np.ndarray, delta: float, scale: float, first: float) -> np.ndarray:
    count = 2 + max(0, math.ceil(math.log2(max(float(v.max(initial=0.0)), first) / first)))
    levels = _levels(count, delta)
    middles = first * 2.0 ** (np.arange(count) + 0.5)
    slopes = 1 / (scale + np.sqrt(middles / (2 * levels)))
    lines = [(level + _cumulant(slope, scale) * v) / slope for level, slope in zip(levels, slopes)]
    return np.min(lines, axis=0)


def _cumulant(slope: float, scale: float) -> float:
    """Compute the exponential or, without a scale, the Gaussian cumulant function."""
    part = scale * slope
    if part < 1e-4:
        # -log(1 - u) - u loses its digits to u; the rest of the series is below the factor.
        return slope**2 / 2 * (1 + part)
    return (-math.log1p(-part) - part) / scale**2


@checked
def stitched_sequence(
    observations: ArrayLike,
    delta: Probability,
    *,
    kind: Literal["bernoulli", "empirical-bernstein", "sub-gaussian"] = "bernoulli",
    low: AnyReal = 0.0,
    high: AnyReal = 1.0,
    sides: Literal[1, 2] = 2,
    running: bool = True,
) -> ConfidenceSequence:
    r"""Bound the mean of bounded observations at every time, in closed form.

    Parameters
    ----------
    observations : array-like of shape (n_samples,)
        Observations in the order in which they came.
    delta : float
        Probability of ever failing, strictly between 0 and 1.
    kind : str, default="bernoulli"
        Which exponential moments are used. "bernoulli": those of zeros and ones with the same
        mean, no observations in [0, 1] have larger ones; short if means are near an end.
        "empirical-bernstein": those of the observed squares
        :math:`V_t=\sum_s(X_s-\bar X_{s-1})^2`, short if observations vary little.
        "sub-gaussian": those of the range alone.
    low : float, default=0.0
        Smallest possible value.
    high : float, default=1.0
        Largest possible value.
    sides : {1, 2}, default=2
        2 for both limits at once; with 1 each of them is valid alone.
    running : bool, default=True
        Whether a limit never moves back. Only for means that do not drift.

    Returns
    -------
    sequence : ConfidenceSequence
        Lower and upper limits after every observation.

    Raises
    ------
    ValueError
        If an observation is not a number or lies outside the range.

    See Also
    --------
    betting_sequence : Sharper, for a mean that does not drift.
    stitched_boundary : The boundary of a sum.

    Notes
    -----
    For "bernoulli" the supermartingale is :math:`\exp(-\lambda\sum_s X_s-\sum_s
    \log(1-\mu_s+\mu_se^{-\lambda}))`. The logarithm is concave in the mean, so that the mean of
    the :math:`\mu_s` may stand for all of them, and each :math:`\lambda` of a fixed list with share
    :math:`e^{-\ell}` of delta gives

    .. math:: \bar\mu_t\le\frac{1-\exp\bigl(-(\lambda\sum_s X_s+\ell)/t\bigr)}{1-e^{-\lambda}}.

    Guarantee: with ``running=False`` and probability at least 1 - delta the limits enclose
    :math:`\bar\mu_t=\frac1t\sum_{s\le t}E[X_s\,|\,X_1..X_{s-1}]` at all times, whatever the law
    of the observations within their range; with ``running=True`` the mean that all of them have.
    Checked by ``tests/guarantees/confidence_sequences.py``.

    References
    ----------
    Howard, S. R., Ramdas, A., McAuliffe, J. and Sekhon, J. (2021). Time-uniform, nonparametric,
    nonasymptotic confidence sequences. Annals of Statistics 49, theorems 1 and 4.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import stitched_sequence
    >>> coins = (np.random.default_rng(0).random(1000) < 0.1).astype(float)
    >>> limits = stitched_sequence(coins, delta=0.05)
    >>> round(float(limits.lower[-1]), 3), round(float(limits.upper[-1]), 3)
    (0.058, 0.127)
    """
    x = _unit("stitched_sequence", observations, low, high)
    share, count = delta / sides, np.arange(1, len(x) + 1)
    mean = np.cumsum(x) / count
    if kind == "bernoulli":
        lower = 1 - _bernoulli_upper(1 - x, share)
        upper = _bernoulli_upper(x, share)
    else:
        if kind == "sub-gaussian":
            boundary = stitched_boundary(count / 4, share, first=0.25)
        else:
            before = np.concatenate([[0.5], mean[:-1]])
            boundary = stitched_boundary(np.cumsum((x - before) ** 2), share, scale=1.0)
        lower, upper = mean - boundary / count, mean + boundary / count
    if running:
        lower, upper = np.maximum.accumulate(lower), np.minimum.accumulate(upper)
    return _scaled(lower, upper, low, high)


def _bernoulli_upper(x: np.ndarray, delta: float) -> np.ndarray:
    count, total = np.arange(1, len(x) + 1), np.cumsum(x)
    # The variance of all observations is at most a quarter of their number.
    number = 3 + max(0, math.ceil(math.log2(len(x))))
    levels = _levels(number, delta)
    rates = np.sqrt(2 * levels / (0.25 * 2.0 ** (np.arange(number) + 0.5)))
    limits = [
        -np.expm1(-(rate * total + level) / count) / -math.expm1(-rate)
        for level, rate in zip(levels, rates)
    ]
    return np.min(limits, axis=0)


def _unit(who: str, observations: Any, low: float, high: float) -> np.ndarray:
    values = check_losses(observations, low, high, who=who)
    if values.ndim != 1:
        raise ValueError(
            f"The 'observations' parameter of {who} must be one-dimensional, in the order of their "
            f"coming. Got shape {values.shape} instead."
        )
    return np.clip((values - low) / (high - low), 0.0, 1.0)


def _scaled(lower: np.ndarray, upper: np.ndarray, low: float, high: float) -> ConfidenceSequence:
    width = high - low
    return ConfidenceSequence(
        low + width * np.clip(lower, 0.0, 1.0), low + width * np.clip(upper, 0.0, 1.0)
    )
