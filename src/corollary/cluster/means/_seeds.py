"""Draws of k-means++ over rows in memory, and of k-means|| over passes."""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from corollary.cluster.means._draws import Draw
from corollary.cluster.means._rows import ClusterSums, SourceRows, squared_distances
from corollary.core.parallel import available_cores, in_blocks

_BLOCK = 2048
#: Passes of k-means|| that draw, and rows drawn by each over the number of clusters.
_ROUNDS, _SHARE = 5, 2


class Seeding(NamedTuple):
    """Rows that k-means++ has drawn as centres, their numbers, and the cost that they leave."""

    centers: np.ndarray
    indices: np.ndarray
    cost: float


def draw_seeds(
    X: Any, weight: np.ndarray | None, k: int, random: Any, trials: int | None = None
) -> Seeding:
    """Draw centres by greedy k-means++ from validated rows."""
    trials = 2 + int(math.log(k)) if trials is None else trials
    n, workers = X.shape[0], available_cores() if X.shape[0] > _BLOCK else 1
    indices = np.empty(k, dtype=np.int64)
    near, left = np.full(n, np.inf), np.empty((trials, n))
    mass = np.ones(n) if weight is None else weight
    for j in range(k):
        candidates = _draw(mass, random, trials if j else 1, weight)
        best = int(_potentials(X, weight, near, candidates, left, workers).argmin())
        indices[j], near[:] = candidates[best], left[best]
        mass = near if weight is None else near * weight
    return Seeding(_dense(X, indices), indices, float(mass.sum()))


def _draw(mass: np.ndarray, random: Any, count: int, weight: np.ndarray | None) -> np.ndarray:
    """Draw rows by their mass, or by their weight if all lie on centres."""
    starts = np.arange(0, len(mass), _BLOCK)
    blocks = np.add.reduceat(mass, starts)  # a block is drawn first, and then one of its rows
    if not (blocks > 0).any():
        return _draw(np.ones(len(mass)) if weight is None else weight, random, count, None)
    places = np.empty(count, dtype=np.int64)
    sums = np.cumsum(blocks)
    for t, value in enumerate(random.uniform(size=count) * sums[-1]):
        block = _place(sums, value)
        rows = np.cumsum(mass[starts[block] : starts[block] + _BLOCK])
        places[t] = starts[block] + _place(rows, value - (sums[block] - blocks[block]))
    return places


def _place(sums: np.ndarray, value: float) -> int:
    """Find a value among running sums; rounding may point behind the last that has mass."""
    return int(min(np.searchsorted(sums, value, side="right"), np.searchsorted(sums, sums[-1])))


def _potentials(
    X: Any, weight: Any, near: np.ndarray, rows: np.ndarray, left: np.ndarray, workers: int
) -> np.ndarray:
    """Return the cost that each candidate would leave, and fill what it leaves of each row."""
    candidates = _dense(X, rows)
    if sparse.issparse(X):
        np.minimum(squared_distances(X, candidates).T, near, out=left[: len(rows)])
        return left[: len(rows)] @ (np.ones(len(near)) if weight is None else weight)
    from corollary.cluster._loops.seeding import potentials

    parts = np.empty((-(-len(X) // _BLOCK), len(rows)))

    def work(a: int, b: int) -> None:
        w, part = None if weight is None else weight[a:b], parts[a // _BLOCK : -(-b // _BLOCK)]
        potentials(X[a:b], w, near[a:b], candidates, left[:, a:b], _BLOCK, part)

    in_blocks(work, len(X), _BLOCK, workers=workers)
    return parts.sum(axis=0)


def draw_seeds_in_passes(rows: SourceRows, k: int, d: int, random: Any) -> np.ndarray:
    """Draw centres by k-means||: a few passes draw many rows each, and k-means++ clusters them."""
    seeds = random.randint(np.iinfo(np.int32).max, size=_ROUNDS + 1)
    drawn = [rows.reduce(Draw(np.empty((0, d)), 1, int(seeds[0])))]
    for seed in seeds[1:]:
        centres = np.concatenate([draw.rows for draw in drawn])
        drawn.append(rows.reduce(Draw(centres, _SHARE * k, int(seed), "distance")))
    centres = np.concatenate([draw.rows for draw in drawn])
    if len(centres) < k:  # rows that differ are fewer than clusters
        return draw_rows(rows, k, d, int(seeds[0]))
    weight = rows.reduce(ClusterSums.of(centres)).totals
    return draw_seeds(centres, weight, k, random).centers


def draw_rows(rows: SourceRows, k: int, d: int, seed: int) -> np.ndarray:
    """Draw rows by their weights; some come again if fewer than k have one."""
    drawn = rows.reduce(Draw(np.empty((0, d)), k, seed)).rows
    return drawn[np.arange(k) % len(drawn)]


def _dense(X: Any, rows: np.ndarray) -> np.ndarray:
    return X[rows].toarray() if sparse.issparse(X) else X[rows]
