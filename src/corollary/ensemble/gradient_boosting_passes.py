"""Growing trees by passes over blocks of rows: the trees of memory, about as many passes as deep.

A pass moves rows to the children of open leaves and adds up one histogram for each of these leaves:
that of the smaller child, since the other is what is left. It does so for all open leaves that can
still be chosen, before one is; then leaves are chosen, best first, until one comes up whose
children have no histogram yet, and the next pass is due. Nodes that are open do not have numbers
for their children, so rows are at *places*, which are numbered as passes make them.
"""

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from corollary.core.progress import track
from corollary.ensemble import gradient_boosting_blocks as blockwise
from corollary.ensemble.boosting_losses import BoostingLoss
from corollary.ensemble.gradient_boosting_blocks import Blocks, Derivatives, GrownTree, Layout
from corollary.ensemble.gradient_boosting_fit import (
    Boosted,
    Boosting,
    Scores,
    check_peaks,
    draw_rows,
    follow,
    revise_steps,
    revises,
)
from corollary.ensemble.gradient_boosting_histogram import GradientHistogram
from corollary.ensemble.gradient_boosting_tree import Grown, Growth, Kept, TreeGrower, keep
from corollary.tree.binning import Bins

# Histograms that one pass may add up in each thread or partition.
HISTOGRAM_BYTES = 64 * 2**20


