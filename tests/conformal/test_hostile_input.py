"""Split conformal estimators given predictions, labels and levels that make no sense."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import NotFittedError

from corollary.conformal import (
    AdaptiveThreshold,
    ConformalQuantileRegressor,
    CVPlusRegressor,
    JackknifeAfterBootstrapRegressor,
    SplitConformalClassifier,
    SplitConformalRegressor,
    absolute_score,
    conformal_quantile,
    conformal_rank,
    coverage_by_size,
    coverage_score,
    group_conditional_quantiles,
    mean_size,
    normalised_score,
    plus_intervals,
    quantile_score,
    smallest_calibration_size,
)
from corollary.ensemble import BaggingRegressor
from corollary.linear import LogisticRegression, Ridge


class Constant(RegressorMixin, BaseEstimator):
    def __init__(self, value=0.0):
        self.value = value

    def fit(self, X, y):
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict(self, X):
        return np.full(len(X), self.value)


@pytest.fixture
def rows(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 2))
    return X, X[:, 0] + 0.1 * rng.normal(size=80), np.where(X[:, 1] > 0, "up", "down")


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("which", [0, 1])
def test_an_infinite_prediction_has_the_whole_line(value, which, rows):
    # Infinity less infinity is no number, and an interval with such an end covers nothing.
    X, y, _ = rows
    model = wrappers(Constant(value))[which]
    intervals = model.fit(X, y).predict_interval(X[:3])
    np.testing.assert_array_equal(intervals, [[-np.inf, np.inf]] * 3)


@pytest.mark.parametrize("kind", [int, bool])
def test_labels_of_another_encoding_are_refused(kind, rows):
    # Every score would be infinite, and every set would silently hold every class.
    X, _, labels = rows
    model = LogisticRegression().fit(X[:40], labels[:40])
    conformal = SplitConformalClassifier(model, prefit=True)
    with pytest.raises(ValueError, match="None of the labels is a class of LogisticRegression"):
        conformal.fit(X[40:], np.ones(40, dtype=kind))
    # One label that the model does not know is no mistake of encoding.
    with pytest.warns(UserWarning, match="1 of 40 calibration rows"):
        conformal.fit(X[40:], np.array(["new", *labels[41:]]))


@pytest.mark.parametrize(
    "bad",
    [
        np.array(["up", 1] * 40, dtype=object),
        np.array(["up", None] * 40, dtype=object),
        pd.array(["up", None] * 40, dtype="string"),
    ],
    ids=["mixed", "None", "NA"],
)
def test_labels_that_cannot_be_compared(bad, rows):
    with pytest.raises(ValueError, match=r"labels of one kind|missing|NaN"):
        SplitConformalClassifier(LogisticRegression()).fit(rows[0], bad)


@pytest.mark.parametrize("confidence", ["0.9", [0.9], 1.0, np.nan])
def test_a_level_that_is_none(confidence, rows):
    X, y, _ = rows
    model = SplitConformalRegressor(Ridge(), random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"must be a float in the range \(0.0, 1.0\)"):
        model.predict_interval(X, confidence=confidence)


def test_a_model_of_several_targets_is_refused(rows):
    X, y, _ = rows
    model = Ridge().fit(X[:40], np.column_stack([y, y])[:40])
    with pytest.raises(ValueError, match="one prediction for each row"):
        SplitConformalRegressor(model, prefit=True).fit(X[40:], y[40:])


class Says(RegressorMixin, BaseEstimator):
    """Predicts what a function says."""

    def __init__(self, function=None):
        self.function = function

    def fit(self, X, y):
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict(self, X):
        return self.function(X)


class Gives(ClassifierMixin, BaseEstimator):
    """Gives the probabilities of a function."""

    def __init__(self, function=None):
        self.function = function

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return self.function(X)

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def nan_far_out(X):
    return np.where(X[:, 0] > 50, np.nan, 0.0)


def wrappers(model):
    return [
        SplitConformalRegressor(model, random_state=0),
        ConformalQuantileRegressor(model, upper_estimator=model, random_state=0),
        CVPlusRegressor(model, cv=5, random_state=0),
        JackknifeAfterBootstrapRegressor(BaggingRegressor(model), random_state=0),
    ]


@pytest.mark.parametrize("which", range(4))
def test_a_model_without_an_answer_gives_the_whole_line_and_a_warning(which, rows):
    X, y, _ = rows
    model = wrappers(Says(nan_far_out))[which].fit(X, y)
    with pytest.warns(UserWarning, match="not numbers for 1 row: intervals are infinite"):
        intervals = model.predict_interval(np.array([[99.0, 0.0], [0.0, 0.0]]))
    assert intervals[0].tolist() == [-np.inf, np.inf]
    assert np.isfinite(intervals[1]).all()
    silent = wrappers(Says(lambda X: np.full(len(X), np.nan)))[which]
    with pytest.raises(ValueError, match=r"not (finite )?numbers"):
        silent.fit(X, y)


@pytest.mark.parametrize("score", ["lac", "aps", "raps"])
def test_probabilities_that_are_no_numbers_give_full_sets_and_a_warning(score, rows):
    X, _, labels = rows
    model = SplitConformalClassifier(
        Gives(lambda X: nan_far_out(X)[:, None] + [0.9, 0.1]), conformity_score=score
    ).fit(X, labels)
    with pytest.warns(UserWarning, match="not numbers for 1 row: sets hold every class"):
        sets = model.predict_set(np.array([[0.0, 0.0], [99.0, 0.0]]))
    assert sets[1].all()
    with pytest.raises(ValueError, match="scores that are not numbers"):
        model.fit(X + 99, labels)


def test_predictions_that_end_the_search_of_the_kernel():
    """NaN compares with nothing: the search would run out of its arrays."""
    from corollary.conformal.plus._ends import interval_ends

    said = np.array([[np.nan, 1.0], [np.inf, 0.0], [1.0, 1.0]])
    intervals = interval_ends(said, np.arange(20.0), np.array([10, 10]), 0.5)
    assert intervals[:2].tolist() == [[-np.inf, np.inf]] * 2
    assert np.isfinite(intervals[2]).all()


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda X: np.array(["a"] * len(X)), TypeError, "predictions that are numbers. Says gave"),
        (lambda X: np.zeros(len(X)) + 1j, TypeError, "of type complex128; wrap a regressor"),
        (lambda X: None, ValueError, "one prediction for each row"),
    ],
)
@pytest.mark.parametrize("which", [0, 1, 2])
def test_predictions_that_are_no_numbers_at_all(which, function, error, message, rows):
    with pytest.raises(error, match=message):
        wrappers(Says(function))[which].fit(*rows[:2])


@pytest.mark.parametrize(
    "function", [lambda X: [1.5] * len(X), lambda X: np.array([1.5] * len(X), dtype=object)]
)
def test_lists_and_objects_of_numbers_are_predictions(function, rows):
    X, y, _ = rows
    model = SplitConformalRegressor(Says(function), random_state=0).fit(X, y)
    assert model.predict_interval(X[:1]).mean() == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda X: np.full((len(X), 5), 0.2), r"of shape \(20, 2\). Gives gave shape \(20, 5\)"),
        (lambda X: np.full(len(X), 0.2), r"Gives gave shape \(20,\)"),
    ],
)
def test_probabilities_of_another_shape(function, message, rows):
    X, _, labels = rows
    with pytest.raises(ValueError, match=message):
        SplitConformalClassifier(Gives(function)).fit(X, labels)


def test_a_regressor_has_no_classes(rows):
    X, y, labels = rows
    for model in (
        SplitConformalClassifier(Constant().fit(X, y), prefit=True),
        SplitConformalClassifier(Ridge()),
    ):
        with pytest.raises(TypeError, match="has none; for a regressor, use SplitConformalReg"):
            model.fit(X, (y > 0).astype(int))
    with pytest.raises(ValueError, match=r"must be real numbers\. Got .* use SplitConformalClas"):
        SplitConformalRegressor(Ridge()).fit(X, labels)


@pytest.mark.parametrize(
    "model",
    [
        SplitConformalRegressor(Ridge(), prefit=True),
        SplitConformalRegressor(
            Constant().fit([[0.0]], [0.0]),
            prefit=True,
            conformity_score="normalised",
            scale_estimator=Ridge(),
        ),
        ConformalQuantileRegressor(
            Constant().fit([[0.0]], [0.0]), upper_estimator=Ridge(), prefit=True
        ),
    ],
)
def test_a_part_that_was_said_to_be_fitted_and_is_not(model, rows):
    with pytest.raises(NotFittedError, match="prefit=True needs fitted models, and this Ridge is"):
        model.fit(*rows[:2])


@pytest.mark.parametrize("which", range(3))
def test_no_rows_and_too_few_rows(which, rows):
    X, y, _ = rows
    with pytest.raises(ValueError, match=r"needs at least one row\. Got n_samples=0"):
        wrappers(Ridge())[which].fit(X[:0], y[:0])
    model = SplitConformalRegressor(Ridge(), calibration_size=80)
    with pytest.raises(ValueError, match="n_samples=80 and calibration_size=80"):
        model.fit(X, y)


def test_equal_scores(rows):
    X, _, _ = rows
    model = SplitConformalRegressor(Constant(), random_state=0).fit(X, np.ones(80))
    np.testing.assert_allclose(model.predict_interval(X[:1]), [[-1.0, 1.0]], rtol=1e-15)
    folds = CVPlusRegressor(Constant(), cv=5, random_state=0).fit(X, np.ones(80))
    np.testing.assert_allclose(folds.predict_interval(X[:1]), [[-1.0, 1.0]], rtol=1e-15)


def test_labels_beyond_those_of_calibration_and_of_the_model(rows):
    X, _, _ = rows
    model = LogisticRegression().fit(X[:40], np.arange(40) % 3)
    wrapper = SplitConformalClassifier(model, prefit=True).fit(X[40:], np.zeros(40, dtype=int))
    assert wrapper.predict_set(X).shape == (80, 3)
    # A quarter of infinite scores for the fourth class, unknown to the model, gives full sets.
    with pytest.warns(UserWarning, match="10 of 40 calibration rows"):
        with_new = wrapper.fit(X[40:], np.arange(40) % 4)
    assert np.isinf(with_new.thresholds_[0])
    assert coverage_score([3], with_new.predict_set(X[:1]), classes=[0, 1, 2, 3]) == 1.0
    scores = with_new.scores_
    for kind in (np.int8, np.uint8, np.uint64, np.int64):
        with pytest.warns(UserWarning, match="10 of 40 calibration rows"):
            narrow = wrapper.fit(X[40:], (np.arange(40) % 4).astype(kind))
        np.testing.assert_array_equal(narrow.scores_, scores)
    with pytest.warns(UserWarning, match="10 of 40 calibration rows"):
        negative = wrapper.fit(X[40:], np.arange(40) % 4 - 1)
    assert np.isinf(negative.scores_).sum() == 10


@pytest.mark.parametrize("n", [*range(1, 200), 999, 9_999, 99_999])
def test_the_smallest_level_that_is_finite(n):
    """1 - 1 / (n + 1) times n + 1 is n, whatever floating point makes of it."""
    level = 1 - 1 / (n + 1)
    assert conformal_rank(n, level) == n
    assert smallest_calibration_size(level) == n
    if n < 200:
        assert conformal_quantile(np.arange(n), level) == n - 1
        model = SplitConformalRegressor(Constant(), calibration_size=n, confidence=level)
        intervals = model.fit(np.zeros((n + 1, 1)), np.ones(n + 1)).predict_interval([[0.0]])
        np.testing.assert_allclose(intervals, [[-1.0, 1.0]], rtol=1e-15)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: coverage_score([1.0], [[0.0, 1.0, 2.0]]), "two columns and no classes, or"),
        (lambda: mean_size([1.0, 2.0]), "mean_size needs intervals of shape"),
        (lambda: AdaptiveThreshold("often"), "'confidence' parameter of AdaptiveThreshold"),
        (lambda: AdaptiveThreshold(window=2.5), "'window' parameter of AdaptiveThreshold"),
        (lambda: plus_intervals([[1.0]], [1.0], [0.5], 0.5), "folds that are whole numbers"),
        (
            lambda: coverage_score([0], np.array([[1, 0]]), classes=[0, 1]),
            "Got shape .* int",
        ),
        (lambda: coverage_score(["a"], [[0.0, 1.0]]), "targets that are numbers"),
        (
            lambda: coverage_score([1], [[True, True]], classes=["0", "1"]),
            "encode y as in training",
        ),
        (
            lambda: coverage_by_size(["1"], [[True]], classes=[1]),
            "coverage_by_size needs labels of",
        ),
        (lambda: group_conditional_quantiles([1.0], [np.nan], 0.5), "Got 1 that are missing"),
        (
            lambda: group_conditional_quantiles([1.0], np.array([np.nan], dtype=object), 0.5),
            "Got 1 that are missing",
        ),
        (lambda: group_conditional_quantiles([1.0], [np.datetime64("NaT")], 0.5), "Got 1 that"),
        (lambda: group_conditional_quantiles([1.0], pd.Series([pd.NA]), 0.5), "Got 1 that"),
        (
            lambda: group_conditional_quantiles([1.0, 2.0], np.array(["a", None], object), 0.5),
            "labels of one kind, none of them missing. Got labels of type NoneType, str",
        ),
        (
            lambda: absolute_score([1.0, 2.0], [1.0]),
            r"prediction of shape \(1,\)",
        ),
        (lambda: normalised_score([1.0], [1.0], [1.0, 2.0]), r"scale of shape \(2,\)"),
        (lambda: quantile_score([[1.0]], [[1.0]], [[1.0]]), r"y of shape \(1, 1\)"),
    ],
)
def test_functions_say_what_they_need(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_intervals_with_equal_infinite_ends_have_no_width():
    assert mean_size([[np.inf, np.inf], [0.0, 2.0]]) == 1.0
    assert mean_size([[-np.inf, np.inf]]) == np.inf


@pytest.mark.parametrize("which", range(4))
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda y: np.column_stack([y, y]), r"of one target.* Got shape \(80, 2\)"),
        (lambda y: y.astype(str), r"must be real numbers\. Got np.str_"),
        (lambda y: y.astype(str).astype(object), "must be real numbers"),
        (lambda y: np.arange(80).astype("datetime64[D]"), "of type datetime64"),
        (lambda y: np.arange(80).astype("timedelta64[D]"), "of type timedelta64"),
        (lambda y: np.where(y > 0, None, y), "NaN"),
        (lambda y: np.append(y[1:], np.inf), "infinity"),
    ],
)
def test_targets_that_are_no_numbers(which, make, message, rows):
    X, y, _ = rows
    with pytest.raises(ValueError, match=message):
        wrappers(Ridge())[which].fit(X, make(y))
    for column in (y.tolist(), pd.Series(y), y.astype(object), (100 * y).astype(int)):
        assert wrappers(Constant())[which].fit(X, column).predict(X).shape == (80,)


def test_several_labels_of_a_row_are_refused(rows):
    X, _, labels = rows
    with pytest.raises(ValueError, match=r"of one target.* Got shape \(80, 2\)"):
        SplitConformalClassifier(LogisticRegression()).fit(X, np.column_stack([labels, labels]))


@pytest.mark.parametrize("which", range(3))
def test_a_classifier_has_no_intervals(which, rows):
    X, _, labels = rows
    with pytest.raises(TypeError, match="LogisticRegression is a classifier; use SplitConformalCl"):
        wrappers(LogisticRegression())[which].fit(X, (labels == "up").astype(int))


@pytest.mark.parametrize("which", range(4))
def test_a_level_that_was_set_after_calibration(which, rows):
    X, y, _ = rows
    model = wrappers(Ridge())[which].fit(X, y).set_params(confidence=2)
    with pytest.raises(ValueError, match=r"'confidence' of a prediction by .* Got 2 instead"):
        model.predict_interval(X)
    if which < 2:
        model.set_params(confidence=0.999)
        with pytest.warns(UserWarning, match="20 calibration rows; confidence 0.999"):
            assert np.isinf(model.predict_interval(X)).all()


@pytest.mark.parametrize("which", range(4))
def test_warnings_point_at_the_line_that_called(which, rows):
    X, y, _ = rows
    with pytest.warns(UserWarning, match="intervals are infinite") as fitted:
        model = wrappers(Says(nan_far_out))[which].set_params(confidence=0.999).fit(X, y)
    with pytest.warns(UserWarning, match="not numbers for 80 rows") as predicted:
        model.predict_interval(X + 99)
    for warning in (*fitted, *predicted):
        assert warning.filename == __file__


def test_a_scale_that_is_no_number_gives_the_whole_line(rows):
    X, y, _ = rows
    scale = Says(lambda X: nan_far_out(X) + 1.0)
    model = SplitConformalRegressor(
        Constant(), conformity_score="normalised", scale_estimator=scale, random_state=0
    ).fit(X, y)
    with pytest.warns(UserWarning, match="not numbers for 1 row: intervals are infinite"):
        intervals = model.predict_interval(np.array([[99.0, 0.0], [0.0, 0.0]]))
    assert intervals[0].tolist() == [-np.inf, np.inf]
    assert np.isfinite(intervals[1]).all()
