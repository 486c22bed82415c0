r"""Bins: a table of numbers as one byte per value, in a way that predictions cannot notice.

A numerical column gets at most 255 bins with thresholds :math:`c_0<c_1<\dots` in its own units;
the bin of a value is the number of thresholds below it, so that

.. math:: \operatorname{bin}(x)\le b\iff x\le c_b

exactly. A tree grown on bins therefore gives the same answer on raw rows. Byte 255 stands for a
missing value. A categorical column holds whole numbers (see
:class:`corollary.tree.categories.Categories`), which are their own bins.

Thresholds are weighted quantiles: exact for data in memory, from a mergeable sketch
(:class:`ColumnSketch`) for data read in batches.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from corollary.core.summary import Chunk, Summary
from corollary.core.threads import ordered_map

MISSING = 255
MAX_BINS = 255
# From this many rows on a compiled sort by radix is several times faster than NumPy's.
SORT_BY_RADIX = 2**15

# A sketch is exact up to this many distinct values of a column. Each merge beyond moves a rank by
# at most one part in half of it, far below the width of a bin (one part in 255).
CAPACITY = 8192


@dataclass(frozen=True, eq=False)
class Bins:
    """Thresholds of every column.

    Parameters
    ----------
    cuts : tuple of ndarray
        For each column its ascending thresholds; empty for a categorical one.
    n_bins : ndarray of int64 of shape (n_features,)
        Bins in use, without the one for missing values.
    categorical : ndarray of bool of shape (n_features,)
        Whether a column holds codes of categories instead of magnitudes.
    missing : ndarray of bool of shape (n_features,)
        Whether a value was missing where the bins were found.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.tree import find_bins
    >>> X = np.array([[0.0], [1.0], [1.0], [4.0], [np.nan]])
    >>> bins = find_bins(X)
    >>> bins.cuts[0]
    array([0.5, 2.5])
    >>> bins.transform(X).ravel()
    array([  0,   1,   1,   2, 255], dtype=uint8)
    """

    cuts: tuple[np.ndarray, ...]
    n_bins: np.ndarray
    categorical: np.ndarray
    missing: np.ndarray

    def transform(self, X: Any, *, n_jobs: int | None = None) -> np.ndarray:
        """Return the bin of every value.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            Numbers; NaN where a value is missing. Categorical columns hold codes. Of a sparse
            matrix only the entries are looked at.
        n_jobs : int or None, default=None
            Threads; None means one per available core. The result does not depend on it.

        Returns
        -------
        codes : ndarray of uint8 of shape (n_samples, n_features)
            Column-major; 255 where a value is missing or a category unknown.
        """
        from corollary.tree._loops.binning import bin_column, code_column

        if X.ndim != 2 or X.shape[1] != len(self.cuts):
            raise ValueError(
                f"Bins were found for {len(self.cuts)} columns. Got an array of shape {X.shape}."
            )
        X = _by_columns(X) if hasattr(X, "indptr") else np.asarray(X, dtype=np.float64)
        codes = np.empty(X.shape, dtype=np.uint8, order="F")
        padded = np.full((len(self.cuts), 255), np.inf)
        for j, cuts in enumerate(self.cuts):
            padded[j, : len(cuts)] = cuts

        def column(j: int) -> None:
            if hasattr(X, "indptr") and not self.categorical[j]:
                part = slice(X.indptr[j], X.indptr[j + 1])
                entries = np.empty(part.stop - part.start, dtype=np.uint8)
                bin_column(X.data[part], padded[j], entries)
                codes[:, j] = np.searchsorted(self.cuts[j], 0.0)  # the bin of zeros
                codes[X.indices[part], j] = entries
                return
            # One layout, so that one kernel is compiled.
            values = np.ascontiguousarray(_column(X, j))
            if self.categorical[j]:
                code_column(values, float(self.n_bins[j]), codes[:, j])
            else:
                bin_column(values, padded[j], codes[:, j])

        _for_columns(column, X.shape[1], X.shape[0], n_jobs)
        return codes

    def threshold(self, feature: int, split: int) -> float:
        """Return the number that a value must not exceed to lie in one of the first bins.

        Parameters
        ----------
        feature : int
            A numerical column.
        split : int
            Last bin on the left.

        Returns
        -------
        threshold : float
            ``x <= threshold`` exactly if the bin of x is at most ``split``; infinity for the last
            bin.
        """
        cuts = self.cuts[feature]
        return float(cuts[split]) if split < len(cuts) else np.inf


def find_bins(
    X: np.ndarray,
    *,
    sample_weight: np.ndarray | None = None,
    max_bins: int = 255,
    categorical: Any = None,
    n_jobs: int | None = None,
) -> Bins:
    """Find bins of about equal weight for every column.

    A column with at most ``max_bins`` distinct values has a bin for each. Otherwise a value heavier
    than an equal share has its own bin, and the others share the rest. Thresholds lie midway
    between neighbouring values.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Numbers; NaN where a value is missing. Categorical columns hold codes from 0 to 254.
    sample_weight : ndarray of shape (n_samples,) or None, default=None
        Non-negative weights; a row of weight k counts like k rows.
    max_bins : int, default=255
        Largest number of bins, from 2 to 255.
    categorical : array-like of bool of shape (n_features,) or None, default=None
        Which columns hold codes of categories; None for none.
    n_jobs : int or None, default=None
        Threads; None means one per available core. The result does not depend on it.

    Returns
    -------
    bins : Bins
        The thresholds.

    See Also
    --------
    ColumnSketch : Finds bins of data read in batches.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.tree import find_bins
    >>> X = np.arange(100.0)[:, None]
    >>> find_bins(X, max_bins=4).cuts[0]
    array([24.5, 49.5, 74.5])
    """
    _check_max_bins(max_bins)
    n_features = X.shape[1]
    is_categorical = _as_mask(categorical, n_features)
    kept = None if sample_weight is None else np.flatnonzero(sample_weight > 0)
    if hasattr(X, "indptr"):
        X = _by_columns(X)
    if kept is not None and len(kept) == X.shape[0]:
        kept = None
    cuts: list[np.ndarray] = [np.empty(0)] * n_features
    n_bins = np.ones(n_features, dtype=np.int64)
    missing = np.zeros(n_features, dtype=bool)

    def column(j: int) -> None:
        if hasattr(X, "indptr"):
            distinct, mass, missing[j] = _count_entries(X, j, sample_weight)
        else:
            values = np.asarray(X[:, j] if kept is None else X[kept, j], dtype=np.float64)
            weights = None
            if sample_weight is not None:
                weights = sample_weight if kept is None else sample_weight[kept]
            distinct, mass, missing[j] = _count(values, weights)
        if is_categorical[j]:
            n_bins[j] = _check_codes(distinct, j)
        else:
            cuts[j] = choose_cuts(distinct, mass, max_bins)
            n_bins[j] = len(cuts[j]) + 1

    _for_columns(column, n_features, X.shape[0], n_jobs)
    return Bins(tuple(cuts), n_bins, is_categorical, missing)


def choose_cuts(
    values: np.ndarray, weights: np.ndarray, max_bins: int, *, exact: bool = True
) -> np.ndarray:
    """Choose thresholds between distinct values so that bins have about equal weight.

    Parameters
    ----------
    values : ndarray of shape (n_values,)
        Distinct values, ascending.
    weights : ndarray of shape (n_values,)
        Their positive weights.
    max_bins : int
        Largest number of bins.
    exact : bool, default=True
        Whether these are all values. If they are marks of a sketch, thresholds lie on them, where
        ranks are known, instead of midway.

    Returns
    -------
    cuts : ndarray of shape (n_bins - 1,)
        Thresholds, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.tree import choose_cuts
    >>> choose_cuts(np.arange(5.0), np.array([1.0, 1.0, 96.0, 1.0, 1.0]), 3)
    array([1.5, 2.5])
    """
    if len(values) < 2:
        return np.empty(0)
    if len(values) <= max_bins:
        last = np.arange(len(values) - 1)
    else:
        last = _last_of_bins(weights, max_bins)
    if not exact:
        return values[last]
    below, above = values[last], values[last + 1]
    middle = 0.5 * below + 0.5 * above
    # Between neighbouring floating-point numbers there is no middle.
    return np.where((middle < below) | (middle >= above), below, middle)


def _last_of_bins(weights: np.ndarray, max_bins: int) -> np.ndarray:
    """Return the positions of the last value of every bin but the last."""
    shares = max_bins
    if weights.max() <= weights.sum() / max_bins:  # no value is heavy
        total = np.cumsum(weights)
        targets = total[-1] * np.arange(1, shares) / shares
        return np.unique(np.searchsorted(total, targets * (1 - 1e-12)))
    own = np.zeros(len(weights), dtype=bool)
    while True:  # those above the share of the rest; each such value leaves a smaller rest
        rest = float(weights[~own].sum())
        heavy = ~own & (weights > rest / max(1, shares))
        if not heavy.any() or shares <= 1:
            break
        own |= heavy
        shares = max_bins - int(own.sum())
    after = np.flatnonzero(own)
    fixed = np.union1d(after, after - 1)
    light = np.cumsum(np.where(own, 0.0, weights))
    shares = max(1, shares)
    while True:
        targets = light[-1] * np.arange(1, shares) / shares
        last = np.union1d(fixed, np.searchsorted(light, targets * (1 - 1e-12)))
        last = last[(last >= 0) & (last < len(weights) - 1)]
        if len(last) < max_bins:
            return last
        if shares == 1:  # heavy values alone are too many: drop evenly
            return last[np.linspace(0, len(last) - 1, max_bins - 1).astype(np.int64)]
        shares = max(1, shares - (len(last) - max_bins + 1))


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
        mask = tuple(bool(c) for c in _as_mask(categorical, n_features))
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
        columns = [_count(np.asarray(X[:, j], np.float64), weights) for j in range(X.shape[1])]
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
            marks.append(_add_up(np.concatenate([a, b]), np.concatenate([u, v])))
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
        _check_max_bins(max_bins)
        cuts, n_bins = [], np.ones(len(self.marks), dtype=np.int64)
        for j, (values, mass) in enumerate(self.marks):
            if self.categorical[j]:
                cuts.append(np.empty(0))
                n_bins[j] = _check_codes(values, j)
            else:
                cuts.append(choose_cuts(values, mass, max_bins, exact=self.exact[j]))
                n_bins[j] = len(cuts[j]) + 1
        return Bins(tuple(cuts), n_bins, np.array(self.categorical), np.array(self.missing))


def _by_columns(X: Any) -> Any:
    columns = X.tocsc(copy=True).astype(np.float64, copy=False)
    columns.sum_duplicates()
    columns.eliminate_zeros()
    return columns


def _count_entries(
    X: Any, j: int, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Count the distinct values of a column of a sparse matrix; the other rows are zeros."""
    part = slice(X.indptr[j], X.indptr[j + 1])
    values, size = X.data[part], X.shape[0]
    own, total = None, float(size)
    if weights is not None:
        own = weights[X.indices[part]]
        total, size = float(weights.sum()), int(np.count_nonzero(weights))
        values, own = values[own > 0], own[own > 0]
    distinct, mass, missing = _count(values, own)
    if len(values) < size:
        zeros = total - (len(values) if own is None else float(own.sum()))
        place = int(np.searchsorted(distinct, 0.0))
        distinct, mass = np.insert(distinct, place, 0.0), np.insert(mass, place, zeros)
    return distinct, mass, missing


