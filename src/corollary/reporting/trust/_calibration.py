"""The stage that calibrates sets or intervals of the chosen model."""

from dataclasses import dataclass

import numpy as np

from corollary.conformal import (
    Difficulty,
    IntervalCalibration,
    SetCalibration,
    calibrate_intervals,
    calibrate_intervals_ahead,
    calibrate_sets,
    learn_difficulty,
    smallest_calibration_size,
)
from corollary.reporting._settings import Settings
from corollary.reporting.models._in_turn import InTurn
from corollary.reporting.models._predictor import Predictor
from corollary.reporting.models._selection import Comparison
from corollary.reporting.models._trials import predict_with
from corollary.reporting.table._profile import Subject
from corollary.reporting.table._split import Split


@dataclass(frozen=True, eq=False)
class Calibrated:
    """Sets or intervals, and the calibration rows behind each of their thresholds."""

    calibration: SetCalibration | IntervalCalibration
    rows: tuple[int, ...]  # empty where rows depend on each other: no law of the coverage is known
    features: np.ndarray  # the calibration rows, encoded


def calibrate(
    subject: Subject,
    split: Split,
    comparison: Comparison,
    predictor: Predictor,
    settings: Settings,
    moments: np.ndarray | None,
    turn: InTurn | None,
) -> Calibrated:
    """Calibrate sets or intervals on the rows that were set aside for it, or on all in turn.

    `moments` are those of the training rows, where the report speaks of a period.
    """
    log = bool(len(predictor.logs) and predictor.logs.all())
    if turn is not None:
        log = log and bool((turn.prediction > 0).all())
        everywhere = np.ones(len(turn.y), dtype=bool)
        found = calibrate_in_turn(turn, everywhere, settings.coverage, log=log)
        return Calibrated(found, (), np.empty((0, predictor.n_features)))
    if moments is not None:
        y = subject.target.values[split.train]
        ahead = _calibrate_ahead(comparison, y, moments, log, settings)
        return Calibrated(ahead, (), np.empty((0, predictor.n_features)))
    coverage, y = settings.coverage, subject.target.values[split.calibration]
    features, groups = np.empty((0, predictor.n_features)), split.units_of(split.calibration)
    if len(y):
        features = comparison.encoder.transform(subject.used.take(split.calibration))
    prediction = predict_with(predictor, features)
    if subject.target.task == "classification":
        sets = calibrate_sets(prediction, y, coverage, groups=groups)
        return Calibrated(sets, () if groups is not None else (len(y),), features)
    held_out = comparison.chosen.prediction
    difficulty = learn_difficulty(
        comparison.features[comparison.compared],
        subject.target.values[split.train][comparison.compared],
        held_out,
        log=log,
    )
    intervals = calibrate_intervals(
        difficulty, held_out, features, y, prediction, coverage, groups=groups
    )
    if groups is not None:
        return Calibrated(intervals, (), features)
    rows = np.bincount(intervals.bands(prediction), minlength=len(intervals.thresholds))
    return Calibrated(intervals, tuple(rows.tolist()), features)


def calibrate_in_turn(
    turn: InTurn, rows: np.ndarray, coverage: float, *, log: bool
) -> SetCalibration | IntervalCalibration:
    """Calibrate by the errors of some rows, each predicted without its fold.

    Guarantee: none; the share of rows that are held is simulated by
    ``tests/reporting/test_small_tables.py``.
    """
    prediction, y = turn.prediction[rows], turn.y[rows]
    if prediction.ndim == 2:
        return calibrate_sets(prediction, y, coverage)
    features = turn.comparison.features[rows]
    # So few errors do not tell where errors are large.
    even = Difficulty(np.zeros(features.shape[1] + 3), np.zeros(2), 0.0, 1.0, log)
    return calibrate_intervals(even, prediction, features, y, prediction, coverage)


def _calibrate_ahead(
    comparison: Comparison,
    y: np.ndarray,
    moments: np.ndarray,
    log: bool,
    settings: Settings,
) -> SetCalibration | IntervalCalibration:
    """Calibrate by the errors on earlier stretches, each predicted from the rows before it.

    These errors reach as far ahead as those of the period that is tested. The hardest stretch
    decides. That proves nothing, as nothing does for later rows.
    """
    folds, compared = comparison.folds, comparison.compared
    stretches, trained = np.empty(len(compared), int), np.empty(len(compared), int)
    for k, fold in enumerate(folds):
        stretches[fold.rows], trained[fold.rows] = k, len(fold.y)
    order = np.argsort(moments[compared], kind="stable")
    rows, stretches, trained = compared[order], stretches[order], trained[order]
    prediction = comparison.chosen.prediction[order]
    if prediction.ndim == 2:
        parts = [np.flatnonzero(stretches == k) for k in range(len(folds))]
        if min(map(len, parts)) < smallest_calibration_size(settings.coverage):
            parts = [np.arange(len(rows))]  # stretches of so few rows have no quantile
        sets = [calibrate_sets(prediction[p], y[rows[p]], settings.coverage) for p in parts]
        return max(sets, key=lambda found: found.threshold)
    return calibrate_intervals_ahead(
        comparison.features[rows],
        y[rows],
        prediction,
        settings.coverage,
        stretches=stretches,
        trained=trained,
        n_train=max(len(fold.y) + len(fold.rows) for fold in folds),
        log=log,
        confidence=settings.confidence,
    )
