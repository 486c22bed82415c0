"""Compiled neighbour searches.

All of them rank rows by the pair (reduced distance, original number), where the reduced distance
(the squared Euclidean one, the p-th power of Minkowski's) is computed by :func:`_reduce_rows` and
by nothing else, so that every search gives the same answer to the last bit. Arrays are double
precision in C order and finite; rows may be stored in another order, ``order`` holds their
original numbers. Sparse rows have searches of their own, whose distances :func:`_merge` computes.
"""

import numpy as np

from corollary.core.jit import jit

SQUARED, MANHATTAN, CHEBYSHEV, MINKOWSKI = 0, 1, 2, 3
# Relative slack of lower bounds: far above the rounding of a sum, far below what costs time.
SLACK = 1e-10
# Approximate distances looked at together.
CHUNK = 64
# Rows whose distances are computed together in a full search.
SCAN = 256


@jit
def _reduce_rows(X, start, stop, q, metric, p, out):
    """Write the reduced distances of rows [start, stop) from q to ``out``."""
    d = X.shape[1]
    for i in range(start, stop):
        total = 0.0
        if metric == SQUARED:
            for c in range(d):
                gap = X[i, c] - q[c]
                total += gap * gap
        elif metric == MANHATTAN:
            for c in range(d):
                total += abs(X[i, c] - q[c])
        elif metric == CHEBYSHEV:
            for c in range(d):
                total = max(total, abs(X[i, c] - q[c]))
        else:
            for c in range(d):
                total += abs(X[i, c] - q[c]) ** p
        out[i - start] = total


# -- the k nearest so far: a heap whose first entry is the farthest --------------------------


@jit
def _sift(value, row, values, rows, k):
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
def _clear(values, rows):
    for j in range(values.shape[0]):
        values[j] = np.inf
        rows[j] = np.iinfo(np.int64).max


@jit
def _sort(values, rows):
    """Turn a heap into a list, nearest first."""
    for end in range(values.shape[0] - 1, 0, -1):
        value, row = values[end], rows[end]
        values[end], rows[end] = values[0], rows[0]
        _sift(value, row, values, rows, end)


@jit
def _offer(X, start, stop, q, metric, p, order, buffer, values, rows):
    """Offer the rows [start, stop), at most as many as the buffer holds, to a heap."""
    _reduce_rows(X, start, stop, q, metric, p, buffer)
    k = values.shape[0]
    for i in range(start, stop):
        value = buffer[i - start]
        if value < values[0] or (value == values[0] and order[i] < rows[0]):
            _sift(value, order[i], values, rows, k)


# -- searches --------------------------------------------------------------------------------


@jit
def scan_all(X, order, Q, metric, p, values, rows):
    """Find the nearest rows of each query among all rows."""
    buffer = np.empty(SCAN)
    for j in range(Q.shape[0]):
        _clear(values[j], rows[j])
        for start in range(0, X.shape[0], SCAN):
            stop = min(start + SCAN, X.shape[0])
            _offer(X, start, stop, Q[j], metric, p, order, buffer, values[j], rows[j])
        _sort(values[j], rows[j])


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
                        _sift(chunk[c], start + first + c, best, where, k)


@jit
def settle(X, order, Q, candidates, safe, values, rows):
    """Rank candidates exactly; where they may not suffice, search all rows.

    ``safe[j]`` is a number that the squared distance of every row outside ``candidates[j]`` is
    known to reach. Returns how many queries needed the full search.
    """
    buffer = np.empty(1)
    full = 0
    for j in range(Q.shape[0]):
        _clear(values[j], rows[j])
        for i in candidates[j]:
            _offer(X, i, i + 1, Q[j], SQUARED, 2.0, order, buffer, values[j], rows[j])
        if values[j, 0] < safe[j]:
            _sort(values[j], rows[j])
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
def _box(low, high, node, q, metric, p):
    """Bound the reduced distance of a box from below."""
    total = 0.0
    for c in range(q.shape[0]):
        gap = max(low[node, c] - q[c], q[c] - high[node, c], 0.0)
        if metric == SQUARED:
            total += gap * gap
        elif metric == MANHATTAN:
            total += gap
        elif metric == CHEBYSHEV:
            total = max(total, gap)
        else:
            total += gap**p
    return total * (1.0 - SLACK)


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
        _clear(best, where)
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
            left = _box(low, high, 2 * node + 1, q, metric, p)
            right = _box(low, high, 2 * node + 2, q, metric, p)
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
        _sort(best, where)
    return looked


# -- all rows within a distance --------------------------------------------------------------


@jit
def _longer(found, size):
    """Copy a list of (query, row, reduced distance) to one that holds twice as many."""
    which, rows, values = found
    longer = (
        np.empty(2 * size, dtype=np.int64),
        np.empty(2 * size, dtype=np.int64),
        np.empty(2 * size),
    )
    longer[0][:size], longer[1][:size], longer[2][:size] = which, rows, values
    return longer


