"""A few rounds of each online learner, by hand."""

import math

import numpy as np
import pytest

from corollary.kernels import Linear
from corollary.online import (
    DNF,
    AllSubsetsWinnow,
    DisjunctionExperts,
    Halving,
    Hedge,
    KernelPerceptron,
    WeightedAverage,
    WeightedMajority,
    Winnow,
    disjunction_experts,
)


def test_halving():
    assert Halving().predict([[1, 0], [0, 0]]).tolist() == [1.0, 0.0]
    learner = Halving()
    # Two of three err and are out; then all three have erred.
    record = learner.run(([[1, 1, 0], [1, 0, 0], [0, 0, 0]], [0, 0, 1]))
    assert record.predictions.tolist() == [1.0, 0.0, 0.0]
    assert record.losses.tolist() == [1.0, 0.0, 1.0]
    assert record.mistakes.tolist() == [True, False, True]
    assert record.comparator.tolist() == [0.0, 0.0, 1.0]
    assert record.bound.tolist() == [1.0, 1.0, math.inf]
    assert learner.expert_mistakes_.tolist() == [3, 2, 1]


def test_weighted_majority():
    learner = WeightedMajority(beta=0.5)
    # Weights 1, 1, 1, then 1/2, 1/2, 1: a tie is a 1.
    record = learner.run(([[1, 1, 0], [1, 1, 0]], [0, 1]))
    assert record.predictions.tolist() == [1.0, 1.0]
    assert record.losses.tolist() == [1.0, 0.0]
    assert record.mistakes.tolist() == [True, False]
    assert record.comparator.tolist() == [0.0, 1.0]
    logs = np.log([3.0, 6.0]) / math.log(4 / 3)
    assert record.bound == pytest.approx(logs)
    assert learner.predict([[1, 0, 0], [1, 1, 0]]).tolist() == [0.0, 1.0]


def test_weighted_average():
    learner = WeightedAverage(eta=0.25)
    record = learner.run(([[1.0, 0.0], [1.0, 0.0]], [1.0, 0.0]))
    heavier = 1 / (1 + math.exp(-0.25))
    assert record.predictions == pytest.approx([0.5, heavier])
    assert record.losses == pytest.approx([0.25, heavier**2])
    assert record.mistakes.tolist() == [False, False]
    assert record.comparator.tolist() == [0.0, 1.0]
    assert record.bound == pytest.approx([4 * math.log(2)] * 2)
    assert learner.predict([[1.0, 0.0], [0.5, 0.75]]) == pytest.approx([0.5, 0.625])
    assert learner.n_rounds_ == 2
    surprised = WeightedAverage(loss="entropic").run(([[0.5, 0.75]], [1.0]))
    assert surprised.losses == pytest.approx([math.log(1.6)])
    assert surprised.comparator == pytest.approx([math.log(4 / 3)])


def test_hedge():
    learner = Hedge(horizon=100)
    record = learner.run((np.array([[0.0, 1.0]]),))
    rate = math.sqrt(2 * math.log(2)) / 10
    assert record.losses.tolist() == [0.5]
    assert record.comparator.tolist() == [0.0]
    assert record.bound == pytest.approx([math.log(2) / rate + rate / 4])
    better = 1 / (1 + math.exp(-rate))
    assert learner.predict() == pytest.approx([better, 1 - better])
    assert (learner.squares_, learner.n_rounds_) == (0.5, 1)
    falling = Hedge()
    record = falling.run((np.array([[0.0, 1.0]]),))
    # The rate of round t is sqrt(8 log 2 / t).
    assert falling.predict()[1] == pytest.approx(1 / (1 + math.exp(math.sqrt(4 * math.log(2)))))
    assert record.bound == pytest.approx([math.sqrt(2 * math.log(2)) + math.sqrt(math.log(2) / 8)])


