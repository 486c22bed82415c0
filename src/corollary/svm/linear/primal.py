r"""Linear machines with squared slack by Newton's method, for more rows than features.

The primal objective

.. math:: f(w) = \tfrac12 \|w\|^2 + \sum_i C_i \max(0, 1 - y_i \langle w, x_i \rangle)^2

is convex and piecewise quadratic, with Hessian :math:`I + 2 \sum_{i \in A} C_i x_i x_i^\top` where
A holds the rows that pay. Once A is right one step is exact, so a handful of steps is enough,
whatever the units of the features; dual coordinate descent needs thousands of passes there.
"""

from typing import Any

import numpy as np
from scipy import linalg

from corollary.core.parallel import one_blas_thread
from corollary.svm.linear.linear_dual import LinearDual

# Rows whose part of the Hessian is summed at once.
_ROWS = 8192


def primal_svm(
    X: Any,
    y: Any,
    *,
    C: Any = 1.0,
    margin: Any = 1.0,
    tol: float = 1e-4,
    max_iter: int = 1000,
) -> LinearDual:
    r"""Fit a hyperplane through the origin, slack squared, by Newton's method in the primal.

    Dual weights are :math:`\alpha_i = 2 C_i \max(0, 1 - y_i \langle w, x_i \rangle)`, and what is
    reported about optimality is measured at them, as in :func:`linear_svm`.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Labels -1 and 1.
    C : float or array-like of shape (n_samples,), default=1.0
        Price of slack, one or one for each row.
    margin : float or array-like of shape (n_samples,), default=1.0
        Rows whose score times label is below it pay for what is missing.
    tol : float, default=1e-4
        Largest violation of the optimality conditions of the dual.
    max_iter : int, default=1000
        Largest number of steps.

    Returns
    -------
    result : LinearDual
        Weights, objective, gap and what was reached.

    See Also
    --------
    linear_svm : Dual coordinate descent, also for the hinge and for sparse rows.

    References
    ----------
    .. [1] O. L. Mangasarian (2002). A finite Newton method for classification. Optimization
       Methods and Software 17.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.svm import primal_svm
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    >>> primal_svm(X, [1, 1, -1], C=1.0).coef.round(6)
    array([0.8     , 0.666667])
    """
    X, y = np.ascontiguousarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    price = np.broadcast_to(np.asarray(C, dtype=np.float64), (len(y),))
    needed = np.broadcast_to(np.asarray(margin, dtype=np.float64), (len(y),))
    w, lack = np.zeros(X.shape[1]), needed.copy()
    # Progress beyond the rounding of the objective cannot be seen.
    n_iter, stuck = 0, False
    with one_blas_thread():
        while True:
            slack = np.maximum(0.0, lack)
            alpha = 2.0 * price * slack
            dual_w = X.T @ (alpha * y)
            # The projected gradient of the dual at alpha; it is zero where a row pays and
            # w = sum alpha_i y_i x_i.
            slope = y * (X @ dual_w) - needed + slack
            projected = np.where(alpha > 0.0, slope, np.minimum(slope, 0.0))[price > 0.0]
            violation = max(projected.max(), 0.0) - min(projected.min(), 0.0)
            if violation <= tol or n_iter >= max_iter or stuck:
                break
            n_iter += 1
            step = _newton_step(X, price, slack > 0.0, w - dual_w)
            change = y * (X @ step)
            length = _line_search(w, step, lack, change, price)
            stuck = length == 0.0
            w, lack = w + length * step, lack - length * change
    primal = 0.5 * float(w @ w) + float(price @ (slack * slack))
    dual = float(alpha @ needed - 0.5 * (dual_w @ dual_w) - 0.5 * alpha @ slack)
    converged = violation <= tol
    return LinearDual(w, alpha, dual, primal - dual, float(violation), max(n_iter, 1), converged)


def _newton_step(
    X: np.ndarray, price: np.ndarray, paying: np.ndarray, gradient: np.ndarray
) -> np.ndarray:
    """Return the Newton step; the Hessian, at least the identity, is scaled to unit diagonal."""
    hessian = np.eye(X.shape[1])
    rows = np.flatnonzero(paying & (price > 0.0))
    for first in range(0, len(rows), _ROWS):
        some = rows[first : first + _ROWS]
        part = X[some] * np.sqrt(2.0 * price[some])[:, None]
        hessian += part.T @ part
    scale = np.sqrt(np.diag(hessian))
    unit = hessian / np.outer(scale, scale)
    # Rounding may leave a matrix of almost dependent columns without a factor.
    for jitter in (0.0, 1e-15, 1e-13, 1e-11):
        try:
            factor = linalg.cho_factor(unit + jitter * np.eye(len(unit)), lower=True)
            break
        except linalg.LinAlgError:
            continue
    return -np.asarray(linalg.cho_solve(factor, gradient / scale)) / scale


def _line_search(
    w: np.ndarray, step: np.ndarray, lack: np.ndarray, change: np.ndarray, price: np.ndarray
) -> float:
    """Return the length, 1 or the largest half of it that pays, at which the objective is lower."""

    def gain(length: float) -> tuple[float, float]:
        slack = np.maximum(0.0, lack - length * change)
        half = w + length * step
        return 0.5 * float(half @ half) + float(price @ (slack * slack)), float(
            half @ step - 2.0 * price @ (slack * change)
        )

    value, slope = gain(0.0)
    length = 1.0
    while length > 1e-10:
        there, slope_there = gain(length)
        # Near the minimum values agree to the last digit, and slopes still tell.
        if there <= value + 1e-4 * length * slope or abs(slope_there) <= 0.5 * abs(slope) * (
            there <= value * (1.0 + 1e-14)
        ):
            return length
        length *= 0.5
    return 0.0
