"""Linear, quadratic, second-order cone and semidefinite programs, and points strictly inside."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from corollary.core.estimator import Count, Positive, checked
from corollary.optimize.conic.no_solution import (
    Infeasible,
    Unbounded,
    _without_solution,
    prove_infeasible,
    prove_unbounded,
)
from corollary.optimize.optimality import Optimality
from corollary.optimize.problem.functions import Quadratic
from corollary.optimize.program._cones import Origin, Orthant, SecondOrder, Semidefinite
from corollary.optimize.program.constraints import Constraint, LinearConstraint, linear_inequality
from corollary.optimize.program.optimality_conditions import certify_program, repair_dual
from corollary.optimize.program.program import Program
from corollary.optimize.solution import Solution, Status

_THREADS = 1
#: More room than this is not looked for.
_ROOM = 1.0


class Answer(NamedTuple):
    """What Clarabel says: a point or a direction, multipliers or a ray, and how it ended."""

    x: np.ndarray
    dual: dict[str, np.ndarray]
    ending: str
    n_iter: int


class SlaterPoint(NamedTuple):
    """A point, and the least room to an inequality there."""

    x: np.ndarray
    margin: float


@checked
def solve(program: Program, *, tol: Positive = 1e-6, max_iter: Count = 200) -> Solution:
    """Solve a linear, quadratic, second-order cone or semidefinite program.

    The steps are those of Clarabel, an interior point method on the homogeneous embedding (Goulart
    and Chen 2024). Its own statements are not used: multipliers are moved to dual feasibility, and
    gap and residuals are evaluated at what is returned. :func:`primal_dual` is faster for dense
    quadratic programs, and :func:`sensitivities` says what multipliers mean. The solution has the
    multipliers by the names of the constraints, and an :class:`Optimality` or, where there is no
    solution, an :class:`Infeasible` or :class:`Unbounded` proof; without a proof the status is
    "failed".

    See :class:`Program`: convex, with a linear or quadratic objective and constraints that are
    linear in cones; others raise a ValueError. A point counts as optimal up to a proved gap and
    violation of ``tol``, relative to the larger of 1 and the size of the value, after at most
    ``max_iter`` steps.

    Examples
    --------
    >>> from corollary.optimize import Program, linear_equality, linear_inequality, solve
    >>> program = Program(
    ...     [1.0, 2.0, 4.0],
    ...     [linear_equality([1.0, 1.0, 1.0], 1.0, name="budget"),
    ...      linear_inequality([1.0, 0.0, 0.0], 0.25, name="cap"),
    ...      linear_inequality([[-1, 0, 0], [0, -1, 0], [0, 0, -1]], [0, 0, 0], name="sign")],
    ... )
    >>> solution = solve(program)
    >>> solution.status, abs(solution.x.round(6)), round(solution.value, 6)
    ('optimal', array([0.25, 0.75, 0.  ]), 1.75)
    >>> round(float(solution.dual["cap"][0]), 6)  # one more unit of the cap would save 1
    1.0
    """
    program._require_conic("solve")
    answer = _clarabel(program, tol, max_iter)
    certificate = certify_program(program, answer.x, answer.dual)
    if certificate.is_optimal(tol):
        return _solution(program, answer, certificate, "optimal")
    proof = _prove_none(program, answer, tol, max_iter)
    if proof is not None:
        return _without_solution(proof, len(answer.x), answer.n_iter, _ended(answer))
    status: Status = "out of steps" if answer.n_iter >= max_iter else "failed"
    return _solution(program, answer, certificate, status)


def _clarabel(program: Program, tol: float, max_iter: int) -> Answer:
    """Run Clarabel, with tolerances below ours because its numbers are not proofs."""
    import clarabel

    objective, (G, h, parts) = program.objective, program.stacked
    assert isinstance(objective, Quadratic)
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_iter, settings.max_threads = False, int(max_iter), _THREADS
    # Its presolve drops rows with large right-hand sides, whose multipliers we want.
    settings.presolve_enable = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = min(1e-8, tol / 10)
    cones = [_translated(constraint.cone) for constraint in program.constraints]
    P = sparse.csc_matrix(np.triu(objective.P))
    solver = clarabel.DefaultSolver(P, objective.q, sparse.csc_matrix(G), h, cones, settings)
    result = solver.solve()
    z = np.array(result.z)
    dual = program.unpack([z[part] for part in parts]) if np.isfinite(z).all() else {}
    return Answer(np.array(result.x), dual, str(result.status), int(result.iterations))


def _translated(cone: Orthant) -> Any:
    """Return a cone as Clarabel knows it."""
    import clarabel

    if isinstance(cone, Origin):
        return clarabel.ZeroConeT(cone.size)
    if isinstance(cone, SecondOrder):
        return clarabel.SecondOrderConeT(cone.size)
    if isinstance(cone, Semidefinite):
        return clarabel.PSDTriangleConeT(cone.order)
    return clarabel.NonnegativeConeT(cone.size)


def _prove_none(
    program: Program, answer: Answer, tol: float, max_iter: int
) -> Infeasible | Unbounded | None:
    """Try to prove that there is no solution, from the ray or direction of an answer."""
    infeasible = prove_infeasible(program, answer.dual)
    if infeasible is not None or not np.isfinite(answer.x).all():
        return infeasible
    direction = prove_unbounded(program, answer.x, answer.x)
    if direction is None and not answer.ending.endswith("DualInfeasible"):
        return None
    feasibility = Program(np.zeros(len(answer.x)), program.constraints)
    point = _clarabel(feasibility, tol, max_iter)
    infeasible = prove_infeasible(program, point.dual)
    return infeasible or prove_unbounded(program, point.x, answer.x)


def _ended(answer: Answer) -> str:
    return f"Clarabel ended with {answer.ending}"


def _solution(
    program: Program, answer: Answer, certificate: Optimality, status: Status
) -> Solution:
    """Gather what is returned."""
    return Solution(
        x=answer.x,
        value=certificate.value,
        certificate=certificate,
        status=status,
        n_iter=answer.n_iter,
        reason="" if status == "optimal" else _ended(answer),
        dual=repair_dual(program, answer.dual),
    )


def slater_point(program: Program, tol: float = 1e-7) -> SlaterPoint | None:
    r"""Look for a point that satisfies the equations, and all inequalities with room (Slater).

    For a convex program with such a point strong duality holds: the best lower bound equals the
    least value, :math:`\max_{z\in K^*}g(z)=\min\{f(x):x\text{ feasible}\}`, and multipliers attain
    it if it is finite. Without convexity it fails: :math:`-x^2` on :math:`[-1,1]` has such points
    and the dual value :math:`-\infty`. For linear constraints feasibility is enough.

    Guarantee: the gap closes on random programs with such a point, checked by
    ``tests/optimize/test_solve.py::test_strong_duality_under_slater``.

    See :class:`Program`, with linear constraints in cones; the objective does not matter. Room
    above ``tol`` counts. Of the points, the one with the largest ``margin`` is returned, the least
    slack of an inequality, room of a norm or eigenvalue of a matrix, or one with a margin of at
    least 1; None if there is none.

    Examples
    --------
    >>> from corollary.optimize import Program, linear_inequality, slater_point
    >>> interval = linear_inequality([[1.0], [-1.0]], [1.0, -0.5], name="interval")
    >>> round(slater_point(Program([1.0], [interval])).margin, 6)  # at 0.75
    0.25
    >>> point = linear_inequality([[1.0], [-1.0]], [1.0, -1.0], name="point")
    >>> slater_point(Program([1.0], [point])) is None
    True
    """
    n = program.n_variables
    Program(np.zeros(n), program.constraints)._require_conic("slater_point")
    last = np.append(np.zeros(n), _ROOM)
    constraints: list[Constraint] = [linear_inequality(last, _ROOM, name="")]
    for c in program.constraints:
        assert isinstance(c, LinearConstraint)
        # The new variable is the margin: the slack less its multiple of the centre is in the cone.
        G = np.hstack([c.G, c.cone.centre()[:, None]])
        constraints.append(LinearConstraint(G, c.h, c.cone, f"{c.name} "))
    solution = solve(Program(-last, constraints))
    if solution.status != "optimal":
        return None
    x = solution.x[:n]
    inequalities = [c for c in program.constraints if not isinstance(c.cone, Origin)]
    margin = min((c.cone.margin(c.slack(x)) for c in inequalities), default=_ROOM)
    feasible = program.is_feasible(x, tol)
    return SlaterPoint(x, margin) if margin > tol and feasible else None
