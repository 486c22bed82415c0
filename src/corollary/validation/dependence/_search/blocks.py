"""Sets of columns that agree together far more often than chance: copies and joins."""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from corollary.validation.dependence._hashes import (
    count_equal_pairs,
    hash_columns,
    lift_of_hashes,
    number_units,
    thin,
)
from corollary.validation.dependence._search.table import Reading

#: Agreements over what chance explains that make copies of repeated rows.
LEAST_LIFT = 5.0
#: Pairs, share of the rows, and units (as many of equal weight) that must repeat.
LEAST_PAIRS, LEAST_SHARE, LEAST_UNITS = 10, 0.02, 6.0
#: How much more than by chance the second, third, fourth and later columns of a block must agree.
STEPS = (0.0, 0.15, 0.5, 0.6)
#: Columns from which blocks are grown; columns whose pairs explain agreement; blocks that are kept.
STARTS, EXPLAINERS, BLOCKS = 8, 10, 2
#: Rows from which blocks are grown, thinned by values; rows whose pairs are counted, at random.
GROWING_ROWS, COUNTED_ROWS = 6000, 100_000


class Block(NamedTuple):
    """Columns that repeat as a whole."""

    columns: tuple[int, ...]
    codes: np.ndarray
    whole: bool  # whether these are all columns


class Witnesses(NamedTuple):
    """Columns as far as they can agree: indicators of one category count as one."""

    columns: tuple[tuple[int, ...], ...]
    codes: np.ndarray
    chance: np.ndarray


def find_blocks(table: Reading, columns: Sequence[int]) -> list[Block]:
    """Find sets of columns that recur as a whole, the largest first."""
    witnesses = _witnesses(table, columns)
    n_witnesses = len(witnesses.columns)
    if n_witnesses < 2:
        return []
    starts = [j for j in np.argsort(witnesses.chance, kind="stable") if _repeats(witnesses, j)]
    tried = {tuple(range(n_witnesses))}
    tried |= {tuple(sorted(_grow(witnesses, int(j)))) for j in starts[:STARTS]}
    blocks = []
    for members in sorted(tried, key=lambda m: (-len(m), m)):
        codes = _units_of(witnesses, members, table)
        if codes is not None:
            positions = tuple(sorted(c for m in members for c in witnesses.columns[m]))
            blocks.append(Block(positions, codes, len(members) == n_witnesses))
    return blocks[:BLOCKS]


def _repeats(witnesses: Witnesses, j: int) -> bool:
    """Whether a column repeats, and is not nearly constant."""
    n = len(witnesses.codes)
    return witnesses.chance[j] * n * (n - 1) / 2 >= LEAST_PAIRS and bool(witnesses.chance[j] < 0.5)


def _witnesses(table: Reading, columns: Sequence[int]) -> Witnesses:
    """Merge successive indicators of which one at most is set into one category."""
    groups: list[list[int]] = []
    union = np.zeros(table.n_rows, dtype=bool)
    for j in columns:
        values = table.numbers[:, j]
        indicator = table.kinds[j] == "whole" and bool(np.isin(values, (0.0, 1.0)).all())
        ones = values == 1
        if indicator and groups and union.any() and not (union & ones).any():
            groups[-1].append(j)
            union |= ones
        else:
            groups.append([j])
            union = ones.copy() if indicator else np.zeros(table.n_rows, dtype=bool)
    merged = [
        table.codes[:, group[0]]
        if len(group) == 1
        else table.numbers[:, group] @ np.arange(1, len(group) + 1)
        for group in groups
    ]
    codes = np.column_stack(merged).astype(np.int64) if merged else table.codes[:, :0]
    n = max(table.n_rows, 2)
    chance = [2 * count_equal_pairs(column[column >= 0]) / n / (n - 1) for column in codes.T]
    return Witnesses(tuple(map(tuple, groups)), codes, np.array(chance))


