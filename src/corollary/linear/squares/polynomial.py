"""Polynomial regression: least squares on all monomials up to a degree."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state

from corollary.core.compat import Interval, fit_context
from corollary.core.estimator import check_new_data, check_squares, check_training_data
from corollary.core.schema import Array, Instance, Integer, Number, Optional, Schema, Size, Strings
from corollary.kernels import monomial_exponents, monomial_map
from corollary.linear._regressor import fits_together
from corollary.linear.squares._records import LeastSquares
from corollary.linear.squares._solve import solve_arrays

_DEGREE = Interval(Integral, 1, None, closed="left")


def _fits_together(model: Any) -> str | None:
    small, large = sorted((model.n_features_in_, model.degree_))
    count = 1
    for i in range(1, small + 1):
        count = count * (large + i) // i  # the binomial coefficient of large + i over i
        if count - 1 > len(model.exponents_):  # a forged degree could make it endless
            break
    if count - 1 != len(model.exponents_):
        return "the number of monomials does not belong to the degree"
    return fits_together(model)


class PolynomialRegression(MultiOutputMixin, RegressorMixin, BaseEstimator):
    r"""Polynomial regression of given degree, or of a degree chosen by cross-validation.

    Parameters
    ----------
    degree : int or sequence of int, default=2
        Largest total degree of the monomials. From several, the one of smallest cross-validated
        squared error is chosen.
    alpha : float, default=0.0
        Ridge penalty on the coefficients of the monomials; 0 for least squares.
    fit_intercept : bool, default=True
        Whether the polynomial has a constant term.
    cv : int, splitter or iterable of splits, default=5
        How to choose among several degrees. An int is the number of folds of shuffled rows, since
        a fold at the end of an ordered sample would ask for extrapolation.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffle.

    Attributes
    ----------
    degree_ : int
        Degree used.
    exponents_ : ndarray of shape (n_monomials, n_features)
        Exponents of the monomials.
    coef_ : ndarray of shape (n_monomials,) or (n_targets, n_monomials)
        Their coefficients.
    intercept_ : float or ndarray of shape (n_targets,)
        Constant term.
    cv_errors_ : ndarray of shape (n_degrees,)
        Mean squared error of each degree on left-out folds; only with several degrees.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if they have names.
    fingerprint_ : Fingerprint
        Memory of the training rows.

    Notes
    -----
    The training error never rises with the degree; n distinct points are interpolated by
    degree n - 1. Too small a degree misses the curve, too large a degree follows the noise.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import PolynomialRegression
    >>> x = np.linspace(-1, 1, 30).reshape(-1, 1)
    >>> y = 1 - 2 * x[:, 0] + 3 * x[:, 0] ** 3
    >>> model = PolynomialRegression(degree=3).fit(x, y)
    >>> (model.coef_.round(6) + 0.0), round(model.intercept_, 6)
    (array([-2.,  0.,  3.]), 1.0)
    """

    _parameter_constraints = {
        "degree": [_DEGREE, "array-like"],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "cv": [Interval(Integral, 2, None, closed="left"), "cv_object"],
        "random_state": ["random_state"],
    }
    _schema = Schema(
        _fits_together,
        degree_=Integer(1),
        exponents_=Array("i", "m", "d", low=0),
        coef_=Array("f", "m") | Array("f", "k", "m"),
        intercept_=Number() | Array("f", "k"),
        cv_errors_=Optional(Array("f", "*")),
        n_features_in_=Size("d"),
        feature_names_in_=Optional(Strings("d")),
        fingerprint_=Optional(Instance("merge", "overlap")),
    )

    def __init__(
        self,
        degree: int | Sequence[int] = 2,
        *,
        alpha: float = 0.0,
        fit_intercept: bool = True,
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.degree = degree
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the polynomial.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Non-negative weights.

        Returns
        -------
        self : PolynomialRegression
            The fitted model.
        """
        X, y, sample_weight = check_training_data(
            self,
            X,
            y,
            sample_weight=sample_weight,
            multi_output=True,
            y_numeric=True,
            finite_squares=True,
        )
        y = np.asarray(y, dtype=np.float64)
        if isinstance(self.degree, Integral):
            self.degree_ = int(self.degree)
        else:
            degrees = [int(p) for p in np.ravel(self.degree)]
            if not degrees or min(degrees) < 1:
                raise ValueError(
                    "The 'degree' parameter of PolynomialRegression must be a positive integer or "
                    f"a sequence of them. Got {self.degree!r} instead."
                )
            # One seed, and so the same folds, for every degree.
            seed = check_random_state(self.random_state).randint(2**31 - 1)
            self.cv_errors_ = np.array(
                [self._left_out_error(p, X, y, sample_weight, seed) for p in degrees]
            )
            self.degree_ = degrees[int(np.argmin(self.cv_errors_))]
        self.exponents_ = monomial_exponents(X.shape[1], self.degree_)[1:]
        found = self._solve(self.degree_, X, y, sample_weight)
        self.coef_ = np.ascontiguousarray(found.coef.T)
        self.intercept_ = found.intercept
        return self

    def _solve(
        self, degree: int, X: np.ndarray, y: np.ndarray, weight: np.ndarray | None
    ) -> LeastSquares:
        with np.errstate(over="ignore"):
            features = monomial_map(X, degree, include_bias=False)
        check_squares(self, features)
        return solve_arrays(features, y, weight, alpha=self.alpha, fit_intercept=self.fit_intercept)

    def _left_out_error(
        self, degree: int, X: np.ndarray, y: np.ndarray, weight: np.ndarray | None, seed: int
    ) -> float:
        from sklearn.model_selection import KFold, check_cv

        folds = check_cv(self.cv)
        if isinstance(self.cv, Integral):
            folds = KFold(self.cv, shuffle=True, random_state=seed)
        w = np.ones(len(y)) if weight is None else weight
        total = weight_left_out = 0.0
        for train, test in folds.split(X):
            found = self._solve(degree, X[train], y[train], w[train])
            fit = monomial_map(X[test], degree, include_bias=False) @ found.coef + found.intercept
            squares = (y[test] - fit).reshape(len(test), -1) ** 2
            total += float(w[test] @ squares.mean(axis=1))
            weight_left_out += float(w[test].sum())
        return total / weight_left_out

    def predict(self, X: Any) -> np.ndarray:
        """Evaluate the polynomial.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Predictions.
        """
        X = check_new_data(self, X)
        return monomial_map(X, self.degree_, include_bias=False) @ self.coef_.T + self.intercept_
