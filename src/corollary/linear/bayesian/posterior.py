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

import numpy as np
import scipy.linalg

from corollary.core.estimator import ArrayLike, Positive, checked
from corollary.linear.bayesian._evidence import evidence_from_products, precision_matrix
from corollary.linear.bayesian._records import GaussianPosterior


@checked
def gaussian_posterior(
    X: ArrayLike,
    y: ArrayLike,
    prior_precision: Positive | ArrayLike,
    noise_variance: Positive,
    *,
    prior_mean: ArrayLike | None = None,
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
    posterior : named tuple
        ``mean`` of shape (n_features,), ``covariance`` and its inverse ``precision``. Feeding mean
        and precision back as the prior of further rows gives the posterior of all rows.

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


@checked
def marginal_covariance(
    X: ArrayLike, prior_precision: Positive | ArrayLike, noise_variance: Positive
) -> np.ndarray:
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


@checked
def log_evidence(
    X: ArrayLike, y: ArrayLike, prior_precision: Positive | ArrayLike, noise_variance: Positive
) -> float:
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
