"""The loop of gradient boosting: derivatives, a tree, its leaf values, the next predictions."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.core.progress import track
from corollary.core.threads import Team, available_cores
from corollary.ensemble.boosting_losses import BoostingLoss
from corollary.ensemble.gradient_boosting_tree import Grower, Grown, Growth, Kept, cut, join, keep
from corollary.tree.binning import Bins
from corollary.tree.structure import Trees

# Fewer rows than this per thread are done sooner by one.
BLOCK_ROWS = 8192
# Training rows whose loss is followed where held-out rows decide when to stop.
LOOKED_AT = 10_000


@dataclass(frozen=True)
class Boosting:
    """Settings of the loop.

    Parameters
    ----------
    n_estimators : int
        Most iterations.
    learning_rate : float
        Shrinkage of every step.
    subsample : float
        Share of the rows that each tree learns from.
    growth : Growth
        Settings of a tree.
    n_iter_no_change : int
        Iterations without improvement before it stops.
    tol : float
        What counts as improvement.
    stops : bool
        Whether it may stop early.
    """

    n_estimators: int
    learning_rate: float
    subsample: float
    growth: Growth
    n_iter_no_change: int
    tol: float
    stops: bool


@dataclass(frozen=True)
class Boosted:
    """What the loop returns.

    Parameters
    ----------
    trees : Trees
        All trees, one iteration after the other.
    start : ndarray of shape (n_outputs,)
        Raw prediction before the first tree.
    n_iter : int
        Iterations kept.
    train_score : ndarray
        Mean training loss before the first and after each iteration; empty if not asked for. Where
        held-out rows decide when to stop, it is that of at most 10,000 rows.
    validation_score : ndarray
        The same on held-out rows; empty if there are none.
    """

    trees: Trees
    start: np.ndarray
    n_iter: int
    train_score: np.ndarray
    validation_score: np.ndarray


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
    n_jobs: int | None = None,
) -> Boosted:
    """Boost trees on binned rows.

    Parameters
    ----------
    codes : ndarray of uint8 of shape (n_samples, n_features)
        Bins, column-major.
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
        Threads; the result does not depend on it.

    Returns
    -------
    boosted : Boosted
        The trees.
    """
    n = len(y)
    keep = np.ones(n, dtype=bool) if held_out is None else ~held_out
    rows = np.flatnonzero(keep).astype(np.uint32)
    aside = np.flatnonzero(~keep)
    start = loss.start(y[rows], None if weight is None else weight[rows])
    raw = np.tile(start, (n, 1))
    cores = available_cores() if n_jobs is None or n_jobs < 1 else n_jobs
    together = min(cores, loss.n_trees) if not loss.renews else 1
    n_blocks = max(1, min(cores, -(-len(rows) // BLOCK_ROWS)))
    with (
        Team(max(together, n_blocks)) as team,
        track("boosting", total=settings.n_estimators) as step,
    ):
        given = codes, bins, settings.growth, monotone
        # Trees of one iteration grow at the same time; a single one shares its rows.
        growers = [Grower(*given, Team(1), 1) for _ in range(together)]
        if together == 1:
            growers = [Grower(*given, team, n_blocks)]
        loop = _Loop(growers, bins, team, n_blocks, y, weight, raw, loss, settings, rng)
        scores = _Scores(loss, y, raw, weight, rows if settings.stops else None, aside)
        trees: list[Kept] = []
        for iteration in range(settings.n_estimators):
            trees += loop.iterate(iteration, rows)
            scores.note()
            step()
            if settings.stops and scores.stalled(settings.n_iter_no_change, settings.tol):
                break
    n_iter = len(trees) // loss.n_trees
    if scores.held:  # what came after the best iteration is left out
        n_iter = max(1, int(np.argmin(scores.held)))
        trees = trees[: n_iter * loss.n_trees]
    return Boosted(join(trees, bins), start, n_iter, np.array(scores.train), np.array(scores.held))


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
        from corollary.ensemble import _boosting

        self.growers, self.bins, self.team, self.n_blocks = growers, bins, team, n_blocks
        self.y, self.raw, self.loss = y, raw, loss
        self.settings, self.rng = settings, rng
        self.weight = weight
        self.weights = np.empty(0) if weight is None else weight
        self.pairs = np.stack([self.weights, self.weights], axis=1)
        self.kernel: Any = getattr(_boosting, loss.kernel)
        # Side by side, because both are read wherever one is.
        self.derivatives = np.zeros((loss.n_trees, len(y), 2))

    def iterate(self, iteration: int, rows: np.ndarray) -> list[Kept]:
        """Grow the trees of one iteration and move the predictions of all rows."""
        sample, outside = self._sample(rows)
        peaks = self._derivatives(sample, iteration)
        # Drawn beforehand, so that it does not matter which tree is ready first.
        seeds = self.rng.integers(2**63, size=self.loss.n_trees).tolist()

        def tree(k: int) -> Kept:
            grower = self.growers[k % len(self.growers)]
            grown = grower.grow(self.derivatives[k], peaks[k], sample, seeds[k])
            steps = self.settings.learning_rate * self._steps(grower, grown, k, peaks[k])
            grower.add_steps(grown, steps, self.raw, k, outside)
            return keep(grown, self.bins, steps, self._mass(grower, grown))

        if len(self.growers) == 1:
            return [tree(k) for k in range(self.loss.n_trees)]
        return self.team.map(tree, range(self.loss.n_trees))

    def _sample(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n = len(self.y)
        if self.settings.subsample < 1.0:
            size = max(1, round(self.settings.subsample * len(rows)))
            rows = np.sort(self.rng.choice(rows, size, replace=False))
        if len(rows) == n:
            return rows, np.empty(0, dtype=np.uint32)
        outside = np.ones(n, dtype=bool)
        outside[rows] = False
        return rows, np.flatnonzero(outside).astype(np.uint32)

    def _derivatives(self, rows: np.ndarray, iteration: int) -> np.ndarray:
        """Fill the derivatives of rows; return their largest absolute values by tree."""
        parameters = self.loss.parameters(iteration)
        blocks = cut(len(rows), self.n_blocks)
        peaks = np.zeros((len(blocks), self.loss.n_trees, 2))

        def share(b: int) -> None:
            out = (self.derivatives[:, :, 0], self.derivatives[:, :, 1], peaks[b])
            self.kernel(self.y, self.raw, self.weights, rows, blocks[b], parameters, out)

        self.team.map(share, range(len(blocks)))
        if not np.isfinite(peaks).all():
            raise FloatingPointError(
                "Boosting diverged: a derivative is not finite. Lower the learning rate or scale "
                "the targets."
            )
        return np.asarray(peaks.max(axis=0))

    def _steps(self, grower: Grower, grown: Grown, output: int, peaks: np.ndarray) -> np.ndarray:
        low, high = grown.bounds.T
        if not self.loss.renews:
            sums = grower.leaf_sums(grown, self.derivatives[output], peaks)
            curvature = sums[:, 1] + self.settings.growth.l2
            steps = np.zeros(len(sums))
            np.divide(-sums[:, 0], curvature, out=steps, where=curvature > 0.0)
            return np.clip(self.loss.temper(steps, output), low, high)[:, None]
        values = []
        for leaf in range(len(grown.leaves)):
            rows = grown.rows(leaf)
            weight = None if self.weight is None else self.weight[rows]
            values.append(self.loss.leaf_value(self.y[rows], self.raw[rows], weight))
        return np.clip(np.stack(values), low[:, None], high[:, None])

    def _mass(self, grower: Grower, grown: Grown) -> np.ndarray:
        if self.weight is None:
            return grown.sizes().astype(np.float64)
        top = float(self.weight.max())
        return grower.leaf_sums(grown, self.pairs, np.array([top, top]))[:, 0]


class _Scores:
    """Mean losses by iteration, where they are wanted."""

    def __init__(
        self,
        loss: BoostingLoss,
        y: np.ndarray,
        raw: np.ndarray,
        weight: np.ndarray | None,
        rows: np.ndarray | None,
        aside: np.ndarray,
    ) -> None:
        self._loss, self._y, self._raw, self._weight = loss, y, raw, weight
        if rows is not None and len(aside):
            # Held-out rows decide; the training loss is only looked at.
            rows = rows[:: -(-len(rows) // LOOKED_AT)]
        self._rows, self._aside = rows, aside
        self.train: list[float] = []
        self.held: list[float] = []
        self.note()

    def note(self) -> None:
        if self._rows is not None:
            self.train.append(self._mean(self._rows))
            if len(self._aside):
                self.held.append(self._mean(self._aside))

    def _mean(self, rows: np.ndarray) -> float:
        weight = None if self._weight is None else self._weight[rows]
        return self._loss.mean(self._y[rows], self._raw[rows], weight)

    def stalled(self, patience: int, tol: float) -> bool:
        """Tell whether none of the last iterations beats the best one before them."""
        scores = self.held or self.train
        if len(scores) <= patience + 1:
            return False
        before = min(scores[:-patience])
        return min(scores[-patience:]) > before - tol
