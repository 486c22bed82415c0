"""Thompson sampling: its beliefs, its samplers and its Bayesian regret."""

import numpy as np
import pytest
from scipy import stats

from corollary.bandit import (
    BernoulliArms,
    BernoulliThompson,
    GaussianArms,
    GaussianThompson,
    play,
    thompson_bayes_regret_bound,
)


def test_beliefs_are_the_posterior(seed):
    player = BernoulliThompson((2.0, 3.0)).start(2, random_state=seed)
    for loss in (1.0, 1.0, 0.0, 1.0):
        player.tell(1, loss)
    assert player.work[:4].reshape(2, 2).T.tolist() == [[2.0, 3.0], [5.0, 4.0]]
    player = GaussianThompson(prior_mean=1.0, prior_scale=2.0, noise=0.5).start(
        2, random_state=seed
    )
    for loss in (0.3, 0.9, 0.0):
        player.tell(0, loss)
    precision = 1 / 4 + 3 / 0.25
    assert player.work[0] == pytest.approx((1.0 / 4 + 1.2 / 0.25) / precision)
    assert player.work[2] == pytest.approx(precision**-0.5)
    assert player.work[[1, 3]].tolist() == [1.0, 2.0]


def test_losses_between_zero_and_one_are_coins(seed):
    player = BernoulliThompson().start(1, random_state=seed)
    for _ in range(4000):
        player.tell(0, 0.3)
    assert player.work[:2].sum() == 4002
    assert abs(player.work[0] / 4002 - 0.3) < 6 * np.sqrt(0.21 / 4000)


def test_an_arm_is_played_as_often_as_it_is_believed_best(seed):
    player = BernoulliThompson().start(2, random_state=seed)
    for arm, loss in ((0, 1.0), (0, 0.0), (1, 1.0), (1, 1.0)):
        player.tell(arm, loss)
    share = np.mean([player.ask() == 0 for _ in range(20_000)])
    # P(Beta(2, 2) < Beta(3, 1)) by quadrature
    grid = (np.arange(20_000) + 0.5) / 20_000
    wanted = (stats.beta(2, 2).cdf(grid) * stats.beta(3, 1).pdf(grid)).mean()
    assert abs(share - wanted) < 6 * np.sqrt(0.25 / 20_000)
    assert player.probability is None


@pytest.mark.parametrize("shapes", [
    [(1, 1), (1, 1), (1, 1)],
    [(3, 9), (4, 9), (40, 80), (2, 2), (1, 5)],
    [(300, 700), (320, 680), (5, 5), (280, 720)],
    [(0.4, 0.7), (2, 3), (0.9, 8)],
    [(2, 9), (50, 50), (80, 20)],
])  # fmt: skip
def test_the_shortcut_draws_the_same_arms_as_drawing_all(shapes, seed):
    # The probability that each arm's draw is the smallest, by drawing all of them.
    n, draws = len(shapes), 100_000
    table = np.array(shapes, dtype=float)
    plain = np.random.default_rng(seed).beta(table[:, 0], table[:, 1], size=(draws, n))
    wanted = np.bincount(plain.argmin(axis=1), minlength=n)
    from corollary.bandit._loops.thompson import remember_prior

    player = BernoulliThompson().start(n, random_state=seed)
    player.work[: 2 * n] = table.T.ravel()
    remember_prior(player._rules()[BernoulliThompson._place])
    found = np.zeros(n)
    for k in range(draws // 4):
        player.work[5 * n] = k % n  # whichever arm comes first
        found[player.ask()] += 1
    together = wanted + found
    expected = together * (draws // 4) / (draws * 1.25)
    kept = expected > 5
    chi_square = ((found - expected)[kept] ** 2 / (expected[kept] * 0.8)).sum()
    assert stats.chi2(kept.sum()).sf(chi_square) > 1e-6


@pytest.mark.parametrize("n", [2, 8])
def test_bayesian_regret_is_below_its_bound(n, seed):
    # Arms drawn from the very prior that the learner uses.
    random, rounds, games = np.random.default_rng(seed), 300, 300
    bound = thompson_bayes_regret_bound(np.array([10, 100, 300]), n)
    found = []
    for k in range(games):
        arms = BernoulliArms(random.uniform(size=n))
        found.append(play(BernoulliThompson(), arms, rounds, records=30, random_state=k).regret[0])
    at = np.array(found)[:, [0, 9, 29]]
    error = at.std(axis=0) / np.sqrt(games)
    assert (at.mean(axis=0) <= bound + 5 * error).all()


def test_gaussian_thompson_learns(seed):
    result = play(
        GaussianThompson(0.0, 1.0, 1.0), GaussianArms([0.0, 0.5, 1.0]), 3000, 40, random_state=seed
    )
    assert (result.pulls[:, 0] > 2000).mean() > 0.9
    assert result.bound is None


def test_errors_say_what_to_repair():
    with pytest.raises(ValueError, match="must be two positive numbers"):
        BernoulliThompson((1.0,))
    with pytest.raises(ValueError, match="'prior' parameter of BernoulliThompson"):
        BernoulliThompson((0.0, 1.0))
    with pytest.raises(ValueError, match="'noise' parameter of GaussianThompson"):
        GaussianThompson(noise=0.0)
    with pytest.raises(ValueError, match=r"BernoulliThompson needs losses in \[0, 1\]"):
        play(BernoulliThompson(), GaussianArms([0.0]), 10)
