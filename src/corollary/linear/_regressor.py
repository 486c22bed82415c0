"""What linear regressors have in common: coefficients, an intercept, and prediction from them."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import MultiOutputMixin

from corollary.core.estimator import Regressor, fitted
from corollary.core.parallel import row_products
from corollary.core.schema import Array, Number


class LinearRegressor(Regressor):
    """A regressor of one target that predicts ``X @ coef_ + intercept_``."""

    coef_: np.ndarray = fitted(Array("f", "d"))
    intercept_: Any = fitted(Number())

    # The methods sum squares, which must not overflow.
    _training_rows: ClassVar[dict[str, Any]] = {"finite_squares": True}

    def _check(self, X: Any, y: Any, sample_weight: Any, **checks: Any) -> Any:
        X, y, weight = super()._check(X, y, sample_weight, **checks)
        return X, y, None if weight is None else usable_weights(weight)

    def _predict(self, X: Any) -> np.ndarray:
        return row_products(X, self.coef_.T) + self.intercept_


def usable_weights(weight: np.ndarray) -> np.ndarray:
    """Return weights whose products with squares neither vanish nor overflow.

    The largest is brought to between 1e-60 and 1e60 by a power of two. Beyond these a penalty is
    all or nothing, so that it does not matter to its models either.
    """
    heaviest = float(weight.max(initial=0.0))
    if heaviest == 0.0 or 1e-60 <= heaviest <= 1e60:
        return weight
    limit = 1e60 if heaviest > 1.0 else 1e-60
    return np.ldexp(weight, int(np.frexp(limit)[1] - np.frexp(heaviest)[1]))


class MultiTargetLinearRegressor(MultiOutputMixin, LinearRegressor):
    """A linear regressor of one or several targets."""

    coef_: np.ndarray = fitted(Array("f", "d") | Array("f", "k", "d"))
    intercept_: Any = fitted(Number() | Array("f", "k"))

    _training_rows: ClassVar[dict[str, Any]] = {"finite_squares": True, "multi_output": True}

    def _fits_together(self) -> str | None:
        if (self.coef_.ndim == 1) != (np.ndim(self.intercept_) == 0):
            return "coefficients and intercept are for different numbers of targets"
        return None
