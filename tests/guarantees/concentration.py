"""Deviations of means, martingales and distribution functions."""

import math

import numpy as np

from corollary.theory import (
    azuma_bound,
    bernstein_bound,
    dkw_bound,
    kl_confidence_limit,
    mcdiarmid_bound,
    sub_gaussian_tail,
)
from tests.guarantees.registry import guarantee

DELTA = 0.1


def kl_limit(rng, n=12, p=0.05):
    return kl_confidence_limit(rng.binomial(n, p) / n, n_samples=n, delta=DELTA), p


def kl_limit_of_large_sample(rng):
    return kl_limit(rng, n=2000, p=0.3)


def half_the_entropy(rng):
    mean = rng.binomial(2000, 0.3) / 2000
    return kl_confidence_limit(mean, n_samples=8000, delta=DELTA), 0.3


guarantee("theory.chernoff-kl", "12 coins of 0.05", delta=DELTA)(kl_limit)
guarantee(
    "theory.chernoff-kl",
    "2,000 coins of 0.3",
    delta=DELTA,
    repetitions=2000,
    faults={"a sample counted four times": half_the_entropy},
)(kl_limit_of_large_sample)


def rare_ones(sharp):
    """Coins of 0.02 in steps of size one: their variance is known."""

    def trial(rng):
        mean = rng.binomial(400, 0.02) / 400
        radius = bernstein_bound(n_samples=400, variance=0.0196, delta=DELTA, sharp=sharp)
        return mean + radius, 0.02

    return trial


def scaled_steps(rng):
    """Losses between 0 and 10: the largest deviation is no longer one."""
    mean = 10 * rng.binomial(400, 0.02) / 400
    return mean + bernstein_bound(n_samples=400, variance=1.96, delta=DELTA, largest=10), 0.2


def variance_of_a_mean(rng):
    mean = 10 * rng.binomial(400, 0.02) / 400
    return mean + bernstein_bound(n_samples=400, variance=1.96 / 400, delta=DELTA), 0.2


def lower_tail(rng):
    mean = rng.binomial(400, 0.02) / 400
    return bernstein_bound(n_samples=400, variance=0.0196, delta=DELTA), mean - 0.02


guarantee("theory.bennett", "400 coins of 0.02", delta=DELTA)(rare_ones(True))
guarantee("theory.bernstein", "400 coins of 0.02", delta=DELTA)(rare_ones(False))
guarantee("theory.bennett", "the other tail of 400 coins of 0.02", delta=DELTA)(lower_tail)
guarantee(
    "theory.bennett",
    "400 losses of 0 or 10",
    delta=DELTA,
    faults={"the variance of the mean": variance_of_a_mean},
)(scaled_steps)


@guarantee("theory.sub-gaussian-tails", "a sum of 20 uniform signs and a normal", delta=DELTA)
def sub_gaussian(rng):
    value = rng.choice([-1.0, 1.0], 20).sum() + rng.normal()
    return sub_gaussian_tail(sigma=math.sqrt(21), delta=DELTA), value


@guarantee("theory.azuma", "60 steps whose size depends on the past", delta=DELTA)
def azuma(rng):
    x = 0.0
    for sign in rng.choice([-1.0, 1.0], 60):
        x += sign * (1.0 if x > -2 else 0.3)
    return azuma_bound(np.ones(60), delta=DELTA), x


def distinct_values(rng):
    """Number of different values among 40 draws from 40: one draw changes it by at most one."""
    mean = 40 * (1 - (39 / 40) ** 40)
    seen = len(np.unique(rng.integers(0, 40, 40)))
    return mcdiarmid_bound(np.ones(40), delta=DELTA), seen - mean


guarantee("theory.mcdiarmid", "distinct values of 40 draws", delta=DELTA)(distinct_values)


def kolmogorov(rng, n=25):
    x = np.sort(rng.random(n))
    steps = np.arange(n + 1) / n
    return dkw_bound(n_samples=n, delta=DELTA), max((steps[1:] - x).max(), (x - steps[:-1]).max())


def one_side_for_two(rng):
    return dkw_bound(n_samples=400, delta=DELTA, sides=1) * 0.9, kolmogorov(rng, 400)[1]


# The band of a single observation is wider than 1, which no distance is.
guarantee("theory.dkw", "two observations", delta=DELTA)(lambda rng: kolmogorov(rng, 2))
guarantee(
    "theory.dkw",
    "25 uniform observations",
    delta=DELTA,
    repetitions=1000,
    faults={"one side for two, and a tenth off": one_side_for_two},
)(kolmogorov)
