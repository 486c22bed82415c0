r"""Scores by Gaussian densities: a mixture behind a projection, its cure, and one Gaussian.

The pipeline scores a row by :math:`-\log p(\pi(x))`, where :math:`\pi` projects on the leading
directions and p is a mixture of Gaussians. A step across the kept directions does not change
:math:`\pi(x)`: the pipeline is blind to it. The cure multiplies p by the density of the residual
:math:`r(x)`, of which probabilistic PCA says that it is Gaussian with one variance
:math:`\sigma^2` for all dropped directions; the score then has a further term
:math:`\|r(x)\|^2/2\sigma^2`, the reconstruction error in units of its size, and is the negative
log density of a law on the whole space.

Both are split among columns by the identity :math:`-\log p(x)=\sum_kr_k(x)\,\tfrac12
(x-m_k)^\top Q_k(x-m_k)+\text{rest}` with responsibilities :math:`r_k` and precisions
:math:`Q_k`, whose rest no column is responsible for. A column adds :math:`\sum_kr_k\tfrac12
(x-m_k)_j\,(Q_k(x-m_k))_j`, of one Gaussian its Shapley value.

References
----------
M. Mayrhofer and P. Filzmoser (2023). Multivariate outlier explanations using Shapley values and
Mahalanobis distances. Econometrics and Statistics.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from corollary.anomaly._rows import Rows, residuals
from corollary.anomaly.measures import density_score, gaussian_score
from corollary.anomaly.scores._base import Score, problem_of, seed_of
from corollary.core.parallel import row_products
from corollary.core.schema import Array, Flag, Instance, Integer, Nullable, Number, Schema, Text
from corollary.decomposition import PCA
from corollary.mixture import GaussianMixture

#: Numbers of components among which "auto" chooses, and rows that each parameter takes.
_CANDIDATES, _ROWS_PER_PARAMETER = (1, 2, 4, 8), 5
#: Cheap starts of a mixture: one alone often ends with two clusters in one component.
_STARTS = 4
#: Least variance across the kept directions, as a share of the mean variance of a column.
_FLOOR = 1e-6


@dataclass(frozen=True, eq=False)
class PCAMixture(Score):
    """Negative log density of a Gaussian mixture behind a projection on leading directions.

    The term of the dropped directions alone is :class:`Reconstruction`.

    Parameters
    ----------
    n_directions : int, float or None, default=0.9
        Directions to keep: a number, the least that explain more than a share of the variance, or
        all (None).
    n_components : int or "auto", default="auto"
        Components of the mixture; "auto" takes of 1, 2, 4 and 8 the one with the best Bayesian
        information criterion, as far as there are five rows for each parameter.
    residual : bool, default=True
        Whether to add the term of the dropped directions. Without it the score is that of the
        projection alone, and blind to what happens across it.
    reg_covar : float, default=1e-6
        Added to the diagonal of the mixture's covariances.
    pca, mixture : PCA, GaussianMixture or None, default=None
        The projection, and the mixture of what it keeps; set by ``fit``.
    noise : float, default=1.0
        Variance across the kept directions; set by ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.anomaly import AnomalyDetector, PCAMixture
    >>> X = np.random.default_rng(0).normal(size=(400, 3)) * [3.0, 2.0, 0.1]
    >>> row = [[0.0, 0.0, 1.0]]  # ten standard deviations along the least direction
    >>> for residual in (False, True):
    ...     score = PCAMixture(2, 1, residual=residual)
    ...     model = AnomalyDetector(score, standardize=False, random_state=0).fit(X)
    ...     print(model.p_values(row).round(3))
    [0.965]
    [0.005]
    """

    n_directions: int | float | None = 0.9
    n_components: int | Literal["auto"] = "auto"
    residual: bool = True
    reg_covar: float = 1e-6
    pca: Any = None
    mixture: Any = None
    noise: float = 1.0

    _schema: ClassVar[Schema] = Schema(
        lambda score: problem_of((score.pca, score.mixture)),
        n_directions=Nullable(Number(0)),
        n_components=Integer(1) | Text(("auto",)),
        residual=Flag(),
        reg_covar=Number(0),
        pca=Nullable(Instance("transform", "inverse_transform")),
        mixture=Nullable(Instance("score_samples", "to_law")),
        noise=Number(0),
    )

    def fit(self, rows: Rows, random: np.random.RandomState) -> Self:
        """Fit the projection, then the mixture of what it keeps."""
        pca = rows.teach(PCA(self.n_directions, random_state=seed_of(random)))
        projections, seed = rows.map(pca.transform), seed_of(random)
        weight, d = rows.weight, pca.n_components_
        best, value = None, math.inf
        for k in _CANDIDATES if self.n_components == "auto" else (self.n_components,):
            n_parameters = k * (d * (d + 3) // 2 + 1) - 1
            if best is not None and weight < _ROWS_PER_PARAMETER * n_parameters:
                break
            starts = _STARTS if k > 1 else 1
            model = projections.teach(
                GaussianMixture(k, reg_covar=self.reg_covar, n_starts=starts, random_state=seed)
            )
            criterion = n_parameters * math.log(weight) - 2 * weight * model.lower_bound_
            if criterion < value:
                best, value = model, criterion
        total = pca.explained_variance_.sum() / max(pca.explained_variance_ratio_.sum(), 1e-300)
        noise = max(pca.noise_variance_, _FLOOR * float(total) / pca.n_features_in_, 1e-300)
        return replace(self, pca=pca, mixture=best, noise=noise)

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return the negative log density of the projection, and of the residual if asked for."""
        pca = self.pca
        scores = density_score(self.mixture, pca.transform(X))
        n_dropped = pca.n_features_in_ - pca.n_components_
        if self.residual and n_dropped:
            across = (residuals(X, pca.mean_, pca.components_) ** 2).sum(axis=1)
            scores += 0.5 * (across / self.noise + n_dropped * math.log(2 * math.pi * self.noise))
        return scores

    def contributions(self, X: np.ndarray) -> np.ndarray:
        """Return what columns add to the quadratic forms of the components, and to the residual."""
        pca, law = self.pca, self.mixture.to_law()
        Z = pca.transform(X)
        shares = self.mixture.predict_proba(Z)
        parts = np.zeros(X.shape)
        for k, (mean, covariance) in enumerate(zip(law.means, law.covariances)):
            away = X - (pca.mean_ + mean @ pca.components_)
            precision = pca.components_.T @ np.linalg.solve(covariance, pca.components_)
            parts += shares[:, [k]] * 0.5 * away * row_products(away, precision)
        if self.residual:
            parts += 0.5 * residuals(X, pca.mean_, pca.components_) ** 2 / self.noise
        return parts


