"""Factorisations behind least squares: scaled Cholesky, singular values, eigenvalues."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.linalg

# Of singular values or eigenvalues, those below this share of the largest, times the size of the
# matrix, are rounding: decompositions are exact for a matrix that is off by a few units in the last
# place.
ROUNDING = 10 * float(np.finfo(np.float64).eps)
# Reciprocals of the condition number of scaled normal equations. Above the first, their solution
# is as accurate as any; below the second, refinement contracts by less than about 1e-4 per step;
# below the third an orthogonal method is the honest choice.
REFINE_BELOW = 1e-2
REFINE_TWICE_BELOW = 1e-7
DECOMPOSE_BELOW = 1e-10


@dataclass(frozen=True, eq=False)
class ScaledCholesky:
    """Cholesky factor of a penalised Gram matrix scaled to unit diagonal."""

    factor: np.ndarray  # upper triangular
    scale: np.ndarray  # square roots of the diagonal before scaling
    rcond: float  # estimated reciprocal condition number

    @classmethod
    def of(cls, gram: np.ndarray, alpha: float = 0.0) -> Self | None:
        """Factorise ``gram + alpha * I``."""
        diagonal = np.diag(gram) + alpha
        if not np.all(diagonal > 0):
            return None
        scale = np.sqrt(diagonal)
        scaled = gram / scale / scale[:, np.newaxis]
        np.fill_diagonal(scaled, 1.0)
        norm = float(np.abs(scaled).sum(axis=0).max(initial=0.0))
        if len(scale) == 0:
            return cls(scaled, scale, 1.0)
        try:
            factor = scipy.linalg.cholesky(scaled, check_finite=False)
        except scipy.linalg.LinAlgError:
            return None
        rcond, _ = scipy.linalg.lapack.dpocon(factor, norm)
        return cls(factor, scale, float(rcond))

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Solve for one or several right-hand sides."""
        if len(self.scale) == 0:
            return np.zeros_like(right)
        scale = self.scale[:, np.newaxis]
        return (
            scipy.linalg.cho_solve((self.factor, False), right / scale, check_finite=False) / scale
        )


def refinements(rcond: float) -> int:
    """Return how many steps of iterative refinement a condition asks for."""
    return int(rcond < REFINE_BELOW) + int(rcond < REFINE_TWICE_BELOW)


def numerical_rank(values: np.ndarray, size: int) -> int:
    """Count the singular values or eigenvalues of a matrix that are not rounding."""
    return int(np.sum(values > ROUNDING * size * max(float(values.max(initial=0.0)), 0.0)))


def solve_factor(A: np.ndarray, B: np.ndarray, alpha: float = 0.0) -> tuple[np.ndarray, int]:
    """Minimise ``|B - A W|^2 + alpha |W|^2`` by singular values; smallest norm if alpha is 0."""
    if A.shape[1] == 0:
        return np.zeros((0, B.shape[1])), 0
    if A.shape[0] < A.shape[1]:
        norms = np.linalg.norm(A, axis=0)
        scaled = A / np.where(norms > 0, norms, 1.0)
        rank = numerical_rank(scipy.linalg.svdvals(scaled, check_finite=False), max(A.shape))
    else:
        U, s, Vt, rank, norms = scaled_decomposition(A)
        if alpha == 0 and rank == A.shape[1]:
            return (Vt.T @ ((U.T @ B) / s[:, np.newaxis])) / norms[:, np.newaxis], rank
    U, s, Vt = scipy.linalg.svd(A, full_matrices=False, check_finite=False)
    # Singular values beyond the rank are rounding, which a tiny penalty would not hold down.
    inverse = np.zeros_like(s)
    # Without a penalty the square is not needed, and may vanish.
    inverse[:rank] = 1.0 / s[:rank] if alpha == 0 else s[:rank] / (s[:rank] ** 2 + alpha)
    return Vt.T @ (inverse[:, np.newaxis] * (U.T @ B)), rank


def scaled_decomposition(
    A: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int, np.ndarray]:
    """Decompose a matrix with its columns scaled to unit length, and judge its rank.

    Columns in different units do not make a design singular, which is why the rank is judged
    after scaling.
    """
    norms = np.linalg.norm(A, axis=0)
    norms[norms == 0] = 1.0
    U, s, Vt = scipy.linalg.svd(A / norms, full_matrices=False, check_finite=False)
    return U, s, Vt, numerical_rank(s, max(A.shape)), norms


def svd_values(A: np.ndarray) -> np.ndarray:
    """Return the singular values of a matrix, descending."""
    return scipy.linalg.svdvals(A, check_finite=False) if A.size else np.zeros(min(A.shape))


def gram_singular_values(gram: np.ndarray) -> np.ndarray:
    """Return the singular values, descending, of a matrix with a well-conditioned Gram matrix."""
    return np.sqrt(np.maximum(scipy.linalg.eigvalsh(gram, check_finite=False)[::-1], 0.0))


def solve_gram(gram: np.ndarray, cross: np.ndarray, alpha: float = 0.0) -> tuple[np.ndarray, int]:
    """Solve ``(gram + alpha * I) W = cross`` by eigenvalues; smallest norm if alpha is 0."""
    if len(gram) == 0:
        return np.zeros_like(cross), 0
    values, vectors = scipy.linalg.eigh(gram, check_finite=False)
    rank = numerical_rank(values, len(values))
    inverse = np.zeros_like(values)
    kept = slice(len(values) - rank, None)
    inverse[kept] = 1.0 / (values[kept] + alpha)
    return vectors @ (inverse[:, np.newaxis] * (vectors.T @ cross)), rank
