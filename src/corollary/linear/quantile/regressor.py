"""A conditional quantile as an estimator."""

from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning

from corollary.core.compat import Interval, StrOptions, fit_context
from corollary.core.estimator import check_new_data, check_training_data
from corollary.core.schema import Array, Instance, Integer, Number, Optional, Schema, Size, Strings
from corollary.linear.quantile.program import quantile_coefficients


class QuantileRegressor(RegressorMixin, BaseEstimator):
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
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if they had any.
    fingerprint_ : Fingerprint
        Compact memory of the training rows.

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

    _parameter_constraints: dict = {
        "quantile": [Interval(Real, 0, 1, closed="neither")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "solver": [StrOptions({"highs", "highs-ds", "highs-ipm"})],
        "solver_options": [dict, None],
    }

    _schema = Schema(
        coef_=Array("f", "d"),
        intercept_=Number(),
        n_iter_=Integer(0),
        n_features_in_=Size("d"),
        feature_names_in_=Optional(Strings("d")),
        fingerprint_=Optional(Instance("merge", "overlap")),
    )

    def __init__(
        self,
        *,
        quantile: float = 0.5,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        solver: str = "highs",
        solver_options: dict[str, Any] | None = None,
    ) -> None:
        self.quantile = quantile
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.solver_options = solver_options

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solve the linear program.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training inputs.
        y : array-like of shape (n_samples,)
            Training targets.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights; a row of weight k counts as k rows.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        import warnings

        X, y, weight = check_training_data(
            self,
            X,
            y,
            sample_weight=sample_weight,
            accept_sparse="csr",
            y_numeric=True,
            finite_squares=True,
        )
        self.coef_, self.intercept_, self.n_iter_, message = quantile_coefficients(
            X,
            np.asarray(y, dtype=np.float64),
            quantile=self.quantile,
            alpha=self.alpha,
            fit_intercept=self.fit_intercept,
            sample_weight=weight,
            solver=self.solver,
            solver_options=self.solver_options,
        )
        if message:
            warnings.warn(
                f"QuantileRegressor stopped early: {message} Raise the limits in solver_options.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict the quantile.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New inputs.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predicted quantiles.
        """
        X = check_new_data(self, X, accept_sparse=["csr", "csc"])
        return np.asarray(X @ self.coef_) + self.intercept_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
