"""A score by any model that says how likely rows are: kernel densities, machines of one class."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from corollary.anomaly._rows import Rows
from corollary.anomaly.measures import density_score
from corollary.anomaly.scores._base import Score, problem_of
from corollary.core.parallel import row_products
from corollary.core.schema import Array, Flag, Instance, Nullable, Schema

#: Least variance of a direction as a share of the largest, so that any column is predictable.
_FLOOR = 1e-9


@dataclass(frozen=True, eq=False)
class ModelScore(Score):
    """Minus what a model says of rows in ``score_samples``.

    Parameters
    ----------
    model : estimator
        A density such as :class:`corollary.density.KernelDensity`, or a machine such as
        :class:`corollary.svm.OneClassSVM`; ``fit`` fits a copy.
    fitted : bool, default=False
        Whether the model is; set by ``fit``.
    mean, covariance : ndarray or None, default=None
        Those of the rows, for contributions; set by ``fit``.

    Notes
    -----
    There is no exact split: a column contributes what its replacement by the conditional mean,
    given the other columns under one Gaussian, takes off the score. All rows must be in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.anomaly import AnomalyDetector, ModelScore
    >>> from corollary.density import KernelDensity
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> score = ModelScore(KernelDensity(bandwidth="likelihood"))
    >>> AnomalyDetector(score, random_state=0).fit(X).predict([[0.0, 0.0], [5.0, 0.0]])
    array([ 1, -1])
    """

    model: Any
    fitted: bool = False
    mean: Any = None
    covariance: Any = None

    _schema: ClassVar[Schema] = Schema(
        lambda score: problem_of((score.fitted or None, score.mean, score.covariance)),
        model=Instance("score_samples"),
        fitted=Flag(),
        mean=Nullable(Array("f", "d")),
        covariance=Nullable(Array("f", "d", "d")),
    )

    def fit(self, rows: Rows, random: np.random.RandomState) -> Self:
        """Fit a copy of the model."""
        if not rows.in_memory:
            raise ValueError(
                f"A score by {type(self.model).__name__} needs all rows in memory. Got a source; "
                "take 'mixture', 'mahalanobis', 'reconstruction' or 'clusters', sums over rows."
            )
        moments = rows.moments()
        learnt = {"mean": moments.mean, "covariance": moments.covariance()}
        return replace(self, model=rows.teach(clone(self.model)), fitted=True, **learnt)

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return how unlike the training rows others are."""
        return density_score(self.model, X)

    def contributions(self, X: np.ndarray) -> np.ndarray:
        """Return by how much the score falls where a column is as the others predict it."""
        values, vectors = np.linalg.eigh(self.covariance)
        floor = _FLOOR * float(values[-1]) if values[-1] > 0 else 1.0  # of equal rows
        precision = (vectors / np.maximum(values, floor)) @ vectors.T
        steps = row_products(X - self.mean, precision) / np.diag(precision)
        scores, losses = self.scores(X), np.empty(X.shape)
        for j in range(X.shape[1]):
            replaced = X.copy()
            replaced[:, j] -= steps[:, j]
            losses[:, j] = scores - self.scores(replaced)
        return losses
