"""Importance of columns by shuffling."""

import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import permutation_importance as peer

from corollary.ensemble import (
    RandomForestClassifier,
    RandomForestRegressor,
    permutation_importance,
)
from corollary.linear import LinearRegression


def test_a_linear_model_has_the_closed_form():
    # Shuffling column j of a linear model costs 2 b_j^2 var(x_j) in squared error.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3)) * [1.0, 2.0, 0.5]
    y = X @ [1.0, 0.5, 0.0]
    model = LinearRegression().fit(X, y)
    found = permutation_importance(model, X, y, n_repeats=10, random_state=0)
    expected = 2 * np.array([1.0, 0.25, 0.0]) * X.var(axis=0)
    np.testing.assert_allclose(found.mean, expected, rtol=0.05, atol=1e-9)
    assert found.baseline == pytest.approx(0.0, abs=1e-12)
    assert found.importances.shape == (3, 10)


def test_agrees_with_scikit_learn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    model = RandomForestClassifier(20, random_state=0).fit(X[:200], y[:200])
    ours = permutation_importance(model, X[200:], y[200:], n_repeats=30, random_state=0)
    theirs = peer(model, X[200:], y[200:], n_repeats=30, random_state=0)
    np.testing.assert_allclose(ours.mean, theirs.importances_mean, atol=0.05)


def test_out_of_bag_does_not_fall_for_columns_with_many_values():
    # A column of noise with many values gets impurity importance, but none out of bag.
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 400), rng.normal(size=400)]).astype(float)
    y = np.where(rng.uniform(size=400) < 0.8, X[:, 0], 1 - X[:, 0]).astype(int)
    model = RandomForestClassifier(50, random_state=0).fit(X, y)
    assert model.feature_importances_[1] > 0.4
    found = permutation_importance(model, X, y, out_of_bag=True, random_state=0)
    assert found.importances.shape == (2, 50)
    assert found.mean[0] > 0.15
    assert found.mean[1] < 0.05


def test_out_of_bag_numbers(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 3))
    model = RandomForestRegressor(20, random_state=0).fit(X, X[:, 2])
    found = permutation_importance(model, X, X[:, 2], out_of_bag=True, random_state=0)
    assert int(found.mean.argmax()) == 2
    assert found.standard_error.shape == (3,)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "numbered"])
def test_frames_are_shuffled_by_column(seed, library):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"c": pd.Categorical(list("abcd") * 50), "x": rng.normal(size=200)})
    y = frame["c"].isin(["a", "d"]).to_numpy().astype(int)
    if library == "polars":
        import polars as pl

        frame = pl.from_pandas(frame)
    elif library == "pyarrow":
        import pyarrow as pa

        frame = pa.Table.from_pandas(frame)
    elif library == "numbered":  # names that are no keywords, and rows that are not in order
        frame = frame.set_axis([0, 1], axis=1).set_axis(rng.permutation(200), axis=0)
    model = RandomForestClassifier(10, random_state=0).fit(frame, y)
    found = permutation_importance(model, frame, y, n_repeats=3, random_state=0)
    assert found.mean[0] > 0.3
    assert abs(found.mean[1]) < 0.1


def test_the_seed_decides(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(100, 2))
    model = LinearRegression().fit(X, X[:, 0])
    one, two = (permutation_importance(model, X, X[:, 0], random_state=4) for _ in range(2))
    assert np.array_equal(one.importances, two.importances)


def test_errors():
    X, y = np.arange(10.0)[:, None], np.arange(10.0)
    with pytest.raises(ValueError, match="needs a random forest"):
        permutation_importance(LinearRegression().fit(X, y), X, y, out_of_bag=True)
    forest = RandomForestRegressor(5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="the 10 rows of training"):
        permutation_importance(forest, X[:5], y[:5], out_of_bag=True)
