"""The column that says when a row was, and whether the file has an order of its own."""

import re
from typing import NamedTuple

import numpy as np

from corollary.validation.dependence._search.table import Reading, rank_correlation

#: Names that columns of time often have.
TIME_NAME = re.compile(
    r"(^|[_\W])(year|yr|date|day|week|month|quarter|period|time|timestamp|hour|t)$", re.IGNORECASE
)
#: Seconds since 1970 of the years 1979 to 2096.
UNIX_SECONDS = (3e8, 4e9)
#: Correlation of ranks with the row number from which a file is sorted by a column.
SORTED = 0.98


class Moment(NamedTuple):
    """A column that orders the rows."""

    certain: bool  # whether it is a time; else the file is merely sorted by it
    is_date: bool
    n_values: int
    column: int


def find_moment(table: Reading) -> Moment | None:
    """Find the column that says when, or by which the file is sorted; one at most."""
    moments = [m for j in range(len(table.names)) if (m := _moment_of(table, j)) is not None]
    return max(moments, default=None)


def _moment_of(table: Reading, j: int) -> Moment | None:
    kind, x, n_values = table.kinds[j], table.numbers[:, j], int(table.n_values[j])
    missing = np.isnan(x)
    if kind == "text" or n_values < 10 or missing.mean() > (0.1 if kind == "date" else 0):
        return None
    steps = np.diff(x[~missing])
    order = np.arange(table.n_rows) - (table.n_rows - 1) / 2
    sorted_by = abs(rank_correlation(table.ranks[:, j], order)) > SORTED
    # In blocks, each sorted, descents are rare too.
    rare = min(0.1, 0.1 * (1 - table.chance[j]))
    ordered = sorted_by or min((steps < 0).mean(), (steps > 0).mean()) < rare
    gaps = np.diff(np.unique(x[~missing]))
    regular = kind == "whole" and (gaps == np.median(gaps)).mean() > 0.9
    low, high = UNIX_SECONDS
    certain = (
        kind == "date"
        or (kind == "whole" and low < np.median(x) < high and n_values > 50)
        or (
            ordered
            and (bool(TIME_NAME.search(table.names[j])) or (regular and n_values > len(x) / 2))
        )
    )
    if kind != "date" and _belongs_to_an_owner(table, j):
        return None
    if not certain and not ordered:
        return None
    return Moment(bool(certain), kind == "date", n_values, j)


def _belongs_to_an_owner(table: Reading, j: int) -> bool:
    """Whether another column determines this one, as a person determines a year of birth."""
    for k, kind in enumerate(table.kinds):
        finer = table.n_values[j] < table.n_values[k] < table.n_rows / 2
        named = kind in ("whole", "text") and table.n_values[k] >= 20
        if k != j and finer and named and table.fixed_within(k)[j] > SORTED:
            return True
    return False


def find_order(table: Reading) -> bool:
    """Whether the order of the rows may say something, for no column sorts the file."""
    n = table.n_rows
    order = np.arange(n) - (n - 1) / 2
    for j, kind in enumerate(table.kinds):
        n_values = table.n_values[j]
        if kind == "text":
            n_runs = 1 + int((np.diff(table.codes[:, j]) != 0).sum())
            if 5 <= n_values < n / 2 and n_runs < 2 * n_values:
                return False
        elif n_values >= 5 and abs(rank_correlation(table.ranks[:, j], order)) > SORTED:
            return False
    return True
