"""Rows that Lloyd's iteration passes over: in memory with bounds, elsewhere without.

Both give the same bits. Labels are decided by the same distances, and the sums of clusters are
those of the same blocks of rows, merged along the same tree.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from scipy import sparse

from corollary.core.parallel import one_blas_thread, ordered_map
from corollary.core.summary import (
    Chunk,
    MergeTree,
    Source,
    Summary,
    block_rows,
    n_rows,
    reduce,
    slice_rows,
)

S = TypeVar("S", bound=Summary)

#: Products of so many numbers stay in a core's second-level cache.
_TILE = 2**16
_SINGLE = 2.0**-24


class _Factor(NamedTuple):
    """Centres, prepared for products with rows."""

    centres: np.ndarray
    origin: np.ndarray
    unit: float  # the largest distance of a centre from the origin
    matrix: np.ndarray  # -2 c, in units
    norms: np.ndarray  # c.c
    error: float

    @classmethod
    def of(cls, centres: np.ndarray) -> "_Factor":
        origin = centres.mean(axis=0)
        moved = centres - origin
        unit = float(np.sqrt((moved**2).sum(axis=1).max())) or 1.0
        moved = moved / unit
        norms = (moved**2).sum(axis=1).astype(np.float32)
        # Numbers that are rounded, d of their products and the sum of these, in any order.
        error = 1.01 * (centres.shape[1] + 6) * _SINGLE + 1e-36
        return cls(centres, origin, unit, (-2.0 * moved).astype(np.float32), norms, error)


class _Bounds(NamedTuple):
    """Labels of rows, and bounds on their distances from centres."""

    labels: np.ndarray
    upper: np.ndarray
    lower: np.ndarray

    @classmethod
    def of_no_centres(cls, n: int) -> "_Bounds":
        """Return bounds that say nothing."""
        return cls(np.zeros(n, dtype=np.int32), np.full(n, np.inf), np.full(n, -np.inf))

    def rows(self, start: int, stop: int) -> "_Bounds":
        """Return the part that belongs to some rows."""
        return _Bounds(*(array[start:stop] for array in self))


class _Moves(NamedTuple):
    """What bounds are shifted by before they are looked at."""

    moved: np.ndarray
    others: np.ndarray
    half: np.ndarray
    margin: float

    @classmethod
    def between(cls, before: np.ndarray, centres: np.ndarray, diameter: float) -> "_Moves":
        """Measure how far each centre has moved, and how far its neighbours are."""
        moved = np.sqrt(((centres - before) ** 2).sum(axis=1))
        others = np.full(len(centres), moved.max())
        farthest = int(moved.argmax())
        others[farthest] = np.delete(moved, farthest).max(initial=0.0)
        gaps = squared_distances(centres, centres)
        np.fill_diagonal(gaps, np.inf)
        # Far above the rounding of distances and of their bounds.
        margin = 16 * (centres.shape[1] + 100) * np.finfo(float).eps * diameter
        return cls(moved, others, 0.5 * np.sqrt(gaps.min(axis=1)), margin)


def _update_labels(X: np.ndarray, factor: _Factor, moves: _Moves, bounds: _Bounds) -> bool:
    """Give rows the labels of their nearest centres; return whether one has changed."""
    from corollary.cluster._loops.lloyd import gather, screen, settle

    k, d = factor.centres.shape
    size = min(len(X), max(64, _TILE // k))
    rows, lengths = np.empty(size, dtype=np.int64), np.empty(size)
    columns = np.empty((d, size), dtype=np.float32)
    products = np.empty((k, size), dtype=np.float32)
    changed = False
    for start in range(0, len(X), size):
        part, own = X[start : start + size], bounds.rows(start, start + size)
        count = screen(part, factor.centres, *own, *moves, rows)
        if count:
            gather(part, rows, count, factor.origin, factor.unit, columns, lengths)
            with np.errstate(over="ignore", invalid="ignore"):
                np.matmul(factor.matrix, columns[:, :count], out=products[:, :count])
            fixed = (factor.norms, lengths, factor.unit, factor.error)
            changed |= settle(part, factor.centres, rows, count, products, *fixed, *own)
    return changed


def nearest_labels(X: Any, centres: np.ndarray) -> np.ndarray:
    """Return the number of the nearest centre of each row; of equally near ones the first."""
    if sparse.issparse(X):
        return squared_distances(X, centres).argmin(axis=1).astype(np.int32)
    nothing, bounds = np.zeros(len(centres)), _Bounds.of_no_centres(len(X))
    with one_blas_thread():
        _update_labels(X, _Factor.of(centres), _Moves(nothing, nothing, nothing, 0.0), bounds)
    return bounds.labels


def squared_distances(X: Any, centres: np.ndarray) -> np.ndarray:
    """Return the squared distance between every row and every centre."""
    if sparse.issparse(X):
        # Only these need cancellation: a sparse row is not moved to another origin.
        squares = np.asarray(X.multiply(X).sum(axis=1)).reshape(-1, 1)
        return np.maximum(squares - 2.0 * (X @ centres.T) + (centres**2).sum(axis=1), 0.0)
    from corollary.cluster._loops.distances import all_squares

    out = np.empty((len(X), len(centres)))
    all_squares(X, centres, out)
    return out


def squared_distances_to_own(X: Any, centres: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the squared distance of every row from the centre of its label."""
    if sparse.issparse(X):
        return squared_distances(X, centres)[np.arange(len(labels)), labels]
    from corollary.cluster._loops.distances import squares_to

    out = np.empty(len(X))
    squares_to(X, centres, labels, out)
    return out


