r"""Ridge regression in formulas: objective, gradient, primal and dual form.

The penalty belongs to the *sum* of squares,
:math:`\|y-X\beta\|^2+\alpha\|\beta\|^2`; an objective with the mean of squares,
:math:`\frac1{2n}\|y-X\beta\|^2+\frac\lambda2\|\beta\|^2`, has the same solution for
:math:`\alpha=n\lambda`. It is the most probable :math:`\beta` under a Gaussian prior of variance
:math:`\tau^2` and Gaussian noise of variance :math:`\sigma^2`, with
:math:`\alpha=\sigma^2/\tau^2`.
"""

from typing import Literal

import numpy as np
import scipy.linalg

from corollary.core.estimator import ArrayLike, NonNegative, Positive, checked
from corollary.linear.ridge._records import DualSolution
from corollary.linear.squares.least_squares import least_squares


@checked
def ridge_objective(
    X: ArrayLike,
    y: ArrayLike,
    coef: ArrayLike,
    alpha: NonNegative,
    *,
    penalty: Literal["sum", "mean"] = "sum",
) -> float:
    r"""Evaluate the penalised empirical error.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Targets.
    coef : array-like of shape (n_features,)
        Coefficients.
    alpha : float
        Penalty.
    penalty : {"sum", "mean"}, default="sum"
        "sum" for :math:`\|y-X\beta\|^2+\alpha\|\beta\|^2`, "mean" for
        :math:`\frac1{2n}\|y-X\beta\|^2+\frac\alpha2\|\beta\|^2`.

    Returns
    -------
    value : float
        The objective.

    Examples
    --------
    >>> from corollary.linear import ridge_objective
    >>> ridge_objective([[1.0], [2.0]], [1.0, 1.0], [1.0], 3.0)
    4.0
    """
    X, y, coef = np.asarray(X, dtype=float), np.asarray(y, dtype=float), np.asarray(coef)
    residual = y - X @ coef
    value = residual @ residual + (alpha if penalty == "sum" else alpha * len(y)) * coef @ coef
    return float(value if penalty == "sum" else value / (2 * len(y)))


@checked
def ridge_gradient(
    X: ArrayLike,
    y: ArrayLike,
    coef: ArrayLike,
    alpha: NonNegative,
    *,
    penalty: Literal["sum", "mean"] = "sum",
) -> np.ndarray:
    r"""Evaluate the gradient of :func:`ridge_objective`.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Targets.
    coef : array-like of shape (n_features,)
        Coefficients.
    alpha : float
        Penalty.
    penalty : {"sum", "mean"}, default="sum"
        Which objective.

    Returns
    -------
    gradient : ndarray of shape (n_features,)
        For "sum", :math:`-2X^\top(y-X\beta)+2\alpha\beta`.

    Examples
    --------
    >>> from corollary.linear import ridge_gradient
    >>> ridge_gradient([[1.0], [2.0]], [1.0, 1.0], [0.0], 3.0)
    array([-6.])
    """
    X, y, coef = np.asarray(X, dtype=float), np.asarray(y, dtype=float), np.asarray(coef)
    products = X.T @ (y - X @ coef)
    if penalty == "sum":
        return -2 * products + 2 * alpha * coef
    return -products / len(y) + alpha * coef


@checked
def ridge_solution(
    X: ArrayLike, y: ArrayLike, alpha: Positive, *, penalty: Literal["sum", "mean"] = "sum"
) -> np.ndarray:
    r"""Solve ridge regression without intercept: :math:`(X^\top X+\alpha I)^{-1}X^\top y`.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs, or features :math:`\Phi` of them.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Targets.
    alpha : float
        Penalty, positive.
    penalty : {"sum", "mean"}, default="sum"
        Whether the penalty goes with the sum or with the mean of squares;
        "mean" with :math:`\lambda` equals "sum" with :math:`n\lambda`.

    Returns
    -------
    coef : ndarray of shape (n_features,) or (n_features, n_targets)
        The unique minimiser of :func:`ridge_objective`.

    Notes
    -----
    Guarantee. With "mean" and rows and targets bounded by 1, the norm of the solution is at most
    :math:`1/\lambda` and at most :math:`1/\sqrt\lambda`, checked by
    ``tests/linear/test_ridge.py::test_norm_is_bounded_by_the_penalty``.

    Examples
    --------
    >>> from corollary.linear import ridge_solution
    >>> ridge_solution([[1.0], [2.0]], [1.0, 2.0], 5.0)
    array([0.5])
    """
    X = np.asarray(X, dtype=float)
    total = alpha * len(X) if penalty == "mean" else alpha
    return least_squares(X, y, alpha=total, fit_intercept=False).coef


@checked
def ridge_dual(X: ArrayLike, y: ArrayLike, alpha: Positive) -> DualSolution:
    r"""Solve ridge regression on the side of the rows.

    The weights of the rows are :math:`a=(XX^\top+\alpha I)^{-1}y`, the coefficients
    :math:`\beta=X^\top a`: the same solution as on the side of the columns, by the push-through
    identity. The cost is :math:`O(n^2d+n^3)` for n rows and d columns, against
    :math:`O(nd^2+d^3)`.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Targets.
    alpha : float
        Penalty on the sum of squares.

    Returns
    -------
    solution : named tuple
        Weights of the rows, ``dual_coef = (y - X @ coef) / alpha`` (the prediction at x is the sum
        of ``dual_coef[i] * X[i] @ x``), and coefficients ``coef = X.T @ dual_coef``.

    Examples
    --------
    >>> from corollary.linear import ridge_dual
    >>> ridge_dual([[1.0], [2.0]], [1.0, 2.0], 5.0)
    DualSolution(dual_coef=array([0.1, 0.2]), coef=array([0.5]))
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    K = X @ X.T
    K[np.diag_indices_from(K)] += alpha
    dual = scipy.linalg.solve(K, y, assume_a="pos")
    return DualSolution(dual, X.T @ dual)


@checked
def ridge_operator(
    X: ArrayLike, alpha: NonNegative, *, form: Literal["primal", "dual"] = "primal"
) -> np.ndarray:
    r"""Compute the matrix that maps targets to ridge coefficients.

    The two forms are equal for every :math:`\alpha>0` (the push-through identity),

    .. math:: (X^\top X+\alpha I)^{-1}X^\top = X^\top(XX^\top+\alpha I)^{-1},

    and tend to the pseudo-inverse :math:`X^+` as :math:`\alpha\to0`. For :math:`\alpha=0` each form
    exists in its own regime only, full column rank or full row rank; the value returned is
    :math:`X^+`, which is right in both.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs.
    alpha : float
        Penalty; 0 for the limit.
    form : {"primal", "dual"}, default="primal"
        Which side to solve on.

    Returns
    -------
    operator : ndarray of shape (n_features, n_samples)
        ``coef = operator @ y``.

    Examples
    --------
    >>> from corollary.linear import ridge_operator
    >>> ridge_operator([[1.0], [2.0]], 5.0)
    array([[0.1, 0.2]])
    """
    X = np.asarray(X, dtype=float)
    if alpha == 0:
        return scipy.linalg.pinv(X)
    side = X.T @ X if form == "primal" else X @ X.T
    side[np.diag_indices_from(side)] += alpha
    if form == "primal":
        return scipy.linalg.solve(side, X.T, assume_a="pos")
    return scipy.linalg.solve(side, X, assume_a="pos").T
