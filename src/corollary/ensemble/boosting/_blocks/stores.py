"""Where blocks of binned rows are: in a scratch file on the disk, or on the workers of a cluster.

What is done to a block is a step of :mod:`corollary.ensemble.boosting._blocks.steps`. The disk
keeps bins, and states stay in memory; a cluster keeps both, and merges what steps return.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from corollary.core.parallel import Team
from corollary.core.summary import MergeTree
from corollary.ensemble.boosting._blocks.scratch import ScratchFile
from corollary.ensemble.boosting._blocks.steps import BlockState, first_state, gather
from corollary.ensemble.boosting._grow import cut


class ScratchCodes(NamedTuple):
    """Bins of a block in a scratch file, column by column."""

    file: ScratchFile  # the file
    place: int  # where they begin
    n_rows: int  # rows of the block
    n_features: int  # columns

    def read(self) -> np.ndarray:
        """Return the columns end to end."""
        return self.file.read(self.place, self.n_rows * self.n_features)


class HeldCodes(NamedTuple):
    """Bins of a block in the memory of a worker."""

    codes: np.ndarray  # bins, column-major

    def read(self) -> np.ndarray:
        """Return the columns end to end."""
        return np.ravel(self.codes, order="F")


class Blocks(ABC):
    """Abstract blocks of rows, wherever they are."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.edges = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])

    def __len__(self) -> int:
        return len(self.edges) - 1

    @abstractmethod
    def begin(self, y: np.ndarray, weight: np.ndarray, start: np.ndarray) -> None:
        """Give all blocks their first state; ``weight`` is empty if rows have none."""

    @abstractmethod
    def run(
        self,
        step: Callable[..., tuple[BlockState, Any]],
        merge: Callable[[Any, Any], Any] | None = None,
        rows: np.ndarray | None = None,
    ) -> Any:
        """Take a step in every block."""

    def look_up(self, *names: str, rows: np.ndarray) -> list[np.ndarray]:
        """Return parts of the state of rows (ascending) to the driver."""
        parts = self.run(partial(gather, names=names), rows=rows)
        return [np.concatenate(each) for each in zip(*parts)]

    def _share(self, rows: np.ndarray | None) -> list[tuple[np.ndarray, ...]]:
        """Cut numbers of rows into those of blocks, counted from their first rows on."""
        if rows is None:
            return [()] * len(self)
        at = np.searchsorted(rows, self.edges)
        return [
            ((rows[at[k] : at[k + 1]] - first).astype(np.uint32),)
            for k, first in enumerate(self.edges[:-1])
        ]


class ScratchBlocks(Blocks):
    """Blocks whose bins are in a scratch file; threads take turns in reading them."""

    def __init__(self, codes: list[ScratchCodes], team: Team, workers: int) -> None:
        super().__init__([block.n_rows for block in codes])
        self._codes, self._team, self._workers = codes, team, workers
        self._states: list[BlockState] = []

    def begin(self, y: np.ndarray, weight: np.ndarray, start: np.ndarray) -> None:
        """Give all blocks their first state."""
        self._states = [
            first_state(int(a), y[a:b], weight[a:b], start)
            for a, b in zip(self.edges[:-1], self.edges[1:])
        ]

    def run(
        self,
        step: Callable[..., tuple[BlockState, Any]],
        merge: Callable[[Any, Any], Any] | None = None,
        rows: np.ndarray | None = None,
    ) -> Any:
        """Take a step in every block, consecutive blocks in one thread."""
        shares = self._share(rows)

        def work(span: np.ndarray) -> list[Any]:
            parts: list[Any] = []
            for b in range(*span):
                self._states[b], part = step(self._codes[b], self._states[b], *shares[b])
                parts.append(part)
                if merge is not None and len(parts) == 2:
                    parts = [merge(*parts)]
            return parts

        threads = self._team.map(work, list(cut(len(self), min(self._workers, len(self)))))
        parts = [part for several in threads for part in several]
        if merge is None:
            return parts
        total = parts[0]
        for part in parts[1:]:
            total = merge(total, part)
        return total


class DaskBlocks(Blocks):
    """Blocks on the workers of a Dask cluster; what the driver asks for is merged there."""

    # `codes` are delayed HeldCodes of partitions, `options` those of the scheduler.
    def __init__(self, codes: list[Any], sizes: Sequence[int], options: dict[str, Any]) -> None:
        super().__init__(sizes)
        self._codes, self._options = codes, options
        self._taken: list[Any] = []

    def begin(self, y: np.ndarray, weight: np.ndarray, start: np.ndarray) -> None:
        """Send targets and weights to the workers."""
        import dask

        first = dask.delayed(_first_taken)
        states = [
            first(int(a), y[a:b], weight[a:b], start)
            for a, b in zip(self.edges[:-1], self.edges[1:])
        ]
        self._taken = list(dask.persist(*states, **self._options))

    def run(
        self,
        step: Callable[..., tuple[BlockState, Any]],
        merge: Callable[[Any, Any], Any] | None = None,
        rows: np.ndarray | None = None,
    ) -> Any:
        """Take a step in every block where it is."""
        import dask

        take = dask.delayed(_take)
        taken = [
            take(step, codes, before, *share)
            for codes, before, share in zip(self._codes, self._taken, self._share(rows))
        ]
        parts = taken
        if merge is not None:
            tree = MergeTree(partial(dask.delayed(_merge), merge))
            for part in taken:
                tree.push(part)
            parts = [tree.result()]
        parts = [dask.delayed(_part)(part) for part in parts]
        kept = dask.persist(*taken, *parts, **self._options)
        self._taken = list(kept[: len(taken)])
        results = dask.compute(*kept[len(taken) :], **self._options)
        return list(results) if merge is None else results[0]


class _Taken(NamedTuple):
    """A state and a part: what a step returned, as one object, which is one task."""

    state: BlockState
    part: Any


def _first_taken(*start: Any) -> _Taken:
    return _Taken(first_state(*start), None)


def _take(step: Callable[..., Any], codes: Any, before: _Taken, *share: Any) -> _Taken:
    return _Taken(*step(codes, before.state, *share))


def _merge(merge: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    return merge(_part(left), _part(right))


def _part(taken: Any) -> Any:
    return taken.part if isinstance(taken, _Taken) else taken
