"""Estimates, choices, comparisons and tests when rows belong to owners or come in time."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from corollary.core.simulate import assert_bound_holds
from corollary.validation import (
    BlockKFold,
    ForwardChaining,
    UnitKFold,
    block_folds,
    bootstrap,
    bootstrap_risk,
    compare_learners,
    cross_validate,
    forward_folds,
    hold_out,
    hold_out_interval,
    nested_risk,
    permutation_test,
    reliability_curve,
    split_latest,
    tune,
    unit_folds,
)

OWNERS = [5, 10, 20, 40]


class Zero(RegressorMixin, BaseEstimator):
    """Predicts zero, or a constant: its losses are those of the outputs alone."""

    def __init__(self, value=0.0):
        self.value = value

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full(len(X), self.value)


class Recorder(Zero):
    """Remembers how many rows it was fitted on and of whom."""

    def fit(self, X, y):
        self.rows_ = np.asarray(X)[:, 0].astype(int)
        return self


def table(rng, n_owners, size=6, spread=1.0):
    """Rows that know their position, with outputs of owners that resemble each other."""
    units = np.repeat(np.arange(n_owners), size)
    X = np.c_[np.arange(len(units)), rng.normal(size=n_owners)[units]]
    y = rng.normal(size=n_owners)[units] * spread + 0.3 * rng.normal(size=len(units))
    order = rng.permutation(len(units))
    return X[order], y[order], units[order]


def copies():
    """Coin flips, every row three times."""
    rng = np.random.default_rng(0)
    units = np.repeat(np.arange(60), 3)
    return rng.normal(size=(60, 2))[units], rng.permutation([0, 1] * 30)[units], units


def test_folds_of_a_number_leave_out_whole_units():
    X, y, units = copies()
    learner = KNeighborsClassifier(1)
    assert cross_validate(learner, X, y, random_state=0).risk < 0.05
    outcome = cross_validate(learner, X, y, groups=pd.Series(units, name="person"), random_state=0)
    assert 0.3 < outcome.risk < 0.7
    assert outcome.population.rows == "rows of new persons"
    assert "180 rows of 60 units, speaks of rows of new persons" in repr(outcome)
    fold = unit_folds(units, 5, 0, y=y)
    assert outcome.fold_sizes.tolist() == np.bincount(fold).tolist()
    # Two splitters of whole units, and one unit at a time.
    for cv in (GroupKFold(5), UnitKFold(5, random_state=3)):
        assert 0.3 < cross_validate(learner, X, y, groups=units, cv=cv).risk < 0.7
    assert len(cross_validate(learner, X, y, groups=units, cv="loo").fold_risks) == 60


def test_risk_and_standard_error_are_those_of_unit_means():
    units = np.repeat([0, 1, 2, 3], [1, 2, 3, 6])
    y = np.array([2.0, 1.0, 3.0, 1.0, 1.0, 4.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0])
    means = np.array([2.0, 2.0, 2.0, 5.0])
    outcome = cross_validate(Zero(), y[:, None], y, loss="absolute", cv="loo", groups=units)
    assert outcome.risk == pytest.approx(means.mean())
    assert outcome.degrees_of_freedom == 3
    ratio = np.mean(outcome.fold_sizes / outcome.train_sizes)
    expected = np.std(means, ddof=1) * math.sqrt((1 + 4 * ratio) / 4)
    assert outcome.standard_error == pytest.approx(expected)


@pytest.mark.parametrize("n_owners", OWNERS)
def test_standard_errors_count_owners(n_owners):
    """The truth lies within Student's limits of owners, and not within those of rows."""
    rng = np.random.default_rng(n_owners)
    missed, rows_missed = 0, 0
    for seed in range(120):
        X, y, units = table(rng, n_owners)
        how = {"loss": lambda y, p: y - p, "cv": 5, "random_state": seed}
        outcome = cross_validate(Zero(), X, y, groups=units, **how)
        reach = stats.t.ppf(0.95, outcome.degrees_of_freedom) * outcome.standard_error
        missed += abs(outcome.risk) > reach
        rows = cross_validate(Zero(), X, y, **how)
        rows_error = np.std(rows.losses, ddof=1) / math.sqrt(len(y)) * 1.5
        rows_missed += abs(rows.risk) > stats.norm.ppf(0.95) * rows_error
    assert_bound_holds(missed, 120, 0.1)
    assert rows_missed > 20


