r"""The law of the least-squares estimate under repeated sampling of the noise.

The model is :math:`y = X\beta_* + \epsilon` with fixed X of n rows and d columns and uncorrelated
noise of mean zero and variance :math:`\sigma^2`. At full column rank the estimate is unbiased with
covariance :math:`\sigma^2(X^\top X)^{-1}`. With less rank the smallest-norm estimate :math:`X^+y`
has mean :math:`X^+X\beta_*`, which is biased, and covariance
:math:`\sigma^2\sum_{i\le r}v_iv_i^\top/D_i^2` in terms of the singular values.
"""

import numpy as np
import scipy.linalg

from corollary.core.estimator import ArrayLike, Positive, checked
from corollary.linear.squares._factorisation import numerical_rank


@checked
def ols_covariance(X: ArrayLike, noise_variance: Positive = 1.0) -> np.ndarray:
    r"""Compute the sampling covariance of the least-squares coefficients (without intercept).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs; append a column of ones for an intercept.
    noise_variance : float, default=1.0
        Variance :math:`\sigma^2` of the noise.

    Returns
    -------
    covariance : ndarray of shape (n_features, n_features)
        :math:`\sigma^2\sum_{i\le r}v_iv_i^\top/D_i^2`, which is :math:`\sigma^2(X^\top X)^{-1}` at
        full column rank.

    Examples
    --------
    >>> from corollary.linear import ols_covariance
    >>> ols_covariance([[1.0], [2.0]], 10.0)
    array([[2.]])
    """
    X = np.asarray(X, dtype=float)
    _, s, Vt = scipy.linalg.svd(X, full_matrices=False)
    rank = numerical_rank(s, max(X.shape))
    V = Vt[:rank].T / s[:rank]
    return noise_variance * (V @ V.T)


@checked
def residual_variance(X: ArrayLike, y: ArrayLike) -> float:
    r"""Estimate the noise variance without bias from least-squares residuals.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs; append a column of ones for an intercept.
    y : array-like of shape (n_samples,)
        Targets.

    Returns
    -------
    variance : float
        Residual sum of squares over n minus the rank of X.

    Raises
    ------
    ValueError
        If the rank leaves no degree of freedom.

    Notes
    -----
    Guarantee. Its mean is :math:`\sigma^2`, and with Gaussian noise
    :math:`(n-d)\hat\sigma^2/\sigma^2` is chi-squared with n - d degrees of freedom, checked by
    ``tests/linear/test_sampling_law.py::test_noise_variance_is_scaled_chi_squared``.

    Examples
    --------
    >>> from corollary.linear import residual_variance
    >>> round(residual_variance([[1.0], [1.0], [1.0]], [1.0, 2.0, 3.0]), 6)
    1.0
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    U, s, _ = scipy.linalg.svd(X, full_matrices=False)
    rank = numerical_rank(s, max(X.shape))
    if len(X) <= rank:
        raise ValueError(
            "residual_variance needs more rows than the rank of X. Got "
            f"{len(X)} rows and rank {rank}: residuals are zero whatever the noise."
        )
    residual = y - U[:, :rank] @ (U[:, :rank].T @ y)
    return float(residual @ residual) / (len(X) - rank)


@checked
def gauss_markov_excess(X: ArrayLike, estimator: ArrayLike) -> np.ndarray:
    r"""Compute how much covariance a linear unbiased estimator has beyond least squares.

    Gauss and Markov's theorem: any matrix C with :math:`CX=I` gives an unbiased estimate
    :math:`Cy`, of covariance :math:`\sigma^2CC^\top\succeq\sigma^2(X^\top X)^{-1}`. Writing
    :math:`C=(X^\top X)^{-1}X^\top+D`, the excess is :math:`\sigma^2DD^\top`.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs of full column rank.
    estimator : array-like of shape (n_features, n_samples)
        The matrix C.

    Returns
    -------
    excess : ndarray of shape (n_features, n_features)
        :math:`CC^\top-(X^\top X)^{-1}`, positive semi-definite; times the noise variance it is
        the excess covariance.

    Raises
    ------
    ValueError
        If C is not unbiased.

    Notes
    -----
    The theorem compares *linear* estimates. That no unbiased estimate at all is better holds under
    Gaussian noise.

    Examples
    --------
    >>> from corollary.linear import gauss_markov_excess
    >>> gauss_markov_excess([[1.0], [1.0]], [[1.0, 0.0]])
    array([[0.5]])
    """
    X, C = np.asarray(X, dtype=float), np.asarray(estimator, dtype=float)
    n, d = X.shape
    if C.shape != (d, n):
        raise ValueError(
            f"The 'estimator' of gauss_markov_excess must have shape {(d, n)}. "
            f"Got {C.shape} instead."
        )
    bias = float(np.abs(C @ X - np.eye(d)).max())
    if bias > 1e-8 * max(1.0, float(np.abs(C).max() * np.abs(X).max()) * n):
        raise ValueError(
            "The 'estimator' of gauss_markov_excess must be unbiased: estimator @ X must be the "
            f"identity. Got a deviation of {bias:.3g}."
        )
    D = C - scipy.linalg.pinv(X)
    return D @ D.T


@checked
def gaussian_log_likelihood(
    X: ArrayLike, y: ArrayLike, coef: ArrayLike, noise_variance: Positive
) -> float:
    r"""Evaluate the log likelihood of :math:`y_i\sim\mathcal N(x_i^\top\beta,\sigma^2)`.

    It is :math:`-\frac n2\log(2\pi\sigma^2)-\frac{1}{2\sigma^2}\sum_i(y_i-x_i^\top\beta)^2`: for
    every :math:`\sigma^2` the maximum in :math:`\beta` is the least-squares solution.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Targets.
    coef : array-like of shape (n_features,)
        Coefficients :math:`\beta`.
    noise_variance : float
        Variance :math:`\sigma^2`.

    Returns
    -------
    value : float
        Log likelihood.

    Examples
    --------
    >>> from corollary.linear import gaussian_log_likelihood
    >>> round(gaussian_log_likelihood([[1.0]], [1.0], [1.0], 1.0), 6)
    -0.918939
    """
    X, y, coef = (np.asarray(a, dtype=float) for a in (X, y, coef))
    residual = y - X @ coef
    squares = float(residual @ residual)
    constant = len(y) * float(np.log(2 * np.pi * noise_variance))
    return -0.5 * (constant + squares / noise_variance)
