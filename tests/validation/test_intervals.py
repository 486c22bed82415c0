"""Intervals and adjusted tests: against SciPy, by definition and by simulation."""

import math

import numpy as np
import pytest
from scipy import stats

from corollary.core.simulate import assert_bound_holds
from corollary.linear import Ridge
from corollary.validation import (
    compare_learners,
    cross_validate,
    cross_validated_error,
    cross_validated_interval,
    mean_interval,
    overlap_inflation,
    quantile_interval,
    share_interval,
    share_upper,
)


@pytest.mark.parametrize(("k", "n"), [(0, 7), (3, 7), (7, 7), (141, 143), (1, 1)])
def test_share_interval_equals_scipy(k, n):
    other = stats.binomtest(k, n).proportion_ci(0.95, method="exact")
    assert share_interval(k, n, 0.95) == pytest.approx((other.low, other.high))
    upper = stats.binomtest(k, n, alternative="less").proportion_ci(0.95, method="exact").high
    assert share_upper(k, n, 0.95) == pytest.approx(upper)


@pytest.mark.parametrize("n", [15, 60])
@pytest.mark.parametrize("sign", [1, -1])
def test_mean_intervals_miss_less_often_than_students_on_skewed_numbers(n, sign, seed):
    rng = np.random.default_rng(seed)
    truth, misses = sign * math.exp(0.5), np.zeros((2, 2))
    reach = stats.t.ppf(0.975, n - 1)
    for _ in range(2000):
        sample = sign * np.exp(rng.normal(size=n))
        half = reach * sample.std(ddof=1) / math.sqrt(n)
        mean, low, high, _ = mean_interval(sample, 0.95)
        misses[0] += mean - half > truth, mean + half < truth
        misses[1] += low > truth, high < truth
    student, mine = misses
    # The long tail's side is where Student's interval fails: 2.5% are meant, 8% to 15% are missed.
    assert mine.max() < 0.7 * student.max()
    assert mine.sum() < student.sum()


def test_mean_intervals_are_students_without_skewness_and_scale_with_the_numbers():
    sample = np.array([-3.0, -1.0, 0.0, 1.0, 3.0])
    other = stats.t.interval(0.9, 4, 0, sample.std(ddof=1) / math.sqrt(5))
    assert mean_interval(sample, 0.9)[:3] == pytest.approx((0.0, *other))
    skewed = np.array([1.0, 1.0, 2.0, 9.0])
    for scale in (1e-150, -1.0, 1e150):
        ends = scale * np.array(mean_interval(skewed, 0.9)[:3])
        ends[1:] = np.sort(ends[1:])
        assert mean_interval(scale * skewed, 0.9)[:3] == pytest.approx(tuple(ends))


@pytest.mark.parametrize(("n", "level"), [(12, 0.5), (60, 0.9), (40, 0.99)])
def test_quantile_interval_covers(n, level, seed):
    rng = np.random.default_rng(seed)
    truth = -math.log(1 - level)
    missed = 0
    for _ in range(2_000):
        sample = np.sort(rng.exponential(size=n))
        _, low, high = quantile_interval(sample, level, 0.9)
        missed += (low is not None and low > truth) or (high is not None and high < truth)
    assert_bound_holds(missed, 2_000, 0.1)


def test_shared_training_rows_widen_the_interval(seed):
    """K folds of n rows: the variance of Nadeau and Bengio, by the row and by the fold."""
    values = np.random.default_rng(seed).normal(size=200)
    plain = values.std(ddof=1) / math.sqrt(200)
    for k in (2, 3, 5, 10):
        widened = math.sqrt(1 + k / (k - 1))
        assert overlap_inflation(k) == pytest.approx(widened)
        assert overlap_inflation(k, 0.25) / math.sqrt(k) == pytest.approx(math.sqrt(1 / k + 0.25))
        assert cross_validated_error(values, k) == pytest.approx(plain * widened)
        alone, wide = mean_interval(values, 0.9), cross_validated_interval(values, k, 0.9)
        assert wide.value == alone.value
        ratio = (wide.high - wide.low) / (alone.high - alone.low)
        assert ratio == pytest.approx(widened, rel=1e-2)  # to the order of the skewness
    assert cross_validated_interval(np.array([1.0, np.inf]), 5, 0.9).high == math.inf


def test_learners_are_compared_with_the_same_factor(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + rng.normal(size=60)
    found = compare_learners(Ridge(alpha=1e6), Ridge(), X, y, loss="square", cv=5)
    how = {"loss": "square", "cv": 5, "random_state": 0}
    one, two = (cross_validate(Ridge(alpha=a), X, y, **how).fold_risks for a in (1e6, 1.0))
    spread = np.std(one - two, ddof=1)
    assert found.standard_error == pytest.approx(spread * math.sqrt(1 / 5 + 12 / 48))


def test_corrected_interval_by_hand():
    values = np.tile([0.0, 2.0], 50)
    standard_error = values.std(ddof=1) / 10
    assert cross_validated_error(values, 5) == pytest.approx(standard_error * np.sqrt(1 + 5 / 4))
    assert cross_validated_error(values, 10) == pytest.approx(standard_error * np.sqrt(1 + 10 / 9))
    estimate = cross_validated_interval(values, 5, 0.95)
    radius = stats.t.ppf(0.975, 99) * standard_error * 1.5
    assert (estimate.value, estimate.n) == (1.0, 100)
    assert estimate.high - estimate.value == pytest.approx(radius)
    assert estimate.value - estimate.low == pytest.approx(radius)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: share_interval(4, 3, 0.95), "from 0 to n hits in n trials. Got 4 hits in 3"),
        (lambda: share_upper(-1, 3, 0.95), "Got -1 hits in 3"),
        (lambda: share_interval(1, 3, 95), "'confidence' parameter of share_interval"),
        (lambda: mean_interval([1.0, 2.0], 0.95, inflation=0.0), "'inflation' parameter"),
        (lambda: quantile_interval([], 0.5, 0.95), "at least one number"),
        (lambda: quantile_interval([1.0, math.nan], 0.5, 0.95), "none that is NaN"),
        (lambda: overlap_inflation(0), "'n_folds' parameter of overlap_inflation"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
