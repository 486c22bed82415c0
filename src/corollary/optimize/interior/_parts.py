"""Programs with inequalities and equations, taken apart for interior point methods."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import linalg

from corollary.optimize.problem.functions import Smooth
from corollary.optimize.program._cones import Origin, SecondOrder, Semidefinite
from corollary.optimize.program.constraints import FunctionConstraint, LinearConstraint
from corollary.optimize.program.program import Program


class Slope(NamedTuple):
    """Slacks of the inequalities at a point, and the derivative of minus the slacks."""

    slack: np.ndarray
    jacobian: np.ndarray


@dataclass(frozen=True, eq=False)
class Parts:
    """The rows of linear inequalities, the smooth functions, and the solutions of the equations."""

    n: int
    G: np.ndarray
    h: np.ndarray
    functions: tuple[Smooth, ...]
    A: np.ndarray
    b: np.ndarray
    #: Orthonormal directions along which the equations stay fulfilled.
    free: np.ndarray
    _order: tuple[FunctionConstraint | LinearConstraint, ...]

    @classmethod
    def of(cls, program: Program, n: int, who: str) -> "Parts":
        """Sort the constraints of a program, which must be neither norms nor matrices."""
        linear = [c for c in program.constraints if isinstance(c, LinearConstraint)]
        curved = [c for c in program.constraints if isinstance(c, FunctionConstraint)]
        if any(isinstance(c.cone, SecondOrder | Semidefinite) for c in linear):
            raise ValueError(
                f"{who} needs inequalities and equations. Programs with norm_inequality, "
                "quadratic_inequality or matrix_inequality are the business of solve."
            )
        equations = [c for c in linear if isinstance(c.cone, Origin)]
        rows = [c for c in linear if not isinstance(c.cone, Origin)]
        A = np.vstack([np.zeros((0, n)), *(c.G for c in equations)])
        return cls(
            n=n,
            G=np.vstack([np.zeros((0, n)), *(c.G for c in rows)]),
            h=np.concatenate([np.zeros(0), *(c.h for c in rows)]),
            functions=tuple(c.function for c in curved),
            A=A,
            b=np.concatenate([np.zeros(0), *(c.h for c in equations)]),
            free=linalg.null_space(A) if len(A) else np.eye(n),
            _order=(*rows, *curved, *equations),
        )

    @property
    def n_inequalities(self) -> int:
        """Return m, the number of inequalities."""
        return len(self.h) + len(self.functions)

    def onto_equations(self, x: np.ndarray) -> np.ndarray:
        """Return the nearest point that satisfies the equations, as far as they can be."""
        return x - linalg.lstsq(self.A, self.A @ x - self.b)[0] if len(self.A) else x

    def slacks(self, x: np.ndarray) -> np.ndarray:
        """Return the slacks of all inequalities."""
        return np.append(self.h - self.G @ x, [-f.value(x) for f in self.functions])

    def slope(self, x: np.ndarray) -> Slope:
        """Return the slacks with their derivatives."""
        gradients = [f.gradient(x)[None] for f in self.functions]
        return Slope(self.slacks(x), np.vstack([self.G, *gradients]))

    def misses(self, x: np.ndarray) -> np.ndarray:
        """Return by how much a point misses the equations; zeros where that is rounding."""
        off = self.A @ x - self.b
        return np.where(np.abs(off) <= 1e-9 * (1.0 + np.abs(self.b).max(initial=0.0)), 0.0, off)

    def balance(self, pull: np.ndarray) -> np.ndarray:
        """Return the multipliers of the equations that balance what pulls on the point."""
        return linalg.lstsq(self.A.T, -pull)[0] if len(self.A) else np.zeros(0)

    def named(self, multipliers: np.ndarray, of_equations: np.ndarray) -> dict[str, np.ndarray]:
        """Return multipliers by the names of the constraints."""
        ends = np.cumsum([c.cone.size for c in self._order])
        split = np.split(np.concatenate([multipliers, of_equations]), ends[:-1])
        return dict(zip((c.name for c in self._order), split))
