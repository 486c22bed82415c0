import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from corollary.conformal import (
    conformal_quantile,
    conformal_rank,
    empirical_quantile,
    group_conditional_quantiles,
    smallest_calibration_size,
)
from corollary.conformal._order import order_statistic
from corollary.core.simulate import assert_bound_holds, assert_share_equals


@given(
    values=st.lists(st.floats(-100, 100), min_size=1, max_size=40),
    level=st.integers(1, 1000).map(lambda k: k / 1000),
)
def test_empirical_quantile_agrees_with_numpy(values, level):
    expected = np.quantile(values, level, method="inverted_cdf")
    assert empirical_quantile(values, level) == expected


def test_empirical_quantile_ends():
    assert empirical_quantile([1.0, 2.0], 0.0) == -math.inf
    assert empirical_quantile([1.0, 2.0], 1.0) == 2.0
    assert empirical_quantile([1.0, 2.0], 1.01) == math.inf
    assert empirical_quantile([], 0.5) == math.inf
    # 0.7 * 10 and (1 - 0.7) * 10 end beside whole numbers.
    assert empirical_quantile(np.arange(1, 11), 0.7) == 7
    assert empirical_quantile(np.arange(1, 11), 1 - 0.7) == 3


@pytest.mark.parametrize("n", range(1, 31))
def test_rank_equals_exact_arithmetic(n):
    from fractions import Fraction

    for percent in range(1, 100):
        exact = math.ceil(Fraction(percent, 100) * (n + 1))
        assert conformal_rank(n, percent / 100) == exact
        assert conformal_rank(n, 1 - (100 - percent) / 100) == exact
    assert conformal_rank(n, 1e-300) == 1
    assert conformal_quantile(np.arange(n), 1e-300) == 0


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("confidence", [0.3, 0.5, 0.6, 0.75, 0.9])
def test_coverage_by_enumeration_of_all_orderings(n, confidence):
    """Of (n + 1)! equally likely orderings exactly the share k / (n + 1) is covered."""
    covered = total = 0
    for order in itertools.permutations(range(n + 1)):
        covered += order[-1] <= conformal_quantile(order[:-1], confidence)
        total += 1
    rank = math.ceil((n + 1) * confidence - 1e-9)
    assert covered / total == pytest.approx(min(rank, n + 1) / (n + 1))
    assert covered / total >= confidence


@pytest.mark.parametrize("values", [(0, 0, 0, 1), (0, 1, 1, 1), (2, 2, 5, 5)])
def test_ties_only_add_coverage(values):
    covered = [
        order[-1] <= conformal_quantile(order[:-1], 0.6) for order in itertools.permutations(values)
    ]
    assert np.mean(covered) >= 3 / 4


def test_known_values():
    assert conformal_quantile(np.arange(1, 11), 0.9) == 10  # coverage 10 / 11
    assert conformal_quantile(np.arange(1, 10), 0.9) == 9
    assert conformal_quantile(np.arange(1, 9), 0.9) == math.inf
    assert conformal_quantile([], 0.1) == math.inf
    assert conformal_quantile([1.0, math.inf, 2.0], 0.5) == 2.0
    assert conformal_quantile([-math.inf, 1.0, 2.0], 0.25) == -math.inf


@given(scores=st.lists(st.floats(-5, 5), min_size=1, max_size=30), level=st.floats(0.05, 0.95))
def test_threshold_follows_increasing_transformations(scores, level):
    scores = np.round(scores, 6)  # exp keeps apart what differs by this much
    threshold = conformal_quantile(scores, level)
    assert conformal_quantile(np.exp(scores), level) == pytest.approx(np.exp(threshold))
    assert conformal_quantile(scores[::-1], level) == threshold


@pytest.mark.parametrize("n", [1, 2, 5, 9, 10, 19, 20, 30])
def test_simulated_coverage_is_exact(n, seed):
    rng = np.random.default_rng([seed, n])
    repetitions = 3000
    for confidence in (0.5, 0.9):
        scores = rng.exponential(size=(repetitions, n + 1))
        covered = sum(row[-1] <= conformal_quantile(row[:-1], confidence) for row in scores)
        rank = math.ceil((n + 1) * confidence - 1e-9)
        if rank > n:
            assert covered == repetitions
        else:
            assert_share_equals(covered, repetitions, rank / (n + 1))


