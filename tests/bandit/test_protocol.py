"""The protocol, arm means, and what the learner may see."""

import numpy as np
import pytest

from corollary.bandit import (
    EXP3,
    UCB1,
    AlternatingArms,
    BernoulliArms,
    BernoulliThompson,
    EpsilonGreedy,
    GaussianThompson,
    LossMatrix,
    PythonArms,
    arm_mean_radius,
    arm_means,
    mean_so_far,
    play,
    regret,
)
from corollary.core.simulate import assert_bound_holds

POLICIES = [
    EXP3(),
    EXP3(horizon=200),
    UCB1(),
    EpsilonGreedy(),
    BernoulliThompson(),
    GaussianThompson(),
]


def test_regret_is_what_was_paid_minus_the_best_arm(seed):
    random = np.random.default_rng(seed)
    losses, arms = random.uniform(size=(30, 4)), random.integers(4, size=30)
    found = regret(losses, arms)
    for t in range(30):
        paid = sum(losses[s, arms[s]] for s in range(t + 1))
        best = min(sum(losses[s, i] for s in range(t + 1)) for i in range(4))
        assert found[t] == pytest.approx(paid - best)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: type(p).__name__)
def test_a_policy_never_sees_the_losses_of_arms_it_does_not_play(policy, seed):
    # Play by ask and tell, change every entry that was not asked for, and simulate both.
    random = np.random.default_rng(seed)
    losses = random.uniform(size=(200, 5))
    player = policy.start(5, random_state=seed)
    seen = np.zeros(losses.shape, dtype=bool)
    for t in range(200):
        arm = player.ask()
        seen[t, arm] = True
        player.tell(arm, losses[t, arm])
    other = np.where(seen, losses, random.uniform(size=losses.shape))
    again = policy.start(5, random_state=seed)
    for t in range(200):
        arm = again.ask()
        assert seen[t, arm]
        again.tell(arm, other[t, arm])
    assert np.array_equal(player.work, again.work)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: type(p).__name__)
def test_simulated_losses_come_from_the_arms_played(policy, seed):
    losses = np.random.default_rng(seed).uniform(size=(200, 5))
    result = play(policy, LossMatrix(losses), 200, 3, records=200, random_state=seed)
    paid = np.diff(result.loss, prepend=0.0, axis=1)
    for r in range(3):
        arms = np.abs(losses - paid[r][:, None]).argmin(axis=1)
        assert np.abs(losses[np.arange(200), arms] - paid[r]).max() < 1e-10
        assert np.array_equal(np.bincount(arms, minlength=5), result.pulls[r])
        assert result.regret[r] == pytest.approx(regret(losses, arms), abs=1e-9)


def test_losses_are_those_drawn_and_regret_is_counted_in_means():
    result = play(UCB1(), BernoulliArms([0.3, 0.6]), 50, 4, records=50, random_state=0)
    assert set(np.unique(np.diff(result.loss, prepend=0.0, axis=1))) == {0.0, 1.0}
    assert result.regret_kind == "pseudo-regret"
    assert result.regret[:, -1] == pytest.approx(0.3 * result.pulls[:, 1])


def test_a_player_keeps_what_it_was_told():
    player = UCB1().start(3, random_state=0)
    for arm, loss in [(0, 0.5), (1, 0.25), (0, 1.0)]:
        player.tell(arm, loss)
    assert player.n_arms == 3
    assert player.pulls.tolist() == [2, 1, 0]
    assert player.totals.tolist() == [1.5, 0.25, 0.0]
    assert player.means[:2].tolist() == [0.75, 0.25]
    assert np.isnan(player.means[2])
    weighing = EXP3().start(2, random_state=0)
    before = weighing.work.copy()
    weighing.tell(1, 1.0, probability=0.5)
    assert not np.array_equal(before, weighing.work)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: type(p).__name__)
def test_compiled_games_are_those_of_asking_and_telling(policy, seed):
    losses = np.random.default_rng(seed).uniform(size=(60, 4))
    compiled = play(policy, LossMatrix(losses), 60, 3, random_state=seed)
    told = PythonArms(lambda t, arm, random: losses[t, arm], n_arms=4)
    asked = play(policy, told, 60, 3, random_state=seed)
    assert np.array_equal(compiled.pulls, asked.pulls)
    assert compiled.loss == pytest.approx(asked.loss)
    assert compiled.rounds.tolist() == asked.rounds.tolist() == list(range(1, 61))


def test_arm_means_are_running_means():
    means = arm_means([2, 0, 2, 2], [1.0, 0.25, 0.0, 0.5], n_arms=4)
    assert means.pulls.tolist() == [1, 0, 3, 0]
    assert means.mean[[0, 2]] == pytest.approx([0.25, 0.5])
    assert np.isnan(means.mean[[1, 3]]).all()
    assert mean_so_far([[1.0, 0.0], [0.0, 0.0], [0.5, 3.0]])[-1] == pytest.approx([0.5, 1.0])


def test_means_of_an_adaptive_learner_are_biased_and_the_radius_covers_them(seed):
    repetitions, rounds, delta = 400, 40, 0.1
    radius = arm_mean_radius(np.arange(rounds + 1), delta / 2)
    random = np.random.default_rng(seed + 1)
    errors, broken = [], 0
    for _ in range(repetitions):
        matrix = (random.uniform(size=(rounds, 2)) < 0.5).astype(float)
        arms, totals, pulls, outside = [], np.zeros(2), np.zeros(2, int), False
        for t in range(rounds):
            arm = t if t < 2 else int(np.argmin(totals / pulls))
            arms.append(arm)
            totals[arm] += matrix[t, arm]
            pulls[arm] += 1
            outside |= abs(totals[arm] / pulls[arm] - 0.5) > radius[pulls[arm]]
        errors.append(arm_means(arms, matrix[np.arange(rounds), arms], n_arms=2).mean - 0.5)
        broken += outside
    errors = np.concatenate(errors)
    # A greedy learner leaves an arm when it looks bad: observed losses are too large.
    assert errors.mean() > 10 * errors.std() / np.sqrt(len(errors))
    assert_bound_holds(broken, repetitions, delta)


def test_hoeffding_with_fixed_plays_would_be_smaller():
    assert arm_mean_radius(0, 0.05) == np.inf
    assert arm_mean_radius(50, 0.05) > np.sqrt(np.log(2 / 0.05) / 100)
    assert arm_mean_radius(np.array([1, 10, 100]), 0.05).shape == (3,)


def test_errors_say_what_to_repair():
    with pytest.raises(ValueError, match="must lie in 0 to 1"):
        regret([[0.0, 1.0]], [2])
    with pytest.raises(ValueError, match="one for each round"):
        regret([[0.0, 1.0]], [0, 1])
    with pytest.raises(ValueError, match="'losses' parameter of arm_means must be finite"):
        arm_means([0], [np.nan], n_arms=1)
    with pytest.raises(ValueError, match="'delta' parameter of arm_mean_radius must be"):
        arm_mean_radius(3, 1.2)
    with pytest.raises(ValueError, match="whole numbers"):
        arm_mean_radius([0.5], 0.1)
    with pytest.raises(ValueError, match=r"non-empty array with 2 dimension"):
        regret([1.0], [0])
    with pytest.raises(ValueError, match="'rounds' parameter of play must be"):
        play(EXP3(), AlternatingArms(2), 0)
