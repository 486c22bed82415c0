r"""Gradient descent, with steps of one size or of a schedule."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from corollary.optimize.iteration.stopping import Info
from corollary.optimize.problem.functions import Smooth
from corollary.optimize.rates.plan import plan_steps
from corollary.optimize.rates.schedules import Schedule
from corollary.optimize.smooth._planned import solve_as_planned, step_size
from corollary.optimize.solution import Solution


class DescentState(NamedTuple):
    """Where gradient descent is: the point, with value and gradient there, and steps so far."""

    x: np.ndarray
    value: float
    gradient: np.ndarray
    n_steps: int = 0


@dataclass(frozen=True)
class GradientDescent:
    r"""Steps :math:`x_{t+1}=x_t-\eta_t\nabla f(x_t)`.

    Parameters
    ----------
    function : Smooth
        What is minimised.
    rate : float, Schedule or None, default=None
        Step size :math:`\eta`, or one for each step; None for 1/L, with the function's own
        smoothness.

    See Also
    --------
    gradient_descent : Runs it until a proof is there.
    first_order_bound : What it guarantees.

    Notes
    -----
    With :math:`\eta\le1/L` the value never rises, and falls by at least
    :math:`\tfrac\eta2\|\nabla f(x_t)\|^2` in a step. It ends at a stationary point, which is a
    minimum if the function is convex.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import GradientDescent, Quadratic, iterate
    >>> run = iterate(GradientDescent(Quadratic(np.diag([1.0, 4.0]))), [1.0, 1.0], max_iter=2)
    >>> run.state.x  # (1 - 1/4)^2 and 0
    array([0.5625, 0.    ])
    """

    function: Smooth
    rate: float | Schedule | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.rate, Schedule):
            rate = step_size("GradientDescent", self.function, self.rate)
            object.__setattr__(self, "rate", rate)

    def init(self, start: Any) -> DescentState:
        """Return the first state.

        Parameters
        ----------
        start : array-like of shape (n,)
            First point.

        Returns
        -------
        state : DescentState
            The point, with value and gradient there.
        """
        x = np.array(start, dtype=float)
        return DescentState(x, *self.function.value_and_gradient(x))

    def step(self, state: DescentState) -> tuple[DescentState, Info]:
        """Take one step.

        Parameters
        ----------
        state : DescentState
            Where it begins.

        Returns
        -------
        state : DescentState
            Where it ends.
        info : Info
            Value at the end, length of the step, norm of the gradient at the beginning.
        """
        rate = self.rate(state.n_steps) if isinstance(self.rate, Schedule) else self.rate
        assert rate is not None
        x = state.x - rate * state.gradient
        following = DescentState(x, *self.function.value_and_gradient(x), state.n_steps + 1)
        norm = float(np.linalg.norm(state.gradient))
        return following, Info(value=following.value, step=float(rate * norm), gradient=norm)


def gradient_descent(
    function: Smooth,
    start: Any,
    *,
    rate: float | None = None,
    radius: float = math.inf,
    tol: float = 1e-6,
    max_iter: int = 10000,
) -> Solution:
    r"""Minimise a smooth function by gradient descent.

    Parameters
    ----------
    function : Smooth
        The function.
    start : array-like of shape (n,)
        First point.
    rate : float or None, default=None
        Step size; None for 1/L.
    radius : float, default=inf
        Bound on the distance of the first point from a minimiser, if one is known.
    tol : float, default=1e-6
        Proved gap to stop at, relative to the larger of 1 and the size of the value.
    max_iter : int, default=10000
        Largest number of steps.

    Returns
    -------
    solution : Solution
        The point with its certificate; ``planned`` steps are enough. Without convexity it stops
        at a small gradient, and nothing is proved.

    See Also
    --------
    nesterov : The same with fewer steps.

    Examples
    --------
    >>> from corollary.optimize import Quadratic, gradient_descent
    >>> print(gradient_descent(Quadratic([[1.0, 0.0], [0.0, 4.0]]), [1.0, 1.0]))
    Solved in 28 steps (28 are enough by the rate). The value 5.03965e-08 is at most 5.04e-08 above
    the least one: the gradient there and strong convexity prove it.
    """
    method = GradientDescent(function, rate)
    plan = plan_steps(
        "gradient descent", function, start, radius=radius, rate=step_size("", function, rate)
    )
    return solve_as_planned(
        plan, method, function, start, tol=tol, max_iter=max_iter, radius=radius
    )
