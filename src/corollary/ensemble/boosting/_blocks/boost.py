"""The loop of gradient boosting on blocks of rows that are not in the driver's memory."""

from collections.abc import Callable
from functools import partial

import numpy as np

from corollary.core.progress import track
from corollary.ensemble.boosting._blocks import steps as blockwise
from corollary.ensemble.boosting._blocks.passes import PassGrower
from corollary.ensemble.boosting._blocks.steps import Derivatives
from corollary.ensemble.boosting._blocks.stores import Blocks
from corollary.ensemble.boosting._boost import (
    Boosted,
    Boosting,
    Scores,
    check_peaks,
    draw_rows,
    follow,
    revise_steps,
    revises,
    settling_of,
)
from corollary.ensemble.boosting._trees import Kept, keep
from corollary.ensemble.boosting.losses import BoostingLoss
from corollary.tree import Bins


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
    measure: Callable[..., float] | None = None,
) -> Boosted:
    """Boost trees on blocks of rows; the model is that of :func:`boost` on the same bins."""
    learnt = np.ones(len(y), dtype=bool) if held_out is None else ~held_out
    rows, aside = np.flatnonzero(learnt).astype(np.uint32), np.flatnonzero(~learnt)
    start = loss.start(y[rows], None if weight is None else weight[rows])
    blocks.begin(y, np.empty(0) if weight is None else weight, start)
    grower = PassGrower(blocks, bins, settings.growth, monotone, loss.n_outputs // loss.n_trees)
    loop = _Loop(blocks, grower, bins, y, weight, loss, settings, rng)
    with track("boosting", total=settings.n_estimators) as step:
        followed = rows if settings.stops else None
        scores = Scores(loss, y, loop.raw, weight, followed, aside, measure)
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
            self.grower.settle(grown, settling_of(loss, rate, self.heaviest))
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
            members = order[stops[leaf - 1] if leaf else 0 : stops[leaf]]
            rows = sample[members]
            weight = None if self.weight is None else self.weight[rows]
            return self.loss.leaf_value(self.y[rows], raw[members], weight)

        return leaf_value
