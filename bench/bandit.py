"""Bandit simulations against mabwiser and SMPyBandits: one game of 100 Bernoulli arms, one thread.

We play a million rounds. The peers play fewer, and their time is multiplied accordingly; the
rows' names say how many. Quality is the mean pseudo-regret over the rounds that both have played,
which chance moves by some percent. SMPyBandits asks SciPy for a function that has been renamed,
``btdtri``; it gets ``betaincinv`` under that name.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from bench.harness import Contest, Peer, Row, run

ARMS, ROUNDS = 100, 1_000_000


def make() -> np.ndarray:
    return np.random.default_rng(0).uniform(0.2, 0.8, size=ARMS)


def policy(name: str) -> Any:
    from corollary import bandit

    return {
        "UCB1": bandit.UCB1(),
        "Thompson sampling": bandit.BernoulliThompson(),
        "epsilon-greedy": bandit.EpsilonGreedy(0.1),
        "EXP3": bandit.EXP3(),
    }[name]


def ours(name: str, few: int, data: np.ndarray) -> float:
    from corollary.bandit import BernoulliArms, play

    arms = BernoulliArms(data)
    result = play(policy(name), arms, ROUNDS, records=1000, random_state=0, n_jobs=1)
    return float(np.interp(few, result.rounds, result.mean_regret))


def with_mabwiser(name: str, few: int, data: np.ndarray) -> float:
    from mabwiser.mab import MAB, LearningPolicy

    rules = {
        "UCB1": LearningPolicy.UCB1(alpha=1.0),
        "Thompson sampling": LearningPolicy.ThompsonSampling(),
        "epsilon-greedy": LearningPolicy.EpsilonGreedy(epsilon=0.1),
    }
    random = np.random.default_rng(0)
    bandit = MAB(list(range(ARMS)), rules[name], seed=0)
    first = [int(random.uniform() >= data[i]) for i in range(ARMS)]
    bandit.fit(list(range(ARMS)), first)  # it asks that every arm has been played
    regret = float((data - data.min()).sum())
    for _ in range(few - ARMS):
        arm = bandit.predict()
        bandit.partial_fit([arm], [int(random.uniform() >= data[arm])])
        regret += data[arm] - data.min()
    return regret


def with_smpybandits(name: str, few: int, data: np.ndarray) -> float:
    import contextlib
    import io

    import scipy.special

    scipy.special.btdtri = scipy.special.betaincinv  # renamed in SciPy, still asked for
    with contextlib.redirect_stdout(io.StringIO()):
        from SMPyBandits.Policies import UCB, EpsilonGreedy, Exp3Decreasing, Thompson

    rules: dict[str, Callable[[], Any]] = {
        "UCB1": lambda: UCB(ARMS),
        "Thompson sampling": lambda: Thompson(ARMS),
        "epsilon-greedy": lambda: EpsilonGreedy(ARMS, epsilon=0.1),
        "EXP3": lambda: Exp3Decreasing(ARMS),
    }
    random, learner = np.random.default_rng(0), rules[name]()
    learner.startGame()
    regret = 0.0
    for _ in range(few):
        arm = learner.choice()
        learner.getReward(arm, float(random.uniform() >= data[arm]))
        regret += data[arm] - data.min()
    return regret


def contest(name: str, peer: str, few: int) -> Contest:
    work = {"mabwiser": with_mabwiser, "SMPyBandits": with_smpybandits}[peer]
    return Contest(
        name=f"{name}, {ARMS} arms, {ROUNDS:,} rounds (peer: {few:,} rounds, time scaled)",
        data=make,
        ours=_named(partial(ours, name, few)),
        peers=[Peer(peer, partial(work, name, few), goal=50.0, requires=peer)],
        quality=lambda data, regret: regret,
        tolerance=0.25,
        cold=False,
        rounds=3,
    )


def _named(work: Any) -> Any:
    # The harness looks up where a contender was defined.
    work.__module__ = __name__
    return work


CONTESTS = [
    contest("UCB1", "mabwiser", 1_000),
    contest("UCB1", "SMPyBandits", 20_000),
    contest("epsilon-greedy", "mabwiser", 1_000),
    contest("Thompson sampling", "mabwiser", 1_000),
    contest("Thompson sampling", "SMPyBandits", 5_000),
    contest("EXP3", "SMPyBandits", 5_000),
]


def rows() -> list[Row]:
    found = []
    for each in CONTESTS:
        few = int(each.name.split("peer: ")[1].split(" rounds")[0].replace(",", ""))
        for row in run(each):
            found.append(replace(row, peer_seconds=row.peer_seconds * ROUNDS / few))
    return found
