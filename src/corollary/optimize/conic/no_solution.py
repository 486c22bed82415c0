r"""Proofs that a program has no solution, in the variables of the user.

No point satisfies :math:`h-Gx\in K` if there is a ray :math:`z\in K^*` with :math:`G^\top z=0` and
:math:`h^\top z<0` (Farkas): a feasible x would give :math:`0\le z^\top(h-Gx)=h^\top z`. A feasible
objective falls without limit along a direction d with :math:`Pd=0`, :math:`q^\top d<0` and
:math:`-Gd\in K`. Both are computed again from the data; what rounding leaves of their equations is
turned into a distance within which the proof holds.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from corollary.core.certificate import format_number
from corollary.core.display import Tabular
from corollary.optimize.problem.functions import Quadratic
from corollary.optimize.program._cones import Origin, SecondOrder, Semidefinite
from corollary.optimize.program.constraints import Constraint, LinearConstraint
from corollary.optimize.program.optimality_conditions import repair_dual
from corollary.optimize.program.program import Program
from corollary.optimize.solution import Solution

#: A proof that reaches less far than this is none.
REACH = 1e6


@dataclass(frozen=True, kw_only=True, repr=False)
class Infeasible(Tabular):
    r"""A proof that no point satisfies the constraints: their combination is a contradiction.

    Parameters
    ----------
    ray : mapping of str to ndarray
        Multipliers z in the dual cones with :math:`G^\top z=0` and :math:`h^\top z=-1`.
    conflict : tuple of str
        The constraints with multipliers that are not 0. If all are linear, each of them is needed:
        without it the others have a solution.
    reach : float
        No point with :math:`\|x\|_1` below this satisfies the constraints, whatever rounding did;
        infinite if the equations hold exactly.

    Examples
    --------
    >>> from corollary.optimize import Program, linear_inequality, solve
    >>> program = Program([1.0], [linear_inequality([1.0], 1.0, name="cap"),
    ...                           linear_inequality([-1.0], -2.0, name="floor"),
    ...                           linear_inequality([1.0], 9.0, name="idle")])
    >>> print(solve(program).certificate)
    These constraints contradict each other: cap, floor.
    """

    ray: Mapping[str, np.ndarray]
    conflict: tuple[str, ...]
    reach: float

    def __str__(self) -> str:
        text = f"These constraints contradict each other: {', '.join(self.conflict)}."
        if self.reach < 1e12:
            text += f" Proved for points with a sum of moduli below {format_number(self.reach)}."
        return text

    def _columns(self) -> dict[str, list[Any]]:
        return {"constraint": list(self.conflict)}


@dataclass(frozen=True, kw_only=True, repr=False)
class Unbounded(Tabular):
    r"""A proof that the objective falls without limit over the feasible points.

    Parameters
    ----------
    point : ndarray of shape (n,)
        A feasible point.
    direction : ndarray of shape (n,)
        A direction d with :math:`Pd=0`, :math:`q^\top d=-1` and :math:`-Gd\in K`.
    reach : float
        Along the ray :math:`x+td` the objective is :math:`f(x)-t` up to a relative error of 1e-6,
        and constraints are violated by less than 1e-6 more than at the point, for t up to this.

    Examples
    --------
    >>> from corollary.optimize import Program, linear_inequality, solve
    >>> program = Program([-1.0, 0.0], [linear_inequality([0.0, 1.0], 1.0, name="cap")])
    >>> print(solve(program).certificate)
    The objective falls by 1 for each unit along a direction that no constraint limits.
    """

    point: np.ndarray
    direction: np.ndarray
    reach: float

    def __str__(self) -> str:
        text = "The objective falls by 1 for each unit along a direction that no constraint limits."
        if self.reach < 1e12:
            text += f" Proved up to {format_number(self.reach)} units."
        return text

    def _columns(self) -> dict[str, list[Any]]:
        return {"point": list(self.point), "direction": list(self.direction)}


def prove_infeasible(program: Program, ray: Mapping[str, Any]) -> Infeasible | None:
    r"""Check a ray of Farkas, after moving it onto its equations.

    With :math:`r=G^\top z` and :math:`h^\top z=-1` a feasible point would have
    :math:`0\le z^\top(h-Gx)=-1-r^\top x`, so that :math:`\|x\|_1\ge1/\|r\|_\infty`: the reach of
    the proof. Where all constraints are linear, the ray is moved to a corner of the set of all
    rays, whose constraints are a smallest conflict (Gleeson and Ryan 1990).

    See :class:`Program`, with linear constraints in cones; the ``ray`` has multipliers by the names
    of the constraints, from whatever source. A ray that proves nothing gives None.

    Examples
    --------
    >>> from corollary.optimize import Program, linear_inequality, prove_infeasible
    >>> program = Program([0.0], [linear_inequality([[1.0], [-1.0]], [1.0, -2.0], name="x")])
    >>> prove_infeasible(program, {"x": [2.0, 2.0]}).ray
    {'x': array([1., 1.])}
    """
    feasibility = Program(np.zeros(program.n_variables), program.constraints)
    found = _checked_ray(feasibility, ray)
    if found is None:
        return None
    if not any(isinstance(c.cone, SecondOrder | Semidefinite) for c in program.constraints):
        found = _checked_ray(feasibility, _corner(feasibility, found[0])) or found
    z, reach = found
    labels, nonzero = [], []
    for constraint, part in zip(program.constraints, feasibility.stacked.parts):
        labels += constraint.labels()
        sizes = np.abs(z[part])
        nonzero += list(sizes) if len(constraint.labels()) == len(sizes) else [sizes.max()]
    conflict = [n for n, size in zip(labels, nonzero) if size > 1e-9 * max(nonzero)]
    named = feasibility.unpack([z[part] for part in feasibility.stacked.parts])
    return Infeasible(ray=named, conflict=tuple(conflict), reach=reach)


def _checked_ray(program: Program, ray: Mapping[str, Any]) -> tuple[np.ndarray, float] | None:
    """Return a ray in the cones with h'z = -1 and its reach, or None if it proves nothing."""
    pairs = zip(program.constraints, program.pack(ray))
    # On the border of a cone a ray cannot be moved onto the equations, but may be near enough.
    plain = [c.cone.project_dual(z) for c, z in pairs]
    rays = [_reaching(program, z) for z in (program.pack(repair_dual(program, ray)), plain)]
    return max((r for r in rays if r is not None), key=lambda r: r[1], default=None)


