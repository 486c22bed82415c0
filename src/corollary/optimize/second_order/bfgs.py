r"""Quasi-Newton methods: curvature learnt from the changes of the gradient.

With the step :math:`s=x_{t+1}-x_t` and the change :math:`y=\nabla f(x_{t+1})-\nabla f(x_t)` every
update satisfies the secant equation :math:`B_{t+1}s=y`. BFGS keeps the whole matrix and converges
superlinearly; L-BFGS keeps the last m pairs, :math:`O(md)` numbers, and converges linearly.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from corollary.optimize.iteration.certified import solve_by
from corollary.optimize.iteration.driver import Iteration
from corollary.optimize.iteration.stopping import Info, Stop
from corollary.optimize.problem.functions import Smooth
from corollary.optimize.problem.minimum import certify_minimum
from corollary.optimize.solution import Solution, Status

# Wolfe's conditions: a share of the promised decrease, and a slope that is this much less steep.
_DECREASE, _FLATTER = 1e-4, 0.9
# What SciPy returns as status where a callback has ended the run.
_CALLBACK = 99


def bfgs_update(B: Any, step: Any, change: Any) -> np.ndarray:
    r"""Update a Hessian by what a step showed; :func:`bfgs_inverse_update` updates the inverse.

    .. math:: B_+=B-\frac{Bss^\top B}{s^\top Bs}+\frac{yy^\top}{y^\top s}

    The result is symmetric, positive definite, and has :math:`B_+s=y`. See :class:`BFGS` for the
    steps: B is symmetric and positive definite, ``step`` is s and ``change`` the change y of the
    gradient, with :math:`y^\top s>0`.

    Examples
    --------
    >>> from corollary.optimize import bfgs_update
    >>> bfgs_update([[1.0, 0.0], [0.0, 1.0]], [1.0, 0.0], [3.0, 1.0])  # the first column is y
    array([[3.        , 1.        ],
           [1.        , 1.33333333]])
    """
    B, s, y = (np.asarray(v, dtype=float) for v in (B, step, change))
    slope = _curvature("bfgs_update", s, y)
    Bs = B @ s
    return B - np.outer(Bs, Bs) / (s @ Bs) + np.outer(y, y) / slope


def bfgs_inverse_update(H: Any, step: Any, change: Any) -> np.ndarray:
    r"""Update an inverse Hessian by what a step showed, as :func:`bfgs_update` does the Hessian.

    .. math:: H_+=(I-\rho sy^\top)H(I-\rho ys^\top)+\rho ss^\top,\qquad\rho=1/y^\top s

    It is symmetric, positive definite, with :math:`H_+y=s`. See :class:`BFGS`.

    Examples
    --------
    >>> from corollary.optimize import bfgs_inverse_update
    >>> bfgs_inverse_update([[1.0]], [1.0], [4.0])
    array([[0.25]])
    """
    H, s, y = (np.asarray(v, dtype=float) for v in (H, step, change))
    rho = 1 / _curvature("bfgs_inverse_update", s, y)
    Hy = H @ y
    shared = np.outer(s, Hy)
    return H - rho * (shared + shared.T) + rho * (1 + rho * (y @ Hy)) * np.outer(s, s)


def two_loop(gradient: Any, pairs: Sequence[tuple[Any, Any]]) -> np.ndarray:
    r"""Multiply a gradient by the inverse Hessian that the last pairs imply (Nocedal 1980).

    It is :math:`H\nabla f`, where H is :func:`bfgs_inverse_update` for each pair, begun at
    :math:`(s^\top y/y^\top y)I` of the last one, in :math:`4mn` multiplications. See :class:`BFGS`;
    the m ``pairs`` (s, y) of steps and changes of the gradient, oldest first, have
    :math:`y^\top s>0`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import two_loop
    >>> two_loop([8.0, 3.0], [(np.array([1.0, 0.0]), np.array([4.0, 0.0]))])
    array([2.  , 0.75])
    """
    q = np.array(gradient, dtype=float)
    kept = []
    for s, y in reversed(pairs):
        rho = 1 / _curvature("two_loop", np.asarray(s), np.asarray(y))
        alpha = rho * float(s @ q)
        q = q - alpha * y
        kept.append((rho, alpha, s, y))
    if pairs:
        s, y = pairs[-1]
        q = q * (float(s @ y) / float(y @ y))
    for rho, alpha, s, y in reversed(kept):
        q = q + (alpha - rho * float(y @ q)) * s
    return q


def _curvature(who: str, s: np.ndarray, y: np.ndarray) -> float:
    slope = float(s @ y)
    if not slope > 0:
        raise ValueError(
            f"{who} needs a step along which the gradient grows, y's > 0. Got y's = {slope:.3g}; "
            "leave such a step out, or search it until Wolfe's conditions hold."
        )
    return slope


class QuasiNewtonState(NamedTuple):
    """Where BFGS is: point, value and gradient there, and the inverse Hessian."""

    x: np.ndarray
    value: float
    gradient: np.ndarray
    inverse: np.ndarray


@dataclass(frozen=True)
class BFGS(Iteration[QuasiNewtonState]):
    r"""Steps :math:`x\leftarrow x-tH\nabla f(x)` with the matrix H of BFGS.

    The length t satisfies Wolfe's conditions (it is found by bisection), so that :math:`y^\top s>0`
    and H stays positive definite. On a quadratic, exact lengths would end after n steps.

    See :class:`Iteration`, and :func:`bfgs` for the parameters.

    Examples
    --------
    >>> from corollary.optimize import BFGS, Quadratic, iterate
    >>> bowl = Quadratic([[2.0, 1.0], [1.0, 2.0]], [-3.0, 0.0])
    >>> iterate(BFGS(bowl), [0.0, 0.0], max_iter=9).state.x.round(3)
    array([ 2., -1.])
    """

    function: Smooth

    def init(self, start: Any) -> QuasiNewtonState:
        """Return the first state; H is the identity over the gradient's norm if that exceeds 1."""
        x = np.array(start, dtype=float)
        value, gradient = self.function.value_and_gradient(x)
        inverse = np.eye(x.size) / max(1.0, float(np.linalg.norm(gradient)))
        return QuasiNewtonState(x, value, gradient, inverse)

    def step(self, state: QuasiNewtonState) -> tuple[QuasiNewtonState, Info]:
        """Take one step; the info has the norm of the gradient where it began."""
        norm = float(np.linalg.norm(state.gradient))
        if not (math.isfinite(norm) and math.isfinite(state.value)):
            return state, Info(value=math.nan, gradient=norm)
        direction = -state.inverse @ state.gradient
        slope = float(state.gradient @ direction)
        low, high, length = 0.0, math.inf, 1.0
        for _ in range(60):
            x = state.x + length * direction
            value, gradient = self.function.value_and_gradient(x)
            rounding = 1e-15 * abs(state.value)
            if not value <= state.value + _DECREASE * length * slope + rounding:
                high = length
            elif not float(gradient @ direction) >= _FLATTER * slope:
                low = length
            else:
                break
            length = 2 * low if high == math.inf else (low + high) / 2
        moved, change = x - state.x, gradient - state.gradient
        inverse = state.inverse
        if float(moved @ change) > 1e-14 * float(np.linalg.norm(moved) * np.linalg.norm(change)):
            inverse = bfgs_inverse_update(inverse, moved, change)
        away = float(np.linalg.norm(moved))
        info = Info(value=value, step=away, gradient=norm)
        return QuasiNewtonState(x, value, gradient, inverse), info


