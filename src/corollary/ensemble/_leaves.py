"""Sums and values of the leaves of boosted trees."""

import numpy as np

from corollary.core.jit import jit


@jit
def sum_leaves(values, order, leaves, spans, block, scales, sums):
    """Add pairs of values of each leaf's rows as whole numbers, which any order adds up alike."""
    for k in range(leaves.shape[0]):
        g, h = np.int64(0), np.int64(0)
        span = spans[leaves[k], block]
        for t in range(span[0], span[1]):
            i = np.int64(order[t])
            g += np.int64(np.rint(values[i, 0] * scales[0]))
            h += np.int64(np.rint(values[i, 1] * scales[1]))
        sums[k, 0] = g
        sums[k, 1] = h


@jit
def add_leaves(raw, column, order, leaves, spans, block, steps):
    """Add each leaf's steps to its rows, in columns of raw from ``column`` on."""
    for k in range(leaves.shape[0]):
        span = spans[leaves[k], block]
        for t in range(span[0], span[1]):
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


@jit
def average_up(offsets, left, value, weight):
    """Give inner nodes of trees the weight of their leaves, and the weighted mean of values."""
    for tree in range(offsets.shape[0] - 1):
        first = offsets[tree]
        for node in range(offsets[tree + 1] - 1, first - 1, -1):
            if left[node] < 0:
                continue
            a = first + left[node]
            weight[node] = weight[a] + weight[a + 1]
            share = weight[a] / weight[node] if weight[node] > 0 else 0.5
            for k in range(value.shape[1]):
                value[node, k] = share * value[a, k] + (1.0 - share) * value[a + 1, k]
