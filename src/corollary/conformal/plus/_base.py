"""What jackknife+ and CV+ wrappers share."""

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from corollary.conformal._checks import check_real_targets, warn_of_no_predictions
from corollary.conformal._wrapper import ConformalWrapper
from corollary.core.estimator import fitted
from corollary.core.schema import Array, Number


class PlusWrapper(RegressorMixin, ConformalWrapper):
    """Intervals from the residuals of rows under models that left them out."""

    residuals_: np.ndarray = fitted(Array("f", "n", infinite=True))
    guaranteed_coverage_: float = fitted(Number(0, 1))

    @abstractmethod
    def predict_interval(self, X: Any, *, confidence: float | None = None) -> np.ndarray:
        """Predict an interval for each row."""

    def _check_targets(self, y: Any, *, finite: bool = True) -> np.ndarray:
        return check_real_targets(y, finite=finite)

    def _outside(self, X: Any, y: np.ndarray) -> np.ndarray:
        low, high = self.predict_interval(X).T
        return ~((low <= y) & (y <= high))

    def _warn_of_unknown(self, predictions: np.ndarray) -> None:
        """Say how many rows there are of which some model had no finite number to say."""
        n_unknown = int((~np.isfinite(predictions)).any(axis=1).sum())
        if n_unknown:
            warn_of_no_predictions(type(self).__name__, n_unknown, "intervals are infinite")

    def __sklearn_is_fitted__(self) -> bool:
        return "residuals_" in vars(self)
