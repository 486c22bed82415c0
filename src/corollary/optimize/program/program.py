r"""Convex programs: minimise :math:`f(x)` subject to constraints with names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from corollary.optimize.problem.functions import Quadratic, Smooth, _curves_down
from corollary.optimize.program.constraints import Constraint, FunctionConstraint, LinearConstraint

#: Eigenvalues below this share of the largest one are rounding.
_FLAT = 1e-12
#: Sums whose terms cancel up to this share of their sizes are zero.
_ROUNDING = 1e-12
#: So is what is below this share of the largest size: residues of zeros, which have no terms.
_NOTHING = 1e-50


@dataclass(frozen=True, eq=False)
class Curvature:
    """Flat directions of a convex quadratic function, and a root of the inverse on the others."""

    convex: bool
    #: Orthonormal columns on which P vanishes.
    flat: np.ndarray
    #: A matrix R with R'R = P on the other directions.
    root: np.ndarray
    _factor: Any

    @classmethod
    def of(cls, P: np.ndarray) -> "Curvature":
        """Factorise P, by Cholesky where it is safely positive definite."""
        n = len(P)
        if not P.any():
            return cls(True, np.eye(n), np.zeros((0, n)), None)
        try:
            root = linalg.cholesky(P)
            if root.diagonal().min() ** 2 > 1e-8 * P.diagonal().max():
                return cls(True, np.zeros((n, 0)), root, root)
        except linalg.LinAlgError:
            pass
        values, vectors = linalg.eigh(P)
        size = np.abs(values).max()
        curved = values > _FLAT * size
        root = np.sqrt(values[curved])[:, None] * vectors[:, curved].T
        convex = values[0] >= -_FLAT * size and not (values[0] < 0 and _curves_down(P))
        return cls(bool(convex), vectors[:, ~curved], root, None)

    def dip(self, w: np.ndarray) -> float:
        """Return minus the infimum of x'Px/2 + w'x, for w without a share in flat directions."""
        if self._factor is not None:
            share = linalg.solve_triangular(self._factor, w, trans=1)
        else:
            share = (self.root @ w) / np.maximum(np.sum(self.root**2, axis=1), 1e-300)
        return 0.5 * float(share @ share)

    def slope(self, w: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Return the share of w in flat directions, with zeros where it is rounding.

        The sizes are those of the terms that w is the sum of.
        """
        share = self.flat.T @ w
        rounding = _ROUNDING * (np.abs(self.flat).T @ sizes) + _NOTHING * sizes.max(initial=0.0)
        return np.where(np.abs(share) <= rounding, 0.0, share)


class Stacked(NamedTuple):
    """All linear constraints of a program below each other, and which rows are whose."""

    G: np.ndarray
    h: np.ndarray
    parts: list[slice]


