"""Sums over rows of a Gram matrix."""

import numpy as np

from corollary.core.jit import jit


@jit
def subtract_rows(rest, values, slots, change, start, stop):
    """Subtract ``change @ values[slots]`` from ``rest`` in columns start..stop, in place.

    Whatever the precision of the values, the sum is in double.
    """
    part = rest[start:stop]
    for s in range(len(slots)):
        row = values[slots[s], start:stop]
        c = change[s]
        for k in range(part.shape[0]):
            part[k] -= c * np.float64(row[k])
