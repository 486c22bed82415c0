r"""Variables whose tails are no heavier than a normal law's.

X is sigma-sub-Gaussian when :math:`E e^{\lambda(X-EX)} \le e^{\lambda^2\sigma^2/2}` for every real
lambda. The smallest such sigma behaves like a standard deviation: it scales with X, it adds in
squares over independent terms, and it is half the range of a bounded variable.
"""

import math
from numbers import Real
from typing import Annotated, Any, Literal

import numpy as np
from scipy.special import gammaln, logsumexp

from corollary.core.compat import Interval
from corollary.core.estimator import Count, Positive, Probability, checked
from corollary.risk import check_law


def sub_gaussian_parameter(values: Any, probabilities: Any = None) -> float:
    r"""Compute the sub-Gaussian parameter of a finite law.

    Parameters
    ----------
    values : array-like of shape (n,)
        What the variable can be.
    probabilities : array-like of shape (n,) or None, default=None
        With which probabilities; None for equal ones.

    Returns
    -------
    sigma : float
        :math:`\sup_\lambda \sqrt{2\log E e^{\lambda(X-EX)}}/|\lambda|`, at least the standard
        deviation and at most half the range.

    See Also
    --------
    range_parameter : The bound by the range alone.

    Examples
    --------
    >>> from corollary.theory import sub_gaussian_parameter
    >>> round(sub_gaussian_parameter([-1.0, 1.0]), 6)
    1.0
    """
    from scipy.optimize import minimize_scalar

    x = np.asarray(values, dtype=float)
    if x.ndim != 1 or not len(x) or not np.all(np.isfinite(x)):
        raise ValueError(
            "The 'values' parameter of sub_gaussian_parameter must hold one or more finite numbers."
            f" Got shape {x.shape}."
        )
    p = np.full(len(x), 1 / len(x)) if probabilities is None else probabilities
    p = check_law("sub_gaussian_parameter", "probabilities", p)
    if len(p) != len(x):
        raise ValueError(
            "sub_gaussian_parameter needs one probability per value. Got "
            f"{len(p)} for {len(x)} values."
        )
    x, p = x[p > 0], p[p > 0]
    centred = x - p @ x
    scale = float(np.abs(centred).max())
    if scale == 0:
        return 0.0
    centred = centred / scale

    def squared(lam: float) -> float:
        return 2 * float(logsumexp(lam * centred, b=p)) / lam**2

    # Below the grid the ratio is the variance up to its third moment; above it at most 2 / lambda.
    best = float(p @ centred**2)
    grid = np.geomspace(1e-3, 1e3, 241)
    for sign in (-1.0, 1.0):
        on_grid = np.array([squared(sign * lam) for lam in grid])
        top = int(np.argmax(on_grid))
        low, high = grid[max(top - 1, 0)], grid[min(top + 1, len(grid) - 1)]
        peak = minimize_scalar(
            lambda lam, sign=sign: -squared(sign * lam), bounds=(low, high), method="bounded"
        )
        best = max(best, float(on_grid[top]), -float(peak.fun))
    return scale * math.sqrt(best)


def range_parameter(low: Any, high: Any) -> Any:
    """Return the sub-Gaussian parameter that a range guarantees (Hoeffding's lemma).

    Parameters
    ----------
    low : float or array-like
        Smallest possible values.
    high : float or array-like
        Largest possible values.

    Returns
    -------
    sigma : float or ndarray
        ``(high - low) / 2``; no smaller number will do for a fair coin at the two ends.

    Examples
    --------
    >>> from corollary.theory import range_parameter
    >>> range_parameter(0.0, 1.0)
    0.5
    """
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    if not np.all(np.isfinite(high - low)) or np.any(high < low):
        raise ValueError("range_parameter needs finite ends with low <= high.")
    half = (high - low) / 2
    return float(half) if half.ndim == 0 else half


def combine_parameters(sigmas: Any, coefficients: Any = 1.0) -> float:
    """Return the sub-Gaussian parameter of a weighted sum of independent variables.

    Parameters
    ----------
    sigmas : array-like of shape (n,)
        Their parameters.
    coefficients : float or array-like of shape (n,), default=1.0
        Their weights in the sum.

    Returns
    -------
    sigma : float
        Root of the sum of squares of ``coefficients * sigmas``.

    Examples
    --------
    >>> from corollary.theory import combine_parameters
    >>> combine_parameters([3.0, 4.0])
    5.0
    """
    terms = np.abs(np.asarray(coefficients, dtype=float)) * np.asarray(sigmas, dtype=float)
    if not np.all(np.asarray(sigmas, dtype=float) >= 0):
        raise ValueError("The 'sigmas' parameter of combine_parameters must not be negative.")
    return float(np.sqrt(np.sum(terms**2)))


