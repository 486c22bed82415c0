"""Halving and weighted majority: all sequences, adversaries, bounds."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.online import (
    Halving,
    WeightedMajority,
    halving_adversary,
    halving_bound,
    weighted_majority_adversary,
    weighted_majority_bound,
)
from tests.online.reference import majority


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_halving_on_all_sequences(n):
    worst = 0
    rows = list(product([0, 1], repeat=n))
    rounds = 3 if n < 4 else 2
    for advice in product(rows, repeat=rounds):
        for y in product([0, 1], repeat=rounds):
            table = np.array(advice, dtype=float)
            if not np.any(np.all(table == np.array(y)[:, None], axis=0)):
                continue  # no consistent expert
            worst = max(worst, int(Halving().run((table, y)).mistakes.sum()))
    assert worst == halving_bound(n) == int(np.log2(n))


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 100, 1024])
def test_the_adversary_attains_the_halving_bound(n):
    advice, y = halving_adversary(n)
    if n == 1:
        assert len(y) == 0
        return
    record = Halving().run((advice, y))
    assert record.mistakes.all()
    assert record.truth[-1] == record.bound[-1] == halving_bound(n)
    assert record.tightness == 1.0


def test_halving_is_weighted_majority_with_beta_zero(seed):
    rng = np.random.default_rng(seed)
    advice, y = rng.integers(0, 2, (40, 30)), rng.integers(0, 2, 40)
    first, second = Halving(), WeightedMajority(0.0)
    np.testing.assert_array_equal(
        first.run((advice, y)).predictions, second.run((advice, y)).predictions
    )
    np.testing.assert_array_equal(first.weights_, second.weights_)


def test_halving_says_when_nobody_is_consistent():
    record = Halving().run((np.array([[0, 0], [1, 0]]), [1, 1]))
    assert np.isinf(record.bound).all()
    assert record.tightness == 0.0


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.2, float(np.exp(-1)), 0.5, 0.9]))
def test_mistake_bound_holds(seed, beta):
    rng = np.random.default_rng(seed)
    m, n = rng.integers(1, 60), rng.integers(1, 12)
    advice = rng.integers(0, 2, (m, n)).astype(float)
    y = advice[:, 0] if seed % 2 else rng.integers(0, 2, m).astype(float)
    flips = rng.uniform(size=m) < 0.1
    y = np.where(flips, 1 - y, y)
    record = WeightedMajority(beta).run((advice, y))
    guesses, totals = majority(advice, y, beta)
    np.testing.assert_array_equal(record.predictions, guesses)
    for expert in range(n):  # for every expert, not only the best
        wrong = float((advice[:, expert] != y).sum())
        assert record.truth[-1] <= weighted_majority_bound(wrong, int(n), beta) + 1e-9
    # The step of the proof: every mistake shrinks the total weight.
    shrunk = totals[1:] <= (1 + beta) / 2 * totals[:-1] + 1e-12
    assert shrunk[record.mistakes].all()


def test_constants_of_the_bound():
    at = float(np.exp(-1))
    assert weighted_majority_bound(1, 1, at) == pytest.approx(2.632, abs=1e-3)
    assert weighted_majority_bound(0, 256, at) == pytest.approx(2.632 * np.log(256), abs=1e-2)
    assert weighted_majority_bound(1, 1, 0.5) == pytest.approx(2.41, abs=1e-2)
    assert weighted_majority_bound(0, 3, 0.5) == pytest.approx(3.48 * np.log(3), abs=1e-2)
    assert weighted_majority_bound(0, 8, 0.0) == pytest.approx(3.0)
    assert np.isinf(weighted_majority_bound(1, 8, 0.0))


def test_the_adversary_forces_17_mistakes_on_256_experts():
    stream = weighted_majority_adversary(256, 0.5)
    record = WeightedMajority(0.5).run(stream)
    assert record.mistakes.all()
    assert record.truth[-1] == 17
    assert record.comparator[-1] == 0
    # The constants of beta = 1/e would be broken at beta = 1/2; the right ones are not.
    assert weighted_majority_bound(0, 256, float(np.exp(-1))) < 17 <= record.bound[-1]
    assert record.tightness > 0.85
    # Halving: of 8 experts 4, 2 and 1 are wrong for the first time.
    advice, _ = weighted_majority_adversary(8, 0.0)
    ever = (advice.cumsum(axis=0) > 0).sum(axis=1)
    assert ever.tolist() == [4, 6, 7]


@pytest.mark.parametrize("beta", [0.0, 0.2, float(np.exp(-1)), 0.5, 0.8])
@pytest.mark.parametrize("n", [2, 16, 300])
def test_adversaries_stay_within_the_bound(n, beta):
    record = WeightedMajority(beta).run(weighted_majority_adversary(n, beta))
    assert record.mistakes.all()
    assert record.holds
    if n > 2:
        assert record.tightness > 0.6


def test_weights_neither_vanish_nor_change_by_rescaling():
    # 3,000 mistakes of everybody: 0.3^3000 is far below the smallest double.
    m = 3000
    advice = np.zeros((m + 1, 2))
    advice[m, 1] = 1.0
    learner = WeightedMajority(0.3)
    learner.run((advice[:m], np.ones(m)))
    assert learner.weights_[0] == learner.weights_[1] > 0
    learner.partial_fit(advice[m:], [1.0])
    assert learner.weights_[0] == pytest.approx(0.3 * learner.weights_[1])


def test_prediction_without_learning():
    learner = WeightedMajority(0.5).partial_fit([[1, 0, 0]], [1])
    np.testing.assert_array_equal(learner.predict([[1, 0, 0], [0, 1, 1], [0, 0, 1]]), [1, 1, 0])
    np.testing.assert_array_equal(Halving().predict([[1, 1, 0]]), [1])


@pytest.mark.parametrize("beta", [-0.1, 1.0, np.nan])
def test_beta_is_checked(beta):
    with pytest.raises(ValueError, match="'beta' parameter of WeightedMajority"):
        WeightedMajority(beta)
    with pytest.raises(ValueError, match="'beta' parameter"):
        weighted_majority_adversary(3, beta)
