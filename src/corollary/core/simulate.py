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
    """Count in how many independent repetitions a trial reports a violation."""
    seeds = check_random_state(random_state).randint(2**31 - 1, size=repetitions)
    return sum(bool(trial(np.random.RandomState(seed))) for seed in seeds)


def fit_slope(sizes: Sequence[float], errors: Sequence[float]) -> Slope:
    """Fit the order of a rate: the slope of log error on log size.

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
    """Fail if measured errors do not follow ``size ** order``."""
    slope, error = fit_slope(sizes, errors)
    allowed = width * error + 1e-9
    # Written so that NaN, from an error that is zero or negative, fails too.
    if not abs(slope - order) <= allowed:
        raise AssertionError(
            f"rate is wrong: measured order {slope:.3f} +- {error:.3f}, claimed {order:.3g}"
        )
