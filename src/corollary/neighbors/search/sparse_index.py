"""Finding nearest rows of sparse matrices without filling them up."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from corollary.core.parallel import ordered_map
from corollary.core.schema import Number, Schema, Sparse, Text
from corollary.neighbors.search._metrics import (
    check_directions,
    check_metric,
    in_order,
    measure,
    metric_code,
    room,
    shift_of,
)
from corollary.neighbors.search._within import Neighborhoods, gather, reduced_limit


class _Compressed(NamedTuple):
    """Rows (or columns) of a sparse matrix, as compiled searches take them."""

    starts: np.ndarray  # where the entries of each row begin
    where: np.ndarray  # columns, in order in each row
    values: np.ndarray  # numbers


def _fits(index: Any) -> str | None:
    rows = index.rows
    if rows.format != "csr" or rows.dtype != np.float64 or rows.shape[0] == 0:
        return "its rows are none, or not in compressed rows of double precision"
    ordered = np.diff(rows.indices) > 0
    ordered[rows.indptr[(rows.indptr > 0) & (rows.indptr < rows.nnz)] - 1] = True
    if not ordered.all():
        return "the columns of its rows are not in order"
    if index.metric == "minkowski" and not 1 <= index.p <= 1e6:
        return "its power is impossible"
    return None


@dataclass(frozen=True, eq=False)
class SparseNeighborIndex:
    """Sparse rows prepared for searches.

    Parameters
    ----------
    rows : sparse matrix of shape (n_samples, n_features)
        The rows, compressed by rows with columns in order; of unit length for "cosine".
    metric : str
        "euclidean", "manhattan", "chebyshev", "minkowski" or "cosine".
    p : float
        Power of "minkowski".

    See Also
    --------
    NeighborIndex : For dense rows.

    Notes
    -----
    All rows are searched. For "euclidean" and "cosine" the products of a query with all rows are
    summed along the columns where it has entries, and rows that these leave out of the question,
    by a margin for rounding, are not measured. Distances are sums over the entries of both rows
    in the order of their columns; so they agree with those of the dense rows up to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from corollary.neighbors import SparseNeighborIndex
    >>> index = SparseNeighborIndex.build(csr_array([[0.0, 1.0], [2.0, 0.0]]))
    >>> index.query(csr_array([[3.0, 0.0]]), 1)
    (array([[1.]]), array([[1]]))
    """

    rows: Any
    metric: str
    p: float

    _schema = Schema(
        _fits,
        rows=Sparse("n", "d"),
        metric=Text(("euclidean", "manhattan", "chebyshev", "minkowski", "cosine")),
        p=Number(1, infinite=True),
    )

    algorithm = "brute"

    @classmethod
    def build(cls, X: Any, *, metric: str = "euclidean", p: float = 2.0) -> "SparseNeighborIndex":
        """Prepare rows.

        Parameters
        ----------
        X : sparse matrix of shape (n_samples, n_features)
            Finite rows.
        metric : str, default="euclidean"
            As of :meth:`NeighborIndex.build`.
        p : float, default=2.0
            Power of "minkowski".

        Returns
        -------
        index : SparseNeighborIndex
            The index.
        """
        metric, p = check_metric("SparseNeighborIndex.build", metric, p)
        return cls(_canonical(X, metric), metric, p)

    def query(self, Q: Any, k: int, *, n_jobs: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Find the k nearest rows of each query.

        Parameters
        ----------
        Q : sparse matrix or ndarray of shape (n_queries, n_features)
            Finite queries.
        k : int
            How many, at most as many as there are rows.
        n_jobs : int or None, default=None
            Threads; None or -1 for all cores. They do not change the result.

        Returns
        -------
        distances : ndarray of shape (n_queries, k)
            Distances, nearest first.
        neighbors : ndarray of int of shape (n_queries, k)
            Numbers of the rows; equal distances are in the order of the numbers.
        """
        from corollary.neighbors._loops.sparse import nearest_sparse

        Q, shift, prepared = self._prepare(Q)
        values, neighbors = room(Q.shape[0], k)

        def block(part: slice) -> None:
            nearest_sparse(
                *prepared[:4], _compress(Q[part]), *prepared[4:], values[part], neighbors[part]
            )

        workers = None if n_jobs is None or n_jobs < 1 else n_jobs
        for _ in ordered_map(block, _parts(Q.shape[0]), workers=workers):
            pass
        distances, neighbors = in_order(measure(self.metric, self.p, values), neighbors)
        return np.ldexp(distances, shift), neighbors

    def query_radius(self, Q: Any, radius: float, *, n_jobs: int | None = None) -> Neighborhoods:
        """Find all rows within a distance of each query.

        Parameters
        ----------
        Q : sparse matrix or ndarray of shape (n_queries, n_features)
            Finite queries.
        radius : float
            The largest distance wanted, not negative.
        n_jobs : int or None, default=None
            Threads; None or -1 for all cores. They do not change the result.

        Returns
        -------
        neighborhoods : Neighborhoods
            Rows and distances, in the order of the row numbers.
        """
        from corollary.neighbors._loops.sparse import within_sparse

        Q, shift, prepared = self._prepare(Q)
        near = float(np.ldexp(radius, -shift))
        limit = reduced_limit(self.metric, self.p, near)
        near_rows = gather(
            lambda part: within_sparse(*prepared[:4], _compress(Q[part]), *prepared[4:], limit),
            lambda values: measure(self.metric, self.p, values),
            near,
            _parts(Q.shape[0]),
            (Q.shape[0], self.rows.shape[0]),
            None if n_jobs is None or n_jobs < 1 else n_jobs,
        )
        return near_rows._replace(distances=np.ldexp(near_rows.distances, shift))

    def original_rows(self) -> Any:
        """Return the rows in their own order.

        Returns
        -------
        rows : sparse matrix of shape (n_samples, n_features)
            The rows.
        """
        return self.rows

    def _prepare(self, Q: Any) -> tuple[Any, int, tuple]:
        """Return queries over a power of two, its exponent, and what compiled searches take."""
        Q = _canonical(Q, self.metric)
        largest = max(self._largest, float(np.abs(Q.data).max(initial=0.0)))
        shift = shift_of(largest, self.metric, self.p)
        if shift:
            Q.data = np.ldexp(Q.data, -shift)
        rows, columns, squares = _compress_both(self.rows, shift) if shift else self._compressed
        longest = int(np.diff(rows.starts).max(initial=0) + np.diff(Q.indptr).max(initial=0))
        # Rounding of sums of that many squares and products, each in any order, with room.
        margin = 8.0 * (longest + 8) * 2.0**-53
        return Q, shift, (rows, columns, squares, margin, metric_code(self.metric), float(self.p))

    @cached_property
    def _largest(self) -> float:
        return float(np.abs(self.rows.data).max(initial=0.0))

    @cached_property
    def _compressed(self) -> tuple[_Compressed, _Compressed, np.ndarray]:
        return _compress_both(self.rows, 0)


