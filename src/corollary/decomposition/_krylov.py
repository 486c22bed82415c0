"""Leading singular triplets from a few products with a block of vectors.

Golub and Kahan's bidiagonalisation, with blocks and full reorthogonalisation. After m steps the
right vectors span the Krylov space of ``A'A`` and the first block, so that the answer is at least
as good as that of subspace iteration with as many products, whose result lies in that space.

References
----------
C. Musco and C. Musco (2015). Randomized block Krylov methods for stronger and faster approximate
singular value decomposition. NIPS 28.
N. Halko, P. G. Martinsson and J. A. Tropp (2011). Finding structure with randomness. SIAM Review
53, 217-288.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from corollary.core.parallel import in_blocks, one_blas_thread, ordered_map
from corollary.core.summary import MergeTree, block_rows


class CentredRows(LinearOperator):
    """Rows less their mean, times the roots of their weights, which products see block by block.

    Dense rows must have been prepared so; of sparse ones the mean is taken off the products.
    """

    def __init__(self, X: Any, mean: np.ndarray, roots: np.ndarray | None) -> None:
        super().__init__(np.float64, X.shape)
        self._X, self._mean = X, mean
        self._roots = np.ones(X.shape[0]) if roots is None else roots
        self._block = block_rows((X,))

    def _matmat(self, V: np.ndarray) -> np.ndarray:
        product = np.empty((self.shape[0], V.shape[1]))
        offset = self._mean @ V

        def work(start: int, stop: int) -> None:
            part = self._X[start:stop] @ V
            if sparse.issparse(self._X):
                part = (part - offset) * self._roots[start:stop, None]
            product[start:stop] = part

        with one_blas_thread():
            in_blocks(work, self.shape[0], self._block)
        return product

    def _rmatmat(self, U: np.ndarray) -> np.ndarray:
        if sparse.issparse(self._X):
            weighted = U * self._roots[:, None]
            return self._X.T @ weighted - np.outer(self._mean, weighted.sum(axis=0))
        starts, tree = range(0, self.shape[0], self._block), MergeTree(np.add)

        def work(start: int) -> np.ndarray:
            rows = slice(start, start + self._block)
            return self._X[rows].T @ U[rows]

        with one_blas_thread():
            for part in ordered_map(work, starts, workers=None if len(starts) > 1 else 1):
                tree.push(part)
        return tree.result()


class Triplets(NamedTuple):
    """Leading singular values with right singular vectors as rows."""

    values: np.ndarray
    vectors: np.ndarray


def leading_triplets(
    A: CentredRows, k: int, *, start: np.ndarray, max_steps: int, tol: float
) -> Triplets:
    """Return the k largest singular values and their right vectors.

    `start` is a block of vectors with an entry for each row. The run ends when every residual is at
    most `tol` times the largest singular value, and at the latest when the space is the whole one.
    """
    n, d = A.shape
    right, left, B = np.empty((d, 0)), np.empty((n, 0)), np.zeros((0, 0))
    with one_blas_thread():
        block = np.linalg.qr(A.rmatmat(start))[0]
        for step in range(max_steps):
            right = np.hstack([right, block])
            inside, corner, block = _orthogonalised(A.matmat(block), left)
            left = np.hstack([left, block])
            B = np.block([[B, inside], [np.zeros((len(corner), B.shape[1])), corner]])
            room = min(n, d) - right.shape[1]
            if step + 1 == max_steps or room == 0 or not block.size:
                break
            # No more columns than the space has room for, or they could not be orthogonal.
            image = A.rmatmat(block)[:, :room]
            _, outside, following = _orthogonalised(image, right)
            u, s, _ = np.linalg.svd(B)
            # What of A'u lies outside the space comes from the last block of left vectors alone.
            last = u[-block.shape[1] :, :k]
            enough = room >= block.shape[1]  # else the next step is the last
            if enough and np.linalg.norm(outside @ last, axis=0).max() <= tol * s[0]:
                break
            block = following
            if not block.size:
                break
        s, vt = np.linalg.svd(B)[1:]
        return Triplets(s[:k], (right @ vt[:k].T).T)


def _orthogonalised(P: np.ndarray, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return C, R and new orthonormal columns N with ``P = Q C + N R``, as many as there are."""
    inside = Q.T @ P
    N, R = np.linalg.qr(P - Q @ inside)
    # Once more: where nothing was left outside, the new columns are rounding, and are dropped if
    # the second pass leaves nothing of them either.
    again = Q.T @ N
    N, S = np.linalg.qr(N - Q @ again)
    sound = np.abs(np.diag(S)) > 0.1
    return inside + again @ R, (S @ R)[sound], N[:, sound]
