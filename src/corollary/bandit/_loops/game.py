"""The game without contexts: choose an arm, pay its loss, learn.

Of the five rules one is given and the others are None, so that each policy has a loop of its own.
"""

import numpy as np

from corollary.bandit._loops import exp3 as exponential
from corollary.bandit._loops import means, thompson
from corollary.bandit._loops.losses import loss_of, mean_of
from corollary.core.jit import jit, part


@jit(counted=False)
def advance(exp3, ucb, greedy, beta, normal, arms, keys, games, rows, span, ledger):
    """Play the rounds [span[0], span[1]) of games [rows[0], rows[1]).

    What was paid (in losses, and in means) is written to ``ledger.paid[r, j]`` after round
    ``ledger.rounds[j]``, from j = span[2] on; EXP3 also writes its inequality to ``ledger.extra``.
    """
    for r in range(rows[0], rows[1]):
        _play(exp3, ucb, greedy, beta, normal, arms, keys[r], games, r, span, ledger)


@part
def _play(exp3, ucb, greedy, beta, normal, arms, key, games, r, span, ledger):
    """Play rounds of one game."""
    stream, paid, rounds, noted = games.stream[r : r + 1], games.paid[r], ledger.rounds, ledger.paid
    losses, expected, j = paid[0], paid[1], span[2]
    for t in range(span[0], span[1]):
        arm, probability = _choose(exp3, ucb, greedy, beta, normal, r, t + 1, stream)
        mean = mean_of(arms, t, arm)
        loss = loss_of(arms, key, t, arm, mean)
        _learn(exp3, ucb, greedy, beta, normal, games, r, arm, probability, loss)
        losses += loss
        expected += mean
        if t + 1 == rounds[j]:
            noted[r, j, 0], noted[r, j, 1] = losses, expected
            if exp3 is not None:
                exponential.note_inequality(exp3, r, losses, ledger.extra[r, j])
            j += 1
    paid[0], paid[1] = losses, expected


@part
def _choose(exp3, ucb, greedy, beta, normal, r, t, stream):
    """Choose an arm in round t, counted from 1; return it with its probability.

    The probability is NaN where it has no closed form (Thompson sampling).
    """
    if exp3 is not None:
        return exponential.choose(exp3, r, t, stream)
    if ucb is not None:
        return means.choose_confident(ucb, r, t), 1.0
    if greedy is not None:
        return means.choose_greedy(greedy, r, t, stream)
    if beta is not None:
        return thompson.choose_beta(beta, r, stream), np.nan
    if normal is not None:
        return thompson.choose_normal(normal, r, stream), np.nan
    return -1, np.nan


@part
def _learn(exp3, ucb, greedy, beta, normal, games, r, arm, probability, loss):
    """Learn the loss of the arm that was chosen."""
    pulls, totals = games.pulls, games.totals
    pulls[r, arm] += 1
    totals[r, arm] += loss
    if exp3 is not None:
        exponential.learn(exp3, r, arm, probability, loss)
    if ucb is not None:
        means.learn_confident(ucb, r, arm, pulls[r, arm], totals[r, arm])
    if greedy is not None:
        means.learn_greedy(greedy, r, arm, pulls[r, arm], totals[r, arm])
    if beta is not None:
        thompson.learn_beta(beta, r, arm, loss, games.stream[r : r + 1])
    if normal is not None:
        thompson.learn_normal(normal, r, arm, pulls[r, arm], totals[r, arm])


@jit(counted=False)
def choose(exp3, ucb, greedy, beta, normal, games, t):
    """Choose an arm for the only game."""
    return _choose(exp3, ucb, greedy, beta, normal, 0, t, games.stream)


@jit(counted=False)
def learn(exp3, ucb, greedy, beta, normal, games, arm, probability, loss):
    """Learn a loss in the only game."""
    _learn(exp3, ucb, greedy, beta, normal, games, 0, arm, probability, loss)
