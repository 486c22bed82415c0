r"""Nesterov's acceleration of gradient descent.

A step begins where the last one would have led on,

.. math:: y_k=x_k+\beta_k(x_k-x_{k-1}),\qquad x_{k+1}=y_k-\eta\nabla f(y_k),

with :math:`\beta_k=\tfrac{k-1}{k+2}` for convex functions and
:math:`\beta=\tfrac{1-\sqrt{\eta m}}{1+\sqrt{\eta m}}` for m-strongly convex ones.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from corollary.optimize.iteration.stopping import Info
from corollary.optimize.problem.functions import Smooth
from corollary.optimize.rates.plan import plan_steps
from corollary.optimize.smooth._planned import solve_as_planned, step_size
from corollary.optimize.solution import Solution


class NesterovState(NamedTuple):
    """Where accelerated descent is: the point with its value, the one before, steps so far."""

    x: np.ndarray
    value: float
    previous: np.ndarray
    n_steps: int


@dataclass(frozen=True)
class Nesterov:
    r"""Accelerated gradient steps of one length.

    Parameters
    ----------
    function : Smooth
        What is minimised.
    rate : float or None, default=None
        Step size :math:`\eta`; None for 1/L, with the function's own smoothness.

    See Also
    --------
    nesterov : Runs it until a proof is there.
    ProximalGradient : With a penalty or a set, and with restarts.

    Notes
    -----
    For steps of at most 1/L and R the distance of the start from a minimiser, the value is within
    :math:`\tfrac{2R^2}{\eta(k+1)^2}` of the least one after k steps; under strong convexity within
    :math:`(1-\sqrt{\eta m})^k(\Delta+\tfrac m2R^2)`. It may rise in between.

    Guarantee: no iterate lies above its bound, checked by
    ``tests/optimize/test_smooth_methods.py::test_no_iterate_lies_above_its_bound``.

    References
    ----------
    Y. Nesterov (2018). Lectures on Convex Optimization. Springer, section 2.2.

    Examples
    --------
    >>> from corollary.optimize import Nesterov, Quadratic, trace_points
    >>> # The third step begins at 1/4 + (1/4) (1/4 - 1/2).
    >>> slow = Nesterov(Quadratic([[1.0, 0.0], [0.0, 0.0]]), rate=0.5)
    >>> trace_points(slow, [1.0, 0.0], 3)[:, 0]
    array([1.     , 0.5    , 0.25   , 0.09375])
    """

    function: Smooth
    rate: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", step_size("Nesterov", self.function, self.rate))

    def init(self, start: Any) -> NesterovState:
        """Return the first state.

        Parameters
        ----------
        start : array-like of shape (n,)
            First point.

        Returns
        -------
        state : NesterovState
            At rest there.
        """
        x = np.array(start, dtype=float)
        return NesterovState(x, self.function.value(x), x, 0)

    def step(self, state: NesterovState) -> tuple[NesterovState, Info]:
        """Take one step.

        Parameters
        ----------
        state : NesterovState
            Where it begins.

        Returns
        -------
        state : NesterovState
            Where it ends.
        info : Info
            Value at the end, distance of the two points, norm of the gradient where the step began.
        """
        assert self.rate is not None
        m = self.function.strong_convexity
        root = math.sqrt(min(m * self.rate, 1.0))
        k = state.n_steps
        push = (1 - root) / (1 + root) if m > 0 else (k - 1) / (k + 2)
        y = state.x + push * (state.x - state.previous)
        gradient = self.function.gradient(y)
        x = y - self.rate * gradient
        following = NesterovState(x, self.function.value(x), state.x, k + 1)
        return following, Info(
            value=following.value,
            step=float(np.linalg.norm(x - state.x)),
            gradient=float(np.linalg.norm(gradient)),
        )


def nesterov(
    function: Smooth,
    start: Any,
    *,
    rate: float | None = None,
    radius: float = math.inf,
    tol: float = 1e-6,
    max_iter: int = 10000,
) -> Solution:
    """Minimise a smooth convex function by accelerated gradient descent.

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
        The point with its certificate; ``planned`` steps are enough.

    Examples
    --------
    >>> from corollary.optimize import Quadratic, nesterov
    >>> print(nesterov(Quadratic([[1.0, 0.0], [0.0, 100.0]]), [1.0, 1.0], tol=1e-3))
    Solved in 50 steps (153 are enough by the rate). The value 0.000478105 is at most 0.0004782
    above the least one: the gradient there and strong convexity prove it.
    """
    method = Nesterov(function, rate)
    plan = plan_steps("nesterov", function, start, radius=radius, rate=method.rate)
    return solve_as_planned(
        plan, method, function, start, tol=tol, max_iter=max_iter, radius=radius
    )