@jit
def _short():
    return np.empty(SCAN, dtype=np.int64), np.empty(SCAN, dtype=np.int64), np.empty(SCAN)


@jit
def _take(X, start, stop, j, q, metric, p, limit, order, buffer, found, size):
    """Append those of the rows [start, stop) that are near enough to a list."""
    _reduce_rows(X, start, stop, q, metric, p, buffer)
    for i in range(start, stop):
        if buffer[i - start] <= limit:
            if size == found[0].shape[0]:
                found = _longer(found, size)
            found[0][size], found[1][size], found[2][size] = j, order[i], buffer[i - start]
            size += 1
    return found, size


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
    found, size, looked = _short(), 0, 0
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
                    found, size = _take(
                        X, first, last, j, q, metric, p, limit, order, buffer, found, size
                    )
                continue
            middle = (start + stop) // 2
            for child in range(2 * node + 1, 2 * node + 3):
                if _box(low, high, child, q, metric, p) <= limit:
                    nodes[depth] = child
                    starts[depth] = start if child == 2 * node + 1 else middle
                    stops[depth] = middle if child == 2 * node + 1 else stop
                    depth += 1
    return found[0][:size], found[1][:size], found[2][:size], looked


@jit
def within_tile(tile, start, bounds, X, order, Q, limit, found, size):
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
                    found, size = _take(
                        X, i, i + 1, j, Q[j], SQUARED, 2.0, limit, order, buffer, found, size
                    )
    return found, size


# -- sparse rows -----------------------------------------------------------------------------


@jit
def _merge(rows, i, queries, j, metric, p):
    """Compute the reduced distance of two sparse rows, whose columns are in order."""
    a, a_end = rows.starts[i], rows.starts[i + 1]
    b, b_end = queries.starts[j], queries.starts[j + 1]
    total = 0.0
    while a < a_end or b < b_end:
        gap = 0.0
        if b == b_end or (a < a_end and rows.where[a] < queries.where[b]):
            gap = rows.values[a]
            a += 1
        elif a == a_end or queries.where[b] < rows.where[a]:
            gap = queries.values[b]
            b += 1
        else:
            gap = rows.values[a] - queries.values[b]
            a += 1
            b += 1
        if metric == SQUARED:
            total += gap * gap
        elif metric == MANHATTAN:
            total += abs(gap)
        elif metric == CHEBYSHEV:
            total = max(total, abs(gap))
        else:
            total += abs(gap) ** p
    return total


@jit
def _multiply_columns(columns, squares, queries, j, out):
    """Write the approximate squared distances of all rows; return the largest sum of squares."""
    length = 0.0
    out[:] = 0.0
    for b in range(queries.starts[j], queries.starts[j + 1]):
        value, column = queries.values[b], queries.where[b]
        length += value * value
        for t in range(columns.starts[column], columns.starts[column + 1]):
            out[columns.where[t]] += value * columns.values[t]
    largest = 0.0
    for i in range(out.shape[0]):
        largest = max(largest, squares[i])
        out[i] = squares[i] + length - 2.0 * out[i]
    return largest + length


@jit
def nearest_sparse(rows, columns, squares, margin, queries, metric, p, values, found):
    """Find the nearest rows of each query; products with columns say which cannot be."""
    n, k = squares.shape[0], values.shape[1]
    guess = np.zeros(n)
    for j in range(values.shape[0]):
        best, where = values[j], found[j]
        _clear(best, where)
        limit = np.inf
        if metric == SQUARED:
            size = _multiply_columns(columns, squares, queries, j, guess)
            for i in range(n):
                if guess[i] < best[0]:
                    _sift(guess[i], i, best, where, k)
            limit = best[0] + 2.0 * margin * size
            _clear(best, where)
        for i in range(n):
            if guess[i] <= limit:
                value = _merge(rows, i, queries, j, metric, p)
                if value < best[0] or (value == best[0] and i < where[0]):
                    _sift(value, i, best, where, k)
        _sort(best, where)


@jit
def within_sparse(rows, columns, squares, margin, queries, metric, p, limit):
    """List rows within a reduced distance as queries, row numbers and reduced distances."""
    n = squares.shape[0]
    guess = np.zeros(n)
    found, size = _short(), 0
    for j in range(queries.starts.shape[0] - 1):
        near = limit
        if metric == SQUARED:
            near += margin * _multiply_columns(columns, squares, queries, j, guess)
        for i in range(n):
            if guess[i] <= near:
                value = _merge(rows, i, queries, j, metric, p)
                if value <= limit:
                    if size == found[0].shape[0]:
                        found = _longer(found, size)
                    found[0][size], found[1][size], found[2][size] = j, i, value
                    size += 1
    return found[0][:size], found[1][:size], found[2][:size]
