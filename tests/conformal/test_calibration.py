"""What wrappers tell of their calibration, and which targets they miss."""

import warnings

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

from corollary.conformal import (
    ConformalQuantileRegressor,
    CVPlusRegressor,
    JackknifeAfterBootstrapRegressor,
    SplitConformalClassifier,
    SplitConformalRegressor,
    coverage_score,
)
from corollary.core.protocols import (
    HasCalibrationCells,
    HasCalibrationFolds,
    PredictsRegions,
    PredictsSets,
)
from corollary.ensemble import HistGradientBoostingRegressor, RandomForestRegressor


@pytest.fixture
def line(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 2))
    return X, X[:, 0] + rng.normal(size=300)


def boosting():
    return HistGradientBoostingRegressor(loss="quantile", quantile=[0.1, 0.9], max_iter=5)


@pytest.mark.parametrize(
    "model",
    [
        SplitConformalRegressor(LinearRegression(), confidence=0.6, random_state=0),
        SplitConformalRegressor(
            LinearRegression(), conformity_score="normalised", confidence=0.6, random_state=0
        ),
        ConformalQuantileRegressor(boosting(), confidence=0.6, random_state=0),
        CVPlusRegressor(LinearRegression(), confidence=0.6, random_state=0),
        JackknifeAfterBootstrapRegressor(
            RandomForestRegressor(max_depth=2), confidence=0.6, n_estimators=30, random_state=0
        ),
    ],
    ids=lambda model: type(model).__name__,
)
def test_misses_are_what_coverage_leaves(model, line):
    X, y = line
    model.fit(X[:200], y[:200])
    outside = model.misses(X[200:], y[200:])
    assert outside.dtype == bool
    assert 0 < outside.sum() < 100
    covered = coverage_score(y[200:], model.predict_interval(X[200:]))
    assert outside.mean() == pytest.approx(1 - covered)
    model.confidence = 0.9
    assert model.misses(X[200:], y[200:]).sum() < outside.sum()


def test_sets_miss_labels_that_they_do_not_hold(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 2))
    y = np.where(X[:, 0] + rng.normal(size=300) > 0, "yes", "no")
    model = SplitConformalClassifier(LogisticRegression(), confidence=0.7, random_state=0)
    model.fit(X[:200], y[:200])
    sets = model.predict_set(X[200:])
    outside = model.misses(X[200:], y[200:])
    assert outside.tolist() == [
        not row[list(model.classes_).index(label)] for row, label in zip(sets, y[200:])
    ]
    assert model.misses(X[:1], ["maybe"]).tolist() == [True]
    with pytest.raises(ValueError, match="encode y as in training"):
        model.misses(X[:1], [3])


def test_cells_of_one_threshold(line):
    X, y = line
    model = SplitConformalRegressor(LinearRegression(), random_state=0).fit(X, y)
    (cell,) = model.calibration_cells()
    assert cell == ("", 75, 69, 6, True, 9)
    assert cell.beyond == np.sum(model.scores_ > model.thresholds_[0])
    # The level of now counts, as it does for predictions.
    model.confidence = 0.8
    assert model.calibration_cells()[0][2:4] == (61, 14)
    model.confidence = 0.999
    few = model.calibration_cells()[0]
    assert (few.rank, few.beyond, few.finite, few.n_needed) == (76, 0, False, 999)
    tied = SplitConformalRegressor(DummyRegressor(), random_state=0).fit(X, np.sign(y))
    assert tied.calibration_cells()[0].beyond < 75 - tied.calibration_cells()[0].rank


def test_cells_of_groups_and_classes(line):
    X, _ = line
    y = np.where(X[:, 0] > 0.8, "rare", "usual")
    how = {"random_state": 0, "partition": lambda X: np.where(X[:, 1] > 0, "up", "down")}
    model = SplitConformalClassifier(LogisticRegression(), **how).fit(X, y)
    assert [cell.rows for cell in model.calibration_cells()] == ["of group 'down'", "of group 'up'"]
    assert [cell.n_calibration for cell in model.calibration_cells()] == model.group_sizes_.tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SplitConformalClassifier(LogisticRegression(), class_conditional=True, **how)
        cells = model.fit(X, y).calibration_cells()
    assert [cell.rows for cell in cells] == [
        "of group 'down' and of class 'rare'",
        "of group 'down' and of class 'usual'",
        "of group 'up' and of class 'rare'",
        "of group 'up' and of class 'usual'",
    ]
    assert sum(cell.n_calibration for cell in cells) == 75


def test_weights_leave_no_cell(line):
    X, y = line
    model = SplitConformalRegressor(
        LinearRegression(), likelihood_ratio=lambda X: np.ones(len(X)), random_state=0
    )
    assert model.fit(X, y).calibration_cells() == []


def test_folds(line):
    X, y = line
    model = CVPlusRegressor(LinearRegression(), cv=7).fit(X[:100], y[:100])
    folds = model.calibration_folds()
    assert folds.sizes.tolist() == [15, 15, 14, 14, 14, 14, 14]
    assert (folds.rank, folds.n_needed) == (91, 9)


def test_calibration_rows_are_recognised_by_their_scores(line):
    X, y = line
    model = LinearRegression().fit(X[:100], y[:100])
    wrapper = SplitConformalRegressor(model, prefit=True).fit(X[100:200], y[100:200])
    again = np.random.default_rng(0).permutation(np.arange(100, 200))
    assert wrapper.calibrated_on(X[100:200], y[100:200])
    assert wrapper.calibrated_on(X[again], y[again])
    assert not wrapper.calibrated_on(X[200:], y[200:])
    assert not wrapper.calibrated_on(X[100:199], y[100:199])
    labels = (y > 0).astype(int)
    model = LogisticRegression().fit(X[:100], labels[:100])
    sets = SplitConformalClassifier(model, prefit=True).fit(X[100:200], labels[100:200])
    before = dict(vars(sets))
    assert sets.calibrated_on(X[100:200], labels[100:200])
    assert all(vars(sets)[name] is value for name, value in before.items())
    # Equal scores of other rows prove nothing if few values occur.
    flat = DummyRegressor(strategy="constant", constant=0.0).fit(X, y)
    wrapper = SplitConformalRegressor(flat, prefit=True).fit(X[:50], np.ones(50))
    assert not wrapper.calibrated_on(X[50:100], np.ones(50))


@pytest.mark.parametrize(
    ("wrapper", "says"),
    [
        (SplitConformalRegressor(DummyRegressor()), {HasCalibrationCells}),
        (ConformalQuantileRegressor(boosting()), {HasCalibrationCells}),
        (SplitConformalClassifier(LogisticRegression()), {HasCalibrationCells, PredictsSets}),
        (CVPlusRegressor(DummyRegressor()), {HasCalibrationFolds}),
        (JackknifeAfterBootstrapRegressor(RandomForestRegressor()), set()),
    ],
    ids=lambda value: type(value).__name__,
)
def test_wrappers_say_what_certificates_ask_for(wrapper, says):
    assert isinstance(wrapper, PredictsRegions)
    asked = {HasCalibrationCells, HasCalibrationFolds, PredictsSets}
    assert {protocol for protocol in asked if isinstance(wrapper, protocol)} == says
