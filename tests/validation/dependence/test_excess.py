"""Excess of losses: values by hand, and intervals that count units."""

import numpy as np
import pytest
import scipy.stats

from corollary.core.simulate import assert_bound_holds
from corollary.validation import unit_excess


def test_value_and_interval_by_hand():
    # Units of one row: the ratio's error is that of the residuals w - (1 + R) b.
    worse, better = np.array([3.0, 2.0, 4.0, 3.0]), np.array([2.0, 1.0, 3.0, 2.0])
    excess, p_value = unit_excess(worse, better, np.arange(4), confidence=0.9)
    assert excess.value == pytest.approx(0.5)
    assert excess.n == 4
    error = (worse - 1.5 * better).std(ddof=1) / 2 / 2
    reach = scipy.stats.t.ppf(0.95, 3) * error
    assert excess.low == pytest.approx(0.5 - reach)
    assert excess.high == pytest.approx(0.5 + reach)
    assert p_value == 0.0  # every row is worse by one


def test_p_value_is_students():
    rng = np.random.default_rng(0)
    worse, better = rng.random(30) + 0.1, rng.random(30)
    expected = scipy.stats.ttest_rel(worse, better, alternative="greater").pvalue
    assert unit_excess(worse, better, np.arange(30))[1] == pytest.approx(expected)
    means = (worse - better).reshape(10, 3).mean(axis=1)
    expected = scipy.stats.ttest_1samp(means, 0.0, alternative="greater").pvalue
    assert unit_excess(worse, better, np.arange(30) // 3)[1] == pytest.approx(expected)


@pytest.mark.parametrize("n_units", [10, 30])
def test_intervals_count_units_and_not_rows(n_units):
    rng, missed, naive, repeats = np.random.default_rng(0), 0, 0, 600
    owner = np.repeat(np.arange(n_units), 8)
    truth = 0.3
    for _ in range(repeats):
        better = 1 + 0.3 * rng.random(len(owner))
        worse = better * 1.3 + 0.5 * (rng.random(n_units) - 0.5)[owner]
        low, high = unit_excess(worse, better, owner)[0][1:3]
        missed += not low <= truth <= high
        low, high = unit_excess(worse, better, np.arange(len(owner)))[0][1:3]
        naive += not low <= truth <= high
    assert_bound_holds(missed, repeats, 0.06)
    assert naive > 0.3 * repeats


def test_large_units_leave_few_degrees_of_freedom():
    units = np.r_[np.zeros(95), np.arange(1, 6)]
    excess, p_value = unit_excess(np.full(100, 1.1), np.full(100, 1.0), units)
    assert p_value == 1.0
    assert excess.low == -np.inf


def test_floor_and_what_cannot_be_compared():
    assert unit_excess([0.1, 0.1], [0.0, 0.0], [0, 1], floor=0.5)[0].value == pytest.approx(0.2)
    with pytest.raises(ValueError, match="positive loss"):
        unit_excess([0.1, 0.1], [0.0, 0.0], [0, 1])
    with pytest.raises(ValueError, match="for each row"):
        unit_excess([0.1], [0.0, 0.0], [0, 1])
