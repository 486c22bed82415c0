"""One column of a table as numbers.

A column is first read (:func:`inspect_column`: what kind of values are these?), then a plan is
learnt and applied (:mod:`corollary.representation.encodings`). A plan is a dictionary of plain
data (numbers, strings, lists, arrays), so a fitted encoder can be kept in a file that is data and
not code. :class:`corollary.representation.TableEncoder` runs this over a whole table.

Kinds of columns: ``numeric``, ``boolean``, ``category``, ``date``, ``text``; and those that carry
nothing a model could use: ``empty``, ``constant``, ``identifier``. Values of one kind may arrive
in another's clothes (numbers as strings, dates as strings, a few words among numbers); they are
read for what they are.
"""

import re
from typing import Any

import numpy as np

Plan = dict[str, Any]

#: Share of the distinct values that must read as a number or a date for the column to be one.
MOSTLY = 0.9
#: Distinct values below which a column of unlike strings is not called an identifier or a text.
FEW = 20

_NUMBER = re.compile(r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
_THOUSANDS = re.compile(r"^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$")
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
)


def distinct_strings(values: Any) -> tuple[np.ndarray, list[str]]:
    """Give the distinct values of a column, read as strings without outer blanks, numbers."""
    import pandas as pd

    try:
        raw_codes, uniques = pd.factorize(values, use_na_sentinel=True)
    except TypeError:  # lists and other values without a hash, as nested Parquet columns hold
        raw_codes, uniques = pd.factorize(values.map(repr, na_action="ignore"))
    index: dict[str, int] = {}
    recode = np.empty(len(uniques) + 1, dtype=np.int64)
    recode[-1] = -1  # the sentinel -1 stays -1
    # As plain objects at once: extension arrays are slow to walk through.
    for i, value in enumerate(np.asarray(uniques, dtype=object)):
        text = str(value).strip()
        recode[i] = index.setdefault(text, len(index)) if text else -1
    return recode[raw_codes], list(index)


def to_number(text: str) -> float:
    """Read a string as a number, allowing for currency signs, percent and thousands commas."""
    text = text.strip().strip("$€£").strip().removesuffix("%").strip()
    if _THOUSANDS.match(text):
        text = text.replace(",", "")
    return float(text) if _NUMBER.match(text) else np.nan


def read_numbers(values: Any) -> np.ndarray:
    """Read a column as numbers; what is no finite number becomes NaN."""
    from pandas.api import types

    if types.is_timedelta64_dtype(values.dtype):
        numbers = values.dt.total_seconds().to_numpy(dtype=np.float64, na_value=np.nan)
    elif types.is_bool_dtype(values.dtype) or types.is_numeric_dtype(values.dtype):
        numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        codes, levels = distinct_strings(values)
        words = {"true": 1.0, "false": 0.0}
        table = [words.get(level.lower(), to_number(level)) for level in levels]
        numbers = np.asarray([*table, np.nan])[codes]
    return np.where(np.isfinite(numbers), numbers, np.nan)


def read_dates(values: Any, date_format: str) -> np.ndarray:
    """Read a column as dates in seconds since 1970."""
    import pandas as pd

    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        dates = pd.DatetimeIndex(values)
        if dates.tz is not None:
            dates = dates.tz_convert("UTC").tz_localize(None)
        return _seconds(dates)
    codes, levels = distinct_strings(values)
    return np.append(_parse_dates(levels, date_format or "ISO8601"), np.nan)[codes]


def _parse_dates(levels: list[str], date_format: str) -> np.ndarray:
    import pandas as pd

    dates = pd.to_datetime(
        pd.Series(levels, dtype=object), format=date_format, errors="coerce", utc=True
    )
    return _seconds(pd.DatetimeIndex(dates).tz_localize(None))


def _seconds(dates: Any) -> np.ndarray:
    ticks = dates.to_numpy().astype("datetime64[s]")
    return np.where(np.isnat(ticks), np.nan, ticks.astype(np.int64))


def inspect_column(values: Any) -> Plan:
    """Decide what a column holds."""
    from pandas.api import types

    dtype = values.dtype
    if values.isna().all():
        return {"kind": "empty", "why": "every value is missing", "notes": []}
    if types.is_bool_dtype(dtype):
        plan: Plan = {"kind": "boolean", "tokens": [], "notes": []}
    elif types.is_complex_dtype(dtype):
        raise ValueError(f"Complex data not supported: column {values.name!r} holds them.")
    elif types.is_numeric_dtype(dtype) or types.is_timedelta64_dtype(dtype):
        plan = {"kind": "numeric", "tokens": [], "notes": _note_infinities(values)}
    elif types.is_datetime64_any_dtype(dtype):
        plan = {"kind": "date", "format": "", "notes": []}
    else:
        plan = _inspect_strings(values, categorical=isinstance(dtype, _categorical()))
    return _drop_constant(plan, values)


