"""Which rows belong together, told by the user or found by measuring."""

import difflib
import re
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from corollary.core.population import Population
from corollary.reporting._errors import ReportError
from corollary.reporting._settings import Settings
from corollary.reporting.table._profile import Subject
from corollary.reporting.table._split import (
    SMALL,
    Split,
    split_alike,
    split_by_time,
    split_in_turn,
    split_units,
)
from corollary.representation import Column
from corollary.validation import Dependence, Unit, find_dependence

#: Endings of column names that say that a column names something, not what it names.
_NAMING = re.compile(
    r"(?i)[\s_-]*(ids?|code|key|no|nr|num|number|name|uuid)$|(?<=[a-z])(ID|Id|No)$"
)

#: Seconds of the units of a horizon; without a unit it counts days.
_SECONDS = {"": 86400, "s": 1, "min": 60, "h": 3600, "d": 86400, "w": 604800, "y": 31557600}
#: Owners, or moments, below which nothing can be said about new ones.
FEWEST_OWNERS, FEWEST_MOMENTS = 4, 10
#: Numbers that are read as seconds since 1970: the years from 1980 to 2096.
UNIX_SECONDS = (3.2e8, 4e9)


@dataclass(frozen=True, eq=False)
class Examined:
    """What was found out about rows that depend on each other."""

    subject: Subject  # the rows without copies
    dependence: Dependence  # of these rows
    alike: Split  # as rows drawn alike are split
    copies: Unit | None = None  # which rows of the table are copies of each other


def examine(subject: Subject, settings: Settings) -> Examined:
    """Find copies, owners and order of time, and leave one of the copies of a row, at random.

    Where nothing is found, the targets of the test rows have not been read.
    """
    if settings.independent:
        rows = np.arange(len(subject.target.values))
        return Examined(subject, Dependence((), rows), split_alike(subject, settings))
    _refuse_crossed([told_owners(subject, name) for name in settings.group], settings.group)
    examined = _search(subject, settings)
    copies = examined.dependence.copies
    if len(np.unique(copies)) == len(copies):
        return examined
    order = np.random.default_rng(settings.seed).permutation(len(copies))
    once = np.sort(order[np.unique(copies[order], return_index=True)[1]])
    kinds = [unit for unit in examined.dependence.units if unit.is_copied and unit.matters]
    kind = kinds[-1].kind if kinds else "copies"
    found = Unit(kind, (), copies, matters=True)
    return replace(_search(subject.take(once), settings), copies=found)


def _search(subject: Subject, settings: Settings) -> Examined:
    """Look for units, by targets of rows that are not tested unless a unit is found."""
    import pandas as pd

    alike = split_alike(subject, settings)
    groups = [pd.Series(told_owners(subject, name), name=name) for name in settings.group]
    time = None
    if settings.time:
        time = pd.Series(told_moments(subject, settings.time), name=settings.time)
    dependence = find_dependence(
        subject.columns,
        subject.target.values,
        task=subject.target.task,
        groups=groups or None,
        time=time,
        order=settings.order,
        measured=np.sort(np.concatenate([alike.train, alike.calibration])),
        random_state=settings.seed,
    )
    units = tuple(_dated(unit) for unit in dependence.units)
    return Examined(subject, replace(dependence, units=units), alike)


def _dated(unit: Unit) -> Unit:
    """Count rows without a moment as the earliest: they can be trained on and not tested."""
    if unit.moments is None:
        return unit
    first = np.nanmin(unit.moments)
    return replace(unit, moments=np.where(np.isnan(unit.moments), first, unit.moments))


def told_owners(subject: Subject, name: str) -> np.ndarray:
    """Read whose each row is; a row without an owner is its own."""
    column = find_column(subject, name, "--group")
    codes = np.array(column.strings[0])
    codes[codes < 0] = codes.max(initial=-1) + 1 + np.arange((codes < 0).sum())
    n_owners = len(np.unique(codes))
    if n_owners < FEWEST_OWNERS:
        raise ReportError(
            "usage",
            f"--group needs a column with at least {FEWEST_OWNERS} values, to train and to test on "
            f"different ones. {name!r} has {n_owners}.",
        )
    if n_owners == len(codes):
        raise ReportError(
            "usage",
            f"--group needs a column that rows share. Every row has its own {name!r}; leave "
            "--group out.",
        )
    return codes


def _refuse_crossed(groups: list[np.ndarray], names: tuple[str, ...]) -> None:
    """Refuse owners that are not nested: no split keeps both whole."""
    order = sorted(range(len(groups)), key=lambda j: -len(np.unique(groups[j])))
    for fine, coarse in pairwise(order):
        pairs = np.unique(np.column_stack([groups[fine], groups[coarse]]), axis=0)
        crossed = len(pairs) - len(np.unique(groups[fine]))
        if crossed:
            raise ReportError(
                "usage",
                f"Several --group columns must be nested. {crossed:,} values of {names[fine]!r} "
                f"occur with several values of {names[coarse]!r}. Name the one of which new rows "
                "bring new values.",
            )


