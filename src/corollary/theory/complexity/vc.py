r"""What a finite VC dimension gives: few labellings, hence small gaps, hence enough rows.

Sharp forms are the default. Constants are explicit everywhere: where textbooks write
:math:`\log(n/d)`, which fails for n near d, these functions use the binomial sum itself or
:math:`\log(en/d)`.
"""

import math
from numbers import Integral
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, lambertw, logsumexp

from corollary.core.estimator import Count, CountFromZero, Positive, Probability, checked


@checked
def log_growth_bound(n_points: Count, dimension: CountFromZero, *, sharp: bool = True) -> float:
    r"""Bound the log of the growth function by the VC dimension (Sauer and Shelah).

    Parameters
    ----------
    n_points : int
        Number n of points.
    dimension : int
        VC dimension d.
    sharp : bool, default=True
        True for :math:`\log\sum_{i\le d}\binom ni`; False for :math:`d\log(en/d)`, which needs
        :math:`1 \le d \le n`.

    Returns
    -------
    log_count : float
        The number of labellings may be too large for a float; its log never is.

    Examples
    --------
    >>> from math import exp
    >>> from corollary.theory import log_growth_bound
    >>> round(exp(log_growth_bound(5, 2)))
    16
    """
    if not sharp:
        if not 1 <= dimension <= n_points:
            raise ValueError(
                "The simple form of log_growth_bound needs 1 <= dimension <= n_points. Got "
                f"dimension={dimension} and n_points={n_points}: use sharp=True."
            )
        return dimension * math.log(math.e * n_points / dimension)
    if dimension >= n_points:
        return n_points * math.log(2)
    i, n = np.arange(dimension + 1.0), float(n_points)
    # Binomials by the beta function: differences of log factorials lose all digits for large n.
    return float(logsumexp(-math.log1p(n) - betaln(n - i + 1, i + 1)))


def vc_of_finite_class(n_hypotheses: int) -> int:
    """Bound the VC dimension of a finite class by the log of its size.

    Parameters
    ----------
    n_hypotheses : int
        Size of the class.

    Returns
    -------
    dimension : int
        Whole part of log2 of the size. The true dimension can be far smaller: that of any number
        of thresholds is 1.

    Examples
    --------
    >>> from corollary.theory import vc_of_finite_class
    >>> vc_of_finite_class(1000)
    9
    """
    if not isinstance(n_hypotheses, Integral) or n_hypotheses < 1:
        raise ValueError(
            "The 'n_hypotheses' parameter of vc_of_finite_class must be an int in the range "
            f"[1, inf). Got {n_hypotheses!r} instead."
        )
    return int(n_hypotheses).bit_length() - 1


@checked
def vc_of_margin_halfspaces(*, norm: Positive, radius: Positive) -> int:
    r"""Bound the VC dimension of halfspaces with a margin, whatever the dimension of the space.

    Parameters
    ----------
    norm : float
        Largest norm :math:`\Lambda` of a weight vector that has :math:`|\langle w,x\rangle|\ge1` at
        all points; the margin is its inverse.
    radius : float
        Largest norm R of a point.

    Returns
    -------
    dimension : int
        Whole part of :math:`\Lambda^2R^2`, reached by orthonormal points.

    Examples
    --------
    >>> from corollary.theory import vc_of_margin_halfspaces
    >>> vc_of_margin_halfspaces(norm=3.0, radius=1.0)
    9
    """
    return math.floor((norm * radius) ** 2 * (1 + 1e-12))


@checked
def vc_of_union(*, dimension: CountFromZero, n_classes: Count, sharp: bool = True) -> int:
    r"""Bound the VC dimension of a union of classes.

    Parameters
    ----------
    dimension : int
        Largest VC dimension d among the classes.
    n_classes : int
        Number k of classes.
    sharp : bool, default=True
        True for the largest n with :math:`2^n \le k\sum_{i\le d}\binom ni`; False for
        :math:`\max\{\tfrac{4}{\log 2}\log\tfrac{4e}{\log 2}\,d,\ \tfrac{2}{\log 2}\log k\}`.

    Returns
    -------
    dimension : int
        The bound.

    Examples
    --------
    >>> from corollary.theory import vc_of_union
    >>> vc_of_union(dimension=1, n_classes=2)
    3
    """
    if not sharp:
        slope = 4 / math.log(2) * math.log(4 * math.e / math.log(2))
        return math.floor(max(slope * dimension, 2 * math.log2(n_classes)))
    n = dimension
    while (n + 1) * math.log(2) <= (
        math.log(n_classes) + log_growth_bound(n + 1, dimension) + 1e-9
    ):
        n += 1
    return n


