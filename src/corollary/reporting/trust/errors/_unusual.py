"""Whether the model errs more on rows that are unlike the others."""

from dataclasses import dataclass

import numpy as np

from corollary.reporting._records import Evidence
from corollary.reporting.trust._pieces import Pieces, counted_units
from corollary.reporting.trust.errors._weak_groups import row_tests


@dataclass(frozen=True)
class UnusualErrors:
    """The errors of the test rows that are called, beside those of the others."""

    rows: int  # test rows that are called
    n: int  # pieces of evidence among them
    value: float  # share wrong, or mean error
    low: float | None  # ends of its interval; None where a single piece has none
    high: float | None
    elsewhere: float
    p_value: float  # one-sided, that it is more
    shown: bool


def compare_unusual(evidence: Evidence) -> UnusualErrors | None:
    """Test the errors of called test rows against those of the others; None if none is called."""
    found = evidence.unusual
    inside = None if found is None else found.called
    if inside is None or not inside.any() or inside.all():
        return None
    regression, rows = evidence.task == "regression", evidence.test
    errors = np.asarray(rows.errors if regression else rows.wrong, dtype=float)
    pieces = Pieces.of(evidence)
    mine, others = pieces.take(inside), pieces.take(~inside)
    low: float | None = None
    high: float | None = None
    if not regression:
        low, high = mine.share_interval(errors[inside] > 0, evidence.confidence)
    elif mine.n > 1:
        interval = mine.mean_interval(errors[inside], evidence.confidence)
        low, high = max(interval.low, 0.0), interval.high
    p_value = _test(errors, inside, counted_units(rows), regression)
    return UnusualErrors(
        int(inside.sum()),
        mine.n,
        mine.mean(errors[inside]),
        low,
        high,
        others.mean(errors[~inside]),
        p_value,
        bool(p_value <= 1 - evidence.confidence),
    )


def _test(
    errors: np.ndarray, inside: np.ndarray, units: np.ndarray | None, regression: bool
) -> float:
    """Compare rows by Fisher's test, sizes of errors and means of units by ranks."""
    from scipy.stats import mannwhitneyu

    if units is None and not regression:
        return float(row_tests(inside[None], errors, regression=False)[0])
    sides = (
        Pieces(int(side.sum()), None if units is None else units[side]).values(errors[side])
        for side in (inside, ~inside)
    )
    return float(mannwhitneyu(*sides, alternative="greater").pvalue)
