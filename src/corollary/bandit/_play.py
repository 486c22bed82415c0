"""Compiled rounds of the bandit game.

A loss matrix is never stored: entry (t, i) is a function of a key, the round and the arm, so that
any entry can be asked for at any time and threads cannot change it. Every repetition has a key
for its losses and a stream of its own for its policy.

All arrays of floats are double precision in C order; a repetition's state is one row of each.
"""

import math
from typing import NamedTuple

import numpy as np

from corollary.core.jit import jit

EXP3, UCB1, EPSILON_GREEDY, BERNOULLI_THOMPSON, GAUSSIAN_THOMPSON = 0, 1, 2, 3, 4
LINUCB, LINEAR_THOMPSON = 5, 6
NO_NOISE, COIN, GAUSSIAN = 0, 1, 2

# EXP3's scalars stand before its arrays: reference, rate, round at which the rate changes next,
# sum of rate * loss^2 / probability, sum of rates.
HEAD = 8
# The anytime rate stays the same while the round number grows by this share.
RATE_STEP = 1.0 / 16.0
# Weights are scaled anew when their sum has fallen below this; any number far above the smallest
# double will do.
SMALL = 1e-3

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
S27, S30, S31, S11 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(11)
LAYER = np.uint64(127)
UNIT = 2.0**-53
TINY = 1e-300

# Ziggurat of 128 layers (Doornik, 2005): right edges, and the ratio of each to the one before.
TAIL, AREA = 3.442619855899, 9.91256303526217e-3


def _edges():
    x = np.zeros(129)
    x[0], x[1] = AREA * np.exp(0.5 * TAIL * TAIL), TAIL
    for i in range(2, 128):
        x[i] = np.sqrt(-2.0 * np.log(AREA / x[i - 1] + np.exp(-0.5 * x[i - 1] ** 2)))
    return x


EDGES = _edges()
RATIOS = EDGES[1:] / EDGES[:-1]


class Arms(NamedTuple):
    """What is needed to compute any loss: see ``environments.py``."""

    table: np.ndarray  # means, a row for each part of the schedule
    segment: int  # rounds for each part
    blend: bool  # whether means move linearly from one row to the next
    noise: int
    scale: float
    fixed: bool  # whether regret is counted in losses (one matrix) or in means


class State(NamedTuple):
    """Repetitions in rows."""

    pulls: np.ndarray
    totals: np.ndarray
    work: np.ndarray
    stream: np.ndarray  # unsigned 64-bit
    paid: np.ndarray  # loss so far, and its mean given the arms


# -- randomness ------------------------------------------------------------------------------


@jit
def _mix(z):
    """Scramble 64 bits (SplitMix64)."""
    z = (z ^ (z >> S30)) * FIRST
    z = (z ^ (z >> S27)) * SECOND
    return z ^ (z >> S31)


@jit
def _bits(stream):
    """Advance a stream, an array of one unsigned 64-bit number."""
    stream[0] += GOLDEN
    return _mix(stream[0])


@jit
def _uniform(stream):
    """Draw from [0, 1)."""
    return float(_bits(stream) >> S11) * UNIT


@jit
def _normal(stream):
    """Draw from the standard normal law."""
    while True:
        bits = _bits(stream)
        i = np.int64(bits & LAYER)
        u = 2.0 * (float(bits >> S11) * UNIT) - 1.0
        if abs(u) < RATIOS[i]:
            return u * EDGES[i]
        if i == 0:
            while True:
                x = -np.log(1.0 - _uniform(stream)) / TAIL
                y = -np.log(1.0 - _uniform(stream))
                if y + y > x * x:
                    return TAIL + x if u > 0.0 else -TAIL - x
        x = u * EDGES[i]
        upper = np.exp(-0.5 * (EDGES[i] * EDGES[i] - x * x))
        lower = np.exp(-0.5 * (EDGES[i + 1] * EDGES[i + 1] - x * x))
        if lower + _uniform(stream) * (upper - lower) < 1.0:
            return x


