"""The first pass over training data: which classes there are, and with how much weight."""

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from corollary.core.summary import Chunk, Summary


@dataclass(frozen=True)
class Census(Summary):
    """Labels and their weights in chunks ``(X, y)`` or ``(X, y, sample_weight)``."""

    classes: np.ndarray = field(default_factory=lambda: np.empty(0))  # ascending
    totals: np.ndarray = field(default_factory=lambda: np.empty(0))  # weight of each class

    def empty(self) -> Self:
        """Return the census of no rows."""
        return type(self)()

    def update(self, chunk: Chunk) -> Self:
        """Add the rows of a chunk."""
        y = np.asarray(chunk[1])
        classes = np.unique(y)
        weight = None if len(chunk) < 3 else chunk[2]
        totals = np.bincount(np.searchsorted(classes, y), weights=weight, minlength=len(classes))
        return self.merge(type(self)(classes, totals.astype(np.float64)))

    def merge(self, other: Self) -> Self:
        """Unite two censuses."""
        if not len(self.classes) or not len(other.classes):
            return other if len(other.classes) else self
        if (self.classes.dtype.kind in "OUS") != (other.classes.dtype.kind in "OUS"):
            raise ValueError(
                "Labels must be either strings or numbers. Got "
                f"{self.classes[0]!r} and {other.classes[0]!r}."
            )
        classes = np.union1d(self.classes, other.classes)
        totals = np.zeros(len(classes))
        for census in (self, other):
            totals[np.searchsorted(classes, census.classes)] += census.totals
        return type(self)(classes, totals)
