"""The loop of gradient boosting: derivatives, a tree, its leaf values, the next predictions."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Self

import numpy as np

from corollary.core.parallel import Team, available_cores
from corollary.core.progress import track
from corollary.ensemble.boosting._grow import ALONE, Grower, Growth, Settling, cut
from corollary.ensemble.boosting._trees import Grown, Kept, join, keep, rescale
from corollary.ensemble.boosting.losses import BoostingLoss
from corollary.tree import Bins, Trees

# Derivatives of fewer rows than this are computed sooner than a thread wakes.
DERIVE_ALONE = 2**15
# Training rows whose loss is followed where held-out rows decide when to stop.
LOOKED_AT = 10_000


@dataclass(frozen=True)
class Boosting:
    """Settings of the loop."""

    n_estimators: int  # most iterations
    learning_rate: float  # shrinkage of every step
    subsample: float  # share of the rows that each tree learns from
    growth: Growth  # settings of a tree
    n_iter_no_change: int  # iterations without improvement before it stops
    tol: float  # what counts as improvement
    stops: bool  # whether it may stop early


@dataclass(frozen=True)
class Boosted:
    """What the loop returns."""

    trees: Trees  # all trees, one iteration after the other
    start: np.ndarray  # raw prediction before the first tree
    n_iter: int  # iterations kept
    # mean training loss before the first and after each iteration; empty if not asked for. Where
    # held-out rows decide when to stop, it is that of at most 10,000 rows
    train_score: np.ndarray
    validation_score: np.ndarray  # the same on held-out rows; empty if there are none

    def follows(self, earlier: "Boosted") -> "Boosted":
        """Return all trees, those of an earlier fit first."""
        trees = Trees.join([t[k] for t in (earlier.trees, self.trees) for k in range(len(t))])
        return replace(
            self,
            trees=trees,
            n_iter=earlier.n_iter + self.n_iter,
            train_score=np.append(earlier.train_score, self.train_score[1:]),
            validation_score=np.append(earlier.validation_score, self.validation_score[1:]),
        )

    @classmethod
    def of(
        cls, trees: list[Kept], bins: Bins, start: np.ndarray, loss: BoostingLoss, scores: "Scores"
    ) -> Self:
        """Join trees; those that came after the best iteration on held-out rows are left out.

        Where the loss has a scale to calibrate, held-out rows say how far it is to be trusted.
        """
        n_iter = len(trees) // loss.n_trees
        if scores.held:
            n_iter = max(1, int(np.argmin(scores.held)))
            trees = trees[: n_iter * loss.n_trees]
        joined = join(trees, bins)
        if loss.calibrates and scores.n_aside:
            start, factors = loss.calibrate(start, *scores.calibration())
            joined = rescale(joined, factors)
        return cls(joined, start, n_iter, np.array(scores.train), np.array(scores.held))


def boost(
    codes: np.ndarray,
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
    begun: tuple[np.ndarray, int] | None = None,
    n_jobs: int | None = None,
) -> Boosted:
    """Boost trees on binned rows.

    ``begun`` are predictions to begin with and the number of iterations that led to them;
    ``measure`` judges predictions where the loss does not.
    """
    n = len(y)
    keep = np.ones(n, dtype=bool) if held_out is None else ~held_out
    rows = np.flatnonzero(keep).astype(np.uint32)
    aside = np.flatnonzero(~keep)
    start = loss.start(y[rows], None if weight is None else weight[rows])
    raw, first = (np.tile(start, (n, 1)), 0) if begun is None else begun
    cores = available_cores() if n_jobs is None or n_jobs < 1 else n_jobs
    together = min(cores, loss.n_trees) if not loss.renews else 1
    # Where no node is worth sharing, one thread is all there is use for.
    n_blocks = cores if len(rows) * codes.shape[1] >= ALONE else 1
    codes = with_missing_last(codes, bins)
    with (
        Team(max(together, n_blocks)) as team,
        track("boosting", total=settings.n_estimators) as step,
    ):
        common, width = (codes, bins, settings.growth, monotone), loss.n_outputs // loss.n_trees
        # Trees of one iteration grow at the same time; a single one shares its rows.
        growers = [Grower(*common, Team(1), 1, width) for _ in range(together)]
        if together == 1:
            growers = [Grower(*common, team, n_blocks, width)]
        loop = _Loop(growers, bins, team, n_blocks, y, weight, raw, loss, settings, rng)
        for _ in range(first):  # what is drawn next is what one long fit would draw
            loop.draw(rows)
        followed = rows if settings.stops else None
        scores = Scores(loss, y, raw.__getitem__, weight, followed, aside, measure)
        trees = follow(lambda i: loop.iterate(first + i, rows), scores, settings, step)
    return Boosted.of(trees, bins, start, loss, scores)


def follow(
    iterate: Callable[[int], list[Kept]],
    scores: "Scores",
    settings: Boosting,
    step: Callable[[], None],
) -> list[Kept]:
    """Iterate until there are enough trees or the scores stall; tell ``step`` of every round."""
    trees: list[Kept] = []
    for iteration in range(settings.n_estimators):
        trees += iterate(iteration)
        scores.note()
        step()
        if settings.stops and scores.stalled(settings.n_iter_no_change, settings.tol):
            break
    return trees


def draw_rows(rows: np.ndarray, subsample: float, rng: np.random.Generator) -> np.ndarray:
    """Return a random share of rows, in their order; all of them as they are if it is 1."""
    if subsample >= 1.0:
        return rows
    size = max(1, round(subsample * len(rows)))
    return np.sort(rng.choice(rows, size, replace=False))


def check_peaks(peaks: np.ndarray) -> np.ndarray:
    """Return the largest derivatives, unless there is no such thing."""
    if not np.isfinite(peaks).all():
        raise FloatingPointError(
            "Boosting diverged: a derivative is not finite. Lower the learning rate or scale the "
            "targets."
        )
    return peaks


def revises(loss: BoostingLoss) -> bool:
    """Tell whether a loss puts other values in the place of Newton steps."""
    return loss.renews or loss.tempers


def settling_of(
    loss: BoostingLoss,
    rate: float,
    heaviest: float | None,
    revise: Callable[[Grown], None] | None = None,
) -> Settling:
    """Return how leaves are settled; steps that the loss replaces are not shrunk before."""
    if revises(loss):
        return Settling(1.0, heaviest, revise=revise)
    return Settling(rate, heaviest, loss.curbs, loss.longest_step(rate))


def revise_steps(
    grown: Grown,
    loss: BoostingLoss,
    rate: float,
    output: int,
    leaf_value: Callable[[int], np.ndarray],
) -> None:
    """Put other values, shrunk by the rate, in the place of Newton steps."""
    leaves = grown.leaves
    low, high = grown.nodes["low"][leaves, None], grown.nodes["high"][leaves, None]
    if loss.renews:
        values = np.stack([leaf_value(leaf) for leaf in leaves.tolist()])
    else:
        values = loss.temper(grown.steps[leaves, 0], output)[:, None]
    grown.steps[leaves] = rate * np.clip(values, low, high)


class _Loop:
    def __init__(
        self,
        growers: list[Grower],
        bins: Bins,
        team: Team,
        n_blocks: int,
        y: np.ndarray,
        weight: np.ndarray | None,
        raw: np.ndarray,
        loss: BoostingLoss,
        settings: Boosting,
        rng: np.random.Generator,
    ) -> None:
        from corollary.ensemble._loops import derivatives as loops

        self.growers, self.bins, self.team, self.n_blocks = growers, bins, team, n_blocks
        self.y, self.raw, self.loss = y, raw, loss
        self.settings, self.rng = settings, rng
        self.weight = weight
        self.weights = np.empty(0) if weight is None else weight
        self.heaviest = None if weight is None else float(weight.max())
        self.kernel: Any = getattr(loops, loss.kernel)
        # Side by side, because both are read wherever one is.
        self.derivatives = np.zeros((loss.n_trees, len(y), 2))

    def iterate(self, iteration: int, rows: np.ndarray) -> list[Kept]:
        """Grow the trees of one iteration and move the predictions of all rows."""
        sample, outside, seeds = self.draw(rows)
        peaks = self._derivatives(sample, iteration)

        def tree(k: int) -> Kept:
            grower = self.growers[k % len(self.growers)]
            grown = grower.grow(self.derivatives[k], peaks[k], sample, seeds[k])
            rate, revise = self.settings.learning_rate, self._reviser(k)
            settling = settling_of(self.loss, rate, self.heaviest, revise)
            grower.settle(grown, self.raw, k, self.weights, settling)
            if len(outside):
                grower.add_outside(grown, self.raw, k, outside)
            return keep(grown, self.bins)

        def share(start: int) -> list[Kept]:
            return [tree(k) for k in range(start, self.loss.n_trees, len(self.growers))]

        # One share for each thread, so that they meet once.
        shares = self.team.map(share, range(len(self.growers)))
        return [kept for several in zip_longest(*shares) for kept in several if kept is not None]

    def draw(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[int]]:
        """Draw the rows of an iteration, with those outside, and the seeds of its trees.

        Seeds are drawn beforehand, so that it does not matter which tree is ready first.
        """
        n, rows = len(self.y), draw_rows(rows, self.settings.subsample, self.rng)
        seeds = self.rng.integers(2**63, size=self.loss.n_trees).tolist()
        if len(rows) == n:
            return rows, np.empty(0, dtype=np.uint32), seeds
        outside = np.ones(n, dtype=bool)
        outside[rows] = False
        return rows, np.flatnonzero(outside).astype(np.uint32), seeds

    def _derivatives(self, rows: np.ndarray, iteration: int) -> np.ndarray:
        """Fill the derivatives of rows; return their largest absolute values by tree."""
        parameters = self.loss.parameters(iteration)
        blocks = cut(len(rows), self.n_blocks if len(rows) >= DERIVE_ALONE else 1)
        peaks = np.zeros((len(blocks), self.loss.n_trees, 2))

        def share(b: int) -> None:
            out = (self.derivatives[:, :, 0], self.derivatives[:, :, 1], peaks[b])
            self.kernel(self.y, self.raw, self.weights, rows, blocks[b], parameters, out)

        self.team.map(share, range(len(blocks)))
        return check_peaks(np.asarray(peaks.max(axis=0)))

    def _reviser(self, output: int) -> Callable[[Grown], None] | None:
        """Return what puts other values in the place of Newton steps, or None."""
        if not revises(self.loss):
            return None

        def revise(grown: Grown) -> None:
            def leaf_value(leaf: int) -> np.ndarray:
                return self._leaf_value(grown.members(leaf))

            revise_steps(grown, self.loss, self.settings.learning_rate, output, leaf_value)

        return revise

    def _leaf_value(self, rows: np.ndarray) -> np.ndarray:
        weight = None if self.weight is None else self.weight[rows]
        return self.loss.leaf_value(self.y[rows], self.raw[rows], weight)


def with_missing_last(codes: np.ndarray, bins: Bins) -> np.ndarray:
    """Return the bins of rows with missing values in the place after the last bin."""
    last = np.minimum(bins.n_bins, 255).astype(np.uint8)
    if (codes.max(axis=0, initial=0) <= last).all():
        return codes
    return np.minimum(codes, last)


class Scores:
    """Mean losses by iteration, where they are wanted."""

    def __init__(
        self,
        loss: BoostingLoss,
        y: np.ndarray,
        raw: Callable[[np.ndarray], np.ndarray],  # the present predictions of rows
        weight: np.ndarray | None,
        rows: np.ndarray | None,  # training rows; None if no loss is wanted
        aside: np.ndarray,  # held-out rows
        measure: Callable[..., float] | None = None,  # of y, raw and weight, instead of the loss
    ) -> None:
        self._measure = loss.mean if measure is None else measure
        self._y, self._raw, self._weight = y, raw, weight
        if rows is not None and len(aside):
            # Held-out rows decide; the training loss is only looked at.
            rows = rows[:: -(-len(rows) // LOOKED_AT)]
        self._rows, self._aside = rows, aside
        self.train: list[float] = []
        self.held: list[float] = []
        self._best: np.ndarray | None = None
        self.note()

    def note(self) -> None:
        """Take the losses of the present predictions down."""
        if self._rows is not None:
            self.train.append(self._mean(self._rows, self._raw(self._rows)))
            if len(self._aside):
                raw = self._raw(self._aside)
                self.held.append(self._mean(self._aside, raw))
                if self.held[-1] <= min(self.held):
                    self._best = raw.copy()

    def _mean(self, rows: np.ndarray, raw: np.ndarray) -> float:
        weight = None if self._weight is None else self._weight[rows]
        return self._measure(self._y[rows], raw, weight)

    def calibration(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return targets, predictions of the trees that are kept, and weights of held-out rows."""
        raw = self._raw(self._aside) if self._best is None else self._best
        weight = None if self._weight is None else self._weight[self._aside]
        return self._y[self._aside], raw, weight

    @property
    def n_aside(self) -> int:
        """Number of held-out rows."""
        return len(self._aside)

    def stalled(self, patience: int, tol: float) -> bool:
        """Tell whether none of the last iterations beats the best one before them."""
        scores = self.held or self.train
        if len(scores) <= patience + 1:
            return False
        before = min(scores[:-patience])
        return min(scores[-patience:]) > before - tol
