"""Worlds in which a theorem is nearly an equality, so that half of what it charges is too little.

The failure probability is 1% here: far out in a tail, half of a radius is crossed many times as
often as the radius, and the simulation notices a factor of two in any constant.
"""

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from corollary import certify
from corollary.ensemble import majority_error_bound
from corollary.online import OnlineClassifier
from corollary.theory import (
    azuma_bound,
    bernstein_bound,
    clopper_pearson_upper,
    compression_bound,
    countable_class_radius,
    empirical_bernstein_radius,
    mcdiarmid_bound,
    occam_bound,
    pac_bayes_bound,
    pac_bayes_kl_bound,
    rademacher_complexity,
    realizable_bound,
    rectangle_bound,
    run_risk_bound,
    stability_bound,
    sub_gaussian_tail,
)
from tests.guarantees.registry import guarantee

DELTA = 0.01
COINS = 400

Draw = Callable[[np.random.Generator], tuple[float, float]]


def hard(theorem: str, world: str, *, repetitions: int = 2000) -> Callable[[Draw], Draw]:
    """Register a draw of (radius, deviation), and half of the radius as its fault."""

    def register(draw: Draw) -> Draw:
        def half(rng):
            radius, deviation = draw(rng)
            return radius / 2, deviation

        return guarantee(
            theorem,
            world,
            delta=DELTA,
            repetitions=repetitions,
            faults={"half of the radius": half},
        )(draw)

    return register


def coins(rng, n=COINS, p=0.5):
    """Return the share of ones among n coins."""
    return rng.binomial(n, p) / n


@hard("theory.azuma", "a walk of 400 fair signs")
def walk(rng):
    return azuma_bound(np.ones(COINS), delta=DELTA), COINS * (2 * coins(rng) - 1)


@hard("theory.mcdiarmid", "the sum of 400 fair signs")
def sum_of_signs(rng):
    return mcdiarmid_bound(np.full(COINS, 2.0), delta=DELTA), COINS * (2 * coins(rng) - 1)


@hard("theory.sub-gaussian-tails", "a normal variable of scale 3")
def normal(rng):
    return sub_gaussian_tail(sigma=3.0, delta=DELTA), 3 * rng.normal()


@hard("theory.bennett", "400 fair coins")
def bennett(rng):
    radius = bernstein_bound(n_samples=COINS, variance=0.25, largest=0.5, delta=DELTA)
    return radius, 0.5 - coins(rng)


@hard("theory.bernstein", "400 fair coins")
def bernstein(rng):
    how = {"n_samples": COINS, "variance": 0.25, "largest": 0.5, "delta": DELTA}
    return bernstein_bound(**how, sharp=False), 0.5 - coins(rng)


@hard("theory.empirical-bernstein", "10,000 fair coins")
def empirical_bernstein(rng):
    losses = (rng.random(10_000) < 0.5).astype(float)
    return empirical_bernstein_radius(losses, DELTA), 0.5 - losses.mean()


@hard("theory.clopper-pearson", "400 coins of 0.3")
def clopper_pearson(rng):
    errors = int(rng.binomial(COINS, 0.3))
    return clopper_pearson_upper(errors, COINS, DELTA) - errors / COINS, 0.3 - errors / COINS


@hard("theory.countable-class", "the first of a list")
def first_of_a_list(rng):
    return countable_class_radius(index=1, n_samples=COINS, delta=DELTA), 0.5 - coins(rng)


@hard("theory.compression-bound", "the worst of all models of 5 bits")
def five_bits(rng):
    radius = occam_bound(length=5, longest=5, n_samples=COINS, delta=DELTA)
    return radius, 0.5 - rng.binomial(COINS, 0.5, size=32).min() / COINS


@hard("theory.pac-bayes", "one hypothesis, 400 fair coins")
def one_hypothesis(rng):
    mean = coins(rng)
    best = math.sqrt(8 * COINS * math.log(1 / DELTA))
    bound = pac_bayes_bound(mean, divergence=0.0, n_samples=COINS, delta=DELTA, temperature=best)
    return bound - mean, 0.5 - mean


@hard("theory.pac-bayes-kl", "one hypothesis, 20 fair coins", repetitions=4000)
def one_hypothesis_kl(rng):
    mean = coins(rng, 20)
    return kl_bound(mean) - mean, 0.5 - mean


@cache
def kl_bound(mean: float) -> float:
    return pac_bayes_kl_bound(mean, divergence=0.0, n_samples=20, delta=DELTA)


