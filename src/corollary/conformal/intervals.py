"""What conformal intervals share: those of a split, and those of models that left rows out."""

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from corollary.conformal.base import BaseSplitConformal
from corollary.conformal.checks import check_real_targets, reach, warn_of_no_predictions, widen
from corollary.conformal.wrapper import BaseConformal


def _outside(intervals: np.ndarray, y: np.ndarray) -> np.ndarray:
    return ~((intervals[:, 0] <= y) & (y <= intervals[:, 1]))


class BaseSplitIntervals(RegressorMixin, BaseSplitConformal):
    """Intervals around two ends that a model gives, moved outwards by the threshold.

    A subclass predicts the ends, and the unit in which the threshold counts (`_ends`).
    """

    _fallback = "intervals are infinite"

    @abstractmethod
    def _ends(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]: ...

    def predict_interval(
        self, X: Any, *, confidence: float | None = None, weights: Any = None
    ) -> np.ndarray:
        """Predict an interval for each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows, passed to the models as they come.
        confidence : float or None, default=None
            Another coverage than that of the constructor, from the same calibration rows.
        weights : array-like of shape (n_samples,) or None, default=None
            Density ratio of new rows to calibration rows, if ``calibrate`` was given one.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2)
            Lower and upper ends, both included; each end is contiguous in memory.
        """
        self._require_calibrated()
        threshold = self._thresholds(X, self._level(confidence), weights)[:, 0]
        lower, upper, unit = self._ends(X)
        return widen(self, lower, upper, reach(threshold, unit))

    def _outside(self, X: Any, y: np.ndarray) -> np.ndarray:
        return _outside(self.predict_interval(X), y)

    def _check_targets(self, y: Any, *, finite: bool = True) -> np.ndarray:
        return check_real_targets(y, finite=finite)


class BasePlusIntervals(RegressorMixin, BaseConformal):
    """Intervals from the residuals of rows under models that left them out (``residuals_``)."""

    residuals_: np.ndarray
    predict_interval: Any

    def _outside(self, X: Any, y: np.ndarray) -> np.ndarray:
        return _outside(self.predict_interval(X), y)

    def _check_targets(self, y: Any, *, finite: bool = True) -> np.ndarray:
        return check_real_targets(y, finite=finite)

    def _warn_of_unknown(self, said: np.ndarray) -> None:
        """Say how many rows there are of which some model had no finite number to say."""
        unknown = len(said) - int(np.isfinite(said).all(axis=1).sum())
        if unknown:
            warn_of_no_predictions(self, unknown, "intervals are infinite")

    def __sklearn_is_fitted__(self) -> bool:
        return "residuals_" in self.__dict__
