"""What the chosen model does on rows that no choice ever saw."""

from dataclasses import replace
from typing import Any

import numpy as np

from corollary.reporting._records import TestRows
from corollary.reporting.models._losses import Loss
from corollary.reporting.models._predictor import Predictor
from corollary.reporting.models._trials import predict_with
from corollary.reporting.table._read import Table
from corollary.reporting.table._target import Target
from corollary.reporting.trust._calibration import IntervalCalibration, SetCalibration
from corollary.validation import Estimate, mean_interval

#: With fewer test rows no paired difference is called shown: a sign test could not either.
FEWEST_TEST_ROWS = 6
#: Nor with fewer test rows outside the commonest class: whoever always says that class a little
#: more firmly would win on the others, however wrong it is on the rows that are not there.
FEWEST_OTHERS = 3


def predict_test_rows(
    table: Table,
    goal: Target,
    rows: np.ndarray,
    predictor: Predictor,
    calibration: SetCalibration | IntervalCalibration,
    features: np.ndarray,
    loss: Loss,
) -> TestRows:
    """Predict the test rows, by the chosen model and by the baseline."""
    y, positions = goal.values[rows], goal.rows[rows]
    raw = table.frame.drop(columns=goal.name).iloc[positions]
    guess = replace(predictor, estimators=(), logs=np.zeros(0, bool), factors=np.zeros(0))
    predicted = predict_with(predictor, features)
    test = TestRows(
        positions=positions,
        table={str(name): raw[name].tolist() for name in raw.columns},
        truth=y,
        prediction=predictor.predict(features),
        baseline=guess.predict(features),
        loss=loss(y, predicted),
        baseline_loss=loss(y, predict_with(guess, features)),
    )
    if isinstance(calibration, SetCalibration):
        return replace(test, probability=predicted, sets=calibration.sets(predicted))
    low, high = calibration.intervals(features, predicted)
    return replace(test, low=low, high=high)


def judge(test: TestRows, confidence: float, notes: list[str]) -> tuple[Estimate, Any]:
    """Decide whether the model beats the baseline on the test rows."""
    n = len(test.truth)
    gain = mean_interval(test.baseline_loss - test.loss, confidence)
    if n < FEWEST_TEST_ROWS:
        notes.append(
            f"{n} test rows are too few to show anything: at least {FEWEST_TEST_ROWS} are needed."
        )
        return gain, "not shown"
    if test.probability is not None and count_others(test.truth) < FEWEST_OTHERS:
        notes.append(
            f"{count_others(test.truth)} of {n:,} test rows are not of the commonest class, too "
            f"few to show anything: at least {FEWEST_OTHERS} are needed."
        )
        return gain, "not shown"
    if gain.low > 0:
        return gain, "shown"
    return gain, "worse" if gain.high < 0 else "not shown"


def count_others(truth: np.ndarray) -> int:
    """Count the rows that are not of the commonest class among them."""
    return len(truth) - int(np.bincount(truth).max(initial=0))


def certify_rows(
    predictor: Predictor,
    features: np.ndarray,
    y: np.ndarray,
    confidence: float,
    notes: list[str],
) -> tuple[Any, ...]:
    """Certify the chosen model on the test rows."""
    from corollary.certificates import certify

    try:
        found = certify(predictor, features, y, confidence=confidence, kept_aside=True)
    except ValueError as error:
        notes.append(f"No certificate could be computed: {error}")
        return ()
    if predictor.classification:
        found = sorted(found, key=lambda certificate: certificate.bound)
    return tuple(found)
