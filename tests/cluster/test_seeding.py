"""Seeding: the law of k-means++, its greedy variant, and draws in passes."""

from collections import Counter

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import chisquare

from corollary.cluster import KMeans, kmeans_plusplus, seeding_probabilities
from corollary.cluster.means._draws import Draw
from corollary.core.summary import reduce

X = np.array([[0.0], [1.0], [3.0], [7.0]])


def test_probabilities_by_hand():
    assert seeding_probabilities(X, []).tolist() == [0.25] * 4
    assert seeding_probabilities(X, [[0.0]]) == pytest.approx(np.array([0, 1, 9, 49]) / 59)
    assert seeding_probabilities(X / 99, [[0.0]]) == pytest.approx(np.array([0, 1, 9, 49]) / 59)
    assert seeding_probabilities(X, [[0.0], [7.0]]) == pytest.approx(np.array([0, 1, 9, 0]) / 10)
    weight = [1, 2, 0, 1]
    expected = np.array([0, 2, 0, 49]) / 51
    assert seeding_probabilities(X, [[0.0]], sample_weight=weight) == pytest.approx(expected)
    assert seeding_probabilities(X, X, sample_weight=weight) == pytest.approx([0.25, 0.5, 0, 0.25])


@pytest.mark.parametrize("weight", [None, np.array([3.0, 1.0, 0.0, 2.0])])
def test_pairs_are_drawn_with_their_probabilities(weight):
    chance = {}
    for i, first in enumerate(seeding_probabilities(X, [], sample_weight=weight)):
        then = seeding_probabilities(X, X[i : i + 1], sample_weight=weight)
        chance |= {(i, j): first * p for j, p in enumerate(then) if first * p > 0}
    random, n = np.random.RandomState(0), 1000
    draws = Counter(
        tuple(
            kmeans_plusplus(
                X, 2, sample_weight=weight, random_state=random, n_local_trials=1
            ).indices
        )
        for _ in range(n)
    )
    assert draws.keys() <= chance.keys()
    assert (
        chisquare([draws[pair] for pair in chance], [n * p for p in chance.values()]).pvalue > 1e-4
    )


def test_no_row_is_drawn_twice_until_all_lie_on_centres():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 2))
    for trials in (1, None, 5):
        for seed in range(5):
            seeding = kmeans_plusplus(rows, 60, random_state=seed, n_local_trials=trials)
            assert sorted(seeding.indices) == list(range(60))
            assert seeding.cost == 0.0
            assert np.array_equal(seeding.centers, rows[seeding.indices])
    copies = np.zeros((5, 1))
    assert kmeans_plusplus(copies, 3, random_state=0).cost == 0.0


def test_the_cost_is_that_of_the_nearest_centres():
    rng = np.random.default_rng(1)
    rows, weight = rng.normal(size=(9000, 3)), rng.uniform(size=9000)
    for w in (None, weight):
        seeding = kmeans_plusplus(rows, 12, sample_weight=w, random_state=2)
        near = ((rows[:, None] - seeding.centers) ** 2).sum(axis=2).min(axis=1)
        assert seeding.cost == pytest.approx(near.sum() if w is None else w @ near)
        thin = kmeans_plusplus(sparse.csr_matrix(rows), 12, sample_weight=w, random_state=2)
        assert np.array_equal(thin.indices, seeding.indices)


def test_the_best_of_candidates_is_kept():
    """With all rows as candidates the second centre is the best one."""
    rows = np.concatenate([np.zeros(50), np.full(30, 10.0), np.full(20, 11.0)])[:, None]
    for seed in range(10):
        greedy = kmeans_plusplus(rows, 2, random_state=seed, n_local_trials=200)
        first = greedy.centers[0, 0]
        costs = [np.minimum((rows - first) ** 2, (rows - c) ** 2).sum() for c in (0.0, 10.0, 11.0)]
        assert greedy.cost == min(costs)


def test_candidates_grow_with_the_logarithm_of_clusters():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(400, 2))
    default = kmeans_plusplus(rows, 8, random_state=0)
    stated = kmeans_plusplus(rows, 8, random_state=0, n_local_trials=4)  # 2 + int(log 8)
    assert np.array_equal(default.indices, stated.indices)
    costs = {
        t: np.mean(
            [kmeans_plusplus(rows, 8, random_state=s, n_local_trials=t).cost for s in range(40)]
        )
        for t in (1, 4)
    }
    assert costs[4] < costs[1]


@pytest.mark.parametrize("by", ["weight", "distance"])
def test_rows_are_drawn_by_their_mass(by):
    weight = np.array([1.0, 2.0, 3.0, 0.0])
    mass = weight if by == "weight" else weight * [1.0, 4.0, 16.0, 64.0]
    centres = np.array([[-1.0]])
    draws = Counter(
        float(reduce(Draw(centres, 1, seed, by), (X, None, weight)).rows[0, 0])
        for seed in range(1000)
    )
    places = X[mass > 0, 0]
    expected = 1000 * mass[mass > 0] / mass.sum()
    assert set(draws) == set(places)
    assert chisquare([draws[x] for x in places], expected).pvalue > 1e-4


def test_draws_in_passes_start_as_well_as_k_means_plus_plus():
    rng = np.random.default_rng(4)
    centres = rng.normal(size=(20, 4)) * 20
    rows = centres[np.arange(1000) % 20] + rng.normal(size=(1000, 4))
    costs = {}
    for init in ("k-means++", "k-means||", "random"):
        runs = [
            KMeans(20, init=init, n_init=1, random_state=s).fit(rows).inertia_ for s in range(5)
        ]
        costs[init] = np.mean(runs)
    assert costs["k-means||"] < 1.1 * costs["k-means++"] < costs["random"]


def test_bad_input_is_told():
    with pytest.raises(ValueError, match="n_samples=4 should be >= n_clusters=5"):
        kmeans_plusplus(X, 5)
    with pytest.raises(ValueError, match="non-zero"):
        kmeans_plusplus(X, 2, sample_weight=np.zeros(4))
