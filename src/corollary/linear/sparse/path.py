"""Paths: solutions of the lasso and the elastic net for one penalty after another.

As ``alpha`` decreases from its maximum, where all coefficients are zero, features enter, and some
leave again: a coefficient that reaches zero stays there over an interval of penalties. For the
lasso every coefficient is a piecewise linear function of ``alpha``, and the number of non-zero
coefficients is an unbiased estimate of the fit's degrees of freedom.
"""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_X_y

from corollary.core.compat import Interval, check_sample_weight, validate_params
from corollary.core.parallel import one_blas_thread
from corollary.linear.sparse._path import alpha_grid, solve_path, warn_of_unfinished
from corollary.linear.sparse._records import Path

_PATH_CONSTRAINTS: dict = {
    "X": ["array-like", "sparse matrix"],
    "y": ["array-like"],
    "l1_ratio": [Interval(Real, 0, 1, closed="right")],
    "eps": [Interval(Real, 0, 1, closed="neither")],
    "alphas": [Interval(Integral, 1, None, closed="left"), "array-like"],
    "fit_intercept": ["boolean"],
    "sample_weight": ["array-like", None],
    "coef_init": ["array-like", None],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
    "positive": ["boolean"],
    "return_n_iter": ["boolean"],
}

# The Gram matrix of the columns in use is always kept, X is never written to, steps are cyclic.
_NO_EFFECT = {"precompute", "Xy", "copy_X", "verbose", "check_input", "selection", "random_state"}


@validate_params(_PATH_CONSTRAINTS, prefer_skip_nested_validation=True)
def enet_path(
    X: Any,
    y: Any,
    *,
    l1_ratio: float = 0.5,
    eps: float = 1e-3,
    alphas: int | Sequence[float] | np.ndarray = 100,
    fit_intercept: bool = False,
    sample_weight: Any = None,
    coef_init: Any = None,
    max_iter: int = 1000,
    tol: float = 1e-4,
    positive: bool = False,
    return_n_iter: bool = False,
    **no_effect: Any,
) -> tuple[np.ndarray, ...]:
    """Solve the elastic net for many penalties.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Targets.
    l1_ratio : float, default=0.5
        Share of the l1 penalty, positive.
    eps : float, default=1e-3
        Smallest over largest penalty of the grid.
    alphas : int or array-like of float, default=100
        Number of penalties in a geometric grid from the smallest that makes all coefficients
        zero, or the penalties themselves.
    fit_intercept : bool, default=False
        Whether to centre the data first; the intercept is then the mean of y minus that of X
        times the coefficients.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights.
    coef_init : array-like of shape (n_features,) or None, default=None
        Coefficients to start from at the largest penalty.
    max_iter : int, default=1000
        Largest number of epochs for each penalty.
    tol : float, default=1e-4
        Duality gap to reach, relative to the mean square of y.
    positive : bool, default=False
        Whether coefficients must not be negative.
    return_n_iter : bool, default=False
        Whether to return the numbers of epochs too.
    **no_effect : dict
        ``precompute``, ``Xy``, ``copy_X``, ``verbose``, ``check_input``, ``selection`` and
        ``random_state`` of scikit-learn's function, which change nothing here.

    Returns
    -------
    alphas : ndarray of shape (n_alphas,)
        The penalties, decreasing.
    coefs : ndarray of shape (n_features, n_alphas) or (n_targets, n_features, n_alphas)
        Coefficients.
    dual_gaps : ndarray of shape (n_alphas,) or (n_targets, n_alphas)
        Duality gaps: upper bounds of the distances from the minima.
    n_iters : ndarray of int
        Epochs used, only if ``return_n_iter``.

    See Also
    --------
    CoefficientPathDisplay : The picture of a path.

    Examples
    --------
    >>> from corollary.linear import enet_path
    >>> X, y = [[1.0, 0.0], [-1.0, 0.0]], [2.0, -2.0]
    >>> alphas, coefs, gaps = enet_path(X, y, alphas=3, eps=0.01)
    >>> coefs.round(3)
    array([[0.   , 1.5  , 1.941],
           [0.   , 0.   , 0.   ]])
    """
    unknown = no_effect.keys() - _NO_EFFECT
    if unknown:
        raise TypeError(
            f"enet_path got an unexpected keyword argument {min(unknown)!r}. It takes those of its "
            f"signature, and of scikit-learn's without effect {', '.join(sorted(_NO_EFFECT))}."
        )
    X, y = check_X_y(X, y, accept_sparse="csc", dtype=np.float64, multi_output=True, y_numeric=True)
    Y = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
    if sample_weight is not None:
        sample_weight = check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
    start = None if coef_init is None else np.asarray(coef_init, dtype=np.float64)
    if start is not None and start.shape != (X.shape[1],):
        raise ValueError(
            f"coef_init must have one entry per column of X, {X.shape[1]}. Got shape {start.shape} "
            "instead."
        )
    from corollary.optimize import prepare_columns

    with one_blas_thread():
        prepared = prepare_columns(X, Y, sample_weight, fit_intercept)
        largest = 0.0
        for k in range(Y.shape[1]):
            correlation = np.zeros(X.shape[1])
            target = np.ascontiguousarray(prepared.Y[:, k])
            prepared.design.correlate(target, np.arange(X.shape[1]), correlation)
            largest = max(
                largest, float(correlation.max() if positive else np.abs(correlation).max())
            )
        grid = alpha_grid(largest / len(Y), l1_ratio, eps, alphas)
        paths = []
        for k in range(Y.shape[1]):
            path = solve_path(
                prepared,
                k,
                grid,
                l1_ratio,
                tol=tol,
                max_iter=max_iter,
                positive=positive,
                start=start,
            )
            warn_of_unfinished("The path", path, grid, max_iter)
            paths.append(path)
    parts = [np.array([getattr(path, name) for path in paths]) for name in Path._fields[:3]]
    if y.ndim == 1:
        parts = [part[0] for part in parts]
    coefs, dual_gaps, n_iters = parts
    return (grid, coefs, dual_gaps, n_iters) if return_n_iter else (grid, coefs, dual_gaps)


