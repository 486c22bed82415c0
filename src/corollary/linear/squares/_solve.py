r"""Least squares, plain or with a ridge penalty, over any source of rows.

The problem is to minimise :math:`\sum_i w_i(y_i - x_i^\top\beta - b)^2 + \alpha\|\beta\|^2` with
:math:`\alpha \ge 0` and an unpenalised intercept b. It is solved in at most three stages, each
more careful than the one before:

1. One pass over the rows forms the centred normal equations. They are scaled to a unit diagonal
   and solved by Cholesky's method. Forming products squares the condition number, so the relative
   error is about :math:`\varepsilon\kappa^2`, with :math:`\kappa` the condition number of the
   centred and scaled design.
2. If :math:`\kappa^2` exceeds 100, one or two steps of iterative refinement follow: residuals are
   computed from the rows themselves, which brings the error down to that of an orthogonal method
   as long as :math:`\varepsilon\kappa^2` is small.
3. If :math:`\kappa^2` exceeds 1e10, a second pass computes the triangular factor of the rows
   (:class:`TriangularFactor`) and its singular value decomposition, which gives the
   solution of smallest norm when there are many. A source that can be read only once has no
   second pass; then the normal equations are decomposed and a warning tells the accuracy.

References
----------
Å. Björck (1987). Stability analysis of the method of seminormal equations for linear least
squares problems. Linear Algebra and its Applications 88/89, 31-48.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from corollary.core.parallel import one_blas_thread
from corollary.core.summary import ArraySource, Source
from corollary.linear.squares._factorisation import (
    DECOMPOSE_BELOW,
    ScaledCholesky,
    gram_singular_values,
    refinements,
    solve_factor,
    solve_gram,
    svd_values,
)
from corollary.linear.squares._nonnegative import rows_of_equations, solve_nonnegative
from corollary.linear.squares._records import LeastSquares, shaped
from corollary.linear.squares._refinement import ResidualProducts
from corollary.linear.squares._triangular_factor import TriangularFactor
from corollary.linear.squares._wide import is_large, solve_iteratively, solve_wide
from corollary.linear.squares.normal_equations import NormalEquations

# A column whose spread is this small against its mean is constant up to rounding.
CONSTANT = 32 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class LeastSquaresProblem:
    """A penalty and how to solve for it, whatever the data."""

    alpha: float = 0.0
    fit_intercept: bool = True
    solver: str = "auto"  # "auto", "cholesky", "svd" or "lsqr"
    tol: float = 1e-10  # of "lsqr"
    max_iter: int | None = None  # of "lsqr"
    n_jobs: int | None = None
    positive: bool = False  # whether coefficients must not be negative
    singular: bool = False  # whether the singular values of the design are asked for

    @one_blas_thread()
    def solve_arrays(self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> LeastSquares:
        """Solve for validated arrays, on the smaller side of X."""
        iterate = self.solver == "lsqr" or (self.solver == "auto" and is_large(X))
        if iterate and not self.positive:
            return solve_iteratively(
                X, y, sample_weight, self.alpha, self.fit_intercept, self.tol, self.max_iter
            )
        if X.shape[0] <= X.shape[1]:
            return solve_wide(
                X,
                y,
                sample_weight,
                self.alpha,
                self.fit_intercept,
                decompose=self.solver == "svd",
                positive=self.positive,
                singular=self.singular,
            )
        source = ArraySource((X, y, sample_weight))
        equations = source.reduce(NormalEquations.for_data(X, y), self.n_jobs)
        return self.solve_source(source, equations)

    @one_blas_thread()
    def solve_source(self, source: Source, equations: NormalEquations) -> LeastSquares:
        """Solve from normal equations, with more passes over the rows if needed."""
        if not equations.weight > 0:
            raise ValueError("Least squares needs rows of positive weight. All weights are zero.")
        kept = varying_columns(equations, fit_intercept=self.fit_intercept)
        gram = equations.gram(centred=self.fit_intercept)[np.ix_(kept, kept)]
        cross = equations.cross(centred=self.fit_intercept)[kept]
        factor = ScaledCholesky.of(gram, self.alpha)
        rcond = 0.0 if factor is None else factor.rcond
        rows = None
        if self.positive:
            solver, rank = "nnls", len(kept)
            rows = self._triangle(source, equations) if source.rereadable else None
            A, B = rows_of_equations(gram, cross) if rows is None else (rows[0][:, kept], rows[1])
            coef = solve_nonnegative(A, B, self.alpha)
        elif factor is not None and rcond >= DECOMPOSE_BELOW and self.solver != "svd":
            solver, rank = "cholesky", len(kept)
            coef = factor.solve(cross)
            for _ in range(refinements(rcond) if source.rereadable else 0):
                coef += factor.solve(self._descent_direction(source, equations, coef, kept))
        elif source.rereadable:
            solver = "svd"
            rows = self._triangle(source, equations)
            coef, rank = solve_factor(rows[0][:, kept], rows[1], self.alpha)
        else:
            solver = "eigen"
            coef, rank = solve_gram(gram, cross, self.alpha)
            warnings.warn(
                "The normal equations are ill-conditioned (reciprocal condition number "
                f"{rcond:.1e}) and the data can be read only once, so that coefficients may have "
                "few correct digits. Give a file, a list of chunks or arrays, or use Ridge with a "
                "larger alpha.",
                scipy.linalg.LinAlgWarning,
                stacklevel=8,
            )
        full = np.zeros((equations.n_features, cross.shape[1]))
        full[kept] = coef
        intercept = equations.y_mean - equations.x_mean @ full
        values = None
        if self.singular and not self.positive:
            whole = equations.gram(centred=self.fit_intercept)
            values = gram_singular_values(whole) if rows is None else svd_values(rows[0])
        solution = shaped(
            full, intercept, source.target_ndim, self.fit_intercept, rank, rcond, solver
        )
        return solution._replace(singular_values=values)

    def _triangle(
        self, source: Source, equations: NormalEquations
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the triangular factor of the rows, the columns of X and of y apart."""
        means = equations.moments.mean
        shift = means if self.fit_intercept else np.zeros_like(means)
        R = source.reduce(TriangularFactor.of_shift(shift), self.n_jobs).R
        return R[:, : equations.n_features], R[:, equations.n_features :]

    def _descent_direction(
        self, source: Source, equations: NormalEquations, coef: np.ndarray, kept: np.ndarray
    ) -> np.ndarray:
        """Compute minus half the gradient of the objective from the rows themselves."""
        full = np.zeros((equations.n_features, coef.shape[1]))
        full[kept] = coef
        x_mean, y_mean = equations.x_mean, equations.y_mean
        if not self.fit_intercept:
            x_mean, y_mean = np.zeros_like(x_mean), np.zeros_like(y_mean)
        start = ResidualProducts(x_mean, y_mean, full, np.zeros_like(full))
        return source.reduce(start, self.n_jobs).products[kept] - self.alpha * coef


def varying_columns(equations: NormalEquations, *, fit_intercept: bool = True) -> np.ndarray:
    """Return the columns that are not constant (or zero, without intercept) up to rounding.

    Scaling a column of rounding errors to unit length would make noise look like data; the
    coefficient of such a column is zero in the solution of smallest norm.
    """
    squares = np.diag(equations.gram(centred=fit_intercept))
    if not fit_intercept:
        return np.flatnonzero(squares > 0)
    noise = equations.weight * (CONSTANT * equations.x_mean) ** 2
    return np.flatnonzero(squares > noise)
