r"""How small gradients become, without convexity.

For a function that is never negative (or whose infimum is subtracted) and L-smooth, gradient steps
of at most 1/L make the least squared gradient fall like 1/T, stochastic ones like
:math:`\log T/\sqrt T`. All bounds are for the weighted mean
:math:`\sum_t\eta_t\|\nabla f(x_t)\|^2/\sum_t\eta_t` of :math:`t<T`, and so for the least of them.
"""

import math
from typing import Any

import numpy as np

from corollary.core.estimator import (
    Count,
    CountFromZero,
    NonNegative,
    Positive,
    Probability,
    checked,
)
from corollary.optimize.rates.first_order import _check_steps


@checked
def gradient_norm_bound(
    *, n_steps: Count, rate: Positive, smoothness: Positive, excess: NonNegative
) -> float:
    r"""Bound the least squared gradient that gradient descent sees.

    It is :math:`2f(x_0)/(\eta T)\ge\min_{t<T}\|\nabla f(x_t)\|^2`.

    Parameters
    ----------
    n_steps : int
        Number T of steps.
    rate : float
        Step size :math:`\eta\le1/L`.
    smoothness : float
        Smoothness L; the function need not be convex.
    excess : float
        First value, of a function that is never negative; or the first value minus the last one,
        which is sharper and needs no such condition.

    Examples
    --------
    >>> from corollary.optimize import gradient_norm_bound
    >>> gradient_norm_bound(n_steps=100, rate=0.5, smoothness=2.0, excess=1.0)
    0.04
    """
    _check_steps("gradient_norm_bound", [rate], 1 / smoothness)
    return 2 * excess / (rate * n_steps)


@checked
def gradient_norm_steps(
    accuracy: Positive, *, rate: Positive, smoothness: Positive, excess: NonNegative
) -> int:
    r"""Return how many steps of gradient descent see a squared gradient of at most an accuracy.

    It is :math:`\lceil2f(x_0)/(\eta\varepsilon)\rceil`, at least 1.

    Parameters
    ----------
    accuracy : float
        Squared length :math:`\varepsilon` that a gradient may have.
    rate, smoothness, excess : float
        As in :func:`gradient_norm_bound`.

    Examples
    --------
    >>> from corollary.optimize import gradient_norm_steps
    >>> gradient_norm_steps(0.04, rate=0.5, smoothness=2.0, excess=1.0)
    100
    """
    _check_steps("gradient_norm_steps", [rate], 1 / smoothness)
    return max(1, math.ceil(2 * excess / (rate * accuracy) * (1 - 1e-15)))


@checked
def sgd_gradient_norm_bound(
    *, step_sizes: Any, smoothness: Positive, excess: NonNegative, noise: NonNegative
) -> float:
    r"""Bound the expected squared gradients that SGD sees.

    It is :math:`(2f(x_0)+LB^2\sum\eta_t^2)/\sum\eta_t`, at least the weighted mean of
    :math:`E\|\nabla f(x_t)\|^2`, the expectation being over the drawn terms. Constant steps leave a
    floor of :math:`LB^2\eta`.

    Parameters
    ----------
    step_sizes : array-like of shape (T,)
        Step sizes :math:`\eta_t\le1/L`.
    smoothness : float
        Smoothness L of the average.
    excess : float
        First value, of a function that is never negative.
    noise : float
        Bound :math:`B^2` on the variance of stochastic gradients at every point, see
        :func:`gradient_noise`.

    Examples
    --------
    >>> from corollary.optimize import sgd_gradient_norm_bound
    >>> sgd_gradient_norm_bound(step_sizes=[0.5] * 8, smoothness=2.0, excess=1.0, noise=1.0)
    1.5
    """
    steps = _check_steps("sgd_gradient_norm_bound", step_sizes, 1 / smoothness)
    return (2 * excess + smoothness * noise * float(steps @ steps)) / float(steps.sum())


