"""k-means++ beside the least cost: the exact expectation over all draws, and draws."""

import math

import numpy as np
import pytest

from corollary.cluster import (
    certify_least_cost,
    exact_kmeans,
    kmeans_plusplus,
    kmeans_plusplus_factor,
    least_cost_bound,
    seeding_probabilities,
)
from corollary.core.simulate import assert_bound_holds


def expected_cost(X, k, chosen=()):
    """Average the cost over all draws of k rows, by their probabilities."""
    if len(chosen) == k:
        return ((X[:, None] - X[list(chosen)]) ** 2).sum(axis=2).min(axis=1).sum()
    chances = seeding_probabilities(X, X[list(chosen)])
    return sum(p * expected_cost(X, k, (*chosen, i)) for i, p in enumerate(chances) if p > 0)


def test_values_by_hand():
    assert kmeans_plusplus_factor(1) == 16.0
    assert kmeans_plusplus_factor(8) == pytest.approx(8 * (3 * math.log(2) + 2))
    assert least_cost_bound([32.0], 1, confidence=0.5) == pytest.approx(1.0)
    assert least_cost_bound([64.0, 32.0], 1, confidence=0.75) == pytest.approx(1.0)
    assert least_cost_bound([0.0, 1.0], 3) == 0.0
    four = 4 * 8 * (math.log(3) + 2)
    assert least_cost_bound([four], 3, confidence=0.75) == pytest.approx(1.0)
    X, random = np.random.default_rng(0).normal(size=(50, 2)), np.random.RandomState(7)
    costs = [kmeans_plusplus(X, 5, random_state=random, n_local_trials=1).cost for _ in range(3)]
    bound = certify_least_cost(X, 5, n_draws=3, confidence=0.9, random_state=7)
    assert bound == pytest.approx(min(costs) * 0.1 ** (1 / 3) / (8 * (math.log(5) + 2)))


@pytest.mark.parametrize(("n", "k"), [(4, 1), (5, 2), (6, 3), (7, 3), (6, 4)])
def test_the_expected_cost_is_within_the_factor(n, k):
    rng = np.random.default_rng(n * k)
    for spread in (1.0, 30.0):
        X = rng.normal(size=(n, 2)) + spread * rng.integers(0, k, (n, 1))
        least, mean = exact_kmeans(X, k).cost, expected_cost(X, k)
        assert least <= mean <= kmeans_plusplus_factor(k) * least


def test_one_centre_costs_twice_the_least_in_expectation():
    """A uniform row costs 2 J* in expectation, the identity from which the proof starts."""
    X = np.random.default_rng(0).normal(size=(8, 3))
    assert expected_cost(X, 1) == pytest.approx(2 * exact_kmeans(X, 1).cost)


@pytest.mark.parametrize("n_draws", [1, 3])
def test_the_bound_holds_with_its_confidence(n_draws):
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(size=(9, 2)), rng.normal(size=(3, 2)) + 40])
    least, trials = exact_kmeans(X, 3).cost, 400
    bounds = [
        certify_least_cost(X, 3, n_draws=n_draws, confidence=0.5, random_state=seed)
        for seed in range(trials)
    ]
    assert_bound_holds(sum(bound > least for bound in bounds), trials, 0.5)
    assert max(bounds) > 0


def test_more_draws_say_more():
    X = np.random.default_rng(2).normal(size=(300, 3))
    few, many = (certify_least_cost(X, 5, n_draws=m, random_state=0) for m in (1, 50))
    assert many > 5 * few
    weights = certify_least_cost(X, 5, sample_weight=np.full(300, 2.0), random_state=0)
    assert weights == pytest.approx(2 * certify_least_cost(X, 5, random_state=0))


@pytest.mark.parametrize("costs", [[], [-1.0], [np.nan], [[1.0]]])
def test_bad_input_is_told(costs):
    with pytest.raises(ValueError, match="finite and not negative"):
        least_cost_bound(costs, 2)
    with pytest.raises(ValueError, match="should be >="):
        certify_least_cost([[0.0]], 2)
