r"""Climbing a smooth function of few variables inside a box.

Each evaluation of an evidence costs the cube of the number of points, so that a matrix B of second
derivatives, learnt from the gradients on the way, is free in comparison. Steps maximise the
quadratic model that it makes inside the box, are shortened where they fail, and never lengthened.
None moves a variable by more than 2: all of them are logarithms, and longer steps
mostly had to be taken back.

B begins as what is known, or as the multiple of the identity that fits the last step, and takes in
the last 20 steps by the BFGS rule.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from corollary.optimize.second_order.bfgs import bfgs_update

_Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]
_Pair = tuple[np.ndarray, np.ndarray]

_LONGEST = 2.0
_MEMORY = 20
# The least curvature believed: half a unit of evidence over one unit of a logarithm.
_FLATTEST = 1.0
# Step of the differences of gradients.
_DIFFERENCE = 1e-3
# Share of the promised improvement that a step must keep, and the shortest step tried.
_KEPT, _SHORTEST = 1e-4, 1e-10


class Ascent(NamedTuple):
    """Where :func:`ascend` ended.

    Parameters
    ----------
    theta : ndarray of shape (n,)
        The point.
    value : float
        Value there.
    gradient : ndarray of shape (n,)
        Gradient there.
    curvature : ndarray of shape (n, n)
        Minus the second derivatives, as learnt on the way.
    n_iter : int
        Number of steps.
    converged : bool
        Whether the model promises no more than the tolerance.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import ascend
    >>> top = ascend(lambda t: (-float(t @ t), -2 * t), np.ones(1), np.array([[0.5, 2.0]]))
    >>> top.theta, top.converged
    (array([0.5]), True)
    """

    theta: np.ndarray
    value: float
    gradient: np.ndarray
    curvature: np.ndarray
    n_iter: int
    converged: bool


def ascend(
    objective: _Objective,
    start: np.ndarray,
    bounds: np.ndarray,
    *,
    curvature: np.ndarray | None = None,
    max_iter: int = 200,
    tol: float = 1e-7,
) -> Ascent:
    """Maximise a smooth function of few variables inside a box by a quasi-Newton method.

    Parameters
    ----------
    objective : callable
        ``objective(theta)`` returns value and gradient; a ``LinAlgError`` or a number that is not
        finite marks a point where there is no value.
    start : ndarray of shape (n,)
        First point; it is moved into the box.
    bounds : ndarray of shape (n, 2)
        Lower and upper ends of the box.
    curvature : ndarray of shape (n, n) or None, default=None
        Minus the second derivatives near the start, positive definite, if they are known.
    max_iter : int, default=200
        Largest number of steps.
    tol : float, default=1e-7
        What the model of a step must promise for it to be taken, relative to the larger of 1 and
        the size of the value.

    Returns
    -------
    ascent : Ascent
        The point. Nothing is proved about it: the function need not be concave.

    See Also
    --------
    lbfgs : For many variables.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import ascend
    >>> def objective(t):
    ...     return -float((t[0] - 1) ** 2 + (t[1] - 5) ** 2), -2 * (t - np.array([1.0, 5.0]))
    >>> ascend(objective, np.zeros(2), np.array([[-3.0, 3.0], [-3.0, 3.0]])).theta.round(6)
    array([1., 3.])
    """
    low, high = bounds.T
    here = _evaluate(objective, np.clip(start, low, high))
    known, pairs, brought = curvature, list[_Pair](), 0.0
    for n_iter in range(max_iter):
        B = _curvature(known, pairs, here.gradient)
        step = _towards_maximum(here, B, low, high)
        least = tol * max(1.0, abs(here.value))
        if 0.5 * float(here.gradient @ step) <= least and brought <= 10.0 * least:
            return Ascent(*here, B, n_iter, True)
        there = _search(objective, here, step, low, high)
        if there is None and known is None and not pairs:
            # Nothing better along the gradient itself: as good as it gets.
            return Ascent(*here, B, n_iter, True)
        if there is None:
            known, pairs = None, []
            continue
        moved, change = there.theta - here.theta, here.gradient - there.gradient
        if moved @ change > 1e-10 * (change @ change):  # concave along the way
            pairs = [*pairs, (moved, change)][-_MEMORY:]
        brought, here = there.value - here.value, there
    return Ascent(*here, _curvature(known, pairs, here.gradient), max_iter, False)


def difference_curvature(objective: _Objective, at: Ascent, bounds: np.ndarray) -> np.ndarray:
    """Estimate minus the second derivatives by differences of gradients.

    Parameters
    ----------
    objective : callable
        ``objective(theta)`` returns value and gradient.
    at : Ascent
        Where they are wanted.
    bounds : ndarray of shape (n, 2)
        The box that is not left.

    Returns
    -------
    curvature : ndarray of shape (n, n)
        Symmetric, with eigenvalues that are replaced by their moduli and by 1 where these are
        smaller; what the ascent learnt itself where a neighbour has no value.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import ascend, difference_curvature
    >>> objective, box = lambda t: (-2.0 * float(t @ t), -4 * t), np.array([[-1.0, 1.0]])
    >>> difference_curvature(objective, ascend(objective, np.ones(1), box), box).round(6)
    array([[4.]])
    """
    p = len(at.theta)
    H = np.empty((p, p))
    for k in range(p):
        moved = at.theta.copy()
        moved[k] += _DIFFERENCE if moved[k] + _DIFFERENCE <= bounds[k, 1] else -_DIFFERENCE
        near = _evaluate(objective, moved)
        if near.value == -np.inf:
            return at.curvature
        H[k] = (at.gradient - near.gradient) / (moved[k] - at.theta[k])
    sizes, axes = np.linalg.eigh(0.5 * (H + H.T))
    return (axes * np.maximum(np.abs(sizes), _FLATTEST)) @ axes.T


class _Point(NamedTuple):
    theta: np.ndarray
    value: float
    gradient: np.ndarray


def _evaluate(objective: _Objective, theta: np.ndarray) -> _Point:
    try:
        value, gradient = objective(theta)
    except np.linalg.LinAlgError:  # a corner where no factorisation exists
        return _Point(theta, -np.inf, np.zeros_like(theta))
    if not (np.isfinite(value) and np.isfinite(gradient).all()):
        return _Point(theta, -np.inf, np.zeros_like(theta))
    return _Point(theta, float(value), gradient)


def _curvature(known: np.ndarray | None, pairs: list[_Pair], gradient: np.ndarray) -> np.ndarray:
    """Return the curvature that explains the last changes of the gradient."""
    B = np.eye(len(gradient)) if known is None else known
    if known is None and pairs:
        moved, change = pairs[-1]
        B = B * ((change @ change) / (moved @ change))
    elif known is None:
        B = B * max(1.0, float(np.linalg.norm(gradient)))  # a step of length one at most
    for moved, change in pairs:
        B = bfgs_update(B, moved, change)
    return B


def _towards_maximum(here: _Point, B: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return a step towards the maximum of the quadratic model inside the box."""
    theta, gradient = here.theta, here.gradient
    below, above = low - theta, high - theta
    # Which wall each variable is held by: -1, 1, or 0 for none.
    wall = 1 * ((above <= 0) & (gradient > 0)) - 1 * ((below >= 0) & (gradient < 0))
    for _ in range(1 + 3 * len(theta)):
        step = np.where(wall < 0, below, np.where(wall > 0, above, 0.0))
        free, held = np.flatnonzero(wall == 0), np.flatnonzero(wall)
        pull = gradient[free] - B[np.ix_(free, held)] @ step[held]
        step[free] = _solve(B[np.ix_(free, free)], pull)
        left = gradient - B @ step
        # What would leave the box is held by its wall; what is drawn away from a wall is let go.
        turned = np.where(wall * left < 0, 0, wall - 1 * (step < below) + 1 * (step > above))
        if np.array_equal(turned, wall):
            break
        wall = turned
    step = np.clip(step, below, above)
    if gradient @ step <= 0:  # each variable for itself
        step = np.clip(gradient / np.diag(B), below, above)
    return np.asarray(step * (_LONGEST / max(_LONGEST, float(np.abs(step).max(initial=0.0)))))


def _solve(B: np.ndarray, b: np.ndarray) -> np.ndarray:
    if not len(b):
        return b
    try:
        return np.asarray(cho_solve(cho_factor(B), b))
    except np.linalg.LinAlgError:  # positive definite but for rounding
        return b / np.diag(B)


def _search(
    objective: _Objective, here: _Point, step: np.ndarray, low: np.ndarray, high: np.ndarray
) -> _Point | None:
    """Return the first point on the way that keeps enough of what the gradient promises."""
    share, slope = 1.0, float(here.gradient @ step)
    while share > _SHORTEST:
        promised = share * slope
        there = _evaluate(objective, np.clip(here.theta + share * step, low, high))
        if there.value >= here.value + _KEPT * promised:
            return there
        # The peak of the parabola through what is known; a tenth where there is no value.
        missing = here.value + promised - there.value
        peak = 0.5 * promised / missing if np.isfinite(missing) and missing > 0 else 0.1
        share *= min(0.5, max(0.1, peak))
    return None
