"""Rows of a file or a cluster as bins: one byte per value is all that boosting needs."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from corollary.core.fingerprint import Fingerprint
from corollary.core.sources import open_source
from corollary.core.summary import Chunk, Summary, Together
from corollary.tree.binning import Bins, ColumnSketch


@dataclass(frozen=True, eq=False)
class BinnedRows(Summary):
    """The rows of a source as bins, with targets and weights, in their order.

    Parameters
    ----------
    bins : Bins
        Thresholds.
    blocks : tuple of tuple, default=()
        ``(codes, y, sample_weight)`` of each block.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.core.summary import reduce
    >>> from corollary.ensemble import BinnedRows
    >>> from corollary.tree import find_bins
    >>> X, y = np.array([[1.0], [2.0], [9.0]]), np.zeros(3)
    >>> rows = reduce(BinnedRows(find_bins(X)), (X, y))
    >>> rows.join()[0].ravel()
    array([0, 1, 2], dtype=uint8)
    """

    bins: Bins
    blocks: tuple[tuple[np.ndarray, np.ndarray, np.ndarray | None], ...] = ()

    def empty(self) -> Self:
        """Return no rows of the same bins."""
        return type(self)(self.bins)

    def update(self, chunk: Chunk) -> Self:
        """Append the rows of a chunk ``(X, y)`` or ``(X, y, sample_weight)``."""
        codes = np.ascontiguousarray(self.bins.transform(np.asarray(chunk[0]), n_jobs=1))
        weight = chunk[2] if len(chunk) > 2 else None
        # Copies: a view would keep the block of numbers in memory.
        y = np.array(chunk[1])
        block = (codes, y, None if weight is None else np.array(weight))
        return type(self)(self.bins, (*self.blocks, block))

    def merge(self, other: Self) -> Self:
        """Append the rows of another."""
        return type(self)(self.bins, (*self.blocks, *other.blocks))

    def join(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return all rows.

        Returns
        -------
        codes : ndarray of uint8 of shape (n_samples, n_features)
            Bins, column-major.
        y : ndarray of shape (n_samples,)
            Targets.
        sample_weight : ndarray of shape (n_samples,) or None
            Weights.
        """
        sizes = [len(y) for _, y, _ in self.blocks]
        codes = np.empty((sum(sizes), len(self.bins.cuts)), dtype=np.uint8, order="F")
        stops = np.cumsum(sizes)
        for (block, _, _), size, stop in zip(self.blocks, sizes, stops):
            codes[stop - size : stop] = block
        y = np.concatenate([y for _, y, _ in self.blocks])
        if self.blocks[0][2] is None:
            return codes, y, None
        return codes, y, np.concatenate([w for _, _, w in self.blocks])


def read_bins(
    estimator: Any,
    data: Any,
    *,
    categorical: Any,
    max_bins: int,
    labels: bool,
    n_jobs: int | None,
    **columns: Any,
) -> BinnedRows:
    """Read a source twice: for its bins, and for the bins of its rows.

    Parameters
    ----------
    estimator : estimator
        Receives ``n_features_in_``, ``feature_names_in_`` (if columns have names) and
        ``fingerprint_``.
    data : path, data frame, Dask collection, or iterable of chunks
        See :func:`corollary.core.sources.open_source`.
    categorical : callable
        ``categorical(n_features, names)`` returns the mask of categorical columns.
    max_bins : int
        Largest number of bins.
    labels : bool
        Whether the targets are class labels.
    n_jobs : int or None
        Threads.
    **columns
        ``target``, ``columns`` and ``sample_weight`` of ``open_source``.

    Returns
    -------
    rows : BinnedRows
        The rows.
    """
    name = type(estimator).__name__
    source = open_source(data, labels=labels, missing=True, **columns)
    if source.n_targets == 0:
        raise ValueError(
            f"{name}.fit_source needs targets. Name the column to predict in `target`, or give "
            "chunks (X, y)."
        )
    if source.target_ndim != 1:
        raise ValueError(f"{name} predicts one target. Got several columns in `target`.")
    if not source.rereadable:
        raise ValueError(
            f"{name}.fit_source reads the data twice. Got a generator, which can be read once; "
            "give a list of chunks, a file or a Dask collection."
        )
    mask = categorical(source.n_features, source.feature_names)
    sketch = ColumnSketch.of_width(source.n_features, categorical=mask)
    both: Any = source.reduce(Together((sketch, Fingerprint())), n_jobs)
    sketch, estimator.fingerprint_ = both.parts
    estimator.n_features_in_ = source.n_features
    if source.feature_names is not None:
        estimator.feature_names_in_ = np.array(source.feature_names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return source.reduce(BinnedRows(sketch.bins(max_bins)), n_jobs)
