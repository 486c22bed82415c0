"""Partitions as objects: groups of columns, bands of numbers, classes."""

import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression

import corollary
from corollary.conformal import (
    Bands,
    Groups,
    PerClass,
    SplitConformalClassifier,
    SplitConformalRegressor,
)
from corollary.core.compat import InvalidParameterError
from corollary.core.simulate import assert_share_equals
from corollary.linear import LogisticRegression, Ridge


class Column(RegressorMixin, BaseEstimator):
    """Predicts the first column."""

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0]


@pytest.fixture
def rows(seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(0, 4, size=200), rng.integers(0, 3, size=200)])
    return X, X[:, 0] + (1 + X[:, 1]) * rng.normal(size=200)


@pytest.mark.parametrize(
    ("partition", "function"),
    [
        (Groups(1), lambda X: X[:, 1]),
        (Bands((1.0, 2.5), column=0), lambda X: np.digitize(X[:, 0], [1.0, 2.5])),
        (Bands((1.0, 2.5)), lambda X: np.digitize(X[:, 0], [1.0, 2.5])),
    ],
    ids=["column", "bands of a column", "bands of predictions"],
)
def test_objects_partition_as_functions_do(partition, function, rows):
    X, y = rows
    how = {"prefit": True, "confidence": 0.6}
    model = Column().fit(X, y)
    first = SplitConformalRegressor(model, partition=partition, **how).fit(X, y)
    second = SplitConformalRegressor(model, partition=function, **how).fit(X, y)
    assert len(first.group_labels_) == 3
    np.testing.assert_array_equal(first.thresholds_, second.thresholds_)
    np.testing.assert_array_equal(first.predict_interval(X), second.predict_interval(X))


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_columns_of_frames_have_names(library, rows):
    X, y = rows
    names = np.array(["low", "middle", "high"])[X[:, 1].astype(int)]
    frame = library({"x": X[:, 0], "kind": names.tolist()})

    class First(Column):
        def predict(self, X):
            return np.asarray(X["x"], dtype=float)

    model = SplitConformalRegressor(
        First().fit(frame, y), prefit=True, confidence=0.6, partition=Groups("kind")
    ).fit(frame, y)
    assert model.group_labels_.tolist() == ["high", "low", "middle"]
    by_hand = [np.sort(np.abs(y - X[:, 0])[names == kind]) for kind in model.group_labels_]
    expected = [part[math.ceil(0.6 * (len(part) + 1) - 1e-9) - 1] for part in by_hand]
    np.testing.assert_array_equal(model.thresholds_, expected)


@pytest.mark.parametrize("partition", [Groups(1), Bands((1.5,)), Bands((0.5, 1.5), column=1)])
def test_partitions_are_saved(partition, rows, tmp_path):
    X, y = rows
    model = SplitConformalRegressor(Ridge(), confidence=0.6, partition=partition, random_state=0)
    model.fit(X, y)
    corollary.save(model, tmp_path / "file")
    again = corollary.load(tmp_path / "file")
    assert again.partition == partition
    np.testing.assert_array_equal(again.predict_interval(X), model.predict_interval(X))
    model.group_labels_ = model.group_labels_[::-1].copy()
    with pytest.raises(TypeError, match="its groups are not sorted"):
        corollary.save(model, tmp_path / "file")


@pytest.mark.parametrize("within", [None, Groups(1)])
def test_classes_have_thresholds_of_their_own(within, rows, tmp_path):
    X, y = rows
    labels = np.where(y > 2, "up", "down")
    how = {"confidence": 0.6, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        flag = SplitConformalClassifier(
            LogisticRegression(), class_conditional=True, partition=within, **how
        ).fit(X, labels)
        model = SplitConformalClassifier(
            LogisticRegression(), partition=PerClass(within), **how
        ).fit(X, labels)
    np.testing.assert_array_equal(flag.thresholds_, model.thresholds_)
    np.testing.assert_array_equal(flag.predict_set(X), model.predict_set(X))
    assert flag.calibration_cells() == model.calibration_cells()
    corollary.save(model, tmp_path / "file")
    np.testing.assert_array_equal(
        corollary.load(tmp_path / "file").predict_set(X), model.predict_set(X)
    )


def test_coverage_within_a_band_of_predictions_is_exact(seed):
    """Four rows of each band: the new one, of the noisier band, is covered 3 times of 5."""
    rng = np.random.default_rng(seed)
    repetitions, hits, pooled = 400, 0, 0
    X = np.repeat([[0.0], [2.0]], [4, 5], axis=0)
    how = {"prefit": True, "confidence": 0.5}
    banded = SplitConformalRegressor(Column().fit(X, None), partition=Bands((1.0,)), **how)
    plain = SplitConformalRegressor(Column().fit(X, None), **how)
    for _ in range(repetitions):
        y = X[:, 0] + (0.1 + X[:, 0]) * rng.standard_cauchy(9)
        for model, count in ((banded, "banded"), (plain, "plain")):
            low, high = model.fit(X[:-1], y[:-1]).predict_interval(X[-1:])[0]
            if count == "banded":
                hits += low <= y[-1] <= high
            else:
                pooled += low <= y[-1] <= high
    assert_share_equals(int(hits), repetitions, 3 / 5)
    with pytest.raises(AssertionError, match="share is wrong"):
        assert_share_equals(int(pooled), repetitions, 3 / 5)


def test_edges_between_quantiles():
    assert Bands.between_quantiles(np.arange(9.0), 4).edges == (2.0, 4.0, 6.0)
    assert Bands.between_quantiles([1.0, 1.0, 1.0], 3).edges == (1.0,)
    assert Bands([1, 2]).of([0.0, 1.0, 1.5, 2.0, np.inf]).tolist() == [0, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: Bands((2.0, 1.0)), "'edges' parameter of Bands must ascend"),
        (lambda X, y: Bands((1.0, np.nan)), "'edges' parameter of Bands must ascend"),
        (
            lambda X, y: SplitConformalRegressor(LinearRegression(), partition=PerClass()).fit(
                X, y
            ),
            "'partition' parameter of SplitConformalRegressor",
        ),
        (
            lambda X, y: SplitConformalRegressor(Column(), partition=Bands((1.0,), column=1)).fit(
                np.where(X == 2, np.nan, X), y
            ),
            "Bands of column 1 need numbers",
        ),
        (
            lambda X, y: SplitConformalRegressor(Column(), partition=Groups(1)).fit(
                np.where(X == 1, np.nan, X), y
            ),
            "needs labels of one kind, none of them missing",
        ),
    ],
)
def test_errors_say_what_is_required(call, message, rows):
    with pytest.raises((ValueError, InvalidParameterError), match=message):
        call(*rows)