@dataclass(frozen=True, eq=False)
class ClusterSums(Summary):
    """Sums of the rows that are nearest to each centre: what a step of Lloyd's iteration needs."""

    centres: np.ndarray
    sums: np.ndarray  # of rows times weights, for each centre
    totals: np.ndarray  # weights
    counts: np.ndarray  # rows of positive weight

    @classmethod
    def of(cls, centres: np.ndarray) -> Self:
        """Return the sums of no rows."""
        k = len(centres)
        return cls(centres, np.zeros(centres.shape), np.zeros(k), np.zeros(k, dtype=np.int64))

    def empty(self) -> Self:
        """Return the sums of no rows for the same centres."""
        return self.of(self.centres)

    def update(self, chunk: Chunk) -> Self:
        """Add the rows of a chunk."""
        X, weight = rows_of(chunk)
        return self.merge(self.of_labels(X, weight, nearest_labels(X, self.centres)))

    def of_labels(self, X: Any, weight: np.ndarray | None, labels: np.ndarray) -> Self:
        """Return the sums of rows whose labels are known."""
        own = self.empty()
        if sparse.issparse(X):
            w = np.ones(X.shape[0]) if weight is None else weight
            members = sparse.csr_matrix(
                (w, (labels, np.arange(len(w)))), shape=(len(self.centres), len(w))
            )
            counts = np.bincount(labels[w > 0], minlength=len(self.centres))
            totals = np.bincount(labels, w, minlength=len(self.centres))
            return replace(own, sums=(members @ X).toarray(), totals=totals, counts=counts)
        from corollary.cluster._loops.lloyd import add_rows

        add_rows(X, weight, labels, own.sums, own.totals, own.counts)
        return own

    def merge(self, other: Self) -> Self:
        """Add the sums of other rows."""
        names = ("sums", "totals", "counts")
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in names})

    def means(self) -> np.ndarray:
        """Return the means of the clusters; a centre without weight stays where it is."""
        heavy = self.totals[:, None] > 0
        return np.where(heavy, self.sums / np.where(heavy, self.totals[:, None], 1.0), self.centres)


@dataclass(frozen=True, eq=False)
class Assignment(Summary):
    """The cost of rows at given centres and, if they are asked for, their labels."""

    centres: np.ndarray
    keep: bool = True
    cost: float = 0.0
    counts: Any = 0  # rows of each cluster
    labels: tuple[np.ndarray, ...] = ()

    def empty(self) -> Self:
        """Return the cost of no rows."""
        return replace(self, cost=0.0, counts=0, labels=())

    def update(self, chunk: Chunk) -> Self:
        """Add the rows of a chunk."""
        X, weight = rows_of(chunk)
        labels = nearest_labels(X, self.centres)
        squares = squared_distances_to_own(X, self.centres, labels)
        cost = float(np.sum(squares if weight is None else squares * weight))
        counts = np.bincount(labels, minlength=len(self.centres))
        kept = (labels,) if self.keep else ()
        return self.merge(replace(self, cost=cost, counts=counts, labels=kept))

    def merge(self, other: Self) -> Self:
        """Add the cost of the rows that follow."""
        names = ("cost", "counts", "labels")
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in names})


