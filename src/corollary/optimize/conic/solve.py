"""Linear, quadratic, second-order cone and semidefinite programs."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from corollary.core.estimator import Count, Positive, checked
from corollary.optimize.conic._form import is_proved, require_conic
from corollary.optimize.conic.no_solution import (
    Infeasible,
    Unbounded,
    prove_infeasible,
    prove_unbounded,
)
from corollary.optimize.problem.functions import Quadratic
from corollary.optimize.program._cones import Origin, Orthant, SecondOrder, Semidefinite
from corollary.optimize.program.optimality_conditions import certify_program, repair_dual
from corollary.optimize.program.program import Program
from corollary.optimize.solution import Solution, Status

_THREADS = 1


class Answer(NamedTuple):
    """What Clarabel says: a point or a direction, multipliers or a ray, and how it ended."""

    x: np.ndarray
    dual: dict[str, np.ndarray]
    ending: str
    n_iter: int


@checked
def solve(program: Program, *, tol: Positive = 1e-6, max_iter: Count = 200) -> Solution:
    r"""Solve a linear, quadratic, second-order cone or semidefinite program.

    Parameters
    ----------
    program : Program
        Convex, with a linear or quadratic objective and constraints that are linear in cones.
    tol : float, default=1e-6
        Proved gap and violation up to which a point counts as optimal, relative to the larger of 1
        and the size of the value.
    max_iter : int, default=200
        Largest number of steps.

    Returns
    -------
    solution : Solution
        The point and the multipliers of the constraints by their names. The certificate is
        computed again from the program: an :class:`Optimality`, or where there is no solution an
        :class:`Infeasible` or :class:`Unbounded` proof. Without a proof the status is "failed".

    Raises
    ------
    ValueError
        If the program is not convex, or not of this form.

    See Also
    --------
    primal_dual : Faster for dense quadratic programs.
    sensitivities : What the multipliers say.

    Notes
    -----
    The steps are those of Clarabel, an interior point method on the homogeneous embedding
    (Goulart and Chen 2024). Its own statements are not used: multipliers are moved to dual
    feasibility, and gap and residuals are evaluated at what is returned.

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
    require_conic(program, "solve")
    answer = _clarabel(program, tol, max_iter)
    certificate = certify_program(program, answer.x, answer.dual)
    if is_proved(certificate, tol):
        return _solution(program, answer, certificate, "optimal")
    proof = _prove_none(program, answer, tol, max_iter)
    if isinstance(proof, Infeasible):
        return _solution(program, answer, proof, "infeasible")
    if isinstance(proof, Unbounded):
        return _solution(program, answer, proof, "unbounded")
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


def _solution(program: Program, answer: Answer, certificate: Any, status: Status) -> Solution:
    """Gather what is returned; there is no point where there is no solution."""
    exists = status not in ("infeasible", "unbounded")
    return Solution(
        x=answer.x if exists else np.full(len(answer.x), np.nan),
        value=certificate.value if exists else np.inf if status == "infeasible" else -np.inf,
        certificate=certificate,
        status=status,
        n_iter=answer.n_iter,
        reason="" if status == "optimal" else f"Clarabel ended with {answer.ending}",
        dual=repair_dual(program, answer.dual) if exists else {},
    )
