"""Smooth functions under constraints by SciPy's sequential quadratic programs, checked again."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from corollary.optimize.conic.no_solution import Infeasible, prove_infeasible
from corollary.optimize.general._claims import doubt
from corollary.optimize.general._problem import Problem
from corollary.optimize.optimality import Optimality, Proof
from corollary.optimize.problem.minimum import certify_minimum
from corollary.optimize.program._cones import Origin, SecondOrder, Semidefinite
from corollary.optimize.program.constraints import Constraint, FunctionConstraint, linear_inequality
from corollary.optimize.program.duality import lagrangian
from corollary.optimize.program.optimality_conditions import (
    certify_program,
    kkt_multipliers,
    kkt_residuals,
)
from corollary.optimize.program.program import Program
from corollary.optimize.solution import Solution, Status

#: Distance of the points whose tangents are tried for a contradiction.
_NEAR = 1e-5


def sequential_quadratic(
    problem: Problem,
    *,
    tol: float,
    max_iter: int,
    callback: Callable[[np.ndarray], Any] | None = None,
) -> Solution:
    """Run SciPy's SLSQP; point, multipliers and status are then judged from the problem alone."""
    from scipy.optimize import minimize

    program = problem.program()
    cones = (SecondOrder, Semidefinite)
    if any(isinstance(c.cone, cones) for c in problem.constraints):
        raise ValueError(
            "minimize takes norms and matrices as constraints only with a convex quadratic "
            "objective. Write a norm as a function_inequality of its square."
        )
    constraints = [_scipy_form(c) for c in problem.constraints]
    with np.errstate(all="ignore"):  # what is not finite is told by the status
        result = minimize(
            problem.function.value_and_gradient,
            problem.start,
            jac=True,
            method="SLSQP",
            bounds=None if problem.box is None else list(zip(problem.box.low, problem.box.high)),
            constraints=constraints,
            callback=callback,
            options={"ftol": min(1e-10, 1e-4 * tol), "maxiter": max_iter},
        )
        dual = kkt_multipliers(program, result.x)
        certificate = _certify(problem, program, result.x, dual)
    solution = Solution(
        x=result.x,
        value=problem.function.value(result.x),
        certificate=certificate,
        status="failed",
        n_iter=int(result.nit),
        reason=str(result.message),
        dual=dual,
    )
    ending: Status = "out of steps" if result.nit >= max_iter else "failed"
    return _judged(problem, program, solution, tol, "stopped" if result.status == 99 else ending)


def _scipy_form(c: Constraint) -> dict[str, Any]:
    """Return a constraint as SciPy writes it."""
    kind = "eq" if isinstance(c.cone, Origin) else "ineq"
    return {"type": kind, "fun": c.slack, "jac": lambda x: -c.jacobian(x)}


def _relaxed(c: Constraint) -> dict[str, Any]:
    """Return a constraint that may be violated by the last variable, if it is an inequality."""
    share = 0.0 if isinstance(c.cone, Origin) else 1.0
    return {
        "type": "ineq" if share else "eq",
        "fun": lambda xt: c.slack(xt[:-1]) + share * xt[-1],
        "jac": lambda xt: np.hstack([-c.jacobian(xt[:-1]), np.full((c.cone.size, 1), share)]),
    }


def _least_violation(program: Program, x: np.ndarray) -> np.ndarray:
    """Look for the point where the largest violation is least, whose tangents contradict most."""
    from scipy.optimize import minimize

    start = np.append(x, max(program.violations(x).values()))
    last = np.append(np.zeros(len(x)), 1.0)
    with np.errstate(all="ignore"):
        result = minimize(
            lambda xt: xt[-1],
            start,
            jac=lambda xt: last,
            method="SLSQP",
            constraints=[_relaxed(c) for c in program.constraints],
            options={"ftol": 1e-15, "maxiter": 200},
        )
    return result.x[:-1] if np.isfinite(result.x).all() else x


