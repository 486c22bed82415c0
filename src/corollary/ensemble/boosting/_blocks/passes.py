"""Growing trees by passes over blocks of rows: those of memory, in as many passes as levels.

A pass sends rows to the children of leaves and adds up one histogram for each of these leaves: that
of the smaller child, since the other is what is left. Whenever the next leaf to be split, best
first, has not been passed to its children yet, one pass does so for all leaves that would be split
if nothing better came up below them: no other known leaf can be split at all. Then splits of their
children are found, so that the next pass is one level deeper everywhere. Most of what is done ahead
is needed: sums of whole numbers and gains are those of memory, and so is the order of choice.

If features are drawn at every split, the draw depends on the number of a node, which it gets when
its parent is chosen. Then histograms are made ahead, but splits are found in the order of choice.
"""

import heapq
import operator
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from corollary.ensemble.boosting._blocks import steps as blockwise
from corollary.ensemble.boosting._blocks.steps import Derivatives, GrownTree, Layout
from corollary.ensemble.boosting._blocks.stores import Blocks
from corollary.ensemble.boosting._grow import Growth, Settling, TreeGrower
from corollary.ensemble.boosting._trees import Grown
from corollary.ensemble.boosting.histogram import GradientHistogram
from corollary.tree import Bins

# Histograms that one pass may add up in each thread or partition.
HISTOGRAM_BYTES = 32 * 2**20


