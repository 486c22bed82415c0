"""The rows of one period, after the model was fixed, however they depend on each other.

In the order of time, a loss less what was to be expected of it given the past is a martingale
difference. So the mean of what was to be expected is bounded by the mean of what happened, under
any dependence, trend or drift. It is a statement about this period; no theorem speaks of the next.
"""

from collections.abc import Iterator
from functools import partial
from typing import Literal

import numpy as np

from corollary.certificates.proofs._shared import (
    conclude,
    losses_in_range,
    observed_mean,
    repetitions_missing,
)
from corollary.certificates.register import Evidence, register_theorem
from corollary.core.certificate import Certificate, Population, Quantity
from corollary.theory import period_risk_bound

_Method = Literal["betting", "azuma"]


def _certificate(
    losses: np.ndarray,
    quantity: Quantity,
    population: Population,
    method: _Method,
    confidence: float,
) -> Certificate:
    """Certify the mean conditional risk of the period."""
    high, n = quantity.high, len(losses)
    mean = float(np.clip(losses.mean(), quantity.low, high))

    def bound_of(rows: int) -> float:
        repeated = np.resize(losses, rows)  # as if the rows came again
        return period_risk_bound(
            repeated, 1 - confidence, low=quantity.low, high=high, method=method
        )

    bound, missing = bound_of(n), 0.0
    if bound >= high:
        missing = repetitions_missing(n, lambda rows: bound_of(rows) < high, mean < high)
    return conclude(
        f"theory.period-{method}",
        quantity,
        bound,
        empirical=mean,
        n_samples=n,
        confidence=confidence,
        observed=f"{observed_mean(quantity, mean)} over {population.count(n)}",
        rows_missing=missing,
        population=population,
        recompute=partial(_certificate, losses, quantity, population, method),
    )


def _prove(evidence: Evidence, method: _Method, confidence: float) -> Iterator[Certificate]:
    for losses, quantity in losses_in_range(evidence):
        ordered = losses[evidence.order]
        yield _certificate(ordered, quantity, evidence.population, method, confidence)


def _has_losses(evidence: Evidence) -> bool:
    return bool(losses_in_range(evidence))


@register_theorem(
    "theory.period-betting",
    needs="period",
    applies=_has_losses,
    title="Betting on a period",
    idea="bets against every candidate for the mean risk of the period",
)
def _prove_betting(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    yield from _prove(evidence, "betting", confidence)


@register_theorem(
    "theory.period-azuma",
    needs="period",
    applies=_has_losses,
    title="Hoeffding’s and Azuma’s inequality",
    idea="uses only the range of the losses",
)
def _prove_azuma(evidence: Evidence, confidence: float) -> Iterator[Certificate]:
    yield from _prove(evidence, "azuma", confidence)
