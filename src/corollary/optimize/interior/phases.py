"""The barrier method from any start: a phase that looks for the inside, and one that optimises."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from corollary.core.estimator import Count, Positive, checked
from corollary.core.parallel import one_blas_thread
from corollary.optimize.conic.no_solution import (
    _without_solution,
    prove_infeasible,
    prove_unbounded,
)
from corollary.optimize.interior._parts import Parts
from corollary.optimize.interior.barrier import Barrier, barrier_stages
from corollary.optimize.iteration.certified import _concluded
from corollary.optimize.iteration.driver import iterate
from corollary.optimize.iteration.stopping import Stop
from corollary.optimize.optimality import Optimality
from corollary.optimize.problem.functions import Quadratic, Smooth
from corollary.optimize.program._cones import Origin
from corollary.optimize.program.constraints import (
    Constraint,
    FunctionConstraint,
    LinearConstraint,
    linear_inequality,
)
from corollary.optimize.program.optimality_conditions import certify_program, repair_dual
from corollary.optimize.program.program import Program
from corollary.optimize.solution import Solution

# More room than this is not looked for.
_ROOM = 1.0
# At an approximate centre the gap exceeds that of the centre by much less than this.
_SHARE = 0.99


class Inside(NamedTuple):
    """A point inside, or the multipliers of the first phase where it ended without one."""

    x: np.ndarray | None
    dual: Mapping[str, np.ndarray]


class _Raised(Smooth):
    """The function f(x) - t of a point (x, t)."""

    def __init__(self, function: Smooth) -> None:
        self.function, self.convex = function, function.convex
        self.assumptions = function.assumptions

    def _value(self, x: np.ndarray) -> float:
        return self.function.value(x[:-1]) - float(x[-1])

    def _gradient(self, x: np.ndarray) -> np.ndarray:
        return np.append(self.function.gradient(x[:-1]), -1.0)

    def _hessian(self, x: np.ndarray) -> np.ndarray:
        return np.pad(self.function.hessian(x[:-1]), (0, 1))


def _raised(constraint: Constraint) -> Constraint:
    """Return a constraint of (x, t) that t > 0 makes easier to satisfy."""
    if isinstance(constraint, FunctionConstraint):
        return FunctionConstraint(_Raised(constraint.function), constraint.name)
    assert isinstance(constraint, LinearConstraint)
    G = np.hstack([constraint.G, -constraint.cone.centre()[:, None]])
    return LinearConstraint(G, constraint.h, constraint.cone, constraint.name)


def _look_inside(program: Program, start: np.ndarray, parts: Parts, tol: float) -> Inside:
    """Minimise the largest excess t of an inequality until a point has none."""
    x = parts.onto_equations(start)
    misses = parts.misses(x)
    if misses.any():  # of the nearest point: they are orthogonal to what equations can reach
        return Inside(None, parts.named(np.zeros(parts.n_inequalities), misses))
    worst = -float(parts.slacks(x).min(initial=math.inf))
    if worst < 0:
        return Inside(x, {})
    last = np.append(np.zeros(len(x)), 1.0)
    floor = linear_inequality(-last, _ROOM, name="")
    raised = Program(last, [floor, *(_raised(c) for c in program.constraints)])
    method = Barrier(raised, weight=max(1.0, worst))
    state = method.init(np.append(x, worst + 1.0))
    dual: dict[str, np.ndarray] = {}

    def is_inside(x: np.ndarray) -> bool:
        return bool(parts.slacks(x[:-1]).min() > 0)

    while state.weight * (parts.n_inequalities + 1) > _SHARE * tol:
        state = method._centre(state, until=is_inside)
        if is_inside(state.x):
            return Inside(state.x[:-1], {})
        dual = {name: z for name, z in state.dual.items() if name}
        if certify_program(raised, state.x, state.dual).lower_bound > 0:
            break
    return Inside(None, dual)


@checked
@one_blas_thread()  # factors of a few hundred rows: threads would wait for each other
def barrier(
    program: Program,
    start: Any = None,
    *,
    weight: Positive = 1.0,
    factor: Positive = 0.1,
    tol: Positive = 1e-6,
    max_iter: Count = 100,
) -> Solution:
    r"""Solve a convex program by the barrier method (Boyd and Vandenberghe 2004, chapter 11).

    A start that is not inside is first moved onto the equations; then the largest excess of an
    inequality is minimised by the same method until it is negative. If its least value is proved
    to be positive, the multipliers prove that there is no feasible point. Where it is 0, no point
    satisfies all inequalities strictly, there is no central path, and the status is "failed".
    :func:`primal_dual` is faster for linear and quadratic programs, :func:`solve` takes norms and
    matrices, and programs without a point inside.

    See :class:`Barrier` for the steps, and :func:`barrier_stages` for ``weight`` and ``factor``.
    The ``program`` is convex, with equations, linear inequalities and smooth functions as
    constraints, all with Hessians; others raise a ValueError. The ``start``, inside or not, is
    zeros by default, ``tol`` is that of :func:`solve`, and ``max_iter`` the largest number of
    stages. ``planned`` is the number of stages that :func:`barrier_stages` says, and the first,
    where all functions are quadratic or linear, so that the gap at a centre is computed exactly.

    Examples
    --------
    >>> from corollary.optimize import Program, barrier, linear_equality, linear_inequality
    >>> program = Program(
    ...     [1.0, 2.0],
    ...     [linear_equality([1.0, 1.0], 1.0, name="budget"),
    ...      linear_inequality([1.0, 0.0], 0.25, name="cap")],
    ... )
    >>> solution = barrier(program)
    >>> solution.x.round(4), solution.n_iter, solution.planned
    (array([0.25, 0.75]), 7, 8)
    """
    method = Barrier(program, weight, factor)
    x = _start(program, start)
    parts = method._parts(len(x))
    m = parts.n_inequalities
    enough = 1 + (barrier_stages(m, gap=_SHARE * tol, weight=weight, factor=factor) if m else 0)
    inside = _look_inside(program, x, parts, tol)
    if inside.x is None:
        return _without_inside(program, x, inside.dual)
    downhill = _flat_descent(program, parts)
    proof = None if downhill is None else prove_unbounded(program, inside.x, downhill)
    if proof is not None:
        return _without_solution(proof, len(x), 0)
    # Where the gap is not proved by then, smaller weights prove no more.
    most = min(max_iter, enough + 1)
    run = iterate(method, inside.x, stop=Stop(gap=tol), max_iter=most, description="centring")
    if run.status == "diverged" and program.is_conic:
        proof = prove_unbounded(program, inside.x, run.state.x - inside.x)
        if proof is not None:
            return _without_solution(proof, len(x), run.n_iter)
    certificate = certify_program(program, run.state.x, run.state.dual)
    exact = all(isinstance(f, Quadratic) for f in (program.objective, *parts.functions))
    if run.status == "out of steps" and run.n_iter > enough:
        run = run._replace(status="stopped")
    return _concluded(
        run,
        certificate,
        tol,
        reason=run.criterion or "the weight is as small as a proof would need",
        dual=repair_dual(program, run.state.dual),
        planned=enough if exact else None,
    )


def _start(program: Program, start: Any) -> np.ndarray:
    """Return the start as a vector; zeros where none is told."""
    if start is None and not program.n_variables:
        raise ValueError(
            "barrier needs a start for this program: nothing in it says how many variables it has."
        )
    x = np.zeros(program.n_variables) if start is None else program._point(start)
    if not np.isfinite(x).all():
        raise ValueError("barrier needs a start of finite numbers. It holds NaN or infinity.")
    return x


def _flat_descent(program: Program, parts: Parts) -> np.ndarray | None:
    """Return a direction along which the objective falls and that no inequality sees, if any."""
    objective = program.objective
    if not isinstance(objective, Quadratic) or parts.functions:
        return None
    unseen = parts.free @ linalg.null_space(np.vstack([objective.P, parts.G]) @ parts.free)
    slope = unseen.T @ objective.q
    fall = np.linalg.norm(slope) > 1e-9 * np.linalg.norm(objective.q)
    return -unseen @ slope if fall else None


def _without_inside(program: Program, x: np.ndarray, dual: Mapping[str, Any]) -> Solution:
    """Return what is known where no point is inside."""
    linear = all(isinstance(c, LinearConstraint) for c in program.constraints)
    proof = prove_infeasible(program, dual) if linear else None
    if proof is not None:
        return _without_solution(proof, len(x), 0)
    equations = any(isinstance(c.cone, Origin) for c in program.constraints)
    also = " and the equations" if equations else ""
    return Solution(
        x=x,
        value=program.value(x),
        certificate=Optimality(
            value=program.value(x), violation=max(program.violations(x).values())
        ),
        status="failed",
        n_iter=0,
        reason=f"no point was found that satisfies all inequalities strictly{also}",
    )
