"""EM never lowers the likelihood, and a restaurant has few tables."""

import numpy as np

from corollary.mixture import (
    chinese_restaurant,
    em_ascent_bound,
    expected_tables_bound,
    gaussian_m_step,
    latent_posterior,
)
from tests.guarantees.registry import guarantee
from tests.mixture.examples import random_law


def _one_step(rng, bound, step):
    """Return the mean density of rows after a step of EM, and what may not exceed it."""
    law = random_law(rng, k=int(rng.integers(1, 4)), d=int(rng.integers(1, 3)))
    X = law.sample(int(rng.integers(6, 31)), int(rng.integers(2**31)))[0]
    start = random_law(rng, k=len(law.weights), d=X.shape[1])
    old = start.log_joint(X)
    new = gaussian_m_step(X, step(latent_posterior(old)), floor=1e-3).log_joint(X)
    after = float(np.logaddexp.reduce(new, axis=1).sum())
    return np.exp(after / len(X)), np.exp(bound(old, new) / len(X))


@guarantee(
    "mixture.em-ascent",
    "the bound of one step of EM, 6 to 30 rows of mixtures",
    delta=0,
    verify=4_000,
    faults={
        "entropy lost": lambda rng: _one_step(
            rng,
            lambda old, new: float((latent_posterior(old) * new).max(axis=1).sum()),
            lambda r: r,
        )
    },
)
def ascent(rng):
    return _one_step(rng, em_ascent_bound, lambda r: r)


def _monotone(rng, step):
    return _one_step(rng, lambda old, new: float(np.logaddexp.reduce(old, axis=1).sum()), step)


@guarantee(
    "mixture.em-monotone",
    "one step of EM, 6 to 30 rows of mixtures",
    delta=0,
    verify=4_000,
    faults={"responsibilities of another row": lambda rng: _monotone(rng, lambda r: r[::-1])},
)
def monotone(rng):
    return _monotone(rng, lambda r: r)


def _tables(rng, bound):
    tables = chinese_restaurant(30, 2.0, int(rng.integers(2**31)))
    return bound(30, 2.0), float(tables.max() + 1)


@guarantee(
    "mixture.expected-tables",
    "30 guests, concentration 2",
    delta=None,
    faults={
        "the first guest is lost": lambda rng: _tables(
            rng, lambda n, a: expected_tables_bound(n, a) - 1
        )
    },
)
def tables(rng):
    return _tables(rng, expected_tables_bound)
