"""Values of a column as strings, numbers and dates, whatever clothes they come in."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np

_NUMBER = re.compile(r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
_THOUSANDS = re.compile(r"^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$")
_CLOCK = re.compile(
    r"^(\d{1,3}):([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?(?:\s?([ap])\.?m\.?)?$", re.IGNORECASE
)
_QUARTER = re.compile(r"^(\d{4})[ -]?[Qq]([1-4])$")
#: The format of quarters of a year, such as 2020Q1.
QUARTER = "%YQ"
_WITH_UNIT = re.compile(r"^(.*[\d.])(\s*)([a-zA-Zµ°²³/]{1,6})$")
#: Units that numbers may carry; those of one letter after a space only, unlike seats such as 12A.
_UNIT = re.compile(
    "kg|g|mg|µg|lbs?|oz|t|km|m|cm|mm|mi|miles?|ft|in|yd|l|ml|dl|cl|gal|km/h|kmh|mph|m/s|kn|hp|ps|kw|w"
    "|kwh|wh|v|mv|a|ma|hz|khz|mhz|ghz|kb|mb|gb|tb|cc|[ck]?m²|[cm]?m³|ha|h|hrs?|hours?|min|mins|s|secs?"
    "|ms|d|days?|wk|weeks?|mo|months?|y|yrs?|years?|°c|°f|k|bar|h?pa|kpa|psi|db|px|pt|usd|eur|gbp|chf",
    re.IGNORECASE,
)
#: Numbers beyond it, a million of which could not be added, count as this one.
LARGEST = 1e302
#: Codes of the rows (-1 for none) and the distinct strings they stand for.
Strings = tuple[np.ndarray, list[str]]


def distinct_strings(values: Any) -> Strings:
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
    """Read a string as a number.

    Currency signs, percent, thousands commas and units are left out; clock times become hours.
    """
    text = text.strip().strip("$€£").strip().removesuffix("%").strip()
    if ":" in text:
        return to_hours(text)
    if unit := unit_of(text):
        text = text[: -len(unit)].rstrip()
    if _THOUSANDS.match(text):
        text = text.replace(",", "")
    return float(text) if _NUMBER.match(text) else np.nan


def unit_of(text: str) -> str:
    """Give the unit that a number carries, as it is written; empty if there is none."""
    match = _WITH_UNIT.match(text)
    if match is None or not _UNIT.fullmatch(match[3]):
        return ""
    return match[3] if match[2] or len(match[3]) > 1 else ""


def to_hours(text: str) -> float:
    """Read a clock time or a duration such as 13:30, 1:30 PM or 2:03:59 as hours."""
    match = _CLOCK.match(text)
    if match is None:
        return np.nan
    hours = float(match[1])
    if match[4]:
        hours = hours % 12 + 12 * (match[4].lower() == "p")
    return hours + float(match[2]) / 60 + float(match[3] or 0) / 3600


def read_numbers(values: Any, strings: Callable[[], Strings]) -> np.ndarray:
    """Read a column as numbers; what is no finite number becomes NaN, what is too large LARGEST."""
    from pandas.api import types

    if types.is_timedelta64_dtype(values.dtype):
        numbers = values.dt.total_seconds().to_numpy(dtype=np.float64, na_value=np.nan)
    elif types.is_bool_dtype(values.dtype) or types.is_numeric_dtype(values.dtype):
        numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        codes, levels = strings()
        words = {"true": 1.0, "false": 0.0}
        table = [words.get(level.lower(), to_number(level)) for level in levels]
        numbers = np.asarray([*table, np.nan])[codes]
    finite = np.isfinite(numbers)
    numbers = numbers if finite.all() else np.where(finite, numbers, np.nan)
    return np.clip(numbers, -LARGEST, LARGEST)


def read_dates(values: Any, strings: Callable[[], Strings], date_format: str) -> np.ndarray:
    """Read a column as dates in seconds since 1970."""
    import pandas as pd

    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        dates = pd.DatetimeIndex(values)
        if dates.tz is not None:
            dates = dates.tz_convert("UTC").tz_localize(None)
        return _seconds(dates)
    codes, levels = strings()
    return np.append(parse_dates(levels, date_format or "ISO8601"), np.nan)[codes]


def parse_dates(levels: list[str], date_format: str) -> np.ndarray:
    import pandas as pd

    if date_format == QUARTER:
        found = [_QUARTER.match(level) for level in levels]
        levels = [f"{m[1]}-{3 * int(m[2]) - 2:02d}-01" if m else "" for m in found]
        date_format = "ISO8601"
    dates = pd.to_datetime(
        pd.Series(levels, dtype=object), format=date_format, errors="coerce", utc=True
    )
    return _seconds(pd.DatetimeIndex(dates).tz_localize(None))


def _seconds(dates: Any) -> np.ndarray:
    ticks = dates.to_numpy().astype("datetime64[s]")
    return np.where(np.isnat(ticks), np.nan, ticks.astype(np.int64))
