"""Every mistake and regret bound of the online learners, by hand."""

import math

import numpy as np
import pytest

from corollary.online import (
    DNF,
    DisjunctionExperts,
    Hedge,
    OnlineGradientDescent,
    OnlinePerceptron,
    PassiveAggressive,
    adagrad_regret_bound,
    all_subsets_winnow_bound,
    conservative_ogd_bound,
    disjunction,
    disjunction_experts,
    disjunction_experts_bound,
    disjunction_witness,
    entropic_loss,
    halving_bound,
    hedge_adversary,
    hedge_anytime_bound,
    hedge_rate,
    hedge_regret_bound,
    hedge_second_order_bound,
    kernel_perceptron_dnf_bound,
    ogd_adversary,
    ogd_decreasing_bound,
    ogd_rate,
    ogd_regret_bound,
    ogd_second_order_bound,
    online_to_batch_bound,
    passive_aggressive_bound,
    passive_aggressive_step,
    perceptron_disjunction_bound,
    perceptron_mistake_bound,
    perceptron_trace,
    weighted_average_bound,
    weighted_majority_bound,
    winnow_adversary,
    winnow_mistake_bound,
)


def test_experts():
    assert [halving_bound(n) for n in (1, 7, 8, 1000)] == [0, 2, 3, 9]
    # Weights fall to a half: (k log 2 + log N) / log(4/3).
    bound = weighted_majority_bound(5, 16, beta=0.5)
    assert bound == pytest.approx(9 * math.log(2) / math.log(4 / 3))
    assert weighted_majority_bound(0, 16, beta=0.0) == pytest.approx(4.0)
    assert weighted_majority_bound(1, 16, beta=0.0) == math.inf
    assert weighted_average_bound(8) == pytest.approx(2 * math.log(8))
    assert weighted_average_bound(8, "entropic") == pytest.approx(math.log(8))
    assert weighted_average_bound(8, eta=0.25) == pytest.approx(4 * math.log(8))
    assert weighted_average_bound(8, eta=0.75) == math.inf
    assert entropic_loss([1.0, 0.0, 0.5], [0.25, 0.5, 0.5]) == pytest.approx(
        [math.log(4), math.log(2), 0.0]
    )


def test_hedge():
    assert hedge_rate(8, 100) == pytest.approx(math.sqrt(2 * math.log(8)) / 10)
    assert hedge_regret_bound(8, 100) == pytest.approx(10 * math.sqrt(2 * math.log(8)))
    anytime = 10 * math.sqrt(2 * math.log(8)) + math.sqrt(math.log(8) / 8)
    assert hedge_anytime_bound(8, 100) == pytest.approx(anytime)
    assert hedge_anytime_bound(8, np.array([100])) == pytest.approx([anytime])
    assert hedge_second_order_bound(8, 0.5, 30.0) == pytest.approx(2 * math.log(8) + 7.5)
    assert hedge_adversary(5).tolist() == [[0.5, 0], [0, 1], [1, 0], [0, 1], [1, 0]]


def test_gradient_descent():
    assert ogd_rate(2.0, 5.0, 16) == pytest.approx(0.1)
    assert ogd_regret_bound(2.0, 5.0, 16) == pytest.approx(40.0)
    assert ogd_second_order_bound(2.0, 0.5, 30.0) == pytest.approx(4 + 7.5)
    assert ogd_decreasing_bound(3.0, 0.5, 30.0) == pytest.approx(9 + 15)
    assert adagrad_regret_bound(3.0, 0.5, 10.0) == pytest.approx(95.0)
    X, y = ogd_adversary(3, radius=2.0)
    assert X.tolist() == [[2.0]] * 3
    assert y.tolist() == [1.0, -1.0, 1.0]


def test_mistakes():
    assert perceptron_mistake_bound(3.0, 0.5) == pytest.approx(36.0)
    assert perceptron_mistake_bound(3.0, 0.0) == math.inf
    # m = 4 solves m = 1 + 1.5 sqrt(m).
    assert conservative_ogd_bound(1.0, 0.5, 3.0) == pytest.approx(4.0)
    assert conservative_ogd_bound(0.0, 0.5, 3.0) == pytest.approx(2.25)
    assert passive_aggressive_bound(2.0, 3.0, 4.0, variant="pa") == math.inf
    assert passive_aggressive_bound(0.0, 3.0, 4.0, variant="pa") == pytest.approx(144.0)
    assert passive_aggressive_bound(2.0, 3.0, 4.0, C=0.5) == pytest.approx(16 * 11)
    assert passive_aggressive_bound(2.0, 3.0, 4.0, C=0.05) == pytest.approx(20 * 9.2)
    second = passive_aggressive_bound(2.0, 3.0, 4.0, variant="pa-ii", C=0.25)
    assert second == pytest.approx(18 * 10)
    assert online_to_batch_bound(3, 12) == 0.25
    assert online_to_batch_bound(30, 12) == 1.0


