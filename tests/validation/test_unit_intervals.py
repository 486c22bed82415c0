"""Intervals that count units: by hand, by enumeration, and simulated on worlds with owners."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from corollary.core.simulate import assert_bound_holds
from corollary.validation import (
    cross_validated_error,
    cross_validated_interval,
    mean_interval,
    share_upper,
    unit_mean_interval,
    unit_means,
    unit_quantile_interval,
    unit_share_upper,
)

#: Numbers of owners, the fewest first.
OWNERS = [5, 10, 20, 40]


def unequal_sizes(rng, n_owners):
    """Sizes from 1 to 60, most of them small."""
    return np.floor(np.exp(rng.uniform(0, math.log(61), n_owners))).astype(int)


def mistakes(rng, n_owners, sizes=None):
    """Rows of owners whose probability of a mistake is Beta(0.8, 3.2), of mean 0.2."""
    sizes = unequal_sizes(rng, n_owners) if sizes is None else sizes
    units = np.repeat(np.arange(n_owners), sizes)
    return (rng.random(len(units)) < rng.beta(0.8, 3.2, n_owners)[units]).astype(float), units


def test_units_are_averaged_by_label():
    values, units = [4.0, 1.0, 2.0, 6.0], ["b", "c", "a", "b"]
    assert unit_means(values, units).tolist() == [2.0, 5.0, 1.0]
    assert unit_means(pd.Series(values), pd.Series(units)).tolist() == [2.0, 5.0, 1.0]


def test_the_mean_counts_each_unit_once():
    rng = np.random.default_rng(0)
    means = rng.exponential(size=12)
    units = np.repeat(np.arange(12), rng.integers(1, 20, 12))
    expected = mean_interval(means, 0.9)
    assert unit_mean_interval(means[units], units, 0.9) == pytest.approx(expected)
    assert unit_mean_interval(means[units], units, 0.9).n == 12
    # Without skewness Hall's interval is Student's: mean 2, deviation 1, three units.
    radius = stats.t.ppf(0.95, 2) / math.sqrt(3)
    low, high = unit_mean_interval([1.0, 1.0, 2.0, 3.0], [0, 0, 1, 2], 0.9)[1:3]
    assert (low, high) == pytest.approx((2 - radius, 2 + radius))
    assert unit_mean_interval([1.0, 2.0], [0, 0], 0.9)[1:3] == (-math.inf, math.inf)


@pytest.mark.parametrize("n_owners", OWNERS)
def test_mean_intervals_of_unequal_owners_cover(n_owners):
    """Nominal 90%: Student's law over owners comes near it, rows counted as owners do not."""
    rng = np.random.default_rng(n_owners)
    covered = np.zeros(2)
    for _ in range(400):
        sizes = unequal_sizes(rng, n_owners)
        units = np.repeat(np.arange(n_owners), sizes)
        losses = rng.normal(size=n_owners)[units] + 0.5 * rng.normal(size=len(units))
        for i, labels in enumerate((units, np.arange(len(units)))):
            _, low, high, _ = unit_mean_interval(losses, labels, 0.9)
            covered[i] += low <= 0 <= high
    assert covered[0] >= 0.85 * 400
    assert covered[1] <= 0.6 * 400


@pytest.mark.parametrize("n_owners", OWNERS)
@pytest.mark.parametrize("design", ["equal", "unequal", "larger are worse"])
def test_share_bounds_hold_for_new_owners(n_owners, design):
    rng = np.random.default_rng(n_owners)
    broken, today = 0, 0
    for _ in range(300):
        if design == "larger are worse":
            risk = rng.beta(0.8, 3.2, n_owners)
            units = np.repeat(np.arange(n_owners), 1 + (40 * risk).astype(int))
            hits = (rng.random(len(units)) < risk[units]).astype(float)
        else:
            sizes = np.full(n_owners, 6) if design == "equal" else unequal_sizes(rng, n_owners)
            hits, units = mistakes(rng, n_owners, sizes)
        broken += unit_share_upper(hits, units, 0.9) < 0.2
        today += share_upper(int(hits.sum()), len(hits), 0.9) < 0.2
    assert_bound_holds(broken, 300, 0.1)
    if design == "unequal":  # what the test would see if rows were counted
        assert today > 45


