"""Summary: a statistic that can be computed in pieces and merged.

Whatever is a sum over rows (moments, normal equations, Newton steps, histograms) is written once
as a :class:`Summary` and then runs over arrays in threads, over files that do not fit in memory,
and over Dask collections on a cluster.

Determinism. The rows are cut into blocks of :func:`block_rows` rows, a number that depends on
the width of a row alone; block summaries are merged along one fixed binary tree. Threads, the
batches of a file or the partitions of a cluster therefore do not change a single bit of the
result.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Self, TypeVar

import numpy as np
from scipy import sparse

from corollary.core.parallel import available_cores, one_blas_thread, ordered_map

# A block of this many bytes stays in a core's cache hierarchy and is large enough that the
# Python overhead per block (about 20 microseconds) disappears.
BLOCK_BYTES = 4 * 2**20

Chunk = tuple[Any, ...]
S = TypeVar("S", bound="Summary")


class Summary(ABC):
    """A mergeable statistic of rows.

    A summary is a value: ``update`` and ``merge`` return a summary and leave their arguments as
    they were (they may reuse memory that nobody else can see). The laws, checked for every
    summary by ``tests/core/test_summary.py``: ``merge`` is associative up to rounding, ``empty``
    is its neutral element, and ``update`` with a chunk equals ``merge`` with the summary of that
    chunk.
    """

    @abstractmethod
    def empty(self) -> Self:
        """Return a summary with the same settings and no rows."""

    @abstractmethod
    def update(self, chunk: Chunk) -> Self:
        """Return the summary of the rows so far and those of ``chunk``.

        Parameters
        ----------
        chunk : tuple
            Arrays with the same number of rows, as given to :func:`reduce`; entries may be None.

        Returns
        -------
        summary : Summary
            The new summary.
        """

    @abstractmethod
    def merge(self, other: Self) -> Self:
        """Return the summary of both sets of rows.

        Parameters
        ----------
        other : Summary
            A summary with the same settings.

        Returns
        -------
        summary : Summary
            The new summary.
        """


@dataclass(frozen=True)
class Together(Summary):
    """Several summaries of the same rows, computed in one pass.

    Parameters
    ----------
    parts : tuple of Summary
        The summaries; each is given every chunk whole.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.core.fingerprint import Fingerprint
    >>> from corollary.core.summary import Moments
    >>> from corollary.core.summary import Together, reduce
    >>> both = Together((Moments.of_width(2), Fingerprint()))
    >>> moments, memory = reduce(both, (np.ones((5, 2)),)).parts
    >>> moments.weight, memory.n_rows
    (5.0, 5)
    """

    parts: tuple[Summary, ...]

    def empty(self) -> Self:
        """Return the same summaries with no rows."""
        return type(self)(tuple(part.empty() for part in self.parts))

    def update(self, chunk: Chunk) -> Self:
        """Add the rows of a chunk to every part."""
        return type(self)(tuple(part.update(chunk) for part in self.parts))

    def merge(self, other: Self) -> Self:
        """Unite part by part."""
        return type(self)(tuple(a.merge(b) for a, b in zip(self.parts, other.parts)))


def block_rows(chunk: Chunk) -> int:
    """Return how many rows of this width make a block.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.core.summary import block_rows
    >>> block_rows((np.zeros((10, 63)), np.zeros(10)))
    8192
    """
    width = sum(_row_width(a) for a in chunk if a is not None)
    return int(max(256, min(65536, BLOCK_BYTES // (8 * max(1, width)))))


def _row_width(array: Any) -> int:
    return math.prod(array.shape[1:])


def n_rows(chunk: Chunk) -> int:
    """Return the number of rows of a chunk."""
    return int(next(a for a in chunk if a is not None).shape[0])


def slice_rows(chunk: Chunk, start: int, stop: int) -> Chunk:
    """Return rows ``start`` to ``stop`` of every array of a chunk, without copying dense ones."""
    return tuple(None if a is None else a[start:stop] for a in chunk)


def reblock(chunks: Iterable[Chunk], rows: int | None = None) -> Iterator[Chunk]:
    """Cut or join a stream of chunks into blocks of equal size (the last may be shorter)."""
    pending: list[Chunk] = []
    held = 0
    for chunk in chunks:
        if rows is None:
            rows = block_rows(chunk)
        start, size = 0, n_rows(chunk)
        while size - start >= rows - held:
            stop = start + rows - held
            pending.append(slice_rows(chunk, start, stop))
            yield _join(pending)
            pending, held, start = [], 0, stop
        if start < size:
            pending.append(slice_rows(chunk, start, size))
            held += size - start
    if pending:
        yield _join(pending)


def _join(chunks: list[Chunk]) -> Chunk:
    if len(chunks) == 1:
        return chunks[0]
    return tuple(
        None
        if parts[0] is None
        else sparse.vstack(parts, format="csr")
        if sparse.issparse(parts[0])
        else np.concatenate(parts)
        for parts in zip(*chunks)
    )


class MergeTree:
    """Merge a stream of block summaries along the fixed binary tree of their positions.

    Neighbours are merged in pairs, then pairs of pairs, and so on; an odd one out is carried up.
    At most log2(blocks) summaries are held at a time.

    Parameters
    ----------
    merge : callable
        ``merge(left, right)``.
    """

    def __init__(self, merge: Callable[[Any, Any], Any]) -> None:
        self._merge = merge
        self._stack: list[tuple[int, Any]] = []

    def push(self, part: Any) -> None:
        """Add the summary of the next block."""
        height = 0
        while self._stack and self._stack[-1][0] == height:
            part = self._merge(self._stack.pop()[1], part)
            height += 1
        self._stack.append((height, part))

    def result(self) -> Any:
        """Return the merged summary, or None if nothing was pushed."""
        if not self._stack:
            return None
        total = self._stack[-1][1]
        for _, left in reversed(self._stack[:-1]):
            total = self._merge(left, total)
        return total


def reduce_blocks(summary: S, blocks: Iterable[Chunk], *, n_jobs: int | None = None) -> S:
    """Summarise blocks in threads and merge them in order."""
    tree = MergeTree(lambda left, right: left.merge(right))

    def summarise(block: Chunk) -> S:
        return summary.empty().update(block)

    blocks = iter(blocks)
    first = list(islice(blocks, 2))
    blocks = chain(first, blocks)
    # Counting cores reads files of the system, which costs more than a pass over one small block.
    count_cores = len(first) == 2 and (n_jobs is None or n_jobs < 1)
    workers = available_cores() if count_cores else n_jobs or 1
    # One BLAS thread per worker: nested threads fight for cores, and a multi-threaded product
    # may round differently from a single-threaded one.
    with one_blas_thread():
        for part in ordered_map(summarise, blocks, workers=workers if len(first) == 2 else 1):
            tree.push(part)
    total = tree.result()
    return summary if total is None else summary.merge(total)


def reduce(summary: S, data: Any, *, n_jobs: int | None = None, **options: Any) -> S:
    """Compute a summary over data, wherever they are.

    Parameters
    ----------
    summary : Summary
        Where to start; usually an empty summary.
    data : tuple of arrays, path, iterable of chunks, or Dask collection
        A tuple of arrays with equal numbers of rows is cut into blocks. For files and Dask
        collections see :mod:`corollary.core.summary`. Any other iterable is read as a stream of
        chunks (tuples of arrays) and cut into blocks.
    n_jobs : int or None, default=None
        Threads; None means one per available core. The result does not depend on it.
    **options
        Passed to the source, e.g. ``columns`` and ``target`` for a file.

    Returns
    -------
    summary : Summary
        The summary of all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.core.summary import Moments
    >>> from corollary.core.summary import reduce
    >>> X = np.arange(10.0).reshape(5, 2)
    >>> reduce(Moments.of_width(2), (X,)).mean
    array([4., 5.])
    """
    if isinstance(data, tuple) and not _is_lazy(data):
        rows, size = block_rows(data), n_rows(data)
        blocks = (slice_rows(data, i, min(i + rows, size)) for i in range(0, size, rows))
        return reduce_blocks(summary, blocks, n_jobs=n_jobs)
    from corollary.core.summary.sources import open_source

    return open_source(data, **options).reduce(summary, n_jobs=n_jobs)


def _is_lazy(data: tuple[Any, ...]) -> bool:
    return any(hasattr(part, "__dask_graph__") for part in data)
