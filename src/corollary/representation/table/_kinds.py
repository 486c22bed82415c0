"""What kind of values a column holds.

A column is first looked at (:func:`inspect_column`), then a plan is learnt and applied
(:class:`corollary.representation.ColumnPlan`);
:class:`corollary.representation.TableEncoder` runs this over a whole table.

Kinds of columns: ``numeric``, ``boolean``, ``category``, ``date``, ``text``; and those that carry
nothing a model could use: ``empty``, ``constant``, ``identifier``. Values of one kind may arrive
in another's clothes (numbers as strings, dates as strings, a few words among numbers); they are
read for what they are.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from corollary.representation.table._reading import (
    LARGEST,
    QUARTER,
    parse_dates,
    to_number,
    unit_of,
)

#: Share of the distinct values that must read as a number or a date for the column to be one.
MOSTLY = 0.9
#: Distinct values below which a column of unlike strings is not called an identifier or a text.
FEW = 20

_LEADING_ZERO = re.compile(r"^0\d+$")
_DATE_LIKE = re.compile(r"^(?=.*\d)[\w :./,+-]{6,35}$")
_TIMES = ("", " %H:%M", " %H:%M:%S")
#: Formats tried in this order; of two that both fit (3/4/2020), the first is taken.
DATE_FORMATS = (
    "ISO8601",
    *(
        day + time
        for day in ("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y")
        for time in _TIMES
    ),
    *("%d/%m/%y", "%m/%d/%y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%d-%b-%Y"),
    *(day + time for day in ("%d/%m/%y", "%m/%d/%y", "%d.%m.%y") for time in _TIMES[1:]),
    *("%d.%m.%y", "%d-%b-%y", "%d %b %y", QUARTER),
)


@dataclass(frozen=True)
class ColumnContent:
    """What a column holds.

    Parameters
    ----------
    kind : str
        "numeric", "boolean", "category", "date" or "text"; or "empty", "constant", "identifier".
    notes : list of str, default=[]
        What had to be decided to read it.
    why : str, default=""
        Why it is of no use to a model; empty if it is.
    tokens : list of str, default=[]
        Frequent words among numbers.
    date_format : str, default=""
        Format of dates that are written as strings.

    Examples
    --------
    >>> import pandas as pd
    >>> from corollary.representation import Column
    >>> Column(pd.Series(["01.02.2020", "30.04.2021"])).content
    ColumnContent(kind='date', notes=[], why='', tokens=[], date_format='%d.%m.%Y')
    """

    kind: str
    notes: list[str] = field(default_factory=list)
    why: str = ""
    tokens: list[str] = field(default_factory=list)
    date_format: str = ""


def inspect_column(column: Any) -> ColumnContent:
    """Decide what a :class:`Column` holds."""
    from pandas.api import types

    values = column.values
    dtype = values.dtype
    if values.isna().all():
        return ColumnContent("empty", why="every value is missing")
    if types.is_bool_dtype(dtype):
        content = ColumnContent("boolean")
    elif types.is_complex_dtype(dtype):
        raise ValueError(f"Complex data not supported: column {values.name!r} holds them.")
    elif types.is_numeric_dtype(dtype) or types.is_timedelta64_dtype(dtype):
        content = ColumnContent("numeric", _note_extremes(values))
    elif types.is_datetime64_any_dtype(dtype):
        content = ColumnContent("date")
    else:
        content = _inspect_strings(*column.strings, categorical=isinstance(dtype, _categorical()))
    return _drop_constant(content, column)


def _categorical() -> type:
    import pandas as pd

    return pd.CategoricalDtype


def _note_extremes(values: Any) -> list[str]:
    sizes = np.abs(values.to_numpy(dtype=np.float64, na_value=np.nan))
    n = int(np.isinf(sizes).sum())
    notes = [f"{n} infinite value{'s' * (n > 1)} read as missing"] if n else []
    if n := int((sizes > LARGEST).sum()) - n:
        notes.append(f"{n} value{'s' * (n > 1)} beyond {LARGEST:g} read as {LARGEST:g}")
    return notes


def _inspect_strings(codes: np.ndarray, levels: list[str], *, categorical: bool) -> ColumnContent:
    if not levels:
        return ColumnContent("empty", why="every value is blank")
    if {level.lower() for level in levels} <= {"true", "false"}:
        return ColumnContent("boolean")
    if categorical:
        return ColumnContent("category")
    counts = np.bincount(codes[codes >= 0], minlength=len(levels))
    return (
        _inspect_numbers(levels, counts)
        or _inspect_dates(levels)
        or _inspect_words(levels, int(counts.sum()))
    )


def _inspect_numbers(levels: list[str], counts: np.ndarray) -> ColumnContent | None:
    """Say that strings are numbers, with a few words among them, if they are."""
    if not _looks_numeric(levels):
        return None
    numbers = np.asarray([to_number(level) for level in levels])
    finite = np.isfinite(numbers)
    coded = any(_LEADING_ZERO.match(level) for level in levels)
    units = {unit_of(level) for level, known in zip(levels, finite) if known} - {""}
    if finite.mean() < MOSTLY or finite.sum() < 2 or coded or len(units) > 1:
        return None
    words = np.flatnonzero(~finite)
    words = words[np.argsort(-counts[words], kind="stable")]
    notes = []
    if len(words):
        shown = ", ".join(repr(levels[i]) for i in words[:3])
        n = int(counts[words].sum())
        what = "value is no number" if n == 1 else "values are no numbers"
        verb = "counts" if n == 1 else "count"
        notes = [f"{n} {what} ({shown}) and {verb} as missing"]
    notes += [f"the unit {unit!r} was left out" for unit in units]
    if any(":" in level for level, known in zip(levels, finite) if known):
        notes.append("clock times were read as hours")
    tokens = [levels[i] for i in words[:5] if counts[i] >= 2]
    return ColumnContent("numeric", notes, tokens=tokens)


def _inspect_words(levels: list[str], n: int) -> ColumnContent:
    """Tell texts, identifiers and categories apart."""
    if len(levels) >= FEW and len(levels) > 0.5 * n:
        words_each = np.mean([len(level.split()) for level in levels[:2000]])
        length_each = np.mean([len(level) for level in levels[:2000]])
        if words_each >= 3 or length_each >= 40:
            return ColumnContent("text")
        if len(levels) == n:
            why = "every value is distinct, as in an identifier"
            return ColumnContent("identifier", why=why)
    return ColumnContent("category")


def _looks_numeric(levels: list[str]) -> bool:
    """Tell at a glance whether reading every value as a number is worth the time."""
    sample = levels[:: max(1, len(levels) // 1000)]
    return bool(np.isfinite([to_number(level) for level in sample]).mean() >= MOSTLY / 2)


def _inspect_dates(levels: list[str]) -> ColumnContent | None:
    sample = levels[:: max(1, len(levels) // 200)]
    if np.mean([bool(_DATE_LIKE.match(level)) for level in sample]) < MOSTLY:
        return None
    fits = [f for f in DATE_FORMATS if np.isfinite(parse_dates(sample, f)).mean() >= MOSTLY]
    if not fits:
        return None
    best = max(fits, key=lambda f: float(np.isfinite(parse_dates(sample, f)).mean()))
    swapped = best.replace("%d", "@").replace("%m", "%d").replace("@", "%m")
    notes = []
    if best != "ISO8601" and swapped in DATE_FORMATS and swapped in fits and swapped != best:
        notes = [f"dates read as {best}; day and month could be the other way round"]
    return ColumnContent("date", notes, date_format=best)


def _drop_constant(content: ColumnContent, column: Any) -> ColumnContent:
    if content.kind in ("numeric", "boolean"):
        present = column.numbers
        missing = bool(np.isnan(present).any())
        n_distinct = len(np.unique(present[~np.isnan(present)]))
    elif content.kind in ("category", "date", "identifier"):
        codes, levels = column.strings
        missing, n_distinct = bool((codes < 0).any()), len(levels)
    else:
        return content
    if n_distinct == 0:
        return ColumnContent("empty", content.notes, "no value can be used")
    if n_distinct == 1 and not missing:
        return ColumnContent("constant", content.notes, "every value is the same")
    return content
