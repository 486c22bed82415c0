r"""The subgradient method, for convex functions with kinks.

A step is :math:`x_{t+1}=\Pi(x_t-\eta_tg_t)` with any subgradient :math:`g_t`. Values may rise, so
that the best point or the average counts. Each step leaves an inequality
:math:`f(z)\ge f(x_t)+g_t^\top(z-x_t)`; their mean with weights :math:`\eta_t` bounds f from below,
and where a minimiser lies in a known ball or set this proves a gap, which is never above the bound
:math:`(R^2+\sum\eta_t^2\|g_t\|^2)/(2\sum\eta_t)` of the theory.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from corollary.core.certificate import Assumption
from corollary.optimize.iteration.certified import _concluded
from corollary.optimize.iteration.driver import Iteration, iterate
from corollary.optimize.iteration.stopping import Info, Stop
from corollary.optimize.optimality import Optimality
from corollary.optimize.problem.functions import Smooth
from corollary.optimize.problem.sets import ConvexSet
from corollary.optimize.rates.first_order import first_order_steps
from corollary.optimize.rates.schedules import ConstantRate, PowerRate, Schedule, as_schedule
from corollary.optimize.solution import Solution


class SubgradientState(NamedTuple):
    """Where the method is, its best point, and the means that make its average and its bound."""

    point: np.ndarray
    x: np.ndarray
    value: float
    average: np.ndarray
    slope: np.ndarray
    level: float
    total: float
    n_steps: int


@dataclass(frozen=True)
class Subgradient(Iteration[SubgradientState]):
    r"""Subgradient steps; the best point so far is reported.

    Guarantee: the best point and the average lie above the least value by at most the gap, and that
    by at most :func:`subgradient_bound`; checked by
    ``tests/optimize/test_smooth_methods.py::test_subgradient_gaps_hold_and_never_exceed_the_bound``.

    A minimiser lies within the ``radius`` of a ``centre``, where these are known. One size as
    ``rate`` leaves a neighbourhood of :math:`G^2\eta/2`. See :class:`Iteration`, and
    :func:`subgradient_method` for the other parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import Function, Subgradient, iterate
    >>> f = Function(lambda x: abs(x[0]), np.sign, convex=True)
    >>> iterate(Subgradient(f, 0.75), [1.0], max_iter=4).state.x  # 1, 0.25, -0.5, 0.25
    array([0.25])
    """

    function: Smooth
    rate: float | Schedule
    within: ConvexSet | None = None
    centre: Any = None
    radius: float = math.inf

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", as_schedule(self.rate))

    def init(self, start: Any) -> SubgradientState:
        """Return the first state, at a point that is projected onto the set."""
        x = np.array(start, dtype=float)
        x = x if self.within is None else self.within.project(x)
        zero = np.zeros_like(x)
        return SubgradientState(x, x, self.function.value(x), zero, zero, 0.0, 0.0, 0)

    def step(self, state: SubgradientState) -> tuple[SubgradientState, Info]:
        """Take one step.

        Best point and means are those of the points where steps began; the info has the best value,
        the norm of the subgradient, and the gap where one is known.
        """
        assert isinstance(self.rate, Schedule)
        rate = float(self.rate(state.n_steps))
        value, slope = self.function.value_and_gradient(state.point)
        point = state.point - rate * slope
        point = point if self.within is None else self.within.project(point)
        total = state.total + rate
        share = rate / total
        better = value < state.value
        following = SubgradientState(
            point=point,
            x=state.point if better else state.x,
            value=min(value, state.value),
            average=state.average + share * (state.point - state.average),
            slope=state.slope + share * (slope - state.slope),
            level=state.level + share * (value - float(slope @ state.point) - state.level),
            total=total,
            n_steps=state.n_steps + 1,
        )
        gap = following.value - self.lower_bound(following)
        info = Info(
            value=value if math.isnan(value) else following.value,
            step=float(np.linalg.norm(point - state.point)),
            gradient=float(np.linalg.norm(slope)),
            gap=gap if math.isfinite(gap) else None,
        )
        return following, info

    def lower_bound(self, state: SubgradientState) -> float:
        """Return the least value of the tangents' mean in ball or set. See :class:`Subgradient`."""
        if not self.function.convex or not state.n_steps:
            return -math.inf
        bound = -math.inf
        if self.within is not None:
            bound = state.level - self.within.conjugate(-state.slope)
        if math.isfinite(self.radius) and self.centre is not None:
            middle = float(state.slope @ np.asarray(self.centre, dtype=float))
            near = state.level + middle - self.radius * float(np.linalg.norm(state.slope))
            bound = max(bound, near)
        return bound