class PassGrower(TreeGrower):
    """Grow trees on blocks of rows.

    Parameters
    ----------
    blocks : Blocks
        The rows.
    bins : Bins
        Bins of the features.
    growth : Growth
        Stopping rules.
    monotone : ndarray of int64 of shape (n_features,)
        1 and -1 for features whose effect must not fall or rise, else 0.
    n_outputs : int
        Values of a leaf.

    Attributes
    ----------
    n_passes : int
        Passes that the last tree took.
    """

    def __init__(
        self, blocks: Blocks, bins: Bins, growth: Growth, monotone: np.ndarray, n_outputs: int
    ) -> None:
        from corollary.ensemble._boosted_tree import Rows

        super().__init__(bins, growth, monotone, n_outputs, 0, 1)
        self.blocks = blocks
        bytes_, numbers = np.empty(0, dtype=np.uint8), np.empty(0, dtype=np.uint32)
        # The compiled code is given no rows: it only finds splits and chooses nodes.
        self.nothing = Rows(bytes_, np.empty((0, 2)), np.empty(0, dtype=np.int64), numbers, numbers)

    def grow(
        self, output: int, derivatives: Derivatives, peaks: np.ndarray, n: int, seed: int
    ) -> Grown:
        """Grow a tree.

        Parameters
        ----------
        output : int
            Which of the derivatives it is for.
        derivatives : Derivatives
            The derivatives.
        peaks : ndarray of shape (2,)
            Bounds of their absolute values.
        n : int
            Rows to learn from.
        seed : int
            Of the choice of features at every split.

        Returns
        -------
        grown : Grown
            The structure; its arrays are overwritten by the next tree.
        """
        self.output, self.derivatives = output, derivatives
        self.place, self.children = {0: 0}, {}  # by node: its place, that of its left child
        self.ready: dict[int, np.ndarray] = {}  # histograms of smaller children, by parent
        self.n_places, self.n_passes = 1, 0
        grown = self._grow_from(self.nothing, n, peaks, seed)
        if self.n_passes == 0:  # no feature is worth a split, but rows are to be at the root
            self._plant_rows()
        return grown

    def _handed_out(self) -> int:
        return 0

    def _take(self, name: int, rows: Any, plan: Any) -> None:
        nodes, hists = self.tree.nodes, self.tree.hists
        left, small = nodes[name]["left"], nodes[name]["small"]
        if left < 0:
            hists[nodes[name]["slot"]] = self._plant_rows().sums[0]
            return
        if small >= 0:
            if name not in self.ready:
                self._pass([name, *self._next()])
            hists[nodes[left + small]["slot"]] = self.ready[name]
        self.ready.pop(name, None)
        if name in self.children:  # which have numbers now
            place = self.children[name]
            self.place[int(left)], self.place[int(left) + 1] = place, place + 1

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

    def _next(self) -> list[int]:
        """Return open nodes whose children may be split, those that will be chosen first first."""
        from corollary.ensemble._boosted_tree import MOST

        rule, state = self.rule[0], self.tree.state[0]
        n_nodes = int(state["n_nodes"])
        nodes = self.tree.nodes[:n_nodes]
        if rule["max_leaves"] < MOST:
            found = np.flatnonzero((nodes["left"] < 0) & (nodes["gain"] > 0.0))
            found = found[np.argsort(-nodes["gain"][found], kind="stable")]
            # Those behind have so many better ones before them that the tree is complete, or that
            # theirs is the last split.
            found = found[: max(0, int(rule["max_leaves"]) - (n_nodes + 1) // 2 - 1)]
        else:
            chain, top = [], int(state["top"])
            while top >= 0:
                chain.append(top)
                top = int(nodes[top]["next"])
            found = np.array(chain, dtype=np.int64)
        mask = (1 << int(rule["shift"])) - 1
        near = nodes["hc_left"][found] & mask
        larger = np.maximum(near, (nodes["hc"][found] & mask) - near)
        found = found[
            (larger >= 2 * rule["min_rows"]) & (nodes["depth"][found] + 1 < rule["max_depth"])
        ]
        return [name for name in found.tolist() if name not in self.children]

    def _pass(self, names: list[int]) -> None:
        """Split nodes and add up the histograms of their smaller children."""
        from corollary.ensemble._boosted_tree import MOVE

        self.n_passes += 1
        names = names[: max(1, HISTOGRAM_BYTES // (8 * self.tree.hists.shape[1]))]
        moves, sides = np.zeros(len(names), dtype=MOVE), self.tree.sides[names]
        nodes, mask = self.tree.nodes, (1 << int(self.rule[0]["shift"])) - 1
        smaller = []
        for move, name in zip(moves, names):
            node, child = nodes[name], self.n_places
            move["place"], move["child"] = self.place[name], child
            move["feature"] = self.columns["feature"][node["feature"]]
            near = node["hc_left"] & mask
            smaller.append(child + int(near > (node["hc"] & mask) - near))
            self.children[name] = child
            self.n_places += 2
        step = partial(blockwise.split, moves=moves, sides=sides, layout=self._layout(smaller))
        self.ready.update(zip(names, self._merged(step).sums))

    def settle(self, grown: Grown, rate: float, heaviest: float | None) -> None:
        """Send all rows to their leaves and give these their Newton steps.

        Parameters
        ----------
        grown : Grown
            The tree that was grown last.
        rate : float
            Shrinkage.
        heaviest : float or None
            The largest weight of a row; None if rows have none.
        """
        from corollary.ensemble._boosted_tree import STEP, Leaves, settle

        self._set_steps(rate, heaviest)
        n_nodes = len(grown.nodes)
        step = partial(
            blockwise.settle,
            output=self.output,
            derivatives=self.derivatives,
            tree=GrownTree(self.columns, grown.nodes, grown.sides, self.rule.copy()),
        )
        self.sums[0, :n_nodes] = self.blocks.run(step, operator.add).view(self.sums.dtype)[:, 0]
        nothing = self.nothing
        given = grown.nodes, grown.spans, nothing.order, nothing.derivatives, np.empty(0)
        leaves = Leaves(*given, self.sums, self.steps, np.empty((0, 1)))
        settle(STEP, 0, 1, leaves, self.rule, 0)


def boost_blocks(
    blocks: Blocks,
    bins: Bins,
    y: np.ndarray,
    weight: np.ndarray | None,
    loss: BoostingLoss,
    settings: Boosting,
    *,
    monotone: np.ndarray,
    rng: np.random.Generator,
    held_out: np.ndarray | None = None,
    n_jobs: int | None = None,
) -> Boosted:
    """Boost trees on blocks of rows; the model is that of :func:`boost` on the same bins.

    Parameters
    ----------
    blocks : Blocks
        Bins of the rows.
    bins : Bins
        Their thresholds.
    y : ndarray of shape (n_samples,)
        Targets as the loss wants them.
    weight : ndarray of shape (n_samples,) or None
        Positive weights.
    loss : BoostingLoss
        What is minimised.
    settings : Boosting
        Settings.
    monotone : ndarray of int64 of shape (n_features,)
        Signs of monotone effects.
    rng : Generator
        For row and column sampling.
    held_out : ndarray of bool of shape (n_samples,) or None, default=None
        Rows that decide when to stop and are not learnt from.
    n_jobs : int or None, default=None
        Not used: blocks know their threads.

    Returns
    -------
    boosted : Boosted
        The trees.
    """
    learnt = np.ones(len(y), dtype=bool) if held_out is None else ~held_out
    rows, aside = np.flatnonzero(learnt).astype(np.uint32), np.flatnonzero(~learnt)
    start = loss.start(y[rows], None if weight is None else weight[rows])
    blocks.begin(y, np.empty(0) if weight is None else weight, start)
    grower = PassGrower(blocks, bins, settings.growth, monotone, loss.n_outputs // loss.n_trees)
    loop = _Loop(blocks, grower, bins, y, weight, loss, settings, rng)
    with track("boosting", total=settings.n_estimators) as step:
        scores = Scores(loss, y, loop.raw, weight, rows if settings.stops else None, aside)
        trees = follow(partial(loop.iterate, rows=rows), scores, settings, step)
    return Boosted.of(trees, bins, start, loss, scores)


class _Loop:
    def __init__(
        self,
        blocks: Blocks,
        grower: PassGrower,
        bins: Bins,
        y: np.ndarray,
        weight: np.ndarray | None,
        loss: BoostingLoss,
        settings: Boosting,
        rng: np.random.Generator,
    ) -> None:
        self.blocks, self.grower, self.bins = blocks, grower, bins
        self.y, self.weight, self.loss = y, weight, loss
        self.settings, self.rng = settings, rng
        self.heaviest = None if weight is None else float(weight.max())
        self.sample = np.empty(0, dtype=np.uint32)

    def raw(self, rows: np.ndarray) -> np.ndarray:
        """Return the predictions of rows."""
        return self.blocks.look_up("moved", rows=rows)[0]

    def iterate(self, iteration: int, rows: np.ndarray) -> list[Kept]:
        """Grow the trees of one iteration and move the predictions of all rows."""
        loss, rate = self.loss, self.settings.learning_rate
        sample = draw_rows(rows, self.settings.subsample, self.rng)
        if sample is not self.sample:  # else blocks know it already
            self.blocks.run(blockwise.choose, rows=sample)
            self.sample = sample
        derivatives = Derivatives(loss.kernel, loss.parameters(iteration), loss.n_trees)
        measure = partial(blockwise.measure, derivatives=derivatives)
        peaks = check_peaks(self.blocks.run(measure, np.maximum))
        seeds = self.rng.integers(2**63, size=loss.n_trees).tolist()
        kept = []
        for k in range(loss.n_trees):
            grown = self.grower.grow(k, derivatives, peaks[k], len(sample), seeds[k])
            self.grower.settle(grown, 1.0 if revises(loss) else rate, self.heaviest)
            if revises(loss):
                revise_steps(grown, loss, rate, k, self._leaf_values())
            self.blocks.run(partial(blockwise.add, output=k, steps=grown.steps))
            kept.append(keep(grown, self.bins))
        return kept

    def _leaf_values(self) -> Callable[[int], np.ndarray]:
        """Return what gives the best step of a leaf from its rows, which come to the driver."""
        if not self.loss.renews:
            return np.empty
        sample = self.sample
        raw, leaves = self.blocks.look_up("raw", "leaves", rows=sample)
        order = np.argsort(leaves, kind="stable")
        stops = np.cumsum(np.bincount(leaves))

        def leaf_value(leaf: int) -> np.ndarray:
            mine = order[stops[leaf - 1] if leaf else 0 : stops[leaf]]
            rows = sample[mine]
            weight = None if self.weight is None else self.weight[rows]
            return self.loss.leaf_value(self.y[rows], raw[mine], weight)

        return leaf_value
