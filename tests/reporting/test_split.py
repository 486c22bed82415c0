"""The split: exact sizes, proportions, twins together, same seed same rows."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from corollary.reporting.table._split import find_twins, part_sizes, repeats_by_nature, split_rows
from corollary.representation import ColumnTable


def _parts(split):
    return np.concatenate([split.train, split.calibration, split.test])


@given(n=st.integers(10, 400), k=st.integers(2, 6), seed=st.integers(0, 1000))
def test_every_row_is_in_exactly_one_part_and_every_class_is_trained_on(n, k, seed):
    y = np.random.default_rng(seed).integers(0, k, n)
    split = split_rows(y, "classification", np.arange(n), seed=seed)
    assert np.array_equal(np.sort(_parts(split)), np.arange(n))
    assert set(y[split.train]) == set(y)
    assert len(split.folds) == len(split.train)


def test_sizes_are_exact_and_classes_in_proportion():
    y = np.repeat([0, 1, 2], [600, 300, 100])
    split = split_rows(y, "classification", np.arange(1000))
    assert (len(split.test), len(split.calibration), len(split.train)) == (250, 150, 600)
    for part, size in ((split.test, 250), (split.calibration, 150), (split.train, 600)):
        assert np.abs(np.bincount(y[part]) - size * np.array([0.6, 0.3, 0.1])).max() <= 1
    for fold in range(5):
        assert np.abs(np.bincount(y[split.train[split.folds == fold]]) - [72, 36, 12]).max() <= 2


def test_regression_parts_have_the_same_quantiles(seed):
    y = np.random.default_rng(seed).lognormal(size=2000)
    split = split_rows(y, "regression", np.arange(2000), seed=seed)
    deciles = np.quantile(y, np.linspace(0.1, 0.9, 9))
    for part in (split.train, split.calibration, split.test):
        shares = [(y[part] <= d).mean() for d in deciles]
        np.testing.assert_allclose(shares, np.linspace(0.1, 0.9, 9), atol=0.01)


def test_every_row_has_the_same_chance_of_being_tested():
    y = np.repeat([0, 1], [30, 10])
    counts = np.zeros(40)
    for seed in range(2000):
        counts[split_rows(y, "classification", np.arange(40), seed=seed).test] += 1
    # 2000 draws at 1/4: standard deviation 19.4; five of them over 40 rows.
    assert np.abs(counts - 500).max() < 100


def test_same_seed_same_rows_other_seed_other_rows():
    y = np.arange(200) % 2
    a, b, c = (split_rows(y, "classification", np.arange(200), seed=s) for s in (1, 1, 2))
    assert np.array_equal(a.test, b.test)
    assert np.array_equal(a.folds, b.folds)
    assert not np.array_equal(a.test, c.test)


def test_twins_stay_on_the_same_side():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=300), "b": rng.choice(["x", None], 300)})
    frame = pd.concat([frame, frame.iloc[:20]], ignore_index=True)
    groups = find_twins(ColumnTable.of(frame))
    assert groups[:20].tolist() == groups[300:].tolist()
    assert len(np.unique(groups)) == 300
    y = np.arange(320) % 2
    for seed in range(20):
        split = split_rows(y, "classification", groups, seed=seed)
        side = np.empty(320)
        for k, part in enumerate((split.train, split.calibration, split.test)):
            side[part] = k
        assert np.array_equal(side[:20], side[300:])
        assert (split.n_twins, split.n_across) == (40, 0)
        fold = dict(zip(split.train, split.folds))
        assert all(fold[i] == fold[i + 300] for i in range(20) if i in fold)


def test_data_that_repeat_by_nature_are_split_by_rows():
    frame = pd.DataFrame({"a": np.arange(400) % 4})
    split = split_rows(np.arange(400) % 2, "classification", find_twins(ColumnTable.of(frame)))
    assert len(split.test) == 100
    assert split.n_across == 100
    assert "repeat by nature" in split.notes[0]


def test_copies_stay_together_however_many_and_count_once():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=100), "b": rng.integers(0, 2, 100)})
    frame = pd.concat([frame] * 8, ignore_index=True)
    groups = find_twins(ColumnTable.of(frame))
    assert not repeats_by_nature(ColumnTable.of(frame), groups)
    y = np.tile(rng.integers(0, 2, 100), 8)
    split = split_rows(y, "classification", groups, by_nature=False)
    assert split.n_across == 0
    for rows in (split.test, split.calibration):
        assert len(np.unique(groups[rows])) == len(rows)
    assert len(split.test) == 25
    assert "copies count once" in split.notes[-1]


def test_rows_alike_by_chance_are_no_copies():
    rng = np.random.default_rng(0)
    coarse = pd.DataFrame({c: rng.integers(0, 4, 500) for c in "abcd"})
    assert repeats_by_nature(ColumnTable.of(coarse), find_twins(ColumnTable.of(coarse)))
    ages = pd.DataFrame({"age": rng.integers(18, 90, 500)})
    assert repeats_by_nature(ColumnTable.of(ages), find_twins(ColumnTable.of(ages)))
    widths = pd.DataFrame({"width": rng.integers(1, 25, 150) / 10})
    assert repeats_by_nature(ColumnTable.of(widths), find_twins(ColumnTable.of(widths)))
    days = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=60).repeat(3)})
    assert not repeats_by_nature(ColumnTable.of(days), find_twins(ColumnTable.of(days)))


def test_small_data_rules_are_said():
    notes = []
    assert part_sizes(30, 0.9, notes) == (8, 9)
    assert "9 calibration rows, more than the usual 15%" in notes[0]
    notes = []
    assert part_sizes(10, 0.9, notes) == (2, 0)
    assert "every set holds all classes and every interval is infinite" in notes[0]
    assert part_sizes(10**6, 0.9, notes) == (20_000, 10_000)


def test_a_class_with_one_or_three_rows():
    y = np.repeat([0, 1, 2], [50, 3, 1])
    for seed in range(30):
        split = split_rows(y, "classification", np.arange(54), seed=seed)
        assert {1, 2} <= set(y[split.train])


def test_values_without_a_hash_are_counted():
    frame = pd.DataFrame({"pair": [[i % 70, 1] for i in range(210)]})
    assert not repeats_by_nature(ColumnTable.of(frame), find_twins(ColumnTable.of(frame)))
