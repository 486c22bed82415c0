"""Sweeps of coordinate descent over boxes, where the duals of piecewise linear losses live."""

from typing import Any

import numpy as np


def box_sweep(
    K: np.ndarray,
    b: np.ndarray,
    epsilon: float,
    low: np.ndarray,
    high: np.ndarray,
    a: np.ndarray,
    u: np.ndarray,
) -> float:
    r"""Move every coordinate of a quadratic problem in a box once to its minimum.

    .. math:: \min_{l\le a\le h}\;\tfrac12a^\top Ka-b^\top a+\epsilon\|a\|_1

    It returns the largest change of an entry, which is 0 at a minimiser.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric, positive semi-definite, contiguous double precision without NaN.
    b : ndarray of shape (n,)
        Linear part.
    epsilon : float
        Strength of the sum of moduli.
    low, high : ndarray of shape (n,)
        The box that a stays in.
    a, u : ndarray of shape (n,)
        The point and the product Ka, which are changed in place.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import box_sweep
    >>> a, u = np.zeros(2), np.zeros(2)
    >>> box_sweep(np.eye(2), np.array([3.0, 0.5]), 0.1, np.zeros(2), np.ones(2), a, u), a
    (1.0, array([1. , 0.4]))
    """
    from corollary.optimize._loops.box_descent import sweep

    return float(sweep(K, b, epsilon, low, high, a, u))


def dual_sweep(
    X: Any,
    y: np.ndarray,
    margin: np.ndarray,
    order: np.ndarray,
    diagonal: np.ndarray,
    addition: np.ndarray,
    upper: np.ndarray,
    alpha: np.ndarray,
    w: np.ndarray,
) -> tuple[float, float]:
    r"""Move dual weights of rows once to their minima, with the sum of the rows kept up to date.

    The function is :math:`\tfrac12\|w\|^2+\tfrac12\sum_id_i\alpha_i^2-\sum_im_i\alpha_i` with
    :math:`w=\sum_i\alpha_iy_ix_i` and :math:`0\le\alpha_i\le u_i`: the dual of linear machines. A
    coordinate costs one row, not a product of all rows with it. The largest and the least projected
    gradient that were met are returned.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Rows :math:`x_i`, contiguous double precision.
    y, margin : ndarray of shape (n_samples,)
        Labels -1.0 and 1.0, and the numbers :math:`m_i`.
    order : ndarray of int
        Rows in the order in which they are visited.
    diagonal, addition, upper : ndarray of shape (n_samples,)
        The curvatures :math:`\|x_i\|^2+d_i`, the numbers :math:`d_i`, and the upper bounds
        :math:`u_i`, perhaps infinite.
    alpha, w : ndarray of shape (n_samples,) and (n_features,)
        Dual weights and their sum of rows, changed in place.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import dual_sweep
    >>> alpha, w, one = np.zeros(1), np.zeros(1), np.ones(1)
    >>> X = np.array([[2.0]])
    >>> dual_sweep(X, one, one, np.arange(1), 4 * one, 0 * one, one, alpha, w), alpha, w
    ((-1.0, -1.0), array([0.25]), array([0.5]))
    """
    from corollary.optimize._loops.dual_descent import pass_dense, pass_sparse

    state = (diagonal, addition, upper, alpha, w)
    if isinstance(X, np.ndarray):
        return pass_dense(X, y, margin, order, *state)
    return pass_sparse(X.data, X.indices, X.indptr, y, margin, order, *state)
