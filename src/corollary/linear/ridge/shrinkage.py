r"""Ridge regression seen through the singular values of the design.

With :math:`X=UDV^\top` and penalty :math:`\alpha` the solution is
:math:`\hat\beta=\sum_i\frac{D_i}{D_i^2+\alpha}v_iu_i^\top y`. Along :math:`v_i`, against least
squares, the coefficient shrinks by :math:`D_i^2/(D_i^2+\alpha)`; its sampling variance is
:math:`\sigma^2D_i^2/(D_i^2+\alpha)^2`, never above :math:`\sigma^2/(4\alpha)` (reached at
:math:`D_i^2=\alpha`) and falling to zero with :math:`D_i`, where that of least squares diverges;
its bias is :math:`-\frac{\alpha}{D_i^2+\alpha}v_i^\top\beta_*`.
"""

import numpy as np
import scipy.linalg

from corollary.core.estimator import ArrayLike, NonNegative, Positive, checked
from corollary.linear.ridge._records import VarianceSplit


@checked
def shrinkage_factors(singular_values: ArrayLike, alpha: NonNegative) -> np.ndarray:
    r"""Compute by how much ridge shrinks the least-squares coefficient in each direction.

    Parameters
    ----------
    singular_values : array-like of shape (n,)
        Singular values D of the design.
    alpha : float
        Penalty.

    Returns
    -------
    factors : ndarray of shape (n,)
        :math:`D^2/(D^2+\alpha)`, zero for D = 0.

    Examples
    --------
    >>> from corollary.linear import shrinkage_factors
    >>> shrinkage_factors([3.0, 1.0, 0.0], 1.0)
    array([0.9, 0.5, 0. ])
    """
    squares = np.asarray(singular_values, dtype=float) ** 2
    # A zero singular value shrinks to zero for every penalty, and for none.
    return squares / np.where(squares > 0, squares + alpha, 1.0)


@checked
def variance_factors(singular_values: ArrayLike, alpha: NonNegative) -> np.ndarray:
    r"""Compute the sampling variance of ridge in each direction, in units of the noise variance.

    Parameters
    ----------
    singular_values : array-like of shape (n,)
        Singular values D of the design.
    alpha : float
        Penalty.

    Returns
    -------
    factors : ndarray of shape (n,)
        :math:`D^2/(D^2+\alpha)^2`, at most :math:`1/(4\alpha)`; zero for D = 0.

    Examples
    --------
    >>> from corollary.linear import variance_factors
    >>> variance_factors([2.0, 1.0, 0.0], 1.0)
    array([0.16, 0.25, 0.  ])
    """
    squares = np.asarray(singular_values, dtype=float) ** 2
    return squares / np.where(squares > 0, squares + alpha, 1.0) ** 2


@checked
def ridge_covariance(
    X: ArrayLike, alpha: NonNegative, noise_variance: Positive = 1.0
) -> np.ndarray:
    r"""Compute the sampling covariance of the ridge coefficients.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs.
    alpha : float
        Penalty.
    noise_variance : float, default=1.0
        Variance :math:`\sigma^2` of the noise.

    Returns
    -------
    covariance : ndarray of shape (n_features, n_features)
        :math:`\sigma^2\sum_i\frac{D_i^2}{(D_i^2+\alpha)^2}v_iv_i^\top`.

    See Also
    --------
    ols_covariance : The same for least squares.

    Examples
    --------
    >>> from corollary.linear import ridge_covariance
    >>> ridge_covariance([[1.0], [0.0]], 1.0, 4.0)
    array([[1.]])
    """
    _, s, Vt = scipy.linalg.svd(np.asarray(X, dtype=float), full_matrices=False)
    return noise_variance * (Vt.T * variance_factors(s, alpha)) @ Vt


@checked
def ridge_bias(X: ArrayLike, alpha: NonNegative, coef: ArrayLike) -> np.ndarray:
    r"""Compute the bias of the ridge coefficients for given true ones.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs.
    alpha : float
        Penalty.
    coef : array-like of shape (n_features,)
        True coefficients :math:`\beta_*`.

    Returns
    -------
    bias : ndarray of shape (n_features,)
        Mean of the estimate minus the truth: :math:`-\frac{\alpha}{D_i^2+\alpha}v_i^\top\beta_*`
        along each :math:`v_i`, and minus the truth outside the row space.

    Examples
    --------
    >>> from corollary.linear import ridge_bias
    >>> ridge_bias([[1.0, 0.0]], 1.0, [2.0, 3.0])
    array([-1., -3.])
    """
    _, s, Vt = scipy.linalg.svd(np.asarray(X, dtype=float), full_matrices=False)
    coef = np.asarray(coef, dtype=float)
    return Vt.T @ (shrinkage_factors(s, alpha) * (Vt @ coef)) - coef


@checked
def ridge_mse(
    X: ArrayLike, alpha: NonNegative, coef: ArrayLike, noise_variance: Positive = 1.0
) -> float:
    r"""Compute the mean squared error of the ridge coefficients, variance plus squared bias.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs.
    alpha : float
        Penalty.
    coef : array-like of shape (n_features,)
        True coefficients.
    noise_variance : float, default=1.0
        Variance of the noise.

    Returns
    -------
    mse : float
        :math:`E\|\hat\beta-\beta_*\|^2`. As a function of ``alpha`` it falls from zero on and has
        its minimum inside.

    Examples
    --------
    >>> from corollary.linear import ridge_mse
    >>> ridge_mse([[1.0]], 1.0, [2.0], 4.0)
    2.0
    """
    bias = ridge_bias(X, alpha, coef)
    return float(np.trace(ridge_covariance(X, alpha, noise_variance)) + bias @ bias)


@checked
def posterior_variance_split(
    singular_values: ArrayLike, noise_variance: Positive, prior_variance: Positive
) -> VarianceSplit:
    r"""Split the posterior variance into sampling variance and prior-averaged squared bias.

    With :math:`\lambda=\sigma^2/\tau^2`, in the direction of singular value D,

    .. math::

        \frac{\sigma^2}{D^2+\lambda}
        = \frac{\sigma^2D^2}{(D^2+\lambda)^2} + \frac{\lambda\sigma^2}{(D^2+\lambda)^2} .

    Parameters
    ----------
    singular_values : array-like of shape (n,)
        Singular values D of the design; zero where the data say nothing.
    noise_variance : float
        Variance :math:`\sigma^2` of the noise.
    prior_variance : float
        Variance :math:`\tau^2` of each coefficient.

    Returns
    -------
    split : named tuple
        ``posterior``, the left-hand side, and its parts ``sampling``, the variance of the ridge
        estimate over the noise, and ``squared_bias``, averaged over the prior.

    Examples
    --------
    >>> from corollary.linear import posterior_variance_split
    >>> split = posterior_variance_split([1.0], 1.0, 1.0)
    >>> split.posterior, split.sampling, split.squared_bias
    (array([0.5]), array([0.25]), array([0.25]))
    """
    D = np.asarray(singular_values, dtype=float)
    ratio = noise_variance / prior_variance
    return VarianceSplit(
        noise_variance / (D**2 + ratio),
        noise_variance * variance_factors(D, ratio),
        ratio * noise_variance / (D**2 + ratio) ** 2,
    )
