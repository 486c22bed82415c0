"""Gradient boosting from chunks, files and Dask: the models of memory."""

import itertools

import numpy as np
import pandas as pd
import pytest

from corollary.ensemble import BinnedRows, GradientBoostingClassifier, GradientBoostingRegressor
from corollary.tree import find_bins
from tests.ensemble.test_gradient_boosting import bits, table


@pytest.mark.parametrize("kind", ["parquet", "chunks", "dask"])
def test_a_source_gives_the_model_of_memory(seed, kind, tmp_path):
    X, y = table(seed, n=3000)
    X = np.round(X, 2)
    labels = np.where(y > 0.5, "high", "low")
    w = np.random.default_rng(seed).integers(0, 3, 3000).astype(float)
    memory = GradientBoostingClassifier(n_estimators=5).fit(X, labels, w)
    source = GradientBoostingClassifier(n_estimators=5)
    if kind == "parquet":
        frame = pd.DataFrame(X, columns=list("abcd")).assign(label=labels, w=w)
        frame.to_parquet(tmp_path / "rows.parquet")
        source.fit_source(tmp_path / "rows.parquet", target="label", sample_weight="w")
        assert list(source.feature_names_in_) == list("abcd")
    elif kind == "chunks":
        cuts = [0, 10, 1500, 1501, 3000]
        source.fit_source([(X[a:b], labels[a:b], w[a:b]) for a, b in itertools.pairwise(cuts)])
    else:
        da = pytest.importorskip("dask.array")
        arrays = [da.from_array(a, chunks=(700, *a.shape[1:])) for a in (X, labels, w)]
        source.fit_source(tuple(arrays))
    assert bits(source) == bits(memory)
    np.testing.assert_array_equal(source.classes_, ["high", "low"])


def test_categorical_codes_in_a_source(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, size=(500, 2)).astype(float)
    y = rng.permutation(5)[X[:, 1].astype(int)].astype(float)
    options = {"n_estimators": 3, "categorical_features": [1]}
    memory = GradientBoostingRegressor(**options).fit(X, y)
    source = GradientBoostingRegressor(**options).fit_source([(X, y)])
    assert bits(memory) == bits(source)
    np.testing.assert_array_equal(memory.predict(X), source.predict(X))


@pytest.mark.parametrize("kind", ["chunks", "parquet", "csv", "dask"])
def test_missing_values_of_a_source_are_those_of_memory(seed, kind, tmp_path):
    rng = np.random.default_rng(seed)
    X, y = table(seed, n=500)
    X = np.round(X, 2)
    X[rng.random(X.shape) < 0.2] = np.nan
    options = {"n_estimators": 5, "early_stopping": False}
    memory = GradientBoostingRegressor(**options).fit(X, y)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    source = GradientBoostingRegressor(**options)
    if kind == "parquet":
        frame.astype({"a": "Float64"}).to_parquet(tmp_path / "rows.parquet")
        source.fit_source(tmp_path / "rows.parquet", target="y")
    elif kind == "csv":
        frame.to_csv(tmp_path / "rows.csv", index=False)
        source.fit_source(tmp_path / "rows.csv", target="y")
    elif kind == "dask":
        arrays = pytest.importorskip("dask.array")
        source.fit_source((arrays.from_array(X, chunks=(90, 4)), arrays.from_array(y, chunks=90)))
    else:
        source.fit_source([(X[:300], y[:300]), (X[300:], y[300:])])
    assert bits(source) == bits(memory)


def test_a_source_without_targets_or_with_infinity_is_refused(seed):
    X, y = table(seed, n=50)
    X[7, 2] = np.inf
    with pytest.raises(ValueError, match="infinity in column 2 of X"):
        GradientBoostingRegressor().fit_source([(X, y)])
    y[3] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity in y"):
        GradientBoostingRegressor().fit_source([(np.nan_to_num(X, posinf=0.0), y)])


def test_binned_rows_keep_their_order(seed):
    X, y = table(seed, n=100)
    bins = find_bins(X)
    parts = [BinnedRows(bins).update((X[a : a + 30], y[a : a + 30])) for a in range(0, 100, 30)]
    joined = parts[0].merge(parts[1]).merge(parts[2].merge(parts[3]))
    codes, targets, weight = joined.merge(joined.empty()).join()
    np.testing.assert_array_equal(codes, bins.transform(X))
    np.testing.assert_array_equal(targets, y)
    assert weight is None
