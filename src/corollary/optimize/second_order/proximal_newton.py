"""Newton's method with an l1 penalty, on a working set of features."""

from collections.abc import Callable

import numpy as np

from corollary.optimize.second_order._steps import is_sufficient
from corollary.optimize.second_order.chord import NewtonResult, newton_step


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
    >>> from corollary.optimize import l1_violation
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
    small: int = 32,
) -> NewtonResult:
    """Minimise a smooth convex function plus an l1 penalty.

    Each step minimises the quadratic model plus the penalty by coordinate descent and then
    backtracks. Problems with many features are solved on a working set: the features in use and
    those that violate the optimality conditions most, at least twice as many as are in use. The
    Hessian is only ever formed on that set, which stays until the worst violation is outside.

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
    small : int, default=32
        With at most this many features all are in the working set.

    Returns
    -------
    result : named tuple
        The minimiser ``x``; ``value`` of the smooth part, ``gradient_norm`` (the largest violation
        of the optimality conditions) and ``decrement`` there; ``n_iter`` and ``converged``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import proximal_newton
    >>> def terms(x, features):  # half the squared distance to (3, 0.5)
    ...     away = x - [3.0, 0.5]
    ...     return 0.5 * away @ away, away, np.eye(2)
    >>> proximal_newton(terms, np.zeros(2), np.ones(2), groups=np.arange(2)).x
    array([2., 0.])
    """
    x = np.array(start, dtype=np.float64)
    n_features = int(groups.max(initial=-1)) + 1
    every = np.arange(n_features)
    features = every if n_features <= small else every[:0]
    inside = np.arange(len(x))
    value, gradient, hessian = terms(x, features if len(features) else None)
    decrement = np.inf
    for n_iter in range(max_iter + 1):
        violation = l1_violation(x, gradient, l1)
        norm = float(violation.max(initial=0.0))
        if norm <= tol:
            return NewtonResult(x, value, norm, decrement, n_iter, True)
        if n_iter == max_iter:
            break
        if not features.size or violation[inside].max(initial=0.0) < norm:
            features = _working_set(x, violation, groups, n_features, small)
            inside = np.flatnonzero((groups < 0) | np.isin(groups, features))
            hessian = terms(x, features)[2]
        target = max(0.01 * norm, 0.1 * tol)
        goal = _model_minimiser(hessian, gradient[inside], x[inside], l1[inside], tol=target)
        step = np.zeros_like(x)
        step[inside] = goal - x[inside]
        penalty = float(l1 @ np.abs(x))
        decrement = -float(gradient @ step + l1 @ np.abs(x + step) - penalty)
        length = 1.0
        while True:
            trial = x + length * step if length < 1 else _replaced(x, inside, goal)
            new_value, new_gradient, new_hessian = terms(trial, features)
            gain = value + penalty - new_value - float(l1 @ np.abs(trial))
            if is_sufficient(gain, length * decrement, value) or length < 1e-10:
                break
            length /= 2
        x, value, gradient, hessian = trial, new_value, new_gradient, new_hessian
    return NewtonResult(x, value, norm, decrement, max_iter, False)


def _model_minimiser(
    hessian: np.ndarray, gradient: np.ndarray, x: np.ndarray, l1: np.ndarray, *, tol: float
) -> np.ndarray:
    r"""Minimise a quadratic model plus an l1 penalty.

    The model is :math:`g^\top (u - x) + \tfrac12 (u - x)^\top H (u - x) + \sum_j \lambda_j
    |u_j|`. Coordinate descent finds the support and its signs; the equations on the support are
    then solved exactly, because coordinate descent is slow at that where H is ill-conditioned.
    """
    from corollary.optimize._loops.quadratic_model import descend

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


def _working_set(
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
