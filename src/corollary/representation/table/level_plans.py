"""Levels of a category as numbers: an indicator each, or frequency and target statistics.

Indicators serve up to a few dozen levels. Beyond, a level is described by how often it occurs
and by the mean target of its rows, shrunk towards the overall mean as far as the data ask for.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from corollary.core.schema import Array, Flag, List, Schema, Text
from corollary.representation.table.column import Column
from corollary.representation.table.plan import ColumnPlan, _common_fields, _rows_missing

#: A level with fewer training rows than this is rare: one row teaches nothing that repeats.
RARE = 5
#: Where new rows bring new levels more often than this, a new level is nothing unusual.
USUAL_NEW = 0.05


@dataclass(frozen=True, eq=False)
class IndicatorPlan(ColumnPlan):
    """The plan of a category with few levels: an indicator for each.

    Parameters
    ----------
    name : str
        The column.
    kind : {"category"}
        What it holds.
    notes : list of str
        What had to be decided about it.
    levels : list of str
        Levels with an indicator.
    rare : bool
        Whether there is one for rare levels; unknown levels are rare.
    missing : bool
        Whether training rows had missing values; an indicator marks them.
    seen : list of str
        All levels of the training rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from corollary.representation import TableEncoder
    >>> plan = TableEncoder().fit(pd.DataFrame({"colour": ["red", "blue", "red"]})).plans_[0]
    >>> plan.levels, plan.seen
    (['red'], ['blue', 'red'])
    """

    levels: list[str]
    rare: bool
    missing: bool
    seen: list[str]

    _schema = Schema(
        **_common_fields("category"),
        levels=List(Text()),
        rare=Flag(),
        missing=Flag(),
        seen=List(Text()),
    )

    @classmethod
    def learn(cls, column: Column) -> Self:
        """Learn the plan from the training rows of a column."""
        codes, levels = column.strings
        counts = np.bincount(codes[codes >= 0], minlength=len(levels))
        order = sorted(range(len(levels)), key=lambda i: levels[i])
        frequent = [levels[i] for i in order if counts[i] >= RARE]
        rare = len(frequent) < len(levels)
        missing = bool((codes < 0).any())
        if len(frequent) < 2 and len(levels) > len(frequent):  # tiny: nothing would be left
            frequent, rare = [levels[i] for i in order], False
        shown = frequent[1:] if len(frequent) == 2 and not rare and not missing else frequent
        return cls(
            column.name, "category", column.content.notes, shown, rare, missing, sorted(levels)
        )

    @property
    def features(self) -> list[tuple[str, str]]:
        """One indicator for each level, one for rare ones, one for missing values."""
        return [
            *[(f"={level}", "no") for level in self.levels],
            *[("=(rare)", "no")] * self.rare,
            *[(" missing", "no")] * self.missing,
        ]

    def apply(self, column: Column, *, fill: bool = True) -> np.ndarray:
        """Encode levels as indicators."""
        codes, levels = column.strings
        place = {level: j for j, level in enumerate(self.levels)}
        # Without a rare level in training, an unknown one is no level at all: zeros everywhere.
        other = len(place) if self.rare else -1
        table = np.array([*(place.get(level, other) for level in levels), -1])
        if self.missing:
            table[-1] = self.width - 1
        block = np.zeros((len(codes), self.width + 1))
        block[np.arange(len(codes)), table[codes]] = 1.0
        return block[:, : self.width]

    def unusual(self, column: Column) -> list[tuple[np.ndarray, str]]:
        """Find levels that training rows did not have, and missing values."""
        return _unusual_levels(column, self.seen, self.missing)


def _fits(plan: "LevelPlan") -> str | None:
    k = plan.statistics.shape[1]
    return None if len(plan.statistic_names) == k else "the statistics do not have a name each"


@dataclass(frozen=True, eq=False)
class LevelPlan(ColumnPlan):
    """The plan of a category with many levels: frequency and statistics of each.

    Parameters
    ----------
    name : str
        The column.
    kind : {"category"}
        What it holds.
    notes : list of str
        What had to be decided about it.
    levels : list of str
        Levels of the training rows.
    counts : ndarray of int of shape (n_levels,)
        How often they occurred.
    statistics : ndarray of shape (n_levels, k)
        Shrunk mean targets of each level; indicators of the commonest without a target.
    prior : ndarray of shape (k,)
        The same for levels that were not seen.
    statistic_names : list of str
        What each statistic adds to the column's name.
    of_target : bool
        Whether the statistics are those of a target, and scaled.
    missing : bool
        Whether training rows had missing values; an indicator marks them.

    Examples
    --------
    >>> import pandas as pd
    >>> from corollary.representation import TableEncoder
    >>> table = pd.DataFrame({"town": list("abcdefgh") * 2})
    >>> plan = TableEncoder(max_levels=3, target="number").fit(table, range(16)).plans_[0]
    >>> plan.features, plan.counts[:2]
    ([(' log frequency', 'each'), (' target mean', 'each')], array([2, 2]))
    """

    levels: list[str]
    counts: np.ndarray
    statistics: np.ndarray
    prior: np.ndarray
    statistic_names: list[str]
    of_target: bool
    missing: bool

    _schema = Schema(
        _fits,
        **_common_fields("category"),
        levels=List(Text(), "l"),
        counts=Array("i", "l", low=0),
        statistics=Array("f", "l", "k"),
        prior=Array("f", "k"),
        statistic_names=List(Text(), "k"),
        of_target=Flag(),
        missing=Flag(),
    )

    @classmethod
    def learn(cls, column: Column, target: np.ndarray | None, max_levels: int) -> Self:
        """Learn frequencies and target statistics from the training rows of a column."""
        codes, levels = column.strings
        counts = np.bincount(codes[codes >= 0], minlength=len(levels))
        if target is None:
            # Without a target, the commonest levels speak for themselves.
            top = np.argsort(-counts, kind="stable")[:max_levels]
            statistics = np.zeros((len(levels), len(top)))
            statistics[top, np.arange(len(top))] = 1.0
            prior = np.zeros(len(top))
            names = [f"={levels[i]}" for i in top]
        else:
            statistics, prior = level_statistics(codes, target, len(levels))
            k = target.shape[1]
            names = [f" target mean {j}" for j in range(k)] if k > 1 else [" target mean"]
        return cls(
            name=column.name,
            kind="category",
            notes=column.content.notes,
            levels=levels,
            counts=counts,
            statistics=statistics,
            prior=prior,
            statistic_names=names,
            of_target=target is not None,
            missing=bool((codes < 0).any()),
        )

    @property
    def features(self) -> list[tuple[str, str]]:
        """Frequency, statistics, and whether the level is missing."""
        scaled = "each" if self.of_target else "no"
        return [
            (" log frequency", "each"),
            *[(name, scaled) for name in self.statistic_names],
            *[(" missing", "no")] * self.missing,
        ]

    def apply(self, column: Column, *, fill: bool = True) -> np.ndarray:
        """Encode levels by frequency and statistics."""
        codes, levels = column.strings
        place = {level: i for i, level in enumerate(self.levels)}
        n = len(place)
        # Position n stands for "never seen"; the last entry of `where` serves code -1.
        where = np.asarray([*(place.get(level, n) for level in levels), n])[codes]
        frequency = np.log1p(np.append(self.counts, 0.0))
        statistics = np.vstack([self.statistics, self.prior])
        parts = [frequency[where], statistics[where]]
        if self.missing:
            parts.append((codes < 0).astype(np.float64))
        return np.column_stack(parts)

    def cross_fit(self, column: Column, target: np.ndarray, folds: np.ndarray) -> np.ndarray:
        """Encode training rows so that no row's own target enters its features.

        Parameters
        ----------
        column : Column
            The training rows.
        target : ndarray of shape (n, k)
            Their targets as numbers.
        folds : ndarray of int of shape (n,)
            The fold of each row; its statistics are those of the other folds.

        Returns
        -------
        block : ndarray of shape (n, width)
            Its features, not yet scaled.
        """
        codes, levels = column.strings
        block = self.apply(column)
        for fold in np.unique(folds):
            inside = folds == fold
            statistics, prior = level_statistics(codes[~inside], target[~inside], len(levels))
            counted = np.bincount(codes[~inside & (codes >= 0)], minlength=len(levels)) > 0
            statistics[~counted] = prior
            block[inside, 1 : 1 + target.shape[1]] = np.vstack([statistics, prior])[codes[inside]]
        return block

    def unusual(self, column: Column) -> list[tuple[np.ndarray, str]]:
        """Find levels that training rows did not have, unless most rows bring one; missing values.

        The share of training rows whose level no other row has estimates the chance that the next
        row brings a new one (Good and Turing).
        """
        total = max(1, int(self.counts.sum()))
        expected = int((self.counts == 1).sum()) > USUAL_NEW * total
        found = _unusual_levels(column, self.levels, self.missing)
        return found[1:] if expected else found


def _unusual_levels(column: Column, seen: list[str], missing: bool) -> list[tuple[np.ndarray, str]]:
    codes, levels = column.strings
    before = set(seen)
    unseen = np.asarray([*(level not in before for level in levels), False])[codes]
    return [(unseen, "a level not seen in training"), *_rows_missing(codes < 0, missing)]


def level_statistics(
    codes: np.ndarray, target: np.ndarray, n_levels: int
) -> tuple[np.ndarray, np.ndarray]:
    r"""Mean target of each level, shrunk towards the overall mean.

    A level with :math:`n` rows and mean :math:`m` gets :math:`(n m + k \bar y) / (n + k)`, where
    :math:`k`, the variance within levels over the variance between them, is estimated by moments
    (an empirical-Bayes estimate for a normal model).

    Parameters
    ----------
    codes : ndarray of int of shape (n,)
        Level of each row; -1 where it is missing.
    target : ndarray of shape (n, k)
        Targets.
    n_levels : int
        Number of levels.

    Returns
    -------
    statistics : ndarray of shape (n_levels, k)
        Shrunk means.
    prior : ndarray of shape (k,)
        Overall means.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.representation import level_statistics
    >>> codes, y = np.array([0, 0, 1, 1]), np.array([[1.0], [1.0], [3.0], [3.0]])
    >>> level_statistics(codes, y, 2)[0].round(2).ravel()
    array([1.33, 2.67])
    """
    prior = target.mean(axis=0)
    rows = codes >= 0
    counts = np.bincount(codes[rows], minlength=n_levels).astype(np.float64)
    statistics = np.empty((n_levels, target.shape[1]))
    for j in range(target.shape[1]):
        sums = np.bincount(codes[rows], weights=target[rows, j], minlength=n_levels)
        means = sums / np.maximum(counts, 1.0)
        total = float(((target[rows, j] - prior[j]) ** 2).sum())
        between = float((counts * (means - prior[j]) ** 2).sum())
        n, g = counts.sum(), float((counts > 0).sum())
        within = (total - between) / max(n - g, 1.0)
        # E[between] = (g - 1) within + (n - sum of squared counts / n) * variance of level means
        spread = (between - (g - 1.0) * within) / max(n - (counts**2).sum() / max(n, 1.0), 1.0)
        strength = within / spread if spread > 0 else np.inf
        if within <= 0:
            strength = 1.0  # every repeated level is pure: still trust one row only half
        weight = counts / (counts + strength) if np.isfinite(strength) else np.zeros(n_levels)
        statistics[:, j] = prior[j] + weight * (means - prior[j])
    return statistics, prior
