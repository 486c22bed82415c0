"""Rates, bounds and radii of the bandits, by hand."""

import math

import numpy as np
import pytest

from corollary.bandit import (
    arm_mean_radius,
    exp3_anytime_bound,
    exp3_learning_rate,
    exp3_pathwise_bound,
    exp3_regret_bound,
    hallucinated_loss,
    hallucinated_moments,
    importance_variance,
    importance_weighted,
    mean_so_far,
    regret,
    ucb_regret_bound,
)


def test_exp3():
    assert exp3_learning_rate(4, 50) == pytest.approx(math.sqrt(2 * math.log(4) / 200))
    assert exp3_regret_bound(50, 4) == pytest.approx(20 * math.sqrt(math.log(4)))
    tuned = exp3_regret_bound(50, 4, learning_rate=0.1)
    assert tuned == pytest.approx(10 * math.log(4) + 10)
    path = exp3_pathwise_bound([1.0, 0.5], [0.5, 0.25], n_arms=4, learning_rate=0.1)
    assert path == pytest.approx(10 * math.log(4) + 0.05 * (2 + 1))
    # Three rounds, each with a rate of its own: sqrt(log 4 / (4 t)).
    rates = [math.sqrt(math.log(4) / (4 * t)) for t in (1, 2, 3)]
    assert exp3_anytime_bound(3, 4) == pytest.approx(math.log(4) / rates[2] + 2 * sum(rates))
    # Rounds 16 and 17 share a rate.
    rates = [math.sqrt(math.log(4) / (4 * t)) for t in (*range(1, 16), 17)]
    by_hand = math.log(4) / rates[-1] + 2 * sum(rates)
    assert exp3_anytime_bound(16, 4) == pytest.approx(by_hand)
    assert exp3_anytime_bound(17, 4) == pytest.approx(by_hand + 2 * rates[-1])
    assert exp3_anytime_bound(17, 1) == 0.0


def test_other_bounds():
    bound = ucb_regret_bound(10, [0.5, 0.25, 0.75])
    by_hand = 8 * math.log(10) * (4 + 2) + (1 + math.pi**2 / 3) * 0.75
    assert bound == pytest.approx(by_hand)
    assert arm_mean_radius(4, 0.1) == pytest.approx(math.sqrt(math.log(400) / 8))
    assert arm_mean_radius(0, 0.1) == math.inf


def test_estimates():
    assert regret([[1.0, 0.0], [0.5, 1.0], [1.0, 0.0]], [0, 0, 1]).tolist() == [1.0, 0.5, 0.5]
    assert mean_so_far([[1.0, 0.0], [0.0, 0.5]]).tolist() == [[1.0, 0.0], [0.5, 0.25]]
    assert importance_weighted([3.0, 3.0], 0.25, [True, False]).tolist() == [12.0, 0.0]
    assert importance_variance(3.0, 0.25) == pytest.approx(27.0)
    assert hallucinated_loss(0.5, 1, [0.75, 0.25]).tolist() == [0.0, 2.0]
    moments = hallucinated_moments([1.0, 0.5], [0.75, 0.25])
    assert moments.mean.tolist() == [1.0, 0.5]
    assert moments.second == pytest.approx(np.array([4 / 3, 1.0]))
    assert (moments.weighted_second, moments.paid) == (1.25, 0.875)
