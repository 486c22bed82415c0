r"""Convex programs: minimise :math:`f(x)` subject to constraints with names."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from corollary.optimize.problem.functions import Quadratic, Smooth
from corollary.optimize.program._curvature import Curvature
from corollary.optimize.program.constraints import (
    Constraint,
    FunctionConstraint,
    LinearConstraint,
)


class Stacked(NamedTuple):
    """All linear constraints of a program below each other."""

    G: np.ndarray
    h: np.ndarray
    parts: list[slice]


class Program:
    r"""A program: minimise an objective subject to constraints.

    Parameters
    ----------
    objective : Smooth or array-like of shape (n,)
        The function to minimise; a vector q stands for :math:`q^\top x`.
    constraints : sequence of Constraint, default=()
        Constraints with different names.

    Attributes
    ----------
    objective : Smooth
        The objective.
    constraints : tuple of Constraint
        The constraints.

    See Also
    --------
    solve : Solves linear, quadratic, second-order cone and semidefinite programs.
    certify_program : What is proved about a point.

    Notes
    -----
    The program is convex if the objective and all functions of inequalities are. Where it is, every
    point that meets the KKT conditions is a global minimiser. Nothing here assumes it unasked:
    weak duality holds for all programs, and :attr:`convex` says what is known.

    Examples
    --------
    >>> from corollary.optimize import Program, Quadratic, linear_equality, linear_inequality
    >>> program = Program(
    ...     Quadratic([[2.0, 0.0], [0.0, 2.0]]),
    ...     [linear_equality([1.0, 1.0], 1.0, name="budget"),
    ...      linear_inequality([1.0, 0.0], 0.2, name="cap")],
    ... )
    >>> program.value([0.2, 0.8]), program.is_feasible([0.2, 0.8])
    (0.68..., True)
    >>> program.violations([0.5, 0.4])
    {'budget': 0.0999..., 'cap': 0.3}
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
        parts = [slice(a, b) for a, b in pairwise(ends)]
        if not linear:
            return Stacked(np.zeros((0, self.n_variables)), np.zeros(0), parts)
        return Stacked(
            np.vstack([c.G for c in linear]), np.concatenate([c.h for c in linear]), parts
        )

    def value(self, x: Any) -> float:
        """Return the objective at a point.

        Parameters
        ----------
        x : array-like of shape (n,)
            The point.

        Returns
        -------
        value : float
            The objective.
        """
        return self.objective.value(self._point(x))

    def violations(self, x: Any) -> dict[str, float]:
        """Return by how much a point violates each constraint.

        Parameters
        ----------
        x : array-like of shape (n,)
            The point.

        Returns
        -------
        violations : dict of str to float
            By the names of the constraints; 0 where a constraint holds.
        """
        x = self._point(x)
        return {constraint.name: constraint.violation(x) for constraint in self.constraints}

    def is_feasible(self, x: Any, tol: float = 1e-9) -> bool:
        """Tell whether a point satisfies the constraints.

        Parameters
        ----------
        x : array-like of shape (n,)
            The point.
        tol : float, default=1e-9
            Violation that is allowed.

        Returns
        -------
        feasible : bool
            Whether no violation is larger.
        """
        return max(self.violations(x).values(), default=0.0) <= tol

    def pack(self, dual: Mapping[str, Any]) -> list[np.ndarray]:
        """Return multipliers as vectors, in the order of the constraints.

        Parameters
        ----------
        dual : mapping of str to array-like
            Multipliers by the names of the constraints; 0 for those that are missing.

        Returns
        -------
        multipliers : list of ndarray
            One vector for each constraint.
        """
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
        """Return vectors as multipliers by the names of the constraints.

        Parameters
        ----------
        multipliers : sequence of ndarray
            One vector for each constraint.

        Returns
        -------
        dual : dict of str to ndarray
            Matrices for semidefinite constraints, vectors for the others.
        """
        return {c.name: c.cone.unpack(z) for c, z in zip(self.constraints, multipliers)}

    def _point(self, x: Any) -> np.ndarray:
        """Return a point as a vector of the right length."""
        x = np.asarray(x, dtype=float)
        if x.ndim != 1 or (self.n_variables and len(x) != self.n_variables):
            raise ValueError(
                f"A point of the program must be a vector with {self.n_variables} entries. Got "
                f"shape {x.shape}."
            )
        return x
