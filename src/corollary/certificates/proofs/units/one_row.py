"""What one random row of each owner proves, as if the other rows were not there.

The rows that are drawn are independent, and each is distributed like a row drawn from a new owner.
So the exact bounds for independent rows apply to them: the binomial one to shares of rows, order
statistics to quantiles of the absolute error. The seed of the draw is fixed, so that nobody draws
until the outcome is liked.
"""

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from corollary.certificates.proofs._shared import conclude, losses_in_range
from corollary.certificates.register import Evidence, register_theorem
from corollary.core.certificate import Certificate, Population, Quantity
from corollary.theory import (
    clopper_pearson_upper,
    one_row_per_unit,
    quantile_rows_needed,
    quantile_upper_bound,
)

_SEED = 0
_QUANTILE_LEVELS = (0.5, 0.9, 0.95)


def _shares(evidence: Evidence) -> list[tuple[np.ndarray, Quantity]]:
    return [(losses, what) for losses, what in losses_in_range(evidence) if what.kind == "share"]


def _drawn(population: Population, n_rows: int) -> str:
    """Say where the rows come from."""
    return f"one row of each {population.piece}, drawn from {n_rows:,} with seed {_SEED}"


def _share_certificate(
    errors: int, n: int, n_rows: int, quantity: Quantity, population: Population, confidence: float
) -> Certificate:
    """Certify a share of rows by the errors among one row of each owner."""
    bound = clopper_pearson_upper(errors, n, 1 - confidence)
    return conclude(
        "theory.unit-one-row",
        quantity,
        bound,
        empirical=errors / n,
        n_samples=n,
        confidence=confidence,
        observed=f"{errors} of {n} rows, {_drawn(population, n_rows)}",
        rows_missing=math.inf if bound >= 1 else 0,
        population=population,
        recompute=partial(_share_certificate, errors, n, n_rows, quantity, population),
    )


@register_theorem(
    "theory.unit-one-row",
    needs="units",
    applies=lambda evidence: bool(_shares(evidence)),
    title="One row of each owner",
    idea="counts the errors among one random row of each owner",
)
def _prove_share(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    assert evidence.groups is not None
    rows = one_row_per_unit(evidence.groups, random_state=_SEED)
    for losses, quantity in _shares(evidence):
        yield _share_certificate(
            int(losses[rows].sum()),
            len(rows),
            len(losses),
            quantity,
            evidence.population,
            confidence,
        )


def _quantile_certificate(
    errors: np.ndarray, n_rows: int, level: float, population: Population, confidence: float
) -> Certificate:
    """Certify a quantile of the absolute error by one row of each owner."""
    bound, n = quantile_upper_bound(errors, level, 1 - confidence), len(errors)
    few = math.isinf(bound)
    quantity = Quantity.error_quantile(level)
    empirical = float(np.quantile(errors, level, method="inverted_cdf"))
    observed = f"{quantity.observed(empirical, n)}, {_drawn(population, n_rows)}"
    return conclude(
        "theory.unit-error-quantile",
        quantity,
        bound,
        empirical=empirical,
        n_samples=n,
        confidence=confidence,
        observed=observed,
        rows_missing=quantile_rows_needed(level, 1 - confidence) - n if few else 0,
        population=population,
        recompute=partial(_quantile_certificate, errors, n_rows, level, population),
    )


@register_theorem(
    "theory.unit-error-quantile",
    needs="units",
    applies=lambda evidence: evidence.errors is not None,
    title="Order statistics of one row of each owner",
    idea="counts the smaller errors among one random row of each owner",
)
def _prove_quantiles(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    assert evidence.errors is not None
    assert evidence.groups is not None
    drawn = evidence.errors[one_row_per_unit(evidence.groups, random_state=_SEED)]
    for level in _QUANTILE_LEVELS:
        yield _quantile_certificate(
            drawn, len(evidence.errors), level, evidence.population, confidence
        )
