"""Rows drawn at random in one pass, the same rows wherever they are.

Every row gets an exponential time with its mass as rate, and the rows of the smallest times are
drawn: without replacement, each with a chance proportional to its mass. The times of a block come
from a generator that the seed and the numbers in the block determine, so that neither threads nor
partitions change what is drawn.
"""

import zlib
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse

from corollary.cluster.means._rows import nearest_labels, rows_of, squared_distances_to_own
from corollary.core.summary import Chunk, Summary


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
        rows = X[first].toarray() if sparse.issparse(X) else X[first]
        chosen = {"times": times[first], "rows": rows, "weights": weight[first]}
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