@dataclass(frozen=True, eq=False)
class Mahalanobis(Score):
    r"""Half the squared Mahalanobis distance from the mean, as :func:`gaussian_score` has it.

    Parameters
    ----------
    shrinkage : float or "auto", default="auto"
        Share of the covariance that is replaced by a multiple of the identity, so that few rows of
        many columns have an inverse, too; "auto" is the oracle approximating choice of Chen et al.
    mean, covariance : ndarray or None, default=None
        Those of the rows, the latter shrunken; set by ``fit``.

    References
    ----------
    Y. Chen, A. Wiesel, Y. C. Eldar and A. O. Hero (2010). Shrinkage algorithms for MMSE covariance
    estimation. IEEE Transactions on Signal Processing 58.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.anomaly import AnomalyDetector, Mahalanobis
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> model = AnomalyDetector(Mahalanobis(), random_state=0).fit(X)
    >>> int(model.contributions([[0.0, 9.0]]).argmax())
    1
    """

    shrinkage: float | Literal["auto"] = "auto"
    mean: Any = None
    covariance: Any = None

    _schema: ClassVar[Schema] = Schema(
        lambda score: problem_of((score.mean, score.covariance)),
        shrinkage=Number(0, 1) | Text(("auto",)),
        mean=Nullable(Array("f", "d")),
        covariance=Nullable(Array("f", "d", "d")),
    )

    def fit(self, rows: Rows, random: np.random.RandomState) -> Self:
        """Take mean and covariance."""
        moments = rows.moments()
        covariance = moments.covariance()
        d = len(covariance)
        size = float(np.trace(covariance)) / d
        share = _oracle_shrinkage(covariance, moments.weight)
        share = share if self.shrinkage == "auto" else float(self.shrinkage)
        shrunken = (1 - share) * covariance + (share * size or 1e-300) * np.eye(d)
        return replace(self, mean=moments.mean, covariance=shrunken)

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return half the squared distances."""
        return gaussian_score(X, self.mean, self.covariance).half_squares

    def contributions(self, X: np.ndarray) -> np.ndarray:
        """Return the Shapley values, which sum to the score."""
        away = X - self.mean
        return 0.5 * away * row_products(away, np.linalg.inv(self.covariance))


def _oracle_shrinkage(covariance: np.ndarray, n: float) -> float:
    """Return the share of the identity that approximates the best one, as scikit-learn's OAS."""
    d = len(covariance)
    square, trace = float((covariance**2).sum()), float(np.trace(covariance)) ** 2
    below = (n + 1) * (square - trace / d)
    return 1.0 if below <= 0 else min(1.0, (square + trace) / below)