@jit
def _gamma_spread(shape):
    """Compute the one number of the sampler below that takes a root."""
    return 1.0 / np.sqrt(9.0 * (shape if shape >= 1.0 else shape + 1.0) - 3.0)


@jit
def _gamma(shape, c, stream):
    """Draw from the gamma law of unit scale (Marsaglia and Tsang, 2000); c is its spread."""
    boost = 1.0
    if shape < 1.0:
        boost = (1.0 - _uniform(stream)) ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    while True:
        x = _normal(stream)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = 1.0 - _uniform(stream)
        square = x * x
        if u < 1.0 - 0.0331 * square * square:
            return boost * d * v
        if np.log(u) < 0.5 * square + d * (1.0 - v + np.log(v)):
            return boost * d * v


# -- the environment -------------------------------------------------------------------------


@jit
def _mean(arms, t, i):
    """Mean loss of an arm in round t, counted from 0."""
    rows = arms.table.shape[0]
    if rows == 1:
        return arms.table[0, i]
    part = t // arms.segment
    row = part % rows
    if not arms.blend:
        return arms.table[row, i]
    share = (t - part * arms.segment) / arms.segment
    return (1.0 - share) * arms.table[row, i] + share * arms.table[(row + 1) % rows, i]


@jit
def _loss(arms, key, t, i, mean):
    """Entry of the loss matrix; a pure function of its arguments."""
    if arms.noise == NO_NOISE:
        return mean
    entry = np.uint64(t) * np.uint64(arms.table.shape[1]) + np.uint64(i)
    bits = _mix(key + (entry + np.uint64(1)) * GOLDEN)
    if arms.noise == COIN:
        return 1.0 if float(bits >> S11) * UNIT < mean else 0.0
    # Another scrambling of the same entry gives the angle.
    other = _mix(bits ^ GOLDEN)
    radius = np.sqrt(-2.0 * np.log(1.0 - float(bits >> S11) * UNIT))
    return mean + arms.scale * radius * np.cos(2.0 * np.pi * (float(other >> S11) * UNIT))


@jit
def loss_block(arms, key, start, out):
    """Write the losses of all arms in the rounds from ``start`` on, one row each."""
    for t in range(out.shape[0]):
        for i in range(out.shape[1]):
            out[t, i] = _loss(arms, key, start + t, i, _mean(arms, start + t, i))


@jit
def column_totals(arms, key, start, stop, totals):
    """Add the losses of all arms in rounds [start, stop) to ``totals``."""
    for t in range(start, stop):
        for i in range(totals.shape[0]):
            totals[i] += _loss(arms, key, t, i, _mean(arms, t, i))


# -- EXP3 ------------------------------------------------------------------------------------


@jit
def _leaves(n):
    """Smallest power of two that is at least n."""
    size = 1
    while size < n:
        size *= 2
    return size


@jit
def _rebuild(n, work):
    """Scale weights so that the largest is one, and sum them up along a binary tree."""
    size = _leaves(n)
    losses = work[HEAD : HEAD + n]
    tree = work[HEAD + n : HEAD + n + 2 * size]
    rate, reference = work[1], losses[0]
    for i in range(1, n):
        reference = min(reference, losses[i])
    work[0] = reference
    for i in range(size):
        tree[size + i] = np.exp(-rate * (losses[i] - reference)) if i < n else 0.0
    for node in range(size - 1, 0, -1):
        tree[node] = tree[2 * node] + tree[2 * node + 1]


@jit
def _exp3_select(settings, n, t, work, stream):
    size = _leaves(n)
    tree = work[HEAD + n : HEAD + n + 2 * size]
    if t >= work[2]:  # a new rate: settings hold the constant one, or 0 for the anytime rate
        if settings[0] > 0.0:
            work[1], work[2] = settings[0], 1e300
        else:
            last = t + np.floor(RATE_STEP * t)
            work[1], work[2] = np.sqrt(np.log(n) / (n * last)), last + 1.0
        _rebuild(n, work)
    elif not tree[1] > SMALL:
        _rebuild(n, work)
    work[4] += work[1]
    u = _uniform(stream) * tree[1]
    node = 1
    while node < size:
        node *= 2
        if u >= tree[node] and tree[node + 1] > 0.0:
            u -= tree[node]
            node += 1
    arm = min(node - size, n - 1)
    return arm, tree[size + arm] / tree[1]


