import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import betabinom
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import corollary
from corollary.conformal import (
    ConformalQuantileRegressor,
    SplitConformalRegressor,
    coverage_score,
    mean_size,
)
from corollary.core.estimator import check_training_data
from corollary.core.simulate import LEVEL, assert_share_equals


class Zero(RegressorMixin, BaseEstimator):
    """Predicts zero, so that the targets are the errors."""

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.zeros(len(X))


class Column(Zero):
    """Predicts one column."""

    def __init__(self, column=0, sign=1.0):
        self.column = column
        self.sign = sign

    def predict(self, X):
        return self.sign * np.asarray(X)[:, self.column]


class Recaller(Zero):
    def fit(self, X, y):
        check_training_data(self, X, y)
        return self


def zero(**how):
    return SplitConformalRegressor(Zero().fit(None, None), prefit=True, **how)


def quietly(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return call()


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 9, 10, 19, 30])
def test_marginal_coverage_is_exact(n, seed):
    """Hits among m new rows follow the Beta-binomial law whose mean is k / (n + 1)."""
    rng = np.random.default_rng([seed, n])
    confidence, repetitions, m = 0.8, 400, 3
    model = zero(confidence=confidence)
    hits = np.empty(repetitions, dtype=int)
    for i in range(repetitions):
        y = rng.standard_cauchy(n)
        quietly(lambda y=y: model.fit(np.zeros((n, 1)), y))
        fresh = rng.standard_cauchy(m)
        hits[i] = round(m * coverage_score(fresh, model.predict_interval(np.zeros((m, 1)))))
    rank = math.ceil((n + 1) * confidence - 1e-9)
    if rank > n:
        assert np.all(hits == m)
        return
    law = betabinom(m, rank, n + 1 - rank)
    for count in range(m + 1):
        assert_share_equals(int(np.sum(hits == count)), repetitions, law.pmf(count))


def heteroscedastic(n, rng):
    X = rng.uniform(0.2, 2, size=(n, 2))
    return X, X[:, 0] * rng.standard_t(4, size=n)


@pytest.mark.parametrize("score", ["absolute", "normalised"])
def test_fitted_coverage_is_exact_for_every_score(score, seed):
    """Splitting, fitting and cross-fitting leave calibration rows exchangeable with new ones."""
    rng = np.random.default_rng(seed)
    repetitions, covered = 200, 0
    model = SplitConformalRegressor(
        LinearRegression(),
        confidence=0.75,
        conformity_score=score,
        calibration_size=15,
        cv=2,
        random_state=0,
    )
    for _ in range(repetitions):
        X, y = heteroscedastic(31, rng)
        model.fit(X[:-1], y[:-1])
        covered += coverage_score(y[-1:], model.predict_interval(X[-1:])) == 1.0
    assert_share_equals(covered, repetitions, 12 / 16)


def test_scale_learnt_on_calibration_rows_would_be_caught(seed):
    """The planted fault: a scale that has seen the calibration residuals under-covers."""
    rng = np.random.default_rng(seed)
    repetitions, covered = 200, 0
    for _ in range(repetitions):
        X, y = heteroscedastic(31, rng)
        scale = KNeighborsRegressor(1).fit(X[:-1], np.abs(y[:-1]) + 1e-3)
        model = zero(confidence=0.75, conformity_score="normalised", scale_estimator=scale)
        model.fit(X[:-1], y[:-1])
        covered += coverage_score(y[-1:], model.predict_interval(X[-1:])) == 1.0
    with pytest.raises(AssertionError, match="share is wrong"):
        assert_share_equals(covered, repetitions, 24 / 31)


def test_widths_follow_difficulty(seed):
    rng = np.random.default_rng(seed)
    X, y = heteroscedastic(3000, rng)
    X_new, y_new = heteroscedastic(3000, rng)
    hard = X_new[:, 0] > 1.5
    coverage = {}
    for score in ("absolute", "normalised"):
        model = SplitConformalRegressor(
            LinearRegression(), conformity_score=score, random_state=seed
        ).fit(X, y)
        intervals = model.predict_interval(X_new)
        coverage[score] = [coverage_score(y_new[m], intervals[m]) for m in (hard, ~hard)]
    assert coverage["absolute"][0] < 0.85 < 0.92 < coverage["absolute"][1]
    assert abs(coverage["normalised"][0] - 0.9) < 0.04
    assert abs(coverage["normalised"][1] - 0.9) < 0.04


