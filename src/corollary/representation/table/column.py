"""Columns that are read once, whoever asks for them, and for whichever of their rows."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from corollary.representation.table._kinds import ColumnContent, inspect_column
from corollary.representation.table._reading import (
    Strings,
    distinct_strings,
    read_dates,
    read_numbers,
)


class Column:
    """One column of a table: its values as numbers, as strings, as dates, each read once.

    Numbers and dates written as strings, currency signs, percent and thousands commas are read for
    what they are. Rows that are taken from a column (:meth:`take`) share what was read of it.

    Parameters
    ----------
    values : pandas Series
        The values as they arrived.

    Examples
    --------
    >>> import pandas as pd
    >>> from corollary.representation import Column
    >>> price = Column(pd.Series(["$1,200", "80", "unknown"], name="price"))
    >>> price.numbers
    array([1200.,   80.,   nan])
    >>> price.take([1]).strings
    (array([0]), ['80'])
    """

    def __init__(self, values: Any) -> None:
        self._values = values
        self._parent: Column | None = None
        self._rows: Any = None
        self._dates: dict[str, np.ndarray] = {}
        self._read_as: ColumnContent | None = None

    def read_as(self, content: ColumnContent) -> "Column":
        """Fix what the column holds, for whichever of its rows are taken.

        Parameters
        ----------
        content : ColumnContent
            What it holds. Rows that are all missing, or all the same, still say so.

        Returns
        -------
        column : Column
            The same column, read so.
        """
        column = self.take(np.arange(len(self)))
        column._read_as = content
        return column

    def take(self, rows: Any) -> "Column":
        """Take some of the rows.

        Parameters
        ----------
        rows : array-like of int
            Their positions.

        Returns
        -------
        column : Column
            The same column, of these rows in this order.
        """
        part = Column(None)
        part._parent, part._rows = self, np.asarray(rows, dtype=np.intp)
        part._read_as = self._read_as
        return part

    def __len__(self) -> int:
        return len(self._values) if self._parent is None else len(self._rows)

    @cached_property
    def values(self) -> Any:
        """The values as they arrived."""
        return self._values if self._parent is None else self._parent.values.iloc[self._rows]

    @property
    def name(self) -> str:
        """Name of the column."""
        return str(self._values.name) if self._parent is None else self._parent.name

    @cached_property
    def numbers(self) -> np.ndarray:
        """The values as numbers; NaN where there is no finite one."""
        if self._parent is not None:
            return self._parent.numbers[self._rows]
        return read_numbers(self._values, lambda: self.strings)

    @cached_property
    def strings(self) -> Strings:
        """Codes of the rows (-1 where missing), and the distinct strings by first appearance."""
        if self._parent is None:
            return distinct_strings(self._values)
        codes, levels = self._parent.strings
        codes = codes[self._rows]
        present = codes >= 0
        # As if these rows were the whole column: by first appearance among them.
        kept, first, inverse = np.unique(codes[present], return_index=True, return_inverse=True)
        order = np.argsort(first)
        recoded = np.full(len(codes), -1)
        recoded[present] = np.argsort(order)[inverse]
        return recoded, [levels[code] for code in kept[order]]

    def dates(self, date_format: str) -> np.ndarray:
        """Read the values as dates.

        Parameters
        ----------
        date_format : str
            Format of dates that are written as strings; empty for ISO 8601.

        Returns
        -------
        seconds : ndarray of shape (n,)
            Seconds since 1970; NaN where there is no date.
        """
        if self._parent is not None:
            return self._parent.dates(date_format)[self._rows]
        if date_format not in self._dates:
            self._dates[date_format] = read_dates(self._values, lambda: self.strings, date_format)
        return self._dates[date_format]

    @cached_property
    def content(self) -> ColumnContent:
        """What kind of values the column holds, with notes, and why it may be of no use."""
        content = inspect_column(self)
        if self._read_as is None or content.kind in ("empty", "constant"):
            return content
        return self._read_as


class ColumnTable:
    """A table of columns that are read once.

    Parameters
    ----------
    columns : sequence of Column
        The columns, all of the same length.

    See Also
    --------
    TableEncoder : Takes such a table wherever it takes a data frame.

    Examples
    --------
    >>> import pandas as pd
    >>> from corollary.representation import ColumnTable
    >>> table = ColumnTable.of(pd.DataFrame({"size": ["1", "2"], "colour": ["red", "blue"]}))
    >>> table.names, len(table.take([0])), table["size"].numbers.tolist()
    (['size', 'colour'], 1, [1.0, 2.0])
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = tuple(columns)

    @classmethod
    def of(cls, frame: Any) -> "ColumnTable":
        """Wrap a data frame.

        Parameters
        ----------
        frame : pandas DataFrame
            Any columns.

        Returns
        -------
        table : ColumnTable
            Its columns.
        """
        return cls([Column(frame.iloc[:, j]) for j in range(frame.shape[1])])

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self.columns]

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def __getitem__(self, name: str) -> Column:
        return self.columns[self.names.index(name)]

    def take(self, rows: Any) -> "ColumnTable":
        """Take some of the rows.

        Parameters
        ----------
        rows : array-like of int
            Their positions.

        Returns
        -------
        table : ColumnTable
            These rows, in this order.
        """
        return ColumnTable([column.take(rows) for column in self.columns])

    def select(self, names: Sequence[str]) -> "ColumnTable":
        """Select columns.

        Parameters
        ----------
        names : sequence of str
            Their names.

        Returns
        -------
        table : ColumnTable
            These columns, in this order.
        """
        by_name = dict(zip(self.names, self.columns))
        return ColumnTable([by_name[name] for name in names])
