r"""Bayesian linear regression in closed form.

The model is :math:`y=X\beta+\epsilon`, :math:`\epsilon\sim\mathcal N(0,\sigma^2I)`, with prior
:math:`\beta\sim\mathcal N(m_0,\Lambda^{-1})`. The posterior is Gaussian with

.. math::

    \Sigma=(X^\top X/\sigma^2+\Lambda)^{-1},\qquad
    \mu=\Sigma\,(X^\top y/\sigma^2+\Lambda m_0),

which is the ridge solution for :math:`m_0=0`, :math:`\Lambda=I/\tau^2` and
:math:`\alpha=\sigma^2/\tau^2`. Integrating :math:`\beta` out, with :math:`m_0=0`, leaves
:math:`y\sim\mathcal N(0,X\Lambda^{-1}X^\top+\sigma^2I)`: a Gaussian process with kernel
:math:`k(x,x')=x^\top\Lambda^{-1}x'`. The log density of the observed y under this law is the log
evidence of the model.
"""

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from corollary.core.compat import Interval, validate_params

POSITIVE = Interval(Real, 0, None, closed="neither")


class GaussianPosterior(NamedTuple):
    """Posterior law of the coefficients.

    Parameters
    ----------
    mean : ndarray of shape (n_features,)
        Posterior mean.
    covariance : ndarray of shape (n_features, n_features)
        Posterior covariance.
    precision : ndarray of shape (n_features, n_features)
        Its inverse: the prior precision of the next batch.

    Examples
    --------
    >>> from corollary.linear import gaussian_posterior
    >>> gaussian_posterior([[1.0]], [2.0], 1.0, 1.0).precision
    array([[2.]])
    """

    mean: np.ndarray
    covariance: np.ndarray
    precision: np.ndarray


def precision_matrix(prior_precision: Any, n_features: int) -> np.ndarray:
    """Return a prior precision as a matrix."""
    value = np.asarray(prior_precision, dtype=np.float64)
    if value.ndim == 0:
        value = np.full(n_features, float(value))
    if value.ndim == 1:
        value = np.diag(value)
    if value.shape != (n_features, n_features):
        raise ValueError(
            f"A prior precision must be a number or have shape ({n_features},) or "
            f"({n_features}, {n_features}). Got shape {np.shape(prior_precision)} instead."
        )
    if not np.allclose(value, value.T, rtol=1e-10, atol=0) or np.any(
        scipy.linalg.eigvalsh(value) <= 0
    ):
        raise ValueError(
            "A prior precision must be symmetric and positive definite. Got one that is not; use "
            "positive numbers."
        )
    return value