def test_scale_comes_from_cross_fitted_residuals(seed):
    """A model that memorises has no residuals on its own rows; its scale must not believe that."""
    X, y = heteroscedastic(600, np.random.default_rng(seed))
    model = SplitConformalRegressor(
        KNeighborsRegressor(1),
        conformity_score="normalised",
        scale_estimator=LinearRegression(),
        random_state=seed,
    ).fit(X, y)
    easy, hard = model.predict_interval([[0.3, 1.0], [1.9, 1.0]])
    assert hard[1] - hard[0] > 1.5 * (easy[1] - easy[0])


def test_intervals_by_hand():
    y = np.array([3.0, -1.0, 2.0, -5.0, 4.0])
    X = np.ones((5, 2))
    model = zero(confidence=0.5).fit(X, y)
    assert model.scores_.tolist() == [3.0, 1.0, 2.0, 5.0, 4.0]
    assert model.thresholds_.tolist() == [3.0]

    def close(intervals, ends):
        np.testing.assert_allclose(intervals, [ends], rtol=1e-15)

    close(model.predict_interval(X[:1]), [-3.0, 3.0])  # rank ceil(6 * 0.5)
    close(model.predict_interval(X[:1], confidence=0.8), [-5.0, 5.0])
    scaled = zero(confidence=0.5, conformity_score="normalised", scale_estimator=Column().fit(X, y))
    close(scaled.fit(2 * X, y).predict_interval(X[:1]), [-1.5, 1.5])


@pytest.mark.parametrize("grouped", [False, True])
def test_intervals_are_those_of_sorted_scores(grouped, seed):
    rng = np.random.default_rng(seed)
    X, y = heteroscedastic(100, rng)
    partition = (lambda X: X[:, 1] > 1) if grouped else None
    model = SplitConformalRegressor(Column().fit(X, y), prefit=True, partition=partition)
    intervals = model.fit(X, y).predict_interval(X)
    groups = partition(X) if grouped else np.zeros(100, dtype=bool)
    for group in np.unique(groups):
        rows = groups == group
        size = np.sort(np.abs(y - X[:, 0])[rows])[math.ceil(0.9 * (rows.sum() + 1) - 1e-9) - 1]
        size = np.nextafter(size, np.inf)  # see test_rounding.py
        np.testing.assert_array_equal(intervals[rows, 0], X[rows, 0] - size)
        np.testing.assert_array_equal(intervals[rows, 1], X[rows, 0] + size)
    X[90, 0] = np.nan
    with pytest.warns(UserWarning, match="not numbers for 1 row"):
        assert np.isinf(model.predict_interval(X)[90]).all()


def test_too_few_rows_give_infinity_and_say_how_many_are_missing():
    with pytest.warns(UserWarning, match="has 5 calibration rows; confidence 0.9 takes at least 9"):
        model = zero().fit(np.zeros((5, 1)), np.arange(5.0))
    assert np.isinf(model.predict_interval(np.zeros((2, 1)))).all()
    with pytest.warns(UserWarning, match=r"Until 1 more row is given, intervals are infinite"):
        model.calibrate(np.zeros((8, 1)), np.arange(8.0))
    model = zero(confidence=0.5).fit(np.zeros((5, 1)), np.arange(5.0))
    with pytest.warns(UserWarning, match="confidence 0.99 takes at least 99"):
        model.predict_interval(np.zeros((1, 1)), confidence=0.99)


def test_partition_covers_every_group_and_warns_of_new_ones(seed):
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 2, size=4000)
    X = groups[:, None].astype(float)
    y = np.where(groups, 10.0, 1.0) * rng.normal(size=4000)

    def partition(rows):
        return np.where(rows[:, 0] > 1.5, "new", np.where(rows[:, 0] > 0.5, "wild", "calm"))

    model = zero(partition=partition).fit(X[:2000], y[:2000])
    assert model.group_labels_.tolist() == ["calm", "wild"]
    intervals = model.predict_interval(X[2000:])
    pooled = zero().fit(X[:2000], y[:2000]).predict_interval(X[2000:])
    for group in (0, 1):
        member = groups[2000:] == group
        assert abs(coverage_score(y[2000:][member], intervals[member]) - 0.9) < 0.04
    assert coverage_score(y[2000:][groups[2000:] == 1], pooled[groups[2000:] == 1]) < 0.85
    with pytest.warns(UserWarning, match="1 row belongs to groups without calibration rows"):
        assert np.isinf(model.predict_interval(np.array([[2.0]]))).all()
    with pytest.raises(ValueError, match="one label for each of 3 rows"):
        zero(partition=lambda rows: [1]).fit(X[:3], y[:3])


