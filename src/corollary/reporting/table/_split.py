"""Three parts of the rows: to train, to calibrate, to test.

Units, such as the rows of an owner, stay whole: a test row whose sibling was trained on tests
memory only. Where every row is its own unit, units are rows. Units are sorted by target and drawn
at even distances from a random start (systematic sampling), so every unit has the same chance to
enter each part, every class and every range of the target is represented in proportion, and the
sizes are exact. Where rows are ordered by time, the latest are tested, and errors of earlier
stretches calibrate. Of few rows none is kept aside: each is trained on and tested in turn.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from corollary.conformal import smallest_calibration_size
from corollary.core.fingerprint import hash_rows
from corollary.core.population import Population
from corollary.reporting._errors import ReportError
from corollary.reporting._records import Task
from corollary.reporting._settings import Settings
from corollary.representation import ColumnTable
from corollary.validation import forward_folds, split_latest, unit_folds

TEST_SHARE = 0.25
#: Folds of the comparison; few are enough for many rows, where each fit costs seconds.
FOLDS, FAST_FOLDS, MANY_ROWS = 5, 3, 5_000
#: Rows below which a table is too small to be parted, and the folds that test its rows in turn.
SMALL, TURNS = 100, 10
CALIBRATION_SHARE = 0.15
#: Calibration may grow to this share of small data, so that intervals are finite at all.
MOST_CALIBRATION_SHARE = 0.3
MOST_TEST_ROWS = 20_000
MOST_CALIBRATION_ROWS = 10_000
#: Beyond this share of rows with a twin, twins that are no copies are left where they fall.
NATURAL_TWINS = 0.2

ALIKE = Population()

#: Rows to fit on and rows to predict, as positions among the training rows.
Folds = tuple[tuple[np.ndarray, np.ndarray], ...]


@dataclass(frozen=True, eq=False)
class Split:
    """Which rows serve what, as positions among the rows that have a target."""

    train: np.ndarray  # rows that models are fitted and chosen on
    calibration: np.ndarray  # rows that set the widths of intervals and the sizes of sets
    test: np.ndarray  # rows no choice ever sees
    folds: Folds  # of the cross-validation
    units: np.ndarray | None = None  # unit of every row, where not every row is its own
    population: Population = ALIKE  # the rows that the test rows speak of
    n_twins: int = 0  # rows that have an identical twin and are no copies
    twins_apart: bool = False  # whether twins may lie on different sides
    in_turn: bool = False  # whether all rows train and test, each tested by models without it
    notes: tuple[str, ...] = ()  # rules that small data called for, in sentences

    def units_of(self, rows: np.ndarray) -> np.ndarray | None:
        """Give the units of some rows, numbered from 0; None if every row is its own."""
        if self.units is None:
            return None
        numbers = np.unique(self.units[rows], return_inverse=True)[1]
        return None if len(numbers) == 0 or len(np.unique(numbers)) == len(numbers) else numbers


def find_twins(table: ColumnTable) -> np.ndarray:
    """Give each distinct row of a table a number."""
    import pandas as pd

    codes = [
        column.strings[0] if column.values.dtype == object else pd.factorize(column.values)[0]
        for column in table.columns
    ]
    groups, _ = pd.factorize(hash_rows(np.column_stack(codes)))
    return groups


def split_alike(subject: Any, settings: Settings) -> Split:
    """Deal the rows at random; twins stay together unless there are many."""
    y, task = subject.target.values, subject.target.task
    twins, n_twins, apart = _twins(subject)
    dealt = deal_units(y, task, twins, settings)
    return replace(dealt, n_twins=n_twins, twins_apart=apart)


def split_in_turn(subject: Any, settings: Settings) -> Split:
    """Let every row train and test: deal the rows into folds, each tested without its rows."""
    y, rng = subject.target.values, np.random.default_rng(settings.seed)
    units, n_twins, apart = _twins(subject)
    n_units = int(units.max()) + 1
    mean = np.bincount(units, weights=y) / np.bincount(units)
    order, n_folds = np.lexsort((rng.random(n_units), mean)), min(TURNS, n_units)
    fold = np.empty(n_units, dtype=np.int64)
    fold[order] = (np.arange(n_units) + rng.integers(n_folds)) % n_folds
    rows = np.arange(len(y))
    return Split(
        rows,
        rows[:0],
        rows,
        as_folds(fold[units]),
        n_twins=n_twins,
        twins_apart=apart,
        in_turn=True,
    )


def _twins(subject: Any) -> tuple[np.ndarray, int, bool]:
    """Give rows that stay together one number; count twins, and say whether they may be parted."""
    # A row number or a key tells twins apart to the eye, not to a model, so that only columns
    # that models see make twins.
    rows = np.arange(len(subject.target.values))
    twins = find_twins(subject.used) if subject.used.columns else rows
    sizes = np.bincount(twins)
    n_twins = int(sizes[sizes > 1].sum())
    apart = n_twins > NATURAL_TWINS * len(rows)
    return (rows if apart else twins), n_twins, apart


def split_units(
    subject: Any, units: np.ndarray, population: Population, settings: Settings
) -> Split:
    """Deal whole units, each to one part and one fold."""
    dealt = deal_units(subject.target.values, subject.target.task, units, settings, population)
    labels = None if subject.target.task == "regression" else subject.target.values[dealt.train]
    fold = unit_folds(units[dealt.train], len(dealt.folds), random_state=settings.seed, y=labels)
    return replace(dealt, folds=as_folds(fold), units=units, population=population)


def deal_units(
    y: np.ndarray,
    task: Task,
    units: np.ndarray,
    settings: Settings,
    population: Population = ALIKE,
) -> Split:
    """Deal units into training, calibration and test, and the training units into folds."""
    n, rng, notes = len(y), np.random.default_rng(settings.seed), list[str]()
    n_units = int(units.max()) + 1
    mean = np.bincount(units, weights=y) / np.bincount(units)
    n_test, n_calibration = part_sizes(
        n_units, settings.coverage, notes, rows_each=n / n_units, population=population
    )
    # Sorted by target, random among equals: even distances then represent every range of it.
    order = np.lexsort((rng.random(n_units), mean))
    part = np.zeros(n_units, dtype=np.int64)  # 0 train, 1 calibration, 2 test
    part[_evenly(order, n_test, rng)] = 2
    left = order[part[order] == 0]
    part[_evenly(left, n_calibration, rng)] = 1
    if task == "classification":
        _keep_classes_in_training(part, y, units, notes, population.piece)
        _refuse_classes_of_one(part, y)
    fold = np.zeros(n_units, dtype=np.int64)
    left = order[part[order] == 0]
    n_folds = min(count_folds(n, settings.fast), len(left))
    fold[left] = (np.arange(len(left)) + rng.integers(n_folds)) % n_folds
    train, calibration, test = (np.flatnonzero(part[units] == k) for k in range(3))
    return Split(train, calibration, test, as_folds(fold[units[train]]), notes=tuple(notes))


def as_folds(fold: np.ndarray) -> Folds:
    """Turn the fold of each row into pairs of rows to fit on and rows to predict."""
    return tuple((np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in np.unique(fold))


def split_by_time(
    subject: Any,
    moments: np.ndarray,
    settings: Settings,
    *,
    horizon: float | None = None,
) -> Split:
    """Test the latest rows and train on all before them; equal moments are not divided."""
    y, rng, notes = subject.target.values, np.random.default_rng(settings.seed), list[str]()
    test = moments > moments.max() - (horizon or 0.0)
    if horizon is None:
        test[split_latest(moments, TEST_SHARE)[1]] = True
    if not 1 <= test.sum() <= 0.6 * len(y):
        raise ReportError(
            "usage",
            f"The period to test would hold {int(test.sum()):,} of {len(y):,} rows; between 1 and "
            f"60% of them are needed. {'Choose another horizon' if horizon else 'Too few moments'}"
            ".",
        )
    part = np.where(test, 2, 0)
    if subject.target.task == "classification":
        _keep_classes_in_training(part, y, np.arange(len(y)), notes, "row")
    train, tested = np.flatnonzero(part == 0), np.flatnonzero(part == 2)
    if len(np.unique(moments[train])) < 3:
        raise ReportError(
            "usage", "The rows to train on lie at fewer than three moments: too few to compare by."
        )
    # Stretches about as long as the period: models are compared, and intervals calibrated, by
    # errors that reach as far ahead.
    n_stretches = int(np.clip(len(train) // len(tested) - 1, 2, FOLDS))
    first = max(1 - n_stretches * len(tested) / len(train), 1 / (n_stretches + 1))
    folds = forward_folds(moments[train], n_stretches, first=first)
    return Split(
        train,
        np.zeros(0, dtype=np.int64),
        _thin(tested, MOST_TEST_ROWS, rng),
        tuple(folds),
        notes=tuple(notes),
    )


def _thin(rows: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    return rows if len(rows) <= most else np.sort(rng.permutation(rows)[:most])


def count_folds(n: int, fast: bool) -> int:
    """Choose the number of folds of the comparison."""
    return FAST_FOLDS if fast or n > MANY_ROWS else FOLDS


def part_sizes(
    n: int,
    coverage: float,
    notes: list[str],
    *,
    rows_each: float = 1.0,
    population: Population = ALIKE,
) -> tuple[int, int]:
    """Decide how many rows, or units of so many rows each, to test and to calibrate on."""
    n_test = min(round(TEST_SHARE * n), round(MOST_TEST_ROWS / rows_each))
    n_calibration = min(round(CALIBRATION_SHARE * n), round(MOST_CALIBRATION_ROWS / rows_each))
    needed = smallest_calibration_size(coverage)
    if n_calibration >= needed:
        return n_test, n_calibration
    what = f"{needed} calibration rows"
    if population.kind == "new units":
        what = f"calibration rows of {population.count(needed)}"
    if needed <= MOST_CALIBRATION_SHARE * n:
        notes.append(
            f"{what}, more than the usual 15%, were set aside: fewer cannot give {coverage:.0%} "
            "intervals."
        )
        return n_test, needed
    notes.append(
        f"{coverage:.0%} sets and intervals need {what}, more than {MOST_CALIBRATION_SHARE:.0%} of "
        f"these {n}. No row was set aside for them, so every set holds all classes and every "
        "interval is infinite."
    )
    return n_test, 0


def _evenly(order: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Take k of the ordered units at even distances from a random start."""
    if k == 0:
        return order[:0]
    steps = np.floor(np.arange(len(order) + 1) * (k / len(order)) + rng.random() + 1e-12)
    return order[np.diff(steps) > 0]


def _keep_classes_in_training(
    part: np.ndarray, y: np.ndarray, units: np.ndarray, notes: list[str], piece: str
) -> None:
    in_training = np.unique(y[part[units] == 0])
    moved = 0
    for label in np.setdiff1d(np.unique(y), in_training):
        holders = np.unique(units[y == label])
        holders = holders[np.argsort(part[holders], kind="stable")]  # from calibration, then test
        part[holders[0]] = 0
        moved += 1
    if moved:
        notes.append(
            f"{moved} class{'es' * (moved > 1)} had no training row by the draw; one "
            f"{piece} of each was moved to training."
        )


def _refuse_classes_of_one(part: np.ndarray, y: np.ndarray) -> None:
    if (part == 2).any():
        return
    raise ReportError(
        "target",
        f"The target has {len(np.unique(y))} classes in {len(y)} rows, so that no row is left to "
        "test on: classes must occur several times. If it is a quantity, use --task regression.",
    )
