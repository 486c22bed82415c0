"""Scores as objects: what strings are short for, and what a model file holds."""

import numpy as np
import pytest
from sklearn.base import clone

import corollary
from corollary.conformal import (
    APS,
    LAC,
    RAPS,
    Absolute,
    ConformalQuantileRegressor,
    Quantiles,
    Scaled,
    SplitConformalClassifier,
    SplitConformalRegressor,
)
from corollary.core.compat import InvalidParameterError
from corollary.linear import LogisticRegression, QuantileRegressor, Ridge


@pytest.fixture
def rows(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.2, 2, size=(120, 2))
    return X, X[:, 0] * rng.normal(size=120), np.where(X[:, 1] > rng.normal(1, 0.3, 120), "b", "a")


def ends():
    return [QuantileRegressor(quantile=q, alpha=0.0) for q in (0.2, 0.8)]


@pytest.mark.parametrize(
    ("short", "score"),
    [
        ({}, Absolute()),
        ({"conformity_score": "absolute"}, Absolute()),
        ({"conformity_score": "normalised"}, Scaled()),
        (
            {"conformity_score": "normalised", "scale_estimator": Ridge(9.0), "cv": 3},
            Scaled(Ridge(9.0), cv=3),
        ),
    ],
)
def test_names_of_interval_scores_are_short_for_objects(short, score, rows):
    X, y, _ = rows
    how = {"confidence": 0.7, "random_state": 0}
    first = SplitConformalRegressor(Ridge(), **short, **how).fit(X, y)
    second = SplitConformalRegressor(Ridge(), conformity_score=score, **how).fit(X, y)
    np.testing.assert_array_equal(first.predict_interval(X), second.predict_interval(X))


@pytest.mark.parametrize(
    ("short", "score"),
    [
        ({"conformity_score": "lac"}, LAC()),
        ({"conformity_score": "aps"}, APS()),
        ({"conformity_score": "aps", "randomised": True}, APS(randomised=True)),
        (
            {"conformity_score": "raps", "penalty": 0.3, "free_classes": 0, "randomised": True},
            RAPS(0.3, 0, randomised=True),
        ),
    ],
)
def test_names_of_set_scores_are_short_for_objects(short, score, rows, tmp_path):
    X, _, labels = rows
    how = {"confidence": 0.7, "random_state": 0}
    first = SplitConformalClassifier(LogisticRegression(), **short, **how).fit(X, labels)
    second = SplitConformalClassifier(LogisticRegression(), conformity_score=score, **how)
    sets = second.fit(X, labels).predict_set(X)
    np.testing.assert_array_equal(first.predict_set(X), sets)
    assert second.conformity_score_ == score
    corollary.save(second, tmp_path / "file")
    again = corollary.load(tmp_path / "file")
    assert again.conformity_score == score
    np.testing.assert_array_equal(again.predict_set(X), sets)


def test_conformal_quantile_regression_is_a_score(rows):
    X, y, _ = rows
    low, high = ends()
    how = {"confidence": 0.6, "random_state": 0}
    wrapper = ConformalQuantileRegressor(low, upper_estimator=high, **how).fit(X, y)
    score = SplitConformalRegressor(low, conformity_score=Quantiles(high=high), **how).fit(X, y)
    np.testing.assert_array_equal(wrapper.predict_interval(X), score.predict_interval(X))
    np.testing.assert_array_equal(wrapper.predict(X), score.predict(X))
    # With models of both quantiles the wrapper's own one is there for points alone.
    three = SplitConformalRegressor(Ridge(), conformity_score=Quantiles(low, high), **how)
    three.fit(X, y)
    np.testing.assert_array_equal(wrapper.predict_interval(X), three.predict_interval(X))
    np.testing.assert_array_equal(three.predict(X), three.estimator_.predict(X))


@pytest.mark.parametrize("score", [Scaled(Ridge(3.0)), Quantiles(*ends()), Quantiles(high=Ridge())])
def test_fitted_scores_are_saved(score, rows, tmp_path):
    X, y, _ = rows
    model = SplitConformalRegressor(Ridge(), conformity_score=score, random_state=0).fit(X, y)
    corollary.save(model, tmp_path / "file")
    again = corollary.load(tmp_path / "file")
    np.testing.assert_array_equal(again.predict_interval(X), model.predict_interval(X))
    corollary.save(model.conformity_score_, tmp_path / "score")
    assert isinstance(corollary.load(tmp_path / "score"), type(score))
    # A copy is not fitted, and the score that was given is left as it was.
    assert not hasattr(clone(model), "conformity_score_")
    assert not any(hasattr(part, "coef_") for part in score.models().values())


def test_a_file_whose_score_is_another_is_refused(rows, tmp_path):
    X, y, labels = rows
    model = SplitConformalRegressor(Ridge(), random_state=0).fit(X, y)
    for wrong in (LAC(), Scaled(model.estimator_)):
        model.conformity_score_ = wrong
        with pytest.raises(TypeError, match="not the one that it names"):
            corollary.save(model, tmp_path / "file")
    scaled = SplitConformalRegressor(Ridge(), conformity_score="normalised", random_state=0)
    scaled.fit(X, y).conformity_score_ = Scaled()
    with pytest.raises(TypeError, match="no model of the scale"):
        corollary.save(scaled, tmp_path / "file")
    random = SplitConformalClassifier(LogisticRegression(), conformity_score=APS(True))
    del random.fit(X, labels).set_seed_
    with pytest.raises(TypeError, match="no seed"):
        corollary.save(random, tmp_path / "file")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Scaled(cv=1), r"'cv' parameter of Scaled must be an int in the range \[2, inf\)"),
        (lambda: Scaled(floor=-1.0), "'floor' parameter of Scaled must not be negative"),
        (lambda: Quantiles(low=Ridge()), "needs a model of the upper quantile"),
        (lambda: RAPS(penalty=-0.1), r"'penalty' parameter of RAPS .* Got -0.1"),
        (lambda: RAPS(free_classes=0.5), "'free_classes' parameter of RAPS must be an int"),
        (
            lambda: SplitConformalRegressor(Ridge(), conformity_score=LAC()).fit([[0.0]], [0.0]),
            "'conformity_score' parameter of SplitConformalRegressor",
        ),
    ],
)
def test_errors_say_what_is_required(call, message):
    with pytest.raises((ValueError, InvalidParameterError), match=message):
        call()
