"""Hedge: plays, identities and regret bounds on random and adversarial losses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.online import (
    Hedge,
    entropy_progress,
    exponential_weights,
    hedge_adversary,
    hedge_anytime_bound,
    hedge_draws,
    hedge_rate,
    hedge_regret_bound,
    hedge_second_order_bound,
)


def streams(seed, m, n):
    """Losses of many kinds, the last two made against Hedge itself."""
    rng = np.random.default_rng(seed)
    yield rng.uniform(size=(m, n))
    yield rng.integers(0, 2, (m, n)).astype(float)
    drift = rng.uniform(size=(m, n)) < np.linspace(0.1, 0.9, n)
    yield drift.astype(float)
    yield np.tile(np.eye(n), (m // n + 1, 1))[:m]
    learner, rows = Hedge(horizon=m), []
    learner.partial_fit(np.zeros((1, n)))
    for _ in range(min(m, 60)):
        row = np.zeros(n)
        row[np.argmax(learner.predict())] = 1.0  # punish the heaviest
        rows.append(row)
        learner.partial_fit(row[None])
    yield np.array(rows)


@given(st.integers(0, 10_000))
def test_regret_bounds_hold(seed):
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(1, 100)), int(rng.integers(2, 9))
    for losses in streams(seed, m, n):
        known = Hedge(horizon=len(losses)).run(losses)
        assert known.holds
        assert known.regret[-1] <= hedge_regret_bound(n, len(losses)) + 1e-9
        anytime = Hedge().run(losses)
        assert anytime.holds
        rounds = np.arange(1, len(losses) + 1)
        by_hand = np.sqrt(2 * rounds * np.log(n)) + np.sqrt(np.log(n) / 8)
        np.testing.assert_allclose(anytime.bound, by_hand, rtol=1e-12)
        np.testing.assert_allclose(hedge_anytime_bound(n, rounds), by_hand, rtol=1e-12)


@given(st.integers(0, 10_000), st.floats(0.01, 5.0))
def test_second_order_bound_holds(seed, eta):
    rng = np.random.default_rng(seed)
    losses, u = rng.uniform(size=(40, 5)) ** 3, rng.dirichlet(np.ones(5))
    v = exponential_weights(losses, eta)[:-1]
    squares = float((v * losses**2).sum())
    record = Hedge(eta=eta).run(losses)
    np.testing.assert_allclose(record.losses, (v * losses).sum(axis=1))
    assert record.bound[-1] == pytest.approx(hedge_second_order_bound(5, eta, squares))
    assert ((v - u) * losses).sum() <= record.bound[-1] + 1e-12  # for every mixture u
    assert record.holds


@given(st.integers(0, 10_000), st.floats(0.01, 5.0))
def test_one_step_identity(seed, eta):
    rng = np.random.default_rng(seed)
    losses, u = rng.uniform(size=(15, 4)), rng.dirichlet(np.ones(4))
    weights = exponential_weights(losses, eta)
    Z = (weights[:-1] * np.exp(-eta * losses)).sum(axis=1)
    np.testing.assert_allclose(
        entropy_progress(u, weights), -eta * losses @ u - np.log(Z), atol=1e-10
    )


def test_the_rate_matters():
    losses = hedge_adversary(400)
    wrong = Hedge(eta=float(np.sqrt(2 * 400 * np.log(2)))).run(losses)
    assert wrong.regret[-1] == pytest.approx(199.7, abs=0.1)
    assert hedge_regret_bound(2, 400) == pytest.approx(23.5, abs=0.1)
    right = Hedge(horizon=400).run(losses)
    assert right.regret[-1] < 23.5
    assert hedge_rate(2, 400) == pytest.approx(np.sqrt(2 * np.log(2) / 400))


def test_random_losses_come_near_the_bound(seed):
    # On coin flips the regret is of the order of the bound: sqrt(m ln n / 2) on average.
    rng = np.random.default_rng(seed)
    shares = [
        Hedge(horizon=2000).run(rng.integers(0, 2, (2000, 50)).astype(float)).regret[-1]
        / hedge_regret_bound(50, 2000)
        for _ in range(10)
    ]
    assert 0.2 < np.mean(shares) < 0.7


def test_draws_lose_on_average_what_the_mixture_loses(seed):
    rng = np.random.default_rng(seed)
    losses = rng.uniform(size=(5, 3))
    v = exponential_weights(losses, 2.0)[:-1]
    random = np.random.RandomState(seed)
    draws = np.array([hedge_draws(v, random) for _ in range(20_000)])
    mean = losses[np.arange(5), draws].mean(axis=0)
    np.testing.assert_allclose(mean, (v * losses).sum(axis=1), atol=5 * 0.5 / np.sqrt(20_000))


def test_experts_are_embedded_by_their_losses(seed):
    rng = np.random.default_rng(seed)
    advice, y = rng.uniform(size=(30, 4)), rng.uniform(size=30)
    losses = np.abs(advice - y[:, None])
    record = Hedge(eta=0.7).run(losses)
    best = np.cumsum(losses, axis=0).min(axis=1)
    np.testing.assert_allclose(record.comparator, best)
    # The convex absolute loss of the mean is at most the mean loss.
    v = exponential_weights(losses, 0.7)[:-1]
    assert (np.abs((v * advice).sum(axis=1) - y) <= record.losses + 1e-12).all()


def test_one_choice_has_no_regret():
    for learner in (Hedge(), Hedge(horizon=9), Hedge(eta=1.0)):
        record = learner.run(np.full((9, 1), 0.5))
        np.testing.assert_array_equal(record.regret, np.zeros(9))
        assert record.holds


def test_next_play_is_shown():
    learner = Hedge(eta=1.0).partial_fit([[0.0, 1.0]])
    np.testing.assert_allclose(learner.predict(), [1 / (1 + np.exp(-1)), 1 / (1 + np.e)])
    falling = Hedge().partial_fit([[0.0, 1.0]])
    rate = np.sqrt(8 * np.log(2) / 2)
    np.testing.assert_allclose(falling.predict()[1], 1 / (1 + np.exp(rate)))


@pytest.mark.parametrize(("name", "value"), [("horizon", 0), ("horizon", 2.5), ("eta", -1.0)])
def test_parameters_are_checked(name, value):
    with pytest.raises(ValueError, match=f"'{name}' parameter of Hedge"):
        Hedge(**{name: value})
