r"""Gaussians whose variance is the same in all directions but a few.

With orthonormal directions :math:`U_k`, variances :math:`v_i` along them and :math:`\sigma^2`
across, the covariance is :math:`U_k\,\mathrm{diag}(v)\,U_k^\top+\sigma^2(I-U_kU_k^\top)`. Its
inverse and determinant are read off, so that densities need no matrix of features by features.
"""

from typing import Any

import numpy as np

from corollary.core.parallel import row_products
from corollary.core.summary import block_rows


def subspace_log_density(
    X: Any, mean: Any, components: Any, variances: Any, noise: float
) -> np.ndarray:
    r"""Return the logarithm of the density at rows.

    It is :math:`-\frac12\big[d\log2\pi+\sum_i\log v_i+(d-k)\log\sigma^2+\sum_i t_i^2/v_i+
    (\|x-\mu\|^2-\|t\|^2)/\sigma^2\big]` with :math:`t=U_k^\top(x-\mu)`.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows.
    mean : array-like of shape (n_features,)
        Mean of the Gaussian.
    components : array-like of shape (k, n_features)
        Orthonormal directions as rows.
    variances : array-like of shape (k,)
        Variances along them, positive.
    noise : float
        Variance across them, positive unless there are as many components as features.

    Examples
    --------
    >>> from corollary.decomposition import subspace_log_density
    >>> subspace_log_density([[0.0, 0.0]], [0.0, 0.0], [[1.0, 0.0]], [4.0], 1.0).round(4)
    array([-2.531])
    """
    X = np.asarray(X, dtype=np.float64)
    U, v = np.asarray(components, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    k, d = U.shape
    if not (v > 0).all() or not (noise > 0 or k == d):
        raise ValueError(
            "subspace_log_density needs positive variances. Got "
            f"{v.min(initial=np.inf):.3g} along the components and {noise:.3g} across them."
        )
    constant = d * np.log(2 * np.pi) + np.log(v).sum()
    if k < d:
        constant += (d - k) * np.log(noise)
    density, step = np.empty(len(X)), block_rows((X,))
    for i in range(0, len(X), step):
        Z = X[i : i + step] - mean
        T = row_products(Z, U.T)
        squares = np.sum(T**2 / v, axis=1)
        if k < d:
            # The part across the components by itself: a difference of squares would cancel.
            across = Z - row_products(T, U)
            squares = squares + np.sum(across**2, axis=1) / noise
        density[i : i + step] = -(constant + squares) / 2
    return density
