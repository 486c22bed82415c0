"""Polynomial regression: least squares on all monomials up to a degree."""

from dataclasses import KW_ONLY
from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.estimator import (
    ArrayLike,
    Count,
    CountFromTwo,
    NonNegative,
    RandomSeed,
    check_squares,
    fitted,
)
from corollary.core.schema import Array, Integer, Optional
from corollary.linear._parameters import Folds
from corollary.linear._regressor import MultiTargetLinearRegressor
from corollary.linear.squares._records import LeastSquares
from corollary.linear.squares._solve import LeastSquaresProblem


class PolynomialRegression(MultiTargetLinearRegressor):
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

    degree: Count | ArrayLike = 2
    _: KW_ONLY
    alpha: NonNegative = 0.0
    fit_intercept: bool = True
    cv: CountFromTwo | Folds = 5
    random_state: RandomSeed = None

    degree_: int = fitted(Integer(1))
    exponents_: np.ndarray = fitted(Array("i", "m", "d", low=0))
    coef_: np.ndarray = fitted(Array("f", "m") | Array("f", "k", "m"))
    cv_errors_: np.ndarray = fitted(Optional(Array("f", "*", nan=True, infinite=True)))

    def _fits_together(self) -> str | None:
        small, large = sorted((self.n_features_in_, self.degree_))
        count = 1
        for i in range(1, small + 1):
            count = count * (large + i) // i  # the binomial coefficient of large + i over i
            if count - 1 > len(self.exponents_):  # a forged degree could make it endless
                break
        if count - 1 != len(self.exponents_):
            return "the number of monomials does not belong to the degree"
        return super()._fits_together()

    def _fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        from corollary.kernels import monomial_exponents

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
        solution = self._solve(self.degree_, X, y, sample_weight)
        self.coef_ = np.ascontiguousarray(solution.coef.T)
        self.intercept_ = solution.intercept

    def _solve(
        self, degree: int, X: np.ndarray, y: np.ndarray, weight: np.ndarray | None
    ) -> LeastSquares:
        with np.errstate(over="ignore"):
            features = _monomials(X, degree)
        check_squares(self, features)
        return LeastSquaresProblem(self.alpha, self.fit_intercept).solve_arrays(features, y, weight)

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
            solution = self._solve(degree, X[train], y[train], w[train])
            fit = _monomials(X[test], degree) @ solution.coef + solution.intercept
            squares = (y[test] - fit).reshape(len(test), -1) ** 2
            total += float(w[test] @ squares.mean(axis=1))
            weight_left_out += float(w[test].sum())
        return total / weight_left_out

    def _predict(self, X: np.ndarray) -> np.ndarray:
        return super()._predict(_monomials(X, self.degree_))


def _monomials(X: np.ndarray, degree: int) -> np.ndarray:
    # Other linear models need no kernels, which take longer to import than all of them.
    from corollary.kernels import monomial_map

    return monomial_map(X, degree, include_bias=False)
