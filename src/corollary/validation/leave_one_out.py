r"""Leaving one row out without refitting.

A linear smoother predicts :math:`\hat y=Hy`. When leaving a row out is the same as predicting it by
its own left-out prediction, as for least squares, ridge and their kernel forms, the left-out
residual is the residual over :math:`1-h_{ii}`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np


def smoother_loo(y: Any, fitted: Any, leverage: Any) -> np.ndarray:
    r"""Compute leave-one-out residuals of a linear smoother.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Outputs.
    fitted : array-like of shape (n_samples,)
        Fitted values.
    leverage : array-like of shape (n_samples,)
        Diagonal :math:`h_{ii}` of the smoother.

    Returns
    -------
    residual : ndarray of shape (n_samples,)
        :math:`(y_i-\hat y_i)/(1-h_{ii})`, NaN where the leverage is 1: the fit without that row is
        not determined.

    See Also
    --------
    least_squares_loo : Parameters as well.

    Examples
    --------
    >>> from corollary.validation import smoother_loo
    >>> smoother_loo([1.0, 3.0], [2.0, 2.0], [0.5, 0.5])
    array([-2.,  2.])
    """
    y, fitted, leverage = (np.asarray(part, dtype=float) for part in (y, fitted, leverage))
    if not y.shape == fitted.shape == leverage.shape or y.ndim != 1:
        raise ValueError(
            "smoother_loo needs one output, one fitted value and one leverage per row. Got shapes "
            f"{y.shape}, {fitted.shape} and {leverage.shape}."
        )
    freedom = 1 - leverage
    defined = freedom > 1e-12
    return np.where(defined, (y - fitted) / np.where(defined, freedom, 1.0), np.nan)


def least_squares_loo(X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    r"""Compute all least-squares fits that leave one row out, from one factorisation.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Design of full column rank; append a constant column for an intercept.
    y : array-like of shape (n_samples,)
        Outputs.

    Returns
    -------
    parameters : ndarray of shape (n_samples, n_features)
        Row i is the fit without row i,
        :math:`\hat\theta-(X^\top X)^{-1}x_ir_i/(1-h_{ii})`; NaN where it is not determined.
    residual : ndarray of shape (n_samples,)
        Residual of row i under that fit.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.validation import least_squares_loo
    >>> parameters, residual = least_squares_loo(np.ones((3, 1)), [1.0, 2.0, 6.0])
    >>> parameters[:, 0]
    array([4. , 3.5, 1.5])
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    if X.ndim != 2 or y.shape != (len(X),):
        raise ValueError(
            "least_squares_loo needs a matrix and one output per row. Got shapes "
            f"{X.shape} and {y.shape}."
        )
    Q, R = np.linalg.qr(X)
    diagonal = np.abs(np.diag(R))
    if len(X) < X.shape[1] or diagonal.min() <= 1e-12 * diagonal.max():
        raise ValueError(
            "least_squares_loo needs a design of full column rank. Drop columns that follow from "
            "others."
        )
    residual = y - Q @ (Q.T @ y)
    left_out = smoother_loo(y, y - residual, np.einsum("ij,ij->i", Q, Q))
    theta = np.linalg.solve(R, Q.T @ y)
    steps = np.linalg.solve(R, Q.T).T
    return theta - steps * left_out[:, None], left_out


def retrain_without(fit: Callable[[Any, Any], Any], X: Any, y: Any, rows: Any = None) -> list[Any]:
    """Fit again without each row: the ground truth for every shortcut.

    Parameters
    ----------
    fit : callable
        ``fit(X, y)`` returns anything: a model, parameters, a prediction.
    X : array-like of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Outputs.
    rows : array-like of int or None, default=None
        Rows to leave out, one at a time; None for all.

    Returns
    -------
    fits : list
        What `fit` returned without each row.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.validation import retrain_without
    >>> retrain_without(lambda X, y: float(y.mean()), np.zeros((3, 1)), [1.0, 2.0, 6.0])
    [4.0, 3.5, 1.5]
    """
    X, y = np.asarray(X), np.asarray(y)
    rows = range(len(y)) if rows is None else np.asarray(rows, dtype=int)
    keep = np.ones(len(y), dtype=bool)
    fits = []
    for i in rows:
        keep[i] = False
        fits.append(fit(X[keep], y[keep]))
        keep[i] = True
    return fits
