"""What a plan is: how one column becomes features, learnt on training rows, applied to any row.

Plans are data, so that a fitted encoder can be kept in a file that is data and not code.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.core.schema import List, Schema, Text
from corollary.representation.table.column import Column

#: Letters of a value that cannot be read, and such values of a column, that are quoted at most.
LONGEST, MOST_NAMED = 40, 100


def _common_fields(*kinds: str) -> dict[str, Any]:
    """Return what model files hold of every plan; the kind is one of these."""
    return {"name": Text(), "kind": Text(kinds), "notes": List(Text())}


@dataclass(frozen=True, eq=False)
class ColumnPlan(ABC):
    """How one column becomes features.

    Parameters
    ----------
    name : str
        The column.
    kind : str
        What it holds.
    notes : list of str
        What had to be decided about it.

    Examples
    --------
    >>> import pandas as pd
    >>> from corollary.representation import ColumnPlan, TableEncoder
    >>> plan = TableEncoder().fit(pd.DataFrame({"size": [1.0, None, 3.0]})).plans_[0]
    >>> isinstance(plan, ColumnPlan), plan.kind, plan.width, plan.features
    (True, 'numeric', 2, [('', 'each'), (' missing', 'no')])
    """

    name: str
    kind: str
    notes: list[str]

    @property
    @abstractmethod
    def features(self) -> list[tuple[str, str]]:
        """End of each feature's name, and whether it is scaled: "each", "joint" or "no"."""

    @property
    def width(self) -> int:
        """Number of features."""
        return len(self.features)

    @abstractmethod
    def apply(self, column: Column, *, fill: bool = True) -> np.ndarray:
        """Encode a column.

        Parameters
        ----------
        column : Column
            Its values.
        fill : bool, default=True
            Whether missing numbers are filled by the median; otherwise they are NaN.

        Returns
        -------
        block : ndarray of shape (n, width)
            Its features, not yet scaled.
        """

    def beyond(self, column: Column) -> list[tuple[np.ndarray, str]]:
        """Find numbers beyond those of training, which any further row may well have.

        Parameters
        ----------
        column : Column
            Values.

        Returns
        -------
        beyond : list of (ndarray of bool, str)
            Rows, and on which side they lie.
        """
        return []

    def out_of_reach(self, column: Column) -> list[tuple[np.ndarray, str]]:
        """Find numbers so far beyond those of training that features do not follow them.

        Parameters
        ----------
        column : Column
            Values.

        Returns
        -------
        out_of_reach : list of (ndarray of bool, str)
            Rows, and on which side they lie.
        """
        return []

    def unusual(self, column: Column) -> list[tuple[np.ndarray, str]]:
        """Find values that training rows did not have, except for numbers beyond theirs.

        Parameters
        ----------
        column : Column
            Values.

        Returns
        -------
        unusual : list of (ndarray of bool, str)
            Rows, and what is unusual about them.
        """
        return []


@dataclass(frozen=True, eq=False)
class UnusedPlan(ColumnPlan):
    """The plan of a column that carries nothing: it has no features.

    Parameters
    ----------
    name : str
        The column.
    kind : {"empty", "constant", "identifier"}
        What it holds.
    notes : list of str
        What had to be decided about it.
    why : str
        Why it is of no use.

    Examples
    --------
    >>> import pandas as pd
    >>> from corollary.representation import TableEncoder
    >>> table = pd.DataFrame({"size": [1.0, 2.0], "same": ["a", "a"]})
    >>> TableEncoder().fit(table).plans_[1].why
    'every value is the same'
    """

    why: str

    _schema = Schema(**_common_fields("empty", "constant", "identifier"), why=Text())

    @property
    def features(self) -> list[tuple[str, str]]:
        """No features."""
        return []

    def apply(self, column: Column, *, fill: bool = True) -> np.ndarray:
        """Return no features."""
        return np.empty((len(column), 0))


def _rows_missing(missing: np.ndarray, in_training: bool) -> list[tuple[np.ndarray, str]]:
    """Say of missing values that training rows had none."""
    return [] if in_training else [(missing, "missing, which it never was in training")]


def _rows_unread(
    column: Column, unread: np.ndarray, in_training: bool, what: str
) -> list[tuple[np.ndarray, str]]:
    """Say of values without a number, or a date, that they are missing or what stands there."""
    codes, levels = column.strings if unread.any() else (np.full(len(unread), -1), [])
    words = np.unique(codes[unread & (codes >= 0)])
    named = [
        (unread & (codes == k), f"{levels[k][:LONGEST]!r} is not {what}")
        for k in words[:MOST_NAMED]
    ]
    others = unread & np.isin(codes, words[MOST_NAMED:])
    return [*_rows_missing(unread & (codes < 0), in_training), *named, (others, f"not {what}")]
