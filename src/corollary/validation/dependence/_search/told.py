"""Units that the user names."""

from typing import Any

import numpy as np

from corollary.representation import Column
from corollary.validation.dependence._hashes import number_units
from corollary.validation.dependence._search.candidate import Candidate
from corollary.validation.dependence.moments import stretches
from corollary.validation.dependence.records import Unit


def told_candidates(n: int, groups: Any, time: Any, order: bool) -> list[Candidate]:
    """Read owners and moments as they were told."""
    candidates = [_owner(n, column) for column in _several(groups)]
    if time is not None:
        moments = _moments(n, time)
        unit = Unit("time", _name(time), stretches(moments), moments, ("dated",), told=True)
        candidates.append(Candidate(unit, forward=True))
    if order:
        moments = np.arange(n, dtype=np.float64)
        unit = Unit("order", (), stretches(moments), moments, ("dated",), told=True)
        candidates.append(Candidate(unit, forward=True))
    return candidates


def _several(groups: Any) -> list[Any]:
    """Return columns of owners, whether one was passed, a list of several, or a data frame."""
    if groups is None:
        return []
    if hasattr(groups, "columns"):
        return [groups[name] for name in groups.columns]
    if isinstance(groups, list | tuple) and len(groups) and np.ndim(groups[0]) == 1:
        return list(groups)
    return [groups]


def _name(column: Any) -> tuple[str, ...]:
    """Return the name of a column that has one."""
    name = getattr(column, "name", None)
    return () if name is None else (str(name),)


def _column(n: int, who: str, values: Any) -> Column:
    """Wrap values as a column of the table, or raise."""
    import pandas as pd

    if hasattr(values, "to_pandas"):
        values = values.to_pandas()
    if np.ndim(values) != 1 or len(values) != n:
        raise ValueError(
            f"find_dependence needs one value of {who} for each of {n} rows. "
            f"Got an array of shape {np.shape(values)}."
        )
    return Column(pd.Series(values).reset_index(drop=True))


def _owner(n: int, values: Any) -> Candidate:
    codes, levels = _column(n, "groups", values).strings
    missing = np.flatnonzero(codes < 0)
    codes = codes.copy()
    codes[missing] = len(levels) + np.arange(len(missing))
    n_units = len(levels) + len(missing)
    if n_units < 2 or n_units == n:
        what = "one owner only" if n_units < 2 else "a different owner in every row"
        raise ValueError(
            "find_dependence needs groups of at least two owners, one of them with several rows. "
            f"Got {what}. Leave groups out if rows are independent."
        )
    return Candidate(Unit("owner", _name(values), number_units(codes), told=True))


def _moments(n: int, values: Any) -> np.ndarray:
    column = _column(n, "time", values)
    content = column.content
    numbers = column.dates(content.date_format) if content.kind == "date" else column.numbers
    if len(np.unique(numbers[~np.isnan(numbers)])) < 2:
        raise ValueError(
            "find_dependence needs dates or numbers as time, at least two different ones. "
            f"Got values such as {column.strings[1][:3]}. Convert them, for example with "
            "pandas.to_datetime."
        )
    return np.asarray(numbers, dtype=np.float64)
