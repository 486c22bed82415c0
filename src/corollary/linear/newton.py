r"""Newton's method for sums of smooth convex terms, plain and with an l1 penalty.

The minimiser is approached by :math:`x \leftarrow x - t H^{-1} g`. The squared Newton decrement
:math:`\lambda^2 = g^\top H^{-1} g` measures, in the units of the objective and whatever the
scale of the variables, what is left to gain: near the minimum
:math:`f(x) - f^* \approx \lambda^2 / 2`.

What costs is a pass over the data, and a pass that also sums the Hessian costs a multiple of one
that does not. Once steps are short the Hessian hardly changes, so the last one is used again
(chord steps) until it stops paying.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

# Sufficient decrease, as a share of what the linear model promises.
ARMIJO = 1e-4
# Below this squared decrement (a root-mean-square change of about a quarter in the log odds of a
# logistic model) a step with the last Hessian gains at least a digit, for a fraction of the cost.
CHORD = 1e-2
# A chord step must reduce the squared decrement by this factor, or a new Hessian is worth it.
PAYS = 10
# Pivots of the scaled Hessian below this are rounding error: the direction is flat.
FLAT = 1e-12

Terms = Callable[[np.ndarray, bool], tuple[float, np.ndarray, Any]]


class NewtonResult(NamedTuple):
    """Where Newton's method stopped.

    Parameters
    ----------
    x : ndarray of shape (n,)
        The last point.
    value : float
        Objective at the last point that was evaluated.
    gradient_norm : float
        Largest entry of the gradient (or of the violation of the optimality conditions) there.
    decrement : float
        Squared Newton decrement there.
    n_iter : int
        Steps taken.
    converged : bool
        Whether both tolerances were met.
    hessian : ndarray of shape (n, n) or None, default=None
        The last Hessian.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import newton_minimise
    >>> def terms(x, hessian):
    ...     return float(x @ x), 2 * x, 2 * np.eye(1)
    >>> result = newton_minimise(terms, np.array([3.0]))
    >>> result.converged, result.n_iter
    (True, 1)
    """

    x: np.ndarray
    value: float
    gradient_norm: float
    decrement: float
    n_iter: int
    converged: bool
    hessian: np.ndarray | None = None


def newton_step(hessian: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Return the Newton step, :math:`-H^{-1} g`.

    The Hessian is scaled to unit diagonal and factorised by Cholesky; where it is singular the
    step is the shortest one (in the scaled variables) that solves the equations.

    Parameters
    ----------
    hessian : ndarray of shape (n, n)
        Symmetric, positive semi-definite.
    gradient : ndarray of shape (n,)
        In the range of the Hessian.

    Returns
    -------
    step : ndarray of shape (n,)
        The step.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import newton_step
    >>> newton_step(np.diag([2.0, 4.0]), np.array([2.0, 2.0]))
    array([-1. , -0.5])
    >>> newton_step(np.ones((2, 2)), np.array([1.0, 1.0]))
    array([-0.5, -0.5])
    """
    scale = np.sqrt(np.diag(hessian))
    scale = np.where(scale > 0, scale, 1.0)
    unit = hessian / np.outer(scale, scale)
    right = -gradient / scale
    try:
        factor = linalg.cholesky(unit, lower=True)
        if np.diag(factor).min() ** 2 > FLAT:
            return linalg.cho_solve((factor, True), right) / scale
    except linalg.LinAlgError:
        pass
    values, vectors = linalg.eigh(unit)
    steep = values > FLAT * max(1.0, values[-1])
    part = vectors[:, steep]
    return part @ ((part.T @ right) / values[steep]) / scale


