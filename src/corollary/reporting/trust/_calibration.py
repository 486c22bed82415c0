"""Sets and intervals that hold as often as wanted, with widths that follow difficulty.

Classification: a set holds every class whose score, one minus its probability, stays below the
conformal threshold; the most probable class is always in it.

Regression: the error is measured in units of its expected size at the row, learnt from the
out-of-fold errors of the training rows, and each band of predictions has a threshold of its own
(Mondrian conformal prediction), so that coverage holds within every band. Models of the logarithm
are calibrated on the log scale.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.conformal import (
    conformal_quantile,
    group_conditional_quantiles,
    lac_score,
    reach,
)
from corollary.core.schema import Array, Flag, Number, Schema
from corollary.reporting.models._predictor import Predictor
from corollary.reporting.models._selection import Comparison
from corollary.reporting.models._trials import predict_with
from corollary.reporting.table._profile import Subject
from corollary.reporting.table._split import Split

#: Calibration rows per band of predictions, so that each threshold is an order statistic of many.
ROWS_PER_BAND = 100
MOST_BANDS = 5
#: Training rows below which errors are too few to learn where they are large.
FEWEST_FOR_DIFFICULTY = 50


@dataclass(frozen=True, eq=False)
class Calibrated:
    """Sets or intervals, and the calibration rows behind each of their thresholds."""

    calibration: "SetCalibration | IntervalCalibration"
    rows: tuple[int, ...]


def calibrate(
    subject: Subject, split: Split, comparison: Comparison, predictor: Predictor, coverage: float
) -> Calibrated:
    """Calibrate sets or intervals on the rows that were set aside for it."""
    y = subject.target.values[split.calibration]
    features = np.empty((0, predictor.n_features))
    if len(y):
        features = comparison.encoder.transform(subject.used.take(split.calibration))
    prediction = predict_with(predictor, features)
    if subject.target.task == "classification":
        return Calibrated(calibrate_sets(prediction, y, coverage), (len(y),))
    held_out = comparison.chosen.prediction
    difficulty = learn_difficulty(
        comparison.features[comparison.compared],
        subject.target.values[split.train][comparison.compared],
        held_out,
        log=bool(len(predictor.logs) and predictor.logs.all()),
    )
    intervals = calibrate_intervals(difficulty, held_out, features, y, prediction, coverage)
    rows = np.bincount(intervals.bands(prediction), minlength=len(intervals.thresholds))
    return Calibrated(intervals, tuple(rows.tolist()))


@dataclass(frozen=True, eq=False)
class SetCalibration:
    """Threshold of prediction sets.

    Parameters
    ----------
    threshold : float
        Largest score in a set; infinite if there were too few calibration rows.
    n_calibration : int
        Calibration rows.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.reporting import SetCalibration
    >>> SetCalibration(0.7, 100).sets(np.array([[0.6, 0.35, 0.05]])).tolist()
    [[True, True, False]]
    """

    threshold: float
    n_calibration: int

    _schema = Schema(threshold=Number(), n_calibration=Number(0))

    def sets(self, probability: np.ndarray) -> np.ndarray:
        """Give the prediction sets.

        Parameters
        ----------
        probability : ndarray of shape (n, n_classes)
            Class probabilities.

        Returns
        -------
        sets : ndarray of bool of shape (n, n_classes)
            Whether each class is in the set.
        """
        sets = lac_score(probability) <= self.threshold
        sets[np.arange(len(sets)), probability.argmax(axis=1)] = True
        return sets


def calibrate_sets(probability: np.ndarray, y: np.ndarray, coverage: float) -> SetCalibration:
    """Learn the threshold of prediction sets."""
    scores = lac_score(probability)[np.arange(len(y)), y] if len(y) else np.empty(0)
    return SetCalibration(conformal_quantile(scores, coverage), len(y))


def _bands_fit(calibration: "IntervalCalibration") -> str | None:
    edges = calibration.edges
    if len(calibration.thresholds) != len(edges) + 1 or (np.diff(edges) < 0).any():
        return "its bands do not fit its thresholds"
    if not (calibration.thresholds >= 0).all():  # infinite where rows are too few
        return "its thresholds are not positive"
    if not np.isfinite(calibration.weights).all() or not calibration.spread > 0:
        return "its difficulty is not finite"
    return None


@dataclass(frozen=True, eq=False)
class IntervalCalibration:
    r"""Thresholds of prediction intervals, and the difficulty they are multiplied by.

    The expected size of the error at a row is
    :math:`\exp(\mathrm{clip}(w_0 + w^\top (z, u, u^2)))`, with :math:`z` the features and
    :math:`u` the standardised prediction.

    Parameters
    ----------
    weights : ndarray of shape (n_features + 3,)
        Intercept, weights of the features, of u and of u squared.
    limits : ndarray of shape (2,)
        Smallest and largest logarithm of the difficulty.
    centre : float
        Mean prediction in training.
    spread : float
        Spread of predictions in training.
    edges : ndarray of shape (n_bands - 1,)
        Predictions at which bands end.
    thresholds : ndarray of shape (n_bands,)
        Conformal threshold of each band.
    log : bool
        Whether errors are those of the logarithm.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.reporting import IntervalCalibration
    >>> nowhere, one_band = np.zeros(0), np.array([2.0])
    >>> everywhere_1 = {"weights": np.zeros(4), "limits": np.zeros(2), "centre": 0.0, "spread": 1.0}
    >>> calibration = IntervalCalibration(
    ...     edges=nowhere, thresholds=one_band, log=False, **everywhere_1
    ... )
    >>> calibration.intervals(np.zeros((1, 1)), np.array([10.0]))
    (array([8.]), array([12.]))
    """

    weights: np.ndarray
    limits: np.ndarray
    centre: float
    spread: float
    edges: np.ndarray
    thresholds: np.ndarray
    log: bool

    _schema = Schema(
        _bands_fit,
        weights=Array("f", "*"),
        limits=Array("f", 2, low=-700.0, below=700.0),
        centre=Number(),
        spread=Number(0.0),
        edges=Array("f", "*"),
        thresholds=Array("f", "*"),
        log=Flag(),
    )

    def difficulty(self, features: np.ndarray, prediction: np.ndarray) -> np.ndarray:
        """Give the expected size of the error at each row.

        Parameters
        ----------
        features : ndarray of shape (n, n_features)
            Encoded rows.
        prediction : ndarray of shape (n,)
            Their predictions.

        Returns
        -------
        size : ndarray of shape (n,)
            Positive.
        """
        u = self._standardised(prediction)
        logs = self.weights[0] + features @ self.weights[1:-2]
        logs = logs + self.weights[-2] * u + self.weights[-1] * u**2
        return np.exp(np.clip(logs, *self.limits))

    def intervals(
        self, features: np.ndarray, prediction: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Give the prediction intervals.

        Parameters
        ----------
        features : ndarray of shape (n, n_features)
            Encoded rows.
        prediction : ndarray of shape (n,)
            Their predictions.

        Returns
        -------
        low : ndarray of shape (n,)
            Lower ends.
        high : ndarray of shape (n,)
            Upper ends.
        """
        bands, unit = self.bands(prediction), self.difficulty(features, prediction)
        radius = reach(self.thresholds[bands], unit)
        if not self.log:
            return prediction - radius, prediction + radius
        with np.errstate(over="ignore"):
            return prediction * np.exp(-radius), prediction * np.exp(radius)

    def bands(self, prediction: np.ndarray) -> np.ndarray:
        """Give the band of each prediction.

        Parameters
        ----------
        prediction : ndarray of shape (n,)
            Predictions.

        Returns
        -------
        bands : ndarray of shape (n,)
            Band numbers, ascending with the prediction.
        """
        return np.searchsorted(self.edges, prediction, side="right")

    def _standardised(self, prediction: np.ndarray) -> np.ndarray:
        values = np.log(prediction) if self.log else prediction
        return np.clip((values - self.centre) / self.spread, -4.0, 4.0)