@validate_params(_PATH_CONSTRAINTS, prefer_skip_nested_validation=True)
def lasso_path(
    X: Any,
    y: Any,
    *,
    eps: float = 1e-3,
    alphas: int | Sequence[float] | np.ndarray = 100,
    fit_intercept: bool = False,
    sample_weight: Any = None,
    coef_init: Any = None,
    max_iter: int = 1000,
    tol: float = 1e-4,
    positive: bool = False,
    return_n_iter: bool = False,
    **no_effect: Any,
) -> tuple[np.ndarray, ...]:
    """Solve the lasso for many penalties.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Targets.
    eps : float, default=1e-3
        Smallest over largest penalty of the grid.
    alphas : int or array-like of float, default=100
        Number of penalties in a geometric grid from the smallest that makes all coefficients
        zero, or the penalties themselves.
    fit_intercept : bool, default=False
        Whether to centre the data first; the intercept is then the mean of y minus that of X
        times the coefficients.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights.
    coef_init : array-like of shape (n_features,) or None, default=None
        Coefficients to start from at the largest penalty.
    max_iter : int, default=1000
        Largest number of epochs for each penalty.
    tol : float, default=1e-4
        Duality gap to reach, relative to the mean square of y.
    positive : bool, default=False
        Whether coefficients must not be negative.
    return_n_iter : bool, default=False
        Whether to return the numbers of epochs too.
    **no_effect : dict
        ``precompute``, ``Xy``, ``copy_X``, ``verbose``, ``check_input``, ``selection`` and
        ``random_state`` of scikit-learn's function, which change nothing here.

    Returns
    -------
    alphas : ndarray of shape (n_alphas,)
        The penalties, decreasing.
    coefs : ndarray of shape (n_features, n_alphas) or (n_targets, n_features, n_alphas)
        Coefficients.
    dual_gaps : ndarray of shape (n_alphas,) or (n_targets, n_alphas)
        Duality gaps: upper bounds of the distances from the minima.
    n_iters : ndarray of int
        Epochs used, only if ``return_n_iter``.

    See Also
    --------
    LassoCV : Chooses a penalty of the path by cross-validation.
    CoefficientPathDisplay : The picture of a path.

    Examples
    --------
    >>> from corollary.linear import lasso_path
    >>> X, y = [[1.0, 0.0], [-1.0, 0.0]], [2.0, -2.0]
    >>> alphas, coefs, gaps = lasso_path(X, y, alphas=3, eps=0.01)
    >>> coefs.round(2)
    array([[0.  , 1.8 , 1.98],
           [0.  , 0.  , 0.  ]])
    """
    return enet_path(
        X,
        y,
        l1_ratio=1.0,
        eps=eps,
        alphas=alphas,
        fit_intercept=fit_intercept,
        sample_weight=sample_weight,
        coef_init=coef_init,
        max_iter=max_iter,
        tol=tol,
        positive=positive,
        return_n_iter=return_n_iter,
        **no_effect,
    )
