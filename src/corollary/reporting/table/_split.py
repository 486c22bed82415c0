"""Three parts of the rows: to train, to calibrate, to test.

Rows are sorted by target and drawn at even distances from a random start (systematic sampling),
so every row has the same chance to enter each part, every class and every range of the target is
represented in proportion, and the sizes are exact. Identical rows (twins) stay on the same side:
a test row whose twin was trained on tests memory only. Where rows are copies, and not alike by
chance, copies of a test row count once: they are one piece of evidence, not many.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.conformal import smallest_calibration_size
from corollary.core.fingerprint import hash_rows
from corollary.reporting._records import Task
from corollary.reporting._settings import Settings
from corollary.representation import Column, ColumnTable

TEST_SHARE = 0.25
#: Folds of the comparison; few are enough for many rows, where each fit costs seconds.
FOLDS, FAST_FOLDS, MANY_ROWS = 5, 3, 5_000
CALIBRATION_SHARE = 0.15
#: Calibration may grow to this share of small data, so that intervals are finite at all.
MOST_CALIBRATION_SHARE = 0.3
MOST_TEST_ROWS = 20_000
MOST_CALIBRATION_ROWS = 10_000
#: Beyond this share of rows with a twin, data may repeat by nature and twins are left where they
#: fall.
NATURAL_TWINS = 0.2
#: With fewer distinct rows than this, repetition is natural whatever the columns look like.
FEW_DISTINCT = 50


@dataclass(frozen=True)
class Split:
    """Which rows serve what, as positions among the rows that have a target."""

    train: np.ndarray  # rows that models are fitted and chosen on
    calibration: np.ndarray  # rows that set the widths of intervals and the sizes of sets
    test: np.ndarray  # rows no choice ever sees
    folds: np.ndarray  # fold of each training row in cross-validation
    n_twins: int  # rows that have at least one identical twin
    n_across: int  # test rows with a twin in training or calibration
    notes: tuple[str, ...] = ()  # rules that small or repeated data called for, in sentences


def divide(subject: Any, settings: Settings) -> Split:
    """Split the rows of a subject, twins together unless they repeat by nature."""
    target, columns = subject.target, subject.used
    # A row number or a key tells twins apart to the eye, not to a model, so that only columns
    # that models see make twins.
    groups = find_twins(columns) if columns.columns else np.arange(len(target.values))
    return split_rows(
        target.values,
        target.task,
        groups,
        by_nature=repeats_by_nature(columns, groups),
        coverage=settings.coverage,
        n_folds=count_folds(len(target.values), settings.fast),
        seed=settings.seed,
    )


def count_folds(n: int, fast: bool) -> int:
    """Choose the number of folds of the comparison."""
    return FAST_FOLDS if fast or n > MANY_ROWS else FOLDS


def find_twins(table: ColumnTable) -> np.ndarray:
    """Give each distinct row of a table a number."""
    import pandas as pd

    codes = [
        column.strings[0] if column.values.dtype == object else pd.factorize(column.values)[0]
        for column in table.columns
    ]
    groups, _ = pd.factorize(hash_rows(np.column_stack(codes)))
    return groups


def repeats_by_nature(table: ColumnTable, groups: np.ndarray) -> bool:
    """Tell repetition that chance explains from copies.

    Rows that combine a few coarse columns meet again by chance. Rows with a value that is nearly
    their own (a measurement with decimals, a date, a text) do not: such a table was copied,
    joined or resampled.
    """
    n_distinct = int(groups.max()) + 1 if len(groups) else 0
    if n_distinct < FEW_DISTINCT:
        return True
    for column in table.columns:
        if _count_values(column) <= n_distinct / 2:
            continue
        present = column.numbers[~np.isnan(column.numbers)]
        few = len(present) < 0.5 * column.values.notna().sum()
        if few or np.any(present != np.round(present)):
            return False
    return True


def _count_values(column: Column) -> int:
    try:
        return int(column.values.nunique())
    except TypeError:  # lists and other values without a hash, as nested Parquet columns hold
        return len(column.strings[1])


def split_rows(
    y: np.ndarray,
    task: Task,
    groups: np.ndarray,
    *,
    by_nature: bool = True,
    coverage: float = 0.9,
    n_folds: int = 5,
    seed: int = 0,
) -> Split:
    """Split rows into training, calibration and test, and the training rows into folds."""
    n = len(y)
    rng = np.random.default_rng(seed)
    notes: list[str] = []
    sizes = np.bincount(groups)
    n_twins = int(sizes[sizes > 1].sum())
    natural = by_nature and n_twins > NATURAL_TWINS * n
    if natural:
        notes.append(
            f"{n_twins:,} of {n:,} rows have an identical twin: these data repeat by nature, so "
            "twins were not kept on the same side of the split."
        )
    units = np.arange(n) if natural else groups
    n_units = int(units.max()) + 1
    first = np.full(n_units, n)
    np.minimum.at(first, units, np.arange(n))
    n_test, n_calibration = part_sizes(n, coverage, notes)
    scale = n_units / n
    # Sorted by target, random among equals: even distances then represent every range of it.
    order = np.lexsort((rng.random(n_units), y[first]))
    part = np.zeros(n_units, dtype=np.int64)  # 0 train, 1 calibration, 2 test
    part[_evenly(order, round(n_test * scale), rng)] = 2
    rest = order[part[order] == 0]
    part[_evenly(rest, round(n_calibration * scale), rng)] = 1
    if task == "classification":
        _keep_classes_in_training(part, first, y, units, notes)
    fold = np.zeros(n_units, dtype=np.int64)
    rest = order[part[order] == 0]
    n_folds = min(n_folds, len(rest))
    fold[rest] = (np.arange(len(rest)) + rng.integers(n_folds)) % n_folds
    rows = [np.flatnonzero(part[units] == k) for k in range(3)]
    if not by_nature:
        rows[1:] = [_once(mine, groups, y) for mine in rows[1:]]
        n_left = n - sum(len(mine) for mine in rows)
        if n_left:
            notes.append(
                f"{n_left} cop{'ies' if n_left > 1 else 'y'} of calibration or test rows "
                f"{'were' if n_left > 1 else 'was'} left out: copies count once there."
            )
    n_across = int(np.isin(groups[rows[2]], groups[np.concatenate(rows[:2])]).sum())
    return Split(rows[0], rows[1], rows[2], fold[units[rows[0]]], n_twins, n_across, tuple(notes))


def part_sizes(n: int, coverage: float, notes: list[str]) -> tuple[int, int]:
    """Decide how many rows to test and to calibrate on."""
    n_test = min(round(TEST_SHARE * n), MOST_TEST_ROWS)
    n_calibration = min(round(CALIBRATION_SHARE * n), MOST_CALIBRATION_ROWS)
    needed = smallest_calibration_size(coverage)
    if n_calibration >= needed:
        return n_test, n_calibration
    if needed <= MOST_CALIBRATION_SHARE * n:
        notes.append(
            f"{needed} calibration rows, more than the usual 15%, were set aside: fewer cannot "
            f"give {coverage:.0%} intervals."
        )
        return n_test, needed
    notes.append(
        f"{coverage:.0%} sets and intervals need {needed} calibration rows, more than "
        f"{MOST_CALIBRATION_SHARE:.0%} of these {n}. No row was set aside for them, so every set "
        "holds all classes and every interval is infinite."
    )
    return n_test, 0


def _evenly(order: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Take k of the ordered units at even distances from a random start."""
    if k == 0:
        return order[:0]
    steps = np.floor(np.arange(len(order) + 1) * (k / len(order)) + rng.random() + 1e-12)
    return order[np.diff(steps) > 0]


def _once(rows: np.ndarray, groups: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Keep the first of rows that are equal in columns and target."""
    pairs = np.column_stack([groups[rows].astype(np.float64), y[rows]])
    return rows[np.sort(np.unique(pairs, axis=0, return_index=True)[1])]


def _keep_classes_in_training(
    part: np.ndarray, first: np.ndarray, y: np.ndarray, units: np.ndarray, notes: list[str]
) -> None:
    in_training = np.unique(y[part[units] == 0])
    moved = []
    for label in np.setdiff1d(np.unique(y), in_training):
        mine = np.flatnonzero(y[first] == label)
        mine = mine[np.argsort(part[mine], kind="stable")]  # from calibration first, then test
        if len(mine):
            part[mine[0]] = 0
            moved.append(int(label))
    if moved:
        notes.append(
            f"{len(moved)} class{'es' * (len(moved) > 1)} had no training row by the draw; one "
            "row of each was moved to training."
        )
