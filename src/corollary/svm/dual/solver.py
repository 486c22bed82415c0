r"""Sequential minimal optimisation for the quadratic programs of support vector machines.

Classification, regression, novelty detection and the maximal margin are one problem,

.. math:: \min_\beta \tfrac12 \beta^\top K \beta - \ell^\top \beta + \varepsilon \|\beta\|_1
          \quad\text{s.t.}\quad l_i \le \beta_i \le u_i, \; \sum_{i \in g} \beta_i
          \text{ given for every group } g,

with signed dual weights :math:`\beta_i = y_i \alpha_i`. A *block* of variables, the most violating
and the free ones, is optimised by pair steps in compiled code on its own small Gram matrix; then
the gradient of all variables is corrected with the rows of those that changed, computed by matrix
products in tiles on all cores and kept in a cache of bounded size. Variables that rest at a bound
are thus shrunk away without further rules.

The solver stops by two numbers: the largest violation of the optimality conditions, and the duality
gap, which bounds how far the objective is from its minimum (see :func:`duality_gap`).
"""

from typing import Any

import numpy as np

from corollary.kernels import PrecomputedTiles
from corollary.svm.dual._descent import minimise
from corollary.svm.dual.optimality import SMOResult


def smo(
    K: Any,
    linear: Any,
    lower: Any,
    upper: Any,
    *,
    epsilon: float = 0.0,
    groups: Any = None,
    start: Any = None,
    tol: float = 1e-3,
    max_iter: int = -1,
    cache_size: float = 500.0,
) -> SMOResult:
    r"""Minimise a support vector machine's dual by sequential minimal optimisation.

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples)
        Symmetric Gram matrix.
    linear : array-like of shape (n_samples,)
        Linear term :math:`\ell`; the labels -1 and 1 in classification, the targets in
        regression.
    lower : array-like of shape (n_samples,)
        Lower bounds; minus infinity is allowed.
    upper : array-like of shape (n_samples,)
        Upper bounds; infinity is allowed.
    epsilon : float, default=0.0
        Weight of the absolute values, the half width of the tube in regression.
    groups : array-like of int of shape (n_samples,) or None, default=None
        Which sum a variable belongs to, numbered from 0; None for one sum over all.
    start : array-like of shape (n_samples,) or None, default=None
        Weights to start from, within the bounds; their sums are the sums kept. None for zeros.
    tol : float, default=1e-3
        Largest violation of the optimality conditions; a tenth of it is the largest duality gap
        relative to the objective, where the gap is finite.
    max_iter : int, default=-1
        Largest number of pair steps; -1 for ten million, or a hundred for each row if that is more.
    cache_size : float, default=500.0
        Megabytes for a block and for rows of the Gram matrix.

    Returns
    -------
    result : SMOResult
        Weights, scores, intercepts, objective and what was reached.

    Notes
    -----
    If K is not positive semi-definite, pairs with negative curvature take the step of a tiny
    positive one, to a bound: the objective still falls with every step, and the result is a
    stationary point.

    The result does not depend on the number of threads, bit for bit.

    References
    ----------
    .. [1] R.-E. Fan, P.-H. Chen, C.-J. Lin (2005). Working set selection using second order
       information for training support vector machines. JMLR 6, 1889-1918.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.svm import smo
    >>> x, y = np.array([0.0, 1.0, 3.0, 4.0]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> result = smo(np.outer(x, x), y, np.where(y < 0, -9, 0), np.where(y > 0, 9, 0))
    >>> result.beta, result.intercepts
    (array([ 0. , -0.5,  0.5,  0. ]), array([-2.]))
    """
    K = np.ascontiguousarray(K, dtype=np.float64)
    n = len(K)
    if K.shape != (n, n) or n == 0:
        raise ValueError(
            f"The 'K' parameter of smo must be a square matrix with rows. Got shape {K.shape}."
        )
    numbers = {"linear": linear, "lower": lower, "upper": upper}
    arrays = {name: np.asarray(v, dtype=np.float64) for name, v in numbers.items()}
    beta = np.zeros(n) if start is None else np.array(start, dtype=np.float64)
    for name, value in (*arrays.items(), ("start", beta)):
        if value.shape != (n,) or np.isnan(value).any():
            raise ValueError(
                f"The {name!r} parameter of smo must be an array of {n} numbers. Got shape "
                f"{value.shape}{' with NaN' if np.isnan(value).any() else ''}."
            )
    if (beta < arrays["lower"]).any() or (beta > arrays["upper"]).any():
        raise ValueError(
            "The 'start' parameter of smo must lie within the bounds: lower <= start <= upper. "
            "Got weights outside; without start, zero must lie within the bounds."
        )
    return minimise(
        PrecomputedTiles(K),
        arrays["linear"],
        arrays["lower"],
        arrays["upper"],
        epsilon=epsilon,
        groups=None if groups is None else np.asarray(groups, dtype=np.int64),
        start=beta,
        tol=tol,
        max_iter=max_iter,
        cache_size=cache_size,
    )
