"""The first pass over training data: which classes there are, and where the columns lie."""

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Self

import numpy as np
from scipy import sparse

from corollary.core.summary import ArraySource, Chunk, Source, Summary

# One row in so many is enough to see where columns lie.
SPARE = 64
# Columns whose mean exceeds so many standard deviations are shifted.
FAR = 100.0


@dataclass(frozen=True)
class Census(Summary):
    """Rows, labels and their weights in chunks ``(X, y)`` or ``(X, y, sample_weight)``."""

    classes: np.ndarray = field(default_factory=lambda: np.empty(0))  # ascending
    totals: np.ndarray = field(default_factory=lambda: np.empty(0))  # weight of each class
    n_rows: int = 0
    is_sparse: bool = False
    known: bool = False  # whether y holds places among known classes instead of labels

    def empty(self) -> Self:
        """Return the census of no rows."""
        return replace(self, totals=np.zeros(len(self.classes))) if self.known else type(self)()

    def update(self, chunk: Chunk) -> Self:
        """Add the rows of a chunk."""
        y = np.asarray(chunk[1])
        classes = self.classes if self.known else np.unique(y)
        codes = y if self.known else np.searchsorted(classes, y)
        weight = None if len(chunk) < 3 else chunk[2]
        totals = np.bincount(codes, weights=weight, minlength=len(classes)).astype(np.float64)
        part = type(self)(classes, totals, len(y), bool(sparse.issparse(chunk[0])), self.known)
        return self.merge(part)

    def merge(self, other: Self) -> Self:
        """Unite two censuses."""
        if not self.n_rows or not other.n_rows:
            return other if other.n_rows else self
        if (self.classes.dtype.kind in "OUS") != (other.classes.dtype.kind in "OUS"):
            raise ValueError(
                "Labels must be either strings or numbers. Got "
                f"{self.classes[0]!r} and {other.classes[0]!r}."
            )
        classes = self.classes if self.known else np.union1d(self.classes, other.classes)
        totals = np.zeros(len(classes))
        for census in (self, other):
            places = slice(None) if self.known else np.searchsorted(classes, census.classes)
            totals[places] += census.totals
        n_rows, is_sparse = self.n_rows + other.n_rows, self.is_sparse or other.is_sparse
        return type(self)(classes, totals, n_rows, is_sparse, self.known)


@dataclass(frozen=True)
class ColumnSpread(Summary):
    """Mean and squared deviations of the columns, over a few rows of each block."""

    n_rows: int = 0
    mean: Any = 0.0
    squares: Any = 0.0

    def empty(self) -> Self:
        """Return the spread of no rows."""
        return type(self)()

    def update(self, chunk: Chunk) -> Self:
        """Add a few rows of a chunk; sparse ones are not shifted, and not looked at."""
        if sparse.issparse(chunk[0]):
            return self
        rows = np.array(chunk[0][::SPARE], dtype=np.float64, order="C")
        mean = rows.mean(axis=0)
        return self.merge(type(self)(len(rows), mean, ((rows - mean) ** 2).sum(axis=0)))

    def merge(self, other: Self) -> Self:
        """Unite two parts."""
        if not self.n_rows or not other.n_rows:
            return other if other.n_rows else self
        n_rows, gap = self.n_rows + other.n_rows, other.mean - self.mean
        share = other.n_rows / n_rows
        squares = self.squares + other.squares + gap**2 * (self.n_rows * share)
        return type(self)(n_rows, self.mean + gap * share, squares)

    def offset(self) -> np.ndarray | None:
        """Return what to subtract from columns that lie far from zero, or None if none does.

        The intercept is not penalised, so a shift of the columns changes nothing but the digits
        that are lost: at a mean of 1e6 standard deviations the Hessian has none left.
        """
        if not self.n_rows:
            return None
        scale = np.sqrt(self.squares / self.n_rows)
        far = (scale > 0) & (np.abs(self.mean) > FAR * scale)
        return np.where(far, self.mean, 0.0) if far.any() else None


@dataclass(frozen=True)
class KeptRows(Summary):
    """A fixed pseudo-random share of the rows of each block, block by block."""

    rate: int  # one row in so many
    blocks: tuple[Chunk, ...] = ()

    def empty(self) -> Self:
        """Return no rows."""
        return type(self)(self.rate)

    def update(self, chunk: Chunk) -> Self:
        """Add some of the rows of a chunk."""
        keep = _places(int(chunk[0].shape[0]), self.rate)
        kept = tuple(None if part is None else part[keep] for part in chunk)
        return replace(self, blocks=(*self.blocks, kept))

    def merge(self, other: Self) -> Self:
        """Unite two parts, in order."""
        return replace(self, blocks=self.blocks + other.blocks)

    def source(self) -> Source:
        """Return the kept rows as one table: few rows in many blocks would cost more than sums."""
        return ArraySource(tuple(map(_stacked, zip(*self.blocks))))


def _stacked(parts: tuple[Any, ...]) -> Any:
    """Put the parts of blocks together; None where there are none."""
    if parts[0] is None:
        return None
    return sparse.vstack(parts, "csr") if sparse.issparse(parts[0]) else np.concatenate(parts)


@lru_cache(maxsize=8)
def _places(n_rows: int, rate: int) -> np.ndarray:
    """Return the places of the rows of a block that are kept, the same for every block."""
    return np.flatnonzero(np.random.default_rng(0).random(n_rows) * rate < 1.0)
