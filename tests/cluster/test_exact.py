"""Exact k-means: all partitions by hand, the search and the dynamic programme."""

from itertools import product

import numpy as np
import pytest

from corollary.cluster import (
    KMeans,
    count_partitions,
    exact_kmeans,
    kmeans_1d,
    lloyd,
    partition_cost,
)
from corollary.datasets import lloyd_trap


def least_cost(X, k, weight=None):
    """Try every labelling."""
    weight = np.ones(len(X)) if weight is None else weight
    least = np.inf
    for labels in product(range(k), repeat=len(X)):
        members = (np.array(labels) == np.arange(k)[:, None]) * weight
        if members.any(axis=1).all():
            means = members @ X / members.sum(axis=1, keepdims=True)
            least = min(least, weight @ ((X - means[list(labels)]) ** 2).sum(axis=1))
    return least


@pytest.mark.parametrize(
    ("n", "k", "d"), [(1, 1, 2), (5, 5, 1), (6, 1, 2), (6, 2, 2), (6, 3, 1), (7, 3, 2)]
)
def test_the_search_finds_the_least_of_all_partitions(n, k, d):
    rng = np.random.default_rng(n + k)
    X, weight = rng.normal(size=(n, d)), rng.integers(1, 4, n).astype(float)
    for w in (None, weight):
        best = exact_kmeans(X, k, sample_weight=w)
        assert best.cost == pytest.approx(least_cost(X, k, w), abs=1e-12)
        assert best.cost == pytest.approx(partition_cost(X, best.labels, sample_weight=w))
        assert set(best.labels) == set(range(k))
        if d == 1:
            assert kmeans_1d(X, k, sample_weight=w).cost == pytest.approx(best.cost, abs=1e-12)


@pytest.mark.parametrize("which", ["empty", "rectangle", "triangle"])
def test_traps_of_lloyds_iteration(which):
    trap = lloyd_trap(which)
    best = exact_kmeans(trap.X, 2)
    assert best.cost == pytest.approx(trap.best_cost)
    if which != "empty":  # the start is a fixed point
        means = np.array([trap.X[trap.start == k].mean(axis=0) for k in range(2)])
        assert lloyd(trap.X, means).cost == pytest.approx(trap.start_cost)
        assert trap.start_cost > 2 * best.cost


def test_search_and_programme_agree_on_a_line():
    rng = np.random.default_rng(3)
    for k in (2, 3, 5):
        x, weight = rng.exponential(size=18).round(2), rng.integers(0, 3, 18).astype(float)
        for w in (None, weight):
            search, line = (
                exact_kmeans(x[:, None], k, sample_weight=w),
                kmeans_1d(x, k, sample_weight=w),
            )
            assert search.cost == pytest.approx(line.cost, abs=1e-12)
            assert (np.diff(line.centers[:, 0]) >= 0).all()


def test_k_means_started_at_the_optimum_stays_there():
    rng = np.random.default_rng(4)
    for _ in range(10):
        X = rng.normal(size=(14, 2))
        best = exact_kmeans(X, 3)
        model = KMeans(3, init=best.centers, tol=0.0).fit(X)
        assert model.inertia_ == pytest.approx(best.cost)
        assert np.array_equal(model.labels_, best.labels)
        many = KMeans(3, n_init=30, random_state=0).fit(X)
        assert many.inertia_ >= best.cost - 1e-12


def test_a_long_line_by_blocks_of_its_programme():
    x = np.repeat(np.arange(5.0) * 10, 2000) + np.tile([-1.0, 1.0], 5000)
    best = kmeans_1d(np.random.default_rng(0).permutation(x), 5)
    assert best.cost == 10_000.0
    assert best.centers.ravel().tolist() == [0.0, 10.0, 20.0, 30.0, 40.0]
    assert kmeans_1d(x, 10).cost == 0.0


def test_weights_of_zero_and_copies():
    X = np.array([[0.0], [0.0], [1.0], [50.0]])
    best = exact_kmeans(X, 2, sample_weight=[1, 1, 1, 0])
    assert best.cost == 0.0
    assert best.labels.tolist() == [0, 0, 1, 1]
    assert exact_kmeans(X, 4).cost == 0.0
    assert sorted(exact_kmeans(X, 4).labels) == [0, 1, 2, 3]
    assert kmeans_1d(X, 2, sample_weight=[1, 1, 1, 0]).labels.tolist() == [0, 0, 1, 1]
    few = exact_kmeans(X, 3, sample_weight=[1, 1, 0, 0])
    assert few.cost == 0.0
    assert np.isfinite(few.centers).all()


def test_good_bounds_leave_few_partitions_to_look_at():
    X = np.random.default_rng(0).normal(size=(20, 2))
    best = exact_kmeans(X, 3, max_nodes=180_000)  # of count_partitions(20, 3), 580,606,446
    assert best.cost <= KMeans(3, n_init=20, random_state=0).fit(X).inertia_ + 1e-9


def test_partitions_are_counted():
    for n in range(7):
        for k in range(5):
            cells = {
                frozenset(frozenset(np.flatnonzero(np.array(labels) == j)) for j in range(k))
                for labels in product(range(max(k, 1)), repeat=n)
                if set(labels) == set(range(k))
            }
            assert count_partitions(n, k) == len(cells)
    assert count_partitions(25, 5) == 2_436_684_974_110_751


def test_bad_input_is_told():
    X = np.random.default_rng(0).normal(size=(12, 2))
    with pytest.raises(ValueError, match="n_samples=12 should be >= n_clusters=13"):
        exact_kmeans(X, 13)
    with pytest.raises(ValueError, match="max_nodes"):
        exact_kmeans(X, 4, max_nodes=50)
    with pytest.raises(ValueError, match="one column"):
        kmeans_1d(X, 2)
    with pytest.raises(ValueError, match="should be >="):
        kmeans_1d([1.0], 2)


@pytest.mark.parametrize("reach", [1e6, 1e9, 1e11])
def test_far_numbers_do_not_blur_near_ones(reach):
    """Sums of squares of 1e18 have no digits for differences of 0.1; enumerated without them."""
    group = np.array([0.0, 0.125, 0.25, 5.0, 5.125, 5.25])  # exact beside 1e11
    x = np.concatenate([group - reach, group, group + reach])
    assert kmeans_1d(x, 6).cost == pytest.approx(6 * 2 * 0.125**2, rel=1e-6)
    rng = np.random.default_rng(0)
    near = rng.normal(size=200)
    w = rng.integers(1, 4, 202).astype(float)
    alone = kmeans_1d(near, 3, sample_weight=w[:200])
    beside = kmeans_1d(np.append(near, [-reach, reach]), 5, sample_weight=w)
    assert beside.cost == pytest.approx(alone.cost, rel=1e-9)
