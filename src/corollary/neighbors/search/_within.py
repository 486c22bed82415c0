"""Finding all rows within a distance.

The rows are those whose distance, as a search for the nearest would return it, does not exceed the
radius. A k-d tree skips boxes that are farther away; matrix products in single precision rule rows
out by the same proven margin that searches for the nearest rely on. What is left is measured in
double precision, so that every way gives the same answer to the last bit.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from corollary.core.parallel import one_blas_thread, ordered_map


class Neighborhoods(NamedTuple):
    """All rows near each of some queries, one query after the other.

    Parameters
    ----------
    starts : ndarray of int of shape (n_queries + 1,)
        Where the rows of each query begin, and the number of all.
    distances : ndarray of shape (n_found,)
        Distances.
    neighbors : ndarray of int of shape (n_found,)
        Numbers of the rows, which are in order for each query.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.neighbors import NeighborIndex
    >>> index = NeighborIndex.build(np.array([[0.0], [1.0], [3.0]]))
    >>> index.query_radius(np.array([[2.0], [9.0]]), 1.5).starts
    array([0, 2, 2])
    """

    starts: np.ndarray
    distances: np.ndarray
    neighbors: np.ndarray

    def sorted(self) -> "Neighborhoods":
        """Put the nearest row of each query first.

        Returns
        -------
        neighborhoods : Neighborhoods
            The same rows; equal distances are in the order of the row numbers.
        """
        order = np.lexsort((self.neighbors, self.distances, self.queries))
        return Neighborhoods(self.starts, self.distances[order], self.neighbors[order])

    @property
    def queries(self) -> np.ndarray:
        """Number of the query that each entry belongs to."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def without(self, leave: np.ndarray) -> "Neighborhoods":
        """Leave some entries out.

        Parameters
        ----------
        leave : ndarray of bool of shape (n_found,)
            Which.

        Returns
        -------
        neighborhoods : Neighborhoods
            The others.
        """
        counts = np.bincount(self.queries[~leave], minlength=len(self.starts) - 1)
        starts = np.r_[0, np.cumsum(counts)]
        return Neighborhoods(starts, self.distances[~leave], self.neighbors[~leave])

    def lists(self, values: np.ndarray) -> np.ndarray:
        """Cut entries into one array for each query.

        Parameters
        ----------
        values : ndarray of shape (n_found,)
            Such as ``distances`` or ``neighbors``.

        Returns
        -------
        lists : ndarray of shape (n_queries,)
            Of arrays.
        """
        lists = np.empty(len(self.starts) - 1, dtype=object)
        for j in range(len(lists)):
            lists[j] = values[self.starts[j] : self.starts[j + 1]]
        return lists


def reduced_limit(metric: str, p: float, radius: float) -> float:
    """Turn a radius into a bound of reduced distances, a little too large."""
    power = {"euclidean": 2.0, "minkowski": p}.get(metric, 1.0)
    with np.errstate(over="ignore"):
        limit = np.float64(2.0 * radius if metric == "cosine" else radius) ** power
        return float(limit * (1.0 + 1e-10 * power) + 1e-300)


def gather(
    find: Callable[[slice], Any],
    measure: Callable[[np.ndarray], np.ndarray],
    radius: float,
    parts: Sequence[slice],
    shape: tuple[int, int],
    workers: int | None,
) -> Neighborhoods:
    """Search for blocks of queries in threads and put what was found in order."""
    n_queries, n_rows = shape

    def block(part: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        which, rows, values = find(part)
        distances = measure(values)
        near = distances <= radius
        which, rows, distances = which[near], rows[near], distances[near]
        # One number for query and row sorts in half the time of two.
        order = np.argsort(which * n_rows + rows)
        return which[order] + part.start, rows[order], distances[order]

    pieces = list(ordered_map(block, parts, workers=workers))
    if not pieces:
        return Neighborhoods(np.zeros(n_queries + 1, dtype=np.int64), np.empty(0), np.arange(0))
    which, rows, distances = (np.concatenate(several) for several in zip(*pieces))
    starts = np.r_[0, np.cumsum(np.bincount(which, minlength=n_queries))]
    return Neighborhoods(starts, distances, rows)


def rows_looked_at(tree: Any, Q: np.ndarray, radius: float) -> int:
    """Count the rows that a tree's search looks at."""
    from corollary.neighbors._loops.within import within_tree

    limit = reduced_limit(tree.metric, tree.p, radius)
    arrays = (tree.rows, tree.order, tree.low, tree.high)
    return int(within_tree(*arrays, Q, tree._code(), float(tree.p), limit)[3])


def rows_within(index: Any, Q: np.ndarray, radius: float, workers: int | None) -> Neighborhoods:
    """Find all rows of an index within a distance of queries."""
    from corollary.neighbors._loops.lists import short_lists
    from corollary.neighbors._loops.within import within_tile, within_tree
    from corollary.neighbors.search import index as searches

    limit = reduced_limit(index.metric, index.p, radius)
    code, power, shape = index._code(), float(index.p), (len(Q), len(index.rows))

    def direct(part: slice) -> Any:
        tree = (index.rows, index.order, index.low, index.high)
        return within_tree(*tree, Q[part], code, power, limit)[:3]

    step = max(1, min(64, len(Q) // 16))
    multiplies = (
        index.algorithm == "brute"
        and index._multiplies
        and len(Q) * len(index.rows) >= searches.SMALL
        and np.isfinite(limit)
    )
    prepared = index._tiles() if multiplies else None
    if prepared is None:
        parts = [slice(i, i + step) for i in range(0, len(Q), step)]
        return gather(direct, index._distances, radius, parts, shape, workers)
    centre, scale, tiles = prepared

    def products(part: slice) -> Any:
        left, lengths, far, error = searches._left_factor(Q[part], centre, scale)
        bounds = limit / scale**2 - lengths**2 + error + 1e-12 * (1.0 + lengths) ** 2
        bounds = np.where(far, np.inf, bounds + 1e-10 * np.abs(bounds)).astype(np.float32)
        bounds = np.nextafter(bounds, np.float32(np.inf))
        out = np.empty((len(left), searches.ROWS), dtype=np.float32)
        lists, size = short_lists(), 0
        for place, tile in enumerate(tiles):
            np.matmul(left, tile, out=out)
            lists, size = within_tile(
                *(out, place * searches.ROWS, bounds),
                *(index.rows, index.order, Q[part], limit, lists, size),
            )
        return tuple(values[:size] for values in lists)

    parts = [slice(i, i + searches.QUERIES) for i in range(0, len(Q), searches.QUERIES)]
    with one_blas_thread():
        return gather(products, index._distances, radius, parts, shape, workers)
