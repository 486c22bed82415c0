r"""Linear machines of few features: squared slack and an l1 penalty.

.. math:: f(w) = \|w\|_1 + \sum_i C_i \max(0, 1 - y_i \langle w, x_i \rangle)^2
"""

from typing import Any

import numpy as np
from scipy import sparse

from corollary.core.parallel import one_blas_thread
from corollary.svm.linear.linear_dual import LinearDual

#: Added to the Hessian, in units of its largest entry: rows that pay need not span the features.
_JITTER = 1e-12


def sparse_svm(
    X: Any, y: Any, *, C: Any = 1.0, tol: float = 1e-4, max_iter: int = 1000
) -> LinearDual:
    r"""Fit a hyperplane through the origin whose weights are zero for most features.

    Slack :math:`\xi_i` is squared, and the weights cost the sum of their sizes. The dual problem
    is to maximise :math:`\sum_i \alpha_i - \alpha_i^2 / (4 C_i)` over :math:`\alpha \ge 0` with
    :math:`|\sum_i \alpha_i y_i x_{ij}| \le 1` for all features j; the gap is that of
    :math:`\alpha_i = 2 C_i \xi_i`, shrunk until it is feasible.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Labels -1 and 1.
    C : float or array-like of shape (n_samples,), default=1.0
        Price of slack, one or one for each row.
    tol : float, default=1e-4
        Largest violation of the optimality conditions, in which the penalty is 1.
    max_iter : int, default=1000
        Largest number of steps.

    Returns
    -------
    result : LinearDual
        Weights, dual weights, dual value, gap and what was reached.

    See Also
    --------
    linear_svm : Squared weights as a penalty.
    corollary.optimize.proximal_newton : The solver.

    References
    ----------
    .. [1] J. Zhu, S. Rosset, T. Hastie, R. Tibshirani (2003). 1-norm support vector machines.
       NeurIPS.

    Examples
    --------
    The second feature points the same way, and a weight on it brings half as much:

    >>> import numpy as np
    >>> from corollary.svm import sparse_svm
    >>> X = np.array([[2.0, 1.0], [-2.0, -1.0]])
    >>> result = sparse_svm(X, [1, -1], C=1.0, tol=1e-10)
    >>> result.coef.round(6), round(result.gap, 6)  # w minimises w + 2 (1 - 2 w)^2
    (array([0.4375, 0.    ]), 0.0)
    """
    from corollary.optimize import proximal_newton

    X = X.tocsr() if sparse.issparse(X) else np.ascontiguousarray(X, dtype=np.float64)
    y = np.asarray(y, dtype=np.float64)
    price = np.broadcast_to(np.asarray(C, dtype=np.float64), (len(y),))
    d = X.shape[1]

    def terms(w: np.ndarray, features: np.ndarray | None) -> tuple[float, np.ndarray, Any]:
        slack = np.maximum(0.0, 1.0 - y * (X @ w))
        value, gradient = float(price @ (slack * slack)), -2.0 * (X.T @ (price * slack * y))
        if features is None:
            return value, gradient, None
        rows = np.flatnonzero((slack > 0.0) & (price > 0.0))
        part = X[rows][:, features]
        root = np.sqrt(2.0 * price[rows])
        part = sparse.diags_array(root) @ part if sparse.issparse(part) else part * root[:, None]
        hessian = part.T @ part
        hessian = hessian.toarray() if sparse.issparse(hessian) else hessian
        jitter = _JITTER * float(np.diag(hessian).max(initial=0.0))
        return value, gradient, hessian + jitter * np.eye(len(features))

    with one_blas_thread():
        result = proximal_newton(
            terms, np.zeros(d), np.ones(d), groups=np.arange(d), tol=tol, max_iter=max_iter
        )
        slack = np.maximum(0.0, 1.0 - y * (X @ result.x))
        alpha = 2.0 * price * slack
        alpha /= max(1.0, float(np.abs(X.T @ (alpha * y)).max(initial=0.0)))
    paid = price > 0.0
    dual = float(alpha.sum() - (alpha[paid] ** 2 / (4.0 * price[paid])).sum())
    primal = float(np.abs(result.x).sum()) + result.value
    return LinearDual(
        result.x,
        alpha,
        dual,
        primal - dual,
        result.gradient_norm,
        max(result.n_iter, 1),
        result.converged,
    )
