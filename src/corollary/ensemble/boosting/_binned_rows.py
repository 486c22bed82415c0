"""Rows of a file or a cluster as bins: one byte per value is all that boosting needs.

Bins are held in memory as long as a budget allows it, and else block by block in a scratch file on
the disk, or on the workers of a cluster, which persist them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import Any, Self

import numpy as np

from corollary.core.parallel import Team, available_cores, ordered_map
from corollary.core.summary import (
    Chunk,
    DaskSource,
    Source,
    Summary,
    reblock,
    scheduler_options,
)
from corollary.ensemble.boosting._blocks.scratch import ScratchFile
from corollary.ensemble.boosting._blocks.stores import (
    DaskBlocks,
    HeldCodes,
    ScratchBlocks,
    ScratchCodes,
)
from corollary.ensemble.boosting._boost import with_missing_last
from corollary.tree import Bins

# Bins of a block in a scratch file: so many that adding up histograms takes little of a pass.
BLOCK_BYTES = 8 * 2**20

Rows = tuple[Any, np.ndarray, np.ndarray | None]


def bin_chunk(bins: Bins, chunk: Chunk) -> Rows:
    """Return the bins of rows, their targets and weights; rows without weight are left out."""
    X, y, *more = chunk
    weight = more[0] if more else None
    codes = with_missing_last(bins.transform(np.asarray(X), n_jobs=1), bins)
    if weight is None:
        return codes, np.array(y), None  # a copy: a view would keep the numbers in memory
    kept = weight > 0  # others would still count in leaves
    return np.asfortranarray(codes[kept]), y[kept], np.asarray(weight[kept], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class BinnedRows(Summary):
    """The rows of a source as bins, with targets and weights, in their order.

    Rows of weight 0 are left out.

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
        return type(self)(self.bins, (*self.blocks, bin_chunk(self.bins, chunk)))

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
        return codes, *_join([targets for _, *targets in self.blocks])


@contextmanager
def open_blocks(
    source: Source,
    bins: Bins,
    *,
    n_bytes: int,
    directory: str | PathLike[str] | None,
    n_jobs: int | None,
) -> Iterator[Rows]:
    """Read a source for the bins of its rows, which are kept out of the driver's memory."""
    if isinstance(source, DaskSource):
        yield _on_workers(source, bins, n_jobs)
        return
    workers = available_cores() if n_jobs is None or n_jobs < 1 else n_jobs
    with ScratchFile(directory, size=n_bytes) as file, Team(workers) as team:
        binned = ordered_map(partial(bin_chunk, bins), reblock(source.chunks()), workers=workers)
        n_features = len(bins.cuts)
        codes, targets = [], []
        for block, *target in reblock(binned, max(1, BLOCK_BYTES // n_features)):
            place = file.append(np.asfortranarray(block))
            codes.append(ScratchCodes(file, place, len(block), n_features))
            targets.append(target)
        yield ScratchBlocks(codes, team, workers), *_join(targets)


def _on_workers(source: DaskSource, bins: Bins, n_jobs: int | None) -> Rows:
    import dask

    options = scheduler_options(n_jobs)
    parts = source.persist(partial(_held, bins), n_jobs)
    targets = dask.compute(*(part[1] for part in parts), **options)
    codes = list(dask.persist(*(part[0] for part in parts), **options))
    return DaskBlocks(codes, [len(y) for y, _ in targets], options), *_join(targets)


def _held(bins: Bins, chunk: Chunk) -> tuple[HeldCodes, tuple[Any, ...]]:
    codes, *targets = bin_chunk(bins, chunk)
    return HeldCodes(codes), tuple(targets)


def _join(targets: Any) -> tuple[np.ndarray, np.ndarray | None]:
    if not targets:  # no row has weight
        return np.empty(0), None
    y, weight = zip(*targets)
    return np.concatenate(y), None if weight[0] is None else np.concatenate(weight)
