"""The compiled pass of k-means++ over rows."""

import numpy as np

from corollary.core.jit import jit, part

LANES = 64


@part
def load_lanes(X, first, count, lanes):
    """Copy rows into lanes, eight at a time, which fit in the registers of most machines."""
    for start in range(0, count - count % 8, 8):
        for c in range(X.shape[1]):
            for b in range(start, start + 8):
                lanes[c, b] = X[first + b, c]
    for b in range(count - count % 8, count):
        for c in range(X.shape[1]):
            lanes[c, b] = X[first + b, c]


@part
def lane_squares(lanes, point, squares):
    """Compute squared distances of lanes from a point."""
    d = len(point)
    squares[:] = 0.0
    c = 0
    while c + 4 <= d:  # four columns at once: squares are loaded and stored less often
        p0, p1, p2, p3 = point[c], point[c + 1], point[c + 2], point[c + 3]
        for b in range(LANES):
            g0, g1 = lanes[c, b] - p0, lanes[c + 1, b] - p1
            g2, g3 = lanes[c + 2, b] - p2, lanes[c + 3, b] - p3
            squares[b] += g0 * g0 + g1 * g1 + g2 * g2 + g3 * g3
        c += 4
    while c < d:
        for b in range(LANES):
            gap = lanes[c, b] - point[c]
            squares[b] += gap * gap
        c += 1


@jit
def potentials(X, weight, near, candidates, left, block, out):
    """Write what is left of the squared distances with each candidate, and weighted sums of blocks.

    ``near`` has the squared distances from the nearest centre so far.
    """
    n, d = X.shape
    lanes, squares = np.zeros((d, LANES)), np.zeros(LANES)
    out[:] = 0.0
    for first in range(0, n, LANES):
        count = min(LANES, n - first)
        load_lanes(X, first, count, lanes)
        for t in range(len(candidates)):
            lane_squares(lanes, candidates[t], squares)
            total = 0.0
            for b in range(count):
                value = min(squares[b], near[first + b])
                left[t, first + b] = value
                total += value if weight is None else weight[first + b] * value
            out[first // block, t] += total