def test_small_groups_are_named_in_the_warning():
    X = np.r_[np.zeros(20), np.ones(3)][:, None]
    with pytest.warns(UserWarning, match="in 1 of 2 groups, 3 in the smallest"):
        model = zero(partition=lambda rows: rows[:, 0]).fit(X, np.arange(23.0))
    assert np.isinf(model.predict_interval(X)[:, 0]).tolist() == [False] * 20 + [True] * 3


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_reach_the_model_as_they_came(library, seed):
    rng = np.random.default_rng(seed)
    columns = {"colour": rng.choice(["red", "blue"], size=80).tolist(), "size": rng.random(80)}
    frame = pd.DataFrame(columns) if library == "pandas" else pl.DataFrame(columns)
    y = rng.normal(size=80) + (np.array(columns["colour"]) == "red")
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough"),
        LinearRegression(),
    )
    wrapped = SplitConformalRegressor(model, conformity_score="normalised", random_state=0)
    intervals = wrapped.fit(frame, y).predict_interval(frame)
    assert intervals.shape == (80, 2)
    assert list(wrapped.feature_names_in_) == ["colour", "size"]
    assert coverage_score(y, intervals) > 0.8


def test_calibrating_on_training_rows_is_refused(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    model = SplitConformalRegressor(Recaller().fit(X[:30], y[:30]), prefit=True)
    with pytest.raises(ValueError, match=r"Calibrating SplitConformalRegressor .* 30 of 30 rows"):
        model.fit(X[:30], y[:30])
    model.calibrate(X[30:], y[30:])
    assert model.n_calibration_ == 30
    fitted = SplitConformalRegressor(Recaller(), random_state=0).fit(X[:40], y[:40])
    with pytest.raises(ValueError, match="was not trained on"):
        fitted.calibrate(X[:40], y[:40])
    fitted.calibrate(X[40:], y[40:])
    assert fitted.n_calibration_ == 20


@pytest.mark.parametrize("part", ["estimator", "scale_estimator", "upper_estimator"])
def test_a_part_that_has_seen_the_calibration_rows_is_refused(part, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)

    class One(Recaller):
        def predict(self, X):
            return np.ones(len(X))

    kind, more = SplitConformalRegressor, {"conformity_score": "normalised"}
    parts = dict.fromkeys(["estimator", "scale_estimator"], One().fit(X[:30], y[:30]))
    if part == "upper_estimator":
        kind, more = ConformalQuantileRegressor, {}
        parts = dict.fromkeys(["estimator", part], One().fit(X[:30], y[:30]))
    assert kind(**parts, **more, prefit=True).fit(X[30:], y[30:]).n_calibration_ == 30
    parts[part] = One().fit(X[30:], y[30:])
    with pytest.raises(ValueError, match="30 of 30 rows among its training rows"):
        kind(**parts, **more, prefit=True).fit(X[30:], y[30:])
    trained = kind(One(), **more, **({} if "scale_estimator" in parts else {part: One()}))
    trained.fit(X[:40], y[:40])
    if part != "estimator":
        trained.estimator_ = One().fit(X[:1] + 9, y[:1])  # only the part remembers
    with pytest.raises(ValueError, match="rows among its training rows"):
        trained.calibrate(X[:40], y[:40])


def test_certify_sees_through_the_wrapper(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    model = SplitConformalRegressor(Recaller(), random_state=0).fit(X[:40], y[:40])
    with pytest.raises(ValueError, match="was not trained on"):
        corollary.certify(model, X[:40], y[:40])
    assert corollary.certify(model, X[40:], y[40:])


def test_perfect_models_and_tiny_data(seed):
    X = np.arange(40.0)[:, None]
    model = SplitConformalRegressor(
        LinearRegression(), conformity_score="normalised", random_state=seed
    )
    intervals = model.fit(X, np.zeros(40)).predict_interval(X)
    assert mean_size(intervals) == pytest.approx(0, abs=1e-9)
    with pytest.raises(ValueError, match="n_samples=1"):
        model.fit(X[:1], [1.0])


def test_same_seed_same_bits(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(100, 2)), rng.normal(size=100)
    first, second = (
        SplitConformalRegressor(
            LinearRegression(), conformity_score="normalised", random_state=seed
        ).fit(X, y)
        for _ in "ab"
    )
    assert np.array_equal(first.predict_interval(X), second.predict_interval(X))


def test_memory_stays_linear():
    """One hundred thousand rows on both sides: a table of their product would be 80 GB."""
    import tracemalloc

    n = 100_000
    y = np.random.default_rng(0).normal(size=n)
    X = np.zeros((n, 1))
    tracemalloc.start()
    zero().fit(X, y).predict_interval(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 * 8 * n


def test_saving_and_loading(tmp_path, seed):
    from corollary.linear import Ridge

    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(100, 2)), rng.normal(size=100)
    model = SplitConformalRegressor(Ridge(), conformity_score="normalised", random_state=0).fit(
        X, y
    )
    corollary.save(model, tmp_path / "model.corollary")
    again = corollary.load(tmp_path / "model.corollary")
    assert np.array_equal(again.predict_interval(X), model.predict_interval(X))
    assert np.array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda m: setattr(m, "n_calibration_", 3), "do not add up"),
        (lambda m: setattr(m, "weights_", np.ones(9)), "not sorted"),
        (lambda m: setattr(m, "thresholds_", np.array([1.0])), "not those of its scores"),
        (lambda m: setattr(m, "thresholds_", None), "no level"),
        (lambda m: setattr(m, "group_labels_", np.array([0, 1])), "do not fit its labels"),
        (lambda m: setattr(m, "scores_", np.full(9, np.nan)), "not a number"),
    ],
)
def test_damaged_calibration_is_noticed(damage, message):
    model = zero().fit(np.zeros((9, 1)), np.arange(9.0)[::-1])
    assert model._fits_together() is None
    damage(model)
    assert message in model._fits_together()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda X, y: SplitConformalRegressor(Zero(), confidence=1.5).fit(X, y),
            "'confidence' parameter of SplitConformalRegressor",
        ),
        (
            lambda X, y: zero(confidence=1).calibrate(X, y),
            "'confidence' parameter of SplitConformalRegressor",
        ),
        (
            lambda X, y: SplitConformalRegressor(Zero(), conformity_score="best").fit(X, y),
            "'conformity_score' parameter",
        ),
        (
            lambda X, y: zero(conformity_score="normalised").fit(X, y),
            "needs a fitted 'scale_estimator'",
        ),
        (
            lambda X, y: zero(
                conformity_score="normalised", scale_estimator=Column(sign=-1.0).fit(X, y)
            ).fit(X + 1, y),
            "must predict positive scales. Got 0",
        ),
        (lambda X, y: zero().fit(X, np.full(20, np.nan)), "Input y contains NaN"),
        (lambda X, y: zero().calibrate(X, np.append(y[1:], np.inf)), "Input y contains infinity"),
        (
            lambda X, y: SplitConformalRegressor(Zero()).fit(X, np.append(y[1:], np.nan)),
            "Input y contains NaN",
        ),
        (lambda X, y: zero().fit(X, None), "requires y to be passed"),
        (
            lambda X, y: zero().fit(X, y).predict_interval(X, confidence=2.0),
            r"must be a float in the range \(0.0, 1.0\). Got 2.0",
        ),
        (
            lambda X, y: SplitConformalRegressor(Column().fit(X, y), prefit=True).fit(
                X * np.nan, y
            ),
            "20 scores that are not numbers",
        ),
        (
            lambda X, y: SplitConformalRegressor(LinearRegression(), prefit=True).fit(X, y),
            "not fitted yet",
        ),
        (lambda X, y: SplitConformalRegressor(LinearRegression()).predict(X), "not fitted yet"),
    ],
)
def test_errors_say_what_is_required(call, message):
    from sklearn.exceptions import NotFittedError

    X, y = np.zeros((20, 1)), np.arange(20.0)
    with pytest.raises((ValueError, NotFittedError), match=message):
        call(X, y)


@pytest.mark.verify
@pytest.mark.parametrize("score", ["absolute", "normalised"])
@pytest.mark.parametrize("n", [9, 10, 30])
def test_fitted_coverage_is_exact_at_length(score, n, seed):
    rng = np.random.default_rng([seed, n])
    repetitions, m = 3000, 5
    model = SplitConformalRegressor(
        LinearRegression(), conformity_score=score, calibration_size=n, cv=3
    )
    rank = math.ceil((n + 1) * 0.9 - 1e-9)
    law = betabinom(m, rank, n + 1 - rank)
    hits = []
    for i in range(repetitions):
        X, y = heteroscedastic(n + 20 + m, rng)
        model.set_params(random_state=i).fit(X[:-m], y[:-m])
        hits.append(round(m * coverage_score(y[-m:], model.predict_interval(X[-m:]))))
    for count in range(m + 1):
        assert_share_equals(hits.count(count), repetitions, law.pmf(count), level=LEVEL)
