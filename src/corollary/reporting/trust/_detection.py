"""Which error on new rows would be told from the present one."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from corollary.reporting._records import Evidence
from corollary.validation import share_upper

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
    """Compute which error on m new rows would be told from the present one."""
    truth, prediction = np.asarray(evidence.test.truth), np.asarray(evidence.test.prediction)
    n = len(truth)
    if evidence.task == "classification":
        return _share(int((truth != prediction).sum()), n, evidence.confidence)
    errors = np.abs(truth - prediction)
    if evidence.loss.of_logarithm:
        # A few rows decide every average: count the rows that are far off instead.
        far = float(np.quantile(errors, FAR))
        return _share(int((errors > far).sum()), n, evidence.confidence, far)
    mean = float(errors.mean())
    spread = float(errors.std(ddof=1)) if n > 1 else math.nan
    reach = float(special.ndtri(1 - ALARM) + special.ndtri(POWER))
    values = [mean + reach * spread * math.sqrt(1 / m + 1 / n) for m in SIZES]
    smallest = tuple((m, v if math.isfinite(v) else None) for m, v in zip(SIZES, values))
    return Detection("average error", mean, None, None, smallest)


def _share(k: int, n: int, confidence: float, far: float | None = None) -> Detection:
    """Tell which share of m new rows would be told from k of n."""
    from scipy.stats import binom

    limit = share_upper(k, n, confidence)
    smallest = []
    for m in SIZES:
        # More hits than `allowed` have probability ALARM at most while the bound is true.
        allowed = int(binom.ppf(1 - ALARM, m, limit)) if limit < 1 else m
        value = float(special.betaincinv(allowed + 1, m - allowed, POWER)) if allowed < m else None
        smallest.append((m, value))
    kind: Literal["error rate", "far rows"] = "error rate" if far is None else "far rows"
    return Detection(kind, k / n, limit, far, tuple(smallest))
