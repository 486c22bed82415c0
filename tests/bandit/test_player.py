"""Playing a real problem: ask, tell, save, go on."""

import copy
import functools
import pickle

import numpy as np
import pytest

import corollary
from corollary.bandit import (
    EXP3,
    UCB1,
    BernoulliThompson,
    EpsilonGreedy,
    GaussianThompson,
    LinearThompson,
    LinUCB,
)
from corollary.core.files import ModelFileError
from tests.fuzz.forge import forge

POLICIES = [
    EXP3(),
    EXP3(horizon=50),
    UCB1(),
    EpsilonGreedy(0.2, "inverse"),
    BernoulliThompson(),
    GaussianThompson(),
    LinUCB(),
    LinearThompson(),
]


def started(policy, seed=0, rounds=30):
    width = 2 if policy._contextual else None
    player = policy.start(5, n_features=width, random_state=seed)
    go_on(player, rounds, seed)
    return player


def go_on(player, rounds, seed):
    random = np.random.default_rng(seed)
    arms = []
    for _ in range(rounds):
        context = random.normal(size=2) if player.policy._contextual else None
        arms.append(player.ask(context))
        player.tell(arms[-1], float(random.uniform()))
    return arms


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: type(p).__name__)
def test_a_saved_game_goes_on_where_it_was(policy, tmp_path, seed):
    player = started(policy, seed)
    arm = player.ask(np.ones(2) if policy._contextual else None)
    corollary.save(player, tmp_path / "game")
    again = corollary.load(tmp_path / "game")
    assert again.policy == player.policy
    assert again.arm == arm
    player.tell(arm, 0.5)
    again.tell(arm, 0.5)
    assert go_on(again, 40, seed + 1) == go_on(player, 40, seed + 1)
    assert again.work.tobytes() == player.work.tobytes()


def test_means_and_pulls():
    player = UCB1().start(3)
    player.tell(2, 0.5)
    player.tell(2, 1.0)
    assert player.n_arms == 3
    assert player.means[2] == 0.75
    assert np.isnan(player.means[:2]).all()


def test_late_losses_take_the_probability_they_had(seed):
    player = EXP3(learning_rate=0.5).start(3, random_state=seed)
    asked = [(player.ask(), player.probability) for _ in range(4)]
    for arm, probability in reversed(asked):
        player.tell(arm, 1.0, probability=probability)
    assert player.pulls.sum() == 4
    other = (player.arm + 1) % 3
    with pytest.raises(ValueError, match="needs the probability"):
        player.tell(other, 1.0)


def test_same_seed_same_game():
    assert go_on(EXP3().start(4, random_state=3), 50, 1) == go_on(
        EXP3().start(4, random_state=3), 50, 1
    )
    first = [EXP3().start(9, random_state=s).ask() for s in range(30)]
    assert len(set(first)) > 3


def test_errors_say_what_to_repair():
    player = EXP3().start(3, random_state=0)
    with pytest.raises(
        ValueError,
        match=r"'loss' parameter of Player.tell must be a number in \[0, 1\] for EXP3. Got 2.0",
    ):
        player.tell(0, 2.0)
    with pytest.raises(
        ValueError, match=r"'arm' parameter of Player.tell must be an int in 0 to 2. Got 3"
    ):
        player.tell(3, 0.5)
    with pytest.raises(ValueError, match="Got nan"):
        UCB1().start(2).tell(0, float("nan"))
    with pytest.raises(ValueError, match=r"'n_arms' parameter of EXP3.start must be an int"):
        EXP3().start(0)
    with pytest.raises(ValueError, match=r"'n_features' parameter of LinUCB.start"):
        LinUCB().start(2, n_features=0)


@functools.cache
def whole(index, folder):
    path = folder / f"game-{index}"
    corollary.save(started(POLICIES[index]), path)
    return path.read_bytes()


def assert_forgeries_are_harmless(tmp_path_factory, index, seeds):
    folder = tmp_path_factory.getbasetemp()
    path = folder / "forged"
    loaded = 0
    for seed in seeds:
        path.write_bytes(forge(whole(index, folder), f"game {index} {seed}"))
        try:
            player = corollary.load(path)
            if not hasattr(player, "ask"):  # another class that may be saved
                continue
            context = np.ones(player.n_features) if player.n_features else None
            for _ in range(3):
                arm = player.ask(context)
                assert 0 <= arm < player.n_arms
                player.tell(arm, 0.5)
            loaded += 1
        except ValueError:  # refused, or a loss that the forged policy does not take
            continue
    return loaded


@pytest.mark.parametrize("index", range(len(POLICIES)))
def test_forgeries_are_refused_or_harmless(tmp_path_factory, index):
    assert_forgeries_are_harmless(tmp_path_factory, index, range(25))


@pytest.mark.verify
@pytest.mark.parametrize("index", range(len(POLICIES)))
def test_many_forgeries_are_refused_or_harmless(tmp_path_factory, index):
    assert assert_forgeries_are_harmless(tmp_path_factory, index, range(25, 1500)) > 20


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("work", np.ones(3), "wrong size"),
        ("work", np.full(26, np.nan), "'work' has the wrong type, shape or range"),
        ("work", np.full(26, -1.0), "beliefs are impossible"),
        ("pulls", np.zeros(5, dtype=np.int32), "wrong type"),
        ("arm", 5, "does not exist"),
        ("n_features", 2, "contexts do not fit"),
        ("policy", corollary.linear.Ridge(), "wrong type"),
    ],
)
def test_a_state_that_does_not_fit_is_not_saved(tmp_path, field, value, problem):
    player = started(BernoulliThompson())
    setattr(player, field, value)
    with pytest.raises((TypeError, ModelFileError), match=problem):
        corollary.save(player, tmp_path / "game")


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e200])
def test_contexts_that_would_spoil_the_memory_are_refused(wrong):
    player = LinUCB().start(2, n_features=2, random_state=0)
    with pytest.raises(ValueError, match=r"'context' .* finite numbers in \[-1e\+100") as error:
        player.ask([wrong, 1.0])
    assert "reward" not in str(error.value)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: type(p).__name__)
@pytest.mark.parametrize("copy", [copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_a_copy_plays_on_by_itself(policy, copy, seed):
    player = started(policy, seed)
    again = copy(player)
    before = again.work.copy()
    arms = go_on(player, 30, seed + 1)
    assert (again.work == before).all()
    assert go_on(again, 30, seed + 1) == arms
    assert again.work.tobytes() == player.work.tobytes()
