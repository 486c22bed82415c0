import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from corollary.conformal import CVPlusRegressor, conformal_rank, plus_coverage, plus_intervals
from corollary.core.simulate import assert_bound_holds


def brute_force(predictions, residuals, folds, confidence):
    """The definition, with the whole table of models by rows."""
    rank = conformal_rank(len(residuals), confidence)
    if rank > len(residuals):
        return np.tile([-np.inf, np.inf], (len(predictions), 1))
    upper = np.sort(predictions[:, folds] + residuals, axis=1)[:, rank - 1]
    lower = np.sort(predictions[:, folds] - residuals, axis=1)[:, -rank]
    return np.column_stack([lower, upper])


@given(
    n=st.integers(1, 120),
    n_folds=st.integers(1, 8),
    confidence=st.sampled_from([0.5, 0.8, 0.9]),
    ties=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_intervals_equal_the_definition(n, n_folds, confidence, ties, seed):
    rng = np.random.default_rng(seed)
    predictions = rng.normal(size=(7, n_folds)) * rng.choice([0.0, 0.01, 1.0, 100.0])
    residuals, folds = rng.exponential(size=n), rng.integers(n_folds, size=n)
    if ties:
        predictions, residuals = predictions.round(), residuals.round()
    got = plus_intervals(predictions, residuals, folds, confidence)
    # A hair more than the residuals: see test_rounding.py.
    residuals = np.nextafter(residuals, np.inf)
    np.testing.assert_array_equal(got, brute_force(predictions, residuals, folds, confidence))


def test_many_rows_in_blocks_equal_the_definition(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), rng.normal(size=300)
    model = CVPlusRegressor(LinearRegression(), cv=7, random_state=0).fit(X, y)
    whole = model.predict_interval(X)
    monkeypatch.setattr("corollary.conformal.plus.cv_plus._BLOCK", 90)
    np.testing.assert_array_equal(model.predict_interval(X), whole)
    said = np.column_stack([one.predict(X) for one in model.models_])
    folds = np.repeat(np.arange(7), model.fold_sizes_)
    residuals = np.nextafter(model.residuals_, np.inf)
    np.testing.assert_array_equal(whole, brute_force(said, residuals, folds, 0.9))


def test_published_levels():
    """The sharper count never promises less than the published term, nor that than its limit."""
    for n, n_folds in [(10, 10), (20, 5), (100, 10), (1000, 20), (60, 2), (99, 99)]:
        for alpha in (0.05, 0.1, 0.25, 0.4):
            size = n / n_folds
            lost = min(2 * (1 - 1 / n_folds) / (size + 1), (1 - n_folds / n) / (n_folds + 1))
            assert plus_coverage(n, n_folds, 1 - alpha) >= 1 - 2 * alpha - lost - 1e-12
            assert lost <= math.sqrt(2 / n)
            assert plus_coverage(n + 1, n_folds, 1 - alpha) <= 1 - alpha + 1 / n
    assert plus_coverage(99, 99, 0.9) == pytest.approx(1 - 19 / 100)
    assert plus_coverage(999, 9, 0.9) == pytest.approx(1 - (2 * 99 + 9) / (999 + 9))
    assert plus_coverage(8, 8, 0.9) == 1.0
    with pytest.raises(ValueError, match="at most one fold per row"):
        plus_coverage(5, 6, 0.9)


@pytest.mark.parametrize(("n_folds", "size"), [(1, 3), (2, 2), (3, 1), (4, 1)])
def test_all_tournaments_agree_with_the_count_of_strange_rows(n_folds, size):
    """Every outcome of every game between folds, the new one included: who can lose so rarely?"""
    fold = np.repeat(np.arange(n_folds + 1), size)
    games = [(i, j) for i in range(len(fold)) for j in range(i) if fold[i] != fold[j]]
    n, most = n_folds * size, {}
    for outcome in itertools.product([0, 1], repeat=len(games)):
        lost = np.zeros(len(fold), dtype=int)
        for (i, j), first in zip(games, outcome):
            lost[j if first else i] += 1
        for c in range(n):
            most[c] = max(most.get(c, 0), int((lost <= c).sum()))
    for c in range(n):
        # Built at the level whose rank leaves c rows, the interval misses with s / (n + size).
        bound = 1 - plus_coverage(n, n_folds, (n - c) / (n + 1))
        assert most[c] / (n + size) <= (2 * c + size) / (n + size)
        assert bound <= max((2 * c + size) / (n + size), most[c] / (n + size)) + 1e-12
    if size == 1:  # the count of jackknife+ is reached, so that no smaller one would do
        assert [most[c] for c in range(n)] == [min(2 * c + 1, n + 1) for c in range(n)]


@pytest.mark.parametrize("sizes", [(1, 1), (2, 2), (4, 4), (3, 2), (5, 4)])
def test_no_joint_law_of_two_p_values_breaks_the_average(sizes):
    """A linear program over all laws of two folds' ranks, each of them uniform."""
    shape, n = tuple(m + 1 for m in sizes), sum(sizes)
    ranks = np.stack(np.meshgrid(*(np.arange(1, m + 1) for m in shape), indexing="ij"))
    marginals = [np.arange(math.prod(shape)) // shape[1] == a for a in range(shape[0])]
    marginals += [np.arange(math.prod(shape)) % shape[1] == b for b in range(shape[1])]
    level = np.repeat([1 / shape[0], 1 / shape[1]], shape)
    for c in range(n):
        missed = (ranks.sum(axis=0) <= c + 2).ravel()  # ranks count the target itself
        worst = -linprog(-missed.astype(float), A_eq=np.array(marginals, float), b_eq=level).fun
        promised = plus_coverage(n, 2, (n - c) / (n + 1))
        if sizes[0] == sizes[1]:  # reached: no law could be worse
            assert worst == pytest.approx(min(1.0, (2 * c + 2) / (n + 2)))
            assert promised >= 1 - worst - 1e-9
        else:
            assert worst <= 1 - promised + 1e-9
            assert 1 - promised <= min(1.0, 2 * (c + 2) / (n + 2))


def nearest(X, y, new):
    """Predict by the target of the nearest row: as unstable as a model can be."""
    return y[np.abs(new[:, None] - X).argmin(axis=1)]


@pytest.mark.parametrize(("n", "n_folds"), [(2, 2), (3, 3), (5, 5), (12, 3), (13, 4), (20, 20)])
def test_coverage_is_at_least_what_is_proved_and_usually_nominal(n, n_folds, seed):
    rng = np.random.default_rng([seed, n])
    misses, repetitions, folds = 0, 200, np.arange(n) % n_folds
    for _ in range(repetitions):
        X, y = rng.normal(size=n + 1), rng.standard_t(3, size=n + 1)
        said = np.empty(n + 1)
        predictions = np.empty((1, n_folds))
        for k in range(n_folds):
            kept, left = np.flatnonzero(folds != k), np.append(np.flatnonzero(folds == k), n)
            said[left] = nearest(X[kept], y[kept], X[left])
            predictions[0, k] = said[n]
        low, high = plus_intervals(predictions, np.abs(y - said)[:-1], folds, 0.7)[0]
        misses += not low <= y[-1] <= high
    assert_bound_holds(misses, repetitions, 1 - plus_coverage(n, n_folds, 0.7))
    assert_bound_holds(misses, repetitions, 0.35)


def test_a_pipeline_is_refitted_whole_and_frames_arrive_as_they_came():
    seen = []

    class Watch(LinearRegression):
        def fit(self, X, y):
            seen.append(type(X).__module__.split(".")[0])
            return super().fit(np.asarray(X), y)

        def predict(self, X):
            return super().predict(np.asarray(X))

    rng = np.random.default_rng(0)
    y = rng.normal(size=40)
    for frame, name in [(pd.DataFrame, "pandas"), (pl.DataFrame, "polars")]:
        X = frame({"a": rng.normal(size=40), "b": rng.normal(size=40)})
        model = CVPlusRegressor(Watch(), cv=4, random_state=0).fit(X, y)
        assert seen == [name] * 5
        assert model.predict_interval(X).shape == (40, 2)
        seen.clear()
    pipe = make_pipeline(StandardScaler(), LinearRegression())
    model = CVPlusRegressor(pipe, cv=4, random_state=0).fit(np.asarray(X), y)
    means = {tuple(one[0].mean_) for one in model.models_}
    assert len(means) == 4


def test_too_few_rows_say_how_many_are_missing():
    model = CVPlusRegressor(LinearRegression(), cv=2)
    with pytest.warns(UserWarning, match="takes at least 9. Until 4 more rows are given"):
        model.fit(np.arange(5.0)[:, None], np.arange(5.0))
    assert np.all(np.isinf(model.predict_interval([[1.0]])))
    with pytest.raises(ValueError, match="at least 10 rows, one for each fold"):
        CVPlusRegressor(LinearRegression()).fit(np.arange(5.0)[:, None], np.arange(5.0))


def test_another_level_and_wrong_input():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    model = CVPlusRegressor(LinearRegression(), cv=5, random_state=0).fit(X, y)
    narrow, wide = model.predict_interval(X, confidence=0.6), model.predict_interval(X)
    assert np.all(narrow[:, 0] >= wide[:, 0])
    assert np.all(narrow[:, 1] <= wide[:, 1])
    with pytest.raises(ValueError, match="'confidence' of a prediction by CVPlusRegressor"):
        model.predict_interval(X, confidence=1.5)
    with pytest.raises(ValueError, match="one residual and one fold per row"):
        plus_intervals([[1.0]], [1.0, 2.0], [0], 0.5)
    with pytest.raises(ValueError, match="folds from 0 to 0"):
        plus_intervals([[1.0]], [1.0], [1], 0.5)
    with pytest.raises(ValueError, match="not negative"):
        plus_intervals([[1.0]], [-1.0], [0], 0.5)
