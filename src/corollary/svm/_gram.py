"""Gram matrices that are never whole: tiles, blocks and a bounded cache of rows."""

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from corollary.core.threads import Team, available_cores
from corollary.kernels import RBF, Kernel, arrays

# Fixed tiles, whatever the number of threads: sums over rows are then cut in the same places. A
# tile in single precision takes half of a core's second cache.
TILE_ROWS, TILE_COLUMNS = 256, 512
# Kernel values in single precision of rows with at most this many columns are computed as fast as
# they are read.
_CHEAP_COLUMNS = 32

_buffers = threading.local()


def _buffer(rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Return this thread's scratch matrix: fresh memory costs more than the kernel's values."""
    size = rows * columns * dtype.itemsize
    if getattr(_buffers, "flat", None) is None or _buffers.flat.size < size:
        _buffers.flat = np.empty(size, dtype=np.uint8)
    return _buffers.flat[:size].view(dtype).reshape(rows, columns)


class Gram:
    """Tiles of a symmetric matrix of n inputs.

    Subclasses set ``n`` and ``diagonal`` and define ``rows`` and ``columns`` (what a tile needs to
    know of some inputs) and ``tile``.
    """

    n: int
    diagonal: np.ndarray
    dtype: Any = np.float64
    # Whether values cost less than memory for them: then rows are not kept.
    cheap: bool = False

    def rows(self, which: Any) -> Any:
        """Prepare some inputs, a slice or indices, as the rows of a tile."""
        raise NotImplementedError  # abstract: the classes below define it

    def columns(self, which: Any) -> Any:
        """Prepare some inputs, a slice or indices, as the columns of a tile."""
        return self.rows(which)

    def tile(self, rows: Any, columns: Any) -> np.ndarray:
        """Return the values of all pairs; they may be overwritten by this thread's next tile."""
        raise NotImplementedError  # abstract: the classes below define it

    def single(self) -> "Gram":
        """Return the matrix in single precision, if that is faster."""
        return self


class PrecomputedGram(Gram):
    """A matrix that exists."""

    def __init__(self, K: np.ndarray) -> None:
        self.K = np.ascontiguousarray(K)
        self.n = len(K)
        self.diagonal = np.diagonal(K).copy()

    def rows(self, which: Any) -> Any:
        """See :class:`Gram`."""
        return which

    def tile(self, rows: Any, columns: Any) -> np.ndarray:
        """See :class:`Gram`."""
        if isinstance(columns, slice):
            return self.K[rows, columns]
        return self.K[rows[:, None], columns]


class KernelGram(Gram):
    """The matrix of a kernel that follows the contract of prepared inputs."""

    def __init__(self, kernel: Kernel, X: Any) -> None:
        self.kernel = kernel
        self.prepared = kernel._prepare(X, None)[0]
        self.n = arrays.n_prepared(self.prepared)
        self.diagonal = np.asarray(kernel._diag(self.prepared), dtype=np.float64)

    def rows(self, which: Any) -> Any:
        """See :class:`Gram`."""
        return take(self.prepared, which)

    def tile(self, rows: Any, columns: Any) -> np.ndarray:
        """See :class:`Gram`."""
        return self.kernel._evaluate(rows, columns, False)


class RBFGram(Gram):
    """The RBF kernel of dense rows: one matrix product gives the exponents.

    With z the scaled and centred rows, ``-|z - z'|^2 / 2`` is the inner product of
    ``(z, -|z|^2 / 2, 1)`` and ``(z', 1, -|z'|^2 / 2)``, which saves most passes over a tile.
    """

    def __init__(self, prepared: tuple[np.ndarray, np.ndarray]) -> None:
        rows, squares = prepared
        half, one = -0.5 * squares[:, None], np.ones((len(rows), 1))
        self.left = np.hstack([rows, half, one])
        self.right = np.hstack([rows, one, half])
        self.n = len(rows)
        self.diagonal = np.ones(self.n)
        # Single precision where it leaves the kernel's values at least four digits.
        rough = squares.max(initial=0.0) * np.finfo(np.float32).eps > 1e-4
        self._single: Gram | None = self if rough else None

    def single(self) -> Gram:
        """See :class:`Gram`."""
        if self._single is None:
            self._single = SingleRBFGram(self)
        return self._single

    def rows(self, which: Any) -> Any:
        """See :class:`Gram`."""
        return self.left[which]

    def columns(self, which: Any) -> Any:
        """See :class:`Gram`."""
        return self.right[which]

    def tile(self, rows: Any, columns: Any) -> np.ndarray:
        """See :class:`Gram`."""
        values = _buffer(len(rows), len(columns), rows.dtype)
        np.matmul(rows, columns.T, out=values)
        return np.exp(values, out=values)


class SingleRBFGram(RBFGram):
    """The RBF kernel in single precision, a third of the time: powers of two."""

    dtype = np.float32

    def __init__(self, gram: RBFGram) -> None:
        self.left = (gram.left / np.log(2.0)).astype(np.float32)
        self.right = gram.right.astype(np.float32)
        self.n, self.diagonal = gram.n, gram.diagonal
        self.cheap = self.left.shape[1] <= _CHEAP_COLUMNS
        self._single = self

    def tile(self, rows: Any, columns: Any) -> np.ndarray:
        """See :class:`Gram`."""
        from corollary.svm._tiles import powers_of_two

        values = _buffer(len(rows), len(columns), rows.dtype)
        np.matmul(rows, columns.T, out=values)
        powers_of_two(values)
        return values


class ChangedGram(Gram):
    """Another Gram matrix with signs, ``s_i s_j K_ij``, and an addition to its diagonal."""

    def __init__(
        self, gram: Gram, *, signs: np.ndarray | None = None, addition: np.ndarray | None = None
    ) -> None:
        self.gram, self.n = gram, gram.n
        self.signs = np.ones(self.n) if signs is None else signs
        self.addition = np.zeros(self.n) if addition is None else addition
        self.diagonal = gram.diagonal + self.addition

    def rows(self, which: Any) -> Any:
        """See :class:`Gram`."""
        return np.arange(self.n)[which], self.gram.rows(which)

    def columns(self, which: Any) -> Any:
        """See :class:`Gram`."""
        return np.arange(self.n)[which], self.gram.columns(which)

    def tile(self, rows: Any, columns: Any) -> np.ndarray:
        """See :class:`Gram`."""
        (i, left), (j, right) = rows, columns
        values = self.gram.tile(left, right) * self.signs[i, None] * self.signs[None, j]
        return values + np.where(i[:, None] == j[None, :], self.addition[i, None], 0.0)


def make_gram(kernel: Kernel | str, X: Any) -> Gram:
    """Return the tiles of a kernel on inputs, or of a given matrix for "precomputed"."""
    if isinstance(kernel, str):
        return PrecomputedGram(np.asarray(X, dtype=np.float64))
    if type(kernel).gram is not Kernel.gram:  # kernels with a way of their own, as on strings
        return PrecomputedGram(np.asarray(kernel.gram(X), dtype=np.float64))
    if type(kernel) is RBF and not sparse.issparse(X):
        prepared = kernel._prepare(X, None)[0]
        # Inner products lose digits when rows are far from their centre; the kernel then
        # computes distances in another way.
        if prepared[1].max(initial=0.0) * np.finfo(float).eps <= 1e-10:
            return RBFGram(prepared)
    return KernelGram(kernel, X)


def take(prepared: Any, which: Any) -> Any:
    """Return some of the prepared inputs, by a slice or by indices."""
    if isinstance(prepared, tuple):
        return tuple(take(part, which) for part in prepared)
    return prepared[which]


class RowCache:
    """Products with rows of a Gram matrix; rows that come back are kept, within a budget.

    A row is stored when it is computed for the second time: fresh memory costs more than a row's
    values, and many rows are used only once. Rows of a precomputed matrix are never copied.

    Parameters
    ----------
    gram : Gram
        The matrix.
    megabytes : float
        Memory for rows.
    """

    def __init__(self, gram: Gram, megabytes: float) -> None:
        self.gram = gram
        n = gram.n
        if isinstance(gram, PrecomputedGram):  # every row is there already
            self.capacity, self.values, self.slot = n, gram.K, np.arange(n)
        else:
            size = np.dtype(gram.dtype).itemsize * n
            self.capacity = 0 if gram.cheap else min(n, int(megabytes * 2**20 / size))
            self.values = np.empty((self.capacity, n), dtype=gram.dtype)
            self.slot = np.full(n, -1)
        self.times = np.zeros(n, dtype=np.int64)
        self.owner = np.full(self.capacity, -1)
        self.used = np.zeros(self.capacity, dtype=np.int64)
        self.clock = 0
        self.memory = np.empty(0, dtype=np.uint8)
        self.cores = available_cores()
        self.team: Team | None = None

    def __enter__(self) -> "RowCache":
        return self

    def __exit__(self, *error: Any) -> None:
        if self.team is not None:
            self.team.__exit__(*error)

    def block(self, rows: np.ndarray, *, precise: bool) -> np.ndarray:
        """Return the square matrix of some rows, in memory that the next block overwrites.

        In single precision it moves half the memory: the gradient is corrected with the cache's
        own rows afterwards, so that only a step, not its goal, is rounded. In double precision it
        is exactly symmetric, and half of it is computed.
        """
        m = len(rows)
        gram = self.gram if precise else self.gram.single()
        half = gram.dtype == np.float64
        size = m * m * np.dtype(gram.dtype).itemsize
        if self.memory.size < size:  # pages that are never touched cost nothing
            self.memory = np.empty(max(size, 2 * self.memory.size), dtype=np.uint8)
        K = self.memory[:size].view(gram.dtype).reshape(m, m)
        columns = gram.columns(rows)

        def work(start: int) -> None:
            stop = min(start + TILE_ROWS, m)
            part = gram.rows(rows[start:stop])
            for left in range(start if half else 0, m, TILE_COLUMNS):
                right = min(left + TILE_COLUMNS, m)
                K[start:stop, left:right] = gram.tile(part, take(columns, slice(left, right)))
            if half:
                # Rounding may have made the corner on the diagonal unsymmetric.
                corner = K[start:stop, start:stop]
                np.copyto(corner, corner.T.copy(), where=np.tri(stop - start, k=-1, dtype=bool))
                K[stop:, start:stop] = K[start:stop, stop:].T

        self._map(work, range(0, m, TILE_ROWS))
        K[np.arange(m), np.arange(m)] = self.gram.diagonal[rows]
        return K

    def subtract_product(self, rest: np.ndarray, rows: np.ndarray, change: np.ndarray) -> None:
        """Subtract ``change @ K[rows]`` from ``rest``, in place."""
        from corollary.svm._tiles import subtract_rows

        if len(rows) == 0:
            return
        n = self.gram.n
        kept = self.slot[rows] >= 0
        old, old_change = self.slot[rows[kept]], change[kept]
        self.clock += 1
        self.used[old] = self.clock
        # Rows to be stored come first.
        new, new_change = rows[~kept], change[~kept]
        order = np.argsort(self.times[new] == 0, kind="stable")
        new, new_change = new[order], new_change[order]
        slots = self._reserve(new[self.times[new] > 0])
        self.times[new] += 1
        pieces = [
            (self.gram.rows(new[i : i + TILE_ROWS]), slice(i, i + TILE_ROWS))
            for i in range(0, len(new), TILE_ROWS)
        ]
        places = np.arange(TILE_ROWS)

        def work(start: int) -> None:
            stop = min(start + TILE_COLUMNS, n)
            columns = self.gram.columns(slice(start, stop))
            part = rest[start:stop]
            for left, which in pieces:
                tile = np.ascontiguousarray(self.gram.tile(left, columns))
                subtract_rows(part, tile, places[: len(tile)], new_change[which], 0, len(part))
                mine = slots[which]
                self.values[mine, start:stop] = tile[: len(mine)]
            subtract_rows(rest, self.values, old, old_change, start, stop)

        self._map(work, range(0, n, TILE_COLUMNS))

    def _map(self, work: Callable[[int], None], starts: range) -> None:
        """Do pieces of work that write to places of their own, in any order, on all cores."""
        if self.cores == 1 or len(starts) == 1:
            for start in starts:
                work(start)
            return
        if self.team is None:
            self.team = Team(self.cores).__enter__()
        waiting = deque(starts)

        def serve(_: int) -> None:
            while True:
                try:
                    start = waiting.popleft()
                except IndexError:
                    return
                work(start)

        self.team.map(serve, range(min(self.cores, len(starts))))

    def _reserve(self, rows: np.ndarray) -> np.ndarray:
        """Give slots to as many of the rows as there is room for, the oldest slots first."""
        free = np.argsort(self.used, kind="stable")
        free = free[self.used[free] < self.clock][: len(rows)]
        rows = rows[: len(free)]
        owner = self.owner[free]
        self.slot[owner[owner >= 0]] = -1
        self.owner[free] = rows
        self.slot[rows] = free
        self.used[free] = self.clock
        return free
