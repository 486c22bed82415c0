"""How often sets or intervals held the truth, in all and by class or band of predictions."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from corollary.reporting._records import Evidence
from corollary.reporting.trust._bins import equal_count_bins
from corollary.reporting.trust._pieces import Pieces
from corollary.reporting.trust._reliability import LEAST_ROWS, MOST_BINS

MOST_BANDS = 5


@dataclass(frozen=True, eq=False)
class CoverageCell:
    """One class or one band of predictions; the intervals of all cells hold together."""

    rows: np.ndarray
    hits: int
    share: float  # mean over pieces of evidence
    low: float
    high: float
    size: float  # mean size of sets, median width of intervals
    ends: tuple[float, float]  # of the predictions in a band
    label: int  # the class

    @property
    def n(self) -> int:
        """Rows of the cell."""
        return len(self.rows)


@dataclass(frozen=True, eq=False)
class Coverage:
    """How often sets or intervals held the truth."""

    held: np.ndarray
    hits: int  # rows that were held
    share: float  # mean over pieces of evidence
    low: float
    high: float
    n: int  # pieces of evidence: units, or rows that are units themselves
    cells: tuple[CoverageCell, ...]
    sizes: tuple[tuple[int, int], ...]  # classes in a set, and sets of that size
    median_width: float | None
    promised: float | None  # what the calibration rows prove of rows drawn alike


def held_truth(evidence: Evidence) -> np.ndarray | None:
    """Mark the test rows whose truth lies in their set or interval."""
    rows = evidence.test
    if rows.sets is not None:
        index = np.arange(len(rows.truth))
        return np.asarray(rows.sets)[index, np.asarray(rows.truth, dtype=int)]
    if rows.low is not None and rows.high is not None:
        return (rows.low <= rows.truth) & (rows.truth <= rows.high)
    return None


def measure_coverage(evidence: Evidence) -> Coverage | None:
    """Count how often sets or intervals held the truth, in all and by cell."""
    held = held_truth(evidence)
    if held is None or len(held) == 0:
        return None
    classes = evidence.task == "classification"
    parts = _classes(evidence) if classes else _bands(evidence)
    joint = 1 - (1 - evidence.confidence) / max(len(parts), 1)
    pieces = Pieces.of(evidence)
    cells = []
    for rows, size, ends, label in parts:
        some, hit = pieces.take(rows), held[rows]
        interval = some.share_interval(hit, joint)
        counted = int(hit.sum()), some.mean(hit)
        cells.append(CoverageCell(rows, *counted, *interval, size, ends, label))
    low, high = pieces.share_interval(held, evidence.confidence)
    sizes: tuple[tuple[int, int], ...] = ()
    width = None
    if evidence.test.sets is not None:
        classes_named = np.asarray(evidence.test.sets).sum(axis=1)
        by_size = zip(*np.unique(classes_named, return_counts=True))
        sizes = tuple((int(size), int(n)) for size, n in by_size)
    if evidence.test.low is not None and evidence.test.high is not None:
        width = float(np.median(np.asarray(evidence.test.high) - np.asarray(evidence.test.low)))
    promised = promised_coverage(evidence)
    share, hits = pieces.mean(held), int(held.sum())
    return Coverage(held, hits, share, low, high, pieces.n, tuple(cells), sizes, width, promised)


_Part = tuple[np.ndarray, float, tuple[float, float], int]


def _classes(evidence: Evidence) -> list[_Part]:
    truth = np.asarray(evidence.test.truth)
    sizes = np.asarray(evidence.test.sets).sum(axis=1)
    parts: list[_Part] = []
    for index in range(len(evidence.classes)):
        inside = np.flatnonzero(truth == index)
        if len(inside):
            parts.append((inside, float(sizes[inside].mean()), (np.nan, np.nan), index))
    # Many classes: the most frequent ones are shown.
    return sorted(parts, key=lambda p: -len(p[0]))[:MOST_BINS] if len(parts) > MOST_BINS else parts


def _bands(evidence: Evidence) -> list[_Part]:
    rows = evidence.test
    prediction = np.asarray(rows.prediction, dtype=float)
    order = np.argsort(prediction, kind="stable")
    width = np.asarray(rows.high) - np.asarray(rows.low)
    most = MOST_BANDS if np.ptp(prediction) > 0 else 1  # one prediction for all rows: one band
    parts: list[_Part] = []
    for inside in (order[cut] for cut in equal_count_bins(len(order), most, LEAST_ROWS)):
        ends = float(prediction[inside[0]]), float(prediction[inside[-1]])
        parts.append((inside, float(np.median(width[inside])), ends, -1))
    return parts


def promised_coverage(evidence: Evidence) -> float | None:
    r"""Bound the coverage from below by the calibration rows, before any test row is looked at.

    Given n calibration rows the coverage of a conformal threshold at rank
    :math:`k = \lceil (n + 1) c \rceil` is at least a Beta(k, n + 1 - k) variable (equal to it if
    scores have no ties). Its lower quantile bounds the coverage; several thresholds share the
    error. Rows of units and of a period are not drawn alike, and the law says nothing of them.
    Guarantee: checked by ``tests/reporting/test_headline.py``.
    """
    if evidence.population.kind != "alike":
        return None
    rows = evidence.calibrated
    error = (1 - evidence.confidence) / max(len(rows), 1)
    ranks = [int(np.ceil((n + 1) * evidence.coverage - 1e-9)) for n in rows]
    floors = [float(special.betaincinv(k, n + 1 - k, error)) for k, n in zip(ranks, rows) if k <= n]
    return min(floors, default=None)
