"""What the table holds, column by column, before any model sees it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from corollary.reporting._records import Finding, Profile, ProfiledColumn
from corollary.reporting.table._findings import find_oddities
from corollary.reporting.table._read import Table, check_target
from corollary.reporting.table._target import Target, read_target
from corollary.representation import Column, ColumnContent, ColumnTable, infer_scale_type

BINS = 20
SHOWN_LEVELS = 10
#: Rows from which a column may number records, and the share of its range that is then filled.
FEWEST_RECORDS, LEAST_FILLED = 20, 0.1
_IDENTIFIER = re.compile(r"(?i:(^|[\W_])id$)|[a-z](Id|ID)$")
#: Identifiers are categories to a reader; that they are not used is said beside.
_KINDS = {"identifier": "category"}


@dataclass(frozen=True, eq=False)
class Subject:
    """What a report is about: the target, and the columns of the rows that have one."""

    table: Table  # where they come from
    target: Target  # what is to be predicted
    columns: ColumnTable  # all other columns
    plans: dict[str, ColumnContent]  # what each of them holds
    used: ColumnTable  # those that models see

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns that name a row: identifiers, and numbers of rows or records."""
        named = (name for name, plan in self.plans.items() if plan.why)
        return tuple(n for n in named if self.plans[n].kind in ("identifier", "numeric"))

    def take(self, rows: np.ndarray) -> "Subject":
        """Keep some of the rows; what columns hold was read from all of them."""
        target = replace(self.target, values=self.target.values[rows], rows=self.target.rows[rows])
        return replace(
            self, target=target, columns=self.columns.take(rows), used=self.used.take(rows)
        )


def inspect(table: Table, target: str, task: str) -> Subject:
    """Read the target, and what every other column holds."""
    check_target(table, target)
    goal = read_target(table, target, task)
    columns = table.columns.select([name for name in table.columns.names if name != target])
    columns = columns.take(goal.rows) if goal.n_dropped else columns
    plans = inspect_table(columns)
    # Training rows are read as all rows are: a column is not of two kinds in one report.
    columns = ColumnTable([column.read_as(plans[column.name]) for column in columns.columns])
    used = columns.select([name for name in columns.names if not plans[name].why])
    return Subject(table, goal, columns, plans, used)


def inspect_table(table: ColumnTable) -> dict[str, ColumnContent]:
    """Read what each column holds, and which cannot serve a model."""
    plans = {}
    for column in table.columns:
        plan = column.content
        if plan.kind == "numeric" and is_row_number(column.numbers):
            plan = replace(plan, why="it counts the rows of the file")
        elif plan.kind == "numeric" and is_record_number(column.name, column.numbers):
            why = "it numbers the records: whole, never twice the same, in order"
            plan = replace(plan, why=why)
        plans[column.name] = plan
    return plans


def profile_table(subject: Subject, structure: Sequence[Finding] = ()) -> Profile:
    """Describe every column and say what is odd, the structure of the rows first."""
    table, plans, target = subject.columns, subject.plans, subject.target
    columns = [describe_column(column, plans[column.name]) for column in table.columns]
    findings = [*structure, *find_oddities(table, plans, target)]
    return Profile(
        n_rows=len(table),
        n_dropped=target.n_dropped,
        columns=tuple(columns),
        target=describe_target(target),
        findings=tuple(findings),
    )


def is_row_number(numbers: np.ndarray) -> bool:
    """Tell whether a column only counts the rows: 0, 1, 2, ... or 1, 2, 3, ... in file order."""
    if len(numbers) < 10 or np.isnan(numbers).any():
        return False
    steps = np.diff(numbers)
    return bool(numbers[0] in (0, 1) and (steps == 1).mean() > 0.9 and (steps >= 1).all())


def is_record_number(name: str, numbers: np.ndarray) -> bool:
    """Tell whether a column numbers records, such as 100234, 100235, 100239, ..."""
    n = len(numbers)
    if n < FEWEST_RECORDS or not np.isfinite(numbers).all() or numbers.min() < 0:
        return False
    if (numbers != np.round(numbers)).any() or len(np.unique(numbers)) < n:
        return False
    if _IDENTIFIER.search(name):
        return True
    steps = np.diff(numbers)
    years = numbers.min() >= 1500 and numbers.max() <= 2200
    filled = n >= LEAST_FILLED * (numbers.max() - numbers.min() + 1)
    return bool(filled and not years and ((steps > 0).all() or (steps < 0).all()))


