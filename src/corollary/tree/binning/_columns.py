"""Columns of tables, one at a time: distinct values with their weights, in threads."""

import os
from typing import Any

import numpy as np

from corollary.core.parallel import ordered_map

#: Bytes that the machine has, as far as it says so.
MEMORY = (
    os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {})
    else 2**62
)
MAX_BINS = 255
# From this many rows on a compiled sort by radix is several times faster than NumPy's.
SORT_BY_RADIX = 2**15


def by_columns(X: Any) -> Any:
    columns = X.tocsc(copy=True).astype(np.float64, copy=False)
    columns.sum_duplicates()
    columns.eliminate_zeros()
    return columns


def count_entries(
    X: Any, j: int, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Count the distinct values of a column of a sparse matrix; the other rows are zeros."""
    part = slice(X.indptr[j], X.indptr[j + 1])
    values, size = X.data[part], X.shape[0]
    entry_weight, total = None, float(size)
    if weights is not None:
        entry_weight = weights[X.indices[part]]
        total, size = float(weights.sum()), int(np.count_nonzero(weights))
        values, entry_weight = values[entry_weight > 0], entry_weight[entry_weight > 0]
    distinct, mass, missing = count_values(values, entry_weight)
    if len(values) < size:
        zeros = total - (len(values) if entry_weight is None else float(entry_weight.sum()))
        place = int(np.searchsorted(distinct, 0.0))
        distinct, mass = np.insert(distinct, place, 0.0), np.insert(mass, place, zeros)
    return distinct, mass, missing


def column_of(X: Any, j: int) -> np.ndarray:
    """Return a column of an array, or of a matrix that is sparse by columns, filled up."""
    if not hasattr(X, "indptr"):
        return X[:, j]
    values = np.zeros(X.shape[0])
    part = slice(X.indptr[j], X.indptr[j + 1])
    values[X.indices[part]] = X.data[part]
    return values


def count_values(
    values: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return the distinct values, their weights, and whether any is missing."""
    if weights is None:
        ordered = sort(values)
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
    return *add_up(values, weights), not whole


def sort(values: np.ndarray) -> np.ndarray:
    if len(values) < SORT_BY_RADIX:
        return np.sort(values)
    from corollary.tree._loops.binning import sort_column

    keys, spare = np.empty(len(values), np.uint64), np.empty(len(values), np.uint64)
    sort_column(np.ascontiguousarray(values).view(np.uint64), keys, spare)
    return keys.view(np.float64)


def add_up(values: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct values, ascending, and the sum of the weights of each."""
    if not len(values):
        return values, weights
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    return ordered[first], np.add.reduceat(weights[order], first)


def check_codes(values: np.ndarray, column: int) -> int:
    if not len(values):
        return 1
    if values[0] < 0 or values[-1] >= MAX_BINS or (values != np.floor(values)).any():
        wrong = values[(values < 0) | (values >= MAX_BINS) | (values != np.floor(values))][0]
        raise ValueError(
            f"Categorical column {column} must hold whole numbers from 0 to {MAX_BINS - 1}. Got "
            f"{wrong:g}; encode the column with corollary.tree.Categories first."
        )
    return int(values[-1]) + 1


def check_max_bins(max_bins: int) -> None:
    if not 2 <= max_bins <= MAX_BINS:
        raise ValueError(
            f"The 'max_bins' parameter must be an int in the range [2, {MAX_BINS}]. Got "
            f"{max_bins!r} instead."
        )


def as_mask(categorical: Any, n_features: int) -> np.ndarray:
    if categorical is None:
        return np.zeros(n_features, dtype=bool)
    mask = np.asarray(categorical)
    if mask.dtype != bool or mask.shape != (n_features,):
        raise ValueError(
            f"The 'categorical' parameter must be a boolean mask of {n_features} columns. Got an "
            f"array of {mask.dtype} of shape {mask.shape}."
        )
    return mask


def for_columns(work: Any, n_features: int, n_rows: int, n_jobs: int | None) -> None:
    """Call ``work(j)`` for every column, in threads if there is enough to do."""
    few = n_features * n_rows < 2**17  # a thread costs more than this much work
    for _ in ordered_map(work, range(n_features), workers=1 if few else n_jobs):
        pass


def check_room(who: str, shape: tuple[int, int], size: int, advice: str) -> None:
    """Refuse to fill up a sparse table that would not fit in memory."""
    n_bytes = shape[0] * shape[1] * size
    if n_bytes > MEMORY:
        raise MemoryError(
            f"{who} hold every value of a sparse matrix, zeros too: {shape[0]} rows of {shape[1]} "
            f"columns take {n_bytes / 2**30:.1f} GiB, and the machine has {MEMORY / 2**30:.1f}. "
            f"{advice}."
        )
