"""Draws of k-means++ over rows in memory, and of k-means|| over passes."""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from corollary.cluster.means._draws import Draw
from corollary.cluster.means._rows import ArrayRows, ClusterSums, SourceRows, squared_distances
from corollary.core.parallel import in_blocks

_BLOCK = 8192
#: Passes of k-means|| that draw, and rows drawn by each over the number of clusters.
_ROUNDS, _SHARE = 5, 2


class Seeding(NamedTuple):
    """Rows that k-means++ has drawn as centres, and the cost that they leave.

    Parameters
    ----------
    centers : ndarray of shape (n_clusters, n_features)
        The rows.
    indices : ndarray of shape (n_clusters,)
        Their numbers.
    cost : float
        Weighted sum of squared distances from the nearest of them.

    Examples
    --------
    >>> from corollary.cluster import kmeans_plusplus
    >>> kmeans_plusplus([[0.0], [1.0]], 2, random_state=0).cost
    0.0
    """

    centers: np.ndarray
    indices: np.ndarray
    cost: float


def draw_seeds(
    X: Any, weight: np.ndarray | None, k: int, random: Any, trials: int | None = None
) -> Seeding:
    """Draw centres by greedy k-means++ from validated rows."""
    trials = 2 + int(math.log(k)) if trials is None else trials
    n = X.shape[0]
    indices = np.empty(k, dtype=np.int64)
    centres = np.empty((k, X.shape[1]))
    near, owner = np.full(n, np.inf), np.zeros(n, dtype=np.int64)
    mass = np.ones(n) if weight is None else weight
    for j in range(k):
        candidates = _draw(mass, random, trials if j else 1, weight)
        best = 0
        if len(candidates) > 1:
            best = int(_potentials(X, weight, near, owner, centres[:j], candidates).argmin())
        indices[j] = candidates[best]
        centres[j] = _dense(X, indices[j : j + 1])[0]
        _approach(X, centres, j, near, owner)
        mass = near if weight is None else near * weight
    return Seeding(centres, indices, float(mass.sum()))


def _draw(mass: np.ndarray, random: Any, count: int, weight: np.ndarray | None) -> np.ndarray:
    """Draw rows by their mass, or by their weight if all lie on centres."""
    sums = np.cumsum(mass)
    if not sums[-1] > 0:
        sums = np.cumsum(np.ones(len(mass)) if weight is None else weight)
    places = np.searchsorted(sums, random.uniform(size=count) * sums[-1], side="right")
    # Rounding may point behind the last row of positive mass.
    return np.minimum(places, np.searchsorted(sums, sums[-1]))


def _potentials(
    X: Any, weight: Any, near: np.ndarray, owner: np.ndarray, centres: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    """Return the cost that each candidate would leave."""
    candidates = _dense(X, rows)
    if sparse.issparse(X):
        left = np.minimum(squared_distances(X, candidates), near[:, None])
        return left.sum(axis=0) if weight is None else weight @ left
    from corollary.cluster._loops.seeding import potentials

    gaps = squared_distances(candidates, centres)
    parts = np.zeros((-(-len(X) // _BLOCK), len(rows)))

    def work(a: int, b: int) -> None:
        w = None if weight is None else weight[a:b]
        potentials(X[a:b], w, near[a:b], owner[a:b], candidates, gaps, parts[a // _BLOCK])

    in_blocks(work, len(X), _BLOCK)
    return parts.sum(axis=0)


def _approach(X: Any, centres: np.ndarray, j: int, near: np.ndarray, owner: np.ndarray) -> None:
    """Let rows know of centre j."""
    if sparse.issparse(X):
        np.minimum(near, squared_distances(X, centres[j : j + 1])[:, 0], out=near)
        return
    from corollary.cluster._loops.seeding import approach

    gaps = squared_distances(centres[: max(j, 1)], centres[j : j + 1])[:, 0]

    def work(a: int, b: int) -> None:
        approach(X[a:b], centres, j, gaps, near[a:b], owner[a:b])

    in_blocks(work, X.shape[0], _BLOCK)


def draw_seeds_in_passes(rows: ArrayRows | SourceRows, k: int, d: int, random: Any) -> np.ndarray:
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


def draw_rows(rows: ArrayRows | SourceRows, k: int, d: int, seed: int) -> np.ndarray:
    """Draw rows by their weights; some come again if fewer than k have one."""
    drawn = rows.reduce(Draw(np.empty((0, d)), k, seed)).rows
    return drawn[np.arange(k) % len(drawn)]


def _dense(X: Any, rows: np.ndarray) -> np.ndarray:
    return X[rows].toarray() if sparse.issparse(X) else X[rows]
