"""Which error on new rows would be told from the present one."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from corollary.reporting._records import Evidence
from corollary.reporting.trust._pieces import Pieces

SIZES = (30, 100, 300, 1000)
ALARM = 0.05
POWER = 0.8
#: Where a few rows decide every average, errors beyond this quantile are counted.
FAR = 0.9


@dataclass(frozen=True)
class Detection:
    """The smallest change that so many new rows would reveal."""

    kind: Literal["error rate", "far rows", "average error"]
    now: float
    limit: float | None  # upper bound on a share
    far: float | None  # what counts as far
    smallest: tuple[tuple[int, float | None], ...]  # new rows, and what they would reveal


def measure_detection(evidence: Evidence) -> Detection:
    """Compute which error on m new rows would be told from the present one.

    Each new row is of another unit, where rows come in units.
    """
    if evidence.task == "classification":
        return _share(evidence, evidence.test.wrong)
    errors, pieces = evidence.test.errors, Pieces.of(evidence)
    if evidence.loss.of_logarithm:
        # A few rows decide every average: count the rows that are far off instead.
        far = float(np.quantile(errors, FAR))
        return _share(evidence, errors > far, far)
    means = pieces.values(errors)
    mean, n = float(means.mean()), len(means)
    between = float(means.std(ddof=1)) if n > 1 else math.nan
    reach = float(special.ndtri(1 - ALARM) + special.ndtri(POWER))
    if pieces.units is None:
        values = [mean + reach * between * math.sqrt(1 / m + 1 / n) for m in SIZES]
    else:  # one row of a unit scatters more than the mean of its rows
        one = pieces.mean((errors - mean) ** 2)
        values = [mean + reach * math.sqrt(one / m + between**2 / n) for m in SIZES]
    smallest = tuple((m, v if math.isfinite(v) else None) for m, v in zip(SIZES, values))
    return Detection("average error", mean, None, None, smallest)


def _share(evidence: Evidence, hits: np.ndarray, far: float | None = None) -> Detection:
    """Tell which share of m new rows would be told from the present one."""
    from scipy.stats import binom

    pieces = Pieces.of(evidence)
    limit = pieces.share_upper(hits, evidence.confidence)
    smallest = []
    for m in SIZES:
        # More hits than `allowed` have probability ALARM at most while the bound is true.
        allowed = int(binom.ppf(1 - ALARM, m, limit)) if limit < 1 else m
        value = float(special.betaincinv(allowed + 1, m - allowed, POWER)) if allowed < m else None
        smallest.append((m, value))
    kind: Literal["error rate", "far rows"] = "error rate" if far is None else "far rows"
    return Detection(kind, pieces.mean(hits), limit, far, tuple(smallest))
