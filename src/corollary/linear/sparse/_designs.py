"""Matrices as coordinate descent sees them: centred, weighted, one column at a time.

A design offers squared column norms, correlations of columns with a residual, combinations of
columns, epochs of coordinate descent, and a growing block of *taken* columns whose products are
the Gram matrix of a working set. A sparse matrix is never centred in memory.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse


class Penalty(NamedTuple):
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
        with np.errstate(over="ignore"):  # `prepare` refuses what overflows
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
        from corollary.linear._loops.coordinate_descent import correlate

        correlate(self.X, residual, features, out)

    def epochs(
        self,
        features: np.ndarray,
        residual: np.ndarray,
        w: np.ndarray,
        iterates: np.ndarray,
        penalty: Penalty,
    ) -> None:
        """Run epochs of coordinate descent; see ``_loops.coordinate_descent.dense_epochs``."""
        from corollary.linear._loops.coordinate_descent import dense_epochs

        dense_epochs(self.X, self.squares, features, residual, w, iterates, *penalty)


class SparseDesign:
    """Column j is ``X_j - mean_j * vector`` for a sparse X in compressed columns."""

    def __init__(self, X: Any, mean: np.ndarray, vector: np.ndarray) -> None:
        self.X, self.mean, self.vector = X, mean, vector
        self.shape = X.shape
        self.nbytes = X.data.nbytes + X.indices.nbytes
        self._along = np.asarray(X.T @ vector)
        self._length = float(vector @ vector)
        with np.errstate(over="ignore", invalid="ignore"):  # `prepare` refuses what overflows
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
        penalty: Penalty,
    ) -> None:
        """Run epochs of coordinate descent; see ``_loops.coordinate_descent.sparse_epochs``."""
        from corollary.linear._loops.coordinate_descent import sparse_epochs

        centre = (self.mean, self.vector)
        sparse_epochs(
            self._columns, centre, self.squares, features, residual, w, iterates, *penalty
        )


Design = DenseDesign | SparseDesign


class Prepared(NamedTuple):
    """Data without intercept: the design, the centred targets and what was subtracted."""

    design: Design
    Y: np.ndarray  # (n_samples, n_targets), centred and weighted
    X_mean: np.ndarray
    Y_mean: np.ndarray


def prepare(
    X: Any, Y: np.ndarray, sample_weight: np.ndarray | None, fit_intercept: bool
) -> Prepared:
    """Centre and weight validated data so that neither intercept nor weights remain.

    Weights are scaled to average one; rows are multiplied by their square roots.
    """
    n, p = X.shape
    if sample_weight is None:
        weight = np.ones(n)
    else:
        if not sample_weight.sum() > 0.0:
            raise ValueError(
                "sample_weight must have a positive sum. Got only zeros: give at least one row "
                "a positive weight."
            )
        weight = sample_weight * (n / sample_weight.sum())
    root = np.sqrt(weight)
    Y_mean = (weight @ Y) / n if fit_intercept else np.zeros(Y.shape[1])
    Y = (Y - Y_mean) * root[:, None]
    if sparse.issparse(X):
        columns = sparse.csc_matrix(X, dtype=np.float64, copy=sample_weight is not None)
        columns.sum_duplicates()
        X_mean = np.asarray(columns.T @ weight).ravel() / n if fit_intercept else np.zeros(p)
        if sample_weight is not None:
            columns.data *= root[columns.indices]
        return _finite(Prepared(SparseDesign(columns, X_mean, root), Y, X_mean, Y_mean))
    X_mean = (weight @ X) / n if fit_intercept else np.zeros(p)
    if fit_intercept or sample_weight is not None:
        X = np.array(X, dtype=np.float64, order="F", copy=True)
        X -= X_mean
        if sample_weight is not None:
            X *= root[:, None]
    else:
        X = np.asarray(X, dtype=np.float64, order="F")
    design = DenseDesign(X)
    # Rounding leaves noise where a constant column was: it is not a column.
    constant = design.squares <= n * (1e-14 * X_mean) ** 2
    if fit_intercept and constant.any():
        X[:, constant] = 0.0
        design.squares[constant] = 0.0
    return _finite(Prepared(design, Y, X_mean, Y_mean))


def _finite(prepared: Prepared) -> Prepared:
    """Refuse data whose squares overflow once rows are multiplied by the roots of their weights."""
    with np.errstate(over="ignore"):
        targets = np.einsum("ij,ij->j", prepared.Y, prepared.Y)
    for name, squares in (("features", prepared.design.squares), ("targets", targets)):
        if not np.isfinite(squares).all():
            raise ValueError(
                f"The squares of the {name}, times the weights of their rows, have a sum beyond "
                f"the largest number. Divide the {name} by a constant so that they are about one."
            )
    return prepared
