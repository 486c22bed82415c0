"""The stage that calibrates sets or intervals of the chosen model."""

from dataclasses import dataclass

import numpy as np

from corollary.conformal import (
    IntervalCalibration,
    SetCalibration,
    calibrate_intervals,
    calibrate_sets,
    learn_difficulty,
)
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


def calibrate(
    subject: Subject, split: Split, comparison: Comparison, predictor: Predictor, coverage: float
) -> Calibrated:
    """Calibrate sets or intervals on the rows that were set aside for it.

    In time the rows to calibrate on are training rows, predicted by fits to earlier rows, so that
    their errors reach as far ahead as those of the period that is tested. That proves nothing, as
    nothing does for later rows.
    """
    ahead = split.population.kind == "period"
    y = subject.target.values[split.calibration]
    features, groups = np.empty((0, predictor.n_features)), split.units_of(split.calibration)
    if ahead:
        y = subject.target.values[split.train][comparison.compared]
        features = comparison.features[comparison.compared]
    elif len(y):
        features = comparison.encoder.transform(subject.used.take(split.calibration))
    prediction = comparison.chosen.prediction if ahead else predict_with(predictor, features)
    if subject.target.task == "classification":
        sets = calibrate_sets(prediction, y, coverage, groups=groups)
        return Calibrated(sets, () if ahead or groups is not None else (len(y),))
    held_out = comparison.chosen.prediction
    difficulty = learn_difficulty(
        comparison.features[comparison.compared],
        subject.target.values[split.train][comparison.compared],
        held_out,
        log=bool(len(predictor.logs) and predictor.logs.all()),
    )
    intervals = calibrate_intervals(
        difficulty, held_out, features, y, prediction, coverage, groups=groups
    )
    if ahead or groups is not None:
        return Calibrated(intervals, ())
    rows = np.bincount(intervals.bands(prediction), minlength=len(intervals.thresholds))
    return Calibrated(intervals, tuple(rows.tolist()))
