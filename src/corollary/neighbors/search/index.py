r"""Finding nearest rows: all rows by matrix products, or few of them by a k-d tree.

Every search ranks rows by distance and, among equals, by row number, and computes the distances
it ranks by directly from the coordinates in double precision. Faster arithmetic only proposes
candidates: products :math:`|x|^2 - 2 q^\top x` in single precision lose digits, but not more than
a bound that is known, and a query whose candidates are not certain to suffice searches all rows.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from corollary.core.compat import StrOptions
from corollary.core.estimator import Count, PositiveOrInfinite, RowsLike, checked
from corollary.core.parallel import one_blas_thread, ordered_map
from corollary.core.schema import Array, Number, Schema, Text
from corollary.neighbors.search._metrics import (
    METRICS,
    check_metric,
    in_order,
    measure,
    metric_code,
    room,
    shift_of,
    unit_rows,
)
from corollary.neighbors.search._within import Neighborhoods, rows_looked_at, rows_within
from corollary.neighbors.search.sparse_index import SparseNeighborIndex

ALGORITHMS = ("auto", "brute", "kd_tree")

# Queries and rows of a tile of approximate distances: half a megabyte stays in a core's cache.
QUERIES, ROWS = 256, 512
# Fewer pairs than this are not worth preparing matrix products for.
SMALL = 100_000
# Unit roundoff of single precision.
UNIT = 2.0**-24

# The tree looks at a row in about 20 times the time that a matrix product needs for a pair, and
# in about 4 times that of a direct distance, so this share of the rows is where it stops to win.
SHARE_OF_PRODUCTS, SHARE_OF_DISTANCES = 0.05, 0.25
# The share is measured on this many rows of training; trees of more columns, or of fewer rows,
# are not even tried.
PROBES, MOST_COLUMNS, LEAST_ROWS = 32, 24, 2000


def _fits(index: Any) -> str | None:
    n, nodes = len(index.order), len(index.low)
    if n == 0 or index.rows.dtype != np.float64 or index.order.dtype != np.int64:
        return "it has no rows, or rows of the wrong type"
    if not np.array_equal(np.sort(index.order), np.arange(n)):
        return "the order of its rows is not one"
    if nodes and (nodes & (nodes + 1) or (nodes + 1) // 2 > n):
        return "its tree has an impossible number of nodes"
    for box in (index.low, index.high):
        if box.dtype != np.float64:
            return "its tree has impossible boxes"
    if index.metric == "minkowski" and not 1 <= index.p <= 1e6:
        return "its power is impossible"
    return None


@dataclass(frozen=True, eq=False)
class NeighborIndex:
    """Rows prepared for searches.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_features)
        The rows, in the order of the tree; of unit length for the metric "cosine".
    order : ndarray of int of shape (n_samples,)
        Their original numbers.
    low : ndarray of shape (n_nodes, n_features)
        Lower corners of the tree's boxes; no nodes without a tree.
    high : ndarray of shape (n_nodes, n_features)
        Upper corners.
    metric : str
        "euclidean", "manhattan", "chebyshev", "minkowski" or "cosine".
    p : float
        Power of "minkowski".

    See Also
    --------
    nearest_neighbors : One search, without an index.

    Notes
    -----
    Node i of the tree has the children 2i + 1 and 2i + 2, and each takes half of its rows; so
    the boxes and the order are all there is to store.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.neighbors import NeighborIndex
    >>> index = NeighborIndex.build(np.array([[0.0], [1.0], [3.0]]))
    >>> index.query(np.array([[2.2]]), 2)
    (array([[0.8, 1.2]]), array([[2, 1]]))
    """

    rows: np.ndarray
    order: np.ndarray
    low: np.ndarray
    high: np.ndarray
    metric: str
    p: float

    _schema = Schema(
        _fits,
        rows=Array("f", "n", "d"),
        order=Array("i", "n", low=0, below="n"),
        low=Array("f", "t", "d"),
        high=Array("f", "t", "d"),
        metric=Text(("euclidean", "manhattan", "chebyshev", "minkowski", "cosine")),
        p=Number(1, infinite=True),
    )

    @property
    def algorithm(self) -> str:
        """What searches use: "brute" or "kd_tree"."""
        return "kd_tree" if len(self.low) else "brute"

    @classmethod
    def build(
        cls,
        X: np.ndarray,
        *,
        metric: str = "euclidean",
        p: float = 2.0,
        algorithm: str = "auto",
        leaf_size: int = 30,
        n_neighbors: int = 10,
        radius: float | None = None,
    ) -> "NeighborIndex":
        """Prepare rows.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Finite rows.
        metric : str, default="euclidean"
            "euclidean", "manhattan", "chebyshev", "minkowski" or "cosine", or another name of
            these in SciPy.
        p : float, default=2.0
            Power of "minkowski".
        algorithm : {"auto", "brute", "kd_tree"}, default="auto"
            "auto" builds a tree, counts the rows that searches for a few of the rows look at,
            and keeps the tree if these are few.
        leaf_size : int, default=30
            Largest number of rows in a leaf of the tree.
        n_neighbors : int, default=10
            Neighbours that "auto" counts with.
        radius : float or None, default=None
            Radius that "auto" counts with instead.

        Returns
        -------
        index : NeighborIndex
            The index.
        """
        metric, p = check_metric("NeighborIndex.build", metric, p)
        X = np.ascontiguousarray(X, dtype=np.float64)
        if metric == "cosine":
            X = unit_rows(X)
        n, d = X.shape
        none = np.empty((0, d))
        plain = cls(X, np.arange(n), none, none, metric, p)
        if algorithm == "brute" or (
            algorithm == "auto" and (n < LEAST_ROWS or d > MOST_COLUMNS or d == 0)
        ):
            return plain
        tree = plain._with_tree(leaf_size)
        if algorithm == "kd_tree":
            return tree
        k = min(n_neighbors, n)
        probes = np.ascontiguousarray(X[:: max(1, n // PROBES)][:PROBES])
        looked = (
            tree._search_tree(probes, *room(len(probes), k))
            if radius is None
            else rows_looked_at(tree, probes, radius)
        )
        share = SHARE_OF_PRODUCTS if tree._multiplies else SHARE_OF_DISTANCES
        return tree if looked < share * n * len(probes) else plain

    def query(
        self, Q: np.ndarray, k: int, *, n_jobs: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the k nearest rows of each query.

        Parameters
        ----------
        Q : ndarray or sparse matrix of shape (n_queries, n_features)
            Finite queries; sparse ones are filled up.
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
        Q = _filled(Q)
        if self.metric == "cosine":
            Q = unit_rows(Q)
        shift = self._shift(Q)
        if shift:
            distances, neighbors = self._over(shift).query(np.ldexp(Q, -shift), k, n_jobs=n_jobs)
            return np.ldexp(distances, shift), neighbors
        workers = None if n_jobs is None or n_jobs < 1 else n_jobs
        values, neighbors = room(len(Q), k)
        if len(self.low):
            self._in_blocks(self._search_tree, Q, values, neighbors, workers)
        elif (
            not self._multiplies
            or len(Q) * len(self.rows) < SMALL
            or not self._multiply(Q, values, neighbors, workers)
        ):
            self._in_blocks(self._scan, Q, values, neighbors, workers)
        return in_order(self._distances(values), neighbors)

    def query_radius(
        self, Q: np.ndarray, radius: float, *, n_jobs: int | None = None
    ) -> Neighborhoods:
        """Find all rows within a distance of each query.

        Parameters
        ----------
        Q : ndarray or sparse matrix of shape (n_queries, n_features)
            Finite queries; sparse ones are filled up.
        radius : float
            The largest distance wanted, not negative.
        n_jobs : int or None, default=None
            Threads; None or -1 for all cores. They do not change the result.

        Returns
        -------
        neighborhoods : Neighborhoods
            Rows and distances, in the order of the row numbers.
        """
        Q = _filled(Q)
        if self.metric == "cosine":
            Q = unit_rows(Q)
        shift = self._shift(Q)
        index = self._over(shift)
        workers = None if n_jobs is None or n_jobs < 1 else n_jobs
        near = float(np.ldexp(radius, -shift))
        near_rows = rows_within(index, np.ldexp(Q, -shift) if shift else Q, near, workers)
        return near_rows._replace(distances=np.ldexp(near_rows.distances, shift))

    def original_rows(self) -> np.ndarray:
        """Return the rows in their own order.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            The rows.
        """
        rows = np.empty_like(self.rows)
        rows[self.order] = self.rows
        return rows

    def _over(self, shift: int) -> "NeighborIndex":
        """Divide all rows by a power of two."""
        if not shift:
            return self
        names = ("rows", "low", "high")
        return replace(self, **{name: np.ldexp(getattr(self, name), -shift) for name in names})

    def _shift(self, Q: np.ndarray) -> int:
        if not Q.size:
            return 0
        return shift_of(max(self._largest, float(Q.max()), -float(Q.min())), self.metric, self.p)

    @cached_property
    def _largest(self) -> float:
        corners = (self.low[0], self.high[0]) if len(self.low) else (self.rows,)
        return max(float(max(a.max(initial=0.0), -a.min(initial=0.0))) for a in corners)

    @property
    def _multiplies(self) -> bool:
        return self.metric in ("euclidean", "cosine")

    def _code(self) -> int:
        return metric_code(self.metric)

    def _distances(self, values: np.ndarray) -> np.ndarray:
        return measure(self.metric, self.p, values)

    def _with_tree(self, leaf_size: int) -> "NeighborIndex":
        from corollary.neighbors._loops.nearest import build

        n, d = self.rows.shape
        levels = 0
        while n > leaf_size * 2**levels and 2 ** (levels + 1) <= n:
            levels += 1
        nodes = 2 ** (levels + 1) - 1
        order, low, high = np.arange(n), np.empty((nodes, d)), np.empty((nodes, d))
        build(self.rows, order, levels, low, high)
        return replace(self, rows=self.rows[order], order=order, low=low, high=high)

    def _scan(self, Q: np.ndarray, values: np.ndarray, neighbors: np.ndarray) -> None:
        from corollary.neighbors._loops.nearest import scan_all

        scan_all(self.rows, self.order, Q, self._code(), float(self.p), values, neighbors)

    def _search_tree(self, Q: np.ndarray, values: np.ndarray, neighbors: np.ndarray) -> int:
        from corollary.neighbors._loops.nearest import search_tree

        return search_tree(
            self.rows,
            self.order,
            self.low,
            self.high,
            Q,
            self._code(),
            float(self.p),
            values,
            neighbors,
        )

    @staticmethod
    def _in_blocks(
        work: Any, Q: np.ndarray, values: np.ndarray, neighbors: np.ndarray, workers: int | None
    ) -> None:
        step = max(1, min(64, len(Q) // 16))
        parts = [slice(i, i + step) for i in range(0, len(Q), step)]
        for _ in ordered_map(lambda s: work(Q[s], values[s], neighbors[s]), parts, workers=workers):
            pass

    def _tiles(self) -> tuple[np.ndarray, float, list[np.ndarray]] | None:
        """Prepare right factors of products, centred and scaled; None if out of their range."""
        n, d = self.rows.shape
        with np.errstate(over="ignore", invalid="ignore"):
            centre = self.rows.mean(axis=0)
            squares = np.empty(n)
            for start in range(0, n, 65536):
                part = self.rows[start : start + 65536] - centre
                squares[start : start + 65536] = np.einsum("ij,ij->i", part, part)
            scale = float(np.sqrt(squares.max()))
        if not 1e-140 < scale < 1e140:
            return None
        tiles = []
        for start in range(0, n, ROWS):
            stop = min(start + ROWS, n)
            tile = np.zeros((d + 1, ROWS), dtype=np.float32)
            tile[:d, : stop - start] = ((self.rows[start:stop] - centre) / scale).T
            tile[d, : stop - start] = squares[start:stop] / scale**2
            tile[d, stop - start :] = np.inf  # columns that fill the last tile
            tiles.append(tile)
        return centre, scale, tiles

    def _multiply(
        self, Q: np.ndarray, values: np.ndarray, neighbors: np.ndarray, workers: int | None
    ) -> bool:
        """Search by matrix products; return False if the numbers are beyond their range."""
        from corollary.neighbors._loops.nearest import push_tile, settle

        n, k = len(self.rows), values.shape[1]
        prepared = self._tiles()
        if prepared is None:
            return False
        centre, scale, tiles = prepared
        n_candidates = min(n, k + max(8, k // 8))

        def block(part: slice) -> None:
            left, lengths, far, error = _left_factor(Q[part], centre, scale)
            best = np.full((len(left), n_candidates), np.inf, dtype=np.float32)
            where = np.zeros((len(left), n_candidates), dtype=np.int64)
            out = np.empty((len(left), ROWS), dtype=np.float32)
            for place, tile in enumerate(tiles):
                np.matmul(left, tile, out=out)
                push_tile(out, place * ROWS, best, where)
            safe = best[:, 0] - error + lengths**2 - 1e-12 * (1.0 + lengths) ** 2
            safe = np.where(far, -1.0, safe * (1 - 1e-10) * scale**2)
            if n_candidates == n:
                safe[:] = np.inf
                where[:] = np.arange(n)
            settle(self.rows, self.order, Q[part], where, safe, values[part], neighbors[part])

        parts = [slice(i, i + QUERIES) for i in range(0, len(Q), QUERIES)]
        with one_blas_thread():
            for _ in ordered_map(block, parts, workers=workers):
                pass
        return True


@checked
def nearest_neighbors(
    X: RowsLike,
    queries: RowsLike,
    n_neighbors: Count,
    *,
    metric: Annotated[str, StrOptions(set(METRICS))] = "euclidean",
    p: PositiveOrInfinite = 2.0,
    algorithm: Annotated[str, StrOptions(set(ALGORITHMS))] = "auto",
    leaf_size: Count = 30,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Find the nearest rows of each query.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows to search.
    queries : array-like or sparse matrix of shape (n_queries, n_features)
        Points whose neighbours are wanted.
    n_neighbors : int
        How many.
    metric : str, default="euclidean"
        The distance: "euclidean" ("l2"), "manhattan" ("cityblock", "l1"), "chebyshev"
        ("infinity"), "minkowski" or "cosine", one minus the cosine of the angle.
    p : float, default=2.0
        Power of "minkowski", at least 1.
    algorithm : {"auto", "brute", "kd_tree"}, default="auto"
        How to search; the result is the same. Sparse rows are all searched.
    leaf_size : int, default=30
        Largest number of rows in a leaf of the tree.
    n_jobs : int or None, default=None
        Threads; None or -1 for all cores.

    Returns
    -------
    distances : ndarray of shape (n_queries, n_neighbors)
        Distances, nearest first.
    neighbors : ndarray of int of shape (n_queries, n_neighbors)
        Row numbers; rows at equal distance come in the order of their numbers.

    Raises
    ------
    ValueError
        If there are fewer rows than neighbours wanted.

    Notes
    -----
    Guarantee: the neighbours are those of distances computed coordinate by coordinate in double
    precision, for every algorithm and number of threads. Checked by
    ``tests/neighbors/test_index.py``. Distances of sparse rows agree with those of the filled
    rows up to rounding.

    Examples
    --------
    >>> from corollary.neighbors import nearest_neighbors
    >>> nearest_neighbors([[0.0], [1.0], [3.0]], [[2.0]], 3)
    (array([[1., 1., 2.]]), array([[1, 2, 0]]))
    """
    from sklearn.utils import check_array

    X = check_array(X, dtype=np.float64, accept_sparse="csr")
    queries = check_array(queries, dtype=np.float64, accept_sparse="csr")
    if X.shape[1] != queries.shape[1]:
        raise ValueError(
            "X and queries of nearest_neighbors must have the same number of columns. Got "
            f"{X.shape[1]} and {queries.shape[1]}."
        )
    _check_count("nearest_neighbors", n_neighbors, X.shape[0])
    options: dict[str, Any] = {"algorithm": algorithm, "leaf_size": leaf_size}
    index = _build_index(X, metric=metric, p=p, n_neighbors=n_neighbors, **options)
    return index.query(queries, n_neighbors, n_jobs=n_jobs)


