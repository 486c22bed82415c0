r"""Learning from finitely many hypotheses: one union bound, and what follows from it.

If every hypothesis's training risk is close to its risk, the one that minimises the former nearly
minimises the latter. For a class of N hypotheses and losses in [0, 1] closeness costs
:math:`\sqrt{\log(N/\delta)/(2n)}`; if some hypothesis makes no mistake at all, the error of one
that fits falls at the faster rate :math:`\log(N/\delta)/n`.
"""

import math
from numbers import Real
from typing import Annotated, Any, Literal

import numpy as np

from corollary.core.compat import Interval
from corollary.core.estimator import AnyReal, Count, Positive, Probability, checked
from corollary.theory.concentration.bounded_losses import hoeffding_bound

# Finite numbers of 32 bits: every pattern but those of infinity and NaN, with one zero.
_FLOAT32_VALUES = 2**32 - 2**24 - 1


def uniform_deviation(risks: Any, empirical: Any, *, sides: int = 2) -> float:
    """Compute how far training risks are from risks, at worst over a class.

    Parameters
    ----------
    risks : array-like of shape (n_hypotheses,)
        True risks.
    empirical : array-like of shape (n_hypotheses,)
        Training risks of the same hypotheses.
    sides : {1, 2}, default=2
        2 for the largest absolute difference; 1 for the largest generalisation gap, risk minus
        training risk, which may be negative.

    Returns
    -------
    deviation : float
        The sample is epsilon-representative for the class when the two-sided value is at most
        epsilon.

    Examples
    --------
    >>> from corollary.theory import uniform_deviation
    >>> round(uniform_deviation([0.3, 0.5], [0.1, 0.8]), 4)
    0.3
    >>> round(uniform_deviation([0.3, 0.5], [0.1, 0.8], sides=1), 4)
    0.2
    """
    risks, empirical = np.asarray(risks, dtype=float), np.asarray(empirical, dtype=float)
    if risks.shape != empirical.shape or not risks.size or np.isnan(risks - empirical).any():
        raise ValueError(
            "uniform_deviation needs a risk and a training risk for each hypothesis. Got shapes "
            f"{risks.shape} and {empirical.shape}."
        )
    gap = risks - empirical
    return float(np.max(np.abs(gap) if sides == 2 else gap))


def erm_excess_bound(deviation: float) -> float:
    """Bound what empirical risk minimisation loses to the best hypothesis of its class.

    Parameters
    ----------
    deviation : float
        Two-sided uniform deviation of the class on the training rows, or a bound on it.

    Returns
    -------
    excess : float
        Twice the deviation: the minimiser's risk exceeds the smallest risk by no more, on every
        sample.

    Examples
    --------
    >>> from corollary.theory import erm_excess_bound
    >>> erm_excess_bound(0.05)
    0.1
    """
    if not deviation >= 0:
        raise ValueError(
            "The 'deviation' parameter of erm_excess_bound must not be negative. Got "
            f"{deviation} instead."
        )
    return 2 * deviation


