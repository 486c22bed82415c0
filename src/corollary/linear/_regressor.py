"""What linear regressors have in common: coefficients, an intercept, and prediction from them."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import MultiOutputMixin

from corollary.core.estimator import Regressor, fitted
from corollary.core.schema import Array, Number


class LinearRegressor(Regressor):
    """A regressor of one target that predicts ``X @ coef_ + intercept_``."""

    coef_: np.ndarray = fitted(Array("f", "d"))
    intercept_: Any = fitted(Number())

    # The methods sum squares, which must not overflow.
    _training_rows: ClassVar[dict[str, Any]] = {"finite_squares": True}

    def _predict(self, X: Any) -> np.ndarray:
        return np.asarray(X @ self.coef_.T) + self.intercept_


class MultiTargetLinearRegressor(MultiOutputMixin, LinearRegressor):
    """A linear regressor of one or several targets."""

    coef_: np.ndarray = fitted(Array("f", "d") | Array("f", "k", "d"))
    intercept_: Any = fitted(Number() | Array("f", "k"))

    _training_rows: ClassVar[dict[str, Any]] = {"finite_squares": True, "multi_output": True}

    def _fits_together(self) -> str | None:
        if (self.coef_.ndim == 1) != (np.ndim(self.intercept_) == 0):
            return "coefficients and intercept are for different numbers of targets"
        return None
