"""Gradients in symmetric matrices, and of the weighted Gaussian log-likelihood that they give."""

from typing import Any, NamedTuple

import numpy as np


class GaussianGradient(NamedTuple):
    """Gradient of a weighted Gaussian log-likelihood in mean and covariance."""

    mean: np.ndarray
    covariance: np.ndarray


def trace_inverse_gradient(A: Any, M: Any) -> np.ndarray:
    r"""Return :math:`\nabla_A\,\mathrm{tr}(A^{-1}M)=-A^{-1}MA^{-1}` for symmetric A and M.

    The derivative in a direction H is the sum of its entries times those of H.

    Parameters
    ----------
    A : array-like of shape (d, d)
        Symmetric and invertible.
    M : array-like of shape (d, d)
        Symmetric.

    Examples
    --------
    >>> from corollary.mixture import trace_inverse_gradient
    >>> trace_inverse_gradient([[2.0]], [[3.0]])
    array([[-0.75]])
    """
    A, M = _symmetric(A), _symmetric(M)
    inverse = np.linalg.inv(A)
    return -inverse @ M @ inverse


def log_det_gradient(A: Any) -> np.ndarray:
    r"""Return :math:`\nabla_A\log\det A=A^{-1}` for symmetric positive definite A.

    The derivative in a direction H is the sum of its entries times those of H.

    Parameters
    ----------
    A : array-like of shape (d, d)
        Symmetric and positive definite.

    Examples
    --------
    >>> from corollary.mixture import log_det_gradient
    >>> log_det_gradient([[2.0, 0.0], [0.0, 4.0]])
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    return np.linalg.inv(_symmetric(A))


def gaussian_gradient(X: Any, r: Any, mean: Any, covariance: Any) -> GaussianGradient:
    r"""Return the gradient of :math:`\sum_ir_i\log\mathcal N(x_i;\mu,\Sigma)`.

    With :math:`S=\sum_ir_i(x_i-\mu)(x_i-\mu)^\top` it is :math:`\Sigma^{-1}\sum_ir_i(x_i-\mu)` and
    :math:`-\tfrac12(\sum_ir_i\,\nabla\log\det\Sigma+\nabla\mathrm{tr}(\Sigma^{-1}S))`; both vanish
    at the weighted mean and covariance only. They are returned as ``mean`` and ``covariance``.

    Parameters
    ----------
    X, r : array-like of shape (n_samples, n_features) and (n_samples,)
        Rows and their weights.
    mean, covariance : array-like of shape (n_features,) and (n_features, n_features)
        Parameters of the law.

    Examples
    --------
    >>> from corollary.mixture import gaussian_gradient
    >>> gaussian_gradient([[0.0], [2.0]], [1.0, 1.0], [0.0], [[1.0]])
    GaussianGradient(mean=array([2.]), covariance=array([[1.]]))
    """
    r = np.asarray(r, dtype=float)
    centred = np.asarray(X, dtype=float) - np.asarray(mean, dtype=float)
    scatter = (r[:, None] * centred).T @ centred
    in_mean = np.linalg.solve(_symmetric(covariance), r @ centred)
    in_covariance = r.sum() * log_det_gradient(covariance)
    in_covariance += trace_inverse_gradient(covariance, scatter)
    return GaussianGradient(in_mean, -0.5 * in_covariance)


def _symmetric(A: Any) -> np.ndarray:
    """Return a symmetric matrix, or refuse it."""
    A = np.asarray(A, dtype=float)
    if A.ndim != 2 or A.shape[0] != A.shape[1] or not np.allclose(A, A.T):
        raise ValueError(f"The matrix must be square and symmetric. Got shape {A.shape}.")
    return A
