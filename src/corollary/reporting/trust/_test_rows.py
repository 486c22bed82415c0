"""What the chosen model does on rows that no choice ever saw."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from corollary.conformal import IntervalCalibration, SetCalibration
from corollary.reporting._records import TestRows, Verdict
from corollary.reporting.models._predictor import Predictor
from corollary.reporting.models._selection import Comparison
from corollary.reporting.models._trials import predict_with
from corollary.reporting.table._profile import Subject
from corollary.reporting.table._split import Split
from corollary.reporting.trust._calibration import Calibrated
from corollary.reporting.trust._training_rows import certify_training_rows
from corollary.validation import Estimate, mean_interval

#: With fewer test rows no paired difference is called shown: a sign test could not either.
FEWEST_TEST_ROWS = 6
#: Nor with fewer test rows outside the commonest class: whoever always says that class a little
#: more firmly would win on the others, however wrong it is on the rows that are not there.
FEWEST_OTHERS = 3


@dataclass(frozen=True, eq=False)
class Tested:
    """What the chosen model does on the test rows, and what that proves."""

    features: np.ndarray  # the test rows, encoded
    predicted: np.ndarray  # numbers or probabilities that the model gives them
    rows: TestRows  # the rows with all that is said of them
    gain: Estimate  # paired difference baseline loss minus chosen loss
    verdict: Verdict  # whether the model beats the baseline
    certificates: tuple[Any, ...]  # what the test rows prove
    training_certificates: tuple[Any, ...]  # what the training rows prove by themselves
    notes: tuple[str, ...]  # what could not be said, in sentences


def test_model(
    subject: Subject,
    split: Split,
    comparison: Comparison,
    predictor: Predictor,
    calibrated: Calibrated,
    confidence: float,
) -> Tested:
    """Predict the test rows once, judge the model by them, and certify it."""
    y = subject.target.values[split.test]
    features = comparison.encoder.transform(subject.used.take(split.test))
    predicted = predict_with(predictor, features)
    guess = replace(predictor, estimators=(), logs=np.zeros(0, bool), factors=np.zeros(0))
    guessed = predict_with(guess, features)
    positions = subject.target.rows[split.test]
    raw = subject.table.frame.drop(columns=subject.target.name).iloc[positions]
    rows = TestRows(
        positions=positions,
        table={str(name): raw[name].tolist() for name in raw.columns},
        truth=y,
        prediction=_decide(predicted),
        baseline=_decide(guessed),
        loss=comparison.loss(y, predicted),
        baseline_loss=comparison.loss(y, guessed),
        **_regions(calibrated.calibration, features, predicted),
    )
    notes: list[str] = []
    gain, verdict = judge(rows, confidence, notes)
    certificates = certify_rows(
        Answered.of(predictor, rows.prediction), features, y, confidence, notes
    )
    training_certificates = certify_training_rows(
        predictor,
        comparison.encoder,
        subject.used.take(split.train),
        comparison.features,
        subject.target.values[split.train],
        subject.used.take(split.calibration),
        confidence,
        whole=len(subject.used.columns) == len(subject.columns.columns),
    )
    return Tested(
        features,
        predicted,
        rows,
        gain,
        verdict,
        certificates,
        training_certificates,
        tuple(notes),
    )


def _decide(predicted: np.ndarray) -> np.ndarray:
    """Give the most probable class, or the number itself."""
    return predicted.argmax(axis=1) if predicted.ndim == 2 else predicted


def _regions(
    calibration: SetCalibration | IntervalCalibration, features: np.ndarray, predicted: np.ndarray
) -> dict[str, np.ndarray]:
    if isinstance(calibration, SetCalibration):
        return {"probability": predicted, "sets": calibration.sets(predicted)}
    low, high = calibration.intervals(features, predicted)
    return {"low": low, "high": high}


@dataclass(frozen=True, eq=False)
class Answered(Predictor):
    """A predictor whose predictions of the rows in question are written down already."""

    answers: np.ndarray | None = None

    @classmethod
    def of(cls, predictor: Predictor, answers: np.ndarray) -> "Answered":
        """Write down what a predictor said."""
        parts = {field.name: getattr(predictor, field.name) for field in fields(predictor)}
        return cls(**parts, answers=answers)

    def predict(self, features: np.ndarray) -> np.ndarray:
        """Give the predictions that were written down."""
        assert self.answers is not None
        assert len(features) == len(self.answers)
        return self.answers


def judge(test: TestRows, confidence: float, notes: list[str]) -> tuple[Estimate, Verdict]:
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
