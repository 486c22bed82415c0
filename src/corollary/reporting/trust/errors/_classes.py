"""Which classes were mistaken for which, how surely, and which were never named."""

from dataclasses import dataclass

import numpy as np

from corollary.reporting._records import Evidence
from corollary.reporting.trust._pieces import Pieces

#: The model is called sure from this probability on.
SURE = 0.9
MOST_KINDS = 3
#: Rows of a class from which it is worth telling how many of them were found.
FEWEST_ROWS = 3


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
class FoundClass:
    """How many rows of a class were called by its name."""

    label: int
    found: int
    rows: int


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


def find_least_found(evidence: Evidence) -> FoundClass | None:
    """Find the rarer of two classes, or the one of several of which the least share is found.

    Errors can be few because a class is rare, and not because it is found.
    """
    n, truth = len(evidence.classes), np.asarray(evidence.test.truth, dtype=int)
    there = np.bincount(truth, minlength=n)
    found = np.bincount(truth[~evidence.test.wrong], minlength=n)
    enough = np.flatnonzero(there >= FEWEST_ROWS)
    if len(enough) == 0:
        return None
    share = there if n == 2 else found / np.maximum(there, 1)
    label = min(enough.tolist(), key=lambda k: (share[k], -there[k]))
    return FoundClass(label, int(found[label]), int(there[label]))
