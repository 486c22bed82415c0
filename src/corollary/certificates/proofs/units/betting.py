"""The mean loss of a row drawn from a new owner, by betting on the means of owners.

Losses of rows of one owner depend on each other, but the mean loss of one owner is independent of
that of another, and its expectation is the loss of a row drawn from a new owner. So the bound for
means of bounded observations applies to as many observations as there are owners, whatever the
numbers of their rows.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from corollary.certificates.proofs._shared import (
    conclude,
    losses_in_range,
    observed_mean,
    repetitions_missing,
)
from corollary.certificates.register import Evidence, register_theorem
from corollary.core.certificate import Certificate, Population, Quantity
from corollary.theory import betting_mean_bound, unit_means


def _certificate(
    means: np.ndarray, n_rows: int, quantity: Quantity, population: Population, confidence: float
) -> Certificate:
    """Certify the expectation of the owners' means."""
    high, mean, n = quantity.high, float(means.mean()), len(means)

    def bound_of(owners: int) -> float:
        repeated = np.resize(means, owners)  # as if more owners were like these
        return betting_mean_bound(repeated, 1 - confidence, low=quantity.low, high=high)

    bound, missing = bound_of(n), 0.0
    if bound >= high:
        missing = repetitions_missing(n, lambda owners: bound_of(owners) < high, mean < high)
    return conclude(
        "theory.unit-betting",
        quantity,
        bound,
        empirical=mean,
        n_samples=n,
        confidence=confidence,
        observed=f"{observed_mean(quantity, mean)} over {population.count(n)} with {n_rows:,} rows",
        rows_missing=missing,
        population=population,
        recompute=partial(_certificate, means, n_rows, quantity, population),
    )


@register_theorem(
    "theory.unit-betting",
    needs="units",
    applies=lambda evidence: bool(losses_in_range(evidence)),
    title="Betting on owners",
    idea="counts each owner once, by its mean",
)
def _prove(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    for losses, quantity in losses_in_range(evidence):
        means = unit_means(losses, evidence.groups)
        yield _certificate(means, len(losses), quantity, evidence.population, confidence)