@pytest.mark.parametrize("n_owners", OWNERS)
def test_equally_good_learners_are_rarely_told_apart_by_new_owners(n_owners):
    rng = np.random.default_rng(n_owners)
    rejected = 0
    for seed in range(80):
        X, y, units = table(rng, n_owners)
        comparison = compare_learners(
            Zero(1.0), Zero(-1.0), X, y, cv=5, groups=units, random_state=seed
        )
        rejected += comparison.p_value <= 0.1
    assert_bound_holds(rejected, 80, 0.1)


def test_comparison_by_hand():
    units = np.repeat([0, 1, 2], [1, 2, 5])
    y = np.array([1.0, 2.0, 4.0, 0.0, 1.0, 1.0, 1.0, 2.0])
    # Losses of the constants 0 and 1 differ by 2 y - 1: unit means 1, 5 and 1.
    comparison = compare_learners(
        Zero(0.0), Zero(1.0), y[:, None], y, loss="square", cv="loo", groups=units
    )
    ratio = np.mean([1 / 7, 2 / 6, 5 / 3])
    error = np.std([1.0, 5.0, 1.0], ddof=1) * math.sqrt((1 + 3 * ratio) / 3)
    assert comparison.difference == pytest.approx(7 / 3)
    assert comparison.standard_error == pytest.approx(error)
    assert comparison.p_value == pytest.approx(2 * stats.t.sf(7 / 3 / error, 2))
    reach = stats.t.ppf(0.975, 2) * error
    assert (comparison.lower, comparison.upper) == pytest.approx((7 / 3 - reach, 7 / 3 + reach))


def test_time_is_chained_forward():
    rng = np.random.default_rng(0)
    time = rng.permutation(60)
    X = np.c_[np.arange(60), time]
    y = 1.0 * time
    outcome = cross_validate(Ridge(1e-6), X, y, time=time, cv=4)
    folds = forward_folds(time, 4)
    assert outcome.train_sizes.tolist() == [len(train) for train, _ in folds]
    assert np.isnan(outcome.losses[folds[0][0]]).all()
    assert (outcome.population.kind, outcome.population.start, outcome.population.end) == (
        "period",
        12,
        59,
    )
    # A trend is no trouble among rows at random, and all trouble for later ones.
    learner = KNeighborsRegressor(1)
    assert cross_validate(learner, X[:, 1:], y, random_state=0).risk < 5
    assert cross_validate(learner, X[:, 1:], y, time=time, cv=4).risk > 20
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(time, unit="D")
    dated = cross_validate(
        learner, X[:, 1:], y, time=days, cv=ForwardChaining(2, horizon=pd.Timedelta("7D"))
    )
    assert dated.fold_sizes.tolist() == [7, 7]
    assert dated.population.rows == "the rows from 2020-02-16 to 2020-02-29"
    blocks = cross_validate(learner, X[:, 1:], y, time=time, cv=BlockKFold(4, gap=3))
    assert blocks.train_sizes.tolist() == [len(train) for train, _ in block_folds(time, 4, gap=3)]


def test_time_makes_the_folds_and_units_are_counted():
    rng = np.random.default_rng(0)
    shop, month = np.repeat(np.arange(8), 12), np.tile(np.arange(12), 8)
    y = rng.normal(size=8)[shop]
    outcome = cross_validate(Zero(), y[:, None], y, time=month, groups=shop, cv=3)
    assert outcome.population.kind == "period"
    assert outcome.degrees_of_freedom == 7
    assert outcome.fold_sizes.tolist() == [24, 24, 24]
    by_splitter = cross_validate(
        Zero(), y[:, None], y, groups=shop, cv=ForwardChaining(3, time=month)
    )
    assert by_splitter.population == outcome.population
    assert np.array_equal(by_splitter.losses, outcome.losses, equal_nan=True)
    in_order = cross_validate(Zero(), y[:, None], y, cv=ForwardChaining(3))
    assert (in_order.population.start, in_order.population.end) == (24, 95)


def test_one_part_is_held_out_by_units_or_is_the_latest():
    X, y, units = table(np.random.default_rng(0), 20)
    outcome = hold_out(Recorder(), X, y, groups=units, random_state=0)
    position = {int(row): unit for row, unit in zip(X[:, 0], units)}
    trained = {position[row] for row in outcome.model.rows_}
    assert not trained & set(units[outcome.rows])
    assert len(trained) == 15
    means = [outcome.losses[outcome.units == g].mean() for g in np.unique(outcome.units)]
    assert outcome.risk == pytest.approx(np.mean(means))
    assert outcome.population.kind == "new units"
    later = hold_out(Recorder(), X, y, time=X[:, 0], groups=units)
    assert np.array_equal(later.rows, split_latest(X[:, 0], 0.25)[1])
    assert (later.population.start, later.population.end) == (90, 119)


