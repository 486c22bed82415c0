"""Rows drawn at random: in one pass wherever they are, by k-means++ and by k-means||.

In a pass every row gets an exponential time with its mass as rate, and the rows of the smallest
times are drawn: without replacement, each with a chance proportional to its mass. The times of a
block come from a generator that the seed and the numbers in the block determine, so that neither
threads nor partitions change what is drawn.
"""

import math
import zlib
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from scipy import sparse

from corollary.cluster.means._rows import (
    ClusterSums,
    SourceRows,
    nearest_labels,
    rows_of,
    squared_distances,
    squared_distances_to_own,
)
from corollary.core.parallel import available_cores, in_blocks
from corollary.core.summary import Chunk, Summary

_BLOCK = 2048
#: Passes of k-means|| that draw, and rows drawn by each over the number of clusters.
_ROUNDS, _SHARE = 5, 2


@dataclass(frozen=True, eq=False)
class Draw(Summary):
    """At most ``count`` rows: by weight, by weighted squared distance, or any off their centre."""

    centres: np.ndarray
    count: int
    seed: int
    by: Literal["weight", "distance", "any"] = "weight"
    times: np.ndarray = field(default_factory=lambda: np.empty(0))  # ascending
    rows: Any = None  # an array, once a chunk has been seen
    weights: np.ndarray = field(default_factory=lambda: np.empty(0))
    labels: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int32))  # nearest

    def empty(self) -> Self:
        """Return the draw from no rows."""
        return type(self)(self.centres, self.count, self.seed, self.by)

    def update(self, chunk: Chunk) -> Self:
        """Draw from the rows of a chunk."""
        X, weight = rows_of(chunk)
        weight = np.ones(X.shape[0]) if weight is None else weight
        labels, mass = np.zeros(X.shape[0], dtype=np.int32), weight
        if self.by != "weight":
            labels = nearest_labels(X, self.centres)
            squares = squared_distances_to_own(X, self.centres, labels)
            mass = weight * squares if self.by == "distance" else (weight > 0) & (squares > 0)
        numbers = X.data if sparse.issparse(X) else X
        random = np.random.default_rng([self.seed, zlib.crc32(np.ascontiguousarray(numbers).data)])
        times = random.exponential(size=X.shape[0])
        with np.errstate(divide="ignore"):
            times = times / mass
        first = np.argsort(times, kind="stable")[: self.count]
        first = first[np.isfinite(times[first])]
        chosen = {"times": times[first], "rows": dense(X, first), "weights": weight[first]}
        return self.merge(replace(self.empty(), **chosen, labels=labels[first]))

    def merge(self, other: Self) -> Self:
        """Keep the rows of the smallest times."""
        if self.rows is None or other.rows is None:
            return other if self.rows is None else self
        names = ("times", "rows", "weights", "labels")
        both: dict[str, Any] = {
            name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in names
        }
        first = np.argsort(both["times"], kind="stable")[: self.count]
        return replace(self, **{name: values[first] for name, values in both.items()})


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
    return Seeding(dense(X, indices), indices, float(mass.sum()))


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
    candidates = dense(X, rows)
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


def dense(X: Any, rows: np.ndarray) -> np.ndarray:
    """Return some of the rows as an array."""
    return X[rows].toarray() if sparse.issparse(X) else X[rows]
