"""Ridge regression over a grid of penalties, for the price of one decomposition."""

import numpy as np
from sklearn.utils import check_X_y

from corollary.core.compat import check_sample_weight
from corollary.core.estimator import ArrayLike, RowsLike, checked
from corollary.linear.ridge._records import RidgePath
from corollary.linear.ridge._spectrum import check_alphas, spectrum


@checked
def ridge_path(
    X: RowsLike,
    y: ArrayLike,
    alphas: ArrayLike,
    *,
    fit_intercept: bool = True,
    sample_weight: ArrayLike | None = None,
) -> RidgePath:
    """Compute ridge coefficients for every penalty of a grid.

    Ridge coefficients shrink towards zero without reaching it; with correlated columns a
    coefficient may cross zero at single penalties.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Targets.
    alphas : array-like of shape (n_alphas,)
        Positive penalties on the sum of squares.
    fit_intercept : bool, default=True
        Whether the model has an intercept.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights.

    Returns
    -------
    path : named tuple
        ``alphas`` as given; ``coefs`` of shape (n_features, n_alphas) or (n_targets, n_features,
        n_alphas); ``intercepts`` of shape (n_alphas,) or (n_targets, n_alphas), zero if none was
        asked for; ``dof``, the effective degrees of freedom, the intercept included.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import ridge_path
    >>> X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([1.0, 3.0, 5.0])
    >>> path = ridge_path(X, y, [2.0, 6.0])
    >>> path.coefs.round(6), path.dof.round(6)
    (array([[1. , 0.5]]), array([1.5 , 1.25]))
    """
    alphas = check_alphas("ridge_path", alphas)
    X, y = check_X_y(X, y, accept_sparse="csr", dtype=np.float64, multi_output=True, y_numeric=True)
    if sample_weight is not None:
        sample_weight = check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
    design = spectrum(X, y, sample_weight, fit_intercept=fit_intercept)
    s = design.singular_values
    coefs = np.stack([design.coefficients(a) for a in alphas], axis=-1)
    intercepts = design.y_mean[:, np.newaxis] - np.einsum("j,jka->ka", design.x_mean, coefs)
    dof = np.array([np.sum(s**2 / (s**2 + a)) for a in alphas]) + fit_intercept
    if y.ndim == 1:
        return RidgePath(alphas, coefs[:, 0], intercepts[0], dof)
    return RidgePath(alphas, coefs.transpose(1, 0, 2), intercepts, dof)
