r"""Data smoothed by Gaussian noise: its density and the score of it.

Adding :math:`N(0,\sigma^2I)` to draws of p gives :math:`p_\sigma(x)=E\,\phi_\sigma(x-X)`, which is
smooth and positive everywhere whatever p is. For the empirical law it is a Gaussian kernel density
of bandwidth :math:`\sigma`, and its score points from x to a mean of the rows:

.. math:: \nabla\log p_\sigma(x)=\frac{1}{\sigma^2}\Bigl(\sum_iw_i(x)\,x_i-x\Bigr),\qquad
          w(x)=\mathrm{softmax}\bigl(-\|x-x_i\|^2/2\sigma^2\bigr).
"""

from typing import Any

import numpy as np
from scipy.special import softmax

from corollary.core.estimator import Positive, checked
from corollary.density.kernel.kernel_sum import KernelSum
from corollary.density.kernel.profiles import log_kernel_integral


@checked
def smoothed_log_density(x: Any, X: Any, sigma: Positive) -> np.ndarray:
    """Return the log density of rows with Gaussian noise, which is finite everywhere.

    :class:`KernelDensity` has weights, other kernels and bandwidths besides.

    Parameters
    ----------
    x, X : array-like of shape (n_queries, n_features) and (n_samples, n_features)
        Where, and rows, each as likely as the others.
    sigma : float
        Standard deviation of the noise.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.density import smoothed_log_density
    >>> np.exp(smoothed_log_density([[0.0]], [[-1.0], [1.0]], 1.0)).round(6)
    array([0.241971])
    """
    x, X = _pair("smoothed_log_density", x, X)
    centre = X.mean(axis=0)
    kernels = KernelSum((X - centre) / sigma, np.full(len(X), 1 / len(X)))
    d = X.shape[1]
    log_norm = log_kernel_integral("gaussian", d) + d * np.log(sigma)
    return kernels.log_values((x - centre) / sigma) - log_norm


@checked
def smoothed_score(x: Any, X: Any, sigma: Positive) -> np.ndarray:
    """Return the gradient (softmax mean of the rows - x) / sigma^2 of the smoothed log density.

    Parameters
    ----------
    x, X : array-like of shape (n_queries, n_features) and (n_samples, n_features)
        Where, and rows, each as likely as the others.
    sigma : float
        Standard deviation of the noise.

    Examples
    --------
    >>> from corollary.density import smoothed_score
    >>> smoothed_score([[0.0], [3.0]], [[1.0]], 2.0)  # towards the one row
    array([[ 0.25],
           [-0.5 ]])
    """
    x, X = _pair("smoothed_score", x, X)

    def towards_rows(query: np.ndarray) -> np.ndarray:
        away = X - query
        return softmax(-(away**2).sum(axis=1) / (2 * sigma**2)) @ away / sigma**2

    return np.array([towards_rows(query) for query in x]).reshape(x.shape)


def _pair(who: str, x: Any, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return queries and rows as arrays of one width."""
    x, X = np.asarray(x, dtype=float), np.asarray(X, dtype=float)
    if x.ndim != 2 or X.ndim != 2 or x.shape[1] != X.shape[1] or not len(X):
        raise ValueError(
            f"{who} needs queries and rows of one width, and at least one row. Got shapes "
            f"{x.shape} and {X.shape}."
        )
    return x, X
