r"""Growing one tree of gradient boosting: leaf by leaf, on histograms of whole numbers.

The leaf with the largest gain is split next, where the gain of a split is

.. math:: \frac{G_L^2}{H_L+\lambda}+\frac{G_R^2}{H_R+\lambda}-\frac{G^2}{H+\lambda}

for sums G and H of first and second derivatives. Only the smaller child's histogram is built, the
other is what is left of the parent's.

Derivatives enter histograms as whole numbers of about 13 bits, rounded without systematic error,
and the values of leaves are sums of 62 bits. Sums of whole numbers have no order, so trees are the
same bits for any number of threads and any cut of the rows into blocks. The rounding adds at most
one part in a thousand to the noise of a sum unless the largest gradient exceeds the typical one
several hundred times.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from corollary.core.parallel import Team
from corollary.ensemble.boosting._layout import (
    DITHER_ABOVE,
    ROOM,
    divide_word,
    lay_out,
    scale_of,
    width_of,
)
from corollary.ensemble.boosting._trees import Grown
from corollary.tree import Bins

# Fewer values than this (rows times features) are not worth waking a thread for; found by timing
# the contests of bench/boosting.py.
ALONE = 1_000_000
# Fewer rows than this are settled in less time than it takes to wake a thread.
SETTLE_ALONE = 2**16
# The least second derivative of a leaf, in units of weight; below, its step would be noise.
MIN_HESSIAN = 1e-3
# Second derivatives, in the same unit, by which the mean gradient of a category is smoothed.
SMOOTHING = 10.0


@dataclass(frozen=True)
class Growth:
    """When a tree stops to grow and what its splits must respect."""

    max_leaf_nodes: int | None  # most leaves
    max_depth: int | None  # most splits on a way
    min_samples_leaf: int  # fewest rows of a leaf
    l2: float  # penalty of squared leaf values
    max_features: float  # share of the features that are tried at a split
    unit_weight: float = 1.0  # of a row: what thresholds of second derivatives refer to
    # features (columns) that may be on one way from the root (lines); None for all
    interactions: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Settling:
    """What the values of leaves depend on besides derivatives."""

    rate: float  # shrinkage of every value
    heaviest: float | None  # the largest weight of a row; None without weights
    curbed: bool = False  # whether a Newton step u may also become log(1 + |u|)
    longest: float = math.inf  # the longest step, shrunk
    # called with the tree to put other values in the place of Newton steps, which are then not
    # shrunk; None if these are good
    revise: Callable[["Grown"], None] | None = None


@lru_cache(maxsize=64)
def cut(n_rows: int, n_blocks: int) -> np.ndarray:
    """Return first and last place of blocks of about equal size."""
    edges = np.linspace(0, n_rows, n_blocks + 1).astype(np.int64)
    return np.stack([edges[:-1], edges[1:]], axis=1)


class TreeGrower(ABC):
    """Abstract growth of trees, one after the other: their arrays and rules."""

    def __init__(
        self,
        bins: Bins,
        growth: Growth,
        monotone: np.ndarray,  # 1 and -1 for features whose effect must not fall or rise, else 0
        n_outputs: int,  # values of a leaf
        n_rows: int,  # held in memory
        n_blocks: int,  # of them that are worked on at the same time
    ) -> None:
        from corollary.ensemble._loops import records

        self.growth, self.n_blocks = growth, n_blocks
        self.columns = lay_out(bins)
        features = self.columns["feature"]
        self.work = [np.zeros(512 + min(n_rows, ROOM), dtype=np.int64) for _ in range(n_blocks)]
        self.ranks = np.zeros(256, dtype=records.RANK) if bins.categorical.any() else None
        self.monotone = monotone[features] if monotone.any() else None
        groups = np.zeros((0, len(features)), dtype=np.uint8)
        if growth.interactions is not None:
            groups = np.ascontiguousarray(growth.interactions[:, features], dtype=np.uint8)
        leaves = min(growth.max_leaf_nodes or 64, 64)
        # Histograms of the blocks of a node come first, and then one for every leaf.
        self.shared = n_blocks if n_blocks > 1 else 0
        slots = self.shared + leaves + 1
        self.tree = records.Tree(
            np.zeros(2 * leaves, dtype=records.NODE),
            np.zeros((2 * leaves, 256), dtype=np.uint8),
            np.zeros((2 * leaves, n_blocks), dtype=records.SPAN),
            np.zeros((slots, width_of(self.columns)), dtype=np.int64),
            np.arange(slots),
            np.zeros(1, dtype=records.STATE),
            np.ones((2 * leaves, len(groups)), dtype=np.uint8),
        )
        self.sums = np.zeros((n_blocks, 2 * leaves), dtype=records.SUMS)
        self.steps = np.zeros((2 * leaves, n_outputs))
        self.rule = np.zeros(1, dtype=records.RULE)
        self.n_rows = -1
        every = np.ones((1, len(features)), dtype=np.uint8)
        self.plan = records.Plan(self.columns, every, self.rule, groups, every[0].copy())

    @abstractmethod
    def _grow(self, rows: Any, seed: int) -> None:
        """Grow the tree that is planted; rows are what the compiled code works on."""

    def _set_rules(self, n: int, g_peak: float, h_peak: float) -> None:
        """Set what rules the growth of a tree on n rows with derivatives up to the peaks."""
        from corollary.ensemble._loops.records import MOST

        rule = self.rule[0]
        if n != self.n_rows:
            growth, word = self.growth, divide_word(n)
            rule["h_bits"], rule["c_bits"] = word.h_bits, word.c_bits
            rule["shift"], rule["room"] = word.shift, word.room
            rule["min_rows"], rule["dither"] = growth.min_samples_leaf, n > DITHER_ABOVE
            rule["max_depth"] = growth.max_depth or MOST
            rule["max_leaves"] = growth.max_leaf_nodes or MOST
            rule["l2"], rule["min_hessian"] = growth.l2, MIN_HESSIAN * growth.unit_weight
            rule["smooth"] = SMOOTHING * growth.unit_weight
            self.word, self.n_rows = word, n
        limit = 2.0**62 / max(1, n)
        rule["g_scale"] = 1.0 / scale_of(self.word.g_limit, g_peak)
        rule["h_scale"] = 1.0 / scale_of(self.word.h_limit, h_peak)
        rule["g_sums"], rule["h_sums"] = scale_of(limit, g_peak), scale_of(limit, h_peak)

    def _set_steps(self, settling: Settling) -> None:
        """Set what rules the values of leaves."""
        rule = self.rule[0]
        rule["rate"], rule["w_sums"] = settling.rate, 1.0
        rule["curb"], rule["longest"] = settling.curbed, settling.longest
        if settling.heaviest is not None:
            rule["w_sums"] = scale_of(2.0**62 / max(1, self.n_rows), settling.heaviest)

    def _plant(self, n: int, share: int) -> None:
        """Begin with a root of n rows and an empty histogram; hand out nodes of ``share`` rows."""
        tree = self.tree
        slot = len(tree.free) - 1
        tree.free[:] = np.arange(self.shared, self.shared + slot + 1)
        tree.hists[slot], tree.alive[0] = 0, 1
        tree.state[0] = 1, slot - self.shared, 0, share, self.n_blocks > 1, -1
        tree.nodes[0] = -1, 0, 0, -1, 0, slot, 0, -1, 0, 0, 0, 0, 0.0, -math.inf, math.inf, 0.0
        edges = cut(n, self.n_blocks)
        tree.spans[0]["start"], tree.spans[0]["stop"] = edges[:, 0], edges[:, 1]

    def _run(self, name: int, block: int, rows: Any, plan: Any) -> int:
        from corollary.ensemble._loops.grow import grow

        work = self.work[max(block, 0)]
        return int(grow(name, block, rows, plan, self.tree, work, self.ranks, self.monotone))

    def _draw(self, plan: Any, seed: int) -> Any:
        """Draw the features that are tried at each node, those of earlier nodes being kept."""
        n_features = len(self.columns)
        size = max(1, math.ceil(self.growth.max_features * n_features))
        if size >= n_features:
            return plan
        old, n_nodes = len(plan.tried) if len(plan.tried) > 1 else 0, len(self.tree.nodes)
        keys = np.random.default_rng([seed, old]).random((n_nodes - old, n_features))
        chosen = np.argpartition(keys, size, axis=1)[:, :size]
        tried = np.zeros((n_nodes - old, n_features), dtype=np.uint8)
        np.put_along_axis(tried, chosen, 1, axis=1)
        return plan._replace(tried=np.concatenate([plan.tried[:old], tried]))

    def _enlarge(self) -> None:
        """Double the room for nodes or histograms, whichever is full, keeping what there is."""

        def longer(array: np.ndarray, axis: int = 0) -> np.ndarray:
            return np.concatenate([array, np.zeros_like(array)], axis=axis)

        tree = self.tree
        if tree.state[0]["n_free"] > 0:
            names = ("nodes", "sides", "spans", "alive")
            self.sums, self.steps = longer(self.sums, axis=1), longer(self.steps)
            self.tree = tree._replace(**{name: longer(getattr(tree, name)) for name in names})
            return
        slots = len(tree.free)
        tree.state[0]["n_free"] = slots
        free = np.concatenate([np.arange(slots, 2 * slots), np.zeros(slots, dtype=np.int64)])
        self.tree = tree._replace(hists=longer(tree.hists), free=free)


class Grower(TreeGrower):
    """Grow trees on binned rows in memory."""

    def __init__(
        self,
        codes: np.ndarray,  # column-major; missing values have the number of the column's bins
        bins: Bins,
        growth: Growth,
        monotone: np.ndarray,
        team: Team,
        n_blocks: int,
        n_outputs: int = 1,
    ) -> None:
        n = len(codes)
        super().__init__(bins, growth, monotone, n_outputs, n, n_blocks)
        self.codes, self.team = codes, team
        self.flat = codes.ravel(order="F")
        self.packed = np.empty(n, dtype=np.int64)
        self.order, self.aside = np.empty(n, dtype=np.uint32), np.empty(n, dtype=np.uint32)

    def grow(
        self, derivatives: np.ndarray, peaks: np.ndarray, rows: np.ndarray, seed: int
    ) -> Grown:
        """Grow a tree."""
        from corollary.ensemble._loops.records import Rows

        n = len(rows)
        self.order[:n] = rows
        training = Rows(self.flat, derivatives, self.packed, self.order, self.aside)
        self._set_rules(n, *peaks.tolist())
        share = 2**62 if self.n_blocks == 1 else ALONE // max(1, len(self.columns))
        self._plant(n, share)
        if len(self.columns) and n:
            self._grow(training, seed)
        tree = self.tree
        n = int(tree.state[0]["n_nodes"])
        return Grown(tree.nodes[:n], self.steps[:n], tree.sides[:n], tree.spans[:n], training)

    def _grow(self, rows: Any, seed: int) -> None:
        from corollary.ensemble._loops import records

        name = 0
        plan = self._draw(self.plan, seed)
        if self.n_blocks == 1:
            name = self._run(0, -1, rows, plan)
        while name != records.DONE:
            if name == records.FULL:
                self._enlarge()
                plan = self._draw(plan, seed)
            else:
                self._take(name, rows, plan)
            name = self._run(-1, -1, rows, plan)

    def _take(self, name: int, rows: Any, plan: Any) -> None:
        """Take the rows of a node, a block in each thread."""

        def share(b: int) -> None:
            self._run(name, b, rows, plan)

        self.team.map(share, range(self.n_blocks))
        if self.shared:
            tree = self.tree
            node = tree.nodes[name]
            if node["small"] >= 0:
                slot = tree.nodes[max(node["left"] + node["small"], 0)]["slot"]
                tree.hists[slot] += tree.hists[: self.n_blocks].sum(axis=0)
                tree.hists[: self.n_blocks] = 0

    def settle(
        self, grown: Grown, raw: np.ndarray, column: int, weight: np.ndarray, settling: Settling
    ) -> None:
        """Give the leaves of a tree their values and add these to predictions."""
        from corollary.ensemble._loops.leaves import settle
        from corollary.ensemble._loops.records import ADD, STEP, SUM, Leaves

        revise, n_blocks = settling.revise, self.n_blocks
        self._set_steps(settling)
        order, derivatives = grown.rows.order, grown.rows.derivatives
        parts = grown.nodes, grown.spans, order, derivatives, weight
        leaves = Leaves(*parts, self.sums, self.steps, raw)
        alone = n_blocks == 1 or self.n_rows < SETTLE_ALONE

        def run(task: int) -> None:
            if alone or task == STEP:
                settle(task, 0, n_blocks, leaves, self.rule, column)
                return

            def share(b: int) -> None:
                settle(task, b, b + 1, leaves, self.rule, column)

            self.team.map(share, range(n_blocks))

        if alone and revise is None:
            run(SUM | STEP | ADD)
            return
        run(SUM)
        run(STEP)
        if revise is not None:
            revise(grown)
        run(ADD)

    def add_outside(self, grown: Grown, raw: np.ndarray, column: int, outside: np.ndarray) -> None:
        """Add the values of leaves to predictions of rows that the tree has not seen."""
        from corollary.ensemble._loops.leaves import walk

        def share(span: np.ndarray) -> None:
            rows = outside[span[0] : span[1]]
            leaves = np.empty(len(rows), dtype=np.int64)
            walk(self.codes, rows, self.columns, grown.nodes, grown.sides, leaves)
            raw[rows, column : column + grown.steps.shape[1]] += grown.steps[leaves]

        self.team.map(share, list(cut(len(outside), self.n_blocks)))