def newton_minimise(
    terms: Terms,
    start: np.ndarray,
    *,
    tol: float = 1e-4,
    max_iter: int = 100,
    hessian: np.ndarray | None = None,
) -> NewtonResult:
    """Minimise a smooth convex function by Newton steps with backtracking.

    Stops when the largest entry of the gradient is at most ``tol`` and the squared Newton
    decrement, which estimates twice the remaining gain, at most ``tol ** 2``; the step that is
    then already known is taken, since it costs no evaluation.

    Parameters
    ----------
    terms : callable
        ``terms(x, hessian)`` returns value, gradient and, if ``hessian`` is true, the Hessian.
    start : ndarray of shape (n,)
        First point.
    tol : float, default=1e-4
        Tolerance.
    max_iter : int, default=100
        Largest number of steps.
    hessian : ndarray of shape (n, n) or None, default=None
        A Hessian to begin with, of this or a similar problem near ``start``; None to compute it.

    Returns
    -------
    result : NewtonResult
        The minimiser and how it was reached.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import newton_minimise
    >>> def terms(x, hessian):  # x - log x, smallest at 1
    ...     return (x - np.log(x)).sum(), 1 - 1 / x, np.diag(1 / x**2)
    >>> newton_minimise(terms, np.array([0.5]), tol=1e-8).x.round(8)
    array([1.])
    """
    x = np.array(start, dtype=np.float64)
    fresh, previous = hessian is None, np.inf
    value, gradient, new_hessian = terms(x, fresh)
    hessian = new_hessian if hessian is None else hessian
    assert hessian is not None
    for n_iter in range(max_iter + 1):
        norm = float(np.abs(gradient).max(initial=0.0))
        step = newton_step(hessian, gradient)
        decrement = max(0.0, float(-gradient @ step))
        if norm <= tol and decrement <= tol**2:
            return NewtonResult(x + step, value, norm, decrement, n_iter, True, hessian)
        if n_iter == max_iter:
            break
        if not fresh and decrement > min(previous / PAYS, CHORD):
            value, gradient, hessian = terms(x, True)
            step, fresh = newton_step(hessian, gradient), True
            decrement = max(0.0, float(-gradient @ step))
        refresh = decrement > CHORD
        length = 1.0
        while True:
            trial = x + length * step
            new_value, new_gradient, new_hessian = terms(trial, refresh)
            slack = 1e-13 * max(1.0, abs(value))  # rounding of a sum near its minimum
            if new_value <= value - ARMIJO * length * decrement + slack or length < 1e-10:
                break
            length /= 2
        x, value, gradient = trial, new_value, new_gradient
        if new_hessian is not None:
            hessian = new_hessian
        fresh, previous = new_hessian is not None, decrement
    return NewtonResult(x, value, norm, decrement, max_iter, False, hessian)


def soft_threshold(x: np.ndarray, threshold: np.ndarray | float) -> np.ndarray:
    """Return the point that minimises ``(u - x) ** 2 / 2 + threshold * abs(u)`` over u."""
    return np.sign(x) * np.maximum(np.abs(x) - threshold, 0.0)


def l1_violation(x: np.ndarray, gradient: np.ndarray, l1: np.ndarray) -> np.ndarray:
    r"""Return how far each coordinate is from the optimality conditions with an l1 penalty.

    At the minimum of :math:`f(x) + \sum_j \lambda_j |x_j|` the partial derivative of f is
    :math:`-\lambda_j \mathrm{sign}(x_j)` where :math:`x_j \ne 0` and at most
    :math:`\lambda_j` in size where :math:`x_j = 0`.

    Parameters
    ----------
    x : ndarray of shape (n,)
        A point.
    gradient : ndarray of shape (n,)
        Gradient of the smooth part there.
    l1 : ndarray of shape (n,)
        Penalty of each coordinate.

    Returns
    -------
    violation : ndarray of shape (n,)
        Non-negative; zero everywhere exactly at a minimum.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import l1_violation
    >>> l1_violation(np.array([0.0, 2.0]), np.array([0.5, -1.0]), np.array([1.0, 1.0]))
    array([0., 0.])
    """
    zero = np.maximum(np.abs(gradient) - l1, 0.0)
    return np.where(x == 0, zero, np.abs(gradient + l1 * np.sign(x)))


