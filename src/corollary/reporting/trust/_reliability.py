"""Whether stated probabilities agree with what happened on the test rows."""

from dataclasses import dataclass

import numpy as np

from corollary.reporting._records import Evidence
from corollary.reporting.trust._bins import equal_count_bins
from corollary.reporting.trust._pieces import Pieces

LEAST_ROWS = 20
MOST_BINS = 10


@dataclass(frozen=True)
class Bin:
    """Rows of nearly the same stated probability, and how often it came true.

    The interval holds for all bins together.
    """

    first: float
    last: float
    predicted: float  # means over pieces of evidence
    observed: float
    hits: int
    n: int  # rows
    low: float
    high: float

    @property
    def off(self) -> bool:
        """Whether the mean prediction lies outside the interval of what happened."""
        return not self.low <= self.predicted <= self.high


@dataclass(frozen=True, eq=False)
class Reliability:
    """Bins of equal count, ordered by stated probability."""

    positive: int | None  # the class whose probability is judged; None for the predicted one
    stated: np.ndarray
    bins: tuple[Bin, ...]
    counts: np.ndarray  # histogram of the stated probabilities
    edges: np.ndarray


def measure_reliability(evidence: Evidence) -> Reliability | None:
    """Compare predicted probabilities with observed shares in bins of equal count."""
    rows = evidence.test
    if rows.probability is None or len(rows.truth) == 0:
        return None
    probability, truth = np.asarray(rows.probability, dtype=float), np.asarray(rows.truth)
    positive = positive_class(evidence) if len(evidence.classes) == 2 else None
    if positive is not None:
        stated, hit = probability[:, positive], truth == positive
    else:
        stated = probability[np.arange(len(truth)), np.asarray(rows.prediction, dtype=int)]
        hit = truth == np.asarray(rows.prediction)
    order = np.argsort(stated, kind="stable")
    cuts = equal_count_bins(len(stated), MOST_BINS, LEAST_ROWS)
    joint = 1 - (1 - evidence.confidence) / len(cuts)
    pieces = Pieces.of(evidence)
    bins = []
    for inside in (order[cut] for cut in cuts):
        some = pieces.take(inside)
        ends = float(stated[inside[0]]), float(stated[inside[-1]])
        means = some.mean(stated[inside]), some.mean(hit[inside])
        interval = some.share_interval(hit[inside], joint)
        bins.append(Bin(*ends, *means, int(hit[inside].sum()), len(inside), *interval))
    return Reliability(positive, stated, tuple(bins), *np.histogram(stated, 20, (0.0, 1.0)))


def positive_class(evidence: Evidence) -> int:
    """Choose the class of two that pictures and thresholds are about."""
    named = next((e.of_class for e in evidence.effects if e.of_class), None)
    if named in evidence.classes:
        return evidence.classes.index(named)
    return int(np.sum(np.asarray(evidence.test.truth) == 1) * 2 <= len(evidence.test.truth))