@validate_params(
    {
        "X": ["array-like"],
        "y": ["array-like"],
        "prior_precision": [POSITIVE, "array-like"],
        "noise_variance": [POSITIVE],
        "prior_mean": ["array-like", None],
    },
    prefer_skip_nested_validation=True,
)
def gaussian_posterior(
    X: Any, y: Any, prior_precision: Any, noise_variance: float, *, prior_mean: Any = None
) -> GaussianPosterior:
    r"""Compute the posterior of the coefficients.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Targets.
    prior_precision : float, array-like of shape (n_features,) or (n_features, n_features)
        Prior precision :math:`\Lambda`, a number meaning a multiple of the identity.
    noise_variance : float
        Variance :math:`\sigma^2` of the noise.
    prior_mean : array-like of shape (n_features,) or None, default=None
        Prior mean :math:`m_0`; None for zero.

    Returns
    -------
    posterior : GaussianPosterior
        Mean, covariance and precision. Feeding mean and precision back as the prior of further
        rows gives the posterior of all rows.

    Examples
    --------
    >>> from corollary.linear import gaussian_posterior
    >>> posterior = gaussian_posterior([[1.0]], [2.0], 1.0, 1.0)
    >>> posterior.mean, posterior.covariance
    (array([1.]), array([[0.5]]))
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    prior = precision_matrix(prior_precision, X.shape[1])
    precision = X.T @ X / noise_variance + prior
    right = X.T @ y / noise_variance
    if prior_mean is not None:
        right = right + prior @ np.asarray(prior_mean, dtype=float)
    factor = scipy.linalg.cho_factor(precision)
    covariance = scipy.linalg.cho_solve(factor, np.eye(X.shape[1]))
    return GaussianPosterior(
        scipy.linalg.cho_solve(factor, right), (covariance + covariance.T) / 2, precision
    )


@validate_params(
    {
        "X": ["array-like"],
        "prior_precision": [POSITIVE, "array-like"],
        "noise_variance": [POSITIVE],
    },
    prefer_skip_nested_validation=True,
)
def marginal_covariance(X: Any, prior_precision: Any, noise_variance: float) -> np.ndarray:
    r"""Compute the covariance of the targets with the coefficients integrated out.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs.
    prior_precision : float, array-like of shape (n_features,) or (n_features, n_features)
        Prior precision :math:`\Lambda`.
    noise_variance : float
        Variance :math:`\sigma^2` of the noise.

    Returns
    -------
    covariance : ndarray of shape (n_samples, n_samples)
        :math:`X\Lambda^{-1}X^\top+\sigma^2I`.

    Examples
    --------
    >>> from corollary.linear import marginal_covariance
    >>> marginal_covariance([[1.0], [2.0]], 1.0, 0.5)
    array([[1.5, 2. ],
           [2. , 4.5]])
    """
    X = np.asarray(X, dtype=float)
    prior = precision_matrix(prior_precision, X.shape[1])
    return X @ scipy.linalg.solve(prior, X.T, assume_a="pos") + noise_variance * np.eye(len(X))


@validate_params(
    {
        "X": ["array-like"],
        "y": ["array-like"],
        "prior_precision": [POSITIVE, "array-like"],
        "noise_variance": [POSITIVE],
    },
    prefer_skip_nested_validation=True,
)
def log_evidence(X: Any, y: Any, prior_precision: Any, noise_variance: float) -> float:
    r"""Compute the log density of the targets with the coefficients integrated out.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Targets.
    prior_precision : float, array-like of shape (n_features,) or (n_features, n_features)
        Prior precision :math:`\Lambda`.
    noise_variance : float
        Variance :math:`\sigma^2` of the noise.

    Returns
    -------
    value : float
        :math:`\log\mathcal N(y;0,X\Lambda^{-1}X^\top+\sigma^2I)`, computed from systems of size
        n_features.

    Examples
    --------
    >>> from corollary.linear import log_evidence
    >>> round(log_evidence([[1.0]], [1.0], 1.0, 1.0), 6)
    -1.515512
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    prior = precision_matrix(prior_precision, X.shape[1])
    return evidence_from_products(X.T @ X, X.T @ y, float(y @ y), len(y), prior, noise_variance)


def evidence_from_products(
    gram: np.ndarray,
    cross: np.ndarray,
    squares: float,
    n: float,
    precision: np.ndarray,
    noise_variance: float,
) -> float:
    r"""Compute the log evidence from sums over rows."""
    posterior = precision + gram / noise_variance
    factor = scipy.linalg.cho_factor(posterior, lower=True)
    mean = scipy.linalg.cho_solve(factor, cross / noise_variance)
    log_det = 2 * float(np.log(np.diag(factor[0])).sum())
    log_det_prior = float(np.linalg.slogdet(precision)[1])
    # Residual and penalty separately: y'y - y'X mu would cancel when the fit is good.
    residual = max(0.0, squares - 2 * float(cross @ mean) + float(mean @ gram @ mean))
    return 0.5 * (
        log_det_prior
        - log_det
        - n * float(np.log(2 * np.pi * noise_variance))
        - residual / noise_variance
        - float(mean @ precision @ mean)
    )