@jit
def _exp3_update(n, arm, probability, loss, work):
    size = _leaves(n)
    tree = work[HEAD + n : HEAD + n + 2 * size]
    hallucinated = loss / probability
    work[3] += work[1] * loss * hallucinated
    work[HEAD + arm] += hallucinated
    node = size + arm
    tree[node] = np.exp(-work[1] * (work[HEAD + arm] - work[0]))
    while node > 1:
        node //= 2
        tree[node] = tree[2 * node] + tree[2 * node + 1]


# -- one round of any policy without contexts ------------------------------------------------


@jit
def _smallest(values):
    best = 0
    for i in range(1, values.shape[0]):
        if values[i] < values[best]:
            best = i
    return best


@jit
def beta_memory(arm, n, work):
    """Compute what belongs to the two parameters of an arm's beta law."""
    a, b = work[arm], work[n + arm]
    work[2 * n + arm] = _gamma_spread(a)
    work[3 * n + arm] = _gamma_spread(b)
    work[4 * n + arm] = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


@jit
def _beta(arm, n, work, stream):
    a = _gamma(work[arm], work[2 * n + arm], stream)
    value = a / (a + _gamma(work[n + arm], work[3 * n + arm], stream))
    return min(max(value, TINY), 1.0 - UNIT)


@jit
def _beta_minimum(n, work, stream):
    """Draw each arm's mean from its beta posterior; return the arm of the smallest.

    Only draws below the smallest so far matter. Left of its mode the density f of a beta law is
    log-concave, so below x it is at most f(x) exp(s (z - x)) with s the slope of log f at x: an
    exponential law of mass f(x) / s. A coin of that chance decides whether an arm is looked at
    further, which is seldom, and rejection makes the draw exact. The last winner comes first, so
    that x is small from the beginning.
    """
    arm = min(max(np.int64(work[5 * n]), 0), n - 1)
    first = arm
    x = _beta(arm, n, work, stream)
    low, high = np.log(x), np.log1p(-x)
    for i in range(n):
        if i == first:
            continue
        a, b = work[i] - 1.0, work[n + i] - 1.0
        slope = a / x - b / (1.0 - x)
        value = 2.0
        if slope > 0.0 and a >= 0.0 and b >= 0.0:
            density = np.exp(a * low + b * high - work[4 * n + i])
            if density < slope:
                if _uniform(stream) * slope >= density:
                    continue
                value = x + np.log(1.0 - _uniform(stream)) / slope
                if value <= TINY:
                    continue
                gap = a * (np.log(value) - low) + b * (np.log1p(-value) - high)
                if np.log(1.0 - _uniform(stream)) >= gap - slope * (value - x):
                    continue
        if value > 1.0:
            value = _beta(i, n, work, stream)
        if value < x:
            arm, x = i, value
            low, high = np.log(x), np.log1p(-x)
    work[5 * n] = arm
    return arm


@jit
def _normal_minimum(n, work, stream):
    arm, least = 0, np.inf
    for i in range(n):
        value = work[i] + work[n + i] * _normal(stream)
        if value < least:
            arm, least = i, value
    return arm


