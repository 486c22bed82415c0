"""A conditional quantile as an estimator."""

import warnings
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from corollary.core.estimator import NonNegative, Probability, fitted
from corollary.core.schema import Integer
from corollary.linear._parameters import LinearProgram
from corollary.linear._regressor import LinearRegressor
from corollary.linear.quantile.program import quantile_coefficients


class QuantileRegressor(LinearRegressor):
    r"""Predict a conditional quantile by a linear model.

    Minimises :math:`\frac1S \sum_i s_i \max(\tau r_i, (\tau - 1) r_i) + \alpha \|w\|_1` with
    :math:`r_i = y_i - b - w^\top x_i`, weights :math:`s_i` and their sum S.

    Parameters
    ----------
    quantile : float, default=0.5
        Level :math:`\tau`, strictly between 0 and 1.
    alpha : float, default=1.0
        Strength of the l1 penalty; the intercept is not penalised.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    solver : {"highs", "highs-ds", "highs-ipm"}, default="highs"
        Method of SciPy's ``linprog``.
    solver_options : dict or None, default=None
        Options of that method.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients.
    intercept_ : float
        Intercept.
    n_iter_ : int
        Iterations of the solver.

    See Also
    --------
    QuantileInterval : Two quantiles as an interval that never crosses.

    Notes
    -----
    Guarantee: without penalty and with intercept, the share of training targets strictly below
    the predictions is at most :math:`\tau`, and that of targets at or below them at least
    :math:`\tau`, checked by
    ``tests/linear/test_quantile.py::test_shares_below_and_above_the_fit``.

    Examples
    --------
    >>> from corollary.linear import QuantileRegressor
    >>> X, y = [[0.0], [0.0], [0.0], [1.0], [1.0]], [1.0, 2.0, 9.0, 5.0, 5.0]
    >>> QuantileRegressor(quantile=0.5, alpha=0.0).fit(X, y).predict([[0.0], [1.0]]).round(6)
    array([2., 5.])
    """

    _: KW_ONLY
    quantile: Probability = 0.5
    alpha: NonNegative = 1.0
    fit_intercept: bool = True
    solver: LinearProgram = "highs"
    solver_options: dict[str, Any] | None = None

    n_iter_: int = fitted(Integer(0))

    _rows: ClassVar[dict[str, Any]] = {"accept_sparse": ["csr", "csc"]}
    _training_rows: ClassVar[dict[str, Any]] = {"accept_sparse": "csr", "finite_squares": True}

    def _fit(self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        self.coef_, self.intercept_, self.n_iter_, message = quantile_coefficients(
            X,
            y,
            quantile=self.quantile,
            alpha=self.alpha,
            fit_intercept=self.fit_intercept,
            sample_weight=sample_weight,
            solver=self.solver,
            solver_options=self.solver_options,
        )
        if message:
            warnings.warn(
                f"QuantileRegressor stopped early: {message} Raise the limits in solver_options.",
                ConvergenceWarning,
                stacklevel=4,
            )
