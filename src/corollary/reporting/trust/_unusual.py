"""The stage that looks for rows unlike the others.

Every row is judged by a distance that it had no part in: training rows by the folds of the
comparison, which encode and fit without them, calibration and test rows by the distance that the
model keeps. Targets play no role. How far such rows lie is read off the training rows, of which one
is drawn of each unit where rows belong together.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from corollary.anomaly import TailLaw
from corollary.reporting._distance import (
    DistanceRule,
    fit_distance,
    log_distances,
    quantities,
    without_limit,
)
from corollary.reporting._settings import Settings
from corollary.reporting.models._selection import Comparison
from corollary.reporting.table._profile import Subject
from corollary.reporting.table._split import Split
from corollary.reporting.trust._clusters import RealClusters, find_clusters
from corollary.validation import benjamini_hochberg

#: Expected share of ordinary rows among those that are called, at most.
RATE = 0.1
#: Rows that a tail is read off, at least, and columns and rows that a distance is fitted to, at
#: most.
FEWEST, MOST_COLUMNS, MOST_FITTED = 20, 300, 20_000
MOST_SHOWN = 20
#: A value beyond this share of the others, on either side, is high or low by itself.
OUTER = 0.025

Part = Literal["training", "calibration", "test"]


@dataclass(frozen=True)
class Reason:
    """A column that makes a row far."""

    column: str
    value: Any  # as it stands in the file
    place: Literal["high", "low", "usual"]  # among the values of the other rows


@dataclass(frozen=True)
class RowName:
    """What a reader knows a row by: an identifier, its owner or its time."""

    column: str
    value: Any  # as it stands in the file


@dataclass(frozen=True)
class UnusualRow:
    """A row that is called."""

    position: int  # in the file
    part: Part
    p_value: float
    reasons: tuple[Reason, ...]
    names: tuple[RowName, ...] = ()


@dataclass(frozen=True, eq=False)
class UnusualRows:
    """Rows of the table that are unlike the others."""

    why_not: Literal["", "few rows", "no quantities"]  # why no row can be called
    shown: tuple[UnusualRow, ...] = ()  # the least p-values first
    n_called: int = 0
    n_judged: int = 0
    n_columns: int = 0  # quantities that distances are measured in
    n_quantities: int = 0  # of so many
    n_reference: int = 0  # rows, one of each unit, that the tail was read off
    controlled: bool = False  # whether the rate holds; else rows are called by ranks
    rate: float = RATE
    threshold: float = 0.0  # largest p-value that is called
    called: np.ndarray | None = None  # which test rows are called
    clusters: RealClusters | None = None  # if there are any


def judge_rows(
    subject: Subject,
    split: Split,
    comparison: Comparison,
    calibration: np.ndarray,
    test: np.ndarray,
    settings: Settings,
    naming: tuple[str, ...] = (),
) -> tuple[UnusualRows, DistanceRule | None]:
    """Call the rows unlike the others, from the features of calibration and test rows."""
    everywhere = [quantities(comparison.encoder.plans_)]
    everywhere += [quantities(fold.encoder.plans_) for fold in comparison.folds]
    names = [name for name in everywhere[0] if all(name in places for places in everywhere)]
    rng, n_quantities = np.random.default_rng(settings.seed), len(names)
    if not names:
        return UnusualRows("no quantities"), None
    if n_quantities > MOST_COLUMNS:
        drawn = np.sort(rng.permutation(n_quantities)[:MOST_COLUMNS])
        names = [names[j] for j in drawn]
    rows = [split.train[comparison.compared], split.calibration, split.test]
    far = np.empty(len(rows[0]))
    for fold, places in zip(comparison.folds, everywhere[1:]):
        mine = [places[name] for name in names]
        detector = fit_distance(fold.train[:, mine], settings.seed)
        held = without_limit(fold.held, fold.encoder, subject.used.take(rows[0][fold.rows]))
        far[fold.rows] = log_distances(detector, held[:, mine])
    reference = far if comparison.units is None else far[_one_of_each(comparison.units, rng)]
    if len(reference) < FEWEST:
        return UnusualRows("few rows", n_reference=len(reference)), None
    tail = TailLaw.of(reference)
    features = np.array([everywhere[0][name] for name in names])
    fitted = comparison.features[:, features]
    if len(fitted) > MOST_FITTED:
        fitted = fitted[np.sort(rng.permutation(len(fitted))[:MOST_FITTED])]
    detector = fit_distance(fitted, settings.seed)
    rule = DistanceRule(tuple(names), features, detector, tail, RATE, 0.0)
    encoded = [comparison.features[comparison.compared], calibration, test]
    if split.in_turn:  # the folds have judged every row
        rows, encoded = rows[:1], encoded[:1]
    encoded[1:] = [
        without_limit(part, comparison.encoder, subject.used.take(mine))
        for part, mine in zip(encoded[1:], rows[1:])
    ]
    later = (rule.p_values(part) for part in encoded[1:] if len(part))
    p_values = np.concatenate([tail.p_values(far), *later])
    threshold = _threshold(p_values, tail)
    rule = DistanceRule(tuple(names), features, detector, tail, RATE, threshold)
    parts: list[Part] = ["test" if split.in_turn else "training", "calibration", "test"]
    part_of, judged = np.repeat(np.arange(len(rows)), [len(part) for part in rows]), np.hstack(rows)
    called = np.flatnonzero(p_values <= threshold)
    first = called[np.argsort(p_values[called], kind="stable")][:MOST_SHOWN]
    named = rule.reasons(np.vstack(encoded)[first])
    shown = tuple(
        UnusualRow(
            int(subject.target.rows[judged[i]]),
            parts[part_of[i]],
            float(p_values[i]),
            tuple(_reason(subject, judged, int(judged[i]), name) for name in columns),
            tuple(RowName(name, _raw(subject, int(judged[i]), name)) for name in naming),
        )
        for i, columns in zip(first, named)
    )
    found = UnusualRows(
        "",
        shown,
        len(called),
        len(judged),
        len(names),
        n_quantities,
        tail.n,
        tail.n_spacings > 0,
        threshold=threshold,
        called=np.isin(split.test, judged[called]),
        clusters=find_clusters(subject, split, comparison, everywhere[0], settings.seed),
    )
    return found, rule


def _threshold(p_values: np.ndarray, tail: TailLaw) -> float:
    """Give the p-value up to which Benjamini and Hochberg call, or that of one call at least."""
    if not tail.n_spacings:
        return tail.share
    n_called = int((benjamini_hochberg(p_values) <= RATE).sum())
    return RATE * max(n_called, 1) / len(p_values)


def _one_of_each(units: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw one row of each unit."""
    order = rng.permutation(len(units))
    return np.sort(order[np.unique(units[order], return_index=True)[1]])


def _reason(subject: Subject, rows: np.ndarray, row: int, name: str) -> Reason:
    """Tell the value of a column, and where it lies among those of the other rows."""
    column = subject.used[name]
    numbers = column.numbers[rows]
    numbers, value = numbers[~np.isnan(numbers)], column.numbers[row]
    above, below = np.mean(numbers >= value), np.mean(numbers <= value)
    place: Literal["high", "low", "usual"] = "usual"
    if min(above, below) <= OUTER:
        place = "high" if above <= below else "low"
    return Reason(name, _raw(subject, row, name), place)


def _raw(subject: Subject, row: int, name: str) -> Any:
    """Look a value up in the file."""
    return subject.table.frame[name].iloc[subject.target.rows[row]]
