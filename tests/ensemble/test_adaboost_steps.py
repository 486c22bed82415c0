"""One round of AdaBoost: conventions and identities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from corollary.ensemble import (
    boosting_distribution,
    classifier_weight,
    normaliser,
    population_step,
    reweight,
)


def run(seed, n=9, rounds=4):
    """Random votes with AdaBoost's weights, computed by the textbook loop."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], size=n)
    D = rng.uniform(0.2, 1, size=n)
    D /= D.sum()
    first, votes, alphas, errors, factors = D, [], [], [], []
    for _ in range(rounds):
        h = rng.choice([-1, 1], size=n)
        h[0], h[1] = y[0], -y[1]  # neither perfect nor hopeless
        error = D[h != y].sum()
        alpha = 0.5 * np.log((1 - error) / error)
        grown = D * np.exp(-alpha * y * h)
        votes.append(h)
        alphas.append(alpha)
        errors.append(error)
        factors.append(grown.sum())
        D = grown / grown.sum()
    return y, first, np.array(votes), np.array(alphas), np.array(errors), np.array(factors), D


@given(st.integers(0, 10**6))
def test_weights_and_normalisers_of_a_run(seed):
    y, first, votes, alphas, errors, factors, last = run(seed)
    for error, alpha, factor in zip(errors, alphas, factors):
        assert classifier_weight(error) == pytest.approx(alpha, abs=1e-12)
        assert normaliser(error, alpha) == pytest.approx(factor)
        assert normaliser(error) == pytest.approx(factor)
    scores = alphas @ votes
    np.testing.assert_allclose(boosting_distribution(y, scores, initial=first), last)
    np.testing.assert_allclose(last, first * np.exp(-y * scores) / np.prod(factors))


@given(st.integers(0, 10**6))
def test_the_last_classifier_is_a_coin_under_the_new_weights(seed):
    _, first, votes, *_ = run(seed, rounds=1)
    y = run(seed)[0]
    wrong = votes[0] != y
    error = first[wrong].sum()
    for convention in ("half", "log_odds"):
        weight = classifier_weight(error, convention=convention)
        D = reweight(first, wrong, weight, convention=convention)
        assert D.sum() == pytest.approx(1)
        assert D[wrong].sum() == pytest.approx(0.5, abs=1e-12)


@given(st.integers(0, 10**6), st.floats(-3, 3))
def test_conventions_agree_at_twice_the_weight_and_only_there(seed, alpha):
    _, first, votes, *_ = run(seed, rounds=1)
    y = run(seed)[0]
    wrong = votes[0] != y
    half = reweight(first, wrong, alpha)
    np.testing.assert_allclose(half, reweight(first, wrong, 2 * alpha, convention="log_odds"))
    if abs(alpha) > 0.1:
        same = reweight(first, wrong, alpha, convention="log_odds")
        assert np.abs(half - same).max() > 1e-4


@pytest.mark.parametrize("error", [0.01, 0.2, 0.45, 0.5, 0.8])
def test_the_weight_minimises_the_normaliser(error):
    best = minimize_scalar(lambda a: error * np.exp(a) + (1 - error) * np.exp(-a))
    assert classifier_weight(error) == pytest.approx(best.x, abs=1e-6)
    assert normaliser(error) == pytest.approx(best.fun)


def test_several_classes_and_extremes():
    assert classifier_weight(0.75, convention="log_odds", n_classes=4) == pytest.approx(
        0, abs=1e-15
    )
    assert classifier_weight(0.3, convention="log_odds", n_classes=5) == pytest.approx(
        np.log(0.7 / 0.3) + np.log(4)
    )
    assert classifier_weight(0.0) == np.inf
    assert classifier_weight(1.0) == -np.inf
    assert classifier_weight(1e-300) > 300
    assert normaliser(1e-300, 800.0) < np.inf
    assert normaliser(0.0, 2.0) == pytest.approx(np.exp(-2))


def exponential_loss(p, f, q):
    return float(q @ (p * np.exp(-f) + (1 - p) * np.exp(f)))


@given(st.integers(0, 10**6))
def test_population_step_is_the_newton_like_step(seed):
    rng = np.random.default_rng(seed)
    p, f = rng.uniform(0.05, 0.95, size=5), rng.normal(size=5)
    q = rng.uniform(0.2, 1, size=5)
    q /= q.sum()
    direction, step, error = population_step(p, f, q)
    w_plus, w_minus = p * np.exp(-f), (1 - p) * np.exp(f)
    conditional = (w_plus - w_minus) / (w_plus + w_minus)  # E_w[y | x]
    assert np.array_equal(direction, np.where(conditional >= 0, 1, -1))
    search = minimize_scalar(
        lambda a: exponential_loss(p, f + a * direction, q),
        bounds=(-9, 9),
        method="bounded",
        options={"xatol": 1e-10},
    )
    assert step == pytest.approx(search.x, abs=1e-5)
    weights = q * np.where(direction > 0, w_minus, w_plus)
    assert error == pytest.approx(weights.sum() / (q * (w_plus + w_minus)).sum())
    # No direction of signs does better with its own best step.
    best = min(
        exponential_loss(p, f + a * c, q)
        for c in np.array(np.meshgrid(*[[-1, 1]] * 5)).reshape(5, -1).T
        for a in [population_step_length(p, f, q, c)]
    )
    assert exponential_loss(p, f + step * direction, q) == pytest.approx(best)


def population_step_length(p, f, q, c):
    right = q @ np.where(c > 0, p * np.exp(-f), (1 - p) * np.exp(f))
    wrong = q @ np.where(c > 0, (1 - p) * np.exp(f), p * np.exp(-f))
    return 0.5 * np.log(right / wrong)


def test_repeated_population_steps_reach_half_the_log_odds():
    p, f = np.array([0.9, 0.6, 0.2]), np.zeros(3)
    for _ in range(200):
        direction, step, _ = population_step(p, f)
        f = f + step * direction
    np.testing.assert_allclose(f, 0.5 * np.log(p / (1 - p)), atol=1e-3)


def test_errors():
    with pytest.raises(ValueError, match="'error' parameter of classifier_weight"):
        classifier_weight(1.2)
    with pytest.raises(ValueError, match="'convention' parameter"):
        classifier_weight(0.2, convention="double")
    with pytest.raises(ValueError, match="vector of booleans"):
        reweight([1, 1], [0, 1], 1.0)
    with pytest.raises(ValueError, match="as many scores as labels"):
        boosting_distribution([1, -1], [0.0])
    with pytest.raises(ValueError, match="probabilities in"):
        population_step([1.2], [0.0])
