"""Loops of bandits, and the draws they need, without the compiler."""

import numpy as np


def check_policies_find_the_best_arm():
    from corollary.bandit import (
        EXP3,
        UCB1,
        BernoulliArms,
        BernoulliThompson,
        EpsilonGreedy,
        GaussianArms,
        GaussianThompson,
        play,
    )

    coins, bells = BernoulliArms([0.1, 0.9, 0.9]), GaussianArms([0.0, 2.0, 2.0], scale=0.3)
    for policy, arms in (
        (EXP3(), coins),
        (EXP3(horizon=150), coins),
        (UCB1(), coins),
        (EpsilonGreedy(0.1), coins),
        (EpsilonGreedy(0.5, "inverse"), bells),
        (BernoulliThompson(), coins),
        (BernoulliThompson((0.5, 0.5)), coins),
        (GaussianThompson(), bells),
    ):
        result = play(policy, arms, rounds=150, repetitions=2, random_state=0, n_jobs=1)
        assert (result.pulls.argmax(axis=1) == 0).all(), policy
        if result.pathwise_bound is not None:
            assert (result.pathwise_regret <= result.pathwise_bound + 1e-9).all()


def check_schedules_of_losses():
    from corollary.bandit import UCB1, AlternatingArms, play

    arms = AlternatingArms(3)
    assert play(UCB1(), arms, rounds=40, random_state=0, n_jobs=1).regret is not None
    assert arms.losses(6).shape == (6, 3)


def check_contexts():
    from corollary.bandit import LinearArms, LinearThompson, LinUCB, play

    arms = LinearArms([[1.0, 0.0], [-1.0, 0.0]], noise=0.1, random_state=0)
    assert np.allclose(np.linalg.norm(arms.contexts(5), axis=1), 1.0)
    for policy in (LinUCB(noise=0.1), LinUCB(alpha=0.5), LinearThompson(noise=0.1)):
        result = play(policy, arms, rounds=80, random_state=0, n_jobs=1)
        assert result.mean_regret[-1] < 10.0, policy


def check_players():
    from corollary.bandit import EXP3, BernoulliThompson, LinUCB

    for policy in (EXP3(), BernoulliThompson()):
        player = policy.start(3, random_state=0)
        for _ in range(150):
            arm = player.ask()
            player.tell(arm, 0.0 if arm == 1 else 0.9)
        assert player.pulls.argmax() == 1
    player = LinUCB().start(2, n_features=2, random_state=0)
    for k in range(40):
        context = np.eye(2)[k % 2]
        arm = player.ask(context)
        player.tell(arm, float(arm != k % 2))
    assert [player.ask(context) for context in np.eye(2)] == [0, 1]


def check_the_tail_of_the_normal_law():
    from corollary.core._loops.random import TAIL, _normal_tail

    stream = np.array([1], dtype=np.uint64)
    assert min(_normal_tail(stream) for _ in range(20)) > TAIL