def _build_index(X: Any, *, metric: str, p: float, **options: Any) -> Any:
    """Prepare dense or sparse rows."""
    if hasattr(X, "indptr"):
        return SparseNeighborIndex.build(X, metric=metric, p=p)
    return NeighborIndex.build(X, metric=metric, p=p, **options)


def _check_count(who: str, n_neighbors: int, n_samples: int) -> None:
    """Verify that there are enough rows."""
    if n_neighbors > n_samples:
        raise ValueError(
            f"{who} expected n_neighbors <= n_samples_fit, but n_neighbors = {n_neighbors}, "
            f"n_samples_fit = {n_samples}. Take fewer neighbours or more rows."
        )


def _filled(Q: Any) -> np.ndarray:
    return np.ascontiguousarray(Q.toarray() if hasattr(Q, "indptr") else Q, dtype=np.float64)


def _left_factor(
    Q: np.ndarray, centre: np.ndarray, scale: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Prepare left factors of products; return their lengths, which are far, and the error."""
    moved = (Q - centre) / scale
    lengths = np.sqrt(np.einsum("ij,ij->i", moved, moved))
    far = ~(lengths < 1e6)  # nothing would be left of single precision
    moved[far], lengths[far] = 0.0, 0.0
    d = Q.shape[1]
    left = np.ones((len(moved), d + 1), dtype=np.float32)
    left[:, :d] = -2.0 * moved
    # Rounding of d + 1 products in any order, and of the numbers multiplied.
    error = 1.01 * (d + 6) * UNIT * (2.0 * lengths + 1.0) + 1e-36
    return left, lengths, far, error
