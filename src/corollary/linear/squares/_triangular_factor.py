r"""Triangular factor: least squares without squaring the condition number.

The R of a QR factorisation of :math:`\sqrt{w_i}\,[x_i - s, y_i - t]` (rows i, fixed shifts s and t)
holds all that least squares needs, as the normal equations do, but to full accuracy: products of
columns are never formed. R can be computed in pieces, for the R of two stacked pieces is the R of
their stacked Rs (the tall-skinny QR of Demmel, Grigori, Hoemmen and Langou).

References
----------
J. Demmel, L. Grigori, M. Hoemmen and J. Langou (2012). Communication-optimal parallel and
sequential QR and LU factorizations. SIAM Journal on Scientific Computing 34(1), A206-A239.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.linalg
from scipy import sparse

from corollary.core.summary import Chunk, Summary


@dataclass(frozen=True, eq=False)
class TriangularFactor(Summary):
    """The R of a QR factorisation of shifted, weighted rows.

    A chunk is ``(X, y)`` or ``(X, y, sample_weight)``; a sparse X is made dense block by block.
    """

    shift: np.ndarray  # subtracted from every row of [X, y]
    R: np.ndarray  # (m, n_columns), m <= n_columns; rows are determined up to their signs

    @classmethod
    def of_shift(cls, shift: np.ndarray) -> Self:
        """Return the factor of no rows."""
        return cls(shift, np.empty((0, len(shift))))

    def empty(self) -> Self:
        """Return the factor of no rows with the same shift."""
        return self.of_shift(self.shift)

    def update(self, chunk: Chunk) -> Self:
        """Add the rows of ``(X, y)`` or ``(X, y, sample_weight)``."""
        X, y = chunk[:2]
        dense = X.toarray() if sparse.issparse(X) else X
        Z = np.column_stack([dense, y]) - self.shift
        if len(chunk) > 2 and chunk[2] is not None:
            Z *= np.sqrt(chunk[2])[:, np.newaxis]
        return type(self)(self.shift, _factor(np.concatenate([self.R, Z])))

    def merge(self, other: Self) -> Self:
        """Unite the factors of two sets of rows."""
        if len(other.R) == 0:
            return self
        if len(self.R) == 0:
            return other
        return type(self)(self.shift, _factor(np.concatenate([self.R, other.R])))


def _factor(rows: np.ndarray) -> np.ndarray:
    (R,) = scipy.linalg.qr(rows, mode="r", overwrite_a=True, check_finite=False)
    return R[: rows.shape[1]]
