"""Limits of a mean that hold at every time at once: one crossing in a whole stream is a failure."""

import math

import numpy as np

from corollary.certificates import anytime_certificate
from corollary.theory import betting_sequence, hoeffding_bound, stitched_boundary, stitched_sequence
from corollary.theory.concentration import confidence_sequence as module
from tests.guarantees.registry import guarantee

DELTA = 0.1


def coins(rng, n, p):
    return (rng.random(n) < p).astype(float)


def betting(draw, mean, **how):
    """Running limits only move inwards, so that the last one is the worst of all times."""

    def trial(rng):
        return betting_sequence(draw(rng), DELTA, sides=1, **how).upper[-1], mean

    return trial


def betting_from_below(rng):
    lower = betting_sequence(coins(rng, 300, 0.1), DELTA, sides=1).lower[-1]
    return 0.1, lower


def bets_that_look_ahead(rng):
    from corollary.theory._loops import lower_limits

    x = coins(rng, 300, 0.5)
    means, limits = module._candidates(x), np.empty(300)
    bets = np.where(x > 0, 0.5, 0.1)[None]
    lower_limits(x, bets, np.ones(1), means, 0.75 / means, 1 / DELTA, True, limits)
    return 0.5, limits[-1]


guarantee(
    "theory.betting-sequence",
    "a look after each of 300 fair coins",
    delta=DELTA,
    repetitions=200,
    verify=5000,
    faults={"bets that look ahead": bets_that_look_ahead},
)(betting(lambda rng: coins(rng, 300, 0.5), 0.5))
guarantee(
    "theory.betting-sequence",
    "a look after each of 300 Beta(0.3, 1.2) losses",
    delta=DELTA,
    repetitions=200,
    verify=5000,
)(betting(lambda rng: rng.beta(0.3, 1.2, 300), 0.2))
guarantee(
    "theory.betting-sequence",
    "lower limits, 300 coins of 0.1",
    delta=DELTA,
    repetitions=150,
    verify=5000,
)(betting_from_below)
guarantee(
    "theory.betting-sequence",
    "a look after each of 5,000 coins of 0.03",
    delta=DELTA,
    repetitions=8,
    verify=500,
)(betting(lambda rng: coins(rng, 5000, 0.03), 0.03))
guarantee(
    "theory.betting-sequence",
    "sharpest at 50 of 300 coins of 0.2",
    delta=DELTA,
    repetitions=200,
    verify=5000,
)(betting(lambda rng: coins(rng, 300, 0.2), 0.2, horizon=50))


def stitched(kind, draw, mean):
    def trial(rng):
        return stitched_sequence(draw(rng), DELTA, kind=kind, sides=1).upper[-1], mean

    return trial


def forgotten_stitching(rng):
    """Every line at the full level, as if it were the only one."""
    x = coins(rng, 20_000, 0.5)
    times = np.arange(1, 20_001)
    rates = np.sqrt(2 * math.log(1 / DELTA) / (0.25 * 2.0 ** (np.arange(17) - 0.5)))
    limits = [np.cumsum(x) / times + math.log(1 / DELTA) / (r * times) + r / 8 for r in rates]
    return np.min(limits), 0.5


# The inequality that is valid at one time, at all of them.
RADII = hoeffding_bound(n_samples=1, delta=DELTA) / np.sqrt(np.arange(1, 20_001))


def hoeffding_at_each_time(rng):
    x = coins(rng, 20_000, 0.5)
    return np.min(np.cumsum(x) / np.arange(1, 20_001) + RADII), 0.5


guarantee(
    "theory.stitched-sequence",
    "sub-Gaussian, a look after each of 20,000 fair coins",
    delta=DELTA,
    repetitions=250,
    verify=3000,
    faults={
        "a level for each line": forgotten_stitching,
        "Hoeffding at each time": hoeffding_at_each_time,
    },
)(stitched("sub-gaussian", lambda rng: coins(rng, 20_000, 0.5), 0.5))
guarantee(
    "theory.stitched-sequence",
    "Bernoulli, a look after each of 2,000 coins of 0.05",
    delta=DELTA,
)(stitched("bernoulli", lambda rng: coins(rng, 2000, 0.05), 0.05))


def frozen_variance(rng):
    """A variance taken from the first ten observations."""
    x = coins(rng, 2000, 0.05)
    times = np.arange(1, 2001)
    boundary = stitched_boundary(times * x[:10].var(), DELTA, scale=0.1)
    return np.min(np.cumsum(x) / times + boundary / times), 0.05


guarantee(
    "theory.stitched-sequence",
    "empirical Bernstein, a look after each of 2,000 rare ones",
    delta=DELTA,
    faults={"the variance of ten rows": frozen_variance},
)(stitched("empirical-bernstein", lambda rng: coins(rng, 2000, 0.05), 0.05))


def drifting(rng, n=600):
    """The mean is high for a while and low then; how long depends on what was seen."""
    x, means, mean = np.empty(n), np.empty(n), 0.5
    draws = rng.random(n)
    for t in range(n):
        if t > 100 and x[:t].mean() > 0.45:
            mean = 0.02
        elif t > 100:
            mean = 0.6
        means[t], x[t] = mean, draws[t] < mean
    return x, np.cumsum(means) / np.arange(1, n + 1)


def worst(upper, truth):
    at = int(np.argmin(upper - truth))
    return upper[at], truth[at]


def drift(kind):
    def trial(rng):
        x, truth = drifting(rng)
        return worst(stitched_sequence(x, DELTA, kind=kind, sides=1, running=False).upper, truth)

    return trial


def intersected_though_drifting(rng):
    x = np.concatenate([coins(rng, 300, 0.02), coins(rng, 300, 0.9)])
    truth = np.repeat([0.02, 0.9], 300).cumsum() / np.arange(1, 601)
    return worst(stitched_sequence(x, DELTA, sides=1).upper, truth)


for kind in ("bernoulli", "empirical-bernstein", "sub-gaussian"):
    guarantee(
        "theory.stitched-sequence",
        f"{kind}, means that depend on the past",
        delta=DELTA,
        repetitions=100,
        verify=5000,
        faults={"running limits": intersected_though_drifting} if kind == "bernoulli" else None,
    )(drift(kind))


def stopped_when_it_looks_good(method):
    """Someone adds rows by the hundred and keeps the certificate they like best."""

    def trial(rng):
        errors = coins(rng, 400, 0.2)
        bounds = [
            anytime_certificate(errors[:n], method=method, confidence=1 - DELTA).bound
            for n in (50, 100, 200, 300, 400)
        ]
        return min(bounds), 0.2

    return trial


def stopped_exact_bound(rng):
    from corollary.theory import clopper_pearson_upper

    errors = coins(rng, 400, 0.2).cumsum().astype(int)
    return min(clopper_pearson_upper(int(errors[n - 1]), n, DELTA) for n in range(20, 401, 5)), 0.2


for method in ("betting", "stitched"):
    guarantee(
        f"theory.{method}-sequence",
        "the best of five certificates, 50 to 400 rows",
        delta=DELTA,
        repetitions=60 if method == "betting" else 200,
        verify=1500,
        faults={"the exact bound at every look": stopped_exact_bound},
    )(stopped_when_it_looks_good(method))