@checked
def finite_class_bound(
    *,
    n_hypotheses: Annotated[float, Interval(Real, 1, None, closed="left")],
    n_samples: Count | None = None,
    delta: Probability | None = None,
    radius: Positive | None = None,
    low: AnyReal = 0.0,
    high: AnyReal = 1.0,
    sides: Literal[1, 2] = 1,
) -> float:
    r"""Solve the finite-class bound for its radius, its probability or its sample size.

    With probability at least :math:`1 - \delta`, for all N hypotheses at once,

    .. math:: L[f] \le \hat L_n[f] + (b - a)\sqrt{\frac{\log(mN/\delta)}{2n}},

    where losses lie in [a, b] and m is `sides`.

    Parameters
    ----------
    n_hypotheses : float
        Size N of the class, fixed before the rows are seen. It may be huge, such as 2.0**200.
    n_samples : int or None, default=None
        Number n of independent rows.
    delta : float or None, default=None
        Probability of failure.
    radius : float or None, default=None
        Uniform deviation.
    low : float, default=0.0
        Smallest possible loss, a.
    high : float, default=1.0
        Largest possible loss, b.
    sides : {1, 2}, default=1
        1 for risks above training risks; 2 for both directions, as the excess risk of the
        empirical minimiser needs.

    Returns
    -------
    answer : float
        The quantity that was left out; a sample size is a whole number.

    See Also
    --------
    agnostic_sample_size : Rows after which the minimiser is nearly the best of its class.
    countable_class_radius : Infinitely many hypotheses with a price list.

    Notes
    -----
    Guarantee: checked by ``tests/guarantees/finite_classes.py``. The radius grows with the root of
    log N, the sample size with log N.

    Examples
    --------
    >>> from corollary.theory import finite_class_bound
    >>> round(finite_class_bound(n_hypotheses=1000, n_samples=500, delta=0.05), 4)
    0.0995
    """
    n_declared = sum(value is not None for value in (n_samples, delta, radius))
    if n_declared != 2:
        raise ValueError(
            "finite_class_bound needs exactly two of 'n_samples', 'delta' and 'radius' and returns "
            f"the third. Got {n_declared} of them."
        )
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(
            "The 'low' and 'high' parameters of finite_class_bound must be finite with low < high. "
            f"Got low={low} and high={high} instead."
        )
    if delta is None:
        assert n_samples is not None
        assert radius is not None
        one = -2 * n_samples * (radius / (high - low)) ** 2
        return math.exp(min(0.0, one + math.log(n_hypotheses) + math.log(sides)))
    # log(N / delta) splits into two logarithms, so that N / delta may exceed the largest float.
    price = math.log(n_hypotheses) - math.log(delta) + math.log(sides)
    if n_samples is not None:
        return (high - low) * math.sqrt(price / (2 * n_samples))
    assert radius is not None
    return float(max(1, math.ceil(price * (high - low) ** 2 / (2 * radius**2) - 1e-9)))


@checked
def agnostic_sample_size(
    *,
    n_hypotheses: Annotated[float, Interval(Real, 1, None, closed="left")],
    epsilon: Probability,
    delta: Probability,
) -> int:
    r"""Return a number of rows after which the empirical minimiser is nearly the best of its class.

    Parameters
    ----------
    n_hypotheses : float
        Size N of the class.
    epsilon : float
        Excess risk that is allowed, for losses in [0, 1].
    delta : float
        Probability of failure.

    Returns
    -------
    n_samples : int
        :math:`\lceil 2\log(2N/\delta)/\epsilon^2\rceil`: half of epsilon for the uniform deviation.

    See Also
    --------
    realizable_bound : Far fewer when some hypothesis makes no mistake.

    Examples
    --------
    >>> from corollary.theory import agnostic_sample_size
    >>> agnostic_sample_size(n_hypotheses=1000, epsilon=0.1, delta=0.05)
    2120
    """
    return int(
        finite_class_bound(n_hypotheses=n_hypotheses, radius=epsilon / 2, delta=delta, sides=2)
    )


@checked
def float32_class_radius(*, n_parameters: Count, n_samples: Count, delta: Probability) -> float:
    r"""Bound the generalisation gap of any model with parameters stored in 32 bits.

    Parameters
    ----------
    n_parameters : int
        Number d of parameters.
    n_samples : int
        Number n of independent training rows.
    delta : float
        Probability of failure.

    Returns
    -------
    radius : float
        :math:`\sqrt{(d\log N_{32} + \log(1/\delta))/(2n)}` for losses in [0, 1], with N32 the
        number of finite values of 32 bits. It is below 1 only when n exceeds about 11 d: counting
        parameters says nothing about large models.

    Examples
    --------
    >>> from corollary.theory import float32_class_radius
    >>> round(float32_class_radius(n_parameters=10, n_samples=100_000, delta=0.05), 4)
    0.0335
    """
    price = n_parameters * math.log(_FLOAT32_VALUES) + math.log(1 / delta)
    return math.sqrt(price / (2 * n_samples))


