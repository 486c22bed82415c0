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
    # Entry by entry: copying slices would compile a message about their shapes for two seconds.
    for i in range(size):
        longer[0][i], longer[1][i], longer[2][i] = which[i], rows[i], values[i]
    return longer


@jit
def short_lists():
    return np.empty(ENTRIES, dtype=np.int64), np.empty(ENTRIES, dtype=np.int64), np.empty(ENTRIES)
