"""Bins: thresholds, agreement with raw values, weights, sketches, categories."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.core.summary import reduce
from corollary.tree import Categories, ColumnSketch, choose_cuts, find_bins
from corollary.tree.binning import _columns as binning


def column(values):
    return np.asarray(values, dtype=float)[:, None]


@given(
    st.lists(
        st.floats(allow_nan=False, allow_infinity=False)
        | st.integers(-3, 3).map(float)
        | st.just(np.nan),
        min_size=1,
        max_size=60,
    ),
    st.integers(2, 10),
)
def test_a_bin_is_below_a_split_exactly_if_the_value_is(values, max_bins):
    X = column(values)
    bins = find_bins(X, max_bins=max_bins)
    codes = bins.transform(X)[:, 0]
    assert bins.n_bins[0] <= max_bins
    present = ~np.isnan(X[:, 0])
    assert (codes[~present] == 255).all()
    assert (codes[present] < bins.n_bins[0]).all()
    for split in range(bins.n_bins[0]):
        below = X[present, 0] <= bins.threshold(0, split)
        np.testing.assert_array_equal(codes[present] <= split, below)


def test_few_values_have_a_bin_each():
    X = column([3.0, 1.0, 1.0, 2.0, np.nan])
    bins = find_bins(X, max_bins=3)
    np.testing.assert_array_equal(bins.cuts[0], [1.5, 2.5])
    assert bins.missing[0]


def test_neighbouring_floats_are_told_apart():
    a = 1.0
    b = np.nextafter(a, 2.0)
    bins = find_bins(column([a, b]))
    np.testing.assert_array_equal(bins.transform(column([a, b]))[:, 0], [0, 1])


def test_bins_have_equal_weight(seed):
    X = np.random.default_rng(seed).normal(size=(10_000, 1))
    counts = np.bincount(find_bins(X, max_bins=50).transform(X)[:, 0])
    assert len(counts) == 50
    assert counts.min() >= 199
    assert counts.max() <= 201


def test_a_heavy_value_has_its_own_bin(seed):
    rng = np.random.default_rng(seed)
    x = np.where(rng.random(20_000) < 0.5, 0.25, rng.normal(size=20_000))
    bins = find_bins(column(x), max_bins=64)
    codes = bins.transform(column(x))[:, 0]
    home = codes[x == 0.25][0]
    assert (x[codes == home] == 0.25).all()
    others = np.bincount(codes)
    others = others[np.arange(len(others)) != home]
    assert len(others) >= 60
    assert others.max() < 2 * others.mean()


@given(st.integers(0, 10_000))
def test_weight_is_repetition(seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(200, 2)), 2)
    w = rng.integers(0, 4, 200)
    if w.sum() == 0:
        return
    weighted = find_bins(X, sample_weight=w.astype(float), max_bins=16)
    repeated = find_bins(np.repeat(X, w, axis=0), max_bins=16)
    for a, b in zip(weighted.cuts, repeated.cuts):
        np.testing.assert_array_equal(a, b)


def test_order_and_threads_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30_000, 6))
    one, two = find_bins(X, n_jobs=1), find_bins(rng.permutation(X), n_jobs=2)
    for a, b in zip(one.cuts, two.cuts):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(one.transform(X, n_jobs=1), one.transform(X, n_jobs=2))


def test_sort_by_radix_is_a_sort(seed, monkeypatch):
    monkeypatch.setattr(binning, "SORT_BY_RADIX", 1)
    rng = np.random.default_rng(seed)
    x = np.concatenate([rng.normal(size=500) * 10.0 ** rng.integers(-300, 300, 500), [0.0, -0.0]])
    x = np.concatenate([x, x, [np.inf, -np.inf, np.nan, -np.nan, 5e-324]])
    np.testing.assert_array_equal(binning.sort(x), np.sort(x))
    values, counts, lost = binning.count_values(x, None)
    expected, times = np.unique(x[~np.isnan(x)], return_counts=True)
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(counts, times)
    assert lost


def test_a_small_sketch_is_exact(seed):
    X = np.round(np.random.default_rng(seed).normal(size=(5000, 3)), 2)
    X[::9, 1] = np.nan
    w = np.random.default_rng(seed + 1).integers(0, 3, 5000).astype(float)
    sketch = reduce(ColumnSketch.of_width(3), (X, None, w)).bins(40)
    exact = find_bins(X, sample_weight=w, max_bins=40)
    for a, b in zip(sketch.cuts, exact.cuts):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(sketch.missing, exact.missing)


@pytest.mark.parametrize("kind", ["even", "spiked", "sorted"])
def test_ranks_of_a_sketch_are_within_its_bound(seed, kind):
    rng = np.random.default_rng(seed)
    n, blocks, capacity = 40_000, 16, 256
    x = rng.exponential(size=n)
    if kind == "spiked":
        x[rng.random(n) < 0.3] = 1.0
    if kind == "sorted":
        x = np.sort(x)
    parts = [
        ColumnSketch.of_width(1, capacity=capacity).update((column(part),))
        for part in np.split(x, blocks)
    ]
    while len(parts) > 1:
        parts = [a.merge(b) for a, b in zip(parts[::2], parts[1::2])]
    (values, mass), merges = parts[0].marks[0], int(np.log2(blocks))
    assert len(values) <= 4 * capacity
    assert mass.sum() == pytest.approx(n)
    ordered = np.sort(x)
    true = np.searchsorted(ordered, values, side="right")
    error = np.abs(np.cumsum(mass) - true) / n
    assert error.max() <= 2 * (merges + 1) / capacity


def test_a_merged_sketch_is_symmetric_and_has_a_neutral_element(seed):
    X = np.random.default_rng(seed).normal(size=(3000, 2))
    a = ColumnSketch.of_width(2, capacity=100).update((X[:1000],))
    b = ColumnSketch.of_width(2, capacity=100).update((X[1000:],))
    for left, right in ((a.merge(b), b.merge(a)), (a.merge(a.empty()), a)):
        for (u, m), (v, k) in zip(left.marks, right.marks):
            np.testing.assert_array_equal(u, v)
            np.testing.assert_allclose(m, k, rtol=1e-12)


def test_cuts_of_a_sketch_lie_on_its_marks():
    values = np.arange(100.0)
    cuts = choose_cuts(values, np.ones(100), 4, exact=False)
    np.testing.assert_array_equal(cuts, [24.0, 49.0, 74.0])


def test_codes_are_their_own_bins():
    X = np.array([[2.0], [0.0], [np.nan], [1.0]])
    bins = find_bins(X, categorical=[True])
    np.testing.assert_array_equal(bins.transform(X)[:, 0], [2, 0, 255, 1])
    np.testing.assert_array_equal(bins.transform(column([3.0, -1.0, 0.5]))[:, 0], [255] * 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: find_bins(np.ones((2, 1)), max_bins=256), "range \\[2, 255\\]"),
        (lambda: find_bins(column([0.5]), categorical=[True]), "whole numbers from 0 to 254"),
        (lambda: find_bins(np.ones((2, 2)), categorical=[True]), "mask of 2 columns"),
        (lambda: find_bins(np.ones((2, 1))).transform(np.ones((2, 3))), "for 1 columns"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# -- categories ------------------------------------------------------------------------------


FRAME = {"number": [1.0, 2.0, np.nan, 4.0], "colour": ["red", None, "blue", "red"]}


@pytest.mark.parametrize("kind", ["pandas", "pandas category", "polars", "polars category"])
def test_frames_are_encoded_alike(kind):
    if kind.startswith("pandas"):
        X = pd.DataFrame(FRAME)
        if "category" in kind:
            X["colour"] = X["colour"].astype("category")
    else:
        X = pl.DataFrame(FRAME)
        if "category" in kind:
            X = X.with_columns(pl.col("colour").cast(pl.Categorical))
    categories = Categories.learn(X)
    np.testing.assert_array_equal(categories.columns, [1])
    codes = categories.encode(X)
    assert type(codes) is type(X)
    assert list(codes.columns) == ["number", "colour"]
    np.testing.assert_array_equal(
        np.asarray(codes, dtype=float), [[1, 1], [2, np.nan], [np.nan, 0], [4, 1]]
    )


@pytest.mark.parametrize("make", [pa.table, pl.LazyFrame, pd.DataFrame])
def test_frames_of_other_libraries_are_encoded_alike(make):
    X = make(FRAME)
    categories = Categories.learn(X)
    np.testing.assert_array_equal(categories.columns, [1])
    assert categories.values[0].tolist() == ["blue", "red"]
    codes = categories.encode(X)
    assert isinstance(codes, pl.DataFrame if make is pl.LazyFrame else type(X))
    np.testing.assert_array_equal(
        np.asarray(codes, dtype=float), [[1, 1], [2, np.nan], [np.nan, 0], [4, 1]]
    )


def test_codes_keep_rows_and_columns_in_place():
    X = pd.DataFrame(FRAME, index=[7, 3, 5, 0]).set_axis([1, 0], axis=1)
    codes = Categories.learn(X, [1]).encode(X)
    assert codes.index.tolist() == [7, 3, 5, 0]
    assert codes.columns.tolist() == [1, 0]
    np.testing.assert_array_equal(codes[0], [1, np.nan, 0, 1])


def test_words_are_looked_for_in_all_rows():
    # narwhals calls a column of objects text after a look at its first hundred rows.
    mixed = pd.DataFrame({"a": pd.Series(["1"] * 200 + [2.0], dtype=object)})
    assert len(Categories.learn(mixed).columns) == 0
    assert len(Categories.learn(mixed[:200]).columns) == 1


def test_unknown_categories_are_missing():
    categories = Categories.learn(np.array([[5.0, 1.0], [7.0, 2.0]]), [0])
    codes = categories.encode(np.array([[7.0, 3.0], [6.0, 4.0]]))
    np.testing.assert_array_equal(codes, [[1.0, 3.0], [np.nan, 4.0]])


def test_the_most_frequent_categories_are_kept():
    X = np.array([[0.0], [1.0], [1.0], [2.0], [2.0], [2.0]])
    categories = Categories.learn(X, [True], max_categories=2)
    np.testing.assert_array_equal(categories.values[0], [1.0, 2.0])


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ([3], "0 to 1"),
        ([True], "each of 2 columns"),
        (["taste"], "'taste' is not a column"),
        ("by_name", "'from_dtype', a mask"),
    ],
)
def test_wrong_categorical_features(wanted, message):
    with pytest.raises(ValueError, match=message):
        Categories.learn(pd.DataFrame(FRAME), wanted)