@checked
def countable_class_radius(*, index: Count, n_samples: Count, delta: Probability) -> float:
    r"""Bound the generalisation gap of a hypothesis by its place in a list made beforehand.

    Parameters
    ----------
    index : int
        Place :math:`\kappa` of the hypothesis, from 1.
    n_samples : int
        Number n of independent rows.
    delta : float
        Probability of failure, for the whole list at once.

    Returns
    -------
    radius : float
        :math:`\sqrt{\log(\pi^2\kappa^2/(6\delta))/(2n)}` for losses in [0, 1]: the k-th place gets
        the share :math:`6\delta/(\pi^2k^2)` of the failure probability, which sums to delta.

    Notes
    -----
    Guarantee: with probability at least 1 - delta every hypothesis of the list has a risk below
    its training risk plus its radius, so a model may be chosen by the sum. Checked by
    ``tests/guarantees/finite_classes.py``.

    Examples
    --------
    >>> from corollary.theory import countable_class_radius
    >>> round(countable_class_radius(index=5, n_samples=500, delta=0.05), 4)
    0.0819
    """
    share = 6 * delta / (math.pi * index) ** 2
    return hoeffding_bound(n_samples=n_samples, delta=share)


@checked
def realizable_bound(
    *,
    n_hypotheses: Annotated[float, Interval(Real, 1, None, closed="left")],
    n_samples: Count | None = None,
    delta: Probability | None = None,
    epsilon: Probability | None = None,
    sharp: bool = True,
) -> float:
    r"""Solve the bound for a hypothesis that fits, from a class that has a perfect one.

    .. math:: P\{L[\hat f] > \epsilon\} \le N (1-\epsilon)^n \le N e^{-n\epsilon}

    Parameters
    ----------
    n_hypotheses : float
        Size N of the class.
    n_samples : int or None, default=None
        Number n of independent rows.
    delta : float or None, default=None
        Probability of failure.
    epsilon : float or None, default=None
        Error rate.
    sharp : bool, default=True
        Whether to use the power instead of the exponential that bounds it, as
        :math:`\log(N/\delta)/n` does.

    Returns
    -------
    answer : float
        The quantity that was left out; a sample size is a whole number, an error rate at most 1.

    Notes
    -----
    Guarantee: checked by ``tests/guarantees/finite_classes.py``. The labels must follow one of the
    hypotheses; nothing is promised otherwise.

    Examples
    --------
    >>> from corollary.theory import realizable_bound
    >>> realizable_bound(n_hypotheses=1000, epsilon=0.1, delta=0.05)
    94.0
    """
    if sum(value is not None for value in (n_samples, delta, epsilon)) != 2:
        raise ValueError(
            "realizable_bound needs exactly two of 'n_samples', 'delta' and 'epsilon' and returns "
            "the third."
        )
    if delta is None:
        assert n_samples is not None
        assert epsilon is not None
        rate = math.log1p(-epsilon) if sharp else -epsilon
        return math.exp(min(0.0, math.log(n_hypotheses) + n_samples * rate))
    price = math.log(n_hypotheses) - math.log(delta)
    if epsilon is None:
        assert n_samples is not None
        return -math.expm1(-price / n_samples) if sharp else min(1.0, price / n_samples)
    rate = -math.log1p(-epsilon) if sharp else epsilon
    return float(max(1, math.ceil(price / rate - 1e-9)))


@checked
def realizable_expected_risk(
    *, n_hypotheses: Annotated[float, Interval(Real, 1, None, closed="left")], n_samples: Count
) -> float:
    r"""Bound the expected error of a hypothesis without training errors.

    Parameters
    ----------
    n_hypotheses : float
        Size N of the class, which has a perfect hypothesis.
    n_samples : int
        Number n of independent rows.

    Returns
    -------
    risk : float
        :math:`\int_0^1 \min(1, N e^{-n\epsilon})\,d\epsilon`, at most
        :math:`(1 + \log N)/n` and at most 1.

    Examples
    --------
    >>> from corollary.theory import realizable_expected_risk
    >>> round(realizable_expected_risk(n_hypotheses=1000, n_samples=500), 4)
    0.0158
    """
    bend = math.log(n_hypotheses) / n_samples
    if bend >= 1:
        return 1.0
    return bend + (1 - n_hypotheses * math.exp(-n_samples)) / n_samples
