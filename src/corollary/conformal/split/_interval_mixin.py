"""Intervals of split conformal wrappers."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin


class IntervalMixin(RegressorMixin):
    """The method by which regions of a regressor are asked for."""

    _regions: Callable[..., np.ndarray]

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
        return self._regions(X, confidence, weights)