def proximal_newton(
    terms: Callable[[np.ndarray, np.ndarray | None], tuple],
    start: np.ndarray,
    l1: np.ndarray,
    *,
    groups: np.ndarray,
    tol: float = 1e-4,
    max_iter: int = 100,
    small: int = 256,
) -> NewtonResult:
    """Minimise a smooth convex function plus an l1 penalty.

    Each step minimises the quadratic model plus the penalty by coordinate descent and then
    backtracks. Problems with many features are solved on a working set: the features in use and
    those that violate the optimality conditions most, at least twice as many as are in use; the
    Hessian is only ever formed on that set.

    Parameters
    ----------
    terms : callable
        ``terms(x, features)`` returns value, gradient (full) and the Hessian of the coordinates
        that belong to ``features``, in order; None for ``features`` asks for no Hessian.
    start : ndarray of shape (n,)
        First point.
    l1 : ndarray of shape (n,)
        Penalty of each coordinate, zero for unpenalised ones.
    groups : ndarray of shape (n,)
        Feature of each coordinate; -1 for coordinates that are always in the working set.
    tol : float, default=1e-4
        Largest allowed violation of the optimality conditions.
    max_iter : int, default=100
        Largest number of steps.
    small : int, default=256
        With at most this many features all are in the working set.

    Returns
    -------
    result : NewtonResult
        The minimiser and how it was reached.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import proximal_newton
    >>> def terms(x, features):  # half the squared distance to (3, 0.5)
    ...     away = x - [3.0, 0.5]
    ...     return 0.5 * away @ away, away, np.eye(2)
    >>> proximal_newton(terms, np.zeros(2), np.ones(2), groups=np.arange(2)).x
    array([2., 0.])
    """
    x = np.array(start, dtype=np.float64)
    n_features = int(groups.max(initial=-1)) + 1
    every = np.arange(n_features)
    whole = n_features <= small
    value, gradient, hessian = terms(x, every if whole else None)
    decrement = np.inf
    for n_iter in range(max_iter + 1):
        violation = l1_violation(x, gradient, l1)
        norm = float(violation.max(initial=0.0))
        if norm <= tol:
            return NewtonResult(x, value, norm, decrement, n_iter, True)
        if n_iter == max_iter:
            break
        features = every
        if not whole:
            features = working_set(x, violation, groups, n_features, small)
            hessian = terms(x, features)[2]
        inside = np.flatnonzero((groups < 0) | np.isin(groups, features))
        target = max(0.01 * norm, 0.1 * tol)
        goal = model_minimiser(hessian, gradient[inside], x[inside], l1[inside], tol=target)
        step = np.zeros_like(x)
        step[inside] = goal - x[inside]
        penalty = float(l1 @ np.abs(x))
        decrement = -float(gradient @ step + l1 @ np.abs(x + step) - penalty)
        length = 1.0
        while True:
            trial = x + length * step if length < 1 else _replaced(x, inside, goal)
            new_value, new_gradient, new_hessian = terms(trial, every if whole else None)
            gain = value + penalty - new_value - float(l1 @ np.abs(trial))
            slack = 1e-13 * max(1.0, abs(value))
            if gain >= ARMIJO * length * decrement - slack or length < 1e-10:
                break
            length /= 2
        x, value, gradient, hessian = trial, new_value, new_gradient, new_hessian
    return NewtonResult(x, value, norm, decrement, max_iter, False)


def model_minimiser(
    hessian: np.ndarray, gradient: np.ndarray, x: np.ndarray, l1: np.ndarray, *, tol: float
) -> np.ndarray:
    r"""Minimise a quadratic model plus an l1 penalty.

    The model is :math:`g^\top (u - x) + \tfrac12 (u - x)^\top H (u - x) + \sum_j \lambda_j
    |u_j|`. Coordinate descent finds the support and its signs; the equations on the support are
    then solved exactly, because coordinate descent is slow at that where H is ill-conditioned.
    """
    from corollary.linear._logistic import descend

    hessian = np.ascontiguousarray(hessian)
    u = x
    for _ in range(100):
        u = descend(hessian, gradient, x, u, l1, tol, 50)
        slope = gradient + hessian @ (u - x)
        if l1_violation(u, slope, l1).max(initial=0.0) <= tol:
            break
        u = _solve_on_support(hessian, gradient, x, u, l1)
    return u


def _solve_on_support(
    hessian: np.ndarray, gradient: np.ndarray, x: np.ndarray, u: np.ndarray, l1: np.ndarray
) -> np.ndarray:
    """Go to the model's minimiser among points with the signs of u; coordinates may reach 0."""
    u = u.copy()
    for _ in range(50):
        active = np.flatnonzero((u != 0) | (l1 == 0))
        slope = gradient + hessian @ (u - x) + l1 * np.sign(u)
        step = newton_step(hessian[np.ix_(active, active)], slope[active])
        here = u[active]
        crossing = (l1[active] > 0) & (here * (here + step) < 0)
        if not crossing.any():
            u[active] = here + step
            break
        share = np.where(crossing, -here / np.where(crossing, step, 1.0), np.inf)
        u[active] = here + share.min() * step
        u[active[share == share.min()]] = 0.0
    return u


def _replaced(x: np.ndarray, where: np.ndarray, values: np.ndarray) -> np.ndarray:
    # x + (goal - x) would leave rounding errors where the goal is exactly zero.
    x = x.copy()
    x[where] = values
    return x


def working_set(
    x: np.ndarray, violation: np.ndarray, groups: np.ndarray, n_features: int, smallest: int
) -> np.ndarray:
    """Return the features in use and those that violate the optimality conditions most."""
    owned = groups >= 0
    used = np.zeros(n_features, dtype=bool)
    used[groups[owned & (x != 0)]] = True
    worst = np.zeros(n_features)
    np.maximum.at(worst, groups[owned], violation[owned])
    size = min(n_features, max(smallest, 2 * int(used.sum())))
    order = np.argsort(-np.where(used, np.inf, worst), kind="stable")
    return np.sort(order[:size])
