"""An interval between two conditional quantiles."""

from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from corollary.core.compat import Interval, StrOptions, fit_context
from corollary.core.estimator import check_new_data, check_training_data
from corollary.core.schema import Instance, Optional, Schema, Size, Strings
from corollary.linear.quantile.regressor import QuantileRegressor


def _parts_fit(model: Any) -> str | None:
    parts = (model.lower_, model.median_, model.upper_)
    if not all(isinstance(part, QuantileRegressor) and hasattr(part, "coef_") for part in parts):
        return "its ends are not fitted quantile regressors"
    if any(part.n_features_in_ != model.n_features_in_ for part in parts):
        return "its ends have other numbers of features"
    return None


class QuantileInterval(RegressorMixin, BaseEstimator):
    r"""Predict an interval between two conditional quantiles, and the median inside it.

    The ends are linear quantile regressions at levels :math:`(1 - c)/2` and :math:`(1 + c)/2`
    for coverage c. Two lines cross somewhere; there the ends are exchanged, so that a lower end
    is never above an upper one. Exchanging never brings an end farther from its quantile on
    average over both.

    Parameters
    ----------
    coverage : float, default=0.9
        Wanted probability c that a target falls into its interval.
    alpha : float, default=0.0
        Strength of the l1 penalty of each regression.
    fit_intercept : bool, default=True
        Whether to fit intercepts.
    solver : {"highs", "highs-ds", "highs-ipm"}, default="highs"
        Method of SciPy's ``linprog``.

    Attributes
    ----------
    lower_, median_, upper_ : QuantileRegressor
        The three fitted regressions.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if they had any.
    fingerprint_ : Fingerprint
        Compact memory of the training rows.

    See Also
    --------
    QuantileRegressor : One quantile.

    Notes
    -----
    Guarantee: the coverage holds in the limit of many rows if the conditional quantiles are
    linear, checked by ``tests/linear/test_quantile.py::test_interval_covers_with_many_rows``.
    With few rows it is less than asked for; conformal prediction repairs that.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import QuantileInterval
    >>> x = np.linspace(0.0, 1.0, 99)[:, None]
    >>> y = x.ravel() * np.tile([-1.0, 0.0, 1.0], 33)
    >>> QuantileInterval(coverage=0.8).fit(x, y).predict_interval([[1.0]]).round(6) + 0.0
    array([[-1.,  1.]])
    """

    _parameter_constraints: dict = {
        "coverage": [Interval(Real, 0, 1, closed="neither")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "solver": [StrOptions({"highs", "highs-ds", "highs-ipm"})],
    }

    _schema = Schema(
        _parts_fit,
        lower_=Instance("predict"),
        median_=Instance("predict"),
        upper_=Instance("predict"),
        n_features_in_=Size("d"),
        feature_names_in_=Optional(Strings("d")),
        fingerprint_=Optional(Instance("merge", "overlap")),
    )

    def __init__(
        self,
        *,
        coverage: float = 0.9,
        alpha: float = 0.0,
        fit_intercept: bool = True,
        solver: str = "highs",
    ) -> None:
        self.coverage = coverage
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the three regressions.

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
        X, y, weight = check_training_data(
            self,
            X,
            y,
            sample_weight=sample_weight,
            accept_sparse="csr",
            y_numeric=True,
            finite_squares=True,
        )
        tail = (1.0 - self.coverage) / 2.0
        self.lower_, self.median_, self.upper_ = (
            QuantileRegressor(
                quantile=level,
                alpha=self.alpha,
                fit_intercept=self.fit_intercept,
                solver=self.solver,
            ).fit(X, y, sample_weight=weight)
            for level in (tail, 0.5, 1.0 - tail)
        )
        return self

    def predict_interval(self, X: Any) -> np.ndarray:
        """Predict an interval for each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New inputs.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2)
            Lower and upper ends, in this order.
        """
        return self._ends(check_new_data(self, X, accept_sparse=["csr", "csc"]))

    def predict(self, X: Any) -> np.ndarray:
        """Predict the median, moved to the nearer end where it lies outside the interval.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New inputs.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predicted medians.
        """
        X = check_new_data(self, X, accept_sparse=["csr", "csc"])
        lower, upper = self._ends(X).T
        return np.clip(self.median_.predict(X), lower, upper)

    def _ends(self, X: Any) -> np.ndarray:
        ends = np.column_stack([self.lower_.predict(X), self.upper_.predict(X)])
        return np.sort(ends, axis=1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
