"""Quantiles of columns from data that are read in batches."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from corollary.core.summary import Chunk, Summary
from corollary.tree.binning._columns import (
    add_up,
    as_mask,
    check_codes,
    check_max_bins,
    count_values,
)
from corollary.tree.binning.bins import Bins, choose_cuts

# A sketch is exact up to this many distinct values of a column. Each merge beyond moves a rank by
# at most one part in half of it, far below the width of a bin (one part in 255).
CAPACITY = 8192


@dataclass(frozen=True, eq=False)
class ColumnSketch(Summary):
    """Weighted quantiles of columns, mergeable.

    Each column is kept as distinct values with weights. When there are more than twice the
    capacity of the sketch, light values are thinned out so that neighbouring marks are at most
    one part in ``capacity`` apart in rank; the rank of a mark itself is exact for the rows of one
    block. No randomness is involved.

    Parameters
    ----------
    marks : tuple of (ndarray, ndarray)
        Ascending distinct values and their weights, for each column.
    exact : tuple of bool
        Whether a column has never been thinned out.
    missing : tuple of bool
        Whether a value of the column was missing.
    categorical : tuple of bool
        Columns that hold codes; these are never thinned out.
    capacity : int, default=8192
        Marks kept for a column.

    Notes
    -----
    Guarantee: after m merges the rank of a mark is known up to (m + 1)/capacity of the total
    weight; checked by ``tests/tree/test_binning.py::test_ranks_of_a_sketch_are_within_its_bound``.
    Along the merge tree of :mod:`corollary.core.summary`, m is the logarithm of the number of
    blocks.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.core.summary import reduce
    >>> from corollary.tree import ColumnSketch
    >>> X = np.arange(100.0)[:, None]
    >>> reduce(ColumnSketch.of_width(1), (X,)).bins(4).cuts[0]
    array([24.5, 49.5, 74.5])
    """

    marks: tuple[tuple[np.ndarray, np.ndarray], ...]
    exact: tuple[bool, ...]
    missing: tuple[bool, ...]
    categorical: tuple[bool, ...]
    capacity: int = CAPACITY

    @classmethod
    def of_width(
        cls, n_features: int, *, categorical: Any = None, capacity: int = CAPACITY
    ) -> Self:
        """Return an empty sketch.

        Parameters
        ----------
        n_features : int
            Columns.
        categorical : array-like of bool of shape (n_features,) or None, default=None
            Which columns hold codes of categories; None for none.
        capacity : int, default=8192
            Marks kept for a column.

        Returns
        -------
        sketch : ColumnSketch
            Without rows.
        """
        mask = tuple(bool(c) for c in as_mask(categorical, n_features))
        nothing = (np.empty(0), np.empty(0))
        return cls(
            (nothing,) * n_features,
            (True,) * n_features,
            (False,) * n_features,
            mask,
            capacity,
        )

    def empty(self) -> Self:
        """Return a sketch of the same columns without rows."""
        return self.of_width(len(self.marks), categorical=self.categorical, capacity=self.capacity)

    def update(self, chunk: Chunk) -> Self:
        """Add the rows of a chunk ``(X,)``, ``(X, y)`` or ``(X, y, sample_weight)``."""
        X, weights = chunk[0], chunk[2] if len(chunk) > 2 else None
        if weights is not None:
            kept = weights > 0
            X, weights = X[kept], weights[kept]
        columns = [
            count_values(np.asarray(X[:, j], np.float64), weights) for j in range(X.shape[1])
        ]
        marks = tuple((values, mass) for values, mass, _ in columns)
        missing = tuple(bool(lost) for _, _, lost in columns)
        width = len(marks)
        rows = type(self)(marks, (True,) * width, missing, self.categorical, self.capacity)
        return self.merge(rows._thinned())

    def merge(self, other: Self) -> Self:
        """Unite the marks of both."""
        marks = []
        for (a, u), (b, v) in zip(self.marks, other.marks):
            if not len(a) or not len(b):
                marks.append((b, v) if not len(a) else (a, u))
                continue
            marks.append(add_up(np.concatenate([a, b]), np.concatenate([u, v])))
        exact = tuple(a and b for a, b in zip(self.exact, other.exact))
        missing = tuple(a or b for a, b in zip(self.missing, other.missing))
        return type(self)(tuple(marks), exact, missing, self.categorical, self.capacity)._thinned()

    def _thinned(self) -> Self:
        marks, exact = [], []
        for (values, mass), whole, codes in zip(self.marks, self.exact, self.categorical):
            if len(values) <= self.capacity or codes:
                marks.append((values, mass))
                exact.append(whole)
                continue
            total = np.cumsum(mass)
            gap = 2.0 * total[-1] / self.capacity
            step = np.floor(total / gap)
            keep = np.append(step[1:] > step[:-1], True)
            # A heavy value keeps its lower neighbour, so that its own weight stays its own.
            keep = np.append(keep[:-1] | (mass[1:] >= gap), True)
            keep = keep | (mass >= gap)
            keep[0] = True
            marks.append((values[keep], np.diff(total[keep], prepend=0.0)))
            exact.append(False)
        return type(self)(tuple(marks), tuple(exact), self.missing, self.categorical, self.capacity)

    def bins(self, max_bins: int = 255) -> Bins:
        """Return bins of about equal weight.

        Parameters
        ----------
        max_bins : int, default=255
            Largest number of bins, from 2 to 255.

        Returns
        -------
        bins : Bins
            Those of :func:`find_bins` on the same rows, if every column has at most ``capacity``
            distinct values.
        """
        check_max_bins(max_bins)
        cuts, n_bins = [], np.ones(len(self.marks), dtype=np.int64)
        for j, (values, mass) in enumerate(self.marks):
            if self.categorical[j]:
                cuts.append(np.empty(0))
                n_bins[j] = check_codes(values, j)
            else:
                cuts.append(choose_cuts(values, mass, max_bins, exact=self.exact[j]))
                n_bins[j] = len(cuts[j]) + 1
        return Bins(tuple(cuts), n_bins, np.array(self.categorical), np.array(self.missing))
