"""How often classes are predicted wrongly, by the model and by guessing."""

from dataclasses import dataclass

import numpy as np

from corollary.reporting._records import Evidence, Verdict
from corollary.reporting.trust._pieces import Pieces, counted_pieces


@dataclass(frozen=True)
class ErrorRate:
    """The share of rows that are classified wrongly."""

    value: float  # mean over pieces of evidence
    low: float  # two-sided interval
    high: float
    upper: float  # one-sided bound
    wrong: int  # rows
    rows: int
    n: int  # pieces of evidence: units, or rows that are units themselves
    baseline: float  # what guessing achieves


@dataclass(frozen=True)
class Decisions:
    """Whether the classes that the model names are wrong less often than those of guessing."""

    model: int  # rows that the model calls wrongly
    guessing: int
    rows: int
    verdict: Verdict  # what the paired difference shows


def measure_error_rate(evidence: Evidence) -> ErrorRate:
    """Count wrong classes and bound their share."""
    rows, pieces = evidence.test, Pieces.of(evidence)
    wrong = rows.wrong
    return ErrorRate(
        pieces.mean(wrong),
        *pieces.share_interval(wrong, evidence.confidence),
        pieces.share_upper(wrong, evidence.confidence),
        int(wrong.sum()),
        len(wrong),
        pieces.n,
        pieces.mean(_missed_by_guessing(evidence)),
    )


def compare_decisions(evidence: Evidence) -> Decisions:
    """Compare the mistakes of model and guessing on the same rows."""
    from corollary.theory import compare_losses

    rows = evidence.test
    pieces = counted_pieces(rows)
    wrong, guess = rows.wrong, _missed_by_guessing(evidence)
    if rows.folds:  # the exact comparison asks for independent rows
        _, low, high, _ = pieces.mean_interval(1.0 * guess - wrong, evidence.confidence)
    else:
        paired = compare_losses(
            pieces.values(guess), pieces.values(wrong), confidence=evidence.confidence
        )
        low, high = paired.lower, paired.upper
    verdict: Verdict = "shown" if low > 0 else "worse" if high < 0 else "not shown"
    return Decisions(int(wrong.sum()), int(guess.sum()), len(wrong), verdict)


def _missed_by_guessing(evidence: Evidence) -> np.ndarray:
    return np.asarray(evidence.test.truth) != np.asarray(evidence.test.baseline)
