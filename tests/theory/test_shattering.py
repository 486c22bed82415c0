"""Dichotomies, growth and VC dimensions by brute force and known counts."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corollary.risk import minimise_interval, minimise_threshold
from corollary.theory import (
    count_dichotomies,
    growth_function,
    interval_growth,
    is_shattered,
    log_growth_bound,
    shattered_set,
    threshold_growth,
    vc_dimension,
    vc_of_finite_class,
)

X = np.arange(7)
THRESHOLDS = np.where(np.arange(8)[:, None] > X, 1, -1)
INTERVALS = np.array([np.where((a <= X) & (b > X), 1, -1) for a in range(8) for b in range(a, 8)])


def brute_dimension(table):
    best = 0
    for size in range(1, table.shape[1] + 1):
        for points in combinations(range(table.shape[1]), size):
            if len({tuple(row) for row in table[:, points]}) == 2**size:
                best = size
    return best


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 6))
@settings(max_examples=60)
def test_dimension_is_the_brute_force_one(seed, hypotheses, points):
    table = np.random.default_rng(seed).choice([-1, 1], size=(hypotheses, points))
    dimension = vc_dimension(table)
    assert dimension == brute_dimension(table)
    found = shattered_set(table)
    assert len(found) == dimension
    if dimension:
        assert is_shattered(table[:, list(found)])
    assert dimension <= vc_of_finite_class(hypotheses)
    for n in range(1, points + 1):
        growth = growth_function(table, n)
        brute = max(
            len({tuple(row) for row in table[:, subset]})
            for subset in combinations(range(points), n)
        )
        assert growth == brute
        assert np.log(growth) <= log_growth_bound(n, dimension) + 1e-9
        assert (growth == 2**n) == (n <= dimension)


def test_thresholds_and_intervals():
    assert vc_dimension(THRESHOLDS) == 1
    assert vc_dimension(INTERVALS) == 2
    for n in range(1, 8):
        assert growth_function(THRESHOLDS, n) == threshold_growth(n) == n + 1
        assert growth_function(INTERVALS, n) == interval_growth(n) == n * (n + 1) // 2 + 1
        # Both reach the bound of Sauer and Shelah.
        assert np.exp(log_growth_bound(n, 1)) == pytest.approx(n + 1)
        assert np.exp(log_growth_bound(n, 2)) == pytest.approx(1 + n + n * (n - 1) / 2)
    assert [1, -1, 1] not in INTERVALS[:, :3].tolist()


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_exact_minimisers_search_the_class_and_no_more(seed):
    # THRESHOLDS are +1 below their threshold; the other direction is another class.
    y = np.random.default_rng(seed).choice([-1, 1], len(X))
    for table, direction in ((THRESHOLDS, -1), (-THRESHOLDS, 1)):
        rule = minimise_threshold(X, y, direction=direction)
        assert rule.direction == direction
        assert rule.risk == pytest.approx((table != y).mean(axis=1).min())
        assert np.mean(rule.predict(X) != y) == pytest.approx(rule.risk)
    both = np.concatenate([THRESHOLDS, -THRESHOLDS])
    assert minimise_threshold(X, y).risk == pytest.approx((both != y).mean(axis=1).min())
    interval = minimise_interval(X, y)
    assert interval.risk == pytest.approx((y != INTERVALS).mean(axis=1).min())
    assert np.mean(interval.predict(X[:, None]) != y) == pytest.approx(interval.risk)


def test_dimension_grows_with_the_class_and_the_points():
    rng = np.random.default_rng(0)
    table = rng.choice([-1, 1], size=(60, 12))
    assert vc_dimension(table[:20]) <= vc_dimension(table[:40]) <= vc_dimension(table)
    assert vc_dimension(table[:, :6]) <= vc_dimension(table)


def test_small_classes():
    assert vc_dimension([[1, 1, 1]]) == 0
    assert shattered_set([[1, -1]]) == ()
    assert count_dichotomies([[1, 1], [1, 1]]) == 1
    assert not is_shattered([[1, 1], [1, -1], [-1, 1]])
    assert vc_of_finite_class(1) == 0
    assert vc_of_finite_class(1024) == 10


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: vc_dimension([1, 2]), "one row per hypothesis"),
        (lambda: vc_dimension([[1, 2, 3]]), "two different labels"),
        (lambda: vc_dimension(np.ones((1, 63))), "at most 62 points"),
        (lambda: growth_function([[1, -1]], 3), "'n' parameter"),
        (lambda: growth_function(np.ones((1, 60)), 12), "smaller ground set"),
        (lambda: vc_of_finite_class(0), "'n_hypotheses' parameter"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
