"""Uniform bounds over finite and countable classes, and rectangles."""

import numpy as np

from corollary.theory import (
    countable_class_radius,
    finite_class_bound,
    realizable_bound,
    rectangle_bound,
    tightest_rectangle,
)
from tests.guarantees.registry import guarantee

DELTA = 0.1


def largest_gap(rng, n=30, hypotheses=40):
    """Independent hypotheses, each wrong half of the time: the hardest class there is."""
    return float(np.max(0.5 - rng.binomial(n, 0.5, size=hypotheses) / n))


def finite(rng, n=30):
    return finite_class_bound(n_hypotheses=40, n_samples=n, delta=DELTA), largest_gap(rng, n)


def without_the_union(rng):
    return finite_class_bound(n_hypotheses=1, n_samples=30, delta=DELTA), largest_gap(rng)


def quarter_of_the_exponent(rng):
    return finite_class_bound(n_hypotheses=40, n_samples=120, delta=DELTA), largest_gap(rng)


# With fewer rows the radius exceeds 1, which no gap can.
guarantee("theory.finite-class", "40 independent coins, 4 rows", delta=DELTA)(
    lambda rng: finite(rng, 4)
)
guarantee(
    "theory.finite-class",
    "40 independent coins, 30 rows",
    delta=DELTA,
    faults={"no union": without_the_union, "half the radius": quarter_of_the_exponent},
)(finite)


@guarantee("theory.countable-class", "200 independent coins in a list", delta=DELTA)
def countable(rng, n=30):
    gaps = 0.5 - rng.binomial(n, 0.5, size=200) / n
    radii = RADII
    worst = int(np.argmax(gaps - radii))
    return float(radii[worst]), float(gaps[worst])


RADII = np.array(
    [countable_class_radius(index=k, n_samples=30, delta=DELTA) for k in range(1, 201)]
)


def worst_consistent(rng, n=20, hypotheses=50):
    """Hypothesis k errs on its own stretch of length k / 60; the worst one without an error."""
    rates = np.arange(hypotheses) / 60
    perfect = rng.random(hypotheses) < (1 - rates) ** n
    return float(np.max(rates[perfect | (rates == 0)]))


def realizable(rng):
    return realizable_bound(n_hypotheses=50, n_samples=20, delta=DELTA), worst_consistent(rng)


def half_the_rate(rng):
    return realizable_bound(n_hypotheses=50, n_samples=60, delta=DELTA), worst_consistent(rng)


guarantee(
    "theory.finite-class-realizable",
    "50 hypotheses of many error rates, 20 rows",
    delta=DELTA,
    faults={"a third of the rate": half_the_rate},
)(realizable)


def rectangle(rng, n=30, width=2):
    box = tightest_rectangle(rng.random((n, width)), np.ones(n))
    return (
        rectangle_bound(n_samples=n, delta=DELTA, n_features=width),
        1 - float(np.prod(box.upper - box.lower)),
    )


def one_strip(rng):
    return rectangle_bound(n_samples=30, delta=DELTA, n_features=1) / 2, rectangle(rng)[1]


guarantee("theory.rectangle-bound", "one row in the unit square", delta=DELTA)(
    lambda rng: rectangle(rng, 1)
)
guarantee(
    "theory.rectangle-bound",
    "30 rows in the unit square",
    delta=DELTA,
    faults={"one strip for four": one_strip},
)(rectangle)
