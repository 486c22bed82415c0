"""Rates, bounds and radii of the bandits, by hand."""

import math

import numpy as np
import pytest

from corollary.bandit import (
    EXP3,
    UCB1,
    BernoulliArms,
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
    off_policy_value,
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
    assert arm_mean_radius(1, 0.1) == pytest.approx(math.sqrt(math.log(40) / 2))
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


def test_policies_know_their_bounds():
    arms, rounds = BernoulliArms([0.2, 0.6]), np.array([10, 50])
    by_hand = [8 * math.log(m) / 0.4 + (1 + math.pi**2 / 3) * 0.4 for m in (10, 50)]
    assert UCB1().regret_bound(arms, rounds).values == pytest.approx(by_hand)
    assert UCB1(exploration=3.0).regret_bound(arms, rounds) is None
    assert UCB1().regret_bound(BernoulliArms([0.2, 0.6], random_state=0), rounds) is None
    four = BernoulliArms([0.2, 0.6, 0.5, 0.4])
    tuned = EXP3(horizon=50).regret_bound(four, rounds[1:])
    assert tuned.values == pytest.approx([20 * math.sqrt(math.log(4))])
    fixed = EXP3(learning_rate=0.1).regret_bound(four, rounds)
    assert fixed.values == pytest.approx([10 * math.log(4) + 2, 10 * math.log(4) + 10])
    anytime = EXP3().regret_bound(four, np.array([1]))
    assert anytime.values == pytest.approx([3 * math.sqrt(math.log(4))])


def test_off_policy_values():
    # Weights 2, 1, 1.
    log = ([1.0, 0.0, 0.5], [0.5, 0.5, 0.25], [1.0, 0.5, 0.25])
    z = 1.959963984540054
    plain = off_policy_value(*log)
    terms = np.array([2.0, 0.0, 0.5])
    error = math.sqrt(sum((terms - 2.5 / 3) ** 2) / 2 / 3)
    assert plain.value == pytest.approx(2.5 / 3)
    assert (plain.low, plain.high) == pytest.approx((2.5 / 3 - z * error, 2.5 / 3 + z * error))
    assert plain.effective_sample_size == pytest.approx(16 / 6)
    assert (plain.n_samples, plain.max_weight, plain.guaranteed) == (3, 2.0, False)
    shared = off_policy_value(*log, method="self_normalised")
    error = math.sqrt(4 * 0.375**2 + 0.625**2 + 0.125**2) / 4
    assert shared.value == pytest.approx(0.625)
    assert (shared.low, shared.high) == pytest.approx((0.625 - z * error, 0.625 + z * error))
    robust = off_policy_value(
        *log, method="doubly_robust", predicted=[0.5] * 3, predicted_target=[0.2, 0.3, 0.4]
    )
    assert robust.value == pytest.approx((1.2 - 0.2 + 0.4) / 3)
    nothing = off_policy_value([1.0, 0.5], [0.5, 0.5], [0.0, 0.0])
    assert (nothing.value, nothing.effective_sample_size) == (0.0, 0.0)
    single = off_policy_value([1.0], [0.5], [0.25])
    assert (single.value, single.low, single.high) == (0.5, -math.inf, math.inf)