def _categorical() -> type:
    import pandas as pd

    return pd.CategoricalDtype


def _note_infinities(values: Any) -> list[str]:
    n = int(np.isinf(values.to_numpy(dtype=np.float64, na_value=np.nan)).sum())
    return [f"{n} infinite value{'s' * (n > 1)} read as missing"] if n else []


def _inspect_strings(values: Any, categorical: bool) -> Plan:
    codes, levels = distinct_strings(values)
    if not levels:
        return {"kind": "empty", "why": "every value is blank", "notes": []}
    counts = np.bincount(codes[codes >= 0], minlength=len(levels))
    if {level.lower() for level in levels} <= {"true", "false"}:
        return {"kind": "boolean", "tokens": [], "notes": []}
    if not categorical and _looks_numeric(levels):
        numbers = np.asarray([to_number(level) for level in levels])
        coded = any(_LEADING_ZERO.match(level) for level in levels)
        if np.isfinite(numbers).mean() >= MOSTLY and np.isfinite(numbers).sum() > 1 and not coded:
            words = np.flatnonzero(~np.isfinite(numbers))
            words = words[np.argsort(-counts[words], kind="stable")]
            notes = []
            if len(words):
                shown = ", ".join(repr(levels[i]) for i in words[:3])
                n = int(counts[words].sum())
                what = "value is no number" if n == 1 else "values are no numbers"
                verb = "counts" if n == 1 else "count"
                notes = [f"{n} {what} ({shown}) and {verb} as missing"]
            tokens = [levels[i] for i in words[:5] if counts[i] >= 2]
            return {"kind": "numeric", "tokens": tokens, "notes": notes}
    if not categorical:
        plan = _inspect_dates(levels)
        if plan is not None:
            return plan
    n = int(counts.sum())
    words_each = np.mean([len(level.split()) for level in levels[:2000]])
    length_each = np.mean([len(level) for level in levels[:2000]])
    if len(levels) >= FEW and len(levels) > 0.5 * n and not categorical:
        if words_each >= 3 or length_each >= 40:
            return {"kind": "text", "notes": []}
        if len(levels) == n:
            return {
                "kind": "identifier",
                "why": "every value is distinct, as in an identifier",
                "notes": [],
            }
    return {"kind": "category", "notes": []}


def _looks_numeric(levels: list[str]) -> bool:
    """Tell at a glance whether reading every value as a number is worth the time."""
    sample = levels[:: max(1, len(levels) // 1000)]
    return bool(np.isfinite([to_number(level) for level in sample]).mean() >= MOSTLY / 2)


def _inspect_dates(levels: list[str]) -> Plan | None:
    sample = levels[:: max(1, len(levels) // 200)]
    if np.mean([bool(_DATE_LIKE.match(level)) for level in sample]) < MOSTLY:
        return None
    fits = [f for f in DATE_FORMATS if np.isfinite(_parse_dates(sample, f)).mean() >= MOSTLY]
    if not fits:
        return None
    best = max(fits, key=lambda f: float(np.isfinite(_parse_dates(sample, f)).mean()))
    swapped = best.replace("%d", "@").replace("%m", "%d").replace("@", "%m")
    notes = []
    if best != "ISO8601" and swapped in DATE_FORMATS and swapped in fits and swapped != best:
        notes = [f"dates read as {best}; day and month could be the other way round"]
    return {"kind": "date", "format": best, "notes": notes}


def _drop_constant(plan: Plan, values: Any) -> Plan:
    if plan["kind"] in ("numeric", "boolean"):
        present = read_numbers(values)
        missing = bool(np.isnan(present).any())
        n_distinct = len(np.unique(present[~np.isnan(present)]))
    elif plan["kind"] in ("category", "date", "identifier"):
        codes, levels = distinct_strings(values)
        missing, n_distinct = bool((codes < 0).any()), len(levels)
    else:
        return plan
    if n_distinct == 0:
        return {"kind": "empty", "why": "no value can be used", "notes": plan["notes"]}
    if n_distinct == 1 and not missing:
        return {"kind": "constant", "why": "every value is the same", "notes": plan["notes"]}
    return plan