def _column(X: Any, j: int) -> np.ndarray:
    """Return a column of an array, or of a matrix that is sparse by columns, filled up."""
    if not hasattr(X, "indptr"):
        return X[:, j]
    values = np.zeros(X.shape[0])
    part = slice(X.indptr[j], X.indptr[j + 1])
    values[X.indices[part]] = X.data[part]
    return values


def _count(values: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return the distinct values, their weights, and whether any is missing."""
    if weights is None:
        ordered = _sorted(values)
        stop = int(np.searchsorted(ordered, np.nan))
        present = ordered[:stop]
        if not stop:
            return present, np.empty(0), len(values) > 0
        if stop >= SORT_BY_RADIX:
            from corollary.tree._loops.binning import count_distinct

            distinct, mass = np.empty(stop), np.empty(stop)
            size = count_distinct(present, distinct, mass)
            return distinct[:size], mass[:size], stop < len(values)
        first = np.flatnonzero(np.append(True, present[1:] != present[:-1]))
        mass = np.diff(np.append(first, stop)).astype(np.float64)
        return present[first], mass, stop < len(values)
    held = ~np.isnan(values)
    whole = bool(held.all())
    if not whole:
        values, weights = values[held], weights[held]
    return *_add_up(values, weights), not whole


def _sorted(values: np.ndarray) -> np.ndarray:
    if len(values) < SORT_BY_RADIX:
        return np.sort(values)
    from corollary.tree._loops.binning import sort_column

    keys, spare = np.empty(len(values), np.uint64), np.empty(len(values), np.uint64)
    sort_column(np.ascontiguousarray(values).view(np.uint64), keys, spare)
    return keys.view(np.float64)


def _add_up(values: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct values, ascending, and the sum of the weights of each."""
    if not len(values):
        return values, weights
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    return ordered[first], np.add.reduceat(weights[order], first)


def _check_codes(values: np.ndarray, column: int) -> int:
    if not len(values):
        return 1
    if values[0] < 0 or values[-1] >= MAX_BINS or (values != np.floor(values)).any():
        wrong = values[(values < 0) | (values >= MAX_BINS) | (values != np.floor(values))][0]
        raise ValueError(
            f"Categorical column {column} must hold whole numbers from 0 to {MAX_BINS - 1}. Got "
            f"{wrong:g}; encode the column with corollary.tree.Categories first."
        )
    return int(values[-1]) + 1


def _check_max_bins(max_bins: int) -> None:
    if not 2 <= max_bins <= MAX_BINS:
        raise ValueError(
            f"The 'max_bins' parameter must be an int in the range [2, {MAX_BINS}]. Got "
            f"{max_bins!r} instead."
        )


def _as_mask(categorical: Any, n_features: int) -> np.ndarray:
    if categorical is None:
        return np.zeros(n_features, dtype=bool)
    mask = np.asarray(categorical)
    if mask.dtype != bool or mask.shape != (n_features,):
        raise ValueError(
            f"The 'categorical' parameter must be a boolean mask of {n_features} columns. Got an "
            f"array of {mask.dtype} of shape {mask.shape}."
        )
    return mask


def _for_columns(work: Any, n_features: int, n_rows: int, n_jobs: int | None) -> None:
    """Call ``work(j)`` for every column, in threads if there is enough to do."""
    few = n_features * n_rows < 2**17  # a thread costs more than this much work
    for _ in ordered_map(work, range(n_features), workers=1 if few else n_jobs):
        pass
