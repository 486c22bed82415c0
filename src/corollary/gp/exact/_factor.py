"""Cholesky factors of kernel matrices with noise."""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

TILE = 128  # rows of a square that fits in cache
# Jitter is tried as these shares of the mean of the diagonal.
JITTER = (0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4)


class Factor(NamedTuple):
    """A Cholesky factor and what had to be added to find it."""

    lower: np.ndarray
    jitter: float


def factorise(K: np.ndarray, noise: Any) -> Factor:
    """Factorise a Gram matrix plus noise on its diagonal."""
    diagonal = np.diag(K) + noise
    if not np.isfinite(diagonal).all():
        raise np.linalg.LinAlgError("The kernel matrix is not finite on its diagonal.")
    scale = float(diagonal.mean()) if len(diagonal) else 1.0
    smallest = len(diagonal) * float(np.finfo(float).eps) * float(diagonal.max(initial=0.0))
    for share in JITTER:
        A = K.copy()
        np.fill_diagonal(A, diagonal + share * scale)
        # LAPACK works in place on columns; the transpose of a symmetric matrix is itself.
        lower, failed = dpotrf(A.T, lower=1, clean=0, overwrite_a=1)
        # A pivot that is nothing but rounding is no better than a negative one.
        if not failed and float(np.diag(lower).min(initial=np.inf)) ** 2 > smallest:
            return Factor(lower, share * scale)
    raise np.linalg.LinAlgError(
        "The kernel matrix is not positive semi-definite: adding "
        f"{JITTER[-1] * scale:.2g} to its diagonal does not help."
    )


def solve(factor: Factor, B: np.ndarray) -> np.ndarray:
    """Solve with a factorised matrix."""
    return dpotrs(factor.lower, B, lower=1)[0]


def inverse(factor: Factor, *, overwrite: bool = False) -> np.ndarray:
    """Invert a factorised matrix."""
    # LAPACK fills the lower triangle of columns, which is the upper one of rows. Squares that fit
    # in cache are mirrored one by one: a whole transpose would read memory across.
    C = dpotri(factor.lower, lower=1, overwrite_c=overwrite)[0].T
    n = len(C)
    for i in range(0, n, TILE):
        block = C[i : i + TILE, i : i + TILE]
        block[:] = np.triu(block) + np.triu(block, 1).T
        for j in range(i + TILE, n, TILE):
            C[j : j + TILE, i : i + TILE] = C[i : i + TILE, j : j + TILE].T
    return C
