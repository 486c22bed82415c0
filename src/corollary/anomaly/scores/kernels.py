"""Scores by kernels around training rows: a density, and a machine of one class."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from corollary.anomaly._rows import Rows
from corollary.anomaly.measures import density_score
from corollary.anomaly.scores._base import ReplacementScore, problem_of, refuse_source
from corollary.core.schema import Array, Instance, Nullable, Number, Schema, Text
from corollary.density import KernelDensity
from corollary.svm import OneClassSVM

_FITTED = {
    "model": Nullable(Instance("score_samples")),
    "mean": Nullable(Array("f", "d")),
    "covariance": Nullable(Array("f", "d", "d")),
}


def _problem(score: Any) -> str | None:
    return problem_of((score.model, score.mean, score.covariance))


@dataclass(frozen=True, eq=False)
class KernelScore(ReplacementScore):
    """Negative logarithm of a kernel density.

    Parameters
    ----------
    bandwidth : float or {"scott", "silverman", "likelihood", "neighbors"}, default="scott"
        Width of the kernels, as in :class:`corollary.density.KernelDensity`.
    model : KernelDensity or None, default=None
        The density; set by ``fit``.
    mean : ndarray or None, default=None
        Mean of the rows, for contributions; set by ``fit``.
    covariance : ndarray or None, default=None
        Their covariance; set by ``fit``.

    Notes
    -----
    A column's contribution is what its replacement by the conditional mean, given the other columns
    under one Gaussian, takes off the score; contributions do not sum to the score.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.anomaly import AnomalyDetector, KernelScore
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> model = AnomalyDetector(KernelScore(), random_state=0).fit(X)
    >>> model.predict([[0.0, 0.0], [5.0, 0.0]])
    array([ 1, -1])
    """

    bandwidth: float | Literal["scott", "silverman", "likelihood", "neighbors"] = "scott"
    model: Any = None
    mean: Any = None
    covariance: Any = None

    _schema: ClassVar[Schema] = Schema(
        _problem,
        bandwidth=Number(0) | Text(("scott", "silverman", "likelihood", "neighbors")),
        **_FITTED,
    )

    def fit(self, rows: Rows, random: np.random.RandomState) -> Self:
        """Put kernels on the rows."""
        refuse_source(rows, "KernelScore", "take the score 'mixture', a sum over rows")
        model, moments = rows.teach(KernelDensity(bandwidth=self.bandwidth)), rows.moments()
        return replace(self, model=model, mean=moments.mean, covariance=moments.covariance())

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return the negative log density."""
        return density_score(self.model, X)


@dataclass(frozen=True, eq=False)
class OneClass(ReplacementScore):
    """How far a row is on the wrong side of a one-class machine.

    Parameters
    ----------
    nu : float, default=0.1
        Largest share of training rows outside, as in :class:`corollary.svm.OneClassSVM`.
    gamma : float or {"scale", "auto"}, default="scale"
        Of the Gaussian kernel.
    model : OneClassSVM or None, default=None
        The machine; set by ``fit``.
    mean : ndarray or None, default=None
        Mean of the rows, for contributions; set by ``fit``.
    covariance : ndarray or None, default=None
        Their covariance; set by ``fit``.

    Notes
    -----
    Contributions are as in :class:`KernelScore`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.anomaly import AnomalyDetector, OneClass
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> model = AnomalyDetector(OneClass(), random_state=0).fit(X)
    >>> model.predict([[0.0, 0.0], [5.0, 0.0]])
    array([ 1, -1])
    """

    nu: float = 0.1
    gamma: float | Literal["scale", "auto"] = "scale"
    model: Any = None
    mean: Any = None
    covariance: Any = None

    squared: ClassVar[bool] = False
    _schema: ClassVar[Schema] = Schema(
        _problem, nu=Number(0, 1), gamma=Number(0) | Text(("scale", "auto")), **_FITTED
    )

    def fit(self, rows: Rows, random: np.random.RandomState) -> Self:
        """Fit the machine."""
        refuse_source(rows, "OneClass", "take the score 'mixture', a sum over rows")
        model = rows.teach(OneClassSVM(nu=self.nu, gamma=self.gamma, tol=1e-6))
        moments = rows.moments()
        return replace(self, model=model, mean=moments.mean, covariance=moments.covariance())

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return how far rows are on the wrong side, from the machine's threshold."""
        return -self.model.decision_function(X)
