"""Iterative refinement of a least-squares solution: residuals computed from the rows."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy import sparse

from corollary.core.summary import Chunk, Summary


@dataclass(frozen=True, eq=False)
class ResidualProducts(Summary):
    """Products of the centred columns with the residuals of a solution.

    They are the weighted sum over rows of ``(x - x_mean) (y - y_mean - (x - x_mean) @ coef)``.
    """

    x_mean: np.ndarray
    y_mean: np.ndarray
    coef: np.ndarray  # (n_features, n_targets)
    products: np.ndarray  # so far

    def empty(self) -> Self:
        """Return zero products for the same solution."""
        return replace(self, products=np.zeros_like(self.coef))

    def update(self, chunk: Chunk) -> Self:
        """Add the rows of ``(X, y)`` or ``(X, y, sample_weight)``."""
        X, y = chunk[:2]
        target = (y.reshape(-1, 1) if y.ndim == 1 else y) - self.y_mean
        if sparse.issparse(X):
            residual = target - (X @ self.coef - self.x_mean @ self.coef)
        else:
            Z = X - self.x_mean
            residual = target - Z @ self.coef
        if len(chunk) > 2 and chunk[2] is not None:
            residual *= chunk[2][:, np.newaxis]
        if sparse.issparse(X):
            products = X.T @ residual - np.outer(self.x_mean, residual.sum(axis=0))
        else:
            products = Z.T @ residual
        return replace(self, products=self.products + products)

    def merge(self, other: Self) -> Self:
        """Add the products of other rows."""
        return replace(self, products=self.products + other.products)
