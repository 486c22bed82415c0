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
        low = np.int64(0)
        low += np.int64(128) if cuts[low + 127] < x else np.int64(0)
        low += np.int64(64) if cuts[low + 63] < x else np.int64(0)
        low += np.int64(32) if cuts[low + 31] < x else np.int64(0)
        low += np.int64(16) if cuts[low + 15] < x else np.int64(0)
        low += np.int64(8) if cuts[low + 7] < x else np.int64(0)
        low += np.int64(4) if cuts[low + 3] < x else np.int64(0)
        low += np.int64(2) if cuts[low + 1] < x else np.int64(0)
        low += np.int64(1) if cuts[low] < x else np.int64(0)
        codes[i] = np.uint8(255) if np.isnan(x) else np.uint8(low)


@jit
def code_column(values, n_codes, codes):
    """Write whole numbers below n_codes into codes (uint8); everything else becomes 255."""
    for i in range(values.shape[0]):
        x = values[i]
        codes[i] = np.uint8(x) if x >= 0.0 and x < n_codes and x == np.floor(x) else np.uint8(255)
