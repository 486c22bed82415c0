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
from corollary.ensemble.gradient_boosting_histogram import GradientHistogram, as_read
from corollary.ensemble.gradient_boosting_tree import cut

# Columns, rule and slots of a histogram: they travel, its zeros need not.
Layout = tuple[np.ndarray, np.ndarray, np.ndarray]


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
    rows : ndarray of uint32 or None
        Rows of the block to learn from; None for all.
    words : ndarray of int64 of shape (n,) or None
        Their derivatives, packed; 0 for the others.
    order : ndarray of uint32 or None
        Rows to learn from, grouped by their places in the tree.
    spans : ndarray of records or None
        Where the rows of each place are in the order.
    leaves : ndarray of int32 or None
        Leaves of all rows, once the tree is grown.
    """

    first: int
    y: np.ndarray
    weight: np.ndarray
    raw: np.ndarray
    moved: np.ndarray
    rows: np.ndarray | None = None
    words: Any = None
    order: Any = None
    spans: Any = None
    leaves: Any = None

    @property
    def chosen(self) -> np.ndarray:
        """Rows to learn from."""
        return np.arange(len(self.y), dtype=np.uint32) if self.rows is None else self.rows


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
        rows, out = state.chosen, (found[:, :, 0], found[:, :, 1], peaks)
        span, kernel = np.array([0, len(rows)]), getattr(_boosting, self.kernel)
        kernel(state.y, state.raw, state.weight, rows, span, self.parameters, out)
        return found, peaks


class GrownTree(NamedTuple):
    """What settles the leaves of a tree.

    Parameters
    ----------
    columns : ndarray of records
        Features worth a split.
    nodes : ndarray of records
        Nodes.
    sides : ndarray of uint8 of shape (n_nodes, 256)
        Side of every bin.
    rule : ndarray of records of shape (1,)
        How derivatives are summed.
    """

    columns: np.ndarray
    nodes: np.ndarray
    sides: np.ndarray
    rule: np.ndarray


def first_state(first: int, y: np.ndarray, weight: np.ndarray, start: np.ndarray) -> BlockState:
    """Return the state of a block before the first iteration."""
    raw = np.tile(start, (len(y), 1))
    return BlockState(first, y, weight, raw, raw)


# -- steps --------------------------------------------------------------------------------------


def choose(codes: Any, state: BlockState, rows: np.ndarray) -> tuple[BlockState, None]:
    """Choose the rows to learn from."""
    return state._replace(rows=None if len(rows) == len(state.y) else rows), None


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
    layout: Layout,
) -> tuple[BlockState, GradientHistogram]:
    """Begin a tree: pack derivatives, put all rows at the root, and add up its histogram."""
    from corollary.ensemble._boosted_tree import SPAN

    order, histogram = state.chosen, GradientHistogram.over(*layout)
    words = histogram.pack(derivatives.of(state)[0][output], rows=order, first=state.first)
    spans = np.array([(0, len(order))], dtype=SPAN)
    state = state._replace(words=words, order=order, spans=spans)
    return state, histogram.update_grouped(codes.read(), words, order, spans)


def split(
    codes: Any,
    state: BlockState,
    moves: np.ndarray,
    sides: np.ndarray,
    layout: Layout,
) -> tuple[BlockState, GradientHistogram]:
    """Split places, as sides of bins say, and add up histograms of new ones."""
    from corollary.ensemble._boosted_tree import move_rows

    bins, n = codes.read(), len(state.y)
    order, aside = state.order.copy(), np.empty_like(state.order)
    histogram = GradientHistogram.over(*layout)
    spans = np.zeros(len(histogram.slots), dtype=state.spans.dtype)
    spans[: len(state.spans)] = state.spans
    move_rows(as_read(bins), n, moves, sides, order, aside, spans)
    state = state._replace(order=order, spans=spans)
    return state, histogram.update_grouped(bins, state.words, order, spans)


def settle(
    codes: Any, state: BlockState, output: int, derivatives: Derivatives, tree: GrownTree
) -> tuple[BlockState, np.ndarray]:
    """Find the leaves of all rows and sum derivatives, without rounding, by leaf."""
    from corollary.ensemble._boosted_tree import SUMS, sum_leaves, walk

    n = len(state.y)
    leaves, rows = np.empty(n, dtype=np.int64), np.arange(n, dtype=np.uint32)
    flat = as_read(codes.read())
    bins = flat.reshape((n, len(flat) // max(1, n)), order="F")
    walk(bins, rows, tree.columns, tree.nodes, tree.sides, leaves)
    sums = np.zeros(len(tree.nodes), dtype=SUMS)
    found = derivatives.of(state)[0][output]
    sum_leaves(leaves, state.words, found, state.weight, tree.rule, sums)
    state = state._replace(leaves=leaves.astype(np.int32), order=None)
    return state, sums.view(np.int64).reshape(-1, 3)


def add(codes: Any, state: BlockState, output: int, steps: np.ndarray) -> tuple[BlockState, None]:
    """Add the values of leaves to the predictions of all rows."""
    moved = state.moved.copy()
    moved[:, output : output + steps.shape[1]] += steps[state.leaves]
    return state._replace(moved=moved, leaves=None), None


def gather(
    codes: Any, state: BlockState, rows: np.ndarray, names: tuple[str, ...]
) -> tuple[BlockState, tuple[np.ndarray, ...]]:
    """Return parts of the state of some rows."""
    return state, tuple(getattr(state, name)[rows] for name in names)


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

    def read(self) -> np.ndarray:
        """Return the columns end to end."""
        return self.file.read(self.place, self.n_rows * self.n_features)


class HeldCodes(NamedTuple):
    """Bins of a block in the memory of a worker.

    Parameters
    ----------
    codes : ndarray of uint8 of shape (n_rows, n_features)
        Bins, column-major.
    """

    codes: np.ndarray

    def read(self) -> np.ndarray:
        """Return the columns end to end."""
        return np.ravel(self.codes, order="F")


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
            ((rows[at[k] : at[k + 1]] - first).astype(np.uint32),)
            for k, first in enumerate(self.edges[:-1])
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
        found = dask.compute(*kept[len(taken) :], **self._options)
        return list(found) if merge is None else found[0]


class _Taken(NamedTuple):
    """A state and a part: what a step returned, as one object, which is one task."""

    state: BlockState
    part: Any


def _first_taken(*given: Any) -> _Taken:
    return _Taken(first_state(*given), None)


def _take(step: Callable[..., Any], codes: Any, before: _Taken, *share: Any) -> _Taken:
    return _Taken(*step(codes, before.state, *share))


def _merge(merge: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    return merge(_part(left), _part(right))


def _part(found: Any) -> Any:
    return found.part if isinstance(found, _Taken) else found
