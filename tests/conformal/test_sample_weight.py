"""Weights of training rows: they go to the fits of the models, and nowhere else."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, train_test_split
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from corollary.conformal import (
    ConformalQuantileRegressor,
    CVPlusRegressor,
    JackknifeAfterBootstrapRegressor,
    Scaled,
    SplitConformalClassifier,
    SplitConformalRegressor,
    coverage_score,
)
from corollary.core.simulate import assert_share_equals
from corollary.ensemble import RandomForestRegressor


@pytest.fixture
def rows(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    return X, X @ [1.0, -1.0] + rng.normal(size=60) ** 3, rng.integers(0, 4, size=60)


def repeated(model, X, y, times):
    return model.fit(np.repeat(X, times, axis=0), np.repeat(y, times))


@pytest.mark.parametrize("score", ["absolute", "normalised"])
def test_weight_k_is_a_row_repeated_k_times_in_training(score, rows):
    X, y, times = rows
    model = SplitConformalRegressor(
        LinearRegression(),
        conformity_score=score,
        scale_estimator=LinearRegression(),
        confidence=0.6,
        random_state=3,
    ).fit(X, y, sample_weight=times)
    train, rest = train_test_split(np.arange(60), test_size=0.25, random_state=3)
    by_hand = repeated(LinearRegression(), X[train], y[train], times[train])
    np.testing.assert_allclose(model.predict(X), by_hand.predict(X))
    # Calibration counts each row once, whatever its weight.
    assert model.n_calibration_ == len(rest)
    if score == "absolute":
        np.testing.assert_allclose(model.scores_, np.abs(y[rest] - by_hand.predict(X[rest])))
    if score == "normalised":
        unweighted = SplitConformalRegressor(
            LinearRegression(), conformity_score=score, random_state=3
        ).fit(X, y)
        assert not np.allclose(
            model.scale_estimator_.predict(X), unweighted.scale_estimator_.predict(X)
        )


def test_the_scale_is_learnt_from_weighted_fits_of_the_folds(rows):
    """Rows of no weight are in no fold's fit, nor in that of the scale."""
    X, y, _ = rows
    weight = np.ones(60)
    weight[::3] = 0.0
    how = {"conformity_score": "normalised", "confidence": 0.6, "cv": 2, "random_state": 0}
    model = SplitConformalRegressor(LinearRegression(), **how)
    wild = np.where(weight == 0, 1e6, y)
    train, _ = train_test_split(np.arange(60), test_size=0.25, random_state=0)
    first = model.fit(X, y, sample_weight=weight)
    scale, floor = first.scale_estimator_.predict(X), first.scale_floor_
    again = model.fit(X, wild, sample_weight=weight)
    np.testing.assert_allclose(again.scale_estimator_.predict(X), scale)
    assert again.scale_floor_ == pytest.approx(floor)
    assert weight[train].min() == 0


def test_quantile_models_and_folds(rows):
    X, y, times = rows
    ends = (LinearRegression(), LinearRegression(fit_intercept=False))
    model = ConformalQuantileRegressor(
        ends[0], upper_estimator=ends[1], confidence=0.6, random_state=3
    ).fit(X, y, sample_weight=times)
    train, _ = train_test_split(np.arange(60), test_size=0.25, random_state=3)
    for end, fitted in zip(ends, (model.estimator_, model.upper_estimator_)):
        by_hand = repeated(end, X[train], y[train], times[train])
        np.testing.assert_allclose(fitted.predict(X), by_hand.predict(X))
    folds = CVPlusRegressor(LinearRegression(), cv=4, random_state=3).fit(X, y, sample_weight=times)
    assert len(folds.residuals_) == 60
    random = np.random.RandomState(3)
    for fitted, (kept, left) in zip(
        folds.models_, KFold(4, shuffle=True, random_state=random).split(X)
    ):
        by_hand = repeated(LinearRegression(), X[kept], y[kept], times[kept])
        np.testing.assert_allclose(fitted.predict(X[left]), by_hand.predict(X[left]))
    whole = repeated(LinearRegression(), X, y, times)
    np.testing.assert_allclose(folds.predict(X), whole.predict(X))


