"""Compiled steps of Lloyd's iteration, in which most rows need no distances.

Each row has an upper bound on the distance to its own centre and a lower bound on that to every
other one. A centre that moves by m shifts the bounds by at most m (the triangle inequality); while
the first stays below the second, the label cannot change. The other rows are multiplied with all
centres in single precision, many at once in lanes, and where the rounding of that may matter,
distances decide. Rows are summed in tiles, of which only the clusters that changed are summed anew.
"""

import numpy as np

from corollary.cluster._loops.distances import nearest_of, square
from corollary.core.jit import jit, part

LANES = 128


@part
def gather(X, rows, count, origin, unit, columns, lengths):
    """Write listed rows, in units from an origin, into lanes of single precision; and lengths."""
    for r in range(count):
        i, total = rows[r], 0.0
        for c in range(X.shape[1]):
            value = (X[i, c] - origin[c]) / unit
            total += value * value
            columns[c, r] = value
        lengths[r] = np.sqrt(total)


@part
def multiply(columns, matrix, norms, j, scores):
    """Compute ``norms + matrix @ columns`` for the centres j and j + 1."""
    d, k = len(columns), len(norms)
    n = min(j + 1, k - 1)
    for b in range(LANES):
        scores[0, b] = norms[j]
        scores[1, b] = norms[n]
    c = 0
    while c + 4 <= d:  # four columns at once: scores are loaded and stored less often
        a0, a1, a2, a3 = matrix[j, c], matrix[j, c + 1], matrix[j, c + 2], matrix[j, c + 3]
        e0, e1, e2, e3 = matrix[n, c], matrix[n, c + 1], matrix[n, c + 2], matrix[n, c + 3]
        for b in range(LANES):
            x0, x1, x2, x3 = columns[c, b], columns[c + 1, b], columns[c + 2, b], columns[c + 3, b]
            scores[0, b] += a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3
            scores[1, b] += e0 * x0 + e1 * x1 + e2 * x2 + e3 * x3
        c += 4
    while c < d:
        for b in range(LANES):
            scores[0, b] += matrix[j, c] * columns[c, b]
            scores[1, b] += matrix[n, c] * columns[c, b]
        c += 1


@part
def least_two(columns, matrix, norms, scores, best, second, label):
    """Find the least and the second of ``norms + matrix @ columns`` in every lane."""
    k = len(norms)
    for b in range(LANES):
        best[b] = np.float32(np.inf)
        second[b] = np.float32(np.inf)
    for j in range(0, k, 2):
        multiply(columns, matrix, norms, j, scores)
        for t in range(min(2, k - j)):
            number = np.int32(j + t)
            for b in range(LANES):
                value = scores[t, b]
                better = value < best[b]
                loser = best[b] if better else value
                second[b] = loser if loser < second[b] else second[b]
                label[b] = number if better else label[b]
                best[b] = value if better else best[b]


@part
def settle(X, rows, count, factor, lanes, drifts, bounds, dirty):
    """Give listed rows, at most as many as lanes, their nearest centres and fresh bounds.

    The first bound of a row whose label stays is already fresh. Returns whether a label changed.
    """
    centres, origin, unit, matrix, norms, error = factor
    columns, scores, label, lengths = lanes
    own, others = drifts.own, drifts.others
    labels, upper, lower = bounds
    best, second = scores[2], scores[3]
    gather(X, rows, count, origin, unit, columns, lengths)
    least_two(columns, matrix, norms, scores, best, second, label)
    changed = False
    for r in range(count):
        i, a = rows[r], label[r]
        doubt = error * (1.0 + 2.0 * lengths[r])
        if not np.float64(second[r]) - np.float64(best[r]) > 2.0 * doubt:
            a = np.int32(nearest_of(X, i, centres))
        if a != labels[i]:
            changed = dirty[a] = dirty[labels[i]] = True
            labels[i] = a
            upper[i] = np.sqrt(square(X, i, centres, a)) - own[a]
        floor = np.float64(second[r]) - doubt + lengths[r] * lengths[r]
        lower[i] = unit * np.sqrt(max(floor, 0.0)) * (1.0 - 1e-12) + others[a]
    return changed


@part
def add_rows(X, weight, labels, start, stop, dirty, tile):
    """Sum the rows of dirty clusters: rows times weights, weights, rows of positive weight."""
    d = X.shape[1]
    for a in range(len(dirty)):
        if dirty[a]:
            for c in range(d + 2):
                tile[a, c] = 0.0
    for i in range(start, stop):
        a = labels[i]
        if dirty[a]:
            w = 1.0 if weight is None else weight[i]
            for c in range(d):
                tile[a, c] += w * X[i, c]
            tile[a, d] += w
            tile[a, d + 1] += 1.0 if w > 0.0 else 0.0


@jit
def label_tiles(X, weight, factor, drifts, bounds, edges, tiles, is_first):
    """Give rows their nearest centres and, if there are tiles, sum the clusters that changed.

    Tile t has the rows from ``edges[t]`` on. With all drifts so far, ``upper + own[label]`` and
    ``lower - others[label]`` are bounds of today, and ``half`` is half the distance from a centre
    to the nearest other one.
    """
    own, others, half, margin = drifts
    labels, upper, lower = bounds
    centres, d, k = factor.centres, X.shape[1], len(factor.centres)
    columns, scores = np.zeros((d, LANES), dtype=np.float32), np.zeros((4, LANES), dtype=np.float32)
    lanes = columns, scores, np.zeros(LANES, dtype=np.int32), np.zeros(LANES)
    rows, dirty = np.empty(np.diff(edges).max(), dtype=np.int64), np.empty(k, dtype=np.bool_)
    drift, close = own + others + margin, half - own - margin
    for t in range(len(edges) - 1):
        start, stop = edges[t], edges[t + 1]
        count, doubtful = 0, 0
        for i in range(start, stop):
            a = labels[i]
            if not (lower[i] - upper[i] > drift[a] or upper[i] < close[a]):
                rows[doubtful] = i
                doubtful += 1
        for r in range(doubtful):  # without branches, so that a row need not wait for the last one
            i = rows[r]
            a = labels[i]
            distance = np.sqrt(square(X, i, centres, a))
            upper[i] = distance - own[a]
            rows[count] = i
            count += not distance < max(lower[i] - others[a], half[a]) - margin
        changed = is_first
        dirty[:] = is_first
        for first in range(0, count, LANES):
            some, size = rows[first:], min(LANES, count - first)
            new = settle(X, some, size, factor, lanes, drifts, bounds, dirty)
            changed = new or changed
        if len(tiles) > 0 and changed:
            add_rows(X, weight, labels, start, stop, dirty, tiles[t])
