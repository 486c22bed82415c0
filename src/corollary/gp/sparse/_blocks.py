"""Blocks of rows whose kernel values stay in cache."""

from collections.abc import Iterator
from typing import Any

from corollary.core.summary import Chunk

# Kernel values of a block of rows: 2 MiB, which stay in cache.
BLOCK_VALUES = 2**18


def row_blocks(m: int, *arrays: Any) -> Iterator[Chunk]:
    """Cut rows into blocks whose kernel values with m points stay in cache."""
    rows = max(64, BLOCK_VALUES // max(1, m))
    n = len(arrays[0])
    for i in range(0, n, rows):
        yield tuple(None if a is None else a[i : i + rows] for a in arrays)
