"""Rows that scores learn from: arrays in memory, or a source that is read again for each pass."""

from collections.abc import Callable, Iterator
from numbers import Real
from typing import Annotated, Any

import numpy as np

from corollary.core.compat import Interval
from corollary.core.estimator import without_memory
from corollary.core.parallel import row_products
from corollary.core.summary import ArraySource, Chunk, Moments, Source, open_source

#: A share of anomalies, as scikit-learn bounds it.
Contamination = Annotated[float, Interval(Real, 0, 0.5, closed="right")]


class Rows:
    """Training rows with their weights, seen through a function of rows."""

    def __init__(
        self,
        source: Source,
        weight: float,
        through: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> None:
        self.source, self.weight, self._through = source, weight, through
        self.in_memory = isinstance(source, ArraySource)

    @classmethod
    def of(cls, X: np.ndarray, weight: np.ndarray | None) -> "Rows":
        """Return arrays as rows."""
        if weight is None:
            return cls(ArraySource((X,)), float(len(X)))
        return cls(ArraySource((X, None, weight)), float(weight.sum()))

    def map(self, function: Callable[[np.ndarray], np.ndarray]) -> "Rows":
        """Return the rows that a function makes of these."""
        if self.in_memory:
            X, weight = self.arrays()
            return Rows.of(function(X), weight)
        before = self._through
        both = function if before is None else lambda X: function(before(X))
        return Rows(self.source, self.weight, both)

    def arrays(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the rows and their weights, if they are in memory."""
        (chunk,) = self.source.chunks()
        return chunk[0], chunk[-1] if len(chunk) > 1 else None

    def __iter__(self) -> Iterator[Chunk]:
        for X, *others in self.source.chunks():
            X = np.asarray(X, dtype=np.float64)
            yield (X if self._through is None else self._through(X), *others)

    def moments(self) -> Moments:
        """Return count, mean and scatter of the rows."""
        source = self.source if self._through is None else open_source(self, supervised=False)
        return source.reduce(Moments.of_width(source.n_features))

    def teach(self, model: Any) -> Any:
        """Fit a model to the rows, wherever they are, with the same bits."""
        if not self.in_memory:
            return model.fit_source(self)
        X, weight = self.arrays()
        with without_memory():
            return model.fit(X, sample_weight=weight)


def residuals(X: np.ndarray, mean: np.ndarray, components: np.ndarray) -> np.ndarray:
    """Return what lies across the subspace of a mean and orthonormal directions, row by row."""
    away = X - mean
    return away - row_products(row_products(away, np.ascontiguousarray(components.T)), components)


def precision_of(covariance: np.ndarray) -> np.ndarray:
    """Return the symmetric inverse of a covariance, whose variances are raised to a floor."""
    values, vectors = np.linalg.eigh(covariance)
    floor = 1e-9 * max(float(values[-1]), np.finfo(float).tiny)
    return (vectors / np.maximum(values, floor)) @ vectors.T