def bfgs(
    function: Smooth, start: Any, *, tol: float = 1e-8, max_iter: int = 500, state: Any = None
) -> Solution:
    r"""Minimise a smooth function by BFGS, until the minimum is proved to be near.

    See :class:`BFGS` for the steps, and :func:`newton` for the parameters; a gradient is enough
    here.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from corollary.optimize import Function, bfgs
    >>> valley = Function(lambda x: (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2)
    >>> solution = bfgs(valley, [-1.2, 1.0])
    >>> solution.x.round(6), solution.status
    (array([1., 1.]), 'stopped')
    """
    method, certify = BFGS(function), partial(certify_minimum, function)
    stop = Stop(gradient=tol, step=0.0)
    return solve_by(method, start, certify, tol=tol, stop=stop, max_iter=max_iter, state=state)


def lbfgs(
    function: Smooth,
    start: Any,
    *,
    memory: int = 10,
    tol: float = 1e-8,
    max_iter: int = 10000,
    callback: Callable[[np.ndarray], Any] | None = None,
) -> Solution:
    """Minimise a smooth function of many variables by SciPy's L-BFGS-B.

    A step is :func:`two_loop` times a length. The certificate (:func:`certify_minimum`) is computed
    after SciPy has ended.

    See :class:`Smooth`; the gradient of the function is enough, and ``memory`` is the number m of
    steps that are remembered. The run stops where no entry of the gradient is larger than ``tol``,
    which is also the gap up to which the point counts as optimal, relative to the larger of 1 and
    the size of the value. The other parameters are those of :func:`solve_by`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import Quadratic, lbfgs
    >>> solution = lbfgs(Quadratic(np.diag([1.0, 10.0, 100.0]), -np.ones(3)), np.zeros(3))
    >>> solution.x.round(6), solution.status
    (array([1.  , 0.1 , 0.01]), 'optimal')
    """
    from scipy.optimize import minimize

    options = {"maxcor": memory, "maxiter": max_iter, "maxfun": 20 * max_iter, "ftol": 0.0}
    result = minimize(
        function.value_and_gradient,
        np.array(start, dtype=float),
        jac=True,
        method="L-BFGS-B",
        callback=callback,
        options=options | {"gtol": tol},
    )
    certificate = certify_minimum(function, result.x)
    largest = float(np.abs(function.gradient(result.x)).max(initial=0.0))
    status: Status = "failed"
    if certificate.is_optimal(tol):
        status = "optimal"
    elif not (math.isfinite(certificate.value) and math.isfinite(largest)):
        status = "diverged"
    elif largest <= tol or result.status == _CALLBACK:
        status = "stopped"
    elif result.nit >= max_iter:
        status = "out of steps"
    return Solution(
        x=result.x,
        value=certificate.value,
        certificate=certificate,
        status=status,
        n_iter=int(result.nit),
        reason=str(result.message),
    )
