r"""Bins: a table of numbers as one byte per value, in a way that predictions cannot notice.

A numerical column gets at most 255 bins with thresholds :math:`c_0<c_1<\dots` in its own units;
the bin of a value is the number of thresholds below it, so that

.. math:: \operatorname{bin}(x)\le b\iff x\le c_b

exactly. A tree grown on bins therefore gives the same answer on raw rows. Byte 255 stands for a
missing value. A categorical column holds whole numbers (see
:class:`corollary.tree.binning.categories.Categories`), which are their own bins.

Thresholds are weighted quantiles: exact for data in memory, from a mergeable sketch
(:class:`ColumnSketch`) for data read in batches.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.tree.binning._columns import (
    as_mask,
    by_columns,
    check_codes,
    check_max_bins,
    column_of,
    count_entries,
    count_values,
    for_columns,
)


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
        X = by_columns(X) if hasattr(X, "indptr") else np.asarray(X, dtype=np.float64)
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
            values = np.ascontiguousarray(column_of(X, j))
            if self.categorical[j]:
                code_column(values, float(self.n_bins[j]), codes[:, j])
            else:
                bin_column(values, padded[j], codes[:, j])

        for_columns(column, X.shape[1], X.shape[0], n_jobs)
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
    check_max_bins(max_bins)
    n_features = X.shape[1]
    is_categorical = as_mask(categorical, n_features)
    kept = None if sample_weight is None else np.flatnonzero(sample_weight > 0)
    if hasattr(X, "indptr"):
        X = by_columns(X)
    if kept is not None and len(kept) == X.shape[0]:
        kept = None
    cuts: list[np.ndarray] = [np.empty(0)] * n_features
    n_bins = np.ones(n_features, dtype=np.int64)
    missing = np.zeros(n_features, dtype=bool)

    def column(j: int) -> None:
        if hasattr(X, "indptr"):
            distinct, mass, missing[j] = count_entries(X, j, sample_weight)
        else:
            values = np.asarray(X[:, j] if kept is None else X[kept, j], dtype=np.float64)
            weights = None
            if sample_weight is not None:
                weights = sample_weight if kept is None else sample_weight[kept]
            distinct, mass, missing[j] = count_values(values, weights)
        if is_categorical[j]:
            n_bins[j] = check_codes(distinct, j)
        else:
            cuts[j] = choose_cuts(distinct, mass, max_bins)
            n_bins[j] = len(cuts[j]) + 1

    for_columns(column, n_features, X.shape[0], n_jobs)
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
    alone = np.zeros(len(weights), dtype=bool)
    while True:  # those above the share of the rest; each such value leaves a smaller rest
        shared = float(weights[~alone].sum())
        heavy = ~alone & (weights > shared / max(1, shares))
        if not heavy.any() or shares <= 1:
            break
        alone |= heavy
        shares = max_bins - int(alone.sum())
    after = np.flatnonzero(alone)
    fixed = np.union1d(after, after - 1)
    light = np.cumsum(np.where(alone, 0.0, weights))
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
