"""Rows that Lloyd's iteration passes over: in memory with bounds, elsewhere without.

Both give the same bits. Labels are decided by the same distances, and the sums of clusters are
those of the same blocks of rows, merged along the same tree.
"""

from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

import numpy as np
from scipy import sparse

from corollary.cluster.means._bounds import Nearest
from corollary.core.summary import (
    ArraySource,
    Chunk,
    Source,
    Summary,
    block_rows,
    reduce_blocks,
    slice_rows,
)

S = TypeVar("S", bound=Summary)


def nearest_labels(X: Any, centres: np.ndarray) -> np.ndarray:
    """Return the number of the nearest centre of each row; of equally near ones the first."""
    if sparse.issparse(X):
        return squared_distances(X, centres).argmin(axis=1).astype(np.int32)
    return Nearest(X, len(centres)).label(centres)


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
    table: np.ndarray  # for each centre sums of rows times weights, weights, rows that have weight

    @classmethod
    def of(cls, centres: np.ndarray) -> Self:
        """Return the sums of no rows."""
        k, d = centres.shape
        return cls(centres, np.zeros((k, d + 2)))

    @property
    def sums(self) -> np.ndarray:
        """Sums of rows times weights."""
        return self.table[:, :-2]

    @property
    def totals(self) -> np.ndarray:
        """Sums of weights."""
        return self.table[:, -2]

    @property
    def counts(self) -> np.ndarray:
        """Numbers of rows of positive weight."""
        return self.table[:, -1]

    def empty(self) -> Self:
        """Return the sums of no rows for the same centres."""
        return self.of(self.centres)

    def update(self, chunk: Chunk) -> Self:
        """Add the rows of a chunk."""
        X, weight = rows_of(chunk)
        if not sparse.issparse(X):
            nearest = Nearest(X, len(self.centres), weight, block=max(1, len(X)))
            return replace(self, table=self.table + nearest.sums(self.centres))
        return self.merge(self.of_labels(X, weight, nearest_labels(X, self.centres)))

    def of_labels(self, X: Any, weight: np.ndarray | None, labels: np.ndarray) -> Self:
        """Return the sums of rows whose labels are known."""
        k, w = len(self.centres), np.ones(X.shape[0]) if weight is None else weight
        members = sparse.csr_matrix((w, (labels, np.arange(len(w)))), shape=(k, len(w)))
        sums = members @ X
        columns = (
            sums.toarray() if sparse.issparse(sums) else sums,
            np.bincount(labels, w, minlength=k),
            np.bincount(labels[w > 0], minlength=k),
        )
        return replace(self, table=np.column_stack(columns))

    def merge(self, other: Self) -> Self:
        """Add the sums of other rows."""
        return replace(self, table=self.table + other.table)

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
        """Add the rows of a chunk, whose fourth entry may be their labels."""
        X, weight = rows_of(chunk)
        labels = chunk[3] if len(chunk) > 3 else nearest_labels(X, self.centres)
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
        mean = (w / total if total else w) @ X
        if sparse.issparse(X):
            squares = w @ X.multiply(X) - total * mean**2
        else:
            gaps = X - mean
            squares = w @ np.multiply(gaps, gaps, out=gaps)
        return self.merge(type(self)(X.shape[0], total, mean, squares))

    def merge(self, other: Self) -> Self:
        """Unite with other rows."""
        total = self.weight + other.weight
        share = other.weight / total if total else 0.0
        gap = other.mean - self.mean
        squares = self.squares + other.squares + self.weight * share * gap**2
        rows = self.n_rows + other.n_rows
        return type(self)(rows, total, self.mean + share * gap, squares)

    def tolerance(self, share: float) -> float:
        """Return a share of the mean variance of the columns."""
        return share * float(np.mean(np.maximum(self.squares, 0.0))) / self.weight


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

    X: Any = None  # nowhere as a whole
    weight: Any = None

    def __init__(self, source: Source) -> None:
        self._source = source

    def reduce(self, summary: S) -> S:
        """Return the summary of all rows."""
        return self._source.reduce(summary)

    def cluster_sums(self, centres: np.ndarray) -> ClusterSums:
        """Return the sums of the clusters around centres."""
        return self.reduce(ClusterSums.of(centres))

    def assignment(self, centres: np.ndarray, keep: bool) -> Assignment:
        """Return cost and labels at centres."""
        return self.reduce(Assignment(centres, keep))


class ArrayRows(SourceRows):
    """Rows in memory; if they are dense, with the bounds that save most of their distances."""

    def __init__(self, X: Any, weight: np.ndarray | None) -> None:
        X, weight = rows_of((X, None, weight))
        self._chunk: Chunk = (X,) if weight is None else (X, None, weight)
        super().__init__(ArraySource(self._chunk))
        self.X, self.weight = X, weight
        self._nearest: Nearest | None = None

    def cluster_sums(self, centres: np.ndarray) -> ClusterSums:
        """Return the sums of the clusters around centres, which bounds remember."""
        if sparse.issparse(self.X):
            return super().cluster_sums(centres)
        if self._nearest is None:
            rows = block_rows(self._chunk)
            self._nearest = Nearest(self.X, len(centres), self.weight, rows)
        return ClusterSums(centres, self._nearest.sums(centres))

    def assignment(self, centres: np.ndarray, keep: bool) -> Assignment:
        """Return cost and labels at centres."""
        if self._nearest is None:
            return super().assignment(centres, keep)
        labels, rows = self._nearest.label(centres), block_rows(self._chunk)
        chunk: Chunk = (self.X, None, self.weight, labels)
        blocks = (slice_rows(chunk, i, i + rows) for i in range(0, len(self.X), rows))
        return reduce_blocks(Assignment(centres, keep), blocks)
