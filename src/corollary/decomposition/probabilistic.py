"""Probabilistic principal component analysis as an estimator."""

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from corollary.core.estimator import Count, RandomSeed, SampleMixin, fitted
from corollary.core.parallel import row_products
from corollary.core.schema import Number
from corollary.core.summary import Moments
from corollary.decomposition._linalg import eigenpairs
from corollary.decomposition._spectrum import moments_of
from corollary.decomposition._subspace_model import SubspaceModel
from corollary.decomposition.latent_gaussian import (
    LatentPosterior,
    latent_posterior,
    probabilistic_pca,
)


class ProbabilisticPCA(SampleMixin, SubspaceModel):
    """A Gaussian with a few latent variables and noise that is equal in all directions.

    Parameters
    ----------
    n_components : int, default=1
        Number of latent variables, less than that of features.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of :meth:`sample`.

    Attributes
    ----------
    components_, explained_variance_, noise_variance_, mean_, n_components_ : ndarrays and numbers
        As in :class:`PCA`, with variances of the model, which are divided by the total weight.
    loadings_ : ndarray of shape (`n_features_in_`, `n_components_`)
        The matrix W that takes latent variables to rows.
    log_likelihood_ : float
        Mean log-density of the training rows.

    Notes
    -----
    The parameters are those of :func:`probabilistic_pca`, or :func:`probabilistic_pca_em`. The
    transform is the posterior mean of the latent variables, which are shrunk towards zero against
    the projections of :class:`PCA`, whose density divides by the total weight less one; the inverse
    returns the expected rows, without noise.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.decomposition import ProbabilisticPCA
    >>> rng = np.random.default_rng(0)
    >>> X = np.outer(rng.normal(size=500), [3.0, 4.0, 12.0]) + rng.normal(size=(500, 3))
    >>> model = ProbabilisticPCA(1).fit(X)
    >>> round(model.noise_variance_, 1), model.components_.round(1)
    (1.0, array([[0.2, 0.3, 0.9]]))
    """

    n_components: Count = 1
    _: KW_ONLY
    random_state: RandomSeed = None

    log_likelihood_: float = fitted(Number())

    _training_rows: ClassVar[dict[str, Any]] = {"finite_squares": True, "ensure_min_samples": 2}

    @property
    def loadings_(self) -> np.ndarray:
        """The matrix that takes latent variables to rows."""
        excess = np.maximum(self.explained_variance_ - self.noise_variance_, 0)
        return self.components_.T * np.sqrt(excess)

    def _fit(self, X: Any, sample_weight: np.ndarray | None) -> None:
        self._learn(moments_of(X, sample_weight))

    def _learn(self, moments: Moments) -> None:
        """Learn from moments alone."""
        d = len(moments.mean)
        if not self.n_components < d:
            raise ValueError(
                f"ProbabilisticPCA needs fewer components than features, since the others have the "
                f"noise. Got n_components={self.n_components} and n_features = {d}."
            )
        S = moments.covariance()
        model = probabilistic_pca(S, self.n_components)
        if model.noise <= d * np.finfo(float).eps * np.trace(S):
            raise ValueError(
                f"ProbabilisticPCA finds no noise: {self.n_components} components explain the rows "
                f"(n_samples = {moments.n_rows}) exactly. Take fewer components, more rows, or PCA."
            )
        values, vectors = eigenpairs(S)
        self.n_components_, self.mean_ = int(self.n_components), moments.mean
        self.components_ = vectors[: self.n_components_]
        self.explained_variance_ = values[: self.n_components_].clip(min=model.noise)
        self.noise_variance_, self.log_likelihood_ = model.noise, model.log_likelihood

    def posterior(self, X: Any) -> LatentPosterior:
        """Return the ``mean`` of the latent variables given each row, and their ``covariance``.

        All rows share the covariance. See :class:`ProbabilisticPCA`.
        """
        X = self._new(X)
        covariance = latent_posterior(X[:0], self.loadings_, self.noise_variance_).covariance
        return LatentPosterior(self._transform(X), covariance)

    def _transform(self, X: Any) -> np.ndarray:
        # W has orthogonal columns, so that M is diagonal: the variances along the components.
        return row_products(X - self.mean_, self.loadings_ / self.explained_variance_)

    def _way_back(self) -> np.ndarray:
        return self.loadings_.T

    def _sample(self, n_samples: int, random: np.random.RandomState) -> np.ndarray:
        latent = random.standard_normal((n_samples, self.n_components_))
        noise = random.standard_normal((n_samples, self.n_features_in_))
        return latent @ self.loadings_.T + np.sqrt(self.noise_variance_) * noise + self.mean_
