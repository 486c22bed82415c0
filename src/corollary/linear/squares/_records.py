"""What least squares returns: solutions, intervals and a diagnosis."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np


class LeastSquares(NamedTuple):
    """A least-squares solution, of smallest norm among many if the rank is not full."""

    coef: np.ndarray  # (n_features,) or (n_features, n_targets)
    intercept: Any  # float or (n_targets,); zero if none was asked for
    rank: int  # of the (centred) design
    rcond: float  # estimated reciprocal condition number of the scaled normal equations
    solver: (
        str  # "cholesky", "svd" (of the rows), "eigen" (of the equations), "dual", "lsqr", "nnls"
    )
    n_iter: np.ndarray | None = None  # of "lsqr", one entry per target
    singular_values: np.ndarray | None = None  # of the (centred) design, if they were asked for


def shaped(
    coef: np.ndarray,
    intercept: np.ndarray,
    target_ndim: int,
    fit_intercept: bool,
    rank: int,
    rcond: float,
    solver: str,
) -> LeastSquares:
    """Return a solution in the shape of the targets."""
    if not fit_intercept:
        intercept = np.zeros_like(intercept)
    if target_ndim == 1:
        return LeastSquares(coef[:, 0], float(intercept[0]), rank, rcond, solver)
    return LeastSquares(coef, intercept, rank, rcond, solver)


class CoefficientIntervals(NamedTuple):
    """Coefficients with their uncertainty; the intercept, if there is one, is the last."""

    coef: np.ndarray  # (n_coefficients,)
    standard_error: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    noise_variance: float  # unbiased estimate
    degrees_of_freedom: int  # rows minus coefficients


@dataclass(frozen=True)
class WellPosedness:
    """Diagnosis of the linear system ``X @ coef = y``, or of its least-squares problem."""

    n_samples: int
    n_features: int
    rank: int
    singular_values: np.ndarray
    condition_number: float
    exists: bool | None
    unique: bool
    residual: float | None
    alpha: float

    @property
    def stable(self) -> bool:
        """Whether the solution is determined to at least eight digits in double precision."""
        return bool(self.condition_number < 1e8)

    @property
    def well_posed(self) -> bool:
        """Whether a minimiser exists (it always does), is unique, and is stable."""
        return self.unique and self.stable

    def __str__(self) -> str:
        parts = [
            f"{self.n_samples} equations in {self.n_features} unknowns, rank {self.rank}",
            "unique minimiser" if self.unique else "many minimisers",
            f"condition number {self.condition_number:.3g}",
        ]
        if self.exists is not None:
            parts.insert(1, "solvable exactly" if self.exists else "not solvable exactly")
        if not self.well_posed:
            parts.append("ill-posed: drop dependent columns, or use Ridge with alpha > 0")
        return "; ".join(parts)