def test_boolean_functions():
    assert winnow_mistake_bound(2, 16) == pytest.approx(32.0)
    rows, labels = winnow_adversary(disjunction(1, 2), 64)
    first, few = winnow_adversary(disjunction(1, 2), 64, n_rounds=5)
    assert np.array_equal(first, rows[:5])
    assert np.array_equal(few, labels[:5])
    assert all_subsets_winnow_bound(2, 16) == 104
    assert kernel_perceptron_dnf_bound(2, 5) == 9 * 32
    assert perceptron_disjunction_bound(2, 16) == 9 * 17
    constant = 1 / math.log(2 / (1 + 1 / math.e))
    bound = disjunction_experts_bound(3, 16, 2)
    assert bound == pytest.approx(constant * (3 + 2 * (1 + math.log(8))))
    # x_1 or x_3 of three: 2 (x_1 + x_3) - 1 has margin 1.
    assert disjunction_witness(DNF(((1,), (3,))), 3).tolist() == [2.0, 0.0, 2.0, -1.0]


ONCE = (np.array([[1.0], [1.0]]), np.array([1.0, -1.0]))


def test_two_rounds_of_gradient_descent():
    # Scores 0 and 0.5, hinge losses 1 and 1.5, two mistakes; u = 1 loses 0 and then 2.
    record = OnlineGradientDescent(eta=0.5).run(ONCE, comparator=[1.0])
    assert record.losses.tolist() == [1.0, 1.5]
    assert record.mistakes.tolist() == [True, True]
    assert record.comparator.tolist() == [0.0, 2.0]
    assert record.bound == pytest.approx([1 + 0.25, 1 + 0.5])
    falling = OnlineGradientDescent(eta=0.5, step="sqrt", radius=2.0).run(ONCE, comparator=[1.0])
    etas = np.array([0.5, 0.5 / math.sqrt(2)])
    assert falling.bound == pytest.approx(9 / (2 * etas) + np.cumsum(etas) / 2)
    assert np.all(np.isinf(OnlineGradientDescent(radius=0.5).run(ONCE, comparator=[1.0]).bound))
    alone = OnlineGradientDescent(eta=0.5).run(ONCE)
    assert np.isnan(alone.comparator).tolist() == [True, True]
    assert np.all(np.isinf(alone.bound))
    careful = OnlineGradientDescent(eta=0.5, conservative=True).run(ONCE, comparator=[1.0])
    assert careful.bound == pytest.approx([1.0, 4.0])
    real = OnlineGradientDescent(loss="square", eta=0.5).run(ONCE, comparator=[1.0])
    assert real.losses.tolist() == [1.0, 4.0]  # the weight is 1 after one step
    assert not real.mistakes.any()
    assert len(real.mistakes) == 2


def test_two_rounds_of_the_others():
    perceptron = OnlinePerceptron().run(ONCE, comparator=[1.0])
    assert perceptron.mistakes.tolist() == [True, True]
    assert perceptron.losses.tolist() == [1.0, 1.0]
    assert perceptron.comparator.tolist() == [0.0, 2.0]
    assert perceptron.bound == pytest.approx([1.0, 4.0])
    passive = PassiveAggressive(C=1.0).run(ONCE, comparator=[1.0])
    assert passive.losses.tolist() == [1.0, 2.0]
    assert passive.bound == pytest.approx([1.0, 5.0])
    # A margin of a half is a loss and no mistake.
    half = (np.array([[1.0], [0.5]]), np.array([1.0, 1.0]))
    assert PassiveAggressive(C=1.0).run(half).mistakes.tolist() == [True, False]
    trace = perceptron_trace([[1.0], [1.0], [-1.0]], [1, 1, 1])
    assert trace.iterates.ravel().tolist() == [0.0, 1.0, 1.0, 0.0]
    alone = Hedge(eta=0.5).run(([[0.5], [1.0]],))
    assert alone.bound.tolist() == [0.0, 0.0]
    pair = Hedge(eta=0.5).run((np.array([[0.0, 1.0]]),))
    # The mixture loses 1/2; the weighted mean of squares is 1/2.
    assert pair.losses.tolist() == [0.5]
    assert pair.bound == pytest.approx([2 * math.log(2) + 0.125])
    assert disjunction_experts(3, 2).tolist() == [[0, 1], [0, 2], [1, 2]]
    bits = (np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), np.array([0.0, 1.0]))
    vote = DisjunctionExperts(2).run(bits)
    assert vote.bound[1] == pytest.approx(disjunction_experts_bound(vote.comparator[1], 3, 2))
    assert passive_aggressive_step(
        [0.0, 2.0], [4.0, 4.0], variant="linearised", C=0.5
    ).tolist() == [
        0.0,
        0.5,
    ]