@checked
def sgd_sqrt_rate(
    *, n_steps: Count, smoothness: Positive, excess: NonNegative, noise: NonNegative
) -> float:
    r"""Bound the expected squared gradient of SGD with steps :math:`1/(L\sqrt{t+1})`.

    It is :math:`(2Lf(x_0)+B^2(\log T+1))/\sqrt T\ge\min_{t<T}E\|\nabla f(x_t)\|^2`.

    Parameters
    ----------
    n_steps : int
        Number T of steps.
    smoothness, excess, noise : float
        As in :func:`sgd_gradient_norm_bound`.

    Examples
    --------
    >>> from corollary.optimize import sgd_sqrt_rate
    >>> sgd_sqrt_rate(n_steps=1, smoothness=2.0, excess=1.0, noise=3.0)
    7.0
    """
    return (2 * smoothness * excess + noise * (math.log(n_steps) + 1)) / math.sqrt(n_steps)


@checked
def sgd_high_probability_bound(
    *,
    step_sizes: Any,
    smoothness: Positive,
    excess: NonNegative,
    noise: NonNegative,
    delta: Probability,
) -> float:
    r"""Bound the squared gradients that one run of SGD sees, with high probability.

    The weighted mean of :math:`\|\nabla f(x_t)\|^2` exceeds
    :math:`(4f(x_0)+2LB^2\sum\eta_t^2+8B^2\eta_{\max}\log\tfrac1\delta)/\sum\eta_t` with probability
    at most :math:`\delta`. The errors along the gradients are a martingale; Hoeffding's lemma
    bounds its exponential moments by the squared gradients themselves, half of which pay for it.

    Parameters
    ----------
    step_sizes : array-like of shape (T,)
        Step sizes :math:`\eta_t\le1/L`, chosen in advance.
    smoothness, excess : float
        As in :func:`sgd_gradient_norm_bound`.
    noise : float
        Bound :math:`B^2` on the squared error :math:`\|g_t-\nabla f(x_t)\|^2` of every stochastic
        gradient, not only on its mean.
    delta : float
        Probability that the bound fails.

    Examples
    --------
    >>> from corollary.optimize import sgd_high_probability_bound
    >>> bound = sgd_high_probability_bound(
    ...     step_sizes=[0.5] * 8, smoothness=2.0, excess=1.0, noise=1.0, delta=0.05)
    >>> round(bound, 3)
    5.996
    """
    steps = _check_steps("sgd_high_probability_bound", step_sizes, 1 / smoothness)
    variance = 2 * smoothness * noise * float(steps @ steps)
    deviation = 8 * noise * float(steps.max()) * math.log(1 / delta)
    return (4 * excess + variance + deviation) / float(steps.sum())


def gradient_noise(gradients: Any) -> float:
    r"""Return the variance of the gradient of a term that is drawn uniformly.

    It is :math:`\tfrac1n\sum\|g_i-\bar g\|^2=\tfrac1n\sum\|g_i\|^2-\|\bar g\|^2`.
    See :class:`FiniteSum`, whose ``term_gradients`` at one point are such a table :math:`g_i`.

    Examples
    --------
    >>> from corollary.optimize import gradient_noise
    >>> gradient_noise([[0.0, 1.0], [4.0, 1.0]])
    4.0
    """
    table = np.asarray(gradients, dtype=float)
    if table.ndim != 2 or not table.size:
        raise ValueError(
            "gradient_noise needs a table with the gradient of one term in each row. Got shape "
            f"{table.shape}."
        )
    return float(((table - table.mean(axis=0)) ** 2).sum(axis=1).mean())


@checked
def batch_noise(noise: NonNegative, *, batch_size: Count, n_terms: CountFromZero = 0) -> float:
    r"""Return the variance of the mean gradient of a batch of b terms.

    It is :math:`B^2/b` with replacement, and :math:`\tfrac{B^2}b\tfrac{n-b}{n-1}` without.

    Parameters
    ----------
    noise : float
        Variance :math:`B^2` of one term, as of :func:`gradient_noise`.
    batch_size : int
        Number b of terms.
    n_terms : int, default=0
        Number n of terms that are drawn without replacement; 0 for draws with replacement.

    Examples
    --------
    >>> from corollary.optimize import batch_noise
    >>> batch_noise(6.0, batch_size=2), batch_noise(6.0, batch_size=2, n_terms=4)
    (3.0, 2.0)
    """
    if not n_terms:
        return noise / batch_size
    if batch_size > n_terms:
        raise ValueError(
            f"A batch without replacement has at most n_terms={n_terms} terms. Got {batch_size}."
        )
    return noise / batch_size * (n_terms - batch_size) / max(n_terms - 1, 1)
