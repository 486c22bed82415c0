r"""Probabilistic principal component analysis, in closed form and by EM.

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

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.estimator import (
    ArrayLike,
    Count,
    CountFromZero,
    NonNegative,
    RandomSeed,
    checked,
)
from corollary.decomposition._linalg import eigenpairs, second_moment, up_to


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
