"""Thompson sampling: draw each arm's mean from its posterior, play the smallest."""

import math

import numpy as np

from corollary.core.draws import beta, gamma_spread, normal, uniform
from corollary.core.jit import jit, part

TINY = 1e-300
NOT_DRAWN = 2.0


@part
def choose_beta(rule, r, stream):
    """Draw each arm's mean from its beta posterior; return the arm of the smallest.

    Only draws below the smallest so far matter, and most arms are passed over by a coin. The last
    winner comes first, so that the smallest is small from the beginning.
    """
    last, n = rule.last[r], rule.a.shape[1]
    arm = min(max(np.int64(last[0]), 0), n - 1)
    first = arm
    x = _draw(rule, r, arm, stream)
    low, high = np.log(x), np.log1p(-x)
    for i in range(n):
        if i == first:
            continue
        value = _draw_below(rule, r, i, x, low, high, stream)
        if value == NOT_DRAWN:
            value = _draw(rule, r, i, stream)
        if value < x:
            arm, x = i, value
            low, high = np.log(x), np.log1p(-x)
    last[0] = arm
    return arm


@part
def _draw(rule, r, i, stream):
    """Draw an arm's mean."""
    return beta(rule.a[r, i], rule.b[r, i], rule.a_spread[r, i], rule.b_spread[r, i], stream)


@part
def _draw_below(rule, r, i, x, low, high, stream):
    """Draw an arm's mean if it is below x, else return 1; NOT_DRAWN where the shortcut fails.

    ``low`` and ``high`` are the logarithms of x and 1 - x.

    Left of its mode the density f of a beta law is log-concave, so below x it is at most
    f(x) exp(s (z - x)) with s the slope of log f at x: an exponential law of mass f(x) / s. A coin
    of that chance decides whether the arm is looked at further, which is seldom, and rejection
    makes the draw exact.
    """
    a, b = rule.a[r, i] - 1.0, rule.b[r, i] - 1.0
    slope = a / x - b / (1.0 - x)
    if not (slope > 0.0 and a >= 0.0 and b >= 0.0):
        return NOT_DRAWN
    density = np.exp(a * low + b * high - rule.log_constant[r, i])
    if not density < slope:
        return NOT_DRAWN
    if uniform(stream) * slope >= density:
        return 1.0
    value = x + np.log(1.0 - uniform(stream)) / slope
    if value <= TINY:
        return 1.0
    gap = a * (np.log(value) - low) + b * (np.log1p(-value) - high)
    rejected = np.log(1.0 - uniform(stream)) >= gap - slope * (value - x)
    return 1.0 if rejected else value


@part
def learn_beta(rule, r, arm, loss, stream):
    """Count a loss; one between 0 and 1 is a coin with that chance (Agrawal and Goyal, 2012)."""
    a, b = rule.a, rule.b
    success = loss
    if 0.0 < loss < 1.0:
        success = 1.0 if uniform(stream) < loss else 0.0
    a[r, arm] += success
    b[r, arm] += 1.0 - success
    _remember(rule, r, arm)


@part
def _remember(rule, r, arm):
    """Keep what belongs to the two parameters of an arm's beta law."""
    a, b = rule.a[r, arm], rule.b[r, arm]
    a_spread, b_spread, log_constant = rule.a_spread, rule.b_spread, rule.log_constant
    a_spread[r, arm], b_spread[r, arm] = gamma_spread(a), gamma_spread(b)
    log_constant[r, arm] = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


@jit(counted=False)
def remember_prior(rule):
    """Keep what belongs to the parameters of the first game's beta laws."""
    for arm in range(rule.a.shape[1]):
        _remember(rule, 0, arm)


@part
def choose_normal(rule, r, stream):
    """Draw each arm's mean from its normal posterior; return the arm of the smallest."""
    mean, spread = rule.mean[r], rule.spread[r]
    arm, least = 0, np.inf
    for i in range(mean.shape[0]):
        value = mean[i] + spread[i] * normal(stream)
        if value < least:
            arm, least = i, value
    return arm


@part
def learn_normal(rule, r, arm, pulls, total):
    """Update an arm's normal posterior from the number and the sum of its losses."""
    mean, spread = rule.mean, rule.spread
    precision = rule.prior_precision + pulls * rule.data_precision
    mean[r, arm] = (
        rule.prior_precision * rule.prior_mean + rule.data_precision * total
    ) / precision
    spread[r, arm] = 1.0 / np.sqrt(precision)
