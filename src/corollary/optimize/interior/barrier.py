r"""The barrier method: centres for a falling weight of the logarithms of the slacks.

.. math:: x(\mu)=\arg\min_{Ax=b}\ f(x)-\mu\sum_{i=1}^m\log s_i(x),\qquad s_i(x)=-f_i(x)>0

The centres form a path to the solution. At each of them the multipliers :math:`\mu/s_i` are dual
feasible, with a gap of :math:`m\mu` exactly.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from corollary.core.estimator import Count, Positive, Probability, checked
from corollary.optimize.interior._parts import Parts
from corollary.optimize.iteration.driver import Iteration
from corollary.optimize.iteration.stopping import Info
from corollary.optimize.program.optimality_conditions import certify_program
from corollary.optimize.program.program import Program
from corollary.optimize.second_order._steps import is_sufficient
from corollary.optimize.second_order.chord import newton_step

# Squared Newton decrement below which a point counts as the centre; it is squared once more by
# the step that gives the multipliers.
_CENTRED = 1e-10
_SHORTEST = 1e-12
_MOST_STEPS = 200
# Points this far away, relative to where they began, have run away.
_FAR = 1e12


class BarrierState(NamedTuple):
    """The centre, the weight of the next stage, multipliers by name, and Newton steps so far."""

    x: np.ndarray
    weight: float
    dual: Mapping[str, np.ndarray]
    n_newton: int


class _Newton(NamedTuple):
    """A Newton step, its squared decrement, the multipliers after it, and the Jacobian before."""

    step: np.ndarray
    decrement: float
    multipliers: np.ndarray
    jacobian: np.ndarray


@dataclass(frozen=True, eq=False)
class Barrier(Iteration[BarrierState]):
    r"""Stages of the barrier method: each one goes to the centre for its weight.

    Newton's steps are damped, so that they stay inside, and taken along the solutions of the
    equations. With the last one, dx, the multipliers are
    :math:`\lambda_i=\frac\mu{s_i}\bigl(1+\frac{\nabla f_i^\top dx}{s_i}\bigr)`: those of the point
    that the quadratic model calls the centre. See :class:`Iteration`, and :func:`barrier` for the
    parameters.

    Examples
    --------
    >>> from corollary.optimize import Barrier, Program, iterate, linear_inequality
    >>> program = Program([1.0], [linear_inequality([-1.0], -1.0, name="floor")])  # x >= 1
    >>> run = iterate(Barrier(program, weight=1.0), [5.0], max_iter=3)
    >>> run.state.x.round(6), run.history.gap.round(6)  # the centre is 1 + weight
    (array([1.01]), array([1.  , 0.1 , 0.01]))
    """

    program: Program
    weight: float = 1.0
    factor: float = 0.1
    _found: dict[int, Parts] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        if not (0 < self.weight < math.inf and 0 < self.factor < 1):
            raise ValueError(
                "Barrier needs a positive weight and a factor in the range (0, 1). Got weight = "
                f"{self.weight!r} and factor = {self.factor!r}."
            )
        if self.program.convex is False:
            raise ValueError("Barrier needs a convex program. A function of this one is not.")

    def init(self, start: Any) -> BarrierState:
        """Return the first state, at a point on the equations and strictly inside the others."""
        x = np.array(start, dtype=float)
        parts = self._parts(len(x))
        least = float(parts.slope(x).slack.min(initial=math.inf))
        off = float(np.abs(parts.misses(x)).max(initial=0.0))
        if not (least > 0 and off == 0):
            raise ValueError(
                "Barrier needs a start inside: all inequalities hold strictly there, and the "
                f"equations hold. Got a least slack of {least:.3g} and equations that miss by "
                f"{off:.3g}. barrier looks for such a point itself."
            )
        return BarrierState(x, self.weight, {}, 0)

    def step(self, state: BarrierState) -> tuple[BarrierState, Info]:
        """Go to the centre for the weight of the state.

        The info has the gap that its multipliers prove; its value is NaN where there is no centre,
        because a function falls without limit.
        """
        following = self._centre(state)
        if np.abs(following.x).max() > _FAR * (1.0 + np.abs(state.x).max()):
            return following, Info(value=math.nan)
        certificate = certify_program(self.program, following.x, following.dual)
        step = float(np.linalg.norm(following.x - state.x))
        return following, Info(value=certificate.value, step=step, gap=certificate.gap)

    def _parts(self, n: int) -> Parts:
        """Return the constraints of the program, sorted, for points with n entries."""
        if n not in self._found:
            self._found[n] = Parts.of(self.program, n, "Barrier")
        return self._found[n]

    def _centre(
        self, state: BarrierState, until: Callable[[np.ndarray], bool] | None = None
    ) -> BarrierState:
        """Minimise the objective with the barrier by damped Newton steps, perhaps not fully."""
        x, mu, n_steps = state.x, state.weight, 0
        parts, far = self._parts(len(x)), _FAR * (1.0 + np.abs(x).max())
        while True:
            newton = self._newton(parts, x, mu)
            ended = n_steps == _MOST_STEPS or (until is not None and until(x))
            if ended or not newton.decrement > _CENTRED or not np.abs(x).max() <= far:
                break
            length = self._length(parts, x, mu, newton)
            if length < _SHORTEST:
                break
            x, n_steps = x + length * newton.step, n_steps + 1
        pull = self.program.objective.gradient(x) + newton.jacobian.T @ newton.multipliers
        dual = parts.named(newton.multipliers, parts.balance(pull))
        return BarrierState(x, self.factor * mu, dual, state.n_newton + n_steps)

    def _newton(self, parts: Parts, x: np.ndarray, mu: float) -> _Newton:
        """Return the Newton step of the objective over the weight, with the barrier."""
        objective, (slack, J) = self.program.objective, parts.slope(x)
        inverse = 1.0 / slack
        scaled = inverse[:, None] * J
        gradient = objective.gradient(x) / mu + J.T @ inverse
        hessian = objective.hessian(x) / mu + scaled.T @ scaled
        for function, weight in zip(parts.functions, inverse[len(parts.h) :]):
            hessian = hessian + weight * function.hessian(x)
        free = parts.free
        step = free @ newton_step(free.T @ hessian @ free, free.T @ gradient)
        multipliers = np.maximum(mu * inverse * (1.0 + scaled @ step), 0.0)
        return _Newton(step, -float(gradient @ step), multipliers, J)

    def _length(self, parts: Parts, x: np.ndarray, mu: float, newton: _Newton) -> float:
        """Return the share of a Newton step that stays inside and gains enough."""

        def merit(x: np.ndarray) -> float:
            slack = parts.slacks(x)
            if not slack.min(initial=math.inf) > 0:
                return math.inf
            return self.program.objective.value(x) / mu - float(np.log(slack).sum())

        value, length = merit(x), 1.0
        while length >= _SHORTEST:
            gain = value - merit(x + length * newton.step)
            if is_sufficient(gain, length * newton.decrement, value):
                break
            length /= 2
        return length


@checked
def barrier_stages(
    n_inequalities: Count, *, gap: Positive, weight: Positive = 1.0, factor: Probability = 0.1
) -> int:
    r"""Return how many stages follow the first one until :func:`barrier` reaches a gap.

    It is :math:`\lceil\log(m\mu_0/\varepsilon)/\log(1/\kappa)\rceil`, and 0 if the first stage is
    enough.

    At the centre for the weight :math:`\mu` the multipliers :math:`\mu/s_i` are dual feasible, and
    their gap is :math:`m\mu` exactly, whatever the program (Boyd and Vandenberghe 2004, section
    11.3). What the bound leaves open is the number of Newton steps in a stage.

    Guarantee: the gap after so many stages is at most the one that is wanted, checked by
    ``tests/optimize/test_barrier.py::test_as_many_stages_as_the_bound_says_reach_the_gap``.

    See :class:`Barrier`; m is ``n_inequalities``, :math:`\varepsilon` the ``gap`` that is wanted,
    :math:`\mu_0` the ``weight`` of the barrier in the first stage, and :math:`\kappa<1` the
    ``factor`` by which it shrinks from stage to stage.

    Examples
    --------
    >>> from corollary.optimize import barrier_stages
    >>> barrier_stages(100, gap=1e-6)  # from a gap of 100 to one of 1e-6, a digit in each stage
    8
    """
    stages = math.log(n_inequalities * weight / gap) / math.log(1 / factor)
    # Eight digits are eight stages, though their logarithm is rounded upwards.
    return max(0, math.ceil(stages - 1e-9))
