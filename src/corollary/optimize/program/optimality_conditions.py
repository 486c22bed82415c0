r"""The conditions of Karush, Kuhn and Tucker, and proofs by duality.

Residuals of the conditions are necessary and say nothing about the value. What proves something is
a dual point: multipliers are first moved into the dual cones and, where the Lagrangian would fall
without limit along directions in which the objective is flat, onto the equations that prevent it.
The gap to the dual function there bounds how far the point is from the best.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from corollary.optimize.optimality import Optimality
from corollary.optimize.problem.functions import Quadratic
from corollary.optimize.program._cones import Origin, Orthant, SecondOrder, Semidefinite
from corollary.optimize.program.constraints import FunctionConstraint
from corollary.optimize.program.duality import dual_function, lagrangian
from corollary.optimize.program.program import Program

#: How far multipliers are moved off 0 before each correction, in units of the largest. One that is
#: exactly 0 could never grow; in the later rounds what was projected onto 0 stays there.
_NUDGES = (1e-9, 1e-9, *[0.0] * 10)


class KKT(NamedTuple):
    """Residuals of the four conditions, each 0 where its condition holds.

    Those of functions that are not defined at the point are infinite.

    Parameters
    ----------
    primal, dual : float
        Largest violation of a constraint, and how far multipliers are outside the dual cones.
    stationarity : float
        Largest entry of the gradient of the Lagrangian.
    complementarity : float
        Largest product of a slack with its multiplier.

    Examples
    --------
    >>> from corollary.optimize import KKT
    >>> KKT(0.0, 0.0, 1e-9, 0.5).worst()
    0.5
    """

    primal: float
    dual: float
    stationarity: float
    complementarity: float

    def worst(self) -> float:
        """Return the largest residual, 0 only if all conditions hold."""
        return max(self)


def kkt_residuals(program: Program, x: Any, dual: Mapping[str, Any]) -> KKT:
    r"""Measure by how much a point and multipliers miss the KKT conditions.

    They are those of primal feasibility, dual feasibility, :math:`\nabla_xL=0` and
    :math:`z_c^\top s_c=0`. If all four are 0 and the program is convex, the point is a minimiser.
    Conversely a minimiser has such multipliers if strong duality holds, as it does where
    :func:`slater_point` finds a point. Small residuals alone bound nothing, a flat function has
    small gradients far away; :func:`certify_program` turns the pair into a bound.

    See :class:`Program`; multipliers ``dual`` are given by the names of the constraints, and 0
    where they are missing.

    Examples
    --------
    >>> from corollary.optimize import Program, Quadratic, kkt_residuals, linear_inequality
    >>> program = Program(Quadratic([[2.0]]), [linear_inequality([-1.0], -1.0, name="floor")])
    >>> kkt_residuals(program, [2.0], {"floor": 2.0})
    KKT(primal=0.0, dual=0.0, stationarity=2.0, complementarity=2.0)
    """
    x, multipliers = program._point(x), program.pack(dual)
    pairs = list(zip(program.constraints, multipliers))
    products = [np.abs(c.cone.products(z, c.slack(x))).max() for c, z in pairs]
    residuals = (
        max(program.violations(x).values(), default=0.0),
        max((c.cone.dual_excess(z) for c, z in pairs), default=0.0),
        np.abs(lagrangian(program, dual).gradient(x)).max(),
        np.max(products, initial=0.0),
    )
    return KKT(*(math.inf if np.isnan(size) else float(size) for size in residuals))


def kkt_multipliers(program: Program, x: Any) -> dict[str, np.ndarray]:
    r"""Return the multipliers that come closest to the KKT conditions at a point.

    They minimise :math:`\|\nabla_xL(x,z)\|^2+\sum_i(z_is_i)^2`, with :math:`s_i` the slack of an
    inequality, and are not negative for inequalities. Nothing is taken from the solver that found
    the point, so that the certificate which rests on them (:func:`certify_program`) is a check of
    the solver, too. Norms and matrices as constraints raise a ValueError. See :class:`Program`.

    Examples
    --------
    >>> from corollary.optimize import Program, Quadratic, kkt_multipliers, linear_inequality
    >>> program = Program(Quadratic([[2.0]]), [linear_inequality([-1.0], -1.0, name="floor")])
    >>> kkt_multipliers(program, [1.0])["floor"].round(9)  # 2 x - z = 0
    array([2.])
    """
    from scipy.optimize import lsq_linear

    x = program._point(x)
    constraints = program.constraints
    if any(isinstance(c.cone, SecondOrder | Semidefinite) for c in constraints):
        raise ValueError(
            "kkt_multipliers needs equations, inequalities and functions. Programs with norms and "
            "matrices are the business of solve, which returns their multipliers."
        )
    if not constraints:
        return {}
    free = np.concatenate([np.full(c.cone.size, isinstance(c.cone, Origin)) for c in constraints])
    slack = np.concatenate([c.slack(x) for c in constraints])
    jacobian = np.vstack([c.jacobian(x) for c in constraints])
    conditions = np.vstack([jacobian.T, np.diag(np.where(free, 0.0, slack))])
    target = np.concatenate([-program.objective.gradient(x), np.zeros(len(slack))])
    if not (np.isfinite(conditions).all() and np.isfinite(target).all()):
        return {c.name: np.zeros(c.cone.size) for c in constraints}
    # Units in which no column is longer than the others, so that far constraints stay at 0.
    sizes = np.maximum(np.linalg.norm(conditions, axis=0), 1e-300)
    bounds = np.where(free, -np.inf, 0.0), np.full(len(slack), np.inf)
    z = lsq_linear(conditions / sizes, target, bounds, tol=1e-14, method="bvls").x / sizes
    ends = np.cumsum([c.cone.size for c in constraints])[:-1]
    return program.unpack(np.split(np.where(free, z, np.maximum(z, 0.0)), ends))


def repair_dual(program: Program, dual: Mapping[str, Any]) -> dict[str, np.ndarray]:
    r"""Move multipliers to where the dual function is finite.

    They then lie in the dual cones and, for conic programs, solve :math:`N^\top(q+G^\top z)=0` as
    far as that is possible, N being the directions with Pd = 0: for a linear program
    :math:`G^\top z=-q`. Corrections are least squares in units of the multipliers themselves (in
    the metric :math:`Q_{\sqrt z}` of the cone), so that those that are nearly 0 hardly move and
    none leaves its cone by more than the next projection repairs.

    See :class:`Program`; multipliers ``dual`` are such as those of a solver.

    Examples
    --------
    >>> from corollary.optimize import Program, linear_inequality, repair_dual
    >>> program = Program([1.0, 1.0], [linear_inequality([[-1, 0], [0, -1]], [0, 0], name="sign")])
    >>> repair_dual(program, {"sign": [1.001, 0.998]})
    {'sign': array([1., 1.])}
    """
    pairs = list(zip(program.constraints, program.pack(dual)))
    multipliers = [c.cone.project_dual(z) for c, z in pairs]
    if not program.is_conic or not program.curvature.flat.any() or not multipliers:
        return program.unpack(multipliers)
    cones: list[Orthant] = [c.cone for c in program.constraints]
    objective, (G, _, parts) = program.objective, program.stacked
    assert isinstance(objective, Quadratic)
    columns = G @ program.curvature.flat
    z = np.concatenate(multipliers)
    for nudge in _NUDGES:
        sizes = np.abs(objective.q) + np.abs(G).T @ np.abs(z)
        miss = program.curvature.slope(objective.q + G.T @ z, sizes)
        if not miss.any():
            break
        size = nudge * float(np.abs(z).max() + np.abs(objective.q).max())
        inner = [z[part] + size * cone.centre() for cone, part in zip(cones, parts)]
        stretched = np.vstack([k.stretch(u, columns[p]) for k, u, p in zip(cones, inner, parts)])
        y = linalg.lstsq(stretched.T, -miss, cond=1e-14, check_finite=False)[0]
        steps = [k.stretch(u, y[p]) for k, u, p in zip(cones, inner, parts)]
        z = np.concatenate([k.project_dual(z[p] + step) for k, p, step in zip(cones, parts, steps)])
    return program.unpack([z[part] for part in parts])


def certify_program(program: Program, x: Any, dual: Mapping[str, Any]) -> Optimality:
    r"""Compute what is proved about a point of a program.

    The lower bound is the dual function at the repaired multipliers; where that is -inf nothing is
    proved. The gap is :math:`f(x)-g(z)\ge f(x)-p^\star`. For a point that violates constraints the
    value may lie below the least one; the certificate states the violation.

    Guarantee: the lower bound is at most the value of every feasible point, checked by
    ``tests/optimize/test_program.py::test_weak_duality_on_random_programs``.

    See :class:`Program`; multipliers ``dual``, by the names of the constraints and from whatever
    source, are repaired first (:func:`repair_dual`), and replaced by 0 if they then still prove
    nothing.

    Examples
    --------
    >>> from corollary.optimize import Program, Quadratic, certify_program, linear_inequality
    >>> program = Program(Quadratic([[2.0]]), [linear_inequality([-1.0], -1.0, name="floor")])
    >>> print(certify_program(program, [1.1], {"floor": 1.8}))
    The value 1.21 is at most 0.2201 above the least one: a dual point proves it.
    """
    x = program._point(x)
    if not np.isfinite(x).all():
        return Optimality(value=program.value(x), violation=np.inf)
    dual = repair_dual(program, dual)
    bound = dual_function(program, dual, near=x)
    if bound == -np.inf:
        # No multipliers at all are better than some that miss: they solve feasibility problems.
        dual, bound = {}, dual_function(program, {}, near=x)
    residuals = kkt_residuals(program, x, dual)
    curved = [c.function for c in program.constraints if isinstance(c, FunctionConstraint)]
    assumptions = (a for f in (program.objective, *curved) for a in f.assumptions)
    return Optimality(
        value=program.value(x),
        lower_bound=bound,
        violation=residuals.primal,
        proof="duality" if np.isfinite(bound) else "none",
        residuals=residuals._asdict(),
        assumptions=tuple(dict.fromkeys(assumptions)) if np.isfinite(bound) else (),
    )
