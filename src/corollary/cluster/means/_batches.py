"""Steps of k-means from batch to batch, and when they end."""

import math
from typing import Any, NamedTuple

import numpy as np

from corollary.cluster.means._draws import dense
from corollary.cluster.means._rows import Assignment, ClusterSums


class BatchState(NamedTuple):
    """Centres, the weight that each has seen, and rows since the last reassignment."""

    centres: np.ndarray
    totals: np.ndarray
    since: int = 0


def batch_step(state: BatchState, X: Any, weight: np.ndarray | None) -> tuple[BatchState, float]:
    """Move each centre to the mean of all rows it has been given; return the cost before."""
    step = ClusterSums.of(state.centres).update((X, None, weight))
    cost = Assignment(state.centres, keep=False).update((X, None, weight)).cost
    totals = state.totals + step.totals
    moved = step.sums - step.totals[:, None] * state.centres
    centres = state.centres + moved / np.where(totals > 0, totals, 1.0)[:, None]
    return BatchState(centres, totals, state.since + X.shape[0]), cost


def reassign(state: BatchState, X: Any, ratio: float, random: Any) -> BatchState:
    """Move centres that have seen little to rows of a batch, at most half as many as rows."""
    light = np.flatnonzero(state.totals < ratio * state.totals.max())
    most = int(0.5 * X.shape[0])
    light = np.sort(light[np.argsort(state.totals[light], kind="stable")[:most]])
    if not len(light):
        return state._replace(since=0)
    chosen = random.choice(X.shape[0], size=len(light), replace=False)
    centres, totals = state.centres.copy(), state.totals.copy()
    centres[light] = dense(X, chosen)
    heavy = np.delete(totals, light)
    totals[light] = heavy.min(initial=np.inf) if len(heavy) else 1.0
    return BatchState(centres, totals)


class Stopping:
    """Ends training when centres rest, or when the smoothed cost of batches no longer falls."""

    def __init__(self, tol: float, patience: int | None, share: float) -> None:
        self.tol, self.patience = tol, patience
        self.pace = min(1.0, 2.0 * share)  # weight of the latest batch
        self.smoothed, self.least, self.steps, self.idle = math.nan, math.inf, 0, 0

    def ends(self, cost: float, shift: float) -> bool:
        """Tell whether this step was the last one."""
        self.steps += 1
        if self.steps == 1:  # the start is judged by no earlier step
            self.smoothed = cost
            return False
        self.smoothed += self.pace * (cost - self.smoothed)
        if self.tol > 0 and shift <= self.tol:
            return True
        self.idle = 0 if self.smoothed < self.least else self.idle + 1
        self.least = min(self.least, self.smoothed)
        return self.patience is not None and self.idle >= self.patience