@hard("theory.online-to-batch", "a learner that never learns, 400 fair coins")
def never_learns(rng):
    losses = (rng.random(COINS) < 0.5).astype(float)
    return run_risk_bound(losses, DELTA) - losses.mean(), 0.5 - losses.mean()


@hard("theory.rectangle-bound", "50 rows in an interval", repetitions=4000)
def interval(rng):
    x = rng.random(50)
    return rectangle_bound(n_samples=50, delta=DELTA, n_features=1), 1 - (x.max() - x.min())


@hard("theory.finite-class-realizable", "1,000 hypotheses of one error rate, 30 rows")
def one_rate(rng):
    bound = realizable_bound(n_hypotheses=1000, n_samples=30, delta=DELTA)
    # The worst rate for half of the bound: a hypothesis without errors is still likely.
    rate = 0.55 * bound
    survives = rng.random() < -np.expm1(1000 * np.log1p(-((1 - rate) ** 30)))
    return bound, rate if survives else 0.0


@hard("theory.perceptron-compression", "50 models of one row each, of one error rate")
def one_row_each(rng):
    bound = compression_bound(50, 1, DELTA)
    rate = 0.55 * bound
    survives = rng.random() < -np.expm1(50 * np.log1p(-((1 - rate) ** 49)))
    return bound, rate if survives else 0.0


@hard("theory.stability-probability", "a memory of 400 coins, worth 0.02 rows")
def memory(rng):
    """Remembered rows are cheaper by epsilon; the rest of the loss is a coin."""
    epsilon = 0.02 / COINS
    gap = epsilon + (1 - epsilon) * (0.5 - coins(rng))
    return stability_bound(epsilon, n_samples=COINS, delta=DELTA), gap


@hard("theory.stability-probability", "400 coins, some remembered better than others")
def memory_of_unequal_rows(rng):
    """Row i costs less by a share epsilon_i, as it is remembered; fresh rows cost their coin."""
    epsilon = np.linspace(0, 0.04, COINS) / COINS
    gap = 0.5 - np.mean((1 - epsilon) * (rng.random(COINS) < 0.5))
    return stability_bound(epsilon, n_samples=COINS, delta=DELTA), float(gap)


def remembered(rng, factor=1.0):
    """A row costs epsilon unless it is in the memory; one row changes that by epsilon."""
    epsilon, rows = 0.25, rng.random(20)
    risk = epsilon * np.mean(~np.isin(rng.random(100), rows))
    training = epsilon * np.mean(~np.isin(rows, rows))
    return factor * epsilon, float(risk - training)


guarantee(
    "theory.stability-expectation",
    "a memory of 20 rows",
    delta=None,
    faults={"half of the stability": lambda rng: remembered(rng, 0.5)},
)(remembered)


def every_function(rng, factor=2.0):
    """All functions to 0 and 1 of a continuous variable: one is 0 on the rows and 1 elsewhere."""
    n = int(rng.integers(1, 7))
    table = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    return factor * rademacher_complexity(table.astype(float)).value, 1.0


guarantee(
    "theory.symmetrisation",
    "all functions to 0 and 1",
    delta=None,
    faults={"one for two": lambda rng: every_function(rng, 1.0)},
)(every_function)


def elections(rng, exponent=1.0):
    wrong = rng.binomial(201, 0.4, size=1000) > 100
    return majority_error_bound(201, 0.1, form="hoeffding") ** exponent, float(wrong.mean())


guarantee(
    "ensemble.crowd",
    "1,000 elections of 201 voters, each right in 60%",
    delta=None,
    faults={"twice the exponent": lambda rng: elections(rng, 2.0)},
)(elections)


def short_rows(rng, factor=1.0):
    """Three in ten rows are nearly zero and on the wrong side: hinge loss and error are one."""
    n = 1000
    short = rng.random(n) < 0.3
    X = np.column_stack([np.where(short, 1e-3, 1.0), np.zeros(n)])
    y = np.where(short, -1, 1)
    model = OnlineClassifier(
        loss="hinge", step="sqrt", eta=1.0, radius=2.0, averaging=True, fit_intercept=False
    ).partial_fit(X, y, classes=[-1, 1])
    found = certify(model, X, y, seen=True, confidence=0.9)
    (one,) = [c for c in found if c.theorem == "theory.online-to-batch-average"]
    return factor * one.bound, 0.3 if model.coef_[0, 0] > 0 else 0.7


guarantee(
    "theory.online-to-batch-average",
    "three in ten rows nearly zero, 1,000 rows, certified",
    delta=0.1,
    repetitions=40,
    verify=1500,
    faults={"half of the bound": lambda rng: short_rows(rng, 0.5)},
)(short_rows)