def _grow(witnesses: Witnesses, start: int) -> list[int]:
    """Add, as long as it agrees enough, the column that agrees most where the block agrees."""
    codes, chance = witnesses.codes, witnesses.chance
    rows = thin(hash_columns(codes, [start])[:, 0], GROWING_ROWS)
    shuffle = np.random.default_rng(0).random(len(rows))
    total = hash_columns(codes[rows])
    members = [start]
    candidates = [k for k in range(codes.shape[1]) if k != start and chance[k] < 0.9]
    while candidates:
        sums = total[:, members].sum(axis=1)
        order = np.lexsort((shuffle, sums))
        same = sums[order[1:]] == sums[order[:-1]]
        first, second = rows[order[:-1][same]], rows[order[1:][same]]
        if len(first) < LEAST_PAIRS:
            break
        equal = (codes[first] == codes[second]) & (codes[first] >= 0)
        agreement = ((equal.mean(axis=0) - chance) / (1 - chance + 1e-12))[candidates]
        if agreement.max() < STEPS[min(len(members), len(STEPS)) - 1]:
            break
        members.append(candidates.pop(int(agreement.argmax())))
    return members


def _units_of(witnesses: Witnesses, members: Sequence[int], table: Reading) -> np.ndarray | None:
    """Give units to rows that agree in all members, or None if chance explains them."""
    if len(members) < 2:
        return None
    total = hash_columns(witnesses.codes, members).sum(axis=1)
    codes = number_units(total)
    size = np.bincount(codes).astype(np.float64)
    pairs = size * (size - 1) / 2
    if pairs.sum() < LEAST_PAIRS or size[size > 1].sum() < LEAST_SHARE * len(codes):
        return None
    if pairs.sum() ** 2 / (pairs**2).sum() < LEAST_UNITS:  # a few cells hold all that agrees
        return None
    free = _undetermined(witnesses, members, table)
    if len(free) < 2:
        return None
    rows = _some(len(codes), COUNTED_ROWS)
    lift, _ = lift_of_hashes(
        hash_columns(witnesses.codes[rows], free[:EXPLAINERS]),
        hash_columns(witnesses.codes[rows], free).sum(axis=1),
    )
    return _with_missing(witnesses.codes, members) if lift >= LEAST_LIFT else None


def _with_missing(codes: np.ndarray, members: Sequence[int]) -> np.ndarray:
    """Give units to rows that agree where missing values count as equal, unless most are missing.

    Missing values are no evidence of copies; but if there are copies, a copy of a row with missing
    values lacks the same ones.
    """
    present = codes[:, members] >= 0
    total = hash_columns(codes + 1, members).sum(axis=1)
    bare = np.flatnonzero(2 * present.sum(axis=1) < len(members))
    units = number_units(total)
    units[bare] = len(units) + np.arange(len(bare))
    return number_units(units)


def _some(n: int, most: int) -> np.ndarray:
    """Draw rows: all counts of pairs shrink alike if rows are left out at random."""
    return np.arange(n) if n <= most else np.random.default_rng(0).permutation(n)[:most]


def _undetermined(witnesses: Witnesses, members: Sequence[int], table: Reading) -> list[int]:
    """Leave out members that others determine, for these bear no witness of their own.

    A member that follows from another one (a number and its class), or from two (a sum), always
    agrees where they do, also in rows that are no copies.
    """
    by_chance = sorted(members, key=lambda j: witnesses.chance[j])
    kept = list(by_chance)
    whole = len(members) == len(witnesses.columns)
    hashes = hash_columns(witnesses.codes[_some(len(witnesses.codes), GROWING_ROWS)])
    copies = count_equal_pairs(hashes[:, members].sum(axis=1))
    for k in by_chance[::-1]:
        by_one = [(j,) for j in kept if j != k and _names(witnesses, table, j, k)]
        by_two = combinations([j for j in kept if j != k][:EXPLAINERS], 2) if whole else ()
        for group in (*by_one, *by_two):
            base = hashes[:, list(group)].sum(axis=1)
            pairs = count_equal_pairs(base)
            least = copies + LEAST_PAIRS if whole else 1
            agreeing = count_equal_pairs(base + hashes[:, k])
            if pairs >= least and agreeing - copies * whole > 0.98 * (pairs - copies * whole):
                kept.remove(k)
                break
    return kept


def _names(witnesses: Witnesses, table: Reading, j: int, k: int) -> bool:
    """Whether column j could name what column k says: a code of it, or a recoding."""
    first, second = witnesses.columns[j], witnesses.columns[k]
    if len(first) > 1 or len(second) > 1:
        return True
    coarse = table.kinds[first[0]] in ("whole", "text") and (
        table.n_values[first[0]] < table.n_rows / 2
    )
    return bool(coarse) or table.alike(first[0], second[0])
