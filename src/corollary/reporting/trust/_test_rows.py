"""What the chosen model does on rows that no choice ever saw."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from corollary.conformal import IntervalCalibration, SetCalibration
from corollary.reporting._records import TestRows, Verdict
from corollary.reporting._settings import Settings
from corollary.reporting.models._in_turn import InTurn
from corollary.reporting.models._predictor import Predictor
from corollary.reporting.models._selection import Comparison
from corollary.reporting.models._trials import predict_with
from corollary.reporting.table._profile import Subject
from corollary.reporting.table._split import SMALL, Split
from corollary.reporting.trust._calibration import Calibrated, calibrate_in_turn
from corollary.reporting.trust._pieces import counted_units, measure_gain
from corollary.reporting.trust._training_rows import certify_training_rows
from corollary.validation import Estimate, stretches

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
    settings: Settings,
    moments: np.ndarray | None,
    turn: InTurn | None,
) -> Tested:
    """Predict the test rows once, judge the model by them, and certify it."""
    y = subject.target.values[split.test]
    features = comparison.encoder.transform(subject.used.take(split.test))
    if turn is None:
        predicted = predict_with(predictor, features)
        guess = replace(predictor, estimators=(), logs=np.zeros(0, bool), factors=np.zeros(0))
        guessed = predict_with(guess, features)
        regions = _regions(calibrated.calibration, features, predicted)
    else:
        predicted, guessed = turn.prediction, turn.guess
        regions = _regions_in_turn(turn, calibrated.calibration, settings.coverage)
    positions = subject.target.rows[split.test]
    raw = subject.table.frame.drop(columns=subject.target.name).iloc[positions]
    rows = TestRows(
        positions=positions,
        table={str(name): raw[name].tolist() for name in raw.columns},
        truth=y,
        prediction=_decide(predicted),
        baseline=_decide(guessed) if turn is None else turn.decided_guess,
        loss=comparison.loss(y, predicted),
        baseline_loss=comparison.loss(y, guessed),
        units=split.units_of(split.test),
        stretches=None if moments is None else stretches(moments),
        folds=0 if turn is None else turn.n_folds,
        **regions,
    )
    notes: list[str] = []
    gain, verdict = judge(rows, settings.confidence, notes)
    if turn is not None:
        notes.append(
            "There is no certificate: certificates rest on rows that are kept aside, and of fewer "
            f"than {SMALL} rows none is."
        )
        return Tested(features, predicted, rows, gain, verdict, (), (), tuple(notes))
    certificates = certify_rows(
        predictor,
        features,
        rows,
        split,
        moments,
        settings.confidence,
        settings.coverage,
        notes,
    )
    # The theorems about training rows need them to be independent.
    alike = split.population.kind == "alike" and split.units is None
    training_certificates = (
        ()
        if not alike
        else certify_training_rows(
            predictor,
            comparison.encoder,
            subject.used.take(split.train),
            comparison.features,
            subject.target.values[split.train],
            subject.used.take(split.calibration),
            settings.confidence,
            whole=len(subject.used.columns) == len(subject.columns.columns),
        )
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


def _regions_in_turn(
    turn: InTurn, calibration: SetCalibration | IntervalCalibration, coverage: float
) -> dict[str, np.ndarray]:
    """Give each row the set or interval that the rows of the other folds calibrate."""
    log, features = getattr(calibration, "log", False), turn.comparison.features
    found: dict[str, np.ndarray] = {}
    for k in range(turn.n_folds):
        mine = turn.fold == k
        without = calibrate_in_turn(turn, ~mine, coverage, log=log)
        for name, values in _regions(without, features[mine], turn.prediction[mine]).items():
            shape = (len(turn.y), *values.shape[1:])
            found.setdefault(name, np.empty(shape, values.dtype))[mine] = values
    return found


@dataclass(frozen=True, eq=False)
class Answered(Predictor):
    """A predictor whose predictions of the rows in question are written down already."""

    answers: np.ndarray | None = None

    @classmethod
    def of(cls, predictor: Predictor, answers: np.ndarray) -> "Answered":
        """Write down what a predictor said."""
        parts = {field.name: getattr(predictor, field.name) for field in fields(predictor)}
        return cls(**parts, answers=answers)

    def fitted_parts(self, X: Any) -> list[tuple[Any, Any]]:
        """List no model: that test rows were kept aside is known from the split, not a guess."""
        return []

    def predict(self, features: np.ndarray) -> np.ndarray:
        """Give the predictions that were written down."""
        assert self.answers is not None
        assert len(features) == len(self.answers)
        return self.answers


@dataclass(frozen=True, eq=False)
class Bracketed(Answered):
    """A predictor of which it is written down, too, which intervals missed the truth."""

    missed: np.ndarray | None = None
    confidence: float = 0.0

    def misses(self, features: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Mark the rows whose interval missed the truth."""
        assert self.missed is not None
        return self.missed


def judge(test: TestRows, confidence: float, notes: list[str]) -> tuple[Estimate, Verdict]:
    """Decide whether the model beats the baseline on the test rows."""
    gain, units = measure_gain(test, confidence), counted_units(test)
    pieces = "test rows" if units is None else "independent pieces of the test rows"
    if gain.n < FEWEST_TEST_ROWS:
        notes.append(
            f"{gain.n} {pieces} are too few to show anything: at least {FEWEST_TEST_ROWS} are "
            "needed."
        )
        return gain, "not shown"
    if test.probability is not None and count_others(test.truth, units) < FEWEST_OTHERS:
        notes.append(
            f"{count_others(test.truth, units)} of {gain.n:,} {pieces} are not of the "
            f"commonest class, too few to show anything: at least {FEWEST_OTHERS} are needed."
        )
        return gain, "not shown"
    if gain.low > 0:
        return gain, "shown"
    return gain, "worse" if gain.high < 0 else "not shown"


def count_others(truth: np.ndarray, units: np.ndarray | None = None) -> int:
    """Count the rows, or units with a row, that are not of the commonest class among them."""
    others = truth != np.bincount(truth).argmax() if len(truth) else np.zeros(0, bool)
    return int(others.sum()) if units is None else len(np.unique(units[others]))


def certify_rows(
    predictor: Predictor,
    features: np.ndarray,
    test: TestRows,
    split: Split,
    moments: np.ndarray | None,
    confidence: float,
    coverage: float,
    notes: list[str],
) -> tuple[Any, ...]:
    """Certify the chosen model on the test rows, for the rows that they speak of."""
    from corollary.certificates import certify

    how: dict[str, Any] = {}
    if split.population.kind == "new units":
        assert split.units is not None
        how = {
            "groups": split.units[split.test],
            "training_groups": split.units[split.train],
            "unit": split.population.unit,
        }
    elif split.population.kind == "period":
        how = {"time": moments}
    answered = Answered.of(predictor, test.prediction)
    if test.low is not None and test.high is not None and split.population.kind == "period":
        # Errors of numbers have no largest value; that an interval misses is bounded in any period.
        missed = ~((test.low <= test.truth) & (test.truth <= test.high))
        answered = Bracketed(**vars(answered), missed=missed * 1.0, confidence=coverage)
    try:
        found = certify(
            answered, features, test.truth, confidence=confidence, kept_aside=True, **how
        )
    except ValueError as error:
        notes.append(f"No certificate could be computed: {error}")
        return ()
    # The population is named here as it is everywhere on the page.
    found = [replace(certificate, population=split.population) for certificate in found]
    if predictor.classification:
        found = sorted(found, key=lambda certificate: certificate.bound)
    return tuple(found)