def _canonical(X: Any, metric: str) -> Any:
    """Return compressed rows of double precision, columns in order, of unit length for "cosine"."""
    from scipy.sparse import csr_matrix

    rows = csr_matrix(X, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    if metric != "cosine":
        return rows
    rows.eliminate_zeros()
    counts = np.diff(rows.indptr)
    check_directions(counts > 0)
    if rows.nnz:
        row = np.repeat(np.arange(len(counts)), counts)
        # First over the largest entry, so that squares neither overflow nor vanish.
        rows.data /= np.maximum.reduceat(np.abs(rows.data), rows.indptr[:-1])[row]
        rows.data /= np.sqrt(np.bincount(row, rows.data**2))[row]
    return rows


def _compress(X: Any) -> _Compressed:
    return _Compressed(X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data)


def _compress_both(rows: Any, shift: int) -> tuple[_Compressed, _Compressed, np.ndarray]:
    """Return rows over a power of two, their columns, and their sums of squares."""
    if shift:
        rows = rows.copy()
        rows.data = np.ldexp(rows.data, -shift)
    squares = np.zeros(rows.shape[0])
    np.add.at(squares, np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)), rows.data**2)
    return _compress(rows), _compress(rows.tocsc()), squares


def _parts(n_queries: int) -> list[slice]:
    step = max(1, min(64, n_queries // 16))
    return [slice(i, i + step) for i in range(0, n_queries, step)]