def test_classifiers_and_pipelines_take_weights_too(rows):
    X, y, times = rows
    labels = np.where(y > 0, "up", "down")
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    model = SplitConformalClassifier(pipe, confidence=0.6, random_state=3)
    model.fit(pd.DataFrame(X, columns=["a", "b"]), labels, sample_weight=pd.Series(times))
    train, _ = train_test_split(np.arange(60), test_size=0.25, random_state=3)
    scaled = StandardScaler().fit(X[train])
    by_hand = LogisticRegression().fit(
        scaled.transform(X[train]), labels[train], sample_weight=times[train]
    )
    np.testing.assert_allclose(
        model.predict_proba(pd.DataFrame(X, columns=["a", "b"])),
        by_hand.predict_proba(scaled.transform(X)),
    )


def test_coverage_of_a_weighted_fit_is_exact(seed):
    """Weights that belong to rows leave calibration rows exchangeable with new ones."""
    rng = np.random.default_rng(seed)
    repetitions, covered = 300, 0
    model = SplitConformalRegressor(
        LinearRegression(), confidence=0.75, calibration_size=15, random_state=0
    )
    for _ in range(repetitions):
        X = rng.normal(size=(31, 1))
        y = X[:, 0] * rng.standard_t(3, size=31)
        model.fit(X[:-1], y[:-1], sample_weight=np.exp(X[:-1, 0]))
        covered += coverage_score(y[-1:], model.predict_interval(X[-1:])) == 1.0
    assert_share_equals(covered, repetitions, 12 / 16)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda X, y, w: SplitConformalRegressor(KNeighborsRegressor()).fit(X, y, w),
            "SplitConformalRegressor passes weights of rows on, .* KNeighborsRegressor doesn't",
        ),
        (
            lambda X, y, w: CVPlusRegressor(
                make_pipeline(StandardScaler(), KNeighborsRegressor())
            ).fit(X, y, w),
            "CVPlusRegressor passes weights of rows on, .* fit of KNeighborsRegressor doesn't",
        ),
        (
            lambda X, y, w: SplitConformalRegressor(LinearRegression().fit(X, y), prefit=True).fit(
                X, y, w
            ),
            "with prefit=True trains no model, so that sample_weight would have no effect",
        ),
        (
            lambda X, y, w: SplitConformalRegressor(LinearRegression()).fit(X, y, -w),
            "Negative values in data passed to `sample_weight`",
        ),
        (
            lambda X, y, w: CVPlusRegressor(LinearRegression()).fit(X, y, w[:5]),
            "sample_weight.shape",
        ),
    ],
)
def test_weights_that_cannot_be_used(call, message, rows):
    X, y, _ = rows
    with pytest.raises(ValueError, match=message):
        call(X, y, np.ones(60))


def test_bags_take_no_weights(rows):
    with pytest.raises(TypeError, match="sample_weight"):
        JackknifeAfterBootstrapRegressor(RandomForestRegressor()).fit(
            *rows[:2], sample_weight=np.ones(60)
        )


class Weighed(LinearRegression):
    """Remembers whether it was given weights."""

    def fit(self, X, y, sample_weight=None):
        self.weighed_ = sample_weight is not None
        return super().fit(X, y, sample_weight)


@pytest.fixture
def ask():
    """Make models that ask for weights, or for none."""
    with config_context(enable_metadata_routing=True):
        yield lambda wish: Weighed().set_fit_request(sample_weight=wish)


@pytest.mark.parametrize("wish", [True, False])
def test_models_get_the_weights_that_they_ask_for(wish, ask, rows):
    X, y, times = rows
    how = {"confidence": 0.6, "random_state": 0}
    scaled = SplitConformalRegressor(ask(wish), conformity_score=Scaled(ask(not wish)), **how)
    scaled.fit(X, y, sample_weight=times)
    assert (scaled.estimator_.weighed_, scaled.scale_estimator_.weighed_) == (wish, not wish)
    ends = ConformalQuantileRegressor(ask(wish), upper_estimator=ask(not wish), **how)
    ends.fit(X, y, sample_weight=times)
    assert (ends.estimator_.weighed_, ends.upper_estimator_.weighed_) == (wish, not wish)
    folds = CVPlusRegressor(ask(wish), cv=3, **how).fit(X, y, sample_weight=times)
    assert [model.weighed_ for model in (folds.estimator_, *folds.models_)] == [wish] * 4


def test_a_model_that_has_not_said_whether_it_wants_weights_is_refused(ask, rows):
    X, y, times = rows
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        SplitConformalRegressor(Weighed()).fit(X, y, sample_weight=times)
