"""Experts and the perceptron on disjunctions."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.online import (
    DisjunctionExperts,
    OnlinePerceptron,
    WeightedMajority,
    all_inputs,
    disjunction_experts,
    disjunction_experts_bound,
    disjunction_witness,
    perceptron_disjunction_bound,
    random_disjunction,
)


def test_the_binomial_inequality():
    for n in range(1, 30):
        for k in range(1, n + 1):
            assert comb(n, k) <= (n * np.e / k) ** k


@given(st.integers(0, 10_000), st.integers(1, 3))
def test_experts_bound_holds(seed, k):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(k, 9))
    target = random_disjunction(n, k, random_state=seed)
    X = rng.integers(0, 2, size=(80, n)).astype(float)
    y = np.where(rng.uniform(size=80) < 0.1, 1 - target(X), target(X))
    record = DisjunctionExperts(n_literals=k).run((X, y))
    assert record.holds
    best = min((X[:, e].max(axis=1) != y).sum() for e in disjunction_experts(n, k))
    assert record.comparator[-1] == best
    assert record.truth[-1] <= disjunction_experts_bound(float(best), n, k)


def test_it_is_weighted_majority_over_the_advice(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 2, size=(50, 6)).astype(float), rng.integers(0, 2, 50).astype(float)
    advice = np.array([X[:, list(e)].max(axis=1) for e in disjunction_experts(6, 2)]).T
    learner, plain = DisjunctionExperts(2), WeightedMajority()
    np.testing.assert_array_equal(
        learner.run((X, y)).predictions, plain.run((advice, y)).predictions
    )
    np.testing.assert_array_equal(learner.predict(X), plain.predict(advice))


@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_witness_has_margin_one_and_its_length(k, seed):
    target = random_disjunction(7, k, random_state=seed)
    X = all_inputs(7)
    u = disjunction_witness(target, 7)
    rows = np.hstack([X, np.ones((128, 1))])
    assert ((2 * target(X) - 1) * (rows @ u)).min() == 1
    assert u @ u == 4 * k + 1
    assert (rows**2).sum(axis=1).max() == 8
    assert perceptron_disjunction_bound(k, 7) == (4 * k + 1) * 8


@given(st.integers(0, 10_000), st.integers(1, 4))
def test_perceptron_bound_holds(seed, k):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 20))
    target = random_disjunction(n, k, random_state=seed)
    X = rng.integers(0, 2, size=(300, n)).astype(float)
    rows = np.hstack([X, np.ones((300, 1))])
    record = OnlinePerceptron().run(
        (rows, 2.0 * target(X) - 1), comparator=disjunction_witness(target, n)
    )
    assert record.holds
    assert record.bound[-1] <= perceptron_disjunction_bound(k, n) + 1e-9
    assert record.truth[-1] <= perceptron_disjunction_bound(k, n)


def test_errors():
    with pytest.raises(ValueError, match="use Winnow"):
        disjunction_experts(60, 6)
    with pytest.raises(ValueError, match="at most n_features"):
        disjunction_experts_bound(0, 2, 3)