def scale_name(numbers: np.ndarray) -> str:
    """Name the scale type that numbers suggest."""
    return infer_scale_type(numbers).scale.name.lower()


def describe_column(column: Column, plan: ColumnContent) -> ProfiledColumn:
    """Describe one column."""
    kind: str = plan.kind
    summary: dict[str, Any] = {}
    why = plan.why
    if kind == "numeric":
        numbers = column.numbers
        present = numbers[~np.isnan(numbers)]
        summary, histogram = _numbers(present), _bins(present)
        n_missing, n_distinct = int(np.isnan(numbers).sum()), len(np.unique(present))
        scale = scale_name(present)
    elif kind == "date":
        seconds = column.dates(plan.date_format)
        present = seconds[~np.isnan(seconds)]
        whole_days = not np.any(present % 86400)
        summary = {k: _iso(v, whole_days) for k, v in _numbers(present).items()}
        histogram = _bins(present)
        n_missing, n_distinct = int(np.isnan(seconds).sum()), len(np.unique(present))
        scale = "interval"
    else:
        codes, levels = column.strings
        histogram = _levels(codes, levels) if kind not in ("text", "identifier") else {}
        n_missing, n_distinct = int((codes < 0).sum()), len(levels)
        scale = "nominal"
    return ProfiledColumn(
        name=column.name,
        kind=_KINDS.get(kind, kind),
        scale=scale,
        n_missing=n_missing,
        n_distinct=n_distinct,
        used=not why,
        numbers=summary,
        histogram=histogram,
        why_unused=why,
        names_rows=bool(why) and kind in ("identifier", "numeric") and n_distinct == len(column),
    )


def describe_target(target: Target) -> ProfiledColumn:
    """Describe the target."""
    if target.task == "regression":
        kind, scale = "numeric", scale_name(target.values)
        summary, histogram = _numbers(target.values), _bins(target.values)
    else:
        kind, scale, summary = "category", "nominal", {}
        histogram = _levels(target.values, list(target.classes))
    return ProfiledColumn(
        name=target.name,
        kind=kind,
        scale=scale,
        n_missing=target.n_dropped,
        n_distinct=len(np.unique(target.values)),
        used=False,
        numbers=summary,
        histogram=histogram,
        why_unused="it is what the models predict",
    )


def _numbers(present: np.ndarray) -> dict[str, float]:
    with np.errstate(over="ignore"):
        quarters = np.quantile(present, [0.0, 0.25, 0.5, 0.75, 1.0])
    names = ("min", "q25", "median", "q75", "max")
    return {**{k: float(q) for k, q in zip(names, quarters)}, "mean": float(present.mean())}


def _bins(present: np.ndarray) -> dict[str, Any]:
    distinct = len(np.unique(present))
    low, high = float(present.min()), float(present.max())
    if high - low > 1e300 or not np.isfinite(high - low):
        return {"edges": [low, high], "counts": [len(present)]}
    counts, edges = np.histogram(present, bins=max(1, min(BINS, distinct)), range=(low, high))
    return {"edges": edges.tolist(), "counts": counts.tolist()}


def _levels(codes: np.ndarray, levels: list[str]) -> dict[str, Any]:
    counts = np.bincount(codes[codes >= 0], minlength=len(levels))
    top = np.argsort(-counts, kind="stable")[:SHOWN_LEVELS]
    other = int(counts.sum() - counts[top].sum())
    return {"labels": [levels[i] for i in top], "counts": counts[top].tolist(), "other": other}


def _iso(seconds: float, whole_days: bool) -> str:
    """Write a moment; where all dates are whole days, a median between two is no hour either."""
    stamp = np.datetime64(int(seconds), "s")
    whole_days = whole_days or not seconds % 86400
    return str(stamp.astype("datetime64[D]") if whole_days else stamp)
