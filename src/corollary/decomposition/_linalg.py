"""Checks and eigenvectors that the package shares."""

from typing import Any

import numpy as np

from corollary.core.parallel import one_blas_thread


def symmetric(who: str, matrix: Any) -> np.ndarray:
    """Return a finite symmetric matrix as numbers, or say what else it is."""
    S = np.asarray(matrix, dtype=np.float64)
    if S.ndim != 2 or S.shape[0] != S.shape[1] or not np.isfinite(S).all():
        raise ValueError(f"{who} needs a square matrix of finite numbers. Got shape {S.shape}.")
    size = np.abs(S).max(initial=0.0)
    if not np.allclose(S, S.T, rtol=0, atol=1e-8 * size):
        raise ValueError(
            f"{who} needs a symmetric matrix. Got one that differs from its transpose."
        )
    return S


def second_moment(who: str, matrix: Any) -> np.ndarray:
    """Return a symmetric positive semi-definite matrix as numbers, or say what else it is."""
    S = symmetric(who, matrix)
    smallest, size = np.linalg.eigvalsh(S).min(initial=0.0), np.abs(S).max(initial=0.0)
    if smallest < -1e-8 * size:
        raise ValueError(
            f"{who} needs a positive semi-definite matrix, as covariances and second moments are. "
            f"Got an eigenvalue of {smallest:.3g}."
        )
    return S


def orthonormal(who: str, basis: Any, n_features: int) -> np.ndarray:
    """Return a matrix with orthonormal columns as numbers, or say what else it is."""
    U = np.asarray(basis, dtype=np.float64)
    if U.ndim != 2 or U.shape[0] != n_features:
        raise ValueError(
            f"{who} needs a basis with {n_features} rows, one for each feature, and a column for "
            f"each direction. Got shape {U.shape}."
        )
    if not np.allclose(U.T @ U, np.eye(U.shape[1]), rtol=0, atol=1e-8):
        raise ValueError(
            f"{who} needs orthonormal columns, U'U = I. Take numpy.linalg.qr of the basis first."
        )
    return U


def up_to(who: str, n_components: int, largest: int) -> int:
    """Return a number of components, which is between 0 and the largest."""
    if not 0 <= n_components <= largest:
        raise ValueError(
            f"The 'n_components' parameter of {who} must be between 0 and {largest}. "
            f"Got {n_components!r} instead."
        )
    return int(n_components)


def with_signs(rows: np.ndarray) -> np.ndarray:
    """Turn rows so that of each the entry of largest absolute value is positive."""
    strongest = np.abs(rows).argmax(axis=1) if rows.size else np.zeros(len(rows), dtype=int)
    return rows * np.where(rows[np.arange(len(rows)), strongest] < 0, -1.0, 1.0)[:, None]


def eigenpairs(S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues in descending order and eigenvectors as rows, with fixed signs."""
    with one_blas_thread():
        values, vectors = np.linalg.eigh(S)
    return values[::-1], with_signs(vectors[:, ::-1].T)
