"""The test rows that were predicted worst, and how many digits tell them apart."""

from dataclasses import dataclass

import numpy as np

from corollary.reporting._records import Evidence
from corollary.reporting.trust._coverage import held_truth
from corollary.reporting.trust._nearest import worst_rows


@dataclass(frozen=True)
class WorstRows:
    """The worst test rows, as places among them."""

    order: tuple[int, ...]  # the worst first
    held: tuple[bool | None, ...]  # whether set or interval holds the truth
    spread: float  # of the target among the test rows (regression)
    typical: float  # median error of the worst rows (regression)


def measure_worst(evidence: Evidence) -> WorstRows:
    """Order the test rows by how wrong they were predicted."""
    order = worst_rows(evidence.test, evidence.task)
    inside = held_truth(evidence)
    held = tuple(None if inside is None else bool(inside[i]) for i in order)
    spread = typical = 0.0
    if evidence.task == "regression":
        truth = np.asarray(evidence.test.truth, dtype=float)
        spread = float(np.std(truth)) or float(np.abs(truth).max(initial=0.0))
        typical = float(np.median(evidence.test.errors[order])) if len(order) else 0.0
    return WorstRows(tuple(order.tolist()), held, spread, typical)
