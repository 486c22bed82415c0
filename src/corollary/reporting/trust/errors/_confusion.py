"""What was called what, and what another threshold would call."""

from dataclasses import dataclass

import numpy as np

from corollary.reporting._records import Evidence
from corollary.reporting.trust._pieces import Pieces
from corollary.reporting.trust._reliability import positive_class

THRESHOLDS = tuple(round(0.1 * i, 1) for i in range(1, 10))


@dataclass(frozen=True)
class ConfusedPair:
    """Rows of one class that were called another, as a share of that class."""

    truth: int
    predicted: int
    rows: int
    of: int  # rows of the class
    share: float  # mean over pieces of evidence
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Confusion:
    """Counts by true and by predicted class, and the mistakes, most frequent first."""

    table: np.ndarray
    pairs: tuple[ConfusedPair, ...]


@dataclass(frozen=True)
class Threshold:
    """What is called at one threshold; shares are None where they are of no row."""

    threshold: float
    called: int
    hits: int
    caught: float | None  # of the rows of the class
    caught_interval: tuple[float, float]
    right: float | None  # of the rows that are called so
    right_interval: tuple[float, float]


@dataclass(frozen=True)
class Thresholds:
    """What several thresholds on the probability of one class would do."""

    positive: int  # the class
    n: int  # rows
    positives: int
    rows: tuple[Threshold, ...]
    fine: tuple[tuple[int, int], ...]  # misses and false alarms at every hundredth


def measure_confusion(evidence: Evidence) -> Confusion:
    """Count what was called what."""
    truth = np.asarray(evidence.test.truth, dtype=int)
    prediction = np.asarray(evidence.test.prediction, dtype=int)
    k, pieces = len(evidence.classes), Pieces.of(evidence)
    table = np.bincount(truth * k + prediction, minlength=k * k).reshape(k, k)
    pairs = []
    for i, j in np.argwhere(table > 0).tolist():
        if i != j:
            there = truth == i
            called, some = prediction[there] == j, pieces.take(there)
            ends = some.share_interval(called, evidence.confidence)
            n, of = int(table[i, j]), int(table[i].sum())
            pairs.append(ConfusedPair(i, j, n, of, some.mean(called), *ends))
    pairs.sort(key=lambda pair: -pair.rows)
    return Confusion(table, tuple(pairs))


def measure_thresholds(evidence: Evidence) -> Thresholds | None:
    """Count what other thresholds would call."""
    if evidence.test.probability is None or len(evidence.classes) != 2:
        return None
    index = positive_class(evidence)
    stated = np.asarray(evidence.test.probability)[:, index]
    positive = np.asarray(evidence.test.truth) == index
    fine = []
    for i in range(1, 100):
        called = stated >= i / 100
        fine.append((int((~called & positive).sum()), int((called & ~positive).sum())))
    rows = tuple(_threshold(evidence, t, stated >= t, positive) for t in THRESHOLDS)
    return Thresholds(index, len(stated), int(positive.sum()), rows, tuple(fine))


def _threshold(
    evidence: Evidence, threshold: float, called: np.ndarray, positive: np.ndarray
) -> Threshold:
    pieces, confidence = Pieces.of(evidence), evidence.confidence
    there, named = pieces.take(positive), pieces.take(called)
    caught, right = called[positive], positive[called]
    return Threshold(
        threshold,
        int(called.sum()),
        int(caught.sum()),
        there.mean(caught) if there.n else None,
        there.share_interval(caught, confidence) if there.n else (0.0, 1.0),
        named.mean(right) if named.n else None,
        named.share_interval(right, confidence) if named.n else (0.0, 1.0),
    )
