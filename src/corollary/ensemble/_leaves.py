"""Sums and values of the leaves of boosted trees."""

import numpy as np

from corollary.core.jit import jit


@jit
def sum_leaves(gradient, hessian, order, spans, scales, sums):
    """Add derivatives of each leaf's rows as whole numbers, which any order adds up alike."""
    for leaf in range(spans.shape[0]):
        g, h = np.int64(0), np.int64(0)
        for t in range(spans[leaf, 0], spans[leaf, 1]):
            g += np.int64(np.rint(gradient[order[t]] * scales[0]))
            h += np.int64(np.rint(hessian[order[t]] * scales[1]))
        sums[leaf, 0] = g
        sums[leaf, 1] = h


@jit
def add_leaves(raw, column, order, spans, steps):
    """Add each leaf's steps to its rows, in columns of raw from ``column`` on."""
    for leaf in range(spans.shape[0]):
        for t in range(spans[leaf, 0], spans[leaf, 1]):
            for k in range(steps.shape[1]):
                raw[order[t], column + k] += steps[leaf, k]


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
