"""The game with contexts: each arm has a ridge regression of its own.

An arm's memory is the inverse of its matrix (d x d, in rows), its coefficients (d) and the
logarithm of its determinant over that of the start. Of the two rules one is given, the other None.
"""

import numpy as np

from corollary.bandit._loops.losses import draw_context
from corollary.core.draws import normal
from corollary.core.jit import jit, part


@jit(counted=False)
def advance(ucb, thompson, coef, noise, keys, games, rows, span, ledger, scratch):
    """Play the rounds [span[0], span[1]) of games [rows[0], rows[1]).

    ``ledger.paid[r, j]`` gets the losses and the regret against the best arm of each context;
    ``ledger.extra[r, j]`` the regret again and the sum of twice the confidence widths. ``scratch``
    holds two arrays of d numbers and a stream.
    """
    for r in range(rows[0], rows[1]):
        _play(ucb, thompson, coef, noise, keys[r], games, r, span, ledger, scratch)


@part
def _play(ucb, thompson, coef, noise, key, games, r, span, ledger, scratch):
    """Play rounds of one game."""
    context, gain, chance = scratch
    stream, paid = games.stream[r : r + 1], games.paid[r]
    rounds, noted, extra = ledger.rounds, ledger.paid, ledger.extra
    losses, regret, widths, j = paid[0], paid[1], paid[2], span[2]
    for t in range(span[0], span[1]):
        draw_context(key, t, context, chance)
        arm, width = _choose(ucb, thompson, r, context, stream)
        mean, least = _means(coef, context, arm)
        loss = mean + noise * normal(chance)
        _learn(ucb, thompson, games, r, arm, context, gain, loss)
        losses += loss
        regret += mean - least
        widths += width
        if t + 1 == rounds[j]:
            noted[r, j, 0], noted[r, j, 1] = losses, regret
            extra[r, j, 0], extra[r, j, 1] = regret, widths
            j += 1
    paid[0], paid[1], paid[2] = losses, regret, widths


@part
def _means(coef, context, arm):
    """Return the mean loss of an arm, and the smallest of all."""
    mean, least = 0.0, np.inf
    for i in range(coef.shape[0]):
        product = 0.0
        for a in range(coef.shape[1]):
            product += coef[i, a] * context[a]
        least = min(least, product)
        if i == arm:
            mean = product
    return mean, least


@part
def _choose(ucb, thompson, r, context, stream):
    """Choose an arm for a context; return it with twice its confidence width."""
    if ucb is not None:
        return _choose_confident(ucb, r, context)
    if thompson is not None:
        return _choose_drawn(thompson, r, context, stream)
    return -1, np.nan


@part
def _choose_confident(rule, r, context):
    """Return the arm with the smallest lower confidence bound."""
    memories = rule.arms[r]
    n = memories.shape[0]
    arm, least, width = 0, np.inf, 0.0
    for i in range(n):
        mean, spread = _judge(memories[i], context)
        radius = rule.alpha
        if radius < 0.0:  # the theorem's, which grows with the determinant
            growth = 2.0 * np.log(n / rule.delta) + max(memories[i, -1], 0.0)
            radius = np.sqrt(rule.regularisation) * rule.norm + rule.noise * np.sqrt(growth)
        value = mean - radius * spread
        if value < least:
            arm, least, width = i, value, 2.0 * radius * spread
    return arm, width


@part
def _choose_drawn(rule, r, context, stream):
    """Draw every arm's mean at the context; return the arm of the smallest."""
    memories = rule.arms[r]
    arm, least, width = 0, np.inf, 0.0
    for i in range(memories.shape[0]):
        mean, spread = _judge(memories[i], context)
        value = mean + rule.noise * spread * normal(stream)
        if value < least:
            arm, least, width = i, value, 2.0 * rule.noise * spread
    return arm, width


@part
def _judge(memory, context):
    """Return mean and spread of an arm's loss at a context."""
    d = context.shape[0]
    inverse, coef = memory[: d * d], memory[d * d :]
    square, mean = 0.0, 0.0
    for a in range(d):
        product = 0.0
        for b in range(d):
            product += inverse[a * d + b] * context[b]
        square += context[a] * product
        mean += coef[a] * context[a]
    return mean, np.sqrt(max(square, 0.0))


@part
def _learn(ucb, thompson, games, r, arm, context, gain, loss):
    """Learn the loss of an arm."""
    pulls, totals = games.pulls, games.totals
    pulls[r, arm] += 1
    totals[r, arm] += loss
    if ucb is not None:
        _regress(ucb.arms[r, arm], gain, context, loss)
    if thompson is not None:
        _regress(thompson.arms[r, arm], gain, context, loss)


@part
def _regress(memory, gain, context, loss):
    """Update an arm's ridge regression: a rank-one step of the inverse, in place."""
    d = context.shape[0]
    inverse, coef = memory[: d * d], memory[d * d :]
    square, mean = 0.0, 0.0
    for a in range(d):
        product = 0.0
        for b in range(d):
            product += inverse[a * d + b] * context[b]
        gain[a] = product
        square += product * context[a]
        mean += coef[a] * context[a]
    scale = 1.0 / (1.0 + square)
    for a in range(d):
        coef[a] += gain[a] * scale * (loss - mean)
        for b in range(d):
            inverse[a * d + b] -= gain[a] * gain[b] * scale
    memory[-1] += np.log1p(square)


@jit(counted=False)
def choose(ucb, thompson, games, context):
    """Choose an arm for a context of the only game."""
    return _choose(ucb, thompson, 0, context, games.stream)[0]


@jit(counted=False)
def learn(ucb, thompson, games, arm, context, gain, loss):
    """Learn a loss in the only game."""
    _learn(ucb, thompson, games, 0, arm, context, gain, loss)
