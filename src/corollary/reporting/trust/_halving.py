"""How many rows would halve the gap between a bound and what was observed."""

import math
from typing import Any


def rows_to_halve(certificate: Any) -> int | None:
    """Count the rows: exactly for error rates, four times as many in general; None if vacuous."""
    from corollary.theory import rows_needed

    gap = abs(certificate.bound - certificate.empirical)
    if certificate.vacuous or not math.isfinite(gap):
        return None
    if certificate.theorem == "theory.clopper-pearson" and gap > 0:
        target = certificate.empirical + gap / 2
        rows = rows_needed(target, certificate.empirical, delta=1 - certificate.confidence)
        if math.isfinite(rows):
            return int(rows)
    return 4 * int(certificate.n_samples)
