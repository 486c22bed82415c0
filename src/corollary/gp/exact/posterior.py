"""Posterior of a Gaussian process from Gram matrices, and its closed-form leave-one-out."""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dtrtrs

from corollary.gp.conditioning import GaussianLaw
from corollary.gp.exact._factor import factorise, inverse, solve


class Predictions(NamedTuple):
    """Independent normal predictions.

    Parameters
    ----------
    mean : ndarray of shape (n,)
        Means.
    std : ndarray of shape (n,)
        Standard deviations.

    Examples
    --------
    >>> from corollary.gp import leave_one_out
    >>> leave_one_out([[1.0, 0.5], [0.5, 1.0]], [1.0, 1.0], 0.0).mean
    array([0.5, 0.5])
    """

    mean: np.ndarray
    std: np.ndarray


def gp_posterior(K: Any, y: Any, noise: Any, K_cross: Any, K_new: Any) -> GaussianLaw:
    r"""Return the law of the function at new points given noisy values at others.

    With :math:`K_y=K+\mathrm{diag}(\sigma^2)` and :math:`k=k(X,X_*)` the mean is
    :math:`k^\top K_y^{-1}y` and the covariance :math:`k(X_*,X_*)-k^\top K_y^{-1}k`. This is the
    law of the function itself; a new observation has the noise variance in addition.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Kernel of the observed points.
    y : array-like of shape (n,)
        Observed values, with the prior mean subtracted.
    noise : float or array-like of shape (n,)
        Noise variances.
    K_cross : array-like of shape (m, n)
        Kernel of new and observed points.
    K_new : array-like of shape (m, m)
        Kernel of the new points.

    Returns
    -------
    law : GaussianLaw
        Posterior mean and covariance at the new points.

    Examples
    --------
    >>> from corollary.gp import gp_posterior
    >>> law = gp_posterior([[1.0]], [2.0], 1.0, [[0.5]], [[1.0]])
    >>> law.mean, law.covariance
    (array([0.5]), array([[0.875]]))
    """
    K, y, K_cross = (np.asarray(a, dtype=float) for a in (K, y, K_cross))
    factor = factorise(K, np.asarray(noise, dtype=float))
    V = dtrtrs(factor.lower, K_cross.T, lower=1)[0]
    return GaussianLaw(K_cross @ solve(factor, y), np.asarray(K_new, dtype=float) - V.T @ V)


def leave_one_out(K: Any, y: Any, noise: Any) -> Predictions:
    r"""Predict every observation from all the others, with one factorisation.

    With :math:`C=(K+\mathrm{diag}(\sigma^2))^{-1}` the prediction of :math:`y_i` without row i
    has mean :math:`y_i-(Cy)_i/C_{ii}` and variance :math:`1/C_{ii}`, noise included.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Kernel of the observed points.
    y : array-like of shape (n,)
        Observed values, with the prior mean subtracted.
    noise : float or array-like of shape (n,)
        Noise variances.

    Returns
    -------
    predictions : Predictions
        Means and standard deviations, with hyper-parameters held fixed.

    Examples
    --------
    >>> from corollary.gp import leave_one_out
    >>> mean, std = leave_one_out([[1.0, 0.5], [0.5, 1.0]], [1.0, 3.0], 0.0)
    >>> mean, std.round(4)
    (array([1.5, 0.5]), array([0.866, 0.866]))
    """
    y = np.asarray(y, dtype=float)
    factor = factorise(np.asarray(K, dtype=float), np.asarray(noise, dtype=float))
    precision = np.diag(inverse(factor))
    return Predictions(y - solve(factor, y) / precision, 1.0 / np.sqrt(precision))


def draw_gaussian(mean: np.ndarray, covariance: np.ndarray, n_samples: int, rng: Any) -> np.ndarray:
    """Draw Gaussian vectors whose covariance may be singular.

    Parameters
    ----------
    mean : ndarray of shape (n,)
        Mean.
    covariance : ndarray of shape (n, n)
        Covariance; eigenvalues below zero are rounding and count as zero.
    n_samples : int
        How many.
    rng : RandomState or Generator
        Generator.

    Returns
    -------
    draws : ndarray of shape (n, n_samples)
        One draw per column.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import draw_gaussian
    >>> draw_gaussian(np.ones(2), np.zeros((2, 2)), 1, np.random.default_rng(0))
    array([[1.],
           [1.]])
    """
    values, vectors = np.linalg.eigh(covariance)
    normals = rng.standard_normal((len(mean), n_samples))
    return mean[:, None] + (vectors * np.sqrt(np.maximum(values, 0.0))) @ normals
