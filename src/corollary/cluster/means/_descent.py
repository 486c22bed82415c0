"""The descent of Lloyd's iteration over rows, wherever they are."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from corollary.cluster.means._draws import Draw
from corollary.cluster.means._rows import ClusterSums, SourceRows


class LloydRun(NamedTuple):
    """Where Lloyd's iteration has come to, as :func:`lloyd` explains it."""

    centers: np.ndarray
    labels: np.ndarray
    cost: float
    n_iter: int
    converged: bool
    counts: np.ndarray


def descend(
    rows: SourceRows,
    centres: np.ndarray,
    *,
    max_iter: int,
    tol: float,
    seed: int,
    dtype: Any = np.float64,
    labels: bool = True,
) -> LloydRun:
    """Run Lloyd's iteration over rows, wherever they are."""
    converged = False
    for n_iter in range(1, max_iter + 1):
        step = rows.cluster_sums(centres)
        if (step.counts == 0).any():
            step = _refilled(rows, step, seed + n_iter)
        means = step.means()
        shift = float(((means - centres) ** 2).sum())
        centres = means
        if shift <= tol:
            converged = True
            break
    centres = centres.astype(dtype).astype(np.float64)  # those that the model will keep
    last = rows.assignment(centres, labels)
    kept = np.concatenate(last.labels) if labels else np.empty(0, dtype=np.int32)
    return LloydRun(centres, kept, last.cost, n_iter, converged, last.counts)


def _refilled(rows: SourceRows, step: ClusterSums, seed: int) -> ClusterSums:
    """Move a random row to every empty cluster, from one that keeps at least one."""
    k = len(step.centres)
    drawn = rows.reduce(Draw(step.centres, k, seed, "any"))  # of each cluster one may have to stay
    filled = replace(step, table=step.table.copy())
    empty = list(np.flatnonzero(step.counts == 0))
    for row, weight, label in zip(drawn.rows, drawn.weights, drawn.labels):
        if not empty or filled.counts[label] < 2:
            continue
        moved = np.array([*(weight * row), weight, 1.0])
        filled.table[label] -= moved
        filled.table[empty.pop(0)] = moved
    return filled


def fill_empty(
    labels: np.ndarray, counts: np.ndarray, movable: np.ndarray, choose: Callable[..., Any]
) -> None:
    """Move one of some rows to each empty cluster, from a cluster that keeps at least one."""
    for empty in np.flatnonzero(counts == 0):
        donors = movable[counts[labels[movable]] > 1]
        if not len(donors):
            return
        row = choose(donors)
        counts[labels[row]] -= 1
        labels[row], counts[empty] = empty, 1


def draw_seed(random: Any) -> int:
    """Draw the seed of rows that move to empty clusters."""
    return int(random.randint(np.iinfo(np.int32).max // 2))
