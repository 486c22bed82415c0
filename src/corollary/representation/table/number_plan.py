"""Numbers: themselves, their logarithms where skewed, words among them, and what is missing."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from corollary.core.schema import Flag, List, Number, Schema, Text
from corollary.representation.table._kinds import FEW
from corollary.representation.table.column import Column
from corollary.representation.table.plan import ColumnPlan, _common_fields, _rows_unread

#: Positive numbers more skewed than this get their logarithm as a second feature.
SKEWED = 1.0
#: More zeros than this share, and more than three, are a habit of the data.
FEW_ZEROS = 0.005


def _fits(plan: "NumberPlan") -> str | None:
    return "numbers that are not positive have no logarithm" if plan.log and plan.low <= 0 else None


@dataclass(frozen=True, eq=False)
class NumberPlan(ColumnPlan):
    """The plan of a column of numbers, or of true and false.

    Parameters
    ----------
    name : str
        The column.
    kind : {"numeric", "boolean"}
        What it holds.
    notes : list of str
        What had to be decided about it.
    tokens : list of str
        Frequent words among the numbers; each has an indicator.
    median : float
        What fills missing values that other columns do not explain.
    log : bool
        Whether the logarithm is a second feature: of positive, skewed numbers.
    missing : bool
        Whether training rows had missing values; an indicator marks them.
    low, high : float
        Smallest and largest training value.
    zero : bool, default=False
        Whether a 0 is a missing value, as in plans of earlier versions; no plan is learnt so.

    Examples
    --------
    >>> import pandas as pd
    >>> from corollary.representation import TableEncoder
    >>> plan = TableEncoder().fit(pd.DataFrame({"size": [1.0, None, 3.0]})).plans_[0]
    >>> plan.median, plan.low, plan.high, plan.missing
    (2.0, 1.0, 3.0, True)
    """

    tokens: list[str]
    median: float
    log: bool
    missing: bool
    low: float
    high: float
    zero: bool = False

    _schema = Schema(
        _fits,
        **_common_fields("numeric", "boolean"),
        tokens=List(Text()),
        median=Number(),
        log=Flag(),
        missing=Flag(),
        low=Number(),
        high=Number(),
        zero=Flag(),
    )

    @classmethod
    def learn(cls, column: Column) -> Self:
        """Learn the plan from the training rows of a column."""
        content, numbers = column.content, column.numbers
        numeric = content.kind == "numeric"
        present = numbers[~np.isnan(numbers)]
        words = _spell_tokens(content.tokens, column)
        return cls(
            name=column.name,
            kind=content.kind,
            notes=content.notes,
            tokens=content.tokens,
            median=float(np.median(present) if numeric else present.mean() >= 0.5),
            log=numeric and _is_skewed(present),
            missing=bool((np.isnan(numbers) & ~words.any(axis=1)).any()),
            low=float(present.min()),
            high=float(present.max()),
        )

    @property
    def features(self) -> list[tuple[str, str]]:
        """The number, its logarithm, words among numbers, and whether it is missing."""
        return [
            ("", "each" if self.kind == "numeric" else "no"),
            *[(" log", "each")] * self.log,
            *[(f"={token}", "no") for token in self.tokens],
            *[(" missing", "no")] * self.missing,
        ]

    def apply(self, column: Column, *, fill: bool = True) -> np.ndarray:
        """Encode a column; missing numbers are NaN unless they are filled by the median."""
        numbers = _without_zeros(column.numbers, self.zero)
        missing = np.isnan(numbers)
        # One range beyond the training range is as far as any extrapolation is trusted: a slipped
        # decimal point or a huge number must not dominate a prediction.
        reach = self.high - self.low
        filled = np.clip(numbers, self.low - reach, self.high + reach)
        words = _spell_tokens(self.tokens, column)
        unsaid = missing & ~words.any(axis=1)
        fill = fill or self.kind == "boolean"
        filled = np.where(missing if fill else missing & ~unsaid, self.median, filled)
        parts = [filled]
        if self.log:
            parts.append(self.logarithm(filled))
        parts.append(words)
        if self.missing:
            parts.append(unsaid.astype(np.float64))
        return np.column_stack(parts)

    def logarithm(self, numbers: np.ndarray) -> np.ndarray:
        """Take logarithms, as near to zero as half the smallest training value.

        Parameters
        ----------
        numbers : ndarray of shape (n,)
            Numbers.

        Returns
        -------
        logarithms : ndarray of shape (n,)
            Finite for every number.
        """
        return np.log(np.maximum(numbers, max(self.low / 2, np.finfo(np.float64).tiny)))

    def beyond(self, column: Column) -> list[tuple[np.ndarray, str]]:
        """Find numbers outside the training range."""
        return [
            (column.numbers < self.low, "below the training range"),
            (column.numbers > self.high, "above the training range"),
        ]

    def out_of_reach(self, column: Column) -> list[tuple[np.ndarray, str]]:
        """Find numbers that lie outside the training range by more than its width."""
        reach = self.high - self.low
        return [
            (column.numbers < self.low - reach, "far below the training range"),
            (column.numbers > self.high + reach, "far above the training range"),
        ]

    def unusual(self, column: Column) -> list[tuple[np.ndarray, str]]:
        """Find missing numbers, and texts in their place."""
        missing = np.isnan(column.numbers)
        if self.tokens:
            missing &= ~_spell_tokens(self.tokens, column).any(axis=1)
        return _rows_unread(column, missing, self.missing, "a number")


def is_few(count: int, n: int) -> bool:
    """Tell whether so many odd values of n are a mistake rather than a habit of the data.

    Parameters
    ----------
    count : int
        Odd values.
    n : int
        All values.

    Returns
    -------
    few : bool
        At most three, or at most half a percent.

    Examples
    --------
    >>> from corollary.representation import is_few
    >>> is_few(3, 100), is_few(30, 1000)
    (True, False)
    """
    return count <= max(3.0, FEW_ZEROS * n)


def stays_away_from_zero(present: np.ndarray) -> bool:
    """Tell whether numbers, zeros aside, are positive, many, varied and never near 0.

    Parameters
    ----------
    present : ndarray of shape (n,)
        Numbers, none missing.

    Returns
    -------
    away : bool
        Whether an exact 0 among them would look like a missing value.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.representation import stays_away_from_zero
    >>> stays_away_from_zero(np.linspace(5.0, 9.0, 100)), stays_away_from_zero(np.arange(100.0))
    (True, False)
    """
    positive = present[present > 0]
    if len(positive) < 50 or present.min() < 0 or len(np.unique(positive)) < 20:
        return False
    return bool(positive.min() >= 0.2 * np.median(positive))


def _without_zeros(numbers: np.ndarray, zero: bool) -> np.ndarray:
    return np.where(numbers == 0, np.nan, numbers) if zero else numbers


def _is_skewed(present: np.ndarray) -> bool:
    """Tell whether positive numbers are clearly less skewed on the log scale."""
    if len(present) < FEW or present.min() <= 0:
        return False
    before, after = _skewness(present), _skewness(np.log(present))
    return bool(before > SKEWED and abs(after) < 0.5 * before)


def _skewness(values: np.ndarray) -> float:
    centred = values / np.abs(values).max() if values.any() else values
    centred = centred - centred.mean()
    return float((centred**3).mean() / max((centred**2).mean() ** 1.5, np.finfo(float).tiny))


def _spell_tokens(tokens: list[str], column: Column) -> np.ndarray:
    """Mark the frequent words among numbers: one indicator per word."""
    if not tokens:
        return np.empty((len(column), 0), dtype=bool)
    codes, levels = column.strings
    place = {level: i for i, level in enumerate(levels)}
    return codes[:, None] == np.asarray([place.get(token, -2) for token in tokens])
