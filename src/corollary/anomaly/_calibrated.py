"""What calibration rows say of scores: a threshold and p-values."""

import warnings
from abc import abstractmethod
from dataclasses import KW_ONLY
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import OutlierMixin

from corollary.anomaly._rows import Contamination
from corollary.conformal import (
    conformal_p_values,
    smallest_calibration_size,
    weighted_conformal_quantile,
)
from corollary.core.compat import check_sample_weight
from corollary.core.estimator import Learner, Probability, fitted
from corollary.core.schema import Array, Nullable, Number


class CalibratedScores(OutlierMixin, Learner):
    """A learner that judges the scores of new rows by those of calibration rows."""

    _: KW_ONLY
    contamination: Literal["auto"] | Contamination = "auto"
    false_alarm_rate: Probability = 0.05

    calibration_indices_: np.ndarray = fitted(Array("i", "*", low=0))
    calibration_scores_: np.ndarray = fitted(Array("f", "n", infinite=True))
    calibration_weights_: np.ndarray | None = fitted(Nullable(Array("f", "n", low=0)))
    offset_: float = fitted(Number(infinite=True))

    @abstractmethod
    def score_samples(self, X: Any) -> np.ndarray:
        """Return minus the scores of rows X, low for unusual ones; NaN is missing."""

    def calibrate(self, X: Any, sample_weight: Any = None) -> Self:
        """Calibrate on other rows X, which neither fitted the score nor chose it.

        They are known to be normal, or as normal as one has them, and take the place of the rows
        that calibrated before. Weights are counts, as in ``fit``.
        """
        scores = -self.score_samples(X)
        self._calibrate(scores, checked_weights(sample_weight, scores))
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return ``score_samples`` of rows less ``offset_``: negative where ``predict`` calls."""
        with np.errstate(invalid="ignore"):
            decision = self.score_samples(X) - self.offset_
        return np.where(np.isnan(decision), 0.0, decision)  # of two infinities none is beyond

    def p_values(
        self, X: Any, *, density_ratio: Any = None, calibration_ratio: Any = None
    ) -> np.ndarray:
        """Return how often a normal row would be as unusual as each new row.

        It is at least 1 / (n_calibration + 1), and 1 without calibration rows; NaN is missing.
        Where normal new rows have another law than calibration rows, ``density_ratio`` is the ratio
        of the new density to the old at the new rows, up to a factor, and ``calibration_ratio`` the
        same at the calibration rows, in the order of ``calibration_scores_``.
        """
        scores = -self.score_samples(X)
        counts = self._counts(density_ratio, calibration_ratio)
        return conformal_p_values(self.calibration_scores_, scores, **counts)

    def _calibrate(
        self, scores: np.ndarray, weights: np.ndarray | None = None, indices: Any = ()
    ) -> None:
        """Keep the scores of calibration rows, which set the threshold unless a share does."""
        self.calibration_scores_, self.calibration_weights_ = scores, weights
        self.calibration_indices_ = np.array(indices, dtype=int)
        if self.contamination == "auto":
            weights = np.ones(len(scores)) if weights is None else weights
            confidence = 1 - self.false_alarm_rate
            (threshold,) = weighted_conformal_quantile(scores, weights, [1.0], confidence)
            self.offset_ = -float(threshold)

    def _warn_of_few_rows(self) -> None:
        """Warn if no row can be called, whatever it is, because too few rows calibrate."""
        n, rate = len(self.calibration_scores_), self.false_alarm_rate
        needed = smallest_calibration_size(1 - rate)
        if n >= needed:  # their scores or weights are to blame
            return
        warnings.warn(
            f"AnomalyDetector calls no row: {n} calibration rows are too few for a rate of false "
            f"alarms of {rate:g}, which takes {needed}. Fit or calibrate with more rows, raise "
            "false_alarm_rate, or judge the training rows themselves by fit_discover.",
            UserWarning,
            stacklevel=3,
        )

    def _counts(self, density_ratio: Any, calibration_ratio: Any) -> dict[str, Any]:
        """Return what calibration rows and new rows count for."""
        weights = self.calibration_weights_
        if density_ratio is None and calibration_ratio is None:
            return {"weights": weights}
        if density_ratio is None or calibration_ratio is None:
            raise ValueError(
                "AnomalyDetector needs the density ratio at the new rows and at the calibration "
                "rows. Got one of them; give both density_ratio and calibration_ratio."
            )
        ratio = np.asarray(calibration_ratio, dtype=float)
        if ratio.shape != self.calibration_scores_.shape:
            raise ValueError(
                f"AnomalyDetector needs a calibration_ratio for each of "
                f"{len(self.calibration_scores_)} calibration rows. Got shape {ratio.shape}; "
                "calibration_indices_ says which training rows they are."
            )
        weights = ratio if weights is None else ratio * weights
        return {"weights": weights, "new_weights": density_ratio}


def checked_weights(sample_weight: Any, X: Any) -> np.ndarray | None:
    """Return checked weights of rows, or None."""
    if sample_weight is None:
        return None
    return check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