def test_rows_without_output_are_refused():
    X = np.zeros((6, 1))
    for call in (hold_out, cross_validate, bootstrap_risk):
        with pytest.raises(ValueError, match="Got 6 rows of X and 4 of y"):
            call(Zero(), X, np.arange(4.0))


@pytest.mark.parametrize("n_owners", [1, *OWNERS])
def test_limits_of_new_owners_hold(n_owners):
    rng = np.random.default_rng(n_owners)
    broken = np.zeros(2, dtype=int)
    for _ in range(300):
        units = np.repeat(np.arange(n_owners), rng.integers(1, 40, n_owners))
        losses = 2 * (rng.random(len(units)) < rng.beta(0.8, 3.2, n_owners)[units])
        for i, sides in enumerate((1, 2)):
            low, high = hold_out_interval(losses, 0.1, high=2.0, sides=sides, units=units)
            broken[i] += not low <= 0.4 <= high
    for count in broken:
        assert_bound_holds(int(count), 300, 0.1)


def test_limits_of_units_by_hand():
    # Hoeffding over two units whose means are 0.5 and 1, however many rows they have.
    low, high = hold_out_interval(
        [0.0, 1.0, 1.0, 1.0, 1.0], 0.5, sides=1, method="hoeffding", units=[0, 0, 1, 1, 1]
    )
    assert (low, high) == (0.0, 1.0)
    many = np.repeat([0.5, 0.0], [6, 90])
    units = np.r_[np.repeat(np.arange(2), 3), np.repeat(np.arange(2, 32), 3)]
    high = hold_out_interval(many, 0.05, sides=1, method="hoeffding", units=units)[1]
    assert high == pytest.approx(1 / 32 + math.sqrt(math.log(20) / 64))


def test_choices_are_made_by_whole_units():
    X, y, units = copies()
    settings = [{"n_neighbors": 1}, {"n_neighbors": 25}]
    X = np.c_[X, (y + 0.8 * np.random.default_rng(1).normal(size=60)[units])]
    learner = KNeighborsClassifier()
    assert tune(learner, settings, X, y, random_state=0).best == {"n_neighbors": 1}
    by_units = tune(learner, settings, X, y, groups=units, random_state=0)
    assert by_units.best == {"n_neighbors": 25}
    nested = nested_risk(learner, settings, X, y, groups=units, random_state=0)
    assert nested.risk == pytest.approx(by_units.risks[1], abs=0.1)
    assert nested.population.kind == "new units"
    assert nested_risk(learner, settings, X, y, random_state=0).risk < 0.1


def test_choices_are_made_by_the_past():
    # A wave that a cubic follows, and past which it shoots.
    time = np.arange(80.0)
    y = np.sin(time / 6) + 0.1 * np.random.default_rng(0).normal(size=80)

    class Powers(LinearRegression):
        def __init__(self, degree=0):
            super().__init__()
            self.degree = degree

        def fit(self, X, y):
            return super().fit((X / 80) ** np.arange(self.degree + 1), y)

        def predict(self, X):
            return super().predict((X / 80) ** np.arange(self.degree + 1))

    X, settings = time[:, None], {"degree": [0, 6]}
    assert tune(Powers(), settings, X, y, random_state=0).best == {"degree": 6}
    assert tune(Powers(), settings, X, y, time=time, cv=3).best == {"degree": 0}
    nested = nested_risk(Powers(), settings, X, y, cv=ForwardChaining(3, time=time), inner_cv=2)
    assert nested.population.kind == "period"
    assert np.isfinite(nested.losses).sum() == 60
    # Inner folds go forward as well: they chose the constant, as the tuning above did.
    constant = cross_validate(Powers(), X, y, time=time, cv=3)
    assert nested.losses[20:] == pytest.approx(constant.losses[20:])


def test_resamples_hold_whole_units():
    rng = np.random.default_rng(0)
    units = rng.permutation(np.repeat(np.arange(12), 4))

    def whole(labels):
        counts = np.bincount(labels, minlength=12)
        assert np.all(counts % 4 == 0)
        assert counts.sum() == 48
        return 0.0

    bootstrap(whole, units, n_resamples=50, groups=units, random_state=0)
    # The variance of a mean over 40 units of ten equal rows is that of 40 numbers, not of 400.
    values = rng.normal(size=40)
    law = bootstrap(
        np.mean,
        np.repeat(values, 10),
        n_resamples=2000,
        groups=np.repeat(np.arange(40), 10),
        random_state=0,
    )
    assert law.covariance[0, 0] == pytest.approx(values.var() / 40, rel=0.15)