class PassGrower(TreeGrower):
    """Grow trees on blocks of rows; ``n_passes`` counts the passes that the last tree took."""

    def __init__(
        self, blocks: Blocks, bins: Bins, growth: Growth, monotone: np.ndarray, n_outputs: int
    ) -> None:
        from corollary.ensemble._loops.records import Rows

        super().__init__(bins, growth, monotone, n_outputs, 0, 1)
        self.blocks = blocks
        bytes_, numbers = np.empty(0, dtype=np.uint8), np.empty(0, dtype=np.uint32)
        # The compiled code is given no rows: it only finds splits and chooses nodes.
        self.nothing = Rows(bytes_, np.empty((0, 2)), np.empty(0, dtype=np.int64), numbers, numbers)

    def grow(
        self, output: int, derivatives: Derivatives, peaks: np.ndarray, n: int, seed: int
    ) -> Grown:
        """Grow a tree."""
        self.output, self.derivatives = output, derivatives
        self._set_rules(n, *peaks.tolist())
        self._plant(n, 0)
        # By node, the place of its rows, and that of its left child's.
        self.place: dict[int, int] = {0: 0}
        self.children: dict[int, int] = {}
        self.ready: dict[int, np.ndarray] = {}  # histograms of smaller children, by parent
        self.n_places, self.n_passes = 1, 0
        # Nodes in the order of their numbers in memory, and by number the left child.
        self.number: list[int] = [0]
        self.left: dict[int, int] = {}
        root = self._plant_rows()
        if len(self.columns) and n:
            self.tree.hists[self.tree.nodes[0]["slot"]] = root.sums[0]
            self._grow(self.nothing, seed)
        nodes = self.tree.nodes[self.number]
        nodes["left"] = [self.left.get(name, -1) for name in range(len(nodes))]
        sides, n_nodes = self.tree.sides[self.number], len(nodes)
        return Grown(nodes, self.steps[:n_nodes], sides, self.tree.spans[:n_nodes], self.nothing)

    def _grow(self, rows: Any, seed: int) -> None:
        self.seed, self.most = seed, self.growth.max_leaf_nodes
        self.drawn = self._draw(self.plan, seed)
        self._find_splits(0)
        waiting = _Waiting(self.most is not None)
        self._wait(waiting, 0, 0)
        while waiting and (self.most is None or len(self.left) + 1 < self.most):
            number, name = waiting.pop()
            if self.tree.nodes[name]["left"] < 0:
                if name not in self.ready and self._wants_histogram(name, len(self.left)):
                    self._pass([name, *self._ahead(waiting)])
                if self.tree.nodes[name]["left"] < 0:
                    self._open(name)
            left = int(self.tree.nodes[name]["left"])
            self.left[number] = len(self.number)
            for child in (left, left + 1):
                self._wait(waiting, len(self.number), child)
                self.number.append(child)

    def _wait(self, waiting: "_Waiting", number: int, name: int) -> None:
        gain = self.tree.nodes[name]["gain"]
        if gain > 0.0:
            waiting.push(gain, number, name)

    def _wants_histogram(self, name: int, n_splits: int) -> bool:
        """Tell whether a child of a node may be split, if so many splits come before its own."""
        rule, node = self.rule[0], self.tree.nodes[name]
        if self.most is not None and n_splits + 2 >= self.most:
            return False
        if self.growth.max_depth is not None and node["depth"] + 1 >= self.growth.max_depth:
            return False
        return max(self._counts(node)) >= 2 * int(rule["min_rows"])

    def _counts(self, node: Any) -> tuple[int, int]:
        """Return the rows of both children of a node."""
        mask = (1 << int(self.rule[0]["shift"])) - 1
        near = int(node["hc_left"]) & mask
        return near, (int(node["hc"]) & mask) - near

    def _ahead(self, waiting: "_Waiting") -> list[int]:
        """Return nodes to be passed: those that will be chosen if nothing is below them."""
        waiting, n_splits, names = waiting.copy(), len(self.left) + 1, []
        while waiting and (self.most is None or n_splits + 2 < self.most):
            _, name = waiting.pop()
            left = int(self.tree.nodes[name]["left"])
            if left >= 0:
                for child in (left, left + 1):
                    self._wait(waiting, 2 * n_splits + 1 + child - left, child)
            elif name not in self.children and self._wants_histogram(name, n_splits):
                names.append(name)
            n_splits += 1
        return names

    def _open(self, name: int) -> None:
        """Give a node its children, and these the best of their splits."""
        from corollary.ensemble._loops.records import FULL, MOST

        rule, state = self.rule[0], self.tree.state[0]
        rule["max_leaves"], state["top"], state["pending"] = MOST, name, -1
        while self._run(-1, -1, self.nothing, self.drawn) == FULL:
            self._enlarge()
            self.drawn, state = self._draw(self.drawn, self.seed), self.tree.state[0]
        node = self.tree.nodes[name]
        left, small = int(node["left"]), int(node["small"])
        if name in self.children:
            place = self.children[name]
            self.place[left], self.place[left + 1] = place, place + 1
        if name in self.ready:
            self.tree.hists[self.tree.nodes[left + small]["slot"]] = self.ready.pop(name)
        elif small >= 0:  # it is the last split, and the histogram is given back
            node["small"], state["n_free"] = -1, state["n_free"] + 1
        self._find_splits(name)

    def _find_splits(self, name: int) -> None:
        """Find the best splits of the children of a node, or of the root while it is alone."""
        state = self.tree.state[0]
        # The compiled code goes on to choose a node unless there are enough leaves.
        self.rule[0]["max_leaves"], state["pending"], state["top"] = 1, name, -1
        self._run(-1, -1, self.nothing, self.drawn)

    def _plant_rows(self) -> GradientHistogram:
        """Put all rows at the root and return its histogram."""
        self.n_passes += 1
        step = partial(
            blockwise.plant,
            output=self.output,
            derivatives=self.derivatives,
            layout=self._layout([0]),
        )
        return self._merged(step)

    def _merged(self, step: Any) -> GradientHistogram:
        total: GradientHistogram = self.blocks.run(step, GradientHistogram.merge)
        return total

    def _layout(self, places: list[int]) -> Layout:
        slots = np.full(self.n_places, -1, dtype=np.int64)
        slots[places] = np.arange(len(places))
        return self.columns, self.rule.copy(), slots

    def _pass(self, names: list[int]) -> None:
        """Split nodes and add up the histograms of their smaller children."""
        from corollary.ensemble._loops.records import MOVE

        self.n_passes += 1
        names = names[: max(1, HISTOGRAM_BYTES // (8 * self.tree.hists.shape[1]))]
        moves, sides = np.zeros(len(names), dtype=MOVE), self.tree.sides[names]
        smaller = []
        for move, name in zip(moves, names):
            node, child = self.tree.nodes[name], self.n_places
            move["place"], move["child"] = self.place[name], child
            move["feature"] = self.columns["feature"][node["feature"]]
            near, far = self._counts(node)
            smaller.append(child + int(near > far))
            self.children[name] = child
            self.n_places += 2
        layout = self._layout(smaller)
        step = partial(blockwise.split, moves=moves, sides=sides, layout=layout)
        self.ready.update(zip(names, self._merged(step).sums))
        if self.growth.max_features >= 1.0:
            for name in names:
                self._open(name)

    def settle(self, grown: Grown, settling: Settling) -> None:
        """Send all rows to their leaves and give these their Newton steps."""
        from corollary.ensemble._loops.leaves import settle
        from corollary.ensemble._loops.records import STEP, Leaves

        self._set_steps(settling)
        n_nodes = len(grown.nodes)
        step = partial(
            blockwise.settle,
            output=self.output,
            derivatives=self.derivatives,
            tree=GrownTree(self.columns, grown.nodes, grown.sides, self.rule.copy()),
        )
        self.sums[0, :n_nodes] = self.blocks.run(step, operator.add).view(self.sums.dtype)[:, 0]
        nothing = self.nothing
        parts = grown.nodes, grown.spans, nothing.order, nothing.derivatives, np.empty(0)
        leaves = Leaves(*parts, self.sums, self.steps, np.empty((0, 1)))
        settle(STEP, 0, 1, leaves, self.rule, 0)


class _Waiting:
    """Nodes that may be chosen: that of largest gain first, or simply the last one."""

    def __init__(self, by_gain: bool, nodes: Sequence[tuple[float, int, int]] = ()) -> None:
        self._by_gain, self._nodes = by_gain, list(nodes)

    def __bool__(self) -> bool:
        return bool(self._nodes)

    def copy(self) -> "_Waiting":
        return _Waiting(self._by_gain, self._nodes)

    def push(self, gain: float, number: int, name: int) -> None:
        if self._by_gain:
            heapq.heappush(self._nodes, (-float(gain), number, name))
        else:
            self._nodes.append((0.0, number, name))

    def pop(self) -> tuple[int, int]:
        _, number, name = heapq.heappop(self._nodes) if self._by_gain else self._nodes.pop()
        return number, name