@jit
def select(code, settings, n, t, work, stream):
    """Choose an arm in round t, counted from 1; return it with its probability.

    The probability is NaN where it has no closed form (Thompson sampling).
    """
    if code == EXP3:
        return _exp3_select(settings, n, t, work, stream)
    if code == UCB1:
        width = np.sqrt(settings[0] * np.log(max(t, 2)))
        arm, least = 0, np.inf
        for i in range(n):
            index = work[i] - width * work[n + i]
            if index < least:
                arm, least = i, index
        return arm, 1.0
    if code == EPSILON_GREEDY:
        epsilon = settings[0]
        if settings[1] > 0.0:
            epsilon = min(1.0, epsilon * n / t)
        greedy = _smallest(work[:n])
        arm = greedy
        if _uniform(stream) < epsilon:
            arm = min(np.int64(_uniform(stream) * n), n - 1)
        return arm, epsilon / n + (1.0 - epsilon if arm == greedy else 0.0)
    if code == BERNOULLI_THOMPSON:
        return _beta_minimum(n, work, stream), np.nan
    return _normal_minimum(n, work, stream), np.nan


@jit
def update(code, settings, arm, probability, loss, pulls, totals, work, stream):
    """Learn the loss of the arm that was chosen."""
    n = pulls.shape[0]
    pulls[arm] += 1
    totals[arm] += loss
    if code == EXP3:
        _exp3_update(n, arm, probability, loss, work)
    elif code == UCB1:
        work[arm] = totals[arm] / pulls[arm]
        work[n + arm] = 1.0 / np.sqrt(float(pulls[arm]))
    elif code == EPSILON_GREEDY:
        work[arm] = totals[arm] / pulls[arm]
    elif code == BERNOULLI_THOMPSON:
        # A loss between 0 and 1 is a coin with that chance (Agrawal and Goyal, 2012).
        success = loss
        if 0.0 < loss < 1.0:
            success = 1.0 if _uniform(stream) < loss else 0.0
        work[arm] += success
        work[n + arm] += 1.0 - success
        beta_memory(arm, n, work)
    else:
        precision = 1.0 / settings[1] ** 2
        data = 1.0 / settings[2] ** 2
        total = precision + pulls[arm] * data
        work[arm] = (precision * settings[0] + data * totals[arm]) / total
        work[n + arm] = 1.0 / np.sqrt(total)


@jit
def advance(code, settings, arms, keys, state, rows, span, records, paid, extra):
    """Play the rounds [span[0], span[1]) of repetitions [rows[0], rows[1]).

    What was paid (in losses, and in means) is written to ``paid[r, j]`` after round
    ``records[j]``; EXP3 also writes the two sides of its pathwise inequality to ``extra[r, j]``.
    """
    n = arms.table.shape[1]
    for r in range(rows[0], rows[1]):
        pulls, totals, work = state.pulls[r], state.totals[r], state.work[r]
        stream, key = state.stream[r : r + 1], keys[r]
        loss_sum, mean_sum = state.paid[r, 0], state.paid[r, 1]
        j = np.searchsorted(records, span[0] + 1)
        for t in range(span[0], span[1]):
            arm, probability = select(code, settings, n, t + 1, work, stream)
            mean = _mean(arms, t, arm)
            loss = _loss(arms, key, t, arm, mean)
            update(code, settings, arm, probability, loss, pulls, totals, work, stream)
            loss_sum += loss
            mean_sum += mean
            if t + 1 == records[j]:
                paid[r, j, 0], paid[r, j, 1] = loss_sum, mean_sum
                if code == EXP3:
                    least = work[HEAD : HEAD + n].min()
                    extra[r, j, 0] = loss_sum - least
                    # One arm has nothing to learn, and a rate of zero.
                    entropy = np.log(n) / work[1] if n > 1 else 0.0
                    extra[r, j, 1] = entropy + 0.5 * work[3]
                j += 1
        state.paid[r, 0], state.paid[r, 1] = loss_sum, mean_sum


# -- contexts --------------------------------------------------------------------------------


