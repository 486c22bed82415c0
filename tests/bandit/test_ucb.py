"""UCB1 and epsilon-greedy."""

import numpy as np
import pytest

from corollary.bandit import (
    UCB1,
    BernoulliArms,
    EpsilonGreedy,
    GaussianArms,
    play,
    ucb_regret_bound,
)


def naive_ucb(losses, exploration=2.0):
    rounds, n = losses.shape
    totals, pulls, arms = np.zeros(n), np.zeros(n), []
    for t in range(1, rounds + 1):
        if t <= n:
            arm = t - 1
        else:
            arm = int(np.argmin(totals / pulls - np.sqrt(exploration * np.log(t) / pulls)))
        totals[arm] += losses[t - 1, arm]
        pulls[arm] += 1
        arms.append(arm)
    return arms


@pytest.mark.parametrize("exploration", [2.0, 0.3])
@pytest.mark.parametrize("n", [1, 2, 9])
def test_ucb_plays_what_the_formula_says(n, exploration, seed):
    losses = np.random.default_rng(seed).uniform(size=(600, n))
    player = UCB1(exploration).start(n)
    for t, wanted in enumerate(naive_ucb(losses, exploration)):
        arm = player.ask()
        assert arm == wanted
        assert player.probability == 1.0
        player.tell(arm, losses[t, arm])


MEANS = [[0.2, 0.8], [0.5, 0.55, 0.6], [0.0, 1.0], np.linspace(0.1, 0.9, 10), [0.5, 0.5, 0.7]]


@pytest.mark.parametrize("mean", MEANS, ids=str)
@pytest.mark.parametrize("rounds", [5, 30, 3000])
def test_expected_pseudo_regret_is_below_the_bound(mean, rounds, seed):
    result = play(UCB1(), BernoulliArms(mean), rounds, 100, random_state=seed)
    assert (result.mean_regret <= result.bound.values + 5 * result.standard_error).all()


def test_regret_grows_like_the_logarithm(seed):
    result = play(UCB1(), BernoulliArms([0.3, 0.5]), 64_000, 50, records=64, random_state=seed)
    early = result.mean_regret[15] - result.mean_regret[3]  # rounds 4,000 to 16,000
    late = result.mean_regret[63] - result.mean_regret[15]  # rounds 16,000 to 64,000
    error = np.hypot(result.standard_error[15], result.standard_error[63])
    # The same growth over each factor of four; a square root would give twice as much.
    assert late < 1.5 * early + 5 * error
    assert late > 0.3 * early - 5 * error


def test_the_bound_is_its_formula():
    gaps = np.array([0.1, 0.4])
    wanted = 8 * (np.log(500) / gaps).sum() + (1 + np.pi**2 / 3) * gaps.sum()
    assert ucb_regret_bound(500, [0.2, 0.3, 0.6]) == pytest.approx(wanted)
    assert ucb_regret_bound(np.array([1, 10]), [0.5, 0.5]).tolist() == [0.0, 0.0]


def test_the_bound_is_offered_only_where_the_theorem_applies():
    rounds = np.array([10])
    assert UCB1().regret_bound(BernoulliArms([0.1, 0.2]), rounds) is not None
    assert UCB1(1.0).regret_bound(BernoulliArms([0.1, 0.2]), rounds) is None
    assert UCB1().regret_bound(BernoulliArms([0.1, 0.2], random_state=0), rounds) is None
    assert UCB1().regret_bound(GaussianArms([0.1, 0.2]), rounds) is None


def test_epsilon_greedy_explores_as_often_as_it_says(seed):
    player = EpsilonGreedy(0.3).start(4, random_state=seed)
    for arm, loss in enumerate((0.5, 0.1, 0.9, 0.7)):
        player.tell(arm, loss)
    arms = np.array([player.ask() for _ in range(20_000)])
    shares = np.bincount(arms, minlength=4) / 20_000
    wanted = np.array([0.075, 0.775, 0.075, 0.075])
    assert np.abs(shares - wanted).max() < 6 * np.sqrt(0.25 / 20_000)
    assert player.probability in (pytest.approx(0.775), pytest.approx(0.075))


def test_epsilon_greedy_with_the_inverse_schedule_stops_exploring(seed):
    arms = BernoulliArms([0.1, 0.9])
    constant = play(EpsilonGreedy(0.2), arms, 20_000, 20, random_state=seed)
    inverse = play(EpsilonGreedy(5.0, "inverse"), arms, 20_000, 20, random_state=seed)
    assert constant.mean_regret[-1] > 0.9 * 0.1 * 0.8 * 20_000
    assert inverse.mean_regret[-1] < 0.1 * constant.mean_regret[-1]


def test_greedy_plays_new_arms_first():
    player = EpsilonGreedy(0.0).start(3)
    order = []
    for _ in range(4):
        order.append(player.ask())
        player.tell(order[-1], (0.2, 0.1, 0.3)[order[-1]])
    assert order == [0, 1, 2, 1]


def test_errors_say_what_to_repair():
    with pytest.raises(
        ValueError,
        match=r"'epsilon' parameter of EpsilonGreedy must be a float in the range \[0.0, 1.0\]",
    ):
        EpsilonGreedy(1.5)
    with pytest.raises(ValueError, match=r"'constant' or 'inverse'. Got 'linear'"):
        EpsilonGreedy(0.1, "linear")
    with pytest.raises(ValueError, match="'exploration' parameter of UCB1"):
        UCB1(0.0)
    with pytest.raises(ValueError, match="'mean' parameter of ucb_regret_bound"):
        ucb_regret_bound(10, [2.0])
