r"""Moments: weighted count, mean and covariance of rows, mergeable without loss.

Sums of squares lose everything when the mean is large against the spread. Here every block is
shifted by (nearly) its own mean before products are formed, and blocks are merged by the pairwise
formula of Chan, Golub and LeVeque: with weights :math:`W_a, W_b`, means :math:`m_a, m_b` and
scatter matrices :math:`S_a, S_b`,

.. math::

    \delta = m_b - m_a, \quad W = W_a + W_b, \quad m = m_a + \tfrac{W_b}{W}\delta, \quad
    S = S_a + S_b + \tfrac{W_a W_b}{W}\,\delta\delta^\top .

The shift of an unweighted block is the mean of its first few rows. These rows are part of the
block, so the scatter about the block's mean is at least a fixed share of that about the shift and
the correction that moves one to the other cancels four bits at most.

References
----------
T. F. Chan, G. H. Golub and R. J. LeVeque (1983). Algorithms for computing the sample variance:
analysis and recommendations. The American Statistician 37(3), 242-247.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from corollary.core.schema import Array, Integer, Number, Schema
from corollary.core.summary.summary import Chunk, Summary

# The buffer in which rows are centred stays in a core's second-level cache.
BUFFER_BYTES = 2**19

# Below this share of non-zeros the sparse product is faster than the dense one.
SPARSE_SHARE = 0.05


@dataclass(frozen=True, eq=False)
class Moments(Summary):
    """Weighted count, mean and scatter matrix of rows.

    A chunk is ``(X,)``, ``(X, sample_weight)`` or ``(X, None, sample_weight)``; X may be sparse.

    Parameters
    ----------
    n_rows : int
        Rows summarised; rows of weight zero do not count.
    weight : float
        Sum of their weights.
    mean : ndarray of shape (n_features,)
        Weighted mean.
    scatter : ndarray of shape (n_features, n_features)
        Weighted sum of outer products of the rows' deviations from the mean.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.core.summary import Moments
    >>> X = np.array([[1.0, 2.0], [3.0, 2.0], [5.0, 8.0]])
    >>> moments = Moments.of_width(2).update((X[:2],)).update((X[2:],))
    >>> moments.mean
    array([3., 4.])
    >>> moments.covariance(ddof=1)
    array([[ 4.,  6.],
           [ 6., 12.]])
    """

    n_rows: int
    weight: float
    mean: np.ndarray
    scatter: np.ndarray

    _schema = Schema(
        n_rows=Integer(0), weight=Number(0), mean=Array("f", "d"), scatter=Array("f", "d", "d")
    )

    @classmethod
    def of_width(cls, n_features: int) -> Self:
        """Return the moments of no rows.

        Parameters
        ----------
        n_features : int
            Number of columns.

        Returns
        -------
        moments : Moments
            With weight 0.
        """
        return cls(0, 0.0, np.zeros(n_features), np.zeros((n_features, n_features)))

    def empty(self) -> Self:
        """Return the moments of no rows of the same width."""
        return self.of_width(len(self.mean))

    def update(self, chunk: Chunk) -> Self:
        """Add the rows of a chunk's first entry, weighted by its last if there are several."""
        weight = chunk[-1] if len(chunk) > 1 else None
        return self.merge(self.of_columns([chunk[0]], weight))

    @classmethod
    def of_columns(cls, parts: Sequence[Any], weight: np.ndarray | None) -> Self:
        """Compute the moments of one block whose columns come in several arrays.

        Parameters
        ----------
        parts : sequence of arrays of shape (n_samples, .) or (n_samples,)
            The block's columns from left to right; arrays may be sparse.
        weight : ndarray of shape (n_samples,) or None
            Non-negative weights.

        Returns
        -------
        moments : Moments
            The block's moments.
        """
        parts = [part.reshape(-1, 1) if part.ndim == 1 else part for part in parts]
        if weight is not None and not np.all(weight > 0):
            # A row of weight zero must not choose the shift.
            kept = np.flatnonzero(weight)
            parts, weight = [part[kept] for part in parts], weight[kept]
        width = sum(part.shape[1] for part in parts)
        if parts[0].shape[0] == 0:
            return cls.of_width(width)
        if any(map(_is_thin, parts)):
            return cls._of_sparse(parts, weight)
        return cls._of_dense(parts, weight, width)

    @classmethod
    def _of_dense(cls, parts: Sequence[Any], weight: np.ndarray | None, width: int) -> Self:
        n_rows = parts[0].shape[0]
        step = min(n_rows, max(64, BUFFER_BYTES // (8 * width)))
        # The last column is one: the product that gives the scatter then gives the sums too.
        buffer = np.empty((step, width + 1))
        if weight is None:
            total = float(n_rows)
            shift = np.ones(step) @ _fill(buffer, parts, 0, step)[:, :width] / step
        else:
            total = float(weight.sum())
            # Weights differ, so no few rows can stand for the block: one more pass.
            shift = np.zeros(width)
            for start in range(0, n_rows, step):
                Z = _fill(buffer, parts, start, start + step)[:, :width]
                shift += weight[start : start + step] @ Z
            shift /= total
        products = np.zeros((width + 1, width + 1))
        for start in range(0, n_rows, step):
            Z = _fill(buffer, parts, start, start + step, shift)
            if weight is not None:
                Z *= np.sqrt(weight[start : start + step])[:, np.newaxis]
            products += Z.T @ Z
        sums = products[width, :width]
        scatter = products[:width, :width] - np.outer(sums, sums / total)
        return cls(n_rows, total, shift + sums / total, scatter)

    @classmethod
    def _of_sparse(cls, parts: Sequence[Any], weight: np.ndarray | None) -> Self:
        # Columns that are mostly zero have means close to zero against their spread: subtracting
        # the mean's part afterwards loses little, while shifting first would fill the zeros.
        n_rows = parts[0].shape[0]
        X = sparse.hstack([sparse.csr_array(part) for part in parts], format="csr")
        w = np.ones(n_rows) if weight is None else weight
        total = float(w.sum())
        mean = (X.T @ w) / total
        weighted = X.T @ sparse.diags_array(w) if weight is not None else X.T
        scatter = (weighted @ X).toarray()
        return cls(n_rows, total, mean, scatter - total * np.outer(mean, mean))

    def merge(self, other: Self) -> Self:
        """Unite the moments of two sets of rows."""
        if self.weight == 0:
            return other
        if other.weight == 0:
            return self
        weight = self.weight + other.weight
        delta = other.mean - self.mean
        share = other.weight / weight
        scatter = self.scatter + other.scatter
        scatter += np.outer(delta, delta * (self.weight * share))
        return type(self)(self.n_rows + other.n_rows, weight, self.mean + share * delta, scatter)

    def covariance(self, *, ddof: float = 0) -> np.ndarray:
        """Return the covariance matrix.

        Parameters
        ----------
        ddof : float, default=0
            Subtracted from the total weight; 1 gives the unbiased estimate for weights that
            count repetitions.

        Returns
        -------
        covariance : ndarray of shape (n_features, n_features)
            The scatter over the weight.

        Raises
        ------
        ValueError
            If there is not enough weight.
        """
        if self.weight <= ddof:
            raise ValueError(
                f"A covariance with ddof={ddof} needs a total weight above {ddof}. "
                f"Got {self.weight} from {self.n_rows} rows instead."
            )
        return self.scatter / (self.weight - ddof)


def _is_thin(part: Any) -> bool:
    return bool(
        sparse.issparse(part) and part.nnz < SPARSE_SHARE * max(1, part.shape[0] * part.shape[1])
    )


def _fill(
    buffer: np.ndarray,
    parts: Sequence[Any],
    start: int,
    stop: int,
    shift: np.ndarray | None = None,
) -> np.ndarray:
    """Copy rows, less the shift, and a one into the buffer; the parts' layout leaves no trace."""
    rows = min(stop, parts[0].shape[0]) - start
    Z = buffer[:rows]
    Z[:, -1] = 1.0
    column = 0
    for part in parts:
        block = part[start:stop]
        if sparse.issparse(block):
            block = block.toarray()
        columns = slice(column, column + block.shape[1])
        column = columns.stop
        if shift is None:
            Z[:, columns] = block
        else:
            np.subtract(block, shift[columns], out=Z[:, columns])
    return Z