def told_moments(subject: Subject, name: str) -> np.ndarray:
    """Read when each row was; rows without a moment count as the earliest."""
    column = find_column(subject, name, "--time")
    moments = read_moments(column)
    if moments is None or np.isnan(moments).mean() > 0.5:
        example = next((str(v) for v in column.values if v == v), "nothing")
        raise ReportError(
            "usage",
            f"--time needs a column of dates or numbers. {name!r} holds values such as "
            f"{example!r}; write dates as 2024-01-31.",
        )
    known = moments[~np.isnan(moments)]
    n_moments = len(np.unique(known))
    if n_moments < FEWEST_MOMENTS:
        raise ReportError(
            "usage",
            f"--time needs at least {FEWEST_MOMENTS} different moments. {name!r} holds "
            f"{n_moments}; --group {name} tests on values of it that were not trained on.",
        )
    return np.where(np.isnan(moments), known.min(), moments)


def read_moments(column: Column) -> np.ndarray | None:
    """Read dates as seconds since 1970, numbers as they are."""
    content = column.content
    if content.kind == "date":
        return column.dates(content.date_format)
    return column.numbers if np.isfinite(column.numbers).any() else None


def find_column(subject: Subject, name: str, option: str) -> Column:
    """Look a column up by its name, suggesting near ones."""
    names = subject.columns.names
    if name in names:
        return subject.columns[name]
    if name == subject.target.name:
        raise ReportError("usage", f"{option} names {name!r}, which is the target.")
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else ""
    hint = hint or f"Its columns are {', '.join(names[:12])}{', ...' * (len(names) > 12)}."
    raise ReportError("usage", f"{subject.table.name} has no column {name!r} ({option}). {hint}")


def divide(examined: Examined, unit: Unit | None, settings: Settings) -> Split:
    """Split the rows so that the test rows are such as the headline shall speak of."""
    subject = examined.subject
    if unit is None:
        small = len(subject.target.values) < SMALL
        return split_in_turn(subject, settings) if small else examined.alike
    if unit.moments is None:
        return split_units(subject, unit.codes, _owners(unit), settings)
    horizon = read_horizon(settings.horizon, subject, unit) if settings.horizon else None
    split = split_by_time(subject, unit.moments, settings, horizon=horizon)
    return replace(split, population=_period(unit, subject, unit.moments[split.test]))


def _owners(unit: Unit) -> Population:
    """Name the rows of new owners."""
    names = tuple(noun_of(name) for name in unit.columns[:4])
    return Population("new units", unit=names[0] if len(names) == 1 else names)


def _period(unit: Unit, subject: Subject, tested: np.ndarray) -> Population:
    """Name the period of the rows that are tested."""
    start, end = float(tested.min()), float(tested.max())
    whole_days = end - start > 2 * 86400
    first, last = (write_moment(moment, unit, subject, whole_days) for moment in (start, end))
    return Population("period", start=first, end=last)


def noun_of(name: str) -> str:
    """Name in the singular what a column names: person for person_id."""
    shown = "".join(letter for letter in name.strip() if letter.isprintable())
    noun = _NAMING.sub("", shown)
    return noun if re.fullmatch(r"[^\W\d_]{3,}([ _-][^\W\d_]{3,})*", noun) else f"value of {shown}"


def write_moment(moment: float, unit: Unit, subject: Subject, whole_days: bool) -> str:
    """Write a moment as its column does; of a period of several days its days."""
    if not unit.columns:
        return f"row {int(moment) + 1:,}"
    dated = subject.columns[unit.columns[0]].content.kind == "date"
    if not dated and not UNIX_SECONDS[0] < moment < UNIX_SECONDS[1]:
        return f"{unit.columns[0]} {moment:.12g}"
    stamp = np.datetime64(int(moment), "s")
    if whole_days or moment % 86400 == 0:
        return str(stamp.astype("datetime64[D]"))
    return str(stamp.astype("datetime64[m]")).replace("T", " ")


def read_horizon(text: str, subject: Subject, unit: Unit) -> float:
    """Read how far ahead predictions reach, in the unit of the moments."""
    dated = bool(unit.columns) and subject.columns[unit.columns[0]].content.kind == "date"
    match = re.fullmatch(r"\s*([-+.\deE]+?)\s*([a-z]*)\s*", text)
    if match is None or match[2] not in (_SECONDS if dated else ("",)):
        how = "a time such as 28d, 4w or 12h" if dated else "a number in the unit of the column"
        raise ReportError("usage", f"--horizon must be {how}. Got {text!r} instead.")
    try:
        value = float(match[1]) * (_SECONDS[match[2]] if dated else 1.0)
    except ValueError:
        raise ReportError("usage", f"--horizon holds no number. Got {text!r}.") from None
    if not 0 < value < np.inf:
        raise ReportError("usage", f"--horizon must be positive. Got {text!r} instead.")
    return value
