r"""The Lagrangian of a program, its dual function and its dual program.

With a multiplier :math:`z_c` for each constraint :math:`s_c(x)\in K_c`,

.. math:: L(x,z)=f(x)-\sum_cz_c^\top s_c(x),\qquad g(z)=\inf_xL(x,z),\qquad z_c\in K_c^*.

For inequalities :math:`f_i(x)\le0` that is :math:`f+\sum_i\lambda_if_i` with :math:`\lambda\ge0`,
for equations :math:`\nu^\top(Ax-b)` with any :math:`\nu`. At a feasible point the subtracted terms
are not negative, so that :math:`g(z)\le L(x,z)\le f(x)`: weak duality, without any convexity.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from corollary.optimize.problem.functions import Quadratic, Smooth
from corollary.optimize.problem.minimum import certify_minimum
from corollary.optimize.program._cones import Origin
from corollary.optimize.program.constraints import Constraint, FunctionConstraint, LinearConstraint
from corollary.optimize.program.program import Curvature, Program


class _Lagrangian(Smooth):
    """The Lagrangian as a function of the point, for functions of any kind."""

    def __init__(self, program: Program, multipliers: list[np.ndarray]) -> None:
        self._program, self._multipliers = program, multipliers
        curved = [(program.objective, 1.0)]
        curved += [(f, weight) for f, weight in _functions(program, multipliers) if weight > 0]
        self.convex = True if all(f.convex for f, _ in curved) else None
        self.strong_convexity = sum(weight * f.strong_convexity for f, weight in curved)
        self.smoothness = sum(weight * f.smoothness for f, weight in curved)
        unique = dict.fromkeys(a for f, _ in curved for a in f.assumptions)
        self.assumptions = tuple(unique)
        self._curved = curved

    def _value(self, x: np.ndarray) -> float:
        pairs = zip(self._program.constraints, self._multipliers)
        return self._program.objective.value(x) - sum(float(z @ c.slack(x)) for c, z in pairs)

    def _gradient(self, x: np.ndarray) -> np.ndarray:
        pairs = zip(self._program.constraints, self._multipliers)
        return self._program.objective.gradient(x) + sum(c.jacobian(x).T @ z for c, z in pairs)

    def _hessian(self, x: np.ndarray) -> np.ndarray:
        return sum((w * f.hessian(x) for f, w in self._curved), np.zeros((len(x), len(x))))


def lagrangian(program: Program, dual: Mapping[str, Any]) -> Smooth:
    r"""Return the Lagrangian of a program as a function of the point.

    It is :math:`x\mapsto f(x)-\sum_cz_c^\top s_c(x)`, a :class:`Quadratic` if all parts are.

    See :class:`Smooth`; multipliers are given by the names of the constraints, and 0 where they are
    missing.

    Examples
    --------
    >>> from corollary.optimize import Program, Quadratic, lagrangian, linear_inequality
    >>> program = Program(Quadratic([[2.0]]), [linear_inequality([-1.0], -1.0, name="floor")])
    >>> L = lagrangian(program, {"floor": 3.0})  # x^2 + 3 (1 - x)
    >>> L.value([2.0]), L.gradient([2.0])
    (1.0, array([1.]))
    """
    multipliers = program.pack(dual)
    parts = _quadratic_parts(program, multipliers)
    if parts is None:
        return _Lagrangian(program, multipliers)
    P, q, _, r = parts
    return Quadratic(P, q, r)


def dual_function(program: Program, dual: Mapping[str, Any], near: Any = None) -> float:
    r"""Return the dual function, a lower bound of the objective at all feasible points.

    It is :math:`g(z)=\inf_xL(x,z)`, or a number below it; -inf where the Lagrangian falls without
    limit or no bound is known. Slopes that are rounding of their terms count as zero.

    Guarantee: :math:`g(z)\le f(x)` for every feasible x, checked by
    ``tests/optimize/test_program.py::test_weak_duality_on_random_programs``.

    See :class:`Program`, convex or not; multipliers ``dual`` in the dual cones are given by the
    names of the constraints: not negative for inequalities, any for equations. A point ``near`` the
    minimiser of the Lagrangian is needed if that is not quadratic: the lower bound of
    :func:`certify_minimum` there takes the place of the infimum.

    Examples
    --------
    >>> from corollary.optimize import Program, Quadratic, dual_function, linear_inequality
    >>> program = Program(Quadratic([[2.0]]), [linear_inequality([-1.0], -1.0, name="floor")])
    >>> [round(dual_function(program, {"floor": m}), 9) for m in (0, 1, 2, 3)]  # m - m^2 / 4
    [0.0, 0.75, 1.0, 0.75]
    """
    multipliers = program.pack(dual)
    for constraint, z in zip(program.constraints, multipliers):
        if constraint.cone.dual_excess(z) > 1e-14 * max(1.0, float(np.abs(z).max())):
            raise ValueError(
                f"dual_function needs multipliers in the dual cones: not negative for "
                f"inequalities. That of {constraint.name!r} is outside by "
                f"{constraint.cone.dual_excess(z):.3g}; repair_dual moves it there."
            )
    parts = _quadratic_parts(program, multipliers)
    if parts is None:
        if near is None:
            return -math.inf
        return certify_minimum(_Lagrangian(program, multipliers), near).lower_bound
    P, w, sizes, r = parts
    curvature = program.curvature if program.is_conic else Curvature.of(P)
    if not curvature.convex or curvature.slope(w, sizes).any():
        return -math.inf
    return r - curvature.dip(w)


def dual_program(program: Program) -> Program:
    r"""Return the dual of a conic program, as a program to minimise.

    It minimises :math:`\tfrac12\|w\|^2+h^\top z-r` over (w, z) subject to
    :math:`R^\top w+G^\top z=-q` ("stationarity") and :math:`z\in K^*`, where :math:`P=R^\top R`.
    Its least value is minus the best lower bound; w is missing for P = 0.

    See :class:`Program`; the conic program minimises :math:`\tfrac12x^\top Px+q^\top x+r` subject
    to :math:`h-Gx\in K`.

    Examples
    --------
    >>> from corollary.optimize import Program, dual_program, linear_inequality, solve
    >>> program = Program([1.0, 2.0], [linear_inequality([[-1, -1], [0, -1]], [-2, 0], name="c")])
    >>> dual = dual_program(program)
    >>> round(solve(program).value, 6), round(-solve(dual).value, 6)
    (2.0, 2.0)
    """
    if not program.is_conic or not program.convex:
        raise ValueError(
            "dual_program needs a convex quadratic objective and linear constraints in cones. For "
            "other programs dual_function evaluates the dual at multipliers."
        )
    objective, root, (G, h, parts) = program.objective, program.curvature.root, program.stacked
    assert isinstance(objective, Quadratic)
    k, m = len(root), len(h)
    P = np.zeros((k + m, k + m))
    P[:k, :k] = np.eye(k)
    stationarity = LinearConstraint(
        np.hstack([root.T, G.T]), -objective.q, Origin(len(objective.q)), "stationarity"
    )
    constraints: list[Constraint] = [stationarity]
    for constraint, part in zip(program.constraints, parts):
        if not isinstance(constraint.cone, Origin):
            pick = np.zeros((constraint.cone.size, k + m))
            pick[:, k:][:, part] = -np.eye(constraint.cone.size)
            zeros = np.zeros(constraint.cone.size)
            constraints.append(LinearConstraint(pick, zeros, constraint.cone, constraint.name))
    return Program(Quadratic(P, np.concatenate([np.zeros(k), h]), -objective.r), constraints)


def _functions(program: Program, multipliers: list[np.ndarray]) -> list[tuple[Smooth, float]]:
    """List the functions of inequalities with their multipliers."""
    pairs = zip(program.constraints, multipliers)
    return [(c.function, float(z[0])) for c, z in pairs if isinstance(c, FunctionConstraint)]


def _quadratic_parts(
    program: Program, multipliers: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float] | None:
    """Return matrix, slope, sizes of the slope's terms and constant of a quadratic Lagrangian."""
    functions = [(program.objective, 1.0), *_functions(program, multipliers)]
    if not all(isinstance(f, Quadratic) for f, _ in functions):
        return None
    quadratics = [(f, weight) for f, weight in functions if isinstance(f, Quadratic)]
    P = sum((w * f.P for f, w in quadratics[1:]), quadratics[0][0].P)
    q = sum(w * f.q for f, w in quadratics)
    sizes = sum(abs(w) * np.abs(f.q) for f, w in quadratics)
    r = sum(w * f.r for f, w in quadratics)
    for constraint, z in zip(program.constraints, multipliers):
        if isinstance(constraint, LinearConstraint):
            q = q + constraint.G.T @ z
            sizes = sizes + np.abs(constraint.G).T @ np.abs(z)
            r -= float(constraint.h @ z)
    return P, np.asarray(q), np.asarray(sizes), float(r)