def subgradient_method(
    function: Smooth,
    start: Any,
    within: ConvexSet | None = None,
    *,
    rate: float | Schedule | None = None,
    radius: float = math.inf,
    lipschitz: float = math.inf,
    tol: float = 1e-3,
    max_iter: int = 10000,
) -> Solution:
    r"""Minimise a convex function by subgradient steps.

    The better one of the best point and the average is returned. A gap is proved if the function is
    convex and a radius or a bounded set is known.

    See :class:`Subgradient` for the steps of a convex function whose ``gradient`` is a subgradient,
    projected onto the set ``within``; ``radius`` bounds the distance R of the first point from a
    minimiser, and ``lipschitz`` the lengths G of subgradients, if they are known. The ``rate`` is a
    number or a :class:`Schedule`; None stands for :math:`R/(G\sqrt k)` with k the number of steps
    that are enough, or the largest allowed one if they are too many or not known. Where R or G is
    not known, 1 or the first subgradient's length takes its place and steps fall like
    :math:`1/\sqrt{t+1}`. The other parameters are those of :func:`proximal_gradient`.

    Examples
    --------
    >>> from corollary.optimize import EmpiricalRisk, subgradient_method
    >>> hinge = EmpiricalRisk([[1.0, 0.0], [0.0, 2.0], [-1.0, 0.0]], [1, 1, -1], "hinge")
    >>> print(subgradient_method(hinge, [0.0, 0.0], radius=2.0, lipschitz=4 / 3, tol=0.1))
    Solved in 179 steps (712 are enough by the rate). The value 0 is at most 0.09992 above the least
    one: the gradient there and the size of the set prove it. Assumed: A minimiser lies within 2 of
    the first point.
    """
    enough = math.inf
    if math.isfinite(radius) and math.isfinite(lipschitz):
        enough = first_order_steps("subgradient", tol, radius=radius, lipschitz=lipschitz)
    first = np.array(start, dtype=float)
    if rate is None and math.isfinite(radius) and math.isfinite(lipschitz):
        rate = ConstantRate(radius / (lipschitz * math.sqrt(max(1, min(enough, max_iter)))))
    elif rate is None:
        length = lipschitz
        if math.isinf(length):
            length = float(np.linalg.norm(function.gradient(first))) or 1.0
        rate = PowerRate((radius if math.isfinite(radius) else 1.0) / length)
    method = Subgradient(function, rate, within, first, radius)
    run = iterate(method, start, stop=Stop(gap=tol), max_iter=max_iter, description="minimising")
    state = run.state
    x, value = state.x, state.value
    if state.n_steps and function.value(state.average) < value:
        x, value = state.average, function.value(state.average)
    planned = int(enough) if function.convex and math.isfinite(enough) else None
    return _concluded(run, _certify(method, state, value), tol, x=x, planned=planned)


def _certify(method: Subgradient, state: SubgradientState, value: float) -> Optimality:
    """Say what the tangents prove about a value."""
    bound = method.lower_bound(state)
    if not math.isfinite(bound):
        return Optimality(value=value)
    assumptions = method.function.assumptions
    if math.isfinite(method.radius):
        near = f"A minimiser lies within {method.radius:g} of the first point."
        assumptions += (Assumption(near, "model"),)
    return Optimality(value=value, lower_bound=bound, proof="bounded set", assumptions=assumptions)
