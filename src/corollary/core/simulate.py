"""Simulation as proof-reading: whether a claimed guarantee holds when the truth is known.

A bound that holds with probability at least 1 - delta may be violated in a share delta of the
repetitions and no more. These helpers test that with exact binomial tests whose false-alarm rate
is stated, so that a correct method practically never fails and a wrong constant is caught.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

# One false alarm in a million runs of one assertion: over a few hundred assertions a correct
# library fails about once in several thousand full runs.
LEVEL = 1e-6


class Slope(NamedTuple):
    """A straight line fitted to logarithms.

    Parameters
    ----------
    slope : float
        Estimated order.
    standard_error : float
        Its standard error from the regression.
    """

    slope: float
    standard_error: float


def assert_bound_holds(
    violations: int, repetitions: int, delta: float, *, level: float = LEVEL
) -> None:
    """Fail if a bound was violated more often than its confidence allows.

    Parameters
    ----------
    violations : int
        Repetitions in which the bound was broken.
    repetitions : int
        Independent repetitions.
    delta : float
        Allowed probability of a violation.
    level : float, default=1e-6
        Probability that a bound that exactly uses up ``delta`` is called broken.

    Raises
    ------
    AssertionError
        If the violations are too many to be chance.
    ValueError
        If the counts or the probability are impossible.

    Examples
    --------
    >>> from corollary.core.simulate import assert_bound_holds
    >>> assert_bound_holds(9, 200, delta=0.05)
    >>> assert_bound_holds(90, 200, delta=0.05)
    Traceback (most recent call last):
        ...
    AssertionError: bound broken: 90 violations in 200 repetitions, allowed share 0.05 (p = ...)
    """
    from scipy.stats import binom

    _check_counts(violations, repetitions, delta)
    p = binom.sf(violations - 1, repetitions, delta)
    if p <= level:
        raise AssertionError(
            f"bound broken: {violations} violations in {repetitions} repetitions, "
            f"allowed share {delta:.3g} (p = {p:.0e})"
        )


def assert_share_equals(
    hits: int, repetitions: int, probability: float, *, level: float = LEVEL
) -> None:
    """Fail if an event happened more or less often than claimed.

    Parameters
    ----------
    hits : int
        Repetitions in which the event happened.
    repetitions : int
        Independent repetitions.
    probability : float
        Claimed probability.
    level : float, default=1e-6
        Probability that a correct claim is called wrong.

    Raises
    ------
    AssertionError
        If the share differs from the claim by more than chance.
    ValueError
        If the counts or the probability are impossible.

    Examples
    --------
    >>> from corollary.core.simulate import assert_share_equals
    >>> assert_share_equals(52, 100, 0.5)
    >>> assert_share_equals(5, 100, 0.5)
    Traceback (most recent call last):
        ...
    AssertionError: share is wrong: 5 of 100, claimed 0.5 (p = ...)
    """
    from scipy.stats import binomtest

    _check_counts(hits, repetitions, probability)
    p = binomtest(int(hits), int(repetitions), probability).pvalue
    if p <= level:
        raise AssertionError(
            f"share is wrong: {hits} of {repetitions}, claimed {probability:.4g} (p = {p:.0e})"
        )


def _check_counts(count: int, repetitions: int, probability: float) -> None:
    # Each of these would let an assertion pass without having looked at anything.
    if repetitions < 1 or not 0 <= count <= repetitions or not 0 <= probability <= 1:
        raise ValueError(
            "A share needs at least one repetition, a count between 0 and the repetitions and a "
            f"probability in [0, 1]. Got {count} of {repetitions} and {probability}."
        )


def count_violations(
    trial: Callable[[np.random.RandomState], bool], repetitions: int, random_state: Any = None
) -> int:
    """Count in how many independent repetitions a trial reports a violation.

    Parameters
    ----------
    trial : callable
        ``trial(random_state)`` draws what it needs and returns True for a violation.
    repetitions : int
        How often to run it.
    random_state : int, RandomState instance or None, default=None
        Seed or generator; repetition i gets a generator of its own.

    Returns
    -------
    violations : int
        Number of True.
    """
    seeds = check_random_state(random_state).randint(2**31 - 1, size=repetitions)
    return sum(bool(trial(np.random.RandomState(seed))) for seed in seeds)


def fit_slope(sizes: Sequence[float], errors: Sequence[float]) -> Slope:
    """Fit the order of a rate: the slope of log error on log size.

    Parameters
    ----------
    sizes : sequence of float
        Sample sizes or step sizes; at least three.
    errors : sequence of float
        Positive errors.

    Returns
    -------
    slope : Slope
        The order and its standard error.

    Examples
    --------
    >>> from corollary.core.simulate import fit_slope
    >>> round(fit_slope([10, 100, 1000], [0.1, 0.01, 0.001]).slope, 6)
    -1.0
    """
    from scipy.stats import linregress

    fit = linregress(np.log(sizes), np.log(errors))
    return Slope(float(fit.slope), float(fit.stderr))


def assert_rate(
    sizes: Sequence[float], errors: Sequence[float], order: float, *, width: float = 5.0
) -> None:
    """Fail if measured errors do not follow ``size ** order``.

    Parameters
    ----------
    sizes : sequence of float
        Sample sizes or step sizes.
    errors : sequence of float
        Positive errors.
    order : float
        Claimed exponent, negative for a rate that falls with size.
    width : float, default=5.0
        Allowed distance in standard errors of the regression.

    Raises
    ------
    AssertionError
        If the slope differs from the claim.
    """
    slope, error = fit_slope(sizes, errors)
    allowed = width * error + 1e-9
    # Written so that NaN, from an error that is zero or negative, fails too.
    if not abs(slope - order) <= allowed:
        raise AssertionError(
            f"rate is wrong: measured order {slope:.3f} +- {error:.3f}, claimed {order:.3g}"
        )
