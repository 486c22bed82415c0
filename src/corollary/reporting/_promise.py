"""Which promise holds for a new row: its owner may be known, or it may lie beyond the period."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from corollary.core.fingerprint import hash_rows
from corollary.core.schema import Array, List, Number, Schema, Text

if TYPE_CHECKING:
    from corollary.reporting._settle import Settled
    from corollary.representation import ColumnTable


@dataclass(frozen=True, eq=False)
class Promise:
    """Of which rows a model's promise speaks, so that new rows can be told apart.

    Parameters
    ----------
    kind : {"new units", "period"}
        Whether it speaks of rows of new units or of rows up to a moment.
    columns : tuple of str
        Columns that say whose, or when, a row is.
    rows : str
        The rows it speaks of, in words.
    piece : str
        What a unit is called.
    hashes : ndarray of int
        Units that the model was trained on, in the form of hashes.
    until : float
        Last moment of a period.
    end : str
        The same in words.
    date_format : str
        How moments are written; "number" for numbers.
    coverage : float
        Share of rows of new units whose set or interval holds the truth, at least; of a period the
        share that held it there, for nothing is proved about rows of a period.

    See Also
    --------
    ReportModel : Tells with every prediction which promise holds.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from corollary.reporting import Promise
    >>> from corollary.representation import ColumnTable
    >>> promise = Promise(
    ...     "period", ("day",), "the rows from day 10 to day 20", "row", np.zeros(0, np.int64),
    ...     20.0, "day 20", "number", 0.9,
    ... )
    >>> promise.of(ColumnTable.of(pd.DataFrame({"day": [15, 21]})))
    ['none: 90% of the rows from day 10 to day 20 were held, nothing is proved',
     'none: beyond day 20, where nothing was tested']
    """

    kind: str
    columns: tuple[str, ...]
    rows: str
    piece: str
    hashes: np.ndarray
    until: float
    end: str
    date_format: str
    coverage: float

    _schema = Schema(
        kind=Text(("new units", "period")),
        columns=List(Text()),
        rows=Text(),
        piece=Text(),
        hashes=Array("i", "*"),
        until=Number(infinite=True),
        end=Text(),
        date_format=Text(),
        coverage=Number(0.0, 1.0),
    )

    def outside(self, table: "ColumnTable") -> np.ndarray:
        """Mark the rows that the promise does not speak of.

        Parameters
        ----------
        table : ColumnTable
            New rows.

        Returns
        -------
        outside : ndarray of bool
            Whether the unit of a row was trained on, or its moment lies beyond the period; False
            where the table does not say.
        """
        if not self.columns or not set(self.columns) <= set(table.names):
            return np.zeros(len(table), dtype=bool)
        if self.kind == "new units":
            return np.isin(hash_units(table, self.columns), self.hashes)
        column = table[self.columns[0]]
        numbers = self.date_format == "number"
        return (column.numbers if numbers else column.dates(self.date_format)) > self.until

    def of(self, table: "ColumnTable") -> list[str]:
        """Say for each row which promise holds.

        Parameters
        ----------
        table : ColumnTable
            New rows.

        Returns
        -------
        promises : list of str
            In words.
        """
        if self.kind == "new units":
            promised = f"{100 * self.coverage:.6g}% for {self.rows}"
            none = f"none: this {self.piece} was trained on; {promised}"
        else:
            promised = f"none: {self.coverage:.0%} of {self.rows} were held, nothing is proved"
            none = f"none: beyond {self.end}, where nothing was tested"
        return [none if beyond else promised for beyond in self.outside(table)]


def hash_units(table: "ColumnTable", columns: tuple[str, ...]) -> np.ndarray:
    """Give rows that agree in all these columns the same number, in any table."""
    import pandas as pd

    parts = []
    for name in columns:
        column = table[name]
        codes, levels = column.strings
        numbers = column.numbers
        # Numbers are what they are worth (7, 7.0 and "7" are one owner), other values their text.
        keys = [f"{x:.17g}" for x in _level_numbers(codes, numbers, len(levels))]
        words = np.array(
            [k if k != "nan" else w for k, w in zip(keys, levels)] + [""], dtype=object
        )
        parts.append(pd.util.hash_array(words, categorize=False)[codes].astype(np.float64))
    return hash_rows(np.column_stack(parts)).astype(np.int64)


def _level_numbers(codes: np.ndarray, numbers: np.ndarray, n_levels: int) -> np.ndarray:
    """Give the number that each distinct string stands for."""
    values = np.full(n_levels, np.nan)
    values[codes[codes >= 0]] = numbers[codes >= 0]
    return values


def make_promise(settled: "Settled", coverage: float, held: float) -> Promise | None:
    """Write down what new rows are told apart by; nothing where rows are drawn alike.

    `held` is the share of test rows whose set or interval held the truth.
    """
    unit, subject, population = settled.unit, settled.subject, settled.split.population
    if unit is None:
        return None
    dated, hashes, until = "", np.zeros(0, np.int64), np.inf
    if unit.moments is None:
        train = subject.columns.select(unit.columns).take(settled.split.train)
        hashes = np.unique(hash_units(train, unit.columns))
    elif unit.columns:
        content = subject.columns[unit.columns[0]].content
        dated = content.date_format if content.kind == "date" else "number"
        until = float(np.nanmax(unit.moments))
    return Promise(
        population.kind,
        unit.columns,
        population.rows,
        population.piece,
        hashes,
        until,
        str(population.end),
        dated,
        held if population.kind == "period" else coverage,
    )
