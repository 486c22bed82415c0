"""Effective degrees of freedom: how many parameters a penalised fit really uses."""

from typing import Any

import numpy as np
import scipy.linalg
from sklearn.utils import check_array

from corollary.core.estimator import ArrayLike, NonNegative, checked
from corollary.linear.ridge.shrinkage import shrinkage_factors
from corollary.linear.squares._factorisation import numerical_rank


@checked
def ridge_dof(X: ArrayLike, alpha: ArrayLike | NonNegative, *, fit_intercept: bool = False) -> Any:
    r"""Compute the effective degrees of freedom of ridge regression.

    They are the trace of the matrix that maps targets to fitted values,
    :math:`\mathrm{df}(\alpha)=\sum_iD_i^2/(D_i^2+\alpha)`: the rank of X at
    :math:`\alpha=0`, falling to zero as :math:`\alpha` grows.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs.
    alpha : float or array-like of floats
        Penalty, or several.
    fit_intercept : bool, default=False
        Whether the model has an (unpenalised) intercept; it counts as one.

    Returns
    -------
    dof : float or ndarray
        One value per penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import ridge_dof
    >>> ridge_dof(np.eye(3), 1.0)
    1.5
    """
    X = check_array(X, dtype=np.float64)
    if fit_intercept:
        X = X - X.mean(axis=0)
    s = scipy.linalg.svdvals(X)
    s[numerical_rank(s, max(X.shape)) :] = 0.0
    alphas = np.asarray(alpha, dtype=float)
    if np.any(alphas < 0):
        raise ValueError(
            "The 'alpha' parameter of ridge_dof must be non-negative. Got "
            f"{float(alphas.min())} instead."
        )
    values = [shrinkage_factors(s, float(a)).sum() + fit_intercept for a in alphas.ravel()]
    return float(values[0]) if alphas.ndim == 0 else np.reshape(values, alphas.shape)


@checked
def lasso_dof(coef: ArrayLike) -> int:
    """Estimate the degrees of freedom of a lasso fit by its number of non-zero coefficients.

    Parameters
    ----------
    coef : array-like of shape (n_features,)
        Coefficients of a lasso fit.

    Returns
    -------
    dof : int
        Number of non-zeros, an unbiased estimate of the degrees of freedom when columns are in
        general position and noise is Gaussian.

    References
    ----------
    H. Zou, T. Hastie and R. Tibshirani (2007). On the "degrees of freedom" of the lasso. Annals of
    Statistics 35(5), 2173-2192.

    Examples
    --------
    >>> from corollary.linear import lasso_dof
    >>> lasso_dof([0.0, 1.5, 0.0, -2.0])
    2
    """
    return int(np.count_nonzero(np.asarray(coef)))
