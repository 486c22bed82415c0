"""A Gram matrix that is never whole: blocks of it, and a bounded cache of its rows."""

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from corollary.core.parallel import Team, available_cores
from corollary.kernels import GramTiles, PrecomputedTiles

# Fixed tiles, whatever the number of threads: sums over rows are then cut in the same places. A
# tile in single precision takes half of a core's second cache.
TILE_ROWS, TILE_COLUMNS = 256, 512


class ChangedTiles(GramTiles):
    """Another Gram matrix with signs, ``s_i s_j K_ij``, and an addition to its diagonal."""

    def __init__(
        self,
        gram: GramTiles,
        *,
        signs: np.ndarray | None = None,
        addition: np.ndarray | None = None,
    ) -> None:
        self.gram, self.n = gram, gram.n
        self.signs = np.ones(self.n) if signs is None else signs
        self.addition = np.zeros(self.n) if addition is None else addition
        self.diagonal = gram.diagonal + self.addition

    def rows(self, which: Any) -> Any:
        """See :class:`GramTiles`."""
        return np.arange(self.n)[which], self.gram.rows(which)

    def columns(self, which: Any) -> Any:
        """See :class:`GramTiles`."""
        return np.arange(self.n)[which], self.gram.columns(which)

    def tile(self, rows: Any, columns: Any) -> np.ndarray:
        """See :class:`GramTiles`."""
        (i, left), (j, right) = rows, columns
        values = self.gram.tile(left, right) * self.signs[i, None] * self.signs[None, j]
        return values + np.where(i[:, None] == j[None, :], self.addition[i, None], 0.0)


class RowCache:
    """Products with rows of a Gram matrix; rows that come back are kept, within a budget."""

    # A row is stored when it is computed for the second time: fresh memory costs more than a row's
    # values, and many rows are used only once. Rows of a precomputed matrix are never copied.

    def __init__(self, gram: GramTiles, megabytes: float) -> None:
        self.gram = gram
        n = gram.n
        self.whole = isinstance(gram, PrecomputedTiles)
        if isinstance(gram, PrecomputedTiles):  # every row is there already
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
        self.cores = 0  # asked for by the first piece of work that can be shared out
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
        if self.whole and m == self.gram.n and bool((np.diff(rows) > 0).all()):
            return self.values
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
                K[start:stop, left:right] = gram.tile(part, gram.part(columns, slice(left, right)))
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
        from corollary.svm._loops.rows import subtract_rows

        if len(rows) == 0:
            return
        n = self.gram.n
        if self.whole:

            def work_whole(start: int) -> None:
                subtract_rows(rest, self.values, rows, change, start, min(start + TILE_COLUMNS, n))

            self._map(work_whole, range(0, n, TILE_COLUMNS))
            return
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
                kept_slots = slots[which]
                self.values[kept_slots, start:stop] = tile[: len(kept_slots)]
            subtract_rows(rest, self.values, old, old_change, start, stop)

        self._map(work, range(0, n, TILE_COLUMNS))

    def _map(self, work: Callable[[int], None], starts: range) -> None:
        """Do pieces of work that write to places of their own, in any order, on all cores."""
        self.cores = self.cores or (available_cores() if len(starts) > 1 else 0)
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
