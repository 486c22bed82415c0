"""The duality gap of lasso and elastic net, from the products that solvers have anyway."""

import numpy as np


def elastic_net_gap(
    rr: float,
    ry: float,
    correlation: np.ndarray,
    w: np.ndarray,
    l1: float,
    l2: float = 0.0,
    positive: bool = False,
) -> float:
    r"""Bound how far the objective of lasso or elastic net is from its minimum.

    It is :math:`\tfrac12\|y-Xw\|^2+\lambda\|w\|_1+\tfrac\mu2\|w\|^2`.

    Parameters
    ----------
    rr, ry : float
        The products :math:`r^\top r` and :math:`r^\top y` with the residual :math:`r=y-Xw`.
    correlation : ndarray of shape (n_features,)
        The products :math:`X^\top r`.
    w : ndarray of shape (n_features,)
        Coefficients.
    l1 : float
        Strength :math:`\lambda`.
    l2 : float, default=0.0
        Strength :math:`\mu`.
    positive : bool, default=False
        Whether the minimum is over non-negative coefficients only.

    Returns
    -------
    gap : float
        Not negative; 0 at a minimiser.

    Notes
    -----
    Two dual points are tried: r scaled into the feasible set of the problem in which the squared
    penalty is written as more rows of data, and, if :math:`\mu>0`, r itself in the dual in which
    that penalty stays a penalty and which has no constraints.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import elastic_net_gap
    >>> elastic_net_gap(4.0, 4.0, np.array([2.0]), np.zeros(1), 1.0)  # X = 1, y = 2: best at w = 1
    0.5
    """
    ww = float(w @ w)
    primal = 0.5 * rr + l1 * float(np.abs(w).sum()) + 0.5 * l2 * ww
    slope = correlation - l2 * w if l2 else correlation
    if len(slope) == 0:
        largest = 0.0
    else:
        largest = float(slope.max() if positive else max(slope.max(), -slope.min()))
    dual = 0.0
    square = rr + l2 * ww
    if square > 0.0:
        limit = l1 / max(largest, l1) if l1 > 0.0 else 0.0
        scale = min(max(ry / square, 0.0), limit)
        dual = scale * ry - 0.5 * scale**2 * square
    if l2 > 0.0:
        excess = (correlation if positive else np.abs(correlation)) - l1
        excess = excess[excess > 0.0]
        dual = max(dual, ry - 0.5 * rr - float(excess @ excess) / (2.0 * l2))
    return max(primal - dual, 0.0)
