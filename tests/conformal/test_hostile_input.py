"""Split conformal estimators given predictions, labels and levels that make no sense."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

from corollary.conformal import SplitConformalClassifier, SplitConformalRegressor
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
@pytest.mark.parametrize("score", ["absolute", "quantile"])
def test_an_infinite_prediction_has_the_whole_line(value, score, rows):
    # Infinity less infinity is no number, and an interval with such an end covers nothing.
    X, y, _ = rows
    model = SplitConformalRegressor(
        Constant(value),
        conformity_score=score,
        quantile_estimators=(Constant(value), Constant(value)),
        random_state=0,
    )
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
