"""A table as numbers for models, and as codes for equality."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from corollary.representation import Column, ColumnTable

Kind = Literal["whole", "number", "text", "date"]


@dataclass(frozen=True, eq=False)
class Reading:
    """The columns of a table that vary, each read as numbers and as codes."""

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    numbers: np.ndarray  # (n_rows, n_columns), NaN where missing
    codes: np.ndarray  # (n_rows, n_columns), -1 where missing
    has_digits: tuple[bool, ...]  # whether nearly all values of a text have digits

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    @cached_property
    def n_values(self) -> np.ndarray:
        """Distinct values of each column."""
        return self.codes.max(axis=0, initial=-1) + 1

    @cached_property
    def chance(self) -> np.ndarray:
        """Share of the pairs of rows that agree in each column."""
        n = max(self.n_rows, 2)
        return np.array([2 * pairs_of(column) / n / (n - 1) for column in self.codes.T])

    @cached_property
    def features(self) -> np.ndarray:
        """What a model is shown: numbers, missing ones below all others."""
        filled = self.numbers.copy()
        for column in filled.T:
            missing = np.isnan(column)
            if missing.any():
                low, high = np.nanmin(column), np.nanmax(column)
                column[missing] = low - max(high - low, 1.0)
        return filled

    @cached_property
    def ranks(self) -> np.ndarray:
        """Ranks of the numbers, centred; missing ones in the middle."""
        from scipy.stats import rankdata

        ranks = np.zeros(self.numbers.shape)
        for column, values in zip(ranks.T, self.numbers.T):
            present = ~np.isnan(values)
            column[present] = rankdata(values[present]) - (present.sum() + 1) / 2
        return ranks

    def alike(self, j: int, k: int) -> bool:
        """Whether one column is nearly a monotone recoding of the other."""
        return abs(rank_correlation(self.ranks[:, j], self.ranks[:, k])) > 0.9

    def fixed_within(self, j: int) -> np.ndarray:
        """Share of the neighbours of equal value in column j that agree in each column."""
        from corollary.validation.dependence._hashes import hash_column, thin

        rows = thin(hash_column(self.codes[:, j], j), 6000)
        rows = rows[self.codes[rows, j] >= 0]
        order = rows[np.argsort(self.codes[rows, j], kind="stable")]
        same = self.codes[order[1:], j] == self.codes[order[:-1], j]
        first, second = self.codes[order[:-1][same]], self.codes[order[1:][same]]
        if not len(first):
            return np.zeros(self.codes.shape[1])
        return ((first == second) & (first >= 0)).mean(axis=0)


def rank_correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Correlate two vectors of centred ranks."""
    scale = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / scale if scale > 0 else 0.0


def pairs_of(codes: np.ndarray) -> float:
    """Count the pairs of equal codes, missing ones left out."""
    size = np.bincount(codes[codes >= 0]).astype(np.float64)
    return float((size * (size - 1) / 2).sum())


def read_table(X: Any) -> Reading:
    """Read a data frame, an array or a table of columns."""
    every = as_columns(X)
    columns = [column for column in every.columns if column.content.kind != "empty"]
    parts = [_read_column(column) for column in columns]
    keep = [i for i, (_, _, codes, _) in enumerate(parts) if codes.max(initial=-1) > 0]
    n = len(every)
    return Reading(
        names=tuple(columns[i].name for i in keep),
        kinds=tuple(parts[i][0] for i in keep),
        numbers=_stack([parts[i][1] for i in keep], n),
        codes=_stack([parts[i][2] for i in keep], n).astype(np.int64),
        has_digits=tuple(parts[i][3] for i in keep),
    )


def as_columns(X: Any) -> ColumnTable:
    """Wrap whatever has rows and columns."""
    import pandas as pd

    if isinstance(X, ColumnTable):
        return X
    if hasattr(X, "to_pandas"):
        X = X.to_pandas()
    if not isinstance(X, pd.DataFrame):
        array = np.asarray(X)
        if array.ndim != 2:
            raise ValueError(
                "find_dependence needs a table of rows and columns. "
                f"Got an array of shape {array.shape}."
            )
        X = pd.DataFrame(array, columns=[f"x{j}" for j in range(array.shape[1])])
    return ColumnTable.of(X)


def _stack(columns: Sequence[np.ndarray], n: int) -> np.ndarray:
    return np.column_stack(columns) if columns else np.zeros((n, 0))


def _read_column(column: Column) -> tuple[Kind, np.ndarray, np.ndarray, bool]:
    """Return kind, numbers, codes of a column, and whether nearly all texts have digits."""
    content = column.content
    if content.kind in ("numeric", "date"):
        numbers = column.numbers if content.kind == "numeric" else column.dates(content.date_format)
        present = ~np.isnan(numbers)
        codes = np.full(len(numbers), -1)
        codes[present] = np.unique(numbers[present], return_inverse=True)[1]
        whole = bool((numbers[present] == np.round(numbers[present])).all())
        return (
            "date" if content.kind == "date" else "whole" if whole else "number",
            numbers,
            codes,
            False,
        )
    codes, levels = column.strings
    # Alphabetical order: codes that were given one after the other stay neighbours.
    place = np.argsort(np.argsort(np.array(levels, dtype=object))) if levels else np.zeros(0)
    numbers = np.append(place.astype(np.float64), np.nan)[codes]
    digits = [bool(re.search(r"\d", level)) for level in levels[:2000]]
    return "text", numbers, codes, bool(np.mean(digits) > 0.9) if digits else False