def test_disjunction_experts():
    # x_1 or x_2 and x_1 or x_3 err in both rounds but one, x_2 or x_3 in one.
    learner = DisjunctionExperts(2)
    record = learner.run(([[1, 0, 0], [1, 0, 0]], [0, 1]))
    assert record.predictions.tolist() == [1.0, 0.0]
    assert record.comparator.tolist() == [0.0, 1.0]
    constant = 1 / math.log(2 / (1 + 1 / math.e))
    free = 2 * (1 + math.log(1.5))
    assert record.bound == pytest.approx([constant * free, constant * (free + 1)])
    assert learner.predict([[0, 1, 0], [0, 0, 0]]).tolist() == [1.0, 0.0]
    assert len(disjunction_experts(6, 3)) == 20
    with pytest.raises(ValueError, match="use Winnow"):
        disjunction_experts(60, 12)


def test_winnow():
    assert Winnow().predict([[1, 1], [1, 0]]).tolist() == [1.0, 0.0]
    learner = Winnow()
    # Weights 1, 1, then 2, 1, and at last 1, 1 again.
    stream = ([[1, 0], [1, 1], [1, 0]], [1, 1, 0])
    record = learner.run(stream, comparator=[1, 0])
    assert record.predictions.tolist() == [0.0, 1.0, 1.0]
    assert record.losses.tolist() == [1.0, 0.0, 1.0]
    assert record.mistakes.tolist() == [True, False, True]
    assert record.comparator.tolist() == [0.0, 0.0, 1.0]
    # 2 + 3 k (log2 n + 1) for one literal of two.
    assert record.bound.tolist() == [8.0, 8.0, math.inf]
    assert learner.weights_.tolist() == [1.0, 1.0]
    alone = Winnow().run(stream)
    assert np.isnan(alone.comparator).tolist() == [True] * 3
    assert alone.bound.tolist() == [math.inf] * 3


def test_winnow_over_all_subsets():
    assert AllSubsetsWinnow().predict([[1], [0]]).tolist() == [1.0, 0.0]
    learner = AllSubsetsWinnow()
    # The empty product and x_1 weigh 1 each, then 1/2, then 1 again.
    record = learner.run(([[1], [1], [1]], [1, 0, 1]), comparator=DNF(((1,),)))
    assert record.predictions.tolist() == [1.0, 1.0, 0.0]
    assert record.losses.tolist() == [0.0, 1.0, 1.0]
    assert record.comparator.tolist() == [0.0, 1.0, 1.0]
    # 2 + 3 k (n + 1) for one term of one input.
    assert record.bound.tolist() == [8.0, math.inf, math.inf]
    assert learner.weights_.tolist() == [1.0, 1.0]
    assert learner.predict([[1], [0]]).tolist() == [1.0, 0.0]


def test_kernel_perceptron():
    learner = KernelPerceptron(kernel=Linear())
    assert learner.decision_function([[3.0]]).tolist() == [0.0]
    record = learner.run(([[1.0]], [1.0]), comparator=2.0)
    assert (record.predictions.tolist(), record.losses.tolist()) == ([1], [1.0])
    assert record.bound.tolist() == [4.0]
    assert learner.decision_function([[3.0], [-1.0]]).tolist() == [3.0, -1.0]
    assert learner.predict([[3.0], [-1.0]]).tolist() == [1, -1]
    record = learner.run(([[2.0], [3.0]], [-1.0, 1.0]), comparator=2.0)
    # Scores 2 and 3 - 6: both wrong; the longest row counts in the bound.
    assert record.mistakes.tolist() == [True, True]
    assert record.losses.tolist() == [1.0, 1.0]
    assert record.bound.tolist() == [16.0, 36.0]
    assert learner.alpha_.tolist() == [1.0, -1.0, 1.0]
    assert learner.support_.ravel().tolist() == [1.0, 2.0, 3.0]
    assert learner.decision_function([[1.0]]).tolist() == [2.0]
    assert np.isnan(record.comparator).all()
    assert len(learner.run((np.empty((0, 1)), [])).losses) == 0
