r"""Linear machines without a free intercept, by dual coordinate descent.

Minimises :math:`\frac12 \|w\|^2 + \sum_i C_i \ell(y_i \langle w, x_i \rangle)` with the hinge
:math:`\ell(z) = \max(0, 1 - z)` or its square. Without an intercept the dual has no equality
constraint, and one weight at a time can be optimised exactly; a step costs one row. Equivalent
forms of the same problem:

* rescaled, :math:`\frac1n \sum_i \ell + \frac{\lambda}{2} \|w\|^2` with :math:`C = 1/(n \lambda)`;
* norm-constrained, :math:`\min_{\|w\| \le r} \frac1n \sum_i \ell`, with :math:`r = \|w_C\|`.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state


class LinearDual(NamedTuple):
    """A linear machine and its dual weights.

    Parameters
    ----------
    coef : ndarray of shape (n_features,)
        Weights w of the features.
    alpha : ndarray of shape (n_samples,)
        Dual weights.
    objective : float
        Value of the dual problem.
    gap : float
        Value of the primal problem minus that of the dual one.
    violation : float
        Largest violation of the optimality conditions.
    n_iter : int
        Passes made.
    converged : bool
        Whether the violation is at most the tolerance.
    """

    coef: np.ndarray
    alpha: np.ndarray
    objective: float
    gap: float
    violation: float
    n_iter: int
    converged: bool


def linear_svm(
    X: Any,
    y: Any,
    *,
    C: Any = 1.0,
    loss: str = "squared_hinge",
    margin: Any = 1.0,
    start: Any = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    random_state: Any = None,
) -> LinearDual:
    """Fit a hyperplane through the origin by dual coordinate descent.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Labels -1 and 1.
    C : float or array-like of shape (n_samples,), default=1.0
        Price of slack, one or one for each row.
    loss : {"hinge", "squared_hinge"}, default="squared_hinge"
        Whether slack is paid linearly or squared.
    margin : float or array-like of shape (n_samples,), default=1.0
        Rows whose score times label is below it pay for what is missing.
    start : array-like of shape (n_samples,) or None, default=None
        Dual weights to start from; they are clipped to their bounds.
    tol : float, default=1e-4
        Largest violation of the optimality conditions.
    max_iter : int, default=1000
        Largest number of passes over the rows.
    random_state : int, RandomState instance or None, default=None
        Source of the order of rows, which is drawn anew for each pass.

    Returns
    -------
    result : LinearDual
        Weights, objective, gap and what was reached.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.svm import linear_svm
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    >>> linear_svm(X, [1, 1, -1], C=1.0, loss="hinge", random_state=0).coef.round(6)
    array([1., 1.])
    """
    from corollary.optimize import dual_sweep

    sparse_rows = sparse.issparse(X)
    X = (
        sparse.csr_matrix(X, dtype=np.float64)
        if sparse_rows
        else np.ascontiguousarray(X, dtype=np.float64)
    )
    y = np.asarray(y, dtype=np.float64)
    n = X.shape[0]
    if y.shape != (n,) or not np.isin(y, (-1.0, 1.0)).all():
        raise ValueError(
            f"The 'y' parameter of linear_svm must hold {n} labels -1 or 1. Got shape {y.shape} "
            f"with values {np.unique(y)[:5].tolist()}."
        )
    if loss not in ("hinge", "squared_hinge"):
        raise ValueError(
            "The 'loss' parameter of linear_svm must be 'hinge' or 'squared_hinge'. "
            f"Got {loss!r} instead."
        )
    price = np.broadcast_to(np.asarray(C, dtype=np.float64), (n,)).copy()
    if not ((price >= 0) & np.isfinite(price)).all():
        raise ValueError(f"The 'C' parameter of linear_svm must be positive. Got {C!r} instead.")
    squared = loss == "squared_hinge"
    paying = np.flatnonzero(price)  # rows of price zero have weight zero
    upper = np.where(price > 0, np.inf, 0.0) if squared else price
    addition = np.divide(0.5, price, out=np.zeros(n), where=price > 0) if squared else np.zeros(n)
    squares = X.multiply(X).sum(axis=1) if sparse_rows else np.einsum("ij,ij->i", X, X)
    diagonal = np.asarray(squares).ravel() + addition
    alpha = np.zeros(n) if start is None else np.clip(np.asarray(start, float), 0.0, upper)
    w = np.asarray(X.T @ (alpha * y), dtype=np.float64).ravel()
    margin = np.broadcast_to(np.asarray(margin, dtype=np.float64), (n,)).copy()
    rest = (diagonal, addition, upper, alpha, w)
    random = check_random_state(random_state)
    violation, passes = np.inf, 0
    while passes < max_iter:
        order = random.permutation(paying)
        passes += 1
        largest, least = dual_sweep(X, y, margin, order, *rest)
        violation = max(largest, 0.0) - min(least, 0.0)
        if violation <= tol:
            break
    slack = np.maximum(0.0, margin - y * np.asarray(X @ w).ravel())
    primal = 0.5 * float(w @ w) + float(price @ (slack * slack if squared else slack))
    dual = float(alpha @ margin - 0.5 * (w @ w) - 0.5 * (alpha * alpha) @ addition)
    return LinearDual(w, alpha, dual, primal - dual, float(violation), passes, violation <= tol)


def price_of_penalty(penalty: float, n_samples: int) -> float:
    r"""Return the price of slack C of the rescaled form.

    Parameters
    ----------
    penalty : float
        :math:`\lambda` in :math:`\frac1n \sum_i \ell_i + \frac{\lambda}{2} \|w\|^2`.
    n_samples : int
        Number n of rows.

    Returns
    -------
    C : float
        :math:`1 / (n \lambda)`, with which both forms have the same minimisers.

    Examples
    --------
    >>> from corollary.svm import price_of_penalty
    >>> price_of_penalty(0.1, 50)
    0.2
    """
    if not penalty > 0 or n_samples < 1:
        raise ValueError(
            "price_of_penalty needs a positive penalty and at least one row. Got "
            f"penalty={penalty!r} and n_samples={n_samples!r}."
        )
    return 1.0 / (n_samples * penalty)


def constrained_hinge(X: Any, y: Any, radius: float, *, tol: float = 1e-8) -> LinearDual:
    r"""Minimise the mean hinge loss over the ball :math:`\|w\| \le r`.

    The norm of the machine grows with C; the machine of norm r solves the problem.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Labels -1 and 1.
    radius : float
        Radius r of the ball.
    tol : float, default=1e-8
        Accuracy of the norm, relative, and of the machines.

    Returns
    -------
    result : LinearDual
        The machine of that norm; or of the largest C tried, 1e8 over the mean squared length of a
        row, if its norm is still below r.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.svm import constrained_hinge
    >>> X, y = np.array([[1.0, 0.0], [0.0, 2.0], [-1.0, 0.5]]), [1, 1, -1]
    >>> float(np.linalg.norm(constrained_hinge(X, y, 0.5).coef).round(6))
    0.5
    """
    if not radius > 0:
        raise ValueError(
            f"The 'radius' parameter of constrained_hinge must be positive. Got {radius!r} instead."
        )
    X = sparse.csr_matrix(X) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    size = float((X.multiply(X) if sparse.issparse(X) else X * X).sum()) / X.shape[0]
    if size == 0:
        raise ValueError("constrained_hinge needs a row that is not zero. Got zeros only.")

    def machine(log_price: float, start: Any) -> LinearDual:
        return linear_svm(
            X,
            y,
            C=float(np.exp(log_price)),
            loss="hinge",
            start=start,
            tol=tol,
            max_iter=100_000,
            random_state=0,
        )

    low, high = float(np.log(1e-8 / size)), float(np.log(1e8 / size))
    result = machine(low, None)
    # Grow from below: each machine starts from the last one, and a huge C is never solved for
    # when a moderate one will do.
    while (norm := float(np.linalg.norm(result.coef))) < radius * (1 - tol) and low < high:
        before, low = low, min(low + 2.0, high)
        result = machine(low, result.alpha)
    if abs(norm - radius) <= tol * radius or norm < radius:
        return result
    low, high = before, low
    while high - low > 1e-14 * max(1.0, abs(high)):
        middle = 0.5 * (low + high)
        result = machine(middle, result.alpha)
        norm = float(np.linalg.norm(result.coef))
        if abs(norm - radius) <= tol * radius:
            break
        low, high = (middle, high) if norm < radius else (low, middle)
    return result