def test_bootstrap_risk_is_measured_on_units_that_were_not_drawn():
    X, y, units = copies()
    learner = KNeighborsClassifier(1)
    rows = bootstrap_risk(learner, X, y, n_resamples=30, random_state=0)
    owners = bootstrap_risk(learner, X, y, n_resamples=30, groups=units, random_state=0)
    assert rows.leave_one_out < 0.25
    assert 0.35 < owners.leave_one_out < 0.65
    # Units count once: one of 9 rows that is always wrong, two of one row that never are.
    outputs, labels = np.r_[np.ones(9), 0.0, 0.0], np.repeat([0, 1, 2], [9, 1, 1])
    risk = bootstrap_risk(Zero(), outputs[:, None], outputs, groups=labels, random_state=0)
    assert risk.training == pytest.approx(1 / 3)
    assert risk.in_sample == pytest.approx(1 / 3)


def test_permutation_tests_of_units_keep_their_level():
    rng = np.random.default_rng(0)
    units = np.repeat(np.arange(12), 5)
    rejected = np.zeros((2, 2), dtype=int)

    def correlation(x, y):
        return abs(np.corrcoef(x, y)[0, 1])

    for seed in range(150):
        x = rng.normal(size=12)[units] + 0.2 * rng.normal(size=60)
        constant = rng.normal(size=12)[units]
        varying = constant + 0.2 * rng.normal(size=60)
        for i, y in enumerate((constant, varying)):
            for j, groups in enumerate((units, None)):
                how = {"n_permutations": 39, "random_state": seed, "groups": groups}
                rejected[i, j] += permutation_test(correlation, x, y, **how) <= 0.1
    for i in range(2):
        assert_bound_holds(int(rejected[i, 0]), 150, 0.1)
        assert rejected[i, 1] > 50


def test_permutations_of_units_by_enumeration():
    # Four owners, the treated ones on top: 2 of the 6 arrangements are as extreme.
    owners = np.repeat([0, 1, 2, 3], [1, 2, 3, 4])
    x, treated = 1.0 * owners, (owners >= 2).astype(float)

    def gap(x, y):
        means = np.array([x[owners == g].mean() for g in range(4)])
        labels = np.array([y[owners == g].mean() for g in range(4)])
        return abs(means[labels == 1].mean() - means[labels == 0].mean())

    assert permutation_test(gap, x, treated, groups=owners) == pytest.approx(2 / 6)


def test_reliability_counts_units():
    owners = np.repeat(np.arange(4), [40, 20, 20, 20])
    y, p = (owners == 0).astype(int), np.full(100, 0.3)
    rows = reliability_curve(y, p)
    units = reliability_curve(y, p, groups=owners)
    assert (rows.observed[0], units.observed[0]) == (0.4, 0.25)
    assert units.upper[0] - units.lower[0] > 3 * (rows.upper[0] - rows.lower[0])
    expected = hold_out_interval(y, 0.05, units=owners)
    assert (units.lower[0], units.upper[0]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda X, y, g: cross_validate(Zero(), X, y, groups=g, cv=list(KFold(3).split(X))),
            "both sides",
        ),
        (lambda X, y, g: cross_validate(Zero(), X, y, groups=g, cv=9), "number of units, 4"),
        (lambda X, y, g: cross_validate(Zero(), X, y, groups=g * 0), "at least 2 units"),
        (lambda X, y, g: cross_validate(Zero(), X, y, groups=g[1:]), "each of the 12 rows"),
        (lambda X, y, g: cross_validate(Zero(), X, y, time=y, cv=KFold(4)), "ForwardChaining"),
        (lambda X, y, g: cross_validate(Zero(), X, y, time=y, cv="loo"), "ForwardChaining"),
        (lambda X, y, g: cross_validate(Zero(), X, y, time=y[1:]), "each of the 12 rows"),
        (lambda X, y, g: cross_validate(Zero(), X, y, time=y * np.nan), "moment of every row"),
        (lambda X, y, g: hold_out(Zero(), X, y, groups=g * 0), "at least 2 units"),
        (lambda X, y, g: hold_out_interval(y / 12, 0.1, method="exact", units=g), "'betting'"),
        (lambda X, y, g: bootstrap(np.mean, y, groups=g[1:]), "each of the 12 rows"),
        (
            lambda X, y, g: permutation_test(np.dot, y, y, groups=np.repeat([0, 1, 2], [2, 4, 6])),
            "units of different sizes",
        ),
    ],
)
def test_bad_input_is_refused(call, message):
    y = np.arange(12.0)
    with pytest.raises(ValueError, match=message):
        call(y[:, None], y, np.repeat(np.arange(4), 3))
