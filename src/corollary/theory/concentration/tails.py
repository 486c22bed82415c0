"""Tail bounds that need next to nothing: Markov, Chernoff, the union bound, the central limit.

All return probabilities, at most 1, where a bound is vacuous. Thresholds are inclusive: a bound on
``P(X >= t)``.
"""

import math
from collections.abc import Callable
from numbers import Real
from typing import Annotated, Any, Literal

import numpy as np
from scipy.special import logsumexp, ndtri

from corollary.core.compat import Interval
from corollary.core.estimator import Count, Fraction, NonNegative, Positive, Probability, checked
from corollary.risk import binary_kl


@checked
def markov_bound(mean: NonNegative, threshold: Positive) -> float:
    """Bound the upper tail of a nonnegative variable by its mean.

    Parameters
    ----------
    mean : float
        Expectation of the variable, which is never negative.
    threshold : float
        Where the tail begins, positive.

    Returns
    -------
    probability : float
        ``P(X >= threshold) <= mean / threshold``, reached by a variable that is 0 or the threshold.

    See Also
    --------
    reverse_markov_bound : From below, for variables that cannot be large.

    Examples
    --------
    >>> from corollary.theory import markov_bound
    >>> markov_bound(1.0, 4.0)
    0.25
    """
    return min(1.0, mean / threshold)


@checked
def reverse_markov_bound(
    mean: Fraction, threshold: Annotated[float, Interval(Real, 0, 1, closed="left")]
) -> float:
    """Bound the upper tail of a variable in [0, 1] from below by its mean.

    Parameters
    ----------
    mean : float
        Expectation of the variable, or a lower bound of it.
    threshold : float
        Where the tail begins, at least 0 and below 1.

    Returns
    -------
    probability : float
        ``P(X > threshold) >= (mean - threshold) / (1 - threshold)``, at least 0; reached by a
        variable that is the threshold or 1.

    Examples
    --------
    >>> from corollary.theory import reverse_markov_bound
    >>> round(reverse_markov_bound(0.25, 0.125), 4)
    0.1429
    """
    return max(0.0, (mean - threshold) / (1 - threshold))


def chernoff_bound(
    threshold: float, *, log_mgf: Callable[[float], float] | None = None, sample: Any = None
) -> float:
    r"""Bound an upper tail by the best exponential moment.

    .. math:: P\{X \ge t\} \le \inf_{\lambda > 0} e^{-\lambda t}\, E e^{\lambda X}

    Parameters
    ----------
    threshold : float
        Where the tail begins, t.
    log_mgf : callable or None, default=None
        ``log_mgf(lam)`` is the log of the moment generating function, ``log E exp(lam X)``,
        infinite where it does not exist. That of a sum of mutually independent variables is the
        sum of theirs; pairwise independence is not enough.
    sample : array-like of shape (n,) or None, default=None
        Values of X, each with probability 1/n, in place of `log_mgf`. The bound is then about
        that finite law, not about the one the sample came from.

    Returns
    -------
    probability : float
        The bound, at most 1.

    Raises
    ------
    ValueError
        If not exactly one of `log_mgf` and `sample` is given.

    Examples
    --------
    >>> from corollary.theory import chernoff_bound
    >>> round(chernoff_bound(2.0, log_mgf=lambda lam: lam**2 / 2), 4)
    0.1353
    """
    if (log_mgf is None) == (sample is None):
        raise ValueError("chernoff_bound needs exactly one of 'log_mgf' and 'sample'.")
    log_moment: Callable[[float], float]
    if sample is not None:
        values = np.asarray(sample, dtype=float)
        if values.ndim != 1 or not len(values) or not np.all(np.isfinite(values)):
            raise ValueError(
                "The 'sample' parameter of chernoff_bound must hold one or more finite numbers. "
                f"Got shape {values.shape}."
            )
        if threshold > values.max():
            return 0.0

        # Shifted by the threshold, nothing large is subtracted from something large.
        values, threshold = values - threshold, 0.0

        def log_moment(lam: float) -> float:
            return float(logsumexp(lam * values)) - math.log(len(values))

    else:
        assert log_mgf is not None
        log_moment = log_mgf

    from scipy.optimize import minimize_scalar

    def exponent(log_lam: float) -> float:
        lam = math.exp(log_lam)
        try:
            moment, linear = float(log_moment(lam)), lam * threshold
        except OverflowError:
            return math.inf
        # The difference of two large numbers may round down; a bound must not.
        value = moment - linear + 4e-16 * (abs(moment) + abs(linear))
        return value if math.isfinite(value) else math.inf

    # log E exp(lam X) - lam t is convex in lam, hence it falls and rises once in log lam too.
    grid = np.linspace(-30, 30, 121)
    values_on_grid = [exponent(point) for point in grid]
    best = int(np.argmin(values_on_grid))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    lowest = minimize_scalar(
        exponent, bounds=(low, high), method="bounded", options={"xatol": 1e-10}
    )
    return math.exp(min(0.0, lowest.fun, values_on_grid[best]))


