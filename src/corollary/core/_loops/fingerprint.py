"""The sums of row hashes, compiled; the same bits as the NumPy version."""

import numpy as np

from corollary.core.jit import jit

MINUS_ZERO = np.uint64(2**63)
HALF = np.uint64(2**28)
DROPPED = np.uint64(29)


@jit
def dense_sums(bits, multipliers, sums):
    """Sum the coded values of every row times the multipliers of its columns, modulo 2**64.

    ``bits`` is a C-contiguous table of doubles seen as 64-bit words; -0.0 counts as 0.0.
    """
    for i in range(bits.shape[0]):
        total = np.uint64(0)
        for j in range(bits.shape[1]):
            word = bits[i, j]
            word = np.uint64(0) if word == MINUS_ZERO else word
            total += ((word + HALF) >> DROPPED) * multipliers[j]
        sums[i] = total
