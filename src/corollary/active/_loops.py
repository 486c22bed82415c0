"""Compiled loops over pairs of points: who lies within a radius of whom.

Points are columns, so that the innermost loop runs over neighbouring numbers and is vectorised.
Distances are sums of squared differences, added feature by feature in a fixed order: exact where
differences are, symmetric, and the same for any number of threads.
"""

import numpy as np

from corollary.core.jit import jit

TILE = 256  # points whose features fit in the first cache


@jit
def _squares(X, a, b, x, out):
    """Set ``out[:b - a]`` to squared distances of points a to b (columns of X) from x."""
    for j in range(b - a):
        out[j] = 0.0
    for k in range(len(X)):
        value = x[k]
        row = X[k, a:b]
        for j in range(b - a):
            gap = row[j] - value
            out[j] += gap * gap


@jit
def add_balls(X, keys, points, weight, radius, limit, totals, start, stop):
    """Add to ``totals[i]`` the weights of those points that lie in the ball of column i of X.

    Columns from ``start`` to ``stop`` are looked at.

    Columns are sorted by ``keys``, their first feature; so are the rows of ``points``. Each total
    is changed by one thread, in the order of the points. ``radius`` is a little more than the root
    of ``limit``, the largest squared distance inside.
    """
    first = points[:, 0].copy()
    square = np.empty(TILE)
    for a in range(start, stop, TILE):
        b = min(a + TILE, stop)
        nearest_row = np.searchsorted(first, keys[a] - radius)
        farthest_row = np.searchsorted(first, keys[b - 1] + radius, side="right")
        for r in range(nearest_row, farthest_row):
            _squares(X, a, b, points[r], square)
            w = weight[r]
            for j in range(b - a):
                totals[a + j] += w if square[j] <= limit else 0.0


@jit
def squared_distances(X, x, out):
    """Set ``out`` to the squared distances of all columns of X from x."""
    n = X.shape[1]
    for a in range(0, n, TILE):
        b = min(a + TILE, n)
        _squares(X, a, b, x, out[a:b])


@jit
def nearest(X, points, labels, others, squares, indices, start, stop):
    """For each column of X the nearest row of ``points`` with another label; the first of equals.

    Columns from ``start`` to ``stop`` are looked at.

    Continues from ``squares`` (infinity at first) and ``indices`` (-1). Label -1 of a point is
    nobody's own.
    """
    square = np.empty(TILE)
    for a in range(start, stop, TILE):
        b = min(a + TILE, stop)
        for r in range(len(points)):
            _squares(X, a, b, points[r], square)
            for j in range(b - a):
                i = a + j
                if square[j] < squares[i] and labels[i] != others[r]:
                    squares[i] = square[j]
                    indices[i] = r
