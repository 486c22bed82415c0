"""Compiled search of bins."""

import numpy as np

from corollary.core.jit import jit


@jit
def bin_column(values, cuts, codes):
    """Write into codes (uint8) how many cuts lie below each value; NaN becomes 255.

    values is double precision of any stride, cuts is ascending with at most 254 entries, followed
    by infinities up to a length of 255 = 2^8 - 1. The search halves eight times without a branch.
    """
    for i in range(values.shape[0]):
        x = values[i]
        low = 0
        for k in range(8):
            step = 128 >> k
            low += step * (cuts[low + step - 1] < x)
        codes[i] = 255 if np.isnan(x) else low


@jit
def code_column(values, n_codes, codes):
    """Write whole numbers below n_codes into codes (uint8); everything else becomes 255."""
    for i in range(values.shape[0]):
        x = values[i]
        codes[i] = np.uint8(x) if x >= 0.0 and x < n_codes and x == np.floor(x) else np.uint8(255)


@jit
def sort_column(values, keys, spare):
    """Sort numbers by radix, NaN last; the result is in keys, as bits of numbers.

    ``values`` are the bits of doubles (uint64). Eleven bits are sorted at a time, stably, from
    the lowest to the highest; digits that all values share are skipped.
    """
    n = values.shape[0]
    top = np.uint64(1) << np.uint64(63)
    ones = ~np.uint64(0)
    infinity = np.uint64(0x7FF) << np.uint64(52)
    counts = np.zeros((6, 2048), dtype=np.int64)
    for i in range(n):
        bits = values[i]
        if bits & ~top > infinity:
            bits = infinity + np.uint64(1)  # one NaN, above all numbers
        elif bits == top:
            bits = np.uint64(0)  # minus zero
        key = bits ^ (ones if bits & top else top)
        keys[i] = key
        for digit in range(6):
            counts[digit, np.int64((key >> np.uint64(11 * digit)) & np.uint64(2047))] += 1
    for digit in range(6):
        shift = np.uint64(11 * digit)
        if counts[digit, np.int64((keys[0] >> shift) & np.uint64(2047))] == n:
            continue
        place = 0
        for b in range(2048):
            size = counts[digit, b]
            counts[digit, b] = place
            place += size
        for i in range(n):
            bucket = np.int64((keys[i] >> shift) & np.uint64(2047))
            spare[counts[digit, bucket]] = keys[i]
            counts[digit, bucket] += 1
        for i in range(n):
            keys[i] = spare[i]
    for i in range(n):
        keys[i] = keys[i] ^ (top if keys[i] & top else ones)


@jit
def count_distinct(ordered, values, counts):
    """Write the distinct numbers of a sorted array and how often they occur; return how many."""
    size = 0
    for i in range(ordered.shape[0]):
        if size and ordered[i] == values[size - 1]:
            counts[size - 1] += 1.0
        else:
            values[size], counts[size] = ordered[i], 1.0
            size += 1
    return size
