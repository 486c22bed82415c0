r"""Quantile regression: linear predictors of conditional quantiles.

The pinball loss :math:`\max(\tau s, (\tau - 1) s)` of the residual :math:`s = y - b - w^\top x`
is minimised in expectation by the :math:`\tau`-quantile. Its empirical minimisation is a linear
program. We solve the dual,

.. math:: \max_a y^\top a \quad\text{subject to}\quad |X^\top a| \le \alpha S,\; 1^\top a = 0,\;
          (\tau - 1) s_i \le a_i \le \tau s_i,

which has as many constraints as there are coefficients, not rows; the multipliers of its
constraints are the coefficients.
"""

from numbers import Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning

from corollary.core.compat import Interval, StrOptions, fit_context
from corollary.core.estimator import check_new_data, check_training_data
from corollary.core.schema import Array, Instance, Integer, Number, Optional, Schema, Size, Strings


def quantile_coefficients(
    X: Any,
    y: np.ndarray,
    *,
    quantile: float = 0.5,
    alpha: float = 0.0,
    fit_intercept: bool = True,
    sample_weight: np.ndarray | None = None,
    solver: str = "highs",
    solver_options: dict[str, Any] | None = None,
) -> tuple[np.ndarray, float, int, str]:
    r"""Minimise the mean pinball loss plus an l1 penalty.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Inputs.
    y : ndarray of shape (n_samples,)
        Targets.
    quantile : float, default=0.5
        Level :math:`\tau`, between 0 and 1.
    alpha : float, default=0.0
        Strength of the l1 penalty on the coefficients.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalised.
    sample_weight : ndarray of shape (n_samples,) or None, default=None
        Weights.
    solver : str, default="highs"
        Method of SciPy's ``linprog``.
    solver_options : dict or None, default=None
        Its options.

    Returns
    -------
    coef : ndarray of shape (n_features,)
        Coefficients.
    intercept : float
        Intercept.
    n_iter : int
        Iterations of the solver.
    message : str
        Empty, or why the solver stopped early.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import quantile_coefficients
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0])
    >>> coef, intercept, *_ = quantile_coefficients(X, y)
    >>> coef.round(9), round(intercept, 9)
    (array([2.]), 1.0)
    """
    from scipy.optimize import linprog

    n, p = X.shape
    weight = np.ones(n) if sample_weight is None else sample_weight * (n / sample_weight.sum())
    rows = np.flatnonzero(weight > 0.0)  # rows without weight are not part of the program
    X, y, weight = X[rows], y[rows], weight[rows]
    # The solver's tolerances are absolute: bring target and columns to unit size. Centring does
    # not change the program (the entries of a sum to zero) but its conditioning.
    centre = float(np.median(y)) if fit_intercept else 0.0
    scale = float(np.abs(y - centre).mean()) or 1.0
    target = (y - centre) / scale
    if sparse.issparse(X):
        mean = np.zeros(p)
        size = np.sqrt(np.asarray(X.multiply(X).mean(axis=0)).ravel())
    else:
        mean = X.mean(axis=0) if fit_intercept else np.zeros(p)
        size = np.sqrt(np.mean((X - mean) ** 2, axis=0))
    constant = size <= 1e-13 * np.abs(mean)
    size = np.where(constant | (size == 0.0), 1.0, size)
    if sparse.issparse(X):
        columns = sparse.csr_matrix(X @ sparse.diags_array(1.0 / size)).T
    else:
        columns = sparse.csr_matrix(np.where(constant, 0.0, (X - mean) / size).T)
    # Variables: a, then t = X'a, which carries the bound of the l1 penalty.
    blocks: list[list[Any]] = [[columns, -sparse.eye_array(p)]]
    if fit_intercept:
        blocks.append([np.ones((1, len(rows))), sparse.csr_array((1, p))])
    limit = alpha * n / size
    bounds = np.concatenate(
        [
            np.column_stack([(quantile - 1.0) * weight, quantile * weight]),
            np.column_stack([-limit, limit]),
        ]
    )
    found = linprog(
        c=np.concatenate([-target, np.zeros(p)]),
        A_eq=sparse.csc_array(sparse.block_array(blocks)),
        b_eq=np.zeros(p + fit_intercept),
        bounds=bounds,
        method=solver,
        options=solver_options,
    )
    if found.eqlin is None or found.eqlin.marginals is None:
        raise ValueError(
            f"The linear program of quantile regression was not solved: {found.message} "
            "Try another solver, or raise the limits in solver_options."
        )
    multipliers = -np.asarray(found.eqlin.marginals)
    coef = np.where(constant, 0.0, multipliers[:p]) * scale / size
    intercept = 0.0
    if fit_intercept:
        intercept = centre + scale * float(multipliers[p]) - float(mean @ coef)
    return coef, intercept, int(found.nit), "" if found.status == 0 else str(found.message)


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
