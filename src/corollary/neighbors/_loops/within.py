"""Compiled searches for all dense rows within a distance."""

import numpy as np

from corollary.core.jit import jit
from corollary.neighbors._loops.distances import SQUARED, box, reduce_rows
from corollary.neighbors._loops.lists import longer, short_lists
from corollary.neighbors._loops.nearest import CHUNK, SCAN


@jit
def _take(X, start, stop, j, q, metric, p, limit, order, buffer, lists, size):
    """Append those of the rows [start, stop) that are near enough to a list."""
    reduce_rows(X, start, stop, q, metric, p, buffer)
    for i in range(start, stop):
        if buffer[i - start] <= limit:
            if size == lists[0].shape[0]:
                lists = longer(lists, size)
            lists[0][size], lists[1][size], lists[2][size] = j, order[i], buffer[i - start]
            size += 1
    return lists, size


@jit
def within_tree(X, order, low, high, Q, metric, p, limit):
    """List rows within a reduced distance, by a tree if there is one.

    Returns queries, original row numbers, reduced distances, and how many rows were looked at.
    """
    n = X.shape[0]
    inner = low.shape[0] // 2
    nodes = np.empty(128, dtype=np.int64)
    starts, stops = np.empty(128, dtype=np.int64), np.empty(128, dtype=np.int64)
    buffer = np.empty(SCAN)
    lists, size, looked = short_lists(), 0, 0
    for j in range(Q.shape[0]):
        q = Q[j]
        nodes[0], starts[0], stops[0] = 0, 0, n
        depth = 1
        while depth > 0:
            depth -= 1
            node, start, stop = nodes[depth], starts[depth], stops[depth]
            if node >= inner:
                looked += stop - start
                for first in range(start, stop, SCAN):
                    last = min(first + SCAN, stop)
                    lists, size = _take(
                        X, first, last, j, q, metric, p, limit, order, buffer, lists, size
                    )
                continue
            middle = (start + stop) // 2
            for child in range(2 * node + 1, 2 * node + 3):
                if box(low, high, child, q, metric, p) <= limit:
                    nodes[depth] = child
                    starts[depth] = start if child == 2 * node + 1 else middle
                    stops[depth] = middle if child == 2 * node + 1 else stop
                    depth += 1
    return lists[0][:size], lists[1][:size], lists[2][:size], looked


@jit
def within_tile(tile, start, bounds, X, order, Q, limit, lists, size):
    """Append rows near enough whose approximate distances in a tile do not rule them out."""
    buffer = np.empty(1)
    for j in range(tile.shape[0]):
        for first in range(0, min(tile.shape[1], X.shape[0] - start), CHUNK):
            chunk = tile[j, first : first + CHUNK]
            count = 0
            for c in range(chunk.shape[0]):
                count += 1 if chunk[c] <= bounds[j] else 0
            if count == 0:
                continue
            for c in range(chunk.shape[0]):
                i = start + first + c
                if chunk[c] <= bounds[j] and i < X.shape[0]:
                    lists, size = _take(
                        X, i, i + 1, j, Q[j], SQUARED, 2.0, limit, order, buffer, lists, size
                    )
    return lists, size
