"""Rows of owners, and rows of a period: what holds when rows are not independent."""

import math

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from corollary import certify
from corollary.datasets import Owners, RisingRisk
from corollary.theory import (
    betting_mean_bound,
    clopper_pearson_upper,
    one_row_per_unit,
    period_risk_bound,
    quantile_upper_bound,
    unit_means,
    unit_medians,
)
from tests.guarantees.registry import guarantee

DELTA = 0.1
SHORT = {"repetitions": 200, "verify": 5000}


class Sign(ClassifierMixin, BaseEstimator):
    """Predicts the sign of x, whatever was learnt."""

    classes_ = np.array([-1, 1])

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        return np.where(np.asarray(X)[:, 0] >= 0, 1, -1)


def seed_of(rng):
    return int(rng.integers(2**31))


def owned(rng, world, n, outer=False):
    """Draw owners and return losses of the sign, the owners (or what these belong to)."""
    rows = world.draw(n, random_state=seed_of(rng))
    wrong = (world.bayes_rule(rows.X) != rows.y).astype(float)
    return wrong, rows.clusters if outer else rows.groups


def betting(world, n, outer=False):
    def trial(rng):
        return betting_mean_bound(unit_means(*owned(rng, world, n, outer)), DELTA), world.bayes_risk

    return trial


def one_row(world, n, outer=False):
    def trial(rng):
        losses, groups = owned(rng, world, n, outer)
        drawn = losses[one_row_per_unit(groups, random_state=seed_of(rng))]
        bound = clopper_pearson_upper(int(drawn.sum()), len(drawn), DELTA)
        return bound, world.bayes_risk

    return trial


SIZES = {
    "6 rows each": Owners(),
    "1 to 200 rows": Owners(sizes="unequal", n_rows=200),
    "larger are worse": Owners(sizes="larger worse", n_rows=200),
}
# Owners who are right or wrong throughout, 50 rows each, show what a lost owner does.
EXTREME = Owners(spread=0.5, n_rows=50)
NESTED = Owners(spread=0.5, sizes="unequal", n_rows=30, per_cluster=10)


def rows_for_owners(rng):
    losses, _ = owned(rng, EXTREME, 20)
    return betting_mean_bound(losses, DELTA), EXTREME.bayes_risk


def rows_for_owners_binomial(rng):
    losses, _ = owned(rng, EXTREME, 20)
    return clopper_pearson_upper(int(losses.sum()), len(losses), DELTA), EXTREME.bayes_risk


def inner_for_outer(rng):
    """Patients counted where clinics are independent."""
    losses, groups = owned(rng, NESTED, 200)
    return betting_mean_bound(unit_means(losses, groups), DELTA), NESTED.bayes_risk


def inner_row_for_outer(rng):
    losses, groups = owned(rng, NESTED, 200)
    drawn = losses[one_row_per_unit(groups, random_state=seed_of(rng))]
    return clopper_pearson_upper(int(drawn.sum()), len(drawn), DELTA), NESTED.bayes_risk


def mean_over_rows(rng):
    """Large owners are the easier ones if being right counts as the loss."""
    world = SIZES["larger are worse"]
    losses, groups = owned(rng, world, 40)
    means, sizes = unit_means(1 - losses, groups), np.bincount(groups)
    shifted = betting_mean_bound(means, DELTA) - means.mean()
    return np.average(means, weights=sizes) + shifted, 1 - world.bayes_risk


def no_delta(rng):
    losses, groups = owned(rng, SIZES["6 rows each"], 40)
    return unit_means(losses, groups).mean(), SIZES["6 rows each"].bayes_risk


def best_of_ten_draws(rng):
    world = SIZES["6 rows each"]
    losses, groups = owned(rng, world, 40)
    fewest = min(int(losses[one_row_per_unit(groups, seed_of(rng))].sum()) for _ in range(10))
    return clopper_pearson_upper(fewest, 40, DELTA), world.bayes_risk


for prove, theorem in ((betting, "theory.unit-betting"), (one_row, "theory.unit-one-row")):
    for words, world in SIZES.items():
        for n in (2, 5, 10, 20, 40):
            guarantee(theorem, f"{n} owners, {words}", delta=DELTA, **SHORT)(prove(world, n))
    guarantee(theorem, "a single owner, 6 rows", delta=DELTA, **SHORT)(prove(Owners(), 1))

guarantee(
    "theory.unit-betting",
    "20 owners, right or wrong throughout",
    delta=DELTA,
    **SHORT,
    faults={
        "rows counted instead of owners": rows_for_owners,
        "a mean over rows": mean_over_rows,
        "delta not used": no_delta,
    },
)(betting(EXTREME, 20))
guarantee(
    "theory.unit-one-row",
    "20 owners, right or wrong throughout",
    delta=DELTA,
    **SHORT,
    faults={
        "rows counted instead of owners": rows_for_owners_binomial,
        "a seed chosen after looking": best_of_ten_draws,
    },
)(one_row(EXTREME, 20))
for n in (5, 10, 20, 40):
    guarantee(
        "theory.unit-betting",
        f"{n} clinics of 10 patients",
        delta=DELTA,
        verify=5000,
        faults={"patients counted instead of clinics": inner_for_outer} if n == 20 else None,
    )(betting(NESTED, 10 * n, outer=True))
    guarantee(
        "theory.unit-one-row",
        f"{n} clinics of 10 patients",
        delta=DELTA,
        **SHORT,
        faults={"patients counted instead of clinics": inner_row_for_outer} if n == 20 else None,
    )(one_row(NESTED, 10 * n, outer=True))


