"""The split: exact sizes, proportions, whole units, later rows last, same seed same rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.core.population import Population
from corollary.reporting import ReportError, from_memory
from corollary.reporting._settings import Settings
from corollary.reporting.table._profile import inspect
from corollary.reporting.table._split import (
    deal_units,
    find_twins,
    part_sizes,
    split_alike,
    split_by_time,
    split_units,
)
from corollary.representation import ColumnTable


def deal(y, task, units, seed=0):
    return deal_units(y, task, units, Settings(seed=seed))


def _subject(frame, y):
    return inspect(from_memory(frame.assign(y=y)), "y", "auto")


def _side(split, n):
    side = np.full(n, -1)
    for k, part in enumerate((split.train, split.calibration, split.test)):
        side[part] = k
    return side


def _parts(split):
    return np.concatenate([split.train, split.calibration, split.test])


@given(n=st.integers(10, 400), k=st.integers(2, 6), seed=st.integers(0, 1000))
def test_every_row_is_in_exactly_one_part_and_every_class_is_trained_on(n, k, seed):
    y = np.random.default_rng(seed).integers(0, k, n)
    split = deal(y, "classification", np.arange(n), seed=seed)
    assert np.array_equal(np.sort(_parts(split)), np.arange(n))
    assert set(y[split.train]) == set(y)
    assert np.array_equal(
        np.sort(np.concatenate([held for _, held in split.folds])), np.arange(len(split.train))
    )


def test_sizes_are_exact_and_classes_in_proportion():
    y = np.repeat([0, 1, 2], [600, 300, 100])
    split = deal(y, "classification", np.arange(1000))
    assert (len(split.test), len(split.calibration), len(split.train)) == (250, 150, 600)
    for part, size in ((split.test, 250), (split.calibration, 150), (split.train, 600)):
        assert np.abs(np.bincount(y[part]) - size * np.array([0.6, 0.3, 0.1])).max() <= 1
    for _, held in split.folds:
        assert np.abs(np.bincount(y[split.train[held]]) - [72, 36, 12]).max() <= 2


def test_regression_parts_have_the_same_quantiles(seed):
    y = np.random.default_rng(seed).lognormal(size=2000)
    split = deal(y, "regression", np.arange(2000), seed=seed)
    deciles = np.quantile(y, np.linspace(0.1, 0.9, 9))
    for part in (split.train, split.calibration, split.test):
        shares = [(y[part] <= d).mean() for d in deciles]
        np.testing.assert_allclose(shares, np.linspace(0.1, 0.9, 9), atol=0.01)


def test_every_row_has_the_same_chance_of_being_tested():
    y = np.repeat([0, 1], [30, 10])
    counts = np.zeros(40)
    for seed in range(2000):
        counts[deal(y, "classification", np.arange(40), seed=seed).test] += 1
    # 2000 draws at 1/4: standard deviation 19.4; five of them over 40 rows.
    assert np.abs(counts - 500).max() < 100


def test_same_seed_same_rows_other_seed_other_rows():
    y = np.arange(200) % 2
    a, b, c = (deal(y, "classification", np.arange(200), seed=s) for s in (1, 1, 2))
    assert np.array_equal(a.test, b.test)
    assert all(np.array_equal(p[1], q[1]) for p, q in zip(a.folds, b.folds))
    assert not np.array_equal(a.test, c.test)


def _folds_of(split):
    fold = np.full(len(split.train), -1)
    for k, (train, held) in enumerate(split.folds):
        assert not set(train) & set(held)
        fold[held] = k
    return fold


def test_twins_stay_on_the_same_side():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=300), "b": rng.choice(["x", None], 300)})
    frame = pd.concat([frame, frame.iloc[:20]], ignore_index=True)
    groups = find_twins(ColumnTable.of(frame))
    assert groups[:20].tolist() == groups[300:].tolist()
    assert len(np.unique(groups)) == 300
    subject = _subject(frame, np.arange(320) % 2)
    for seed in range(20):
        split = split_alike(subject, Settings(seed=seed))
        side = _side(split, 320)
        assert np.array_equal(side[:20], side[300:])
        fold = dict(zip(split.train, _folds_of(split)))
        assert all(fold[i] == fold[i + 300] for i in range(20) if i in fold)
    assert (split.n_twins, split.twins_apart) == (40, False)


def test_data_that_repeat_by_nature_are_split_by_rows():
    subject = _subject(pd.DataFrame({"a": np.arange(400) % 4}), np.arange(400) % 2)
    split = split_alike(subject, Settings())
    assert len(split.test) == 100
    assert split.units is None
    assert (split.n_twins, split.twins_apart) == (400, True)


def test_owners_are_whole_in_parts_and_folds(seed):
    rng = np.random.default_rng(seed)
    owners = np.unique(rng.integers(0, 60, 500) ** 2 // 60, return_inverse=True)[1]
    frame = pd.DataFrame({"a": rng.normal(size=500)})
    population = Population("new units", unit="client")
    for y in (rng.normal(size=500), rng.integers(0, 3, 500)):
        split = split_units(_subject(frame, y), owners, population, Settings(seed=seed))
        assert (_side(split, 500) >= 0).all()
        groups = [set(owners[rows]) for rows in (split.train, split.calibration, split.test)]
        assert not (groups[0] & groups[1] | groups[0] & groups[2] | groups[1] & groups[2])
        assert len(groups[2]) == round(0.25 * (owners.max() + 1))
        assert len(groups[1]) >= 9
        for train, held in split.folds:
            assert not set(owners[split.train[train]]) & set(owners[split.train[held]])
        assert split.population is population


def test_folds_of_unequal_owners_have_equal_numbers_of_rows():
    rng = np.random.default_rng(0)
    owners = np.repeat(np.arange(60), rng.permutation(60) + 1)
    frame = pd.DataFrame({"a": rng.normal(size=len(owners))})
    population = Population("new units", unit="client")
    for seed in range(5):
        split = split_units(_subject(frame, frame.a), owners, population, Settings(seed=seed))
        sizes = [len(held) for _, held in split.folds]
        assert max(sizes) < 1.2 * min(sizes)


def test_few_owners_leave_none_for_calibration():
    frame = pd.DataFrame({"a": np.random.default_rng(0).normal(size=240)})
    population = Population("new units", unit="clinic")
    owners = np.repeat(np.arange(12), 20)
    split = split_units(_subject(frame, frame.a), owners, population, Settings())
    assert len(split.calibration) == 0
    assert "need calibration rows of 9 clinics, more than 30% of these 12" in split.notes[0]


def test_later_rows_are_tested_and_all_before_are_trained_on(seed):
    rng = np.random.default_rng(seed)
    moments = rng.permutation(np.repeat(np.arange(50), 10)).astype(float)
    frame = pd.DataFrame({"a": rng.normal(size=500)})
    split = split_by_time(_subject(frame, frame.a), moments, Settings())
    assert moments[split.train].max() < moments[split.test].min()
    assert len(split.train) + len(split.test) == 500
    assert 120 <= len(split.test) <= 130
    assert len(split.folds) == 2
    for train, held in split.folds:
        assert moments[split.train[train]].max() < moments[split.train[held]].min()
        assert 110 <= len(held) <= 140  # as far ahead as the period
    week = split_by_time(_subject(frame, frame.a), moments, Settings(), horizon=7)
    assert set(moments[week.test]) == set(range(43, 50))
    with pytest.raises(ReportError, match="Choose another horizon"):
        split_by_time(_subject(frame, frame.a), moments, Settings(), horizon=45)


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
        split = deal(y, "classification", np.arange(54), seed=seed)
        assert {1, 2} <= set(y[split.train])
