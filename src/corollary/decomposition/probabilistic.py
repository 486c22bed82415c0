r"""Probabilistic principal component analysis, in closed form, by EM, and as an estimator.

The model is :math:`x=Wz+\mu+\sigma\epsilon` with standard normal :math:`z\in\mathbb R^k` and
:math:`\epsilon`. With the eigenvalues :math:`\lambda_i` and eigenvectors of the covariance (divided
by n) its likelihood is largest at :math:`\hat\sigma^2=\frac1{d-k}\sum_{i>k}\lambda_i` and
:math:`\hat W=U_k(\Lambda_k-\hat\sigma^2I)^{1/2}R` for any rotation R; here R is the identity.
Without noise it becomes principal component analysis.

References
----------
M. E. Tipping and C. M. Bishop (1999). Probabilistic principal component analysis. Journal of the
Royal Statistical Society B 61, 611-622.
"""

from dataclasses import KW_ONLY
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.estimator import (
    ArrayLike,
    Count,
    CountFromZero,
    NonNegative,
    RandomSeed,
    SampleMixin,
    checked,
    fitted,
)
from corollary.core.parallel import row_products
from corollary.core.schema import Number
from corollary.core.summary import Moments
from corollary.decomposition._linalg import eigenpairs, second_moment, up_to
from corollary.decomposition._spectrum import moments_of
from corollary.decomposition._subspace_model import SubspaceModel


class LatentGaussian(NamedTuple):
    """The parameters of the model, and the mean log-density of the rows under them."""

    loadings: np.ndarray
    noise: float
    log_likelihood: float


@checked
def probabilistic_pca(covariance: ArrayLike, n_components: CountFromZero) -> LatentGaussian:
    r"""Return the parameters of largest likelihood, to which :func:`probabilistic_pca_em` climbs.

    They are the ``loadings`` W with a row for each feature and the ``noise``, which is
    :math:`\hat\sigma^2`. The mean ``log_likelihood`` beside them is
    :math:`-\frac12\big[d\log2\pi+\sum_{i\le k}\log\lambda_i+(d-k)\log\hat\sigma^2+d\big]`, and
    infinite if there is no noise. The covariance of the rows has the divisor n; ``n_components`` is
    the number k of latent variables, less than that of features. See :class:`ProbabilisticPCA`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.decomposition import probabilistic_pca
    >>> model = probabilistic_pca(np.diag([5.0, 1.5, 0.5]), 1)
    >>> model.noise, model.loadings.ravel(), round(model.log_likelihood, 4)
    (1.0, array([2., 0., 0.]), -5.0615)
    """
    S = second_moment("probabilistic_pca", covariance)
    d = len(S)
    k = up_to("probabilistic_pca", n_components, d - 1)
    values, vectors = eigenpairs(S)
    noise = float(values[k:].clip(min=0.0).mean())
    loadings = vectors[:k].T * np.sqrt((values[:k] - noise).clip(min=0.0))
    with np.errstate(divide="ignore"):
        logs = np.log(values[:k].clip(min=noise)).sum() + (d - k) * np.log(noise)
    return LatentGaussian(loadings, noise, float(-(d * np.log(2 * np.pi) + logs + d) / 2))


class LatentPosterior(NamedTuple):
    """The law of the latent variables given rows, whose covariance is the same for all rows."""

    mean: np.ndarray
    covariance: np.ndarray


def latent_posterior(centred: Any, loadings: Any, noise: float) -> LatentPosterior:
    r"""Return ``mean`` and ``covariance`` of the latent variables given rows less the mean.

    The law is :math:`N(M^{-1}W^\top(x-\mu),\sigma^2M^{-1})`, where :math:`M=W^\top W+\sigma^2I`.
    Without noise the loadings must have full column rank. See :func:`probabilistic_pca`.

    Examples
    --------
    >>> from corollary.decomposition import latent_posterior
    >>> posterior = latent_posterior([[5.0, 1.0]], [[2.0], [0.0]], 1.0)
    >>> posterior.mean, posterior.covariance
    (array([[2.]]), array([[0.2]]))
    """
    W, X = np.asarray(loadings, dtype=np.float64), np.asarray(centred, dtype=np.float64)
    M = W.T @ W + noise * np.eye(W.shape[1])
    return LatentPosterior(np.linalg.solve(M, W.T @ X.T).T, noise * np.linalg.inv(M))


class LatentGaussianRun(NamedTuple):
    """The last parameters of a run of EM, and the likelihood of every step."""

    model: LatentGaussian
    history: np.ndarray


@checked
def probabilistic_pca_em(
    covariance: ArrayLike,
    n_components: Count,
    *,
    max_iter: Count = 1000,
    tol: NonNegative = 1e-10,
    random_state: RandomSeed = 0,
) -> LatentGaussianRun:
    r"""Climb to the parameters of largest likelihood by EM, which needs no eigenvectors.

    A step is :math:`W\leftarrow SW(\sigma^2I+M^{-1}W^\top SW)^{-1}` and
    :math:`\sigma^2\leftarrow\frac1d\mathrm{tr}(S-SWM^{-1}W_{new}^\top)`.

    The result has the ``model``, in some rotation of the latent variables, and ``history``: the
    mean log-likelihood before the first step and after every one, which never falls. The run ends
    when a step gains no more than ``tol``, or after ``max_iter`` steps; ``random_state`` determines
    the first loadings. See :func:`probabilistic_pca`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.decomposition import probabilistic_pca_em
    >>> run = probabilistic_pca_em(np.diag([5.0, 1.5, 0.5]), 1)
    >>> round(run.model.noise, 4), round(run.model.log_likelihood, 4)
    (1.0, -5.0615)
    """
    S = second_moment("probabilistic_pca_em", covariance)
    d = len(S)
    k = up_to("probabilistic_pca_em", n_components, d - 1)
    noise = float(np.trace(S)) / d
    W = np.sqrt(noise) * check_random_state(random_state).standard_normal((d, k))
    history = [_mean_log_likelihood(S, W, noise)]
    for _ in range(max_iter):
        SW = S @ W
        lifted = np.linalg.solve(W.T @ W + noise * np.eye(k), SW.T).T  # S W M^-1
        new = np.linalg.solve((noise * np.eye(k) + lifted.T @ W).T, SW.T).T
        noise = float(np.trace(S) - np.sum(lifted * new)) / d
        W = new
        history.append(_mean_log_likelihood(S, W, noise))
        if history[-1] - history[-2] <= tol:
            break
    return LatentGaussianRun(LatentGaussian(W, noise, history[-1]), np.array(history))


def _mean_log_likelihood(S: np.ndarray, W: np.ndarray, noise: float) -> float:
    """Return the mean log-density of centred rows with covariance S."""
    C = W @ W.T + noise * np.eye(len(S))
    size = np.linalg.slogdet(C)[1] + np.trace(np.linalg.solve(C, S))
    return float(-(len(S) * np.log(2 * np.pi) + size) / 2)


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