def test_share_bounds_by_hand():
    # Units of one row: the exact binomial bound, which solves (1 - p)^59 = 0.05 without a hit.
    alone = unit_share_upper(np.zeros(59), np.arange(59), 0.95)
    assert alone == pytest.approx(1 - 0.05 ** (1 / 59))
    # Twenty owners without a mistake, however many rows they have.
    few, many = (
        unit_share_upper(np.zeros(20 * m), np.repeat(np.arange(20), m), 0.95) for m in (2, 50)
    )
    assert few == many
    assert 1 - 0.05 ** (1 / 20) < few < 0.2
    # One owner: a share of zero has a probability of at most 1 - theta.
    assert 0.95 <= unit_share_upper([0, 0, 0], [1, 1, 1], 0.95) <= 1


@pytest.mark.parametrize("n_owners", OWNERS)
def test_quantile_intervals_of_unequal_owners_cover(n_owners):
    rng = np.random.default_rng(n_owners)
    missed, rows_missed = 0, 0
    truth = math.sqrt(1.25) * stats.norm.ppf(0.5)
    for seed in range(300):
        units = np.repeat(np.arange(n_owners), unequal_sizes(rng, n_owners))
        losses = rng.normal(size=n_owners)[units] + 0.5 * rng.normal(size=len(units))
        value, low, high, n = unit_quantile_interval(losses, units, 0.5, 0.9, seed)
        assert low <= value <= high
        assert n == n_owners
        missed += not low <= truth <= high
        _, low, high, _ = unit_quantile_interval(losses, np.arange(len(units)), 0.5, 0.9, seed)
        rows_missed += not low <= truth <= high
    assert_bound_holds(missed, 300, 0.1)
    assert rows_missed > 90


def test_quantiles_by_hand():
    # Weights 1/4, 1/4, 1/2 on 1, 2, 3: the median is 2, the 0.4 quantile as well.
    values, units = [3.0, 1.0, 2.0], ["b", "a", "a"]
    assert unit_quantile_interval(values, units, 0.5, 0.9, 0).value == 2.0
    assert unit_quantile_interval(values, units, 0.51, 0.9, 0).value == 3.0
    assert unit_quantile_interval(values, units, 0.25, 0.9, 0).value == 1.0
    assert unit_quantile_interval(values, units, 0.5, 0.9, 0)[1:3] == (-math.inf, math.inf)
    # Rows that are all alike in each unit: nothing is left to chance.
    alike = np.repeat(np.arange(1.0, 21.0), 3)
    found = unit_quantile_interval(alike, np.repeat(np.arange(20), 3), 0.5, 0.95, 0)
    assert found == (10.0, 6.0, 15.0, 20)


def test_every_row_of_a_unit_is_drawn_equally_often():
    # The interval of the median goes from the least to the largest of three draws.
    values, units = np.array([0.0, 1.0, 2.0, 10.0, 20.0]), np.array([0, 0, 0, 1, 2])
    drawn = [unit_quantile_interval(values, units, 0.5, 0.1, seed).low for seed in range(400)]
    # 133 of each, standard deviation 9.
    assert all(90 < drawn.count(value) < 180 for value in (0.0, 1.0, 2.0))


def test_cross_validated_rows_count_units():
    units = np.repeat(np.arange(10), 7)
    values = np.arange(10.0)[units]
    assert cross_validated_error(values, 5, units=units) == pytest.approx(
        cross_validated_error(np.arange(10.0), 5)
    )
    assert cross_validated_interval(values, 5, 0.9, units=units) == pytest.approx(
        cross_validated_interval(np.arange(10.0), 5, 0.9)
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: unit_mean_interval([1.0, 2.0], [0], 0.9), "each of the 2 rows. Got 1"),
        (lambda: unit_mean_interval([1.0, 2.0], [0, None], 0.9), "Got 1 without one"),
        (lambda: unit_mean_interval([[1.0]], [0], 0.9), "one value for each row"),
        (lambda: cross_validated_error([1.0, 2.0], 5, units=["a", None]), "Got 1 without one"),
        (lambda: unit_share_upper([0.5, 1.0], [0, 0], 0.9), "0 or 1"),
        (lambda: unit_quantile_interval([np.nan], [0], 0.5, 0.9), "none of them NaN"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
