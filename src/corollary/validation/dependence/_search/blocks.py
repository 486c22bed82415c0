"""Sets of columns that agree together far more often than chance: copies and joins."""

import math
from collections.abc import Sequence
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
#: Pairs and share of the rows that must repeat.
LEAST_PAIRS, LEAST_SHARE = 10, 0.02
#: Units (as many of equal weight) that must repeat: of whole rows, of which a few may be equal by
#: nature, such as answers that are all "agree"; and of joined columns.
LEAST_COPIES, LEAST_JOINS = 6.0, 4.0
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
        by_chance = sorted(members, key=lambda j: witnesses.chance[j])
        codes = _units_of(witnesses, by_chance, table)
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
    whole = len(members) == len(witnesses.columns)
    if pairs.sum() ** 2 / (pairs**2).sum() < (LEAST_COPIES if whole else LEAST_JOINS) - 1e-9:
        return None
    rows = _some(len(codes), COUNTED_ROWS)
    if _lift(witnesses.codes[rows], members) < LEAST_LIFT:
        return None
    free = _undetermined(witnesses, members, table)
    if len(free) < 2 or _lift(witnesses.codes[rows], free) < LEAST_LIFT * _inflation(
        witnesses, free, table
    ):
        return None
    return _with_missing(witnesses.codes, members)


def _inflation(witnesses: Witnesses, members: Sequence[int], table: Reading) -> float:
    """Say how much correlation alone lifts the agreement of columns that are nearly the same.

    Normal numbers of correlation r, rounded, agree 1 / sqrt(1 - r^2) times as often as
    independent ones.
    """
    columns = [witnesses.columns[j][0] for j in members[:EXPLAINERS]]
    numeric = [j for j in columns if table.kinds[j] != "text"]
    if len(numeric) < 2:
        return 1.0
    correlation = np.corrcoef(table.ranks[:, numeric], rowvar=False)
    largest = float(np.abs(correlation[np.triu_indices(len(numeric), 1)]).max())
    return 1.0 if largest < 0.9 else 1 / math.sqrt(max(1 - largest**2, 1e-6))


def _lift(codes: np.ndarray, members: Sequence[int]) -> float:
    """Compute the lift of some columns, explained by those that agree least."""
    return lift_of_hashes(*_explained(codes, members))[0]


def _explained(codes: np.ndarray, members: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return hashes of the columns that explain agreement, and the sums of all."""
    return (
        hash_columns(codes, members[:EXPLAINERS]),
        hash_columns(codes, members).sum(axis=1),
    )


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

    A member may follow from another one, as a class follows from a number; or from all others, as
    a sum does. In the second case rows that agree in the others by chance agree in it too, though
    chance would have most of them differ.
    """
    codes = witnesses.codes[_some(len(witnesses.codes), GROWING_ROWS)]
    kept = sorted(members, key=lambda j: witnesses.chance[j])
    for k in kept[::-1]:
        others = [j for j in kept if j != k]
        by_one = any(_gives(witnesses, codes, table, j, k) for j in others)
        if by_one or (len(others) > 1 and _give_together(codes, others, kept)):
            kept = others
    return kept


def _give_together(codes: np.ndarray, others: Sequence[int], kept: Sequence[int]) -> bool:
    """Whether rows that agree by chance in the others agree in all."""
    lift, pairs = lift_of_hashes(*_explained(codes, others))
    differing = pairs - count_equal_pairs(hash_columns(codes, kept).sum(axis=1))
    return pairs >= LEAST_PAIRS * lift and differing < 0.1 * pairs / lift


def _gives(witnesses: Witnesses, codes: np.ndarray, table: Reading, j: int, k: int) -> bool:
    """Whether rows that agree in member j agree in k, and j could name what k says."""
    if not _names(witnesses, table, j, k):
        return False
    pairs = count_equal_pairs(hash_columns(codes, [j])[:, 0])
    return pairs > 0 and count_equal_pairs(hash_columns(codes, [j, k]).sum(axis=1)) > 0.98 * pairs


def _names(witnesses: Witnesses, table: Reading, j: int, k: int) -> bool:
    """Whether column j could name what column k says: a code of it, or a recoding."""
    first, second = witnesses.columns[j], witnesses.columns[k]
    if len(first) > 1 or len(second) > 1:
        return True
    coarse = table.kinds[first[0]] in ("whole", "text") and (
        table.n_values[first[0]] < table.n_rows / 2
    )
    return bool(coarse) or table.alike(first[0], second[0])