class Program:
    r"""A program: minimise an objective subject to constraints.

    The program is convex if the objective and all functions of inequalities are. Where it is, every
    point that meets the KKT conditions is a global minimiser. Nothing here assumes it unasked: weak
    duality holds for all programs, and ``convex`` says what is known. :func:`solve` solves linear,
    quadratic, second-order cone and semidefinite ones.

    Of a point, an array-like of shape (n,), ``value(x)`` is the objective, ``violations(x)`` has
    the violation of each constraint by name, and ``is_feasible(x, tol)`` tells whether none is
    larger than a tolerance. Multipliers are mappings of names to arrays; ``pack`` turns them into
    vectors in the order of the constraints, with zeros for those that are missing, and ``unpack``
    turns vectors back.

    Parameters
    ----------
    objective : Smooth or array-like of shape (n,)
        The function to minimise; a vector q stands for :math:`q^\top x`.
    constraints : sequence of Constraint, default=()
        Constraints with different names.

    Examples
    --------
    >>> from corollary.optimize import Program, Quadratic, linear_equality, linear_inequality
    >>> program = Program(
    ...     Quadratic([[2.0, 0.0], [0.0, 2.0]]),
    ...     [linear_equality([1.0, 1.0], 1.0, name="budget"),
    ...      linear_inequality([1.0, 0.0], 0.2, name="cap")],
    ... )
    >>> program.is_feasible([0.2, 0.8]), program.violations([0.5, 0.4])
    (True, {'budget': 0.0999..., 'cap': 0.3})
    """

    def __init__(self, objective: Smooth | Any, constraints: Sequence[Constraint] = ()) -> None:
        if not isinstance(objective, Smooth):
            q = np.asarray(objective, dtype=float)
            if q.ndim != 1:
                raise ValueError(
                    f"Program needs a function or a vector as objective. Got shape {q.shape}."
                )
            objective = Quadratic(np.zeros((len(q), len(q))), q)
        self.objective: Smooth = objective
        self.constraints = tuple(constraints)
        names = [constraint.name for constraint in self.constraints]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"Program needs different names for its constraints. Twice: {twice}.")
        widths = {c.name: c.G.shape[1] for c in self.constraints if isinstance(c, LinearConstraint)}
        if isinstance(objective, Quadratic):
            widths = {"objective": len(objective.q)} | widths
        if len(set(widths.values())) > 1:
            raise ValueError(
                f"Program needs as many variables in each constraint as in the objective. Got "
                f"{widths}."
            )
        #: 0 where nothing tells the number of variables.
        self.n_variables = next(iter(widths.values()), 0)

    def __repr__(self) -> str:
        n, names = self.n_variables, [c.name for c in self.constraints]
        size = f"of {n} variable{'s' * (n != 1)}" if n else "of any width"
        return f"<Program {size}, constraints: {', '.join(names) or 'none'}>"

    @property
    def convex(self) -> bool | None:
        """Whether the program is convex; None if that is not known."""
        known = [self.curvature.convex if self.is_quadratic else self.objective.convex]
        known += [c.function.convex for c in self.constraints if isinstance(c, FunctionConstraint)]
        return None if None in known else all(known)

    @property
    def is_quadratic(self) -> bool:
        """Whether the objective is quadratic, or linear."""
        return isinstance(self.objective, Quadratic)

    @property
    def is_conic(self) -> bool:
        """Whether, beyond that, all constraints are linear ones, in a cone."""
        linear = all(isinstance(c, LinearConstraint) for c in self.constraints)
        return self.is_quadratic and linear

    @cached_property
    def curvature(self) -> Curvature:
        """Factors of the matrix of a quadratic objective."""
        assert isinstance(self.objective, Quadratic)
        return Curvature.of(self.objective.P)

    @cached_property
    def stacked(self) -> Stacked:
        """The linear constraints of a conic program below each other."""
        linear = [c for c in self.constraints if isinstance(c, LinearConstraint)]
        ends = np.cumsum([0, *(c.cone.size for c in linear)])
        G = np.vstack([np.zeros((0, self.n_variables)), *(c.G for c in linear)])
        h = np.concatenate([np.zeros(0), *(c.h for c in linear)])
        return Stacked(G, h, [slice(a, b) for a, b in pairwise(ends)])

    def value(self, x: Any) -> float:
        """Return the objective at a point. See :class:`Program`."""
        return self.objective.value(self._point(x))

    def violations(self, x: Any) -> dict[str, float]:
        """Return by how much a point violates each constraint. See :class:`Program`."""
        x = self._point(x)
        return {constraint.name: constraint.violation(x) for constraint in self.constraints}

    def is_feasible(self, x: Any, tol: float = 1e-9) -> bool:
        """Tell whether a point satisfies the constraints. See :class:`Program`."""
        return max(self.violations(x).values(), default=0.0) <= tol

    def pack(self, dual: Mapping[str, Any]) -> list[np.ndarray]:
        """Return multipliers as vectors. See :class:`Program`."""
        unknown = sorted(set(dual) - {c.name for c in self.constraints})
        if unknown:
            raise ValueError(
                f"Multipliers belong to constraints by their names. No constraint is called "
                f"{unknown}."
            )
        packed = []
        for constraint in self.constraints:
            size = constraint.cone.size
            z = constraint.cone.pack(dual.get(constraint.name, np.zeros(size)))
            if z.shape != (size,) or not np.isfinite(z).all():
                raise ValueError(
                    f"The multiplier of {constraint.name!r} must have {size} finite entries. "
                    f"Got {z.shape} entries or NaN."
                )
            packed.append(z)
        return packed

    def unpack(self, multipliers: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
        """Return vectors as multipliers by name. See :class:`Program`."""
        return {c.name: c.cone.unpack(z) for c, z in zip(self.constraints, multipliers)}

    def _require_conic(self, who: str) -> None:
        """Refuse what is not a convex program over cones."""
        if not self.is_conic:
            raise ValueError(
                f"{who} needs a linear or quadratic objective and constraints that are linear in "
                "cones. Write convex quadratic constraints as quadratic_inequality; smooth "
                "functions are the business of barrier."
            )
        if not self.convex:
            raise ValueError(
                f"{who} needs a convex objective. Its matrix P has a negative eigenvalue, and "
                "points that look optimal nearby may be far from the best."
            )

    def _point(self, x: Any) -> np.ndarray:
        """Return a point as a vector of the right length."""
        x = np.asarray(x, dtype=float)
        if x.ndim != 1 or (self.n_variables and len(x) != self.n_variables):
            raise ValueError(
                f"A point of the program must be a vector with {self.n_variables} entries. Got "
                f"shape {x.shape}."
            )
        return x