def errors_of(y: np.ndarray, prediction: np.ndarray, log: bool) -> np.ndarray:
    """Compute absolute errors on the scale that is calibrated."""
    if not log:
        return np.abs(y - prediction)
    positive = np.where(y > 0, y, 1.0)
    return np.where(y > 0, np.abs(np.log(positive) - np.log(prediction)), np.inf)


def learn_difficulty(
    features: np.ndarray, y: np.ndarray, prediction: np.ndarray, log: bool
) -> dict[str, Any]:
    """Learn where errors are large, from out-of-fold predictions of training rows."""
    from corollary.linear import RidgeCV

    values = np.log(prediction) if log else prediction
    centre, spread = float(values.mean()), float(values.std()) or 1.0
    errors = errors_of(y, prediction, log)
    # The floor keeps rows predicted exactly right from pulling the logarithm to minus infinity.
    floor = 0.1 * float(np.median(errors)) or 0.1 * float(errors.mean()) or 1.0
    target = np.log(errors + floor)
    weights = np.zeros(features.shape[1] + 3)
    weights[0] = target.mean()
    limits = np.array([target.mean(), target.mean()])
    if len(y) >= FEWEST_FOR_DIFFICULTY and np.ptp(target) > 0:
        u = np.clip((values - centre) / spread, -4.0, 4.0)
        design = np.column_stack([features, u, u**2])
        model = RidgeCV(alphas=tuple(10.0 ** np.arange(0.0, 6.0))).fit(design, target)
        weights[0], weights[1:] = float(model.intercept_), np.ravel(model.coef_)
        # Beyond what most training rows show, difficulty is not extrapolated.
        limits = np.quantile(model.predict(design), [0.02, 0.98])
    return {
        "weights": weights,
        "limits": limits,
        "centre": centre,
        "spread": spread,
        "log": log,
    }


def calibrate_intervals(
    difficulty: dict[str, Any],
    training_prediction: np.ndarray,
    features: np.ndarray,
    y: np.ndarray,
    prediction: np.ndarray,
    coverage: float,
) -> IntervalCalibration:
    """Learn the thresholds of prediction intervals."""
    n_bands = int(np.clip(len(y) // ROWS_PER_BAND, 1, MOST_BANDS))
    # Bands come from training rows alone: the calibration rows then stay exchangeable with new
    # ones within each band.
    edges = np.unique(np.quantile(training_prediction, np.linspace(0, 1, n_bands + 1)[1:-1]))
    draft = IntervalCalibration(edges=edges, thresholds=np.zeros(len(edges) + 1), **difficulty)
    thresholds = np.full(len(edges) + 1, np.inf)
    if len(y):
        errors = errors_of(y, prediction, draft.log)
        scores = errors / draft.difficulty(features, prediction)
        found = group_conditional_quantiles(scores, draft.bands(prediction), coverage)
        for band, threshold in found.items():
            thresholds[band] = threshold
    return IntervalCalibration(edges=edges, thresholds=thresholds, **difficulty)