def union_bound(probabilities: Any) -> float:
    """Bound the probability that at least one of several events happens.

    Parameters
    ----------
    probabilities : array-like
        Probabilities of the events, which may depend on each other in any way.

    Returns
    -------
    probability : float
        Their sum, at most 1.

    Examples
    --------
    >>> from corollary.theory import union_bound
    >>> round(union_bound([0.01, 0.02, 0.03]), 4)
    0.06
    """
    values = np.asarray(probabilities, dtype=float)
    if not np.all((values >= 0) & (values <= 1)):
        raise ValueError(
            "The 'probabilities' parameter of union_bound must hold numbers between 0 and 1."
        )
    return min(1.0, float(values.sum()))


@checked
def chernoff_kl_bound(*, n_samples: Count, mean: Fraction, share: Fraction) -> float:
    r"""Bound a tail of the mean of observations in [0, 1] by a relative entropy.

    Parameters
    ----------
    n_samples : int
        Number of independent observations in [0, 1], n.
    mean : float
        Their expected mean, p.
    share : float
        Where the tail begins, q: the upper tail if q is above p, the lower one if it is below.

    Returns
    -------
    probability : float
        :math:`e^{-n\,\mathrm{kl}(q\|p)}`, the best exponent there is.

    See Also
    --------
    kl_upper_inverse : The same solved for p.

    Examples
    --------
    >>> from corollary.theory import chernoff_kl_bound
    >>> round(chernoff_kl_bound(n_samples=100, mean=0.1, share=0.2), 4)
    0.0118
    """
    return math.exp(-n_samples * float(binary_kl(share, mean)))


@checked
def chernoff_lower_tail(mean_sum: Positive, threshold: NonNegative) -> float:
    r"""Bound the lower tail of a sum of independent variables in [0, 1].

    Parameters
    ----------
    mean_sum : float
        Expectation of the sum, :math:`\mu`.
    threshold : float
        Where the tail ends, k, at most the expectation.

    Returns
    -------
    probability : float
        :math:`P(\sum X_i \le k) \le \exp(-(\mu-k)^2/(2\mu))`.

    Raises
    ------
    ValueError
        If the threshold is above the expectation.

    Examples
    --------
    >>> from corollary.theory import chernoff_lower_tail
    >>> round(chernoff_lower_tail(10.0, 2.0), 4)
    0.0408
    """
    if threshold > mean_sum:
        raise ValueError(
            "chernoff_lower_tail speaks about thresholds up to the expectation of the sum. Got "
            f"threshold={threshold} above mean_sum={mean_sum}."
        )
    return math.exp(-((mean_sum - threshold) ** 2) / (2 * mean_sum))


@checked
def clt_radius(
    *, std: NonNegative, n_samples: Count, delta: Probability, sides: Literal[1, 2] = 2
) -> float:
    r"""Compute the radius that the central limit theorem gives a mean in the limit.

    Parameters
    ----------
    std : float
        Standard deviation of one observation.
    n_samples : int
        Number of observations.
    delta : float
        Share of misses that is aimed at.
    sides : {1, 2}, default=2
        1 for one direction, 2 for both at once.

    Returns
    -------
    radius : float
        Normal quantile times ``std / sqrt(n_samples)``, at least 0.

    See Also
    --------
    hoeffding_bound : Holds for every sample size.

    Notes
    -----
    Not a guarantee: at any finite sample size the share of misses may be larger, and for skewed
    observations it is.

    Examples
    --------
    >>> from corollary.theory import clt_radius
    >>> round(clt_radius(std=0.5, n_samples=100, delta=0.05), 4)
    0.098
    """
    # From the lower tail, which is accurate for tiny delta; above one half a radius is zero.
    return max(0.0, -float(ndtri(delta / sides))) * std / math.sqrt(n_samples)