def _certify(
    problem: Problem, program: Program, x: np.ndarray, dual: dict[str, np.ndarray]
) -> Optimality:
    """Compute what is proved; a bounded box bounds the Lagrangian of the other constraints."""
    # The residuals are those of the multipliers that are returned, even if these prove nothing.
    residuals = kkt_residuals(program, x, dual)._asdict()
    certificate = replace(certify_program(program, x, dual), residuals=residuals)
    if problem.box is None or math.isfinite(certificate.gap):
        return certificate
    others = Program(problem.function, problem.constraints)
    tangent = lagrangian(others, {c.name: dual[c.name] for c in problem.constraints})
    inside = certify_minimum(tangent, problem.box.project(x), problem.box)
    proof: Proof = "duality" if math.isfinite(inside.gap) else "none"
    bound, vouched = inside.lower_bound, inside.assumptions
    return replace(certificate, lower_bound=bound, proof=proof, assumptions=vouched)


def _judged(
    problem: Problem, program: Program, solution: Solution, tol: float, ending: Status
) -> Solution:
    """Return the solution with the status that its numbers deserve."""
    certificate = solution.certificate
    allowed = tol * max(1.0, abs(solution.value))
    if not (math.isfinite(solution.value) and np.isfinite(solution.x).all()):
        return replace(solution, status="diverged")
    if certificate.is_optimal(tol):
        return replace(solution, status="optimal")
    if certificate.violation > allowed:
        wrong = doubt(problem, solution.x)
        proof = None if wrong else _prove_infeasible(program, _least_violation(program, solution.x))
        if proof is not None:
            return replace(
                solution, x=np.full_like(solution.x, np.nan), value=math.inf, certificate=proof,
                status="infeasible", dual={}, reason=_vouched(problem, proof),
            )  # fmt: skip
        broken = [name for name, v in program.violations(solution.x).items() if v > allowed]
        reason = f"no point was found that satisfies {', '.join(broken)}"
        return replace(solution, status=ending, reason=reason)
    residual = max(certificate.residuals.values())
    if residual <= 0.1 * math.sqrt(tol) * max(1.0, abs(solution.value)):
        reason = f"the KKT conditions hold up to {residual:.2g}"
        return replace(solution, status="stopped", reason=reason)
    reason = (
        "no multipliers satisfy the KKT conditions where no step leads on, which can happen where "
        "no point satisfies the constraints strictly"
    )
    return replace(
        solution, status=ending, reason=reason if ending == "failed" else solution.reason
    )


def _prove_infeasible(program: Program, x: np.ndarray) -> Infeasible | None:
    """Look for a contradiction of the constraints, whose functions lie above their tangents."""
    from scipy.optimize import lsq_linear

    # Tangents at one point hardly ever contradict each other exactly; those round it can.
    near = _NEAR * max(1.0, float(np.abs(x).max()))
    points = x + near * np.vstack([np.zeros(len(x)), np.eye(len(x)), -np.eye(len(x))])
    linear: list[Constraint] = []
    labels: dict[str, str] = {}
    for c in program.constraints:
        if isinstance(c, FunctionConstraint):
            if not c.function.convex:
                continue
            pairs = [c.function.value_and_gradient(point) for point in points]
            slopes = np.array([slope for _, slope in pairs])
            sides = np.sum(slopes * points, axis=1) - [value for value, _ in pairs]
            if not np.isfinite(sides).all():
                continue
            c = linear_inequality(slopes, sides, name=c.name)
            labels |= dict.fromkeys(c.labels(), c.name)
        linear.append(c)
    if not linear:
        return None
    tangents = Program(np.zeros(len(x)), linear)
    G, h, parts = tangents.stacked
    free = np.concatenate([np.full(c.cone.size, isinstance(c.cone, Origin)) for c in linear])
    # The ray of Farkas: G'z = 0 and h'z = -1 as nearly as multipliers allow.
    bounds = np.where(free, -np.inf, 0.0), np.full(len(h), np.inf)
    target = np.append(np.zeros(len(x)), -1.0)
    z = lsq_linear(np.vstack([G.T, h]), target, bounds, method="bvls", tol=1e-14).x
    proof = prove_infeasible(tangents, tangents.unpack([z[part] for part in parts]))
    if proof is None:
        return None
    names = dict.fromkeys(labels.get(label, label) for label in proof.conflict)
    return replace(proof, conflict=tuple(names))


def _vouched(problem: Problem, proof: Infeasible) -> str:
    """Name the functions of a conflict that are convex only because somebody said so."""
    curved = {c.name: c.function for c in problem.constraints if isinstance(c, FunctionConstraint)}
    names = [name for name in proof.conflict if name in curved and curved[name].assumptions]
    return f"if the functions of {', '.join(names)} are convex, as was said" if names else ""
