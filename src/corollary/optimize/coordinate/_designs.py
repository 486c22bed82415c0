"""Matrices as coordinate descent sees them: centred, weighted, one column at a time.

A design offers squared column norms, correlations of columns with a residual, combinations of
columns, epochs of coordinate descent, and a growing block of *taken* columns whose products are
the Gram matrix of a working set. A sparse matrix is never centred in memory.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse


class Shrinkage(NamedTuple):
    """l1 |w|_1 + l2 |w|^2 / 2, on w >= 0 if ``positive``."""

    l1: float
    l2: float = 0.0
    positive: bool = False


class DenseDesign:
    """A column-major array in double precision."""

    def __init__(self, X: np.ndarray) -> None:
        self.X = X
        self.shape = X.shape
        self.nbytes = X.nbytes
        with np.errstate(over="ignore"):  # overflow is refused later
            self.squares = np.einsum("ij,ij->j", X, X)
        self.forget()

    def forget(self) -> None:
        """Empty the block of taken columns."""
        self._block = np.empty((self.shape[0], 0), order="F")
        self._taken = 0

    def take(self, features: np.ndarray) -> None:
        """Append columns to the block."""
        n, p = self.shape
        total = self._taken + len(features)
        if len(features) == p:  # all of them, in order: the matrix itself is the block
            self._block, self._taken = self.X, p
            return
        if total > self._block.shape[1]:
            grown = np.empty((n, min(p, max(total, 2 * self._taken))), order="F")
            grown[:, : self._taken] = self._block[:, : self._taken]
            self._block = grown
        self._block[:, self._taken : total] = self.X[:, features]
        self._taken = total

    def products(self, k: int) -> np.ndarray:
        """Return the products of all taken columns with the last k of them."""
        block = self._block[:, : self._taken]
        return block.T @ block[:, self._taken - k :]

    def combine_taken(self, w: np.ndarray) -> np.ndarray:
        """Return the combination of the taken columns with coefficients w."""
        return self._block[:, : self._taken] @ w

    def combine(self, features: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return the combination of some columns with coefficients w."""
        total = np.zeros(self.shape[0])
        for start in range(0, len(features), 256):  # bounds the copy that indexing makes
            part = slice(start, start + 256)
            total += self.X[:, features[part]] @ w[part]
        return total

    def correlate(self, residual: np.ndarray, features: np.ndarray, out: np.ndarray) -> None:
        """Write the products of some columns with a residual to ``out[features]``."""
        from corollary.optimize._loops.coordinate_descent import correlate

        correlate(self.X, residual, features, out)

    def epochs(
        self,
        features: np.ndarray,
        residual: np.ndarray,
        w: np.ndarray,
        iterates: np.ndarray,
        penalty: Shrinkage,
    ) -> None:
        """Run epochs of coordinate descent; see ``_loops.coordinate_descent.dense_epochs``."""
        from corollary.optimize._loops.coordinate_descent import dense_epochs

        dense_epochs(self.X, self.squares, features, residual, w, iterates, *penalty)


class SparseDesign:
    """Column j is ``X_j - mean_j * vector`` for a sparse X in compressed columns."""

    def __init__(self, X: Any, mean: np.ndarray, vector: np.ndarray) -> None:
        self.X, self.mean, self.vector = X, mean, vector
        self.shape = X.shape
        self.nbytes = X.data.nbytes + X.indices.nbytes
        self._along = np.asarray(X.T @ vector)
        self._length = float(vector @ vector)
        with np.errstate(over="ignore", invalid="ignore"):  # overflow is refused later
            squares = np.asarray(X.multiply(X).sum(axis=0)).ravel()
            centred = squares - 2.0 * mean * self._along + mean**2 * self._length
        # What cancellation leaves of a constant column is noise, not a column.
        self.squares = np.where(centred <= 1e-14 * squares, 0.0, centred)
        self.squares[~np.isfinite(squares)] = np.inf
        self._columns = (X.data, X.indices, X.indptr)
        self.forget()

    def forget(self) -> None:
        """Empty the block of taken columns."""
        self._block = self.X[:, :0]
        self._features = np.zeros(0, dtype=np.int64)

    def take(self, features: np.ndarray) -> None:
        """Append columns to the block."""
        self._block = sparse.hstack([self._block, self.X[:, features]], format="csc")
        self._features = np.concatenate([self._features, features])

    def products(self, k: int) -> np.ndarray:
        """Return the products of all taken columns with the last k of them."""
        first = self._block.shape[1] - k
        left, right = self._features, self._features[first:]
        plain = (self._block.T @ self._block[:, first:]).toarray()
        mean, along = self.mean, self._along
        plain -= np.outer(mean[left], along[right]) + np.outer(along[left], mean[right])
        plain += self._length * np.outer(mean[left], mean[right])
        return plain

    def combine_taken(self, w: np.ndarray) -> np.ndarray:
        """Return the combination of the taken columns with coefficients w."""
        return self._block @ w - (self.mean[self._features] @ w) * self.vector

    def combine(self, features: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return the combination of some columns with coefficients w."""
        return self.X[:, features] @ w - (self.mean[features] @ w) * self.vector

    def correlate(self, residual: np.ndarray, features: np.ndarray, out: np.ndarray) -> None:
        """Write the products of all columns with a residual to ``out``."""
        out[:] = self.X.T @ residual - self.mean * (self.vector @ residual)

    def epochs(
        self,
        features: np.ndarray,
        residual: np.ndarray,
        w: np.ndarray,
        iterates: np.ndarray,
        penalty: Shrinkage,
    ) -> None:
        """Run epochs of coordinate descent; see ``_loops.coordinate_descent.sparse_epochs``."""
        from corollary.optimize._loops.coordinate_descent import sparse_epochs

        centre = (self.mean, self.vector)
        sparse_epochs(
            self._columns, centre, self.squares, features, residual, w, iterates, *penalty
        )


Design = DenseDesign | SparseDesign
