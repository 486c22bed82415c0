"""Blocks of rows, as walks down trees take them."""

from typing import Any

import numpy as np

#: Rows that walk together; fixed, so that results do not depend on the number of threads.
BLOCK_ROWS = 512
# Numbers of a sparse block that is filled up.
FILLED = 2**20


def block_of(X: Any) -> int:
    """Return how many rows are walked down trees at a time."""
    if not hasattr(X, "indptr"):
        return BLOCK_ROWS
    return max(1, min(BLOCK_ROWS, FILLED // max(1, X.shape[1])))


def filled_rows(X: Any, first: int, stop: int) -> np.ndarray:
    """Copy rows in the one layout that kernels are compiled for; blocks are small."""
    part = X[first:stop]
    part = part.toarray() if hasattr(part, "indptr") else part
    return np.array(part, dtype=np.float64, order="C")
