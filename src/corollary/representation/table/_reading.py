"""Values of a column as strings, numbers and dates, whatever clothes they come in."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np

_NUMBER = re.compile(r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
_THOUSANDS = re.compile(r"^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$")
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
    """Read a string as a number, allowing for currency signs, percent and thousands commas."""
    text = text.strip().strip("$€£").strip().removesuffix("%").strip()
    if _THOUSANDS.match(text):
        text = text.replace(",", "")
    return float(text) if _NUMBER.match(text) else np.nan


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

    dates = pd.to_datetime(
        pd.Series(levels, dtype=object), format=date_format, errors="coerce", utc=True
    )
    return _seconds(pd.DatetimeIndex(dates).tz_localize(None))


def _seconds(dates: Any) -> np.ndarray:
    ticks = dates.to_numpy().astype("datetime64[s]")
    return np.where(np.isnat(ticks), np.nan, ticks.astype(np.int64))
