r"""Gradient descent, plain and accelerated, with rates that say in advance how long it takes."""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from corollary.optimize.iteration.certified import solve_by
from corollary.optimize.iteration.driver import Iteration
from corollary.optimize.iteration.stopping import Info, Stop
from corollary.optimize.optimality import Optimality
from corollary.optimize.problem.functions import Smooth
from corollary.optimize.problem.minimum import certify_minimum
from corollary.optimize.rates.plan import plan_steps
from corollary.optimize.rates.schedules import Schedule
from corollary.optimize.solution import Solution


class DescentState(NamedTuple):
    """Where gradient descent is: the point, with value and gradient there, and steps so far."""

    x: np.ndarray
    value: float
    gradient: np.ndarray
    n_steps: int = 0


class NesterovState(NamedTuple):
    """Where accelerated descent is: the point with its value, the one before, steps so far."""

    x: np.ndarray
    value: float
    previous: np.ndarray
    n_steps: int


@dataclass(frozen=True)
class GradientDescent(Iteration[DescentState]):
    r"""Steps :math:`x_{t+1}=x_t-\eta_t\nabla f(x_t)`.

    With :math:`\eta\le1/L` the value never rises, and falls by at least
    :math:`\tfrac\eta2\|\nabla f(x_t)\|^2` in a step. It ends at a stationary point, which is a
    minimum if the function is convex; :func:`first_order_bound` says how soon.

    The ``rate`` may also be a :class:`Schedule`. See :class:`Iteration`, and
    :func:`gradient_descent` for the parameters.

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
            rate = _step_size("GradientDescent", self.function, self.rate)
            object.__setattr__(self, "rate", rate)

    def init(self, start: Any) -> DescentState:
        """Return the first point with value and gradient there."""
        x = np.array(start, dtype=float)
        return DescentState(x, *self.function.value_and_gradient(x))

    def step(self, state: DescentState) -> tuple[DescentState, Info]:
        """Take one step; the info has the norm of the gradient where it began."""
        rate = self.rate(state.n_steps) if isinstance(self.rate, Schedule) else self.rate
        assert rate is not None
        x = state.x - rate * state.gradient
        following = DescentState(x, *self.function.value_and_gradient(x), state.n_steps + 1)
        norm = float(np.linalg.norm(state.gradient))
        return following, Info(value=following.value, step=float(rate * norm), gradient=norm)


@dataclass(frozen=True)
class Nesterov(Iteration[NesterovState]):
    r"""Accelerated gradient steps of one length (Nesterov 2018, Lectures, section 2.2).

    For steps of at most 1/L and R the distance of the start from a minimiser, the value is within
    :math:`\tfrac{2R^2}{\eta(k+1)^2}` of the least one after k steps; under strong convexity within
    :math:`(1-\sqrt{\eta m})^k(\Delta+\tfrac m2R^2)`. It may rise in between.
    :class:`ProximalGradient` takes a penalty or a set, and restarts.

    Guarantee: no iterate lies above its bound, checked by
    ``tests/optimize/test_smooth_methods.py::test_no_iterate_lies_above_its_bound``.

    See :class:`Iteration`, and :func:`gradient_descent` for the parameters.

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
        object.__setattr__(self, "rate", _step_size("Nesterov", self.function, self.rate))

    def init(self, start: Any) -> NesterovState:
        """Return the first state, at rest at a point."""
        x = np.array(start, dtype=float)
        return NesterovState(x, self.function.value(x), x, 0)

    def step(self, state: NesterovState) -> tuple[NesterovState, Info]:
        """Take one step; the info has the norm of the gradient where it began."""
        assert self.rate is not None
        m, k = self.function.strong_convexity, state.n_steps
        root = math.sqrt(min(m * self.rate, 1.0))
        push = (1 - root) / (1 + root) if m > 0 else (k - 1) / (k + 2)
        y = state.x + push * (state.x - state.previous)
        gradient = self.function.gradient(y)
        x = y - self.rate * gradient
        value, away = self.function.value(x), float(np.linalg.norm(x - state.x))
        info = Info(value=value, step=away, gradient=float(np.linalg.norm(gradient)))
        return NesterovState(x, value, state.x, k + 1), info


def gradient_descent(
    function: Smooth,
    start: Any,
    *,
    rate: float | None = None,
    radius: float = math.inf,
    tol: float = 1e-6,
    max_iter: int = 10000,
) -> Solution:
    r"""Minimise a smooth function by gradient descent; :func:`nesterov` needs fewer steps.

    Its ``planned`` steps are enough. Without convexity it stops at a small gradient, and nothing is
    proved.

    See :class:`GradientDescent` for the steps, of size 1/L unless a ``rate`` is given, and
    :func:`proximal_gradient` for the other parameters. The ``radius`` bounds the distance of the
    first point from a minimiser, if one is known.

    Examples
    --------
    >>> from corollary.optimize import Quadratic, gradient_descent
    >>> print(gradient_descent(Quadratic([[1.0, 0.0], [0.0, 4.0]]), [1.0, 1.0]))
    Solved in 28 steps (28 are enough by the rate). The value 5.03965e-08 is at most 5.04e-08 above
    the least one: the gradient there and strong convexity prove it.
    """
    return _as_planned(GradientDescent(function, rate), start, radius, tol, max_iter)


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

    See :class:`Nesterov` for the steps, and :func:`gradient_descent` for the parameters and for
    what is returned, which are the same.

    Examples
    --------
    >>> from corollary.optimize import Quadratic, nesterov
    >>> print(nesterov(Quadratic([[1.0, 0.0], [0.0, 100.0]]), [1.0, 1.0], tol=1e-3))
    Solved in 50 steps (153 are enough by the rate). The value 0.000478105 is at most 0.0004782
    above the least one: the gradient there and strong convexity prove it.
    """
    return _as_planned(Nesterov(function, rate), start, radius, tol, max_iter)


def _as_planned(
    method: GradientDescent | Nesterov, start: Any, radius: float, tol: float, max_iter: int
) -> Solution:
    """Run a method until a certificate or its rate proves its point optimal."""
    function, first = method.function, np.asarray(start, dtype=float)

    def certify(x: np.ndarray) -> Optimality:
        # Where a minimiser is near the first point, it is not much farther from this one.
        near = radius + float(np.linalg.norm(x - first)) if math.isfinite(radius) else radius
        return certify_minimum(function, x, radius=near)

    name = "nesterov" if isinstance(method, Nesterov) else "gradient descent"
    plan = plan_steps(name, function, start, radius=radius, rate=method.rate)  # type: ignore[arg-type]
    enough = plan.steps(tol)
    most = max_iter if enough is None else min(max_iter, enough)
    stop = Stop(gradient=1e-3 * tol)
    solution = solve_by(method, start, certify, tol=tol, stop=stop, max_iter=most)
    certificate = plan.improve(solution.certificate, solution.n_iter)
    status = "optimal" if certificate.is_optimal(tol) else solution.status
    return replace(solution, certificate=certificate, status=status, planned=enough)


def _step_size(name: str, function: Smooth, rate: float | None) -> float:
    """Return a step size, 1/L by default, or refuse it."""
    size = rate
    if size is None:
        size = 1 / function.smoothness if function.smoothness > 0 else math.inf
    if not 0 < size < math.inf:
        raise ValueError(
            f"{name} needs a positive, finite step. Pass 'rate', or a function whose smoothness is "
            f"known and positive. Got {rate!r} and smoothness {function.smoothness!r}."
        )
    return float(size)
