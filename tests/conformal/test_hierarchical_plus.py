"""Jackknife+ and CV+ by groups: the definition, the count behind the theorem, and the estimator."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.dummy import DummyRegressor

import corollary
from corollary.certificates import coverage_certificates
from corollary.conformal import (
    CVPlusRegressor,
    hierarchical_plus_coverage,
    hierarchical_plus_intervals,
    plus_coverage,
    plus_intervals,
)
from corollary.linear import Ridge


def upper_end(values, groups, confidence):
    """Add up shares of groups exactly, value by value."""
    names = set(groups)
    for value in sorted(set(values)):
        total = Fraction(0)
        for name in names:
            inside = [v for v, g in zip(values, groups) if g == name]
            total += Fraction(sum(v <= value for v in inside), len(inside))
        if total >= (len(names) + 1) * confidence:
            return value
    return np.inf


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 6)), min_size=1, max_size=25),
    st.lists(st.integers(-5, 5), min_size=3, max_size=3),
    st.integers(1, 19),
)
@settings(max_examples=100, deadline=None)
def test_ends_are_those_of_exact_shares(rows, said, twentieths):
    residuals, groups = zip(*rows)
    folds = [group % 3 for group in groups]
    got = hierarchical_plus_intervals([said], residuals, folds, groups, twentieths / 20)
    level, at = Fraction(twentieths, 20), [said[fold] for fold in folds]
    high = upper_end([a + r for a, r in zip(at, residuals)], groups, level)
    low = -upper_end([r - a for a, r in zip(at, residuals)], groups, level)
    np.testing.assert_allclose(got, [[low, high]], atol=1e-12)


def test_groups_of_one_row_and_of_copies_are_ordinary_rows(seed):
    rng = np.random.default_rng(seed)
    residuals, folds = rng.exponential(size=23), np.arange(23) % 4
    said, sizes = rng.normal(size=(5, 4)), rng.integers(1, 9, size=23)
    names = np.repeat(np.arange(23), sizes)
    for level in (0.5, 0.8, 0.95):
        ordinary = plus_intervals(said, residuals, folds, level)
        single = hierarchical_plus_intervals(said, residuals, folds, np.arange(23), level)
        copies = hierarchical_plus_intervals(said, residuals[names], folds[names], names, level)
        np.testing.assert_allclose(single, ordinary)
        np.testing.assert_allclose(copies, ordinary)


def test_levels_by_hand():
    # Nine groups at 90%: c = 0, one of ten groups may be strange.
    assert hierarchical_plus_coverage(9, 9, 0.9) == pytest.approx(0.9)
    # Twenty at 90%: c = 1.1, and 3.2 of 21 groups may be strange.
    assert hierarchical_plus_coverage(20, 20, 0.9) == pytest.approx(1 - 3.2 / 21)
    # 40 in ten folds of 4: c = 3.1, and (6.2 + 4) / 44 is less than 2 (3.1 + 10) / 50.
    assert hierarchical_plus_coverage(40, 10, 0.9) == pytest.approx(1 - 10.2 / 44)
    # 41 in ten folds: they are unequal, c = 3.2, and the mean of p-values stands alone.
    assert hierarchical_plus_coverage(41, 10, 0.9) == pytest.approx(1 - 26.4 / 51)
    # 100 in two folds of 50: c = 9.1, and 2 (9.1 + 2) / 102 is less than (18.2 + 50) / 150.
    assert hierarchical_plus_coverage(100, 2, 0.9) == pytest.approx(1 - 22.2 / 102)
    assert hierarchical_plus_coverage(8, 8, 0.9) == 1.0  # intervals are infinite
    assert hierarchical_plus_coverage(4, 4, 0.1) == 0.0
    for n in (9, 19, 99):  # where shares are whole, groups of one row are rows
        assert hierarchical_plus_coverage(n, n, 0.9) == pytest.approx(plus_coverage(n, n, 0.9))


@pytest.mark.parametrize("sizes", [(1, 2, 1), (1, 2, 2), (1, 1, 1, 2)])
def test_all_tournaments_agree_with_the_count_of_strange_rows(sizes):
    """Every outcome of every game between groups, the new one included: who can be strange?"""
    group = np.repeat(np.arange(len(sizes)), sizes)
    weight = 1 / np.repeat(sizes, sizes)
    games = [(i, j) for i in range(len(group)) for j in range(i) if group[i] != group[j]]
    n, most = len(sizes) - 1, {}
    for outcome in itertools.product([0, 1], repeat=len(games)):
        lost = np.zeros(len(group))
        for (i, j), first in zip(games, outcome):
            loser, winner = (j, i) if first else (i, j)
            lost[loser] += weight[winner]
        for c in np.arange(0, n, 0.5):
            most[c] = max(most.get(c, 0.0), float(weight @ (lost <= c + 1e-9)))
    for c, strange in most.items():
        promised = hierarchical_plus_coverage(n, n, 1 - (c + 1) / (n + 1)) if c + 1 <= n else 0.0
        assert strange / (n + 1) <= 1 - promised + 1e-9
        assert strange <= 2 * c + 1 + 1e-9
    assert most[0.0] == 1.0  # reached: no smaller count would do


def owners(rng, sizes):
    """Rows of owners with an effect each, that no column shows."""
    g = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.normal(size=(len(g), 2))
    return X, X[:, 0] + 2 * rng.normal(size=len(sizes))[g] + 0.3 * rng.normal(size=len(g)), g


@pytest.mark.parametrize("cv", [4, "loo"])
def test_the_estimator_leaves_whole_groups_out(cv, tmp_path):
    rng = np.random.default_rng(0)
    X, y, g = owners(rng, rng.integers(1, 12, size=12))
    names = np.array([f"owner {number}" for number in g])
    model = CVPlusRegressor(Ridge(1e-3), cv=cv, random_state=0).fit(X, y, groups=names)
    n_folds = 12 if cv == "loo" else 4
    assert len(model.models_) == n_folds
    assert model.guaranteed_coverage_ == hierarchical_plus_coverage(12, n_folds, 0.9)
    # Fit again what each fold leaves out: its rows are those that have its residuals.
    said = np.column_stack([one.predict(X) for one in model.models_])
    errors, ends = np.abs(y[:, None] - said), np.cumsum(model.fold_sizes_)
    fold = np.full(len(y), -1)
    for k, (end, size) in enumerate(zip(ends, model.fold_sizes_)):
        mine = model.residuals_[end - size : end]
        left = np.isclose(errors[:, k][:, None], mine, rtol=1e-12, atol=0).any(axis=1)
        assert not set(g[left]) & set(g[~left])
        assert len(set(g[left])) == 12 // n_folds
        expected = Ridge(1e-3).fit(X[~left], y[~left])
        np.testing.assert_allclose(model.models_[k].coef_, expected.coef_)
        fold[left] = k
    intervals = model.predict_interval(X)
    by_hand = hierarchical_plus_intervals(said, errors[np.arange(len(y)), fold], fold, g, 0.9)
    np.testing.assert_allclose(intervals, by_hand)
    assert model.knows_groups(["owner 3", "owner 12"]).tolist() == [True, False]
    assert coverage_certificates(model) == []  # they would count rows
    corollary.save(model, tmp_path / "model")
    again = corollary.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_interval(X), intervals)
    assert again.knows_groups(["owner 3"]).all()


def test_without_groups_nothing_is_known_of_them():
    rng = np.random.default_rng(0)
    model = CVPlusRegressor(DummyRegressor(), cv=3).fit(rng.normal(size=(20, 1)), np.arange(20.0))
    assert model.knows_groups([1, 2]) is None
    assert model.weights_ is None
    assert len(coverage_certificates(model)) == 1


def test_what_is_refused_and_what_is_missing():
    X, y = np.arange(12.0)[:, None], np.arange(12.0)
    model = CVPlusRegressor(Ridge(1e-3), cv=4)
    with pytest.raises(ValueError, match="at least 4 groups, one for each fold"):
        model.fit(X, y, groups=np.arange(12) // 4)
    with pytest.raises(ValueError, match="one label for each of 12 rows"):
        model.fit(X, y, groups=[1, 2])
    with pytest.warns(UserWarning, match="has 6 groups.*Until 3 more groups are given"):
        model.fit(X, y, groups=np.arange(12) // 2)
    assert np.isinf(model.predict_interval([[1.0]], confidence=0.9)).all()
    assert model.guaranteed_coverage_ == 1.0
    with pytest.raises(ValueError, match="folds of whole groups"):
        hierarchical_plus_intervals([[1.0, 2.0]], [1.0, 1.0], [0, 1], ["a", "a"], 0.5)
    with pytest.raises(ValueError, match="hierarchical_plus_intervals needs folds from 0 to 0"):
        hierarchical_plus_intervals([[1.0]], [1.0], [1], ["a"], 0.5)
    with pytest.raises(ValueError, match="from 2 folds to one for each group"):
        hierarchical_plus_coverage(5, 6, 0.9)
    with pytest.raises(ValueError, match="from 2 folds to one for each group"):
        hierarchical_plus_coverage(5, 1, 0.9)
