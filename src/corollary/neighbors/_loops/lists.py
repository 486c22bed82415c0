"""Lists of (query, row, reduced distance) that grow, compiled."""

import numpy as np

from corollary.core.jit import jit

# Entries of a new list.
ENTRIES = 256


@jit
def longer(lists, size):
    """Copy a list of (query, row, reduced distance) to one that holds twice as many."""
    which, rows, values = lists
    longer = (
        np.empty(2 * size, dtype=np.int64),
        np.empty(2 * size, dtype=np.int64),
        np.empty(2 * size),
    )
    longer[0][:size], longer[1][:size], longer[2][:size] = which, rows, values
    return longer


@jit
def short_lists():
    return np.empty(ENTRIES, dtype=np.int64), np.empty(ENTRIES, dtype=np.int64), np.empty(ENTRIES)
