"""Compiled distances.

The reduced distance (the squared Euclidean one, the p-th power of Minkowski's) of dense rows is
computed by :func:`reduce_rows` and by nothing else, so that every search gives the same answer to
the last bit.
"""

from corollary.core.jit import jit

SQUARED, MANHATTAN, CHEBYSHEV, MINKOWSKI = 0, 1, 2, 3
# Relative slack of lower bounds: far above the rounding of a sum, far below what costs time.
SLACK = 1e-10


@jit
def reduce_rows(X, start, stop, q, metric, p, out):
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


@jit
def box(low, high, node, q, metric, p):
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
