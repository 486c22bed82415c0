"""Folds of whole units and of time, against what they promise row by row."""

import datetime
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from corollary.validation import (
    block_folds,
    forward_folds,
    split_latest,
    split_units,
    unit_folds,
)

SIZES = st.lists(st.integers(1, 30), min_size=4, max_size=25)


@given(SIZES, st.integers(2, 4), st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_units_are_whole_and_folds_are_even(sizes, n_folds, seed):
    rng = np.random.default_rng(seed)
    units = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    fold = unit_folds(units, n_folds, seed)
    assert all(len(set(fold[units == unit])) == 1 for unit in np.unique(units))
    rows = np.bincount(fold, minlength=n_folds)
    assert rows.min() > 0
    # Greedy: two folds differ by no more than the largest unit.
    assert rows.max() - rows.min() <= max(sizes)
    assert np.array_equal(fold, unit_folds(units, n_folds, seed))


def test_rows_of_all_folds_are_nearly_equal_and_the_seed_decides_who_meets():
    rng = np.random.default_rng(0)
    units = np.repeat(np.arange(60), rng.integers(1, 41, 60))
    folds = [unit_folds(units, 5, seed) for seed in range(10)]
    for fold in folds:
        rows = np.bincount(fold)
        assert rows.max() - rows.min() < 0.02 * len(units)
    assert len({tuple(fold) for fold in folds}) == 10


def test_labels_do_not_matter_and_singletons_are_units():
    units = np.array([3, 1, 1, 2, 3, 0])
    words = np.array(["d", "b", "b", "c", "d", "a"], dtype=object)
    mixed = [(1, 2), "b", "b", 7, (1, 2), 0.5]
    expected = unit_folds(units, 3, 0)
    for labels in (words, words.tolist(), pd.Series(words), pl.Series(words.tolist()), units * 1.0):
        assert np.array_equal(unit_folds(labels, 3, 0), expected)
    assert np.bincount(unit_folds(pd.Series(mixed), 3, 0)).tolist() == [2, 2, 2]
    assert np.bincount(unit_folds(np.arange(9), 3, 0)).tolist() == [3, 3, 3]


def test_class_shares_are_kept_as_far_as_units_allow():
    rng = np.random.default_rng(0)
    units = np.repeat(np.arange(100), 5)
    rare = rng.permutation(np.arange(100) < 15)[units]
    with_labels, without = (
        [np.bincount(unit_folds(units, 5, seed, y=y), weights=rare) for seed in range(20)]
        for y in (rare, None)
    )
    assert np.ptp(with_labels, axis=1).max() == 0  # three of the fifteen units in each
    assert np.ptp(without, axis=1).mean() > 10
    # Without units this is the stratified fold.
    fold = unit_folds(np.arange(30), 5, 0, y=np.repeat([0, 1, 2], [15, 10, 5]))
    table = pd.crosstab(fold, np.repeat([0, 1, 2], [15, 10, 5])).to_numpy()
    assert table.tolist() == [[3, 2, 1]] * 5


def test_a_share_of_the_units_is_drawn_whatever_their_sizes():
    units = np.repeat(np.arange(10), [1, 1, 1, 1, 1, 1, 1, 1, 1, 200])
    drawn = np.zeros(10)
    for seed in range(300):
        train, test = split_units(units, 0.3, seed)
        assert not set(units[train]) & set(units[test])
        assert len(train) + len(test) == len(units)
        assert len(np.unique(units[test])) == 3
        drawn[np.unique(units[test])] += 1
    # The giant is drawn as often as others: 90 of 300, standard deviation 8.
    assert np.all(np.abs(drawn - 90) < 35)


@given(
    st.lists(st.integers(0, 12), min_size=12, max_size=40),
    st.integers(1, 3),
    st.integers(0, 2),
)
@settings(max_examples=80, deadline=None)
def test_forward_folds_train_on_the_past_alone(moments, n_folds, gap):
    moments = np.array(moments)
    assume(len(set(moments)) > n_folds)
    first = moments[forward_folds(moments, n_folds)[0][1]].min()
    assume(moments.min() <= first - gap)
    folds = forward_folds(moments, n_folds, gap=gap)
    tests = [moments[test] for _, test in folds]
    for (train, test), values in zip(folds, tests):
        limit = values.min()
        expected = (moments < limit) & (moments <= limit - gap)
        assert np.array_equal(train, np.flatnonzero(expected))
        assert not set(values) & set(np.delete(moments, test))
    assert all(one.max() < two.min() for one, two in pairwise(tests))
    assert tests[-1].max() == moments.max()


def test_stretches_have_equal_numbers_of_rows_or_one_length():
    moments = np.random.default_rng(0).permutation(120)
    sizes = [(len(train), len(test)) for train, test in forward_folds(moments, 4, first=0.5)]
    assert sizes == [(60, 15), (75, 15), (90, 15), (105, 15)]
    folds = forward_folds(moments, 3, horizon=10, gap=5)
    assert [sorted(moments[test]) for _, test in folds] == [
        list(range(start, start + 10)) for start in (90, 100, 110)
    ]
    assert [moments[train].max() for train, _ in folds] == [85, 95, 105]


def test_dates_of_all_kinds_give_the_same_folds():
    days = pd.date_range("2020-01-01", periods=60)
    numbers = forward_folds(np.arange(60), 3, horizon=7, gap=2)
    week = [np.timedelta64(7, "D"), pd.Timedelta("7D"), datetime.timedelta(days=7)]
    kinds = [
        days,
        pd.Series(days),
        days.to_numpy().astype("datetime64[D]"),
        pd.Series(days.tz_localize("Europe/Zurich")),
        [day.date() for day in days],
        pl.Series(days.to_pydatetime().tolist()),
    ]
    for moments in kinds:
        for horizon in week:
            folds = forward_folds(moments, 3, horizon=horizon, gap=datetime.timedelta(days=2))
            for fold, expected in zip(folds, numbers):
                assert all(np.array_equal(*pair) for pair in zip(fold, expected))


def test_blocks_leave_out_their_neighbours_on_both_sides():
    moments = np.repeat(np.arange(20), 3)
    for train, test in block_folds(moments, 5, gap=3):
        distance = np.abs(moments[:, None] - moments[test]).min(axis=1)
        assert np.array_equal(train, np.flatnonzero(distance >= 3))
        assert len(test) == 12
    everywhere = np.concatenate([test for _, test in block_folds(moments, 5)])
    assert sorted(everywhere) == list(range(60))


def test_the_latest_rows_are_kept_aside():
    moments = np.random.default_rng(0).permutation(np.arange(40) // 2)
    train, test = split_latest(moments, 0.25)
    assert sorted(moments[test]) == [15, 15, 16, 16, 17, 17, 18, 18, 19, 19]
    assert len(train) == 30
    assert moments[split_latest(moments, 0.25, gap=4)[0]].max() == 11


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: unit_folds([1, 1, 2], 3), "as many units as folds. Got 2 units for 3"),
        (lambda: unit_folds(["a", None, "b"], 2), "Got 1 without one"),
        (lambda: unit_folds(["a", float("nan"), "b"], 2), "Got 1 without one"),
        (lambda: unit_folds([[1], [2]], 2), "one unit for each row"),
        (lambda: unit_folds([1, 2, 3], 2, y=[0, 1]), "one label for each of the 3 rows"),
        (lambda: split_units([4, 4, 4], 0.5), "at least 2 units"),
        (lambda: forward_folds([1.0, np.nan, 2.0], 1), "Got 1 without one"),
        (lambda: forward_folds(["2020-01-01", "2020-01-02"], 1), "pandas.to_datetime"),
        (lambda: forward_folds([1, 1, 2], 2), "at least 3 different moments"),
        (lambda: forward_folds([1, 2, 3], 1, horizon=5), "shorter horizon"),
        (lambda: forward_folds([1, 2, 9], 2, horizon=2), "longer horizon"),
        (lambda: forward_folds([1, 2, 3], 1, horizon=0), "must be positive"),
        (lambda: forward_folds([1, 2, 3], 1, horizon=1, first=0.5), "Got both"),
        (lambda: forward_folds([1, 2, 3], 1, gap=-1), "must not be negative"),
        (lambda: forward_folds([1, 2, 3], 0), "at least 1"),
        (lambda: forward_folds([1, 2, 3], 1, gap=np.timedelta64(1, "D")), "must be a number"),
        (lambda: forward_folds(pd.date_range("2020", periods=9), 2, gap=7), "length of time"),
        (lambda: block_folds([1, 2, 3], 3, gap=9), "shorter gap"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
