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

from corollary.optimize.second_order._steps import is_sufficient

# Below this squared decrement (a root-mean-square change of about a quarter in the log odds of a
# logistic model) a step with the last Hessian gains at least a digit, for a fraction of the cost.
_CHORD = 1e-2
# A chord step must reduce the squared decrement by this factor, or a new Hessian is worth it.
_PAYS = 10
# Pivots of the scaled Hessian below this are rounding error: the direction is flat.
_FLAT = 1e-12
_Terms = Callable[[np.ndarray, bool], tuple[float, np.ndarray, Any]]


class NewtonResult(NamedTuple):
    """Where :func:`newton_minimise` or :func:`proximal_newton` stopped.

    Parameters
    ----------
    x : ndarray of shape (n,)
        The last point.
    value : float
        Objective at the last point that was evaluated.
    gradient_norm : float
        Largest entry of the gradient, or of the violation of optimality, there.
    decrement : float
        Squared Newton decrement there.
    n_iter : int
        Steps taken.
    converged : bool
        Whether the tolerances were met.
    hessian : ndarray of shape (n, n) or None, default=None
        The last Hessian.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import newton_minimise
    >>> def terms(x, hessian):
    ...     return 0.5 * x @ x, x, np.eye(1)
    >>> newton_minimise(terms, np.array([2.0])).converged
    True
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
    >>> from corollary.optimize import newton_step
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
        if np.diag(factor).min() ** 2 > _FLAT:
            return linalg.cho_solve((factor, True), right) / scale
    except linalg.LinAlgError:
        pass
    values, vectors = linalg.eigh(unit)
    steep = values > _FLAT * max(1.0, values[-1])
    part = vectors[:, steep]
    return part @ ((part.T @ right) / values[steep]) / scale


def newton_minimise(
    terms: _Terms,
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
    result : named tuple
        The minimiser ``x``; ``value``, ``gradient_norm`` (its largest entry) and ``decrement`` at
        the last point that was evaluated; ``n_iter``, ``converged``, and the last ``hessian``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import newton_minimise
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
        if not fresh and decrement > min(previous / _PAYS, _CHORD):
            value, gradient, hessian = terms(x, True)
            step, fresh = newton_step(hessian, gradient), True
            decrement = max(0.0, float(-gradient @ step))
        refresh = decrement > _CHORD
        length = 1.0
        while True:
            trial = x + length * step
            new_value, new_gradient, new_hessian = terms(trial, refresh)
            if is_sufficient(value - new_value, length * decrement, value) or length < 1e-10:
                break
            length /= 2
        if not np.isfinite(new_value):  # x is at the edge of where there are values
            break
        x, value, gradient = trial, new_value, new_gradient
        if new_hessian is not None:
            hessian = new_hessian
        fresh, previous = new_hessian is not None, decrement
    return NewtonResult(x, value, norm, decrement, n_iter, False, hessian)
