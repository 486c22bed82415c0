"""Blocks of binned rows that are not in the driver's memory, and what is done to each of them.

A block has bins and a state: targets, predictions, derivatives as words, and the place of every
row in the tree that grows. A step is a pure function of both; it returns the next state and a part
of what the driver wants to know, and the parts of all blocks are merged. Where blocks are is the
business of two homes: :class:`ScratchBlocks` keeps bins in a file on the disk and states in memory,
:class:`DaskBlocks` keeps both on the workers of a cluster.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from corollary.core.scratch import ScratchFile
from corollary.core.summary import MergeTree
from corollary.core.threads import Team
from corollary.ensemble.gradient_boosting_histogram import GradientHistogram
from corollary.ensemble.gradient_boosting_tree import cut


class BlockState(NamedTuple):
    """What is known of the rows of a block, besides their bins.

    Parameters
    ----------
    first : int
        Rows in earlier blocks.
    y : ndarray of shape (n,)
        Targets.
    weight : ndarray of shape (n,) or (0,)
        Weights, or none.
    raw : ndarray of shape (n, n_outputs)
        Predictions before this iteration.
    moved : ndarray of shape (n, n_outputs)
        Predictions with the trees of this iteration.
    rows : ndarray of uint32
        Rows of the block to learn from.
    words : ndarray of int64 of shape (n,)
        Their derivatives, packed; 0 for the others.
    places : ndarray of int32 of shape (n,)
        Where the rows are in the tree.
    """

    first: int
    y: np.ndarray
    weight: np.ndarray
    raw: np.ndarray
    moved: np.ndarray
    rows: np.ndarray
    words: np.ndarray
    places: np.ndarray


class Moves(NamedTuple):
    """How rows move on from their places.

    Parameters
    ----------
    table : ndarray of records
        For every place the feature (its position in ``features``) and the children.
    sides : ndarray of uint8 of shape (n_moves, 256)
        Side of every bin.
    features : ndarray of int64 or None
        The only columns that are read; None for all.
    """

    table: np.ndarray
    sides: np.ndarray
    features: np.ndarray | None = None


@dataclass(frozen=True)
class Derivatives:
    """Derivatives of a loss at the predictions of an iteration.

    Parameters
    ----------
    kernel : str
        Name of the compiled derivatives.
    parameters : ndarray
        What they depend on.
    n_trees : int
        Trees per iteration.
    """

    kernel: str
    parameters: np.ndarray
    n_trees: int

    def of(self, state: BlockState) -> tuple[np.ndarray, np.ndarray]:
        """Return derivatives of shape (n_trees, n, 2) and their peaks of shape (n_trees, 2)."""
        from corollary.ensemble import _boosting

        found, peaks = np.zeros((self.n_trees, len(state.y), 2)), np.zeros((self.n_trees, 2))
        span, out = np.array([0, len(state.rows)]), (found[:, :, 0], found[:, :, 1], peaks)
        kernel = getattr(_boosting, self.kernel)
        kernel(state.y, state.raw, state.weight, state.rows, span, self.parameters, out)
        return found, peaks


def first_state(first: int, y: np.ndarray, weight: np.ndarray, start: np.ndarray) -> BlockState:
    """Return the state of a block before the first iteration."""
    raw, none = np.tile(start, (len(y), 1)), np.empty(0, dtype=np.int64)
    return BlockState(first, y, weight, raw, raw, none, none, none)


# -- steps --------------------------------------------------------------------------------------


def choose(codes: Any, state: BlockState, rows: np.ndarray) -> tuple[BlockState, None]:
    """Choose the rows to learn from."""
    return state._replace(rows=rows), None


def measure(
    codes: Any, state: BlockState, derivatives: Derivatives
) -> tuple[BlockState, np.ndarray]:
    """Begin an iteration: find the peaks of derivatives."""
    state = state._replace(raw=state.moved)
    return state, derivatives.of(state)[1]


def plant(
    codes: Any,
    state: BlockState,
    output: int,
    derivatives: Derivatives,
    histogram: GradientHistogram,
) -> tuple[BlockState, GradientHistogram]:
    """Begin a tree: pack derivatives, put all rows at the root, and add up its histogram."""
    found = derivatives.of(state)[0][output]
    words = histogram.pack(found, rows=state.rows, first=state.first)
    state = state._replace(words=words, places=np.zeros(len(words), dtype=np.int32))
    return state, histogram.update((codes.read(), words, state.places))


def tally(
    codes: Any, state: BlockState, moves: Moves, histogram: GradientHistogram
) -> tuple[BlockState, GradientHistogram]:
    """Move rows on and add up the histograms of their new places."""
    bins = codes.read()
    state = state._replace(places=_route(bins, state.places, moves))
    return state, histogram.update((bins, state.words, state.places))


def settle(
    codes: Any,
    state: BlockState,
    output: int,
    derivatives: Derivatives,
    moves: Moves,
    leaf_of: np.ndarray,
    rule: np.ndarray,
    n_nodes: int,
) -> tuple[BlockState, np.ndarray]:
    """Move rows to their leaves and sum their derivatives, without rounding, by leaf."""
    from corollary.ensemble._boosted_tree import SUMS, sum_leaves

    leaves = leaf_of[_route(codes.read(moves.features), state.places, moves)]
    sums = np.zeros(n_nodes, dtype=SUMS)
    found = derivatives.of(state)[0][output]
    sum_leaves(leaves, state.words, found, state.weight, rule, sums)
    return state._replace(places=leaves), sums.view(np.int64).reshape(-1, 3)


def add(codes: Any, state: BlockState, output: int, steps: np.ndarray) -> tuple[BlockState, None]:
    """Add the values of leaves to the predictions of all rows."""
    moved = state.moved.copy()
    moved[:, output : output + steps.shape[1]] += steps[state.places]
    return state._replace(moved=moved), None


def gather(
    codes: Any, state: BlockState, rows: np.ndarray, names: tuple[str, ...]
) -> tuple[BlockState, tuple[np.ndarray, ...]]:
    """Return parts of the state of some rows."""
    return state, tuple(getattr(state, name)[rows] for name in names)


def _route(codes: np.ndarray, places: np.ndarray, moves: Moves) -> np.ndarray:
    from corollary.ensemble._boosted_tree import route

    moved = np.empty_like(places)
    route(codes, places, moves.table, moves.sides, moved)
    return moved


# -- homes --------------------------------------------------------------------------------------


class ScratchCodes(NamedTuple):
    """Bins of a block in a scratch file, column by column.

    Parameters
    ----------
    file : ScratchFile
        The file.
    place : int
        Where they begin.
    n_rows : int
        Rows of the block.
    n_features : int
        Columns.
    """

    file: ScratchFile
    place: int
    n_rows: int
    n_features: int

    def read(self, features: np.ndarray | None = None) -> np.ndarray:
        """Return columns end to end; None for all of them."""
        if features is None:
            return self.file.read(self.place, self.n_rows * self.n_features)
        columns = [self.file.read(self.place + f * self.n_rows, self.n_rows) for f in features]
        return np.concatenate([np.empty(0, dtype=np.uint8), *columns])


class HeldCodes(NamedTuple):
    """Bins of a block in the memory of a worker.

    Parameters
    ----------
    codes : ndarray of uint8 of shape (n_rows, n_features)
        Bins, column-major.
    """

    codes: np.ndarray

    def read(self, features: np.ndarray | None = None) -> np.ndarray:
        """Return columns end to end; None for all of them."""
        return np.ravel(self.codes if features is None else self.codes[:, features], order="F")


class Blocks(ABC):
    """Abstract blocks of rows, wherever they are.

    Parameters
    ----------
    sizes : sequence of int
        Rows of each block.
    """

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
        """Take a step in every block.

        Parameters
        ----------
        step : callable
            ``step(codes, state)``, or ``step(codes, state, rows)`` with the block's share of
            ``rows``, returns the next state and a part.
        merge : callable or None, default=None
            Merges two parts; None for a list of them.
        rows : ndarray or None, default=None
            Numbers of rows, ascending.

        Returns
        -------
        total : object
            All parts, merged.
        """

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
            ((rows[a:b] - first).astype(np.uint32),)
            for a, b, first in zip(at[:-1], at[1:], self.edges)
        ]


class ScratchBlocks(Blocks):
    """Blocks whose bins are in a scratch file; threads take turns in reading them.

    Parameters
    ----------
    codes : list of ScratchCodes
        Bins.
    team : Team
        Threads.
    workers : int
        Their number.
    """

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
    """Blocks on the workers of a Dask cluster; what the driver asks for is merged there.

    Parameters
    ----------
    codes : list of Delayed
        :class:`HeldCodes` of partitions, kept on the workers.
    sizes : sequence of int
        Rows of each.
    options : dict
        For the scheduler.
    """

    def __init__(self, codes: list[Any], sizes: Sequence[int], options: dict[str, Any]) -> None:
        super().__init__(sizes)
        self._codes, self._options = codes, options
        self._states: list[Any] = []

    def begin(self, y: np.ndarray, weight: np.ndarray, start: np.ndarray) -> None:
        """Send targets and weights to the workers."""
        import dask

        first = dask.delayed(first_state)
        states = [
            first(int(a), y[a:b], weight[a:b], start)
            for a, b in zip(self.edges[:-1], self.edges[1:])
        ]
        self._states = list(dask.persist(*states, **self._options))

    def run(
        self,
        step: Callable[..., tuple[BlockState, Any]],
        merge: Callable[[Any, Any], Any] | None = None,
        rows: np.ndarray | None = None,
    ) -> Any:
        """Take a step in every block where it is."""
        import dask

        take = dask.delayed(step, nout=2)
        both = [
            take(codes, state, *share)
            for codes, state, share in zip(self._codes, self._states, self._share(rows))
        ]
        parts = [part for _, part in both]
        if merge is not None:
            tree = MergeTree(dask.delayed(merge))
            for part in parts:
                tree.push(part)
            parts = [tree.result()]
        kept = dask.persist(*(state for state, _ in both), *parts, **self._options)
        self._states = list(kept[: len(both)])
        found = dask.compute(*kept[len(both) :], **self._options)
        return list(found) if merge is None else found[0]
