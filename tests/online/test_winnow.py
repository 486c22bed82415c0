"""Winnow: powers of two, and its mistake bound on disjunctions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from corollary.core.simulate import fit_slope
from corollary.online import (
    OnlinePerceptron,
    Winnow,
    disjunction,
    perceptron_disjunction_bound,
    random_disjunction,
    winnow_adversary,
    winnow_mistake_bound,
)
from tests.online.reference import winnow


def test_definition(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(200, 12)).astype(float)
    y = rng.integers(0, 2, 200).astype(float)  # any labels, not only realisable ones
    guesses, weights = winnow(X, y)
    for rows in (X, sparse.csr_matrix(X)):
        learner = Winnow()
        np.testing.assert_array_equal(learner.run((rows, y)).predictions, guesses)
        np.testing.assert_array_equal(learner.weights_, weights)
        np.testing.assert_array_equal(learner.predict(rows), (X @ weights >= 12).astype(float))


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(4, 40))
def test_mistake_bound_on_random_and_greedy_streams(seed, k, n):
    rng = np.random.default_rng(seed)
    target = random_disjunction(n, k, random_state=seed)
    X = (rng.uniform(size=(300, n)) < rng.uniform(0.05, 0.7)).astype(float)
    for rows, y in ((X, target(X)), winnow_adversary(target, n)):
        learner = Winnow()
        record = learner.run((rows, y), comparator=target.literals(n))
        assert record.holds
        assert record.truth[-1] <= winnow_mistake_bound(k, n)
        positive = record.mistakes & (np.asarray(y) == 1)
        assert positive.sum() <= k * (np.log2(n) + 1)
        assert (record.mistakes & ~positive).sum() <= 2 * positive.sum() + 2
        # Powers of two, relevant ones never below 1, none above 2n.
        exponents = np.log2(learner.weights_)
        np.testing.assert_array_equal(exponents, np.round(exponents))
        assert learner.weights_[target.literals(n) > 0].min() >= 1
        assert learner.weights_.max() < 2 * n


def test_the_greedy_adversary_is_at_least_half_tight():
    shares = []
    for n in (64, 256, 1024):
        X, y = winnow_adversary(disjunction(1, 2, 3), n)
        record = Winnow().run((X, y), comparator=disjunction(1, 2, 3).literals(n))
        assert record.mistakes.all()
        shares.append(record.tightness)
    assert min(shares) > 0.5
    assert winnow_mistake_bound(3, 1024) == 101.0  # 3 x 3 (10 + 1) + 2
    assert winnow_mistake_bound(2, 8) == 26.0
    # One literal of two: a positive round that is missed, and both negative ones that follow.
    assert winnow_mistake_bound(1, 1) == 5.0


def worst_mistakes(n, seed):
    """Mistakes on a stream that is hard for each: sparse rows, target of two literals."""
    rng = np.random.default_rng(seed)
    target = disjunction(1, 2)
    X = (rng.uniform(size=(40 * n, n)) < 0.5).astype(float)
    X[:, :2] *= rng.uniform(size=(40 * n, 2)) < 0.5
    y = target(X)
    tilde = np.hstack([X, np.ones((len(X), 1))])
    perceptron = OnlinePerceptron().run((tilde, 2.0 * y - 1))
    assert perceptron.truth[-1] <= perceptron_disjunction_bound(2, n)
    return Winnow().run((X, y)).truth[-1], perceptron.truth[-1]


def test_the_perceptron_grows_linearly_and_winnow_logarithmically(seed):
    sizes = [16, 32, 64, 128, 256]
    counts = np.array([worst_mistakes(n, seed) for n in sizes], dtype=float)
    assert fit_slope(sizes, counts[:, 1]).slope > 0.6
    assert fit_slope(sizes, counts[:, 0]).slope < 0.4
    assert counts[-1, 0] < counts[-1, 1] / 3


def test_the_bound_ends_when_the_comparator_errs():
    X = np.array([[1.0, 0.0], [1.0, 0.0]])
    record = Winnow().run((X, [1, 0]), comparator=[1, 0])
    assert np.isfinite(record.bound[0])
    assert np.isinf(record.bound[1])
    with pytest.raises(ValueError, match="2 zeros and ones"):
        Winnow().run((X, [1, 0]), comparator=[0, 0])


def test_weights_never_vanish():
    learner = Winnow()
    for _ in range(1200):  # labels that no disjunction has: the same row is 1 and 0 in turn
        learner.partial_fit(np.ones((2, 3)), [0, 0])
        learner.partial_fit([[1, 1, 1]], [1])
    assert learner.weights_.min() > 0
    assert winnow_mistake_bound(1, 2) == 8.0
