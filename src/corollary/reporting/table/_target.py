"""What is to be predicted: classes or a number, and for which rows it is known."""

from dataclasses import dataclass

import numpy as np

from corollary.reporting._errors import ReportError
from corollary.reporting._records import Task
from corollary.reporting.table._read import Table
from corollary.representation import Column

#: Rows with a target below which no report is made: three parts cannot be told apart by fewer.
FEWEST_ROWS = 10
#: Whole numbers with at most this many distinct values are read as classes.
FEW_VALUES = 10
#: More classes than this are refused: each needs rows in training, calibration and test.
MOST_CLASSES = 100
#: Sizes of numbers whose squares, and sums of them, stay within the range of double precision.
LARGEST, SMALLEST = 1e140, 1e-140


@dataclass(frozen=True)
class Target:
    """The target of the rows that have one."""

    name: str  # column name
    task: Task  # kind of prediction
    values: np.ndarray  # class indices or numbers
    classes: tuple[str, ...]  # class names in index order; empty for regression
    rows: np.ndarray  # positions in the file of the rows that have a target
    n_dropped: int  # rows left out because they have none
    whole: bool  # whether a regression target holds whole numbers only
    notes: tuple[str, ...] = ()  # decisions, in sentences


def read_target(table: Table, name: str, task: str = "auto") -> Target:
    """Read the target column and decide what kind of prediction it asks for.

    Text, booleans and whole numbers with at most ten distinct values are classes; other numbers
    are quantities.
    """
    column = table.columns[name]
    content = column.content
    kind = content.kind
    if kind == "empty":
        raise ReportError("target", f"Every value of the target {name!r} is missing.")
    numbers = column.numbers
    present = numbers[~np.isnan(numbers)]
    whole = bool(len(present)) and bool(np.all(present == np.round(present)))
    notes = []
    if task == "auto":
        is_number = kind == "numeric" or (kind == "constant" and len(present) == len(column))
        few = whole and len(np.unique(present)) <= FEW_VALUES
        task = "regression" if is_number and not few else "classification"
        if is_number and few and kind == "numeric" and len(np.unique(present)) > 2:
            notes.append(
                f"The target {name!r} holds {len(np.unique(present))} distinct whole numbers and "
                "was read as classes; --task regression reads it as a number."
            )
    if task == "regression":
        notes += [f"In the target {name!r}, {note}." for note in content.notes]
        target = _read_quantity(name, kind, numbers, whole, notes)
    else:
        target = _read_classes(name, kind, column, notes)
    n = len(target.values)
    if n < FEWEST_ROWS:
        raise ReportError(
            "data",
            f"{table.name} has {n} row{'s' * (n != 1)} with a target; at least {FEWEST_ROWS} are "
            "needed to train, to calibrate and to test on different rows.",
        )
    _refuse_constant(target)
    _refuse_sizes(target)
    return target


def _read_quantity(
    name: str, kind: str, numbers: np.ndarray, whole: bool, notes: list[str]
) -> Target:
    if kind in ("date", "text", "category", "identifier") or np.isnan(numbers).all():
        raise ReportError(
            "target",
            f"The target {name!r} holds no numbers, so it cannot be predicted as one. "
            "Use --task classification, or turn it into a number first.",
        )
    rows = np.flatnonzero(~np.isnan(numbers))
    values = numbers[rows]
    return Target(
        name, "regression", values, (), rows, len(numbers) - len(rows), whole, tuple(notes)
    )


def _read_classes(name: str, kind: str, column: Column, notes: list[str]) -> Target:
    if kind in ("date", "text", "identifier"):
        words = {"date": "dates", "text": "free text", "identifier": "a different value per row"}
        raise ReportError(
            "target",
            f"The target {name!r} holds {words[kind]}, which cannot be predicted as classes. "
            "Choose another target, or turn it into classes or a number first.",
        )
    codes, levels = _plain_numbers(column).strings
    rows = np.flatnonzero(codes >= 0)
    if len(levels) > MOST_CLASSES:
        raise ReportError(
            "target",
            f"The target {name!r} has {len(levels)} classes; at most {MOST_CLASSES} are possible. "
            "If it is a quantity, use --task regression.",
        )
    numeric = [_number_or_none(level) for level in levels]
    if all(number is not None for number in numeric):
        order = sorted(range(len(levels)), key=lambda i: (numeric[i], levels[i]))
    else:
        order = sorted(range(len(levels)), key=lambda i: levels[i])
    rank = np.empty(len(levels), dtype=np.int64)
    rank[order] = np.arange(len(levels))
    classes = tuple(levels[i] for i in order)
    n_dropped = len(column) - len(rows)
    values = rank[codes[rows]]
    return Target(name, "classification", values, classes, rows, n_dropped, False, tuple(notes))


def _plain_numbers(column: Column) -> Column:
    """Show whole numbers without ``.0``, which a missing value elsewhere would add.

    Beyond 2**53 a floating-point number does not tell one whole number from the next.
    """
    from pandas.api import types

    if not types.is_float_dtype(column.values.dtype):
        return column
    finite = np.isfinite(column.numbers)
    present = column.numbers[finite]
    values = column.values.where(finite)
    whole = (present == present.round()) & (np.abs(present) <= 2.0**53)
    return Column(values.astype("Int64") if whole.all() else values)


def _number_or_none(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _refuse_constant(target: Target) -> None:
    if len(np.unique(target.values)) > 1:
        return
    value = target.classes[0] if target.classes else f"{target.values[0]:g}"
    raise ReportError(
        "target",
        f"The target {target.name!r} has the same value ({value}) in all {len(target.values)} "
        "rows: there is nothing to predict. Choose another target.",
    )


def _refuse_sizes(target: Target) -> None:
    if target.task != "regression":
        return
    largest = float(np.abs(target.values).max())
    spread = float(np.ptp(target.values / largest)) * largest
    if largest <= LARGEST and spread >= SMALLEST:
        return
    size, word = (largest, "large") if largest > LARGEST else (spread, "small")
    raise ReportError(
        "target",
        f"The target {target.name!r} holds numbers whose squares are too {word} for double "
        f"precision: their {'size' if word == 'large' else 'range'} is {size:.3g}. Change the unit "
        "of the target.",
    )
