"""Equality of rows in sets of columns by sums of 64-bit hashes.

Rows agree in a set of columns if and only if the sums of their hashes agree, but for a chance of
about n^2 / 2^65. Leaving a column out is a subtraction.
"""

from itertools import combinations
from typing import Any

import numpy as np

_STEP = 0x9E3779B97F4A7C15
_MISSING = np.uint64(1 << 62)


def hash_column(codes: np.ndarray, column: int) -> np.ndarray:
    """Hash the codes of one column; missing ones (negative) get a hash of their own in each row."""
    values = codes.astype(np.int64).astype(np.uint64)
    missing = np.flatnonzero(codes < 0)
    values[missing] = _MISSING + missing.astype(np.uint64)
    # The finaliser of splitmix64, which is a bijection of 64 bits.
    salt = np.uint64((column + 1) * _STEP % 2**64)
    mixed = values * np.uint64(0xD1342543DE82EF95) + salt
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def hash_columns(codes: np.ndarray, columns: Any = None) -> np.ndarray:
    """Hash a matrix of codes column by column."""
    columns = range(codes.shape[1]) if columns is None else columns
    hashes = [hash_column(codes[:, j], j) for j in columns]
    return np.column_stack(hashes) if hashes else np.zeros((len(codes), 0), np.uint64)


def count_equal_pairs(values: np.ndarray) -> int:
    """Count the pairs of equal entries."""
    if len(values) < 2:
        return 0
    ordered = np.sort(values)
    ends = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    sizes = np.diff(np.concatenate([[0], ends, [len(values)]]))
    return int((sizes * (sizes - 1) // 2).sum())


def lift_of_hashes(hashes: np.ndarray, total: np.ndarray) -> tuple[float, int]:
    """Compute the lift from hashes of some columns and the sums of all, of these and others."""
    pairs, chance = count_equal_pairs(total), 0.5
    partial = [total - column for column in hashes.T]
    without = [count_equal_pairs(sums) - pairs for sums in partial]
    for j, k in combinations(range(len(partial)), 2):
        neither = count_equal_pairs(partial[j] - hashes[:, k]) - pairs - without[j] - without[k]
        # Half a pair each keeps empty counts from deciding.
        chance = max(chance, (without[j] + 0.5) * (without[k] + 0.5) / (neither + 0.5))
    return pairs / chance, pairs


def number_units(values: Any) -> np.ndarray:
    """Give numbers to distinct values, from 0 by first appearance."""
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse.reshape(-1)]


def thin(hashes: np.ndarray, most: int) -> np.ndarray:
    """Take about so many rows by their hashes, so that rows of equal hash stay together."""
    n = len(hashes)
    if n <= most:
        return np.arange(n)
    return np.flatnonzero(hashes >> np.uint64(33) < np.uint64(int(2.0**31 * most / n)))
