r"""Support vector classification, one class against another, and what its pairs have in common.

For labels :math:`y_i = \pm 1` the soft-margin machine minimises

.. math:: \tfrac12 \|w\|^2 + \sum_i C_i \max(0, 1 - y_i (\langle w, \phi(x_i) \rangle + b)),

which is :math:`C` times hinge-loss regularisation with :math:`\lambda = 1 / (2 C)`. Its dual in
:math:`\beta_i = y_i \alpha_i` has :math:`0 \le \alpha_i \le C_i` and
:math:`\sum_i \beta_i = 0`. With squared slack, :math:`C_i \xi_i^2`, the dual has no upper bound
and :math:`1 / (2 C_i)` on the diagonal of the Gram matrix. The hard margin,
:math:`C = \infty`, is found as the shortest vector between the two convex hulls, a bounded
problem even when nothing separates the classes.
"""

from typing import Any

import numpy as np

from corollary.kernels import PrecomputedTiles
from corollary.svm.dual._pairs import PairSolution, hard_pair, soft_pair


def svm_pair(
    K: Any,
    y: Any,
    *,
    C: Any = 1.0,
    loss: str = "hinge",
    start: Any = None,
    tol: float = 1e-3,
    max_iter: int = -1,
    cache_size: float = 500.0,
) -> PairSolution:
    r"""Solve the dual of the machine for two classes.

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples)
        Gram matrix.
    y : array-like of shape (n_samples,)
        Labels -1 and 1, both present.
    C : float or array-like of shape (n_samples,), default=1.0
        Price of slack, one or one for each row; infinity for the hard margin.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Whether slack is paid linearly or squared.
    start : array-like of shape (n_samples,) or None, default=None
        Signed weights to start from, for instance those of another C; they are moved to the
        nearest scale that is allowed.
    tol : float, default=1e-3
        Largest violation of the optimality conditions.
    max_iter : int, default=-1
        Largest number of pair steps; -1 for ten million, or a hundred for each row if that is more.
    cache_size : float, default=500.0
        Megabytes for the solver.

    Returns
    -------
    solution : PairSolution
        Weights, intercept, dual value and gap.

    Raises
    ------
    ValueError
        If C is infinite and no hyperplane separates the classes.

    Notes
    -----
    At the optimum the gap is zero, :math:`\alpha_i = 0` where the margin
    :math:`y_i f(x_i)` exceeds one, :math:`\alpha_i = C_i` where it is below, and for the hard
    margin :math:`\sum_i \alpha_i = \|w\|^2 = 1 / \gamma^2` with :math:`\gamma` the distance of the
    closest point.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.svm import svm_pair
    >>> x, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([-1, -1, 1, 1])
    >>> hard = svm_pair(x @ x.T, y, C=np.inf)
    >>> hard.beta.round(6), round(hard.intercept, 6)
    (array([ 0. , -0.5,  0.5,  0. ]), -2.0)
    """
    K = np.ascontiguousarray(K, dtype=np.float64)
    y = np.asarray(y, dtype=np.float64)
    if K.ndim != 2 or K.shape != (len(y), len(y)) or set(np.unique(y)) != {-1.0, 1.0}:
        raise ValueError(
            "svm_pair needs a square Gram matrix and a label -1 or 1 for each row, both present. "
            f"Got shape {K.shape} and labels {np.unique(y)[:5].tolist()}."
        )
    if loss not in ("hinge", "squared_hinge"):
        raise ValueError(
            "The 'loss' parameter of svm_pair must be 'hinge' or 'squared_hinge'. "
            f"Got {loss!r} instead."
        )
    price = np.broadcast_to(np.asarray(C, dtype=np.float64), y.shape)
    if not (price > 0).all():
        raise ValueError(f"The 'C' parameter of svm_pair must be positive. Got {C!r} instead.")
    first = None if start is None else np.asarray(start, dtype=np.float64)
    options = {"tol": tol, "max_iter": max_iter, "cache_size": cache_size}
    gram = PrecomputedTiles(K)
    if np.isinf(price).any():
        return hard_pair(gram, y, **options)
    return soft_pair(gram, y, price, loss=loss, start=first, **options)
