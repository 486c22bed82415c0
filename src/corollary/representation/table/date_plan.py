"""Dates as numbers: year, month, day, weekday, time of day, seconds since 1970."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from corollary.core.schema import Flag, Mapping, Number, Schema, Text
from corollary.representation.table._kinds import DATE_FORMATS
from corollary.representation.table.column import Column
from corollary.representation.table.plan import ColumnPlan, _common_fields, _rows_unread

#: Features of a date, in order.
PARTS = (" year", " month", " day", " weekday", " hour", " seconds")


def _fits(plan: "DatePlan") -> str | None:
    return None if set(plan.medians) <= set(PARTS) else "a date has no such part"


@dataclass(frozen=True, eq=False)
class DatePlan(ColumnPlan):
    """The plan of a column of dates.

    Parameters
    ----------
    name : str
        The column.
    kind : {"date"}
        What it holds.
    notes : list of str
        What had to be decided about it.
    date_format : str
        Format of dates that are written as strings; empty for others.
    medians : dict of str to float
        Parts of a date that become features, each with what fills it.
    missing : bool
        Whether training rows had missing values; an indicator marks them.
    low, high : float
        Earliest and latest training date, in seconds since 1970.

    Examples
    --------
    >>> import pandas as pd
    >>> from corollary.representation import TableEncoder
    >>> days = pd.DataFrame({"day": ["2020-01-31", "2021-05-01"]})
    >>> TableEncoder().fit(days).plans_[0].features[:2]
    [(' year', 'each'), (' month', 'each')]
    """

    date_format: str
    medians: dict[str, float]
    missing: bool
    low: float
    high: float

    _schema = Schema(
        _fits,
        **_common_fields("date"),
        date_format=Text(("", *DATE_FORMATS)),
        medians=Mapping(Number()),
        missing=Flag(),
        low=Number(),
        high=Number(),
    )

    @classmethod
    def learn(cls, column: Column) -> Self:
        """Learn the plan from the training rows of a column."""
        content = column.content
        seconds = column.dates(content.date_format)
        parts = _date_parts(seconds)
        if not np.nanmax(parts[" hour"]) > 0:
            del parts[" hour"]
        # Within one year the month is the date once more: a model could not tell them apart, and
        # the next January would be eleven months back. Within one month the day is.
        if np.nanmin(parts[" year"]) == np.nanmax(parts[" year"]):
            if np.nanmin(parts[" month"]) == np.nanmax(parts[" month"]):
                del parts[" day"]
            del parts[" month"]
        return cls(
            name=column.name,
            kind=content.kind,
            notes=content.notes,
            date_format=content.date_format,
            medians={name: float(np.nanmedian(part)) for name, part in parts.items()},
            missing=bool(np.isnan(seconds).any()),
            low=float(np.nanmin(seconds)),
            high=float(np.nanmax(seconds)),
        )

    @property
    def features(self) -> list[tuple[str, str]]:
        """Parts of the date, and whether it is missing."""
        return [(name, "each") for name in self.medians] + [(" missing", "no")] * self.missing

    def apply(self, column: Column, *, fill: bool = True) -> np.ndarray:
        """Encode a column; missing dates get the medians of their parts."""
        seconds = column.dates(self.date_format)
        parts, missing = _date_parts(seconds), np.isnan(seconds)
        columns = [np.where(missing, m, parts[name]) for name, m in self.medians.items()]
        if self.missing:
            columns.append(missing.astype(np.float64))
        return np.column_stack(columns)

    def unusual(self, column: Column) -> list[tuple[np.ndarray, str]]:
        """Find dates before those of training or far beyond them, and missing ones.

        Rows that come after training are what models are for; only where the time since is longer
        than the training rows lasted is a date more likely wrong than late.
        """
        seconds = column.dates(self.date_format)
        return [
            (seconds < self.low, "below the training range"),
            (seconds > 2 * self.high - self.low, "far beyond the training range"),
            *_rows_unread(column, np.isnan(seconds), self.missing, "a date"),
        ]

    def later(self, column: Column) -> np.ndarray:
        """Mark the rows whose date lies after all dates of training.

        Parameters
        ----------
        column : Column
            Values.

        Returns
        -------
        later : ndarray of bool of shape (n,)
            False where the date is missing.
        """
        return column.dates(self.date_format) > self.high


def _date_parts(seconds: np.ndarray) -> dict[str, np.ndarray]:
    missing = np.isnan(seconds)
    stamps = np.where(missing, 0, seconds).astype(np.int64).astype("datetime64[s]")
    days, months = stamps.astype("datetime64[D]"), stamps.astype("datetime64[M]")
    parts = (
        stamps.astype("datetime64[Y]").astype(np.int64) + 1970,
        months.astype(np.int64) % 12 + 1,
        (days - months.astype("datetime64[D]")).astype(np.int64) + 1,
        (days.astype(np.int64) + 3) % 7,  # 1970-01-01 was a Thursday; Monday is 0
        (stamps - days.astype("datetime64[s]")).astype(np.int64) / 3600.0,
        stamps.astype(np.int64),
    )
    return {name: np.where(missing, np.nan, part) for name, part in zip(PARTS, parts)}