@checked
def sub_gaussian_tail(
    *,
    sigma: Positive,
    delta: Probability | None = None,
    radius: Positive | None = None,
    sides: Literal[1, 2] = 1,
) -> float:
    r"""Solve the sub-Gaussian tail bound for its probability or its radius.

    .. math:: P\{X - EX \ge t\} \le e^{-t^2/(2\sigma^2)}

    Parameters
    ----------
    sigma : float
        Sub-Gaussian parameter.
    delta : float or None, default=None
        Probability of the tail; give it to get the radius.
    radius : float or None, default=None
        Deviation t; give it to get the probability.
    sides : {1, 2}, default=1
        1 for one tail, 2 for both.

    Returns
    -------
    answer : float
        The radius, or the probability, at most 1.

    Raises
    ------
    ValueError
        If not exactly one of `delta` and `radius` is given.

    Examples
    --------
    >>> from corollary.theory import sub_gaussian_tail
    >>> round(sub_gaussian_tail(sigma=1.0, radius=2.0), 4)
    0.1353
    >>> round(sub_gaussian_tail(sigma=1.0, delta=0.05, sides=2), 4)
    2.7162
    """
    if (delta is None) == (radius is None):
        raise ValueError("sub_gaussian_tail needs exactly one of 'delta' and 'radius'.")
    if radius is not None:
        return min(1.0, sides * math.exp(-0.5 * (radius / sigma) ** 2))
    assert delta is not None
    return sigma * math.sqrt(2 * math.log(sides / delta))


@checked
def sub_gaussian_moment(
    order: Annotated[float, Interval(Real, 1, None, closed="left")],
    *,
    sigma: Positive = 1.0,
    sharp: bool = True,
) -> float:
    r"""Bound the norm :math:`(E|X-EX|^p)^{1/p}` of a sub-Gaussian variable.

    Parameters
    ----------
    order : float
        Order p of the moment, at least 1.
    sigma : float, default=1.0
        Sub-Gaussian parameter.
    sharp : bool, default=True
        True for :math:`\sigma(p\,2^{p/2}\,\Gamma(p/2))^{1/p}`, the integral of the tail bound;
        False for the simple :math:`3\sigma\sqrt p`.

    Returns
    -------
    norm : float
        The bound.

    Examples
    --------
    >>> from corollary.theory import sub_gaussian_moment
    >>> round(sub_gaussian_moment(2), 4)
    2.0
    """
    if not sharp:
        return 3 * sigma * math.sqrt(order)
    log_moment = math.log(order) + order / 2 * math.log(2) + float(gammaln(order / 2))
    return sigma * math.exp(log_moment / order)


@checked
def maximal_bound(n_variables: Count, *, sigma: Positive = 1.0, absolute: bool = False) -> float:
    r"""Bound the expected maximum of centred sub-Gaussian variables.

    Parameters
    ----------
    n_variables : int
        How many, n; they may depend on each other in any way.
    sigma : float, default=1.0
        Their largest sub-Gaussian parameter.
    absolute : bool, default=False
        Whether the maximum is over absolute values.

    Returns
    -------
    bound : float
        :math:`\sigma\sqrt{2\log n}`, or :math:`\sigma\sqrt{2\log 2n}` for absolute values.

    See Also
    --------
    expected_gaussian_maximum : What independent normal variables reach.

    Examples
    --------
    >>> from corollary.theory import maximal_bound
    >>> round(maximal_bound(100), 4)
    3.0349
    """
    return sigma * math.sqrt(2 * math.log(n_variables * (2 if absolute else 1)))


@checked
def expected_gaussian_maximum(n_variables: Count, *, absolute: bool = False) -> float:
    """Compute the expected maximum of independent standard normal variables by quadrature.

    Parameters
    ----------
    n_variables : int
        How many.
    absolute : bool, default=False
        Whether the maximum is over absolute values.

    Returns
    -------
    value : float
        The expectation, accurate to about nine digits.

    Examples
    --------
    >>> from math import pi, sqrt
    >>> from corollary.theory import expected_gaussian_maximum
    >>> abs(expected_gaussian_maximum(2) - 1 / sqrt(pi)) < 1e-9
    True
    """
    from scipy.integrate import quad
    from scipy.special import log_ndtr, ndtr

    end = math.sqrt(2 * math.log(2 * n_variables)) + 10

    def above(t: float) -> float:
        share = 2 * ndtr(-t) if absolute else ndtr(-t)
        return -math.expm1(n_variables * math.log1p(-share)) if share < 1 else 1.0

    positive = quad(above, 0, end, limit=400, epsabs=1e-12)[0]
    if absolute:
        return float(positive)
    negative = quad(lambda t: math.exp(n_variables * log_ndtr(-t)), 0, 40, epsabs=1e-12)[0]
    return float(positive - negative)


def gaussian_poincare_bound(gradients: Any) -> float:
    r"""Bound the variance of a function of independent standard normal variables.

    .. math:: \operatorname{Var} f(g) \le E\|\nabla f(g)\|^2, \qquad g \sim N(0, I_k)

    Parameters
    ----------
    gradients : array-like of shape (n_draws, k)
        Gradients of f at independent draws of g.

    Returns
    -------
    bound : float
        Mean squared norm of the gradients: the right side, estimated without bias. It does not
        grow with the dimension when the gradient does not; a 1-Lipschitz f has variance at most 1.

    Examples
    --------
    >>> from corollary.theory import gaussian_poincare_bound
    >>> gaussian_poincare_bound([[3.0, 4.0], [3.0, 4.0]])
    25.0
    """
    gradients = np.asarray(gradients, dtype=float)
    if gradients.ndim != 2 or not gradients.size or not np.all(np.isfinite(gradients)):
        raise ValueError(
            "The 'gradients' parameter of gaussian_poincare_bound must be a finite matrix, one "
            f"gradient per row. Got shape {gradients.shape}."
        )
    return float(np.mean(np.sum(gradients**2, axis=1)))
