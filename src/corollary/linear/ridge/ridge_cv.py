r"""Ridge regression with the penalty chosen by leave-one-out, in closed form.

Leaving row i out of a linear smoother changes its residual from :math:`r_i` to
:math:`r_i/(1-h_i)`, with :math:`h_i` the row's own weight in its fitted value. For ridge,
:math:`h_i(\alpha)=w_i\bigl(\frac1W+\sum_j\frac{(v_j^\top(x_i-\bar x))^2}{D_j^2+\alpha}\bigr)`, so
that one decomposition serves all rows and all penalties.
"""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from corollary.core.estimator import ArrayLike, fitted
from corollary.core.schema import Array, Number
from corollary.core.summary import Chunk, Summary, reduce
from corollary.linear._regressor import MultiTargetLinearRegressor
from corollary.linear.ridge._spectrum import Spectrum, check_alphas, spectrum

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class _LeaveOneOut(Summary):
    """Sums of squared leave-one-out residuals for every penalty."""

    spectrum: Spectrum
    alphas: np.ndarray
    mean_weight: float  # what the intercept adds to a row's weight in its own fit: 1 / total, or 0
    squares: np.ndarray  # weighted sums so far, over rows and targets

    def empty(self) -> Self:
        """Return zero sums for the same design."""
        return replace(self, squares=np.zeros(len(self.alphas)))

    def update(self, chunk: Chunk) -> Self:
        """Add the rows of ``(X, y, sample_weight)``."""
        X, y, weight = chunk
        rows = self.spectrum.coordinates(X)
        targets = y.reshape(len(y), -1) - self.spectrum.y_mean
        w = np.ones(len(y)) if weight is None else weight
        s = self.spectrum.singular_values[:, np.newaxis]
        squares = self.squares.copy()
        for k, alpha in enumerate(self.alphas):
            fit = rows @ (s / (s**2 + alpha) * self.spectrum.projections)
            leverage = w * (self.mean_weight + (rows**2 @ (1 / (s**2 + alpha)))[:, 0])
            left_out = (targets - fit) / np.maximum(1 - leverage, _EPS)[:, np.newaxis]
            squares[k] += np.sum(w[:, np.newaxis] * left_out**2)
        return replace(self, squares=squares)

    def merge(self, other: Self) -> Self:
        """Add the sums of other rows."""
        return replace(self, squares=self.squares + other.squares)


class RidgeCV(MultiTargetLinearRegressor):
    r"""Ridge regression whose penalty minimises the exact leave-one-out error.

    Parameters
    ----------
    alphas : array-like of shape (n_alphas,), default=(0.1, 1.0, 10.0)
        Positive penalties to choose from.
    fit_intercept : bool, default=True
        Whether the model has an intercept.

    Attributes
    ----------
    alpha_ : float
        The chosen penalty.
    loo_errors_ : ndarray of shape (n_alphas,)
        Weighted mean squared leave-one-out residual of every penalty.
    best_score_ : float
        Minus the smallest of them.
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients for the chosen penalty.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept.

    See Also
    --------
    Ridge : With a given penalty.

    Notes
    -----
    Leave-one-out takes a weighted row out whole, so that weight k is not the same as k copies of
    the row. Of scikit-learn's parameters, ``scoring``, ``cv``, ``gcv_mode``,
    ``store_cv_results`` and ``alpha_per_target`` are not offered; use its ``GridSearchCV`` around
    :class:`Ridge` for other schemes.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import RidgeCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 3))
    >>> y = X @ [1.0, 0.0, -1.0] + 0.1 * rng.normal(size=50)
    >>> RidgeCV(alphas=[0.01, 1.0, 100.0]).fit(X, y).alpha_
    0.01
    """

    _: KW_ONLY
    alphas: ArrayLike = (0.1, 1.0, 10.0)
    fit_intercept: bool = True

    alpha_: float = fitted(Number(0))
    loo_errors_: np.ndarray = fitted(Array("f", "*"))
    best_score_: float = fitted(Number())

    _rows: ClassVar[dict[str, Any]] = {"accept_sparse": "csr"}
    _training_rows: ClassVar[dict[str, Any]] = {
        **MultiTargetLinearRegressor._training_rows,
        "ensure_min_samples": 2,
    }

    def _fit(self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        alphas = check_alphas("RidgeCV", self.alphas)
        design = spectrum(X, y, sample_weight, fit_intercept=self.fit_intercept)
        total = float(len(y) if sample_weight is None else sample_weight.sum())
        start = _LeaveOneOut(design, alphas, self.fit_intercept / total, np.zeros(len(alphas)))
        squares = reduce(start, (X, y, sample_weight)).squares
        self.loo_errors_ = squares / (total * (1 if y.ndim == 1 else y.shape[1]))
        best = int(np.argmin(self.loo_errors_))
        self.alpha_ = float(alphas[best])
        self.best_score_ = -float(self.loo_errors_[best])
        coef = design.coefficients(self.alpha_)
        intercept = design.y_mean - design.x_mean @ coef
        self.coef_ = coef[:, 0] if y.ndim == 1 else np.ascontiguousarray(coef.T)
        self.intercept_ = float(intercept[0]) if y.ndim == 1 else intercept