@dataclass(frozen=True, eq=False)
class Spread(Summary):
    """How many rows there are, and weight, mean and variance of every column."""

    n_rows: int = 0
    weight: float = 0.0
    mean: Any = 0.0
    squares: Any = 0.0  # weighted sums of squared deviations from the mean

    def empty(self) -> Self:
        """Return the spread of no rows."""
        return type(self)()

    def update(self, chunk: Chunk) -> Self:
        """Add the rows of a chunk."""
        X, weight = rows_of(chunk)
        w = np.ones(X.shape[0]) if weight is None else weight
        total = float(w.sum())
        share = w / total if total else w
        if sparse.issparse(X):
            mean = share @ X
            squares = w @ X.multiply(X) - total * mean**2
        else:
            mean = (X * share[:, None]).sum(axis=0)
            squares = ((X - mean) ** 2 * w[:, None]).sum(axis=0)
        return self.merge(type(self)(X.shape[0], total, mean, squares))

    def merge(self, other: Self) -> Self:
        """Unite with other rows."""
        total = self.weight + other.weight
        share = other.weight / total if total else 0.0
        gap = other.mean - self.mean
        squares = self.squares + other.squares + self.weight * share * gap**2
        rows = self.n_rows + other.n_rows
        return type(self)(rows, total, self.mean + share * gap, squares)


def rows_of(chunk: Chunk) -> tuple[Any, np.ndarray | None]:
    """Return rows in double precision and their weights."""
    X = chunk[0]
    if sparse.issparse(X):
        X = X.tocsr().astype(np.float64, copy=False)
    else:
        X = np.ascontiguousarray(X, dtype=np.float64)
    weight = chunk[2] if len(chunk) > 2 else None
    return X, None if weight is None else np.ascontiguousarray(weight, dtype=np.float64)


class SourceRows:
    """Rows of a source, each step a pass over them."""

    def __init__(self, source: Source, n_jobs: int | None = None) -> None:
        self._source, self._n_jobs = source, n_jobs

    def reduce(self, summary: S) -> S:
        """Return the summary of all rows."""
        return self._source.reduce(summary, self._n_jobs)

    def cluster_sums(self, centres: np.ndarray) -> ClusterSums:
        """Return the sums of the clusters around centres."""
        return self.reduce(ClusterSums.of(centres))


class ArrayRows:
    """Dense rows in memory, with the bounds that save most of their distances."""

    def __init__(self, X: Any, weight: np.ndarray | None) -> None:
        self._chunk: Chunk = (X,) if weight is None else (X, None, weight)
        self._rows = block_rows(self._chunk)
        self._before: np.ndarray | None = None
        self._parts: dict[int, ClusterSums] = {}
        if not sparse.issparse(X):
            self._low, self._high = X.min(axis=0), X.max(axis=0)

    def reduce(self, summary: S) -> S:
        """Return the summary of all rows."""
        return reduce(summary, self._chunk)

    def cluster_sums(self, centres: np.ndarray) -> ClusterSums:
        """Return the sums of the clusters around centres, which bounds remember."""
        start = ClusterSums.of(centres)
        if sparse.issparse(self._chunk[0]):
            return self.reduce(start)
        size = n_rows(self._chunk)
        if self._before is None:
            self._bounds, self._before = _Bounds.of_no_centres(size), centres
        corners = np.maximum(self._high, centres.max(0)) - np.minimum(self._low, centres.min(0))
        moves = _Moves.between(self._before, centres, float(np.sqrt((corners**2).sum())))
        factor, self._before = _Factor.of(centres), centres

        def block(first: int) -> ClusterSums:
            last = min(first + self._rows, size)
            X, weight = rows_of(slice_rows(self._chunk, first, last))
            bounds = self._bounds.rows(first, last)
            if _update_labels(X, factor, moves, bounds) or first not in self._parts:
                self._parts[first] = start.of_labels(X, weight, bounds.labels)
            return self._parts[first]

        tree = MergeTree(lambda left, right: left.merge(right))
        starts = range(0, size, self._rows)
        with one_blas_thread():
            for part in ordered_map(block, starts, workers=None if len(starts) > 1 else 1):
                tree.push(part)
        return start.merge(tree.result())
