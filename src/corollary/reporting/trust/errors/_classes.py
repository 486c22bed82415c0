"""Which classes were mistaken for which, how surely, and which were never named."""

from dataclasses import dataclass

import numpy as np

from corollary.reporting._records import Evidence
from corollary.reporting.trust._pieces import Pieces

#: The model is called sure from this probability on.
SURE = 0.9
MOST_KINDS = 3


@dataclass(frozen=True)
class Mistake:
    """Rows of one class that were called another."""

    truth: int
    prediction: int
    rows: int


@dataclass(frozen=True)
class SureRows:
    """How often the model was wrong where it was sure."""

    limit: float  # the least probability that counts as sure
    value: float  # share of wrong rows, as a mean over pieces of evidence
    upper: float  # one-sided bound
    wrong: int  # rows
    rows: int
    n: int  # pieces of evidence
    worst: int | None  # the surest mistake, as its place among the test rows
    stated: float  # the probability that it was called with


@dataclass(frozen=True)
class WrongClasses:
    """The most frequent mistakes, and those made surely."""

    kinds: int  # how many kinds of mistake there are
    foremost: tuple[Mistake, ...]
    sure: SureRows | None  # None without probabilities


@dataclass(frozen=True)
class CommonestClass:
    """The commonest class of the test rows."""

    label: int
    others: int  # rows of all other classes


@dataclass(frozen=True)
class MissedClass:
    """A class that is there and was never predicted."""

    label: int
    rows: int  # 0 if there is none


def measure_wrong_classes(evidence: Evidence) -> WrongClasses:
    """Count mistakes by their direction, and those made surely."""
    rows, wrong = evidence.test, evidence.test.wrong
    pairs = np.column_stack([rows.truth[wrong], rows.prediction[wrong]]).astype(int)
    kinds, counts = np.unique(pairs, axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MOST_KINDS]
    foremost = tuple(Mistake(int(kinds[i, 0]), int(kinds[i, 1]), int(counts[i])) for i in order)
    return WrongClasses(len(kinds), foremost, _sure_rows(evidence, wrong))


def _sure_rows(evidence: Evidence, wrong: np.ndarray) -> SureRows | None:
    if evidence.test.probability is None or not len(wrong):
        return None
    stated = np.asarray(evidence.test.probability).max(axis=1)
    limit = SURE
    sure = stated >= limit
    if not sure.any():
        limit = float(np.median(stated))
        sure = stated >= limit
    pieces = Pieces.of(evidence).take(sure)
    worst = int(np.flatnonzero(wrong)[np.argmax(stated[wrong])]) if wrong.any() else None
    return SureRows(
        limit,
        pieces.mean(wrong[sure]),
        pieces.share_upper(wrong[sure], evidence.confidence),
        int(wrong[sure].sum()),
        int(sure.sum()),
        pieces.n,
        worst,
        float(stated[worst]) if worst is not None else 0.0,
    )


def find_commonest(evidence: Evidence) -> CommonestClass:
    """Find the commonest class of the test rows."""
    counts = np.bincount(np.asarray(evidence.test.truth, dtype=int), minlength=1)
    return CommonestClass(int(counts.argmax()), int(counts.sum() - counts.max()))


def find_never_called(evidence: Evidence) -> MissedClass:
    """Find the commonest class that was never predicted: errors are few because it is rare."""
    n = len(evidence.classes)
    there = np.bincount(evidence.test.truth, minlength=n)
    missed = np.where(np.bincount(evidence.test.prediction, minlength=n) == 0, there, 0)
    return MissedClass(int(missed.argmax()), int(missed.max()))
