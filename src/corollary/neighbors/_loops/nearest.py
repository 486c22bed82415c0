"""Compiled searches for the nearest of dense rows.

Arrays are double precision in C order and finite; rows may be stored in another order, ``order``
holds their original numbers.
"""

import numpy as np

from corollary.core.jit import jit
from corollary.neighbors._loops.distances import SQUARED, box, reduce_rows
from corollary.neighbors._loops.heap import clear, sift, sort

# Approximate distances looked at together.
CHUNK = 64
# Rows whose distances are computed together in a full search.
SCAN = 256


@jit
def _offer(X, start, stop, q, metric, p, order, buffer, values, rows):
    """Offer the rows [start, stop), at most as many as the buffer holds, to a heap."""
    reduce_rows(X, start, stop, q, metric, p, buffer)
    k = values.shape[0]
    for i in range(start, stop):
        value = buffer[i - start]
        if value < values[0] or (value == values[0] and order[i] < rows[0]):
            sift(value, order[i], values, rows, k)


@jit
def scan_all(X, order, Q, metric, p, values, rows):
    """Find the nearest rows of each query among all rows."""
    buffer = np.empty(SCAN)
    for j in range(Q.shape[0]):
        clear(values[j], rows[j])
        for start in range(0, X.shape[0], SCAN):
            stop = min(start + SCAN, X.shape[0])
            _offer(X, start, stop, Q[j], metric, p, order, buffer, values[j], rows[j])
        sort(values[j], rows[j])


@jit
def push_tile(tile, start, values, rows):
    """Offer a tile of approximate single-precision distances, queries in rows, to heaps."""
    k = values.shape[1]
    for j in range(tile.shape[0]):
        best, where = values[j], rows[j]
        for first in range(0, tile.shape[1], CHUNK):
            # A slice of its own lets the compiler compare many numbers at once.
            chunk = tile[j, first : first + CHUNK]
            limit = best[0]
            count = 0
            for c in range(chunk.shape[0]):
                count += 1 if chunk[c] < limit else 0
            if count > 0:
                for c in range(chunk.shape[0]):
                    if chunk[c] < best[0]:
                        sift(chunk[c], start + first + c, best, where, k)


@jit
def settle(X, order, Q, candidates, safe, values, rows):
    """Rank candidates exactly; where they may not suffice, search all rows.

    ``safe[j]`` is a number that the squared distance of every row outside ``candidates[j]`` is
    known to reach. Returns how many queries needed the full search.
    """
    buffer = np.empty(1)
    full = 0
    for j in range(Q.shape[0]):
        clear(values[j], rows[j])
        for i in candidates[j]:
            _offer(X, i, i + 1, Q[j], SQUARED, 2.0, order, buffer, values[j], rows[j])
        if values[j, 0] < safe[j]:
            sort(values[j], rows[j])
        else:
            full += 1
            scan_all(X, order, Q[j : j + 1], SQUARED, 2.0, values[j : j + 1], rows[j : j + 1])
    return full


# -- the tree --------------------------------------------------------------------------------


@jit
def _select(keys, order, start, stop, middle):
    """Partition so that ``keys[start:middle] <= keys[middle] <= keys[middle + 1:stop]``."""
    low, high = start, stop - 1
    while low < high:
        # Median of three, so that sorted columns do not take quadratic time.
        a, b, c = keys[low], keys[(low + high) // 2], keys[high]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@jit
def build(X, order, levels, low, high):
    """Order rows into a balanced tree and write the box of each node.

    Node i has the children 2i + 1 and 2i + 2; each takes half of the rows, cut along the widest
    side of the node's box. ``order`` is 0, 1, 2, ... on entry.
    """
    n, d = X.shape
    keys = np.empty(n)
    starts = np.zeros(2 ** (levels + 1), dtype=np.int64)
    stops = np.zeros(2 ** (levels + 1), dtype=np.int64)
    stops[0] = n
    inner = 2**levels - 1
    for node in range(2 ** (levels + 1) - 1):
        start, stop = starts[node], stops[node]
        for c in range(d):
            low[node, c], high[node, c] = np.inf, -np.inf
        for s in range(start, stop):
            for c in range(d):
                value = X[order[s], c]
                low[node, c] = min(low[node, c], value)
                high[node, c] = max(high[node, c], value)
        if node >= inner:
            continue
        side = 0
        for c in range(1, d):
            if high[node, c] - low[node, c] > high[node, side] - low[node, side]:
                side = c
        for s in range(start, stop):
            keys[s] = X[order[s], side]
        middle = (start + stop) // 2
        _select(keys, order, start, stop, middle)
        starts[2 * node + 1], stops[2 * node + 1] = start, middle
        starts[2 * node + 2], stops[2 * node + 2] = middle, stop


@jit
def search_tree(X, order, low, high, Q, metric, p, values, rows):
    """Find the nearest rows of each query; return how many rows were looked at."""
    n = X.shape[0]
    inner = low.shape[0] // 2
    nodes = np.empty(128, dtype=np.int64)  # at most two for each of 62 levels
    starts, stops = np.empty(128, dtype=np.int64), np.empty(128, dtype=np.int64)
    bounds = np.empty(128)
    buffer = np.empty(SCAN)
    looked = 0
    for j in range(Q.shape[0]):
        q, best, where = Q[j], values[j], rows[j]
        clear(best, where)
        nodes[0], starts[0], stops[0], bounds[0] = 0, 0, n, 0.0
        depth = 1
        while depth > 0:
            depth -= 1
            node, start, stop = nodes[depth], starts[depth], stops[depth]
            if bounds[depth] > best[0]:
                continue
            if node >= inner:
                looked += stop - start
                for first in range(start, stop, SCAN):
                    last = min(first + SCAN, stop)
                    _offer(X, first, last, q, metric, p, order, buffer, best, where)
                continue
            middle = (start + stop) // 2
            left = box(low, high, 2 * node + 1, q, metric, p)
            right = box(low, high, 2 * node + 2, q, metric, p)
            # The nearer child goes on top.
            for step in range(2):
                go_left = (left > right) == (step == 0)
                bound = left if go_left else right
                if bound <= best[0]:
                    nodes[depth] = 2 * node + 1 if go_left else 2 * node + 2
                    starts[depth] = start if go_left else middle
                    stops[depth] = middle if go_left else stop
                    bounds[depth] = bound
                    depth += 1
        sort(best, where)
    return looked
