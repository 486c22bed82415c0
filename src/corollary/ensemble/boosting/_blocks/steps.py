"""What is done to a block of binned rows when trees grow by passes.

A block has bins and a state: targets, predictions, derivatives as words, and the order of its rows
by their places in the tree that grows. A step is a pure function of both. It returns the next
state, and a part of what the driver wants to know; the parts of all blocks are merged. Where blocks
are is not their business: see :mod:`corollary.ensemble.boosting._blocks.stores`.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from corollary.ensemble.boosting._layout import as_read
from corollary.ensemble.boosting.histogram import GradientHistogram

# Columns, rule and slots of a histogram: they travel, its zeros need not.
Layout = tuple[np.ndarray, np.ndarray, np.ndarray]


class BlockState(NamedTuple):
    """What is known of the rows of a block, besides their bins."""

    first: int  # rows in earlier blocks
    y: np.ndarray  # targets
    weight: np.ndarray  # weights, or none
    raw: np.ndarray  # predictions before this iteration
    moved: np.ndarray  # predictions with the trees of this iteration
    rows: np.ndarray | None = None  # rows of the block to learn from; None for all
    words: Any = None  # their derivatives, packed; 0 for the others
    order: Any = None  # rows to learn from, grouped by their places in the tree
    spans: Any = None  # where the rows of each place are in the order
    leaves: Any = None  # leaves of all rows, once the tree is grown

    @property
    def chosen(self) -> np.ndarray:
        """Rows to learn from."""
        return np.arange(len(self.y), dtype=np.uint32) if self.rows is None else self.rows


@dataclass(frozen=True)
class Derivatives:
    """Derivatives of a loss at the predictions of an iteration."""

    kernel: str  # name of the compiled derivatives
    parameters: np.ndarray  # what they depend on
    n_trees: int  # trees per iteration

    def of(self, state: BlockState) -> tuple[np.ndarray, np.ndarray]:
        """Return derivatives of shape (n_trees, n, 2) and their peaks of shape (n_trees, 2)."""
        from corollary.ensemble._loops import derivatives as loops

        terms, peaks = np.zeros((self.n_trees, len(state.y), 2)), np.zeros((self.n_trees, 2))
        rows, out = state.chosen, (terms[:, :, 0], terms[:, :, 1], peaks)
        span, kernel = np.array([0, len(rows)]), getattr(loops, self.kernel)
        kernel(state.y, state.raw, state.weight, rows, span, self.parameters, out)
        return terms, peaks


class GrownTree(NamedTuple):
    """What settles the leaves of a tree."""

    columns: np.ndarray  # features worth a split
    nodes: np.ndarray  # nodes
    sides: np.ndarray  # side of every bin
    rule: np.ndarray  # how derivatives are summed


def first_state(first: int, y: np.ndarray, weight: np.ndarray, start: np.ndarray) -> BlockState:
    """Return the state of a block before the first iteration."""
    raw = np.tile(start, (len(y), 1))
    return BlockState(first, y, weight, raw, raw)


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
    from corollary.ensemble._loops.records import SPAN

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
    from corollary.ensemble._loops.rows import move_rows

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
    from corollary.ensemble._loops.leaves import sum_leaves, walk
    from corollary.ensemble._loops.records import SUMS

    n = len(state.y)
    leaves, rows = np.empty(n, dtype=np.int64), np.arange(n, dtype=np.uint32)
    flat = as_read(codes.read())
    bins = flat.reshape((n, len(flat) // max(1, n)), order="F")
    walk(bins, rows, tree.columns, tree.nodes, tree.sides, leaves)
    sums = np.zeros(len(tree.nodes), dtype=SUMS)
    terms = derivatives.of(state)[0][output]
    sum_leaves(leaves, state.words, terms, state.weight, tree.rule, sums)
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