def test_groups_have_thresholds_of_their_own(seed):
    """Pooled thresholds miss in the hard group; those of the groups do not."""
    rng = np.random.default_rng(seed)
    repetitions, confidence = 1500, 0.8
    pooled = grouped = 0
    for _ in range(repetitions):
        groups = np.repeat(["easy", "hard"], [30, 10])
        scores = np.where(groups == "hard", 5.0, 1.0) * rng.exponential(size=40)
        fresh = 5.0 * rng.exponential()
        pooled += fresh > conformal_quantile(scores, confidence)
        grouped += fresh > group_conditional_quantiles(scores, groups, confidence)["hard"]
    assert_bound_holds(grouped, repetitions, 1 - confidence)
    assert_share_equals(grouped, repetitions, 1 - 9 / 11)
    with pytest.raises(AssertionError, match="bound broken"):
        assert_bound_holds(pooled, repetitions, 1 - confidence)


def test_small_groups_return_everything():
    thresholds = group_conditional_quantiles(np.arange(12.0), ["a"] * 9 + ["b"] * 3, 0.9)
    assert thresholds == {"a": 8.0, "b": math.inf}


@pytest.mark.parametrize("confidence", [0.1, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_smallest_calibration_size_is_the_smallest(confidence):
    n = smallest_calibration_size(confidence)
    assert conformal_rank(n, confidence) <= n
    assert n == 1 or conformal_rank(n - 1, confidence) > n - 1


@pytest.mark.parametrize(
    ("confidence", "slack", "delta"),
    [(0.9, 0.05, 0.1), (0.8, 0.02, 0.05), (0.92, 0.023, 0.22), (0.519, 0.021, 0.31)],
)
def test_size_for_a_narrow_coverage_law(confidence, slack, delta):
    n = smallest_calibration_size(confidence, slack=slack, delta=delta)
    sizes = np.arange(n - 1, 2 * n)
    ranks = np.ceil((sizes + 1) * confidence - 1e-9)
    # Coverage is below a level if at least so many uniform scores are.
    risk = binom.sf(ranks - 1, sizes, confidence - slack)
    assert np.all(risk[1:] <= delta)
    assert risk[0] > delta


def test_size_with_slack_at_the_ends():
    assert smallest_calibration_size(0.5, slack=0.6) == 1
    assert smallest_calibration_size(0.9, slack=0.1, delta=0.9) >= 9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: conformal_quantile([math.nan], 0.9), "with 1 NaN"),
        (lambda: conformal_quantile([[1.0]], 0.9), r"shape \(1, 1\)"),
        (lambda: conformal_quantile([1.0], 1.0), "'confidence' parameter of conformal_quantile"),
        (lambda: empirical_quantile([1.0], -0.1), "'level' parameter of empirical_quantile"),
        (
            lambda: group_conditional_quantiles([1.0], ["a", "b"], 0.5),
            "one label for each of",
        ),
    ],
)
def test_errors_say_what_is_required(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("n", [1, 2, 7, 63, 64, 2049, 5000, 60_000])
@pytest.mark.parametrize("kind", ["normal", "ties", "constant", "infinite", "ascending", "comb"])
def test_order_statistics_of_many_values_equal_sorting(n, kind, seed):
    """A bracket that misses, or holds too much, must not matter."""
    rng = np.random.default_rng([seed, n])
    values = {
        "normal": lambda: rng.normal(size=n),
        "ties": lambda: rng.integers(5, size=n).astype(float),
        "constant": lambda: np.full(n, 2.0),
        "infinite": lambda: np.where(rng.random(n) < 0.4, np.inf, rng.normal(size=n)),
        "ascending": lambda: np.arange(n, dtype=float),
        # The sampled places hold the smallest values, so that every bracket misses.
        "comb": lambda: np.where(
            np.arange(n) % (max(1, math.isqrt(n) // 4)) == 0, -1.0, rng.random(n)
        ),
    }[kind]()
    ordered = np.sort(values)
    for rank in {1, 2, n // 3, n // 2, int(0.9 * n), n - 1, n} & set(range(1, n + 1)):
        assert order_statistic(values, rank) == ordered[rank - 1]


def test_order_statistics_of_many_values_sort_few_of_them(monkeypatch):
    """A wrong count below the bracket would be repaired by sorting everything, at ten times the
    price."""
    sizes, partition = [], np.partition
    monkeypatch.setattr(
        np,
        "partition",
        lambda values, *how: (sizes.append(len(values)), partition(values, *how))[1],
    )
    values = np.random.default_rng(0).normal(size=200_000)
    for rank in (100_000, 180_001):
        assert order_statistic(values, rank) == np.sort(values)[rank - 1]
    assert max(sizes) < 20_000


def test_ranks_by_hand():
    # The least k with k >= 0.9 (n + 1).
    assert [conformal_rank(n, 0.9) for n in (0, 8, 9, 18, 19)] == [1, 9, 9, 18, 18]
