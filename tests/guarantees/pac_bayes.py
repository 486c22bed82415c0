"""PAC-Bayes bounds against the posterior that is worst for them."""

import math

import numpy as np
from scipy.special import logsumexp

from corollary.theory import (
    occam_bound,
    pac_bayes_bound,
    pac_bayes_kl_bound,
    pac_bayes_range_bound,
)
from tests.guarantees.registry import guarantee

DELTA, N, SIZE = 0.1, 25, 30
RISKS = np.linspace(0.1, 0.6, SIZE)
PRIOR = np.full(SIZE, 1 / SIZE)


def draw(rng):
    """Training risks of independent hypotheses."""
    return rng.binomial(N, RISKS) / N


def worst_posterior(empirical, temperature):
    """The posterior with the largest gap for its divergence: prior tilted by the gaps."""
    tilted = np.log(PRIOR) + temperature * (RISKS - empirical)
    law = np.exp(tilted - logsumexp(tilted))
    divergence = float(law @ (np.log(law) - np.log(PRIOR)))
    return law, max(0.0, divergence)


def catoni(rng, temperature=15.0, **change):
    empirical = draw(rng)
    law, divergence = worst_posterior(empirical, temperature)
    how = {"n_samples": N, "delta": DELTA, "temperature": temperature, **change}
    return pac_bayes_bound(float(law @ empirical), divergence=divergence, **how), float(law @ RISKS)


def forgotten_divergence(rng, temperature=15.0):
    empirical = draw(rng)
    law, _ = worst_posterior(empirical, temperature)
    return float(law @ empirical) + temperature / (8 * N), float(law @ RISKS)


guarantee(
    "theory.pac-bayes",
    "30 hypotheses, 25 rows, the worst posterior",
    delta=DELTA,
    faults={"a forgotten divergence": forgotten_divergence},
)(catoni)


@guarantee("theory.pac-bayes-lambda-range", "30 hypotheses, the worst of many", delta=DELTA)
def temperatures(rng):
    empirical, worst = draw(rng), (math.inf, 0.0)
    for temperature in (3.0, 10.0, 30.0):
        law, divergence = worst_posterior(empirical, temperature)
        bound = pac_bayes_range_bound(
            float(law @ empirical),
            divergence=divergence,
            n_samples=N,
            delta=DELTA,
            smallest=2.0,
            largest=60.0,
        ).bound
        truth = float(law @ RISKS)
        if bound - truth < worst[0] - worst[1]:
            worst = (bound, truth)
    return worst


@guarantee("theory.pac-bayes-kl", "30 hypotheses, the worst of many", delta=DELTA)
def seeger(rng):
    empirical, worst = draw(rng), (math.inf, 0.0)
    for temperature in (0.01, 3.0, 10.0, 30.0):
        law, divergence = worst_posterior(empirical, temperature)
        bound = pac_bayes_kl_bound(
            float(law @ empirical), divergence=divergence, n_samples=N, delta=DELTA
        )
        truth = float(law @ RISKS)
        if bound - truth < worst[0] - worst[1]:
            worst = (bound, truth)
    return worst


LENGTHS = np.repeat(np.arange(1, 9), 2 ** np.arange(1, 9))
GAPS = np.array(
    [occam_bound(length=int(k), longest=8, n_samples=20, delta=DELTA) for k in range(1, 9)]
)


@guarantee("theory.compression-bound", "all strings of up to 8 bits as coins", delta=DELTA)
def occam(rng):
    gap = 0.5 - rng.binomial(20, 0.5, size=len(LENGTHS)) / 20
    bound = GAPS[LENGTHS - 1]
    worst = int(np.argmax(gap - bound))
    return float(bound[worst]), float(gap[worst])
