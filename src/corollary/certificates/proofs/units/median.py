"""The median owner: half of new owners have a median error of at most this.

Each owner has a median of its own errors; these medians are independent draws, and an order
statistic of them bounds their median. It uses all rows, needs no bounded loss and is exact.
"""

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from corollary.certificates.proofs._shared import conclude
from corollary.certificates.register import Evidence, register_theorem
from corollary.core.certificate import Certificate, Population, Quantity
from corollary.theory import quantile_rows_needed, quantile_upper_bound, unit_medians


def _certificate(
    medians: np.ndarray, n_rows: int, population: Population, confidence: float
) -> Certificate:
    """Certify the median of the owners' medians."""
    bound, n = quantile_upper_bound(medians, 0.5, 1 - confidence), len(medians)
    middle = float(np.quantile(medians, 0.5, method="inverted_cdf"))
    return conclude(
        "theory.unit-median",
        Quantity.median_of_units(),
        bound,
        empirical=middle,
        n_samples=n,
        confidence=confidence,
        observed=f"a median of {middle:.4g} over {population.count(n)} with {n_rows:,} rows",
        rows_missing=quantile_rows_needed(0.5, 1 - confidence) - n if math.isinf(bound) else 0,
        population=population,
        recompute=partial(_certificate, medians, n_rows, population),
    )


@register_theorem(
    "theory.unit-median",
    needs="units",
    applies=lambda evidence: evidence.errors is not None,
    title="The median owner",
    idea="orders owners by their median error",
)
def _prove(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    assert evidence.errors is not None
    medians = unit_medians(evidence.errors, evidence.groups)
    yield _certificate(medians, len(evidence.errors), evidence.population, confidence)
