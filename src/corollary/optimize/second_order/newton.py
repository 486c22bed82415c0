r"""Newton's method, pure and damped, for functions that know their Hessian.

The step :math:`-\nabla^2f(x)^{-1}\nabla f(x)` minimises the quadratic model of the function, so
that a quadratic is solved at once and the number of correct digits doubles near a minimum. Far from
one it can lead away; the damped method shortens it until the value falls by enough.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import linalg

from corollary.optimize.iteration.certified import solve_by
from corollary.optimize.iteration.driver import Iteration
from corollary.optimize.iteration.stopping import Info, Stop
from corollary.optimize.problem.functions import Smooth
from corollary.optimize.problem.minimum import certify_minimum
from corollary.optimize.second_order.conjugate_gradients import conjugate_gradients
from corollary.optimize.solution import Solution

# Share of the decrease promised by the slope that a damped step must bring (Armijo's rule).
_ARMIJO = 1e-4
# Curvatures below this share of the largest one are raised to it, so that every step descends.
_LEAST_CURVATURE = 1e-8
_SHORTEST = 1e-12


class NewtonState(NamedTuple):
    """Where Newton's method is: the point, with value and gradient there."""

    x: np.ndarray
    value: float
    gradient: np.ndarray


@dataclass(frozen=True)
class Newton(Iteration[NewtonState]):
    r"""Steps :math:`x\leftarrow x-t\,\nabla^2f(x)^{-1}\nabla f(x)`.

    Near a minimum with a positive definite, Lipschitz Hessian errors are squared in each step. The
    pure method may diverge: on :math:`\log(e^x+e^{-x})` it does from :math:`|x|>1.0886`. The damped
    one converges from everywhere if the function is strongly convex. Where the Hessian is not
    positive definite, eigenvalues are replaced by their moduli, and small ones raised to 1e-8 of
    the largest. The step then still descends, though it is not Newton's. For sums over rows, where
    a Hessian costs more than a step, there is :func:`newton_minimise`.

    See :class:`Iteration`, and :func:`newton` for the parameters.

    Examples
    --------
    >>> from corollary.optimize import Newton, Quadratic, iterate
    >>> bowl = Quadratic([[2.0, 1.0], [1.0, 2.0]], [-3.0, 0.0])
    >>> iterate(Newton(bowl), [5.0, 5.0], max_iter=1).state.x.round(12)
    array([ 2., -1.])
    """

    function: Smooth
    damped: bool = True
    solver: Literal["cholesky", "conjugate gradients"] = "cholesky"

    def __post_init__(self) -> None:
        if self.solver not in ("cholesky", "conjugate gradients"):
            raise ValueError(
                "The 'solver' parameter of Newton must be 'cholesky' or 'conjugate gradients'. "
                f"Got {self.solver!r} instead."
            )

    def init(self, start: Any) -> NewtonState:
        """Return the first point with value and gradient there."""
        x = np.array(start, dtype=float)
        return NewtonState(x, *self.function.value_and_gradient(x))

    def step(self, state: NewtonState) -> tuple[NewtonState, Info]:
        """Take one step; the info has the norm of the gradient where it began."""
        norm = float(np.linalg.norm(state.gradient))
        hessian = self.function.hessian(state.x)
        if not (math.isfinite(norm) and math.isfinite(state.value) and np.isfinite(hessian).all()):
            return state, Info(value=math.nan, gradient=norm)
        direction = self._direction(hessian, state.gradient)
        promised = -_ARMIJO * float(state.gradient @ direction)
        length = 1.0
        while True:
            x = state.x + length * direction
            value = self.function.value(x)
            # Differences below the rounding of the value say nothing about the step.
            if not self.damped or value <= state.value - length * promised + 1e-15 * abs(value):
                break
            if length < _SHORTEST:
                x = state.x
                break
            length /= 2
        following = NewtonState(x, *self.function.value_and_gradient(x))
        away = float(np.linalg.norm(x - state.x))
        return following, Info(value=following.value, step=away, gradient=norm)

    def _direction(self, hessian: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        if self.solver == "conjugate gradients":
            share = min(1e-3, float(np.linalg.norm(gradient)))
            try:
                return conjugate_gradients(lambda v: hessian @ v, -gradient, tol=share).x
            except ValueError:  # no positive definite matrix, which eigenvalues repair
                pass
        return _descent_direction(hessian, gradient)


def _descent_direction(hessian: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Return -H^{-1} g, with eigenvalues of H made positive where they are not."""
    try:
        factor = linalg.cho_factor(hessian, lower=True)
        pivots = np.diag(factor[0]) ** 2
        if pivots.min(initial=1.0) > 1e-14 * pivots.max(initial=0.0):
            return linalg.cho_solve(factor, -gradient)
    except linalg.LinAlgError:
        pass
    values, vectors = linalg.eigh(hessian)
    moduli = np.abs(values)
    moduli = np.maximum(moduli, _LEAST_CURVATURE * (moduli.max() or 1.0 / _LEAST_CURVATURE))
    return -vectors @ ((vectors.T @ gradient) / moduli)


def newton(
    function: Smooth,
    start: Any,
    *,
    damped: bool = True,
    solver: Literal["cholesky", "conjugate gradients"] = "cholesky",
    tol: float = 1e-8,
    max_iter: int = 100,
    state: Any = None,
) -> Solution:
    r"""Minimise a smooth function by Newton's method until the minimum is proved to be near.

    The status is "optimal" if strong convexity proves it (:func:`certify_minimum`), "stopped" where
    the gradient is small and nothing more is known.

    See :class:`Newton` for the steps, which need a Hessian, and :func:`proximal_gradient` for the
    other parameters. A ``damped`` step is halved until the value falls by 1e-4 of what the slope
    promises. The ``solver`` of the equations, "cholesky" or "conjugate gradients", in the second
    case stops at a residual of 1e-3 of the gradient, or of the gradient itself where that is below
    1e-3. The tolerance ``tol`` is also the norm of the gradient at which the run stops where
    nothing can be proved.

    Examples
    --------
    >>> from corollary.optimize import EmpiricalRisk, newton
    >>> risk = EmpiricalRisk([[1.0], [2.0], [-1.0]], [1, -1, 1], "logistic", alpha=0.1)
    >>> solution = newton(risk, [0.0])
    >>> solution.status, solution.n_iter, solution.gap < 1e-12
    ('optimal', 3, True)
    """
    method, certify = Newton(function, damped, solver), partial(certify_minimum, function)
    stop = Stop(gradient=tol, step=0.0)
    return solve_by(
        method, start, certify, tol=tol, stop=stop, max_iter=max_iter, every=1, state=state
    )
