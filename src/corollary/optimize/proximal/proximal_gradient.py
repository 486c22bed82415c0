r"""Proximal gradient, plain (ISTA) and accelerated (FISTA), for :math:`\min f(x)+h(x)`.

A step follows the gradient of the smooth part and then the proximal operator of the other,

.. math:: x_{t+1}=\mathrm{prox}_{\eta h}(y_t-\eta\nabla f(y_t)),

from :math:`y_t=x_t` or, accelerated, from :math:`x_t` moved on along the last step. With a convex
set in place of h it is projected gradient.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from corollary.optimize.iteration.certified import solve_by
from corollary.optimize.iteration.driver import Iteration
from corollary.optimize.iteration.stopping import Info, Stop
from corollary.optimize.problem.functions import Smooth
from corollary.optimize.problem.minimum import certify_minimum
from corollary.optimize.problem.penalties import Penalty, Zero
from corollary.optimize.problem.sets import ConvexSet
from corollary.optimize.solution import Solution

_FACTOR = 0.5


class ProximalState(NamedTuple):
    """Where proximal gradient is: the point, the one before, momentum and step size."""

    x: np.ndarray
    previous: np.ndarray
    momentum: float
    rate: float


@dataclass(frozen=True)
class ProximalGradient(Iteration[ProximalState]):
    """Steps of proximal gradient.

    With R the distance of the start from a minimiser, F is within :math:`LR^2/(2t)` of its minimum
    after t plain steps, and within :math:`2LR^2/(t+1)^2` after t accelerated ones without restarts
    (Beck and Teboulle, SIAM Journal on Imaging Sciences 2, 2009). Restarts adapt to strong
    convexity that nobody told (O'Donoghue and Candès, Foundations of Computational Mathematics 15,
    2015).

    A ``rate`` is 1/L by default or, where L is not known, halved until steps descend; ``restart``
    drops momentum when it points uphill. See :class:`Iteration`, and :func:`proximal_gradient` for
    the other parameters.

    Examples
    --------
    >>> from corollary.optimize import L1, ProximalGradient, Quadratic, iterate
    >>> lasso = ProximalGradient(Quadratic([[1.0]], [-3.0]), L1(1.0))
    >>> iterate(lasso, [0.0], max_iter=1).state.x  # L = 1: one step is exact
    array([2.])
    """

    function: Smooth
    penalty: Penalty | None = None
    rate: float | None = None
    accelerated: bool = True
    restart: bool = True

    def init(self, start: Any) -> ProximalState:
        """Return the first state, at rest at a point that is moved into the set if there is one."""
        L = self.function.smoothness
        rate = (1 / L if 0 < L < math.inf else 1.0) if self.rate is None else self.rate
        if not 0 < rate < math.inf:
            raise ValueError(f"ProximalGradient needs a positive, finite step. Got {rate!r}.")
        x = np.array(start, dtype=float)
        if isinstance(self.penalty, ConvexSet):
            x = self.penalty.project(x)
        return ProximalState(x, x, 0.0, float(rate))

    def step(self, state: ProximalState) -> tuple[ProximalState, Info]:
        """Take one step.

        In the place of the gradient's norm the info has the way from where the step began, divided
        by the step size.
        """
        penalty = Zero() if self.penalty is None else self.penalty
        following = (1 + math.sqrt(1 + 4 * state.momentum**2)) / 2 if self.accelerated else 1.0
        push = (state.momentum - 1) / following
        y = state.x + push * (state.x - state.previous) if push else state.x
        value_y, gradient = self.function.value_and_gradient(y)
        rate = state.rate
        searching = self.rate is None and not 0 < self.function.smoothness < math.inf
        while True:
            x = penalty.prox(y - rate * gradient, rate)
            away = x - y
            value = self.function.value(x)
            square = float(np.sum(away**2))
            model = value_y + float(np.sum(gradient * away)) + square / (2 * rate)
            # Differences below the rounding of the value say nothing about the step.
            if not searching or value <= model + 1e-14 * abs(value_y) or rate < 1e-300:
                break
            rate *= _FACTOR
        if self.restart and float(np.sum(away * (x - state.x))) < 0:
            following = 1.0
        info = Info(
            value=value + penalty.value(x),
            step=float(np.linalg.norm(x - state.x)),
            gradient=math.sqrt(square) / rate,
        )
        return ProximalState(x, state.x, following, rate), info


def proximal_gradient(
    function: Smooth,
    start: Any,
    penalty: Penalty | None = None,
    *,
    accelerated: bool = True,
    tol: float = 1e-6,
    max_iter: int = 10000,
    state: Any = None,
) -> Solution:
    r"""Minimise :math:`f(x)+h(x)` until the minimum is proved to be near.

    Where nothing can be proved (:func:`certify_minimum`), the run stops at a small gradient step
    and says so.

    Parameters
    ----------
    function : Smooth
        The smooth part f.
    start : array-like
        First point.
    penalty : Penalty or None, default=None
        The other part h, a penalty or a convex set; None for none.
    accelerated : bool, default=True
        FISTA with restarts, or plain ISTA.
    tol : float, default=1e-6
        Proved gap to stop at, relative to the larger of 1 and the size of the value.
    max_iter : int, default=10000
        Largest number of steps.
    state : object, default=None
        ``solution.state`` of an earlier run to go on from, in place of ``start``.

    Examples
    --------
    >>> from corollary.optimize import L1, Quadratic, proximal_gradient
    >>> bowl = Quadratic([[2.0, 1.0], [1.0, 2.0]], [-3.0, 0.0])
    >>> solution = proximal_gradient(bowl, [0.0, 0.0], L1(1.0))
    >>> solution.status, solution.x.round(2)
    ('optimal', array([1., 0.]))
    """
    method = ProximalGradient(function, penalty, accelerated=accelerated)
    certify, stop = partial(certify_minimum, function, penalty=penalty), Stop(gradient=1e-3 * tol)
    return solve_by(method, start, certify, tol=tol, stop=stop, max_iter=max_iter, state=state)


def projected_gradient(
    function: Smooth, start: Any, within: ConvexSet, *, tol: float = 1e-6, max_iter: int = 10000
) -> Solution:
    r"""Minimise a smooth function over a convex set: :math:`x\leftarrow\Pi(x-\eta\nabla f(x))`.

    On a bounded set the gap :math:`\max_{z\in C}\nabla f(x)^\top(x-z)` proves how far a point is
    from the best one. :func:`proximal_gradient` does the same with momentum, and for penalties.

    See :class:`ProximalGradient` for the steps, and :func:`proximal_gradient` for the parameters;
    the set ``within`` takes the place of the penalty, and the start is projected onto it.

    Examples
    --------
    >>> from corollary.optimize import Ball, Quadratic, projected_gradient
    >>> bowl = Quadratic([[1.0, 0.0], [0.0, 1.0]], [-3.0, -4.0])
    >>> solution = projected_gradient(bowl, [0.0, 0.0], Ball())
    >>> solution.x.round(4), solution.status
    (array([0.6, 0.8]), 'optimal')
    """
    return proximal_gradient(function, start, within, accelerated=False, tol=tol, max_iter=max_iter)
