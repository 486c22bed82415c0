"""Policies with contexts."""

import numpy as np
import pytest

from corollary.bandit import (
    UCB1,
    BernoulliArms,
    LinearArms,
    LinearThompson,
    LinUCB,
    linucb_regret_bound,
    play,
)
from corollary.core.simulate import assert_bound_holds


def test_the_memory_is_ridge_regression(seed):
    random = np.random.default_rng(seed)
    player = LinUCB(regularisation=0.7).start(2, n_features=3, random_state=seed)
    X, y = random.normal(size=(40, 3)), random.normal(size=40)
    for x, loss in zip(X, y):
        player.tell(1, loss, context=x)
    A = 0.7 * np.eye(3) + X.T @ X
    part = player.work.reshape(2, -1)[1]
    assert part[:9].reshape(3, 3) == pytest.approx(np.linalg.inv(A))
    assert part[9:12] == pytest.approx(np.linalg.solve(A, X.T @ y))
    assert part[12] == pytest.approx(np.linalg.slogdet(A / 0.7)[1])
    assert player.pulls.tolist() == [0, 40]


@pytest.mark.parametrize("alpha", [None, 0.4])
def test_linucb_plays_what_the_formula_says(alpha, seed):
    random, n, d = np.random.default_rng(seed), 3, 2
    policy = LinUCB(alpha, regularisation=1.5, noise=0.3, norm=2.0, delta=0.1)
    player = policy.start(n, n_features=d, random_state=seed)
    A, b = np.stack([1.5 * np.eye(d)] * n), np.zeros((n, d))
    for _ in range(200):
        x = random.normal(size=d)
        index = []
        for i in range(n):
            inverse = np.linalg.inv(A[i])
            grown = 2 * np.log(n / 0.1) + np.linalg.slogdet(A[i] / 1.5)[1]
            radius = np.sqrt(1.5) * 2.0 + 0.3 * np.sqrt(grown) if alpha is None else alpha
            index.append(x @ inverse @ b[i] - radius * np.sqrt(x @ inverse @ x))
        arm = player.ask(x)
        assert arm == int(np.argmin(index))
        loss = random.normal()
        player.tell(arm, loss)
        A[arm] += np.outer(x, x)
        b[arm] += loss * x


def worlds(seed, n=3, d=2):
    coef = np.random.default_rng(seed).normal(size=(n, d))
    return LinearArms(coef / np.linalg.norm(coef, axis=1, keepdims=True), noise=0.5)


@pytest.mark.parametrize("rounds", [10, 400])
def test_regret_is_below_the_widths_and_the_bound(rounds, seed):
    policy, repetitions = LinUCB(delta=0.05), 400
    result = play(policy, worlds(seed), rounds, repetitions, random_state=seed)
    broken = (result.pathwise_regret > result.pathwise_bound).any(axis=1)
    assert_bound_holds(int(broken.sum()), repetitions, 0.05)
    assert np.array_equal(result.pathwise_regret, result.regret)
    assert (result.pathwise_bound <= result.bound.values * (1 + 1e-9)).all()
    assert (result.regret >= 0).all()


def test_the_radius_would_be_broken_if_it_were_much_smaller(seed):
    # The simulation can fail: a tenth of the radius does not cover.
    policy = LinUCB(noise=0.05, norm=0.1)
    result = play(policy, worlds(seed), 400, 200, random_state=seed)
    assert (result.pathwise_regret > result.pathwise_bound).any(axis=1).mean() > 0.05
    assert result.bound is None  # the environment breaks what the policy assumes


def test_contexts_pay(seed):
    arms = worlds(seed)
    for policy in (LinUCB(0.3), LinearThompson()):
        result = play(policy, arms, 4000, 20, random_state=seed)
        slope = np.polyfit(np.log(result.rounds[20:]), np.log(result.mean_regret[20:]), 1)[0]
        assert slope < 0.75  # sublinear; a policy that guesses has slope 1
        assert result.pathwise_bound is None


def test_linear_thompson_scores_have_their_law(seed):
    # Two arms, one known to be at zero: the share of plays is a normal probability.
    from scipy.stats import norm

    player = LinearThompson(noise=0.5, regularisation=1.0).start(2, n_features=1, random_state=seed)
    for _ in range(3):
        player.tell(0, 0.2, context=[1.0])
    mean, spread = 3 * 0.2 / 4, 0.5 * np.sqrt(1 / 4)
    share = np.mean([player.ask([1.0]) == 0 for _ in range(20_000)])
    wanted = norm.cdf(-mean / np.hypot(spread, 0.5))
    assert abs(share - wanted) < 6 * np.sqrt(0.25 / 20_000)


def test_the_bound_is_its_formula():
    n, d, m, penalty = 3, 2, 500, 2.0
    radius = np.sqrt(penalty) * 1.5 + 0.4 * np.sqrt(
        2 * np.log(n / 0.1) + d * np.log(1 + m / (d * penalty))
    )
    wanted = 2 * radius * np.sqrt(2 * m * n * d * np.log(1 + m / (n * d * penalty)))
    found = linucb_regret_bound(m, n, d, regularisation=penalty, noise=0.4, norm=1.5, delta=0.1)
    assert found == pytest.approx(wanted)


def test_errors_say_what_to_repair():
    with pytest.raises(ValueError, match="LinUCB needs n_features"):
        LinUCB().start(3)
    with pytest.raises(ValueError, match="UCB1 uses no contexts; leave n_features out"):
        UCB1().start(3, n_features=2)
    with pytest.raises(ValueError, match=r"must have shape \(2,\). Got None"):
        LinUCB().start(3, n_features=2).ask()
    with pytest.raises(ValueError, match="UCB1 uses no contexts; leave 'context' out"):
        UCB1().start(3).ask([1.0])
    with pytest.raises(ValueError, match="LinUCB plays LinearArms"):
        play(LinUCB(), BernoulliArms([0.5]), 10)
    with pytest.raises(ValueError, match=r"UCB1 plays arms without contexts. Got LinearArms"):
        play(UCB1(), LinearArms([[0.5]]), 10)
    with pytest.raises(ValueError, match="regularisation >= 1"):
        linucb_regret_bound(10, 2, 2, regularisation=0.5)
    with pytest.raises(ValueError, match="'delta' parameter of LinUCB"):
        LinUCB(delta=1.0)
