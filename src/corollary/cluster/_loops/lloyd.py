"""Compiled steps of Lloyd's iteration, in which most rows need no distances.

Each row has an upper bound on the distance to its own centre and a lower bound on that to every
other one. A centre that moves by m shifts the bounds by at most m (the triangle inequality); while
the first stays below the second, the label cannot change. The other rows are multiplied with all
centres in single precision, and where the rounding of that may matter, distances decide.
"""

import numpy as np

from corollary.cluster._loops.distances import nearest_of, square
from corollary.core.jit import jit


@jit(counted=False)
def screen(X, C, labels, upper, lower, moved, others, half, margin, rows):
    """Shift the bounds of rows by what centres have moved; list the rows that they leave open.

    ``moved[a]`` is what centre a has moved by, ``others[a]`` the most that another one has, and
    ``half[a]`` half the distance from a to the nearest other centre.
    """
    count = 0
    for i in range(X.shape[0]):
        a = labels[i]
        lower[i] -= others[a]
        upper[i] += moved[a]
        safe = max(lower[i], half[a]) - margin
        if upper[i] < safe:
            continue
        upper[i] = np.sqrt(square(X, i, C, a))
        if upper[i] < safe:
            continue
        rows[count] = i
        count += 1
    return count


@jit(counted=False)
def gather(X, rows, count, origin, unit, columns, lengths):
    """Write listed rows, in units from an origin, as columns of single precision; and lengths."""
    for r in range(count):
        i = rows[r]
        total = 0.0
        for c in range(X.shape[1]):
            value = (X[i, c] - origin[c]) / unit
            total += value * value
            columns[c, r] = value
        lengths[r] = np.sqrt(total)


@jit
def settle(X, C, rows, count, products, norms, lengths, unit, error, labels, upper, lower):
    """Give listed rows their nearest centres and fresh bounds; return whether a label changed.

    ``products`` holds -2 c.x, centres in rows, and ``norms`` holds c.c; their sum, rounded, is
    wrong by at most ``error`` times 1 + 2 x ``lengths``.
    """
    best = np.full(count, np.float32(np.inf), dtype=np.float32)
    second = np.full(count, np.float32(np.inf), dtype=np.float32)
    label = np.zeros(count, dtype=np.int32)
    for j in range(C.shape[0]):
        norm = norms[j]
        for r in range(count):
            value = products[j, r] + norm
            better = value < best[r]
            loser = best[r] if better else value
            second[r] = loser if loser < second[r] else second[r]
            label[r] = np.int32(j) if better else label[r]
            best[r] = value if better else best[r]
    changed = False
    for r in range(count):
        i, a = rows[r], label[r]
        doubt = error * (1.0 + 2.0 * lengths[r])
        if not np.float64(second[r]) - np.float64(best[r]) > 2.0 * doubt:
            a = np.int32(nearest_of(X, i, C))
        changed = changed or a != labels[i]
        labels[i] = a
        upper[i] = np.sqrt(square(X, i, C, a))
        floor = np.float64(second[r]) - doubt + lengths[r] * lengths[r]
        lower[i] = unit * np.sqrt(max(floor, 0.0)) * (1.0 - 1e-12)
    return changed


@jit(counted=False)
def add_rows(X, weight, labels, sums, totals, counts):
    """Add rows to the sums of their clusters; ``counts`` counts those of positive weight."""
    for i in range(X.shape[0]):
        a = labels[i]
        w = 1.0 if weight is None else weight[i]
        totals[a] += w
        if w > 0.0:
            counts[a] += 1
        for c in range(X.shape[1]):
            sums[a, c] += w * X[i, c]