@jit
def linear_select(code, settings, n, context, work, stream):
    """Choose an arm for a context; return it with twice its confidence width.

    ``work`` holds, for each arm, the inverse of its matrix (d x d), its coefficients (d) and the
    logarithm of its determinant over that of the start.
    """
    d = context.shape[0]
    step = d * d + d + 1
    arm, least, width = 0, np.inf, 0.0
    for i in range(n):
        part = work[i * step : (i + 1) * step]
        square, mean = 0.0, 0.0
        for a in range(d):
            row = 0.0
            for b in range(d):
                row += part[a * d + b] * context[b]
            square += context[a] * row
            mean += part[d * d + a] * context[a]
        spread = np.sqrt(max(square, 0.0))
        if code == LINUCB:
            radius = settings[0]
            if radius < 0.0:  # the theorem's, which grows with the determinant
                growth = 2.0 * np.log(n / settings[4]) + max(part[step - 1], 0.0)
                radius = np.sqrt(settings[1]) * settings[3] + settings[2] * np.sqrt(growth)
            value = mean - radius * spread
        else:
            radius = settings[2]
            value = mean + radius * spread * _normal(stream)
        if value < least:
            arm, least, width = i, value, 2.0 * radius * spread
    return arm, width


@jit
def linear_update(arm, context, loss, pulls, totals, work):
    """Learn a loss: rank-one update of the inverse, in place."""
    d = context.shape[0]
    step = d * d + d + 1
    part = work[arm * step : (arm + 1) * step]
    pulls[arm] += 1
    totals[arm] += loss
    gain = np.empty(d)
    square, mean = 0.0, 0.0
    for a in range(d):
        row = 0.0
        for b in range(d):
            row += part[a * d + b] * context[b]
        gain[a] = row
        square += row * context[a]
        mean += part[d * d + a] * context[a]
    scale = 1.0 / (1.0 + square)
    for a in range(d):
        part[d * d + a] += gain[a] * scale * (loss - mean)
        for b in range(d):
            part[a * d + b] -= gain[a] * gain[b] * scale
    part[step - 1] += np.log1p(square)


@jit
def context_of(key, t, context):
    """Write the context of round t, uniform on the unit sphere; return a stream for its noise."""
    stream = np.empty(1, dtype=np.uint64)
    stream[0] = _mix(key + (np.uint64(t) + np.uint64(1)) * GOLDEN)
    square = 0.0
    for a in range(context.shape[0]):
        context[a] = _normal(stream)
        square += context[a] * context[a]
    scale = 1.0 / np.sqrt(max(square, 1e-300))
    for a in range(context.shape[0]):
        context[a] *= scale
    return stream


@jit
def advance_linear(code, settings, coef, noise, keys, state, rows, span, records, paid, extra):
    """Do the same as :func:`advance` with contexts.

    ``paid[r, j]`` holds the losses and the regret against the best arm of each context;
    ``extra[r, j]`` the regret again and the sum of twice the confidence widths.
    """
    n, d = coef.shape
    context = np.empty(d)
    for r in range(rows[0], rows[1]):
        pulls, totals, work = state.pulls[r], state.totals[r], state.work[r]
        stream, key = state.stream[r : r + 1], keys[r]
        loss_sum, regret, width_sum = state.paid[r, 0], state.paid[r, 1], state.paid[r, 2]
        j = np.searchsorted(records, span[0] + 1)
        for t in range(span[0], span[1]):
            chance = context_of(key, t, context)
            arm, width = linear_select(code, settings, n, context, work, stream)
            chosen, least = 0.0, np.inf
            for i in range(n):
                mean = 0.0
                for a in range(d):
                    mean += coef[i, a] * context[a]
                least = min(least, mean)
                if i == arm:
                    chosen = mean
            loss = chosen + noise * _normal(chance)
            linear_update(arm, context, loss, pulls, totals, work)
            loss_sum += loss
            regret += chosen - least
            width_sum += width
            if t + 1 == records[j]:
                paid[r, j, 0], paid[r, j, 1] = loss_sum, regret
                extra[r, j, 0], extra[r, j, 1] = regret, width_sum
                j += 1
        state.paid[r, 0], state.paid[r, 1], state.paid[r, 2] = loss_sum, regret, width_sum
