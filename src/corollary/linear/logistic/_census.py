"""The first pass over training data: which classes, with how much weight, and which rows."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from corollary.core.fingerprint import Fingerprint
from corollary.core.summary import Chunk, Summary


@dataclass(frozen=True)
class Census(Summary):
    """What the first pass over training data must find out: classes, their weights, the rows.

    The chunks are ``(X, y)`` or ``(X, y, sample_weight)``.

    Parameters
    ----------
    classes : ndarray, default=empty
        Labels met, ascending.
    totals : ndarray of shape (n_classes,), default=empty
        Sum of the weights of each class.
    n_features : int, default=0
        Columns of X.
    fingerprint : Fingerprint, default=Fingerprint()
        Memory of the rows.
    """

    classes: np.ndarray = field(default_factory=lambda: np.empty(0))
    totals: np.ndarray = field(default_factory=lambda: np.empty(0))
    n_features: int = 0
    fingerprint: Fingerprint = field(default_factory=Fingerprint)

    def empty(self) -> Self:
        """Return the census of no rows."""
        return type(self)()

    def update(self, chunk: Chunk) -> Self:
        """Add the rows of a chunk."""
        y = np.asarray(chunk[1])
        classes = np.unique(y)
        w = None if len(chunk) < 3 else chunk[2]
        totals = np.bincount(np.searchsorted(classes, y), weights=w, minlength=len(classes))
        part = type(self)(
            classes,
            totals.astype(np.float64),
            int(chunk[0].shape[1]),
            Fingerprint().update((chunk[0],)),
        )
        return self.merge(part)

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
        for part in (self, other):
            totals[np.searchsorted(classes, part.classes)] += part.totals
        return type(self)(
            classes, totals, self.n_features, self.fingerprint.merge(other.fingerprint)
        )


def class_factors(class_weight: Any, classes: np.ndarray, totals: np.ndarray) -> np.ndarray | None:
    """Return the factor on the weight of each class."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        return totals.sum() / (len(classes) * np.where(totals > 0, totals, np.inf))
    from sklearn.utils.class_weight import compute_class_weight

    return np.asarray(compute_class_weight(class_weight, classes=classes, y=classes), float)
