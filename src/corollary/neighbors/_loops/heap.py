"""The k nearest so far, compiled: a heap whose first entry is the farthest.

Entries are ranked by the pair (reduced distance, row number).
"""

import numpy as np

from corollary.core.jit import jit


@jit
def sift(value, row, values, rows, k):
    """Put a nearer entry in the place of the farthest of the first k."""
    j = 0
    while 2 * j + 1 < k:
        child = 2 * j + 1
        right = child + 1
        if right < k and (
            values[right] > values[child]
            or (values[right] == values[child] and rows[right] > rows[child])
        ):
            child = right
        if value > values[child] or (value == values[child] and row > rows[child]):
            break
        values[j], rows[j] = values[child], rows[child]
        j = child
    values[j], rows[j] = value, row


@jit
def clear(values, rows):
    for j in range(values.shape[0]):
        values[j] = np.inf
        rows[j] = np.iinfo(np.int64).max


@jit
def sort(values, rows):
    """Turn a heap into a list, nearest first."""
    for end in range(values.shape[0] - 1, 0, -1):
        value, row = values[end], rows[end]
        values[end], rows[end] = values[0], rows[0]
        sift(value, row, values, rows, end)
