"""Sums and values of the leaves of boosted trees."""

import numpy as np

from corollary.core.jit import jit


@jit
def sum_leaves(values, order, leaves, spans, block, scales, sums):
    """Add pairs of values of each leaf's rows as whole numbers, which any order adds up alike."""
    for k in range(leaves.shape[0]):
        g, h = np.int64(0), np.int64(0)
        start, stop = spans[leaves[k], 2 * block], spans[leaves[k], 2 * block + 1]
        for t in range(start, stop):
            i = np.int64(order[t])
            g += np.int64(np.rint(values[i, 0] * scales[0]))
            h += np.int64(np.rint(values[i, 1] * scales[1]))
        sums[k, 0] = g
        sums[k, 1] = h


@jit
def add_leaves(raw, column, order, leaves, spans, block, steps):
    """Add each leaf's steps to its rows, in columns of raw from ``column`` on."""
    for k in range(leaves.shape[0]):
        start, stop = spans[leaves[k], 2 * block], spans[leaves[k], 2 * block + 1]
        for t in range(start, stop):
            for j in range(steps.shape[1]):
                raw[np.int64(order[t]), column + j] += steps[k, j]


@jit
def walk_codes(codes, rows, feature, left, sides, leaves):
    """Find the leaf of binned rows; sides has a line of 256 for every node."""
    for k in range(rows.shape[0]):
        i = rows[k]
        node = 0
        while left[node] >= 0:
            node = left[node] + 1 - np.int64(sides[node, codes[i, feature[node]]])
        leaves[k] = node
