"""Cholesky factorisation in place, in fixed blocks: the same bits for any number of threads.

LAPACK's own routine splits its work by the number of threads, and so do its rounding errors. Here
the blocks are fixed, each is computed by one BLAS thread, and threads share out the blocks. Only
one triangle is touched, so that the matrix can be restored from the other one.
"""

from collections import deque

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs

from corollary.core.parallel import one_blas_thread, ordered_map

BLOCK = 384


def factor_in_place(K: np.ndarray) -> bool:
    """Overwrite the lower triangle of a symmetric matrix by its Cholesky factor."""
    n = len(K)
    blocks = list(range(0, n, BLOCK))
    with one_blas_thread():
        for k in blocks:
            e = min(k + BLOCK, n)
            L, info = dpotrf(np.asfortranarray(K[k:e, k:e]), lower=1, overwrite_a=1, clean=1)
            if info:
                return False
            lower = np.tri(e - k, dtype=bool)
            np.copyto(K[k:e, k:e], L, where=lower)

            def panel(i: int, k: int = k, e: int = e, L: np.ndarray = L) -> None:
                rows = K[i : min(i + BLOCK, n), k:e]
                rows[:] = dtrtrs(L, rows.T, lower=1)[0].T

            def update(at: tuple[int, int], k: int = k, e: int = e) -> None:
                i, j = at
                a, b = min(i + BLOCK, n), min(j + BLOCK, n)
                product = K[i:a, k:e] @ K[j:b, k:e].T
                if i == j:  # the upper half of a diagonal block belongs to the original
                    product *= np.tri(a - i)
                K[i:a, j:b] -= product

            rest = range(e, n, BLOCK)
            deque(ordered_map(panel, rest), maxlen=0)
            tiles = ((i, j) for i in rest for j in range(e, i + 1, BLOCK))
            deque(ordered_map(update, tiles), maxlen=0)
    return True


def solve_factored(K: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Solve ``L L' x = y`` for a factor from :func:`factor_in_place`."""
    with one_blas_thread():
        return dpotrs(K.T, y, lower=0)[0]


def restore(K: np.ndarray, diagonal: np.ndarray) -> None:
    """Undo :func:`factor_in_place`, copying the upper triangle to the lower one."""
    for i in range(1, len(K)):
        K[i, :i] = K[:i, i]
    np.fill_diagonal(K, diagonal)