def _reaching(program: Program, parts: list[np.ndarray]) -> tuple[np.ndarray, float] | None:
    """Return a ray with h'z = -1 and its reach, or None if it proves nothing."""
    z = np.concatenate([np.zeros(0), *parts])
    G, h, _ = program.stacked
    fall = -float(h @ z)
    # The fall must be more than the rounding of its own terms.
    if not fall > 1e-12 * float(np.abs(h) @ np.abs(z)):
        return None
    z = z / fall
    left = float(np.abs(G.T @ z).max(initial=0.0))
    reach = math.inf if left == 0 else 1 / left
    return (z, reach) if reach > REACH else None


def _corner(program: Program, z: np.ndarray) -> dict[str, np.ndarray]:
    """Move a ray over linear constraints to a corner of the set of rays within its support."""
    from scipy.optimize import linprog

    G, h, parts = program.stacked
    free = np.concatenate(
        [np.full(c.cone.size, isinstance(c.cone, Origin)) for c in program.constraints]
    )
    support = np.abs(z) > 1e-9 * np.abs(z).max()
    # A free multiplier is a difference of two, so that corners exist and have small support.
    columns = np.vstack([G[support], -G[support & free]])
    sides = np.concatenate([h[support], -h[support & free]])
    result = linprog(
        np.ones(len(sides)), A_eq=np.vstack([columns.T, sides]),
        b_eq=np.append(np.zeros(G.shape[1]), -1.0), method="highs-ds",
    )  # fmt: skip
    corner = z
    if result.status == 0:
        corner = np.zeros_like(z)
        corner[support] = result.x[: support.sum()]
        corner[support & free] -= result.x[support.sum() :]
    return program.unpack([corner[part] for part in parts])


def prove_unbounded(program: Program, point: Any, direction: Any) -> Unbounded | None:
    """Check a direction along which the objective falls without limit.

    See :class:`Program`, with a convex quadratic objective and linear constraints in cones; the
    point is feasible, the direction from whatever source. A pair that proves nothing gives None.

    Examples
    --------
    >>> from corollary.optimize import Program, linear_inequality, prove_unbounded
    >>> program = Program([-2.0, 0.0], [linear_inequality([0.0, 1.0], 1.0, name="cap")])
    >>> prove_unbounded(program, [0.0, 0.0], [1.0, 0.0]).direction
    array([0.5, 0. ])
    """
    objective, d = program.objective, program._point(direction)
    assert isinstance(objective, Quadratic)
    point = program._point(point)
    if not program.is_feasible(point, 1e-6) or not np.abs(d).max() > 0:
        return None
    d = d / np.abs(d).max()
    # What should be zero along the direction is made so: P d, equations, inequalities in balance.
    still = [objective.P]
    for c in program.constraints:
        assert isinstance(c, LinearConstraint)
        along, sizes = np.abs(c.G @ d), np.linalg.norm(c.G, axis=1)
        if not isinstance(c.cone, SecondOrder | Semidefinite):
            still.append(c.G[(along <= 1e-6 * sizes) | isinstance(c.cone, Origin)])
    M = np.vstack(still)
    d = d - linalg.lstsq(M, M @ d, cond=1e-12)[0]
    fall = -float(objective.q @ d)
    least = 1e-9 * float(np.abs(objective.q) @ np.abs(d))
    if any(_on_round_border(c, d) for c in program.constraints):
        # Along the border directions miss the cone by ever less, the less they fall.
        least = 1e-2 * float(np.linalg.norm(objective.q) * np.linalg.norm(d))
    if not fall > least:
        return None
    d = d / fall
    # How fast constraints are violated along the direction.
    broken = [c.cone.excess(-c.jacobian(d) @ d) for c in program.constraints]
    rate = max([*broken, float(d @ objective.P @ d), 0.0])
    reach = math.inf if rate == 0 else 1e-6 / rate
    return Unbounded(point=point, direction=d, reach=reach) if reach > REACH else None


def _on_round_border(constraint: Constraint, d: np.ndarray) -> bool:
    """Tell whether rounding decides if a direction lies in a norm's or a matrix's cone."""
    if not isinstance(constraint.cone, SecondOrder | Semidefinite):
        return False
    along = -constraint.jacobian(d) @ d
    return constraint.cone.margin(along) <= 1e-9 * float(np.abs(along).max())


def _without_solution(
    proof: Infeasible | Unbounded, n: int, n_iter: int, reason: str = ""
) -> Solution:
    """Return a proof that there is no solution, with no point."""
    unbounded = isinstance(proof, Unbounded)
    return Solution(
        x=np.full(n, np.nan),
        value=-math.inf if unbounded else math.inf,
        certificate=proof,
        status="unbounded" if unbounded else "infeasible",
        n_iter=n_iter,
        reason=reason,
    )