def certified(theorem, world, n):
    def trial(rng):
        rows = world.draw(n, random_state=seed_of(rng))
        found = certify(
            Sign(), rows.X, rows.y, groups=rows.groups, confidence=1 - DELTA, kept_aside=True
        )
        (one,) = [certificate for certificate in found if certificate.theorem == theorem]
        return one.bound, world.bayes_risk

    return trial


for theorem in ("theory.unit-betting", "theory.unit-one-row"):
    guarantee(
        theorem, "20 owners of 1 to 200 rows, certified", delta=DELTA, repetitions=80, verify=2000
    )(certified(theorem, SIZES["1 to 200 rows"], 20))


def normal_errors(rng, n, n_rows=50):
    """Errors of owners with a deviation of their own; half of them are below 0.754."""
    sizes = rng.integers(1, n_rows + 1, size=n)
    groups = np.repeat(np.arange(n), sizes)
    errors = rng.normal(size=n)[groups] + 0.5 * rng.normal(size=len(groups))
    return np.abs(errors), groups


def quantile_of_errors(level):
    from scipy.stats import norm

    return math.sqrt(1.25) * norm.ppf((1 + level) / 2)


def row_quantile(level, n):
    def trial(rng):
        errors, groups = normal_errors(rng, n)
        drawn = errors[one_row_per_unit(groups, random_state=seed_of(rng))]
        return quantile_upper_bound(drawn, level, DELTA), quantile_of_errors(level)

    return trial


def quantile_of_all_rows(rng):
    errors, _ = normal_errors(rng, 10)
    return quantile_upper_bound(errors, 0.5, DELTA), quantile_of_errors(0.5)


for level, n in ((0.5, 4), (0.5, 5), (0.5, 10), (0.9, 22), (0.9, 40), (0.95, 45)):
    guarantee(
        "theory.unit-error-quantile",
        f"{n} owners of 1 to 50 rows, {100 * level:g}%",
        delta=DELTA,
        **SHORT,
        faults={"rows counted instead of owners": quantile_of_all_rows} if n == 10 else None,
    )(row_quantile(level, n))


def skewed_owners(rng, n):
    """Owners whose median error has a heavy tail and median 1; easy ones have many rows."""
    scales = np.exp(2 * rng.normal(size=n))
    halves = np.minimum(99, (5 / scales).astype(int))
    groups = np.repeat(np.arange(n), 2 * halves + 1)
    steps = np.concatenate([np.linspace(-1, 1, 2 * half + 1) if half else [0] for half in halves])
    return scales[groups] * (1 + steps), groups


def median_owner(n):
    def trial(rng):
        return quantile_upper_bound(unit_medians(*skewed_owners(rng, n)), 0.5, DELTA), 1.0

    return trial


def median_row(rng):
    errors, _ = skewed_owners(rng, 20)
    return quantile_upper_bound(errors, 0.5, DELTA), 1.0


def median_without_delta(rng):
    return np.median(unit_medians(*skewed_owners(rng, 20))), 1.0


for n in (4, 5, 10, 20, 40):
    guarantee(
        "theory.unit-median",
        f"{n} owners of 1 to 199 rows, heavy tails",
        delta=DELTA,
        **SHORT,
        faults={
            "rows counted instead of owners": median_row,
            "delta not used": median_without_delta,
        }
        if n == 20
        else None,
    )(median_owner(n))


def period(method, n, world):
    def trial(rng):
        rows = world.draw(n, random_state=seed_of(rng))
        wrong = world.rule(rows.X) != rows.y
        return period_risk_bound(wrong, DELTA, method=method), rows.risks.mean()

    return trial


RISING, COINS = RisingRisk(), RisingRisk(start=0.5, rise=0.0, memory=0.0)


def half_the_radius(rng):
    rows = COINS.draw(200, random_state=seed_of(rng))
    mean = (COINS.rule(rows.X) != rows.y).mean()
    radius = period_risk_bound(np.zeros(200), DELTA, method="azuma")
    return mean + radius / 2, 0.5


def sold_for_the_next_period(method):
    def trial(rng):
        rows = RISING.draw(200, random_state=seed_of(rng))
        wrong = (RISING.rule(rows.X) != rows.y)[:100]
        return period_risk_bound(wrong, DELTA, method=method), rows.risks[100:].mean()

    return trial


def mean_of_the_period(rng):
    rows = RISING.draw(200, random_state=seed_of(rng))
    return (RISING.rule(rows.X) != rows.y).mean(), rows.risks.mean()


# One round is too short for Azuma's radius: the bound is 1 whatever happens.
for method, sizes in (("betting", (1, 2, 5, 50, 200)), ("azuma", (2, 5, 50, 200))):
    for n in sizes:
        guarantee(
            f"theory.period-{method}",
            f"rising risk in bursts, T = {n}",
            delta=DELTA,
            **SHORT,
            faults={
                "sold for the next period": sold_for_the_next_period(method),
                "delta not used": mean_of_the_period,
            }
            if n == 200
            else None,
        )(period(method, n, RISING))
    guarantee(
        f"theory.period-{method}",
        "200 fair coins",
        delta=DELTA,
        repetitions=3000 if method == "azuma" else 400,
        verify=5000,
        faults={"half the radius": half_the_radius} if method == "azuma" else None,
    )(period(method, 200, COINS))


@guarantee(
    "theory.period-betting",
    "50 rows in bursts, certified by shuffled dates",
    delta=DELTA,
    repetitions=80,
    verify=2000,
)
def certified_period(rng):
    rows = RISING.draw(50, random_state=seed_of(rng))
    mixed = rng.permutation(50)
    days = np.datetime64("2020-05-01") + rows.time[mixed]
    found = certify(
        Sign(), rows.X[mixed], rows.y[mixed], time=days, confidence=1 - DELTA, kept_aside=True
    )
    return found[0].bound, rows.risks.mean()