@checked
def vc_bound(
    *, n_samples: Count, dimension: CountFromZero, delta: Probability, sharp: bool = True
) -> float:
    r"""Bound the generalisation gap of every classifier of a class by its VC dimension.

    With probability at least :math:`1-\delta`, for all classifiers at once,

    .. math:: P\{f(x)\ne y\} \le \hat L_n[f] + \sqrt{\tfrac2n\log\sum_{i\le d}\tbinom ni}
              + \sqrt{\frac{\log(1/\delta)}{2n}}.

    Parameters
    ----------
    n_samples : int
        Number n of independent training rows.
    dimension : int
        VC dimension d of the class, chosen before the rows are seen.
    delta : float
        Probability of failure.
    sharp : bool, default=True
        False for :math:`\sqrt{2d\log(en/d)/n}+2\sqrt{2\log(1/\delta)/n}`, which needs
        :math:`1\le d\le n`.

    Returns
    -------
    gap : float
        At most 1, where the bound is vacuous.

    See Also
    --------
    vc_sample_size : Rows for a wanted excess risk.

    Notes
    -----
    Guarantee: checked by ``tests/guarantees/vc.py``. A textbook form with log(n/d) in place of
    log(en/d) is false near n = d.

    Examples
    --------
    >>> from corollary.theory import vc_bound
    >>> round(vc_bound(n_samples=10_000, dimension=3, delta=0.05), 4)
    0.0841
    """
    log_growth = log_growth_bound(n_samples, dimension, sharp=sharp)
    tail = math.log(1 / delta) / (2 * n_samples)
    return min(1.0, math.sqrt(2 * log_growth / n_samples) + (1 if sharp else 4) * math.sqrt(tail))


@checked
def vc_sample_size(
    *, dimension: Count, epsilon: Probability, delta: Probability, sharp: bool = True
) -> int:
    r"""Return rows after which empirical risk minimisation is nearly the best of its class.

    Parameters
    ----------
    dimension : int
        VC dimension d.
    epsilon : float
        Excess risk that is allowed.
    delta : float
        Probability of failure.
    sharp : bool, default=True
        True for the smallest n at which twice the two-sided :func:`vc_bound` is at most epsilon;
        False for
        :math:`\max\{\tfrac{64d}{\epsilon^2}\log\tfrac{64e}{\epsilon^2},
        \tfrac{128}{\epsilon^2}\log\tfrac2\delta\}`.

    Returns
    -------
    n_samples : int
        Sufficient for every law of the rows, hence more than any one law needs.

    Examples
    --------
    >>> from corollary.theory import vc_sample_size
    >>> vc_sample_size(dimension=3, epsilon=0.1, delta=0.05)
    32572
    """
    if not sharp:
        first = 64 * dimension / epsilon**2 * math.log(64 * math.e / epsilon**2)
        return math.ceil(max(first, 128 / epsilon**2 * math.log(2 / delta)))

    def suffices(n: int) -> bool:
        log_growth = log_growth_bound(n, dimension)
        one = math.sqrt(2 * log_growth / n) + math.sqrt(math.log(2 / delta) / (2 * n))
        return 2 * one <= epsilon

    high = 1
    while not suffices(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


class SampleRates(NamedTuple):
    """Lower and upper rates of the number of rows that learning needs.

    Parameters
    ----------
    lower : float
        No learner does with fewer, up to its constant.
    upper : float
        Enough for empirical risk minimisation, up to its constant.
    """

    lower: float
    upper: float


@checked
def realizable_rates(
    *,
    dimension: Count,
    epsilon: Probability,
    delta: Probability,
    lower_constant: Positive = 1.0,
    upper_constant: Positive = 1.0,
) -> SampleRates:
    r"""Return the rates of the fundamental theorem for labels that follow a hypothesis.

    .. math:: C_1\frac{d+\log(1/\delta)}{\epsilon} \le m(\epsilon,\delta)
              \le C_2\frac{d\log(1/\epsilon)+\log(1/\delta)}{\epsilon}

    Parameters
    ----------
    dimension : int
        VC dimension d, finite.
    epsilon : float
        Error rate.
    delta : float
        Probability of failure.
    lower_constant : float, default=1.0
        C1; the theorem says that some constant works, not which.
    upper_constant : float, default=1.0
        C2.

    Returns
    -------
    rates : SampleRates
        Both sides with these constants. They show how the need grows, not how large it is; for
        numbers of rows use :func:`vc_sample_size` or :func:`realizable_bound`.

    Examples
    --------
    >>> from corollary.theory import realizable_rates
    >>> [round(rate) for rate in realizable_rates(dimension=4, epsilon=0.1, delta=0.05)]
    [70, 122]
    """
    tail = math.log(1 / delta)
    return SampleRates(
        lower_constant * (dimension + tail) / epsilon,
        upper_constant * (dimension * math.log(1 / epsilon) + tail) / epsilon,
    )


@checked
def invert_log(b: Positive, c: Positive, *, sharp: bool = True) -> float:
    r"""Solve :math:`n \ge b\log(cn)` for n.

    Parameters
    ----------
    b : float
        Factor, positive.
    c : float
        Factor inside the logarithm, positive.
    sharp : bool, default=True
        True for the exact root :math:`-b\,W_{-1}(-1/(bc))`; False for the simple
        :math:`2b\log(2bc)`, which needs :math:`bc\ge1`.

    Returns
    -------
    n : float
        Every larger n satisfies the inequality. The exact root is 0 when bc is below e, where all
        n do.

    Examples
    --------
    >>> from corollary.theory import invert_log
    >>> round(invert_log(10.0, 5.0), 2), round(invert_log(10.0, 5.0, sharp=False), 2)
    (56.42, 92.1)
    """
    if not sharp:
        if b * c < 1:
            raise ValueError(
                f"The simple form of invert_log needs b * c >= 1. Got {b * c:.4g}: use sharp=True."
            )
        return 2 * b * math.log(2 * b * c)
    if b * c < math.e:
        return 0.0
    return float(-b * lambertw(-1 / (b * c), k=-1).real)
