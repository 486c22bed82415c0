"""Intervals and tests of the sections: against SciPy, by definition and by simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from corollary.core.simulate import assert_bound_holds
from corollary.reporting.trust import _statistics as statistics


@pytest.mark.parametrize(("k", "n"), [(0, 7), (3, 7), (7, 7), (141, 143), (1, 1)])
def test_share_interval_equals_scipy(k, n):
    other = stats.binomtest(k, n).proportion_ci(0.95, method="exact")
    assert statistics.share_interval(k, n, 0.95) == pytest.approx((other.low, other.high))
    upper = stats.binomtest(k, n, alternative="less").proportion_ci(0.95, method="exact").high
    assert statistics.share_upper(k, n, 0.95) == pytest.approx(upper)


@pytest.mark.parametrize("n", [15, 60])
@pytest.mark.parametrize("sign", [1, -1])
def test_mean_intervals_miss_less_often_than_students_on_skewed_numbers(n, sign, seed):
    rng = np.random.default_rng(seed)
    truth, misses = sign * math.exp(0.5), np.zeros((2, 2))
    reach = stats.t.ppf(0.975, n - 1)
    for _ in range(2000):
        sample = sign * np.exp(rng.normal(size=n))
        half = reach * sample.std(ddof=1) / math.sqrt(n)
        mean, low, high = statistics.mean_interval(sample, 0.95)
        misses[0] += mean - half > truth, mean + half < truth
        misses[1] += low > truth, high < truth
    student, mine = misses
    # The long tail's side is where Student's interval fails: 2.5% are meant, 8% to 15% are missed.
    assert mine.max() < 0.7 * student.max()
    assert mine.sum() < student.sum()


def test_mean_intervals_are_students_without_skewness_and_scale_with_the_numbers():
    sample = np.array([-3.0, -1.0, 0.0, 1.0, 3.0])
    other = stats.t.interval(0.9, 4, 0, sample.std(ddof=1) / math.sqrt(5))
    assert statistics.mean_interval(sample, 0.9) == pytest.approx((0.0, *other))
    skewed = np.array([1.0, 1.0, 2.0, 9.0])
    for scale in (1e-150, -1.0, 1e150):
        ends = scale * np.array(statistics.mean_interval(skewed, 0.9))
        ends[1:] = np.sort(ends[1:])
        assert statistics.mean_interval(scale * skewed, 0.9) == pytest.approx(tuple(ends))


@pytest.mark.parametrize(("n", "level"), [(12, 0.5), (60, 0.9), (40, 0.99)])
def test_quantile_interval_covers(n, level, seed):
    rng = np.random.default_rng(seed)
    truth = -math.log(1 - level)
    missed = 0
    for _ in range(2_000):
        sample = np.sort(rng.exponential(size=n))
        _, low, high = statistics.quantile_interval(sample, level, 0.9)
        missed += (low is not None and low > truth) or (high is not None and high < truth)
    assert_bound_holds(missed, 2_000, 0.1)


@pytest.mark.parametrize(("level", "n", "p"), [(0.5, 10, 0.5), (0.975, 30, 0.1), (1e-3, 5, 0.9)])
def test_binomial_quantile_equals_scipy(level, n, p):
    assert statistics.binomial_quantile(level, n, p) == stats.binom.ppf(level, n, p)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_equals_its_definition(p_values):
    p_values = np.array(p_values)
    m = len(p_values)
    adjusted = statistics.holm(p_values)
    for level in (0.01, 0.05, 0.3):
        rejected = set()
        for step, i in enumerate(np.argsort(p_values, kind="stable")):
            if p_values[i] * (m - step) > level:
                break
            rejected.add(int(i))
        assert rejected == set(np.flatnonzero(adjusted <= level).tolist())


@given(st.integers(0, 1000), st.integers(1, 12), st.integers(1, 30))
def test_bins_cover_all_rows_once_with_the_least_count(n, most, least):
    bins = statistics.equal_count_bins(n, most, least)
    covered = [i for b in bins for i in range(b.start, b.stop)]
    assert covered == list(range(n))
    assert len(bins) <= most
    if n >= least:
        assert all(b.stop - b.start >= least for b in bins)
