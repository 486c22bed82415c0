"""The chain above AdaBoost's training error."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.ensemble import (
    best_stump,
    classifier_weight,
    rounds_for_zero_error,
    training_error_bound,
    training_error_chain,
)


def boost(seed, n, rounds):
    """AdaBoost written out, with exact stumps on noisy labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0, 1, -1)
    y[:2] = [1, -1]
    X[1] = X[0]  # two equal rows with different labels: never separable
    D = np.full(n, 1 / n)
    votes, alphas, errors = [], [], []
    for _ in range(rounds):
        stump = best_stump(X, y, sample_weight=D)
        h = stump.predict(X)
        error = D[h != y].sum()
        if error >= 0.5 - 1e-9:
            break
        votes.append(h)
        errors.append(error)
        alphas.append(classifier_weight(error))
        D = D * np.exp(-alphas[-1] * y * h)
        D /= D.sum()
    return y, np.array(votes), np.array(alphas), np.array(errors)


@given(st.integers(0, 10**6), st.integers(4, 40))
def test_every_link_of_the_chain(seed, n):
    y, votes, alphas, errors = boost(seed, n, 12)
    if not len(alphas):
        return
    chain = training_error_chain(y, votes, alphas)
    for t in range(1, len(alphas) + 1):
        f = alphas[:t] @ votes[:t]
        assert chain.training_error[t - 1] == pytest.approx(np.mean(y * f <= 0))
        assert chain.exponential_loss[t - 1] == pytest.approx(np.mean(np.exp(-y * f)))
    np.testing.assert_allclose(chain.errors, errors)
    np.testing.assert_allclose(chain.product_of_normalisers, chain.exponential_loss)
    np.testing.assert_allclose(chain.product_of_roots, chain.exponential_loss)
    roots = np.cumprod(2 * np.sqrt(errors * (1 - errors)))
    np.testing.assert_allclose(chain.product_of_roots, roots)
    slack = 1 + 1e-12
    assert np.all(chain.training_error <= chain.exponential_loss * slack)
    assert np.all(chain.product_of_roots <= chain.edge_bound * slack)
    assert chain.edge_bound[-1] == pytest.approx(training_error_bound(errors))
    edge = 0.5 - errors.max()
    assert chain.edge_bound[-1] <= np.exp(-2 * edge**2 * len(errors)) * slack


@given(st.integers(0, 10**6))
def test_any_weights_and_votes_keep_the_first_links(seed):
    rng = np.random.default_rng(seed)
    y, votes = rng.choice([-1, 1], size=7), rng.choice([-1, 1], size=(4, 7))
    alphas, w = rng.normal(size=4), rng.uniform(0.1, 1, size=7)
    chain = training_error_chain(y, votes, alphas, sample_weight=w)
    np.testing.assert_allclose(chain.product_of_normalisers, chain.exponential_loss)
    assert np.all(chain.training_error <= chain.exponential_loss + 1e-12)
    assert np.all(chain.product_of_roots <= chain.product_of_normalisers + 1e-12)


def test_the_bound_in_numbers():
    assert training_error_bound([0.4] * 100) == pytest.approx(np.exp(-2))
    assert training_error_bound([]) == 1.0


@pytest.mark.parametrize(("n", "edge"), [(1, 0.1), (2, 0.5), (1000, 0.1), (17, 0.01)])
def test_rounds_for_zero_error(n, edge):
    T = rounds_for_zero_error(n, edge)
    assert np.exp(-2 * edge**2 * T) < 1 / n
    assert T == 1 or np.exp(-2 * edge**2 * (T - 1)) >= 1 / n * (1 - 1e-9)


def test_errors():
    with pytest.raises(ValueError, match="one weight per round"):
        training_error_chain([1, -1], [[1, 1]], [0.1, 0.2])
    with pytest.raises(ValueError, match="error rates in"):
        training_error_bound([1.5])
    with pytest.raises(ValueError, match="'edge' parameter of rounds_for_zero_error"):
        rounds_for_zero_error(10, 0.0)
