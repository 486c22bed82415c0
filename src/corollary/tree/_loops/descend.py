"""Compiled walk of rows down many trees."""

from typing import NamedTuple

import numpy as np

from corollary.core.jit import jit


class Nodes(NamedTuple):
    """What a walk needs of :class:`~corollary.tree.structure.Trees`, in its dtypes."""

    offsets: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    left: np.ndarray
    categories: np.ndarray
    bitsets: np.ndarray
    value: np.ndarray


@jit
def descend(nodes, X, first, stop, groups, total, leaves):
    """Walk every row down trees ``first`` to ``stop``; add values to total, note leaves.

    X is double, C-contiguous, NaN for missing. ``total`` (rows, groups * outputs) is added to:
    tree t adds to the columns of group ``t % groups``. ``leaves`` (rows, trees) receives the
    leaves' numbers within their trees; with no rows it is left alone.
    """
    offsets, feature, threshold, missing_left, left, categories, bitsets, value = nodes
    n, outputs = X.shape[0], value.shape[1]
    keep, categorical = leaves.shape[0] == n, len(categories) > 0
    for t in range(first, stop):
        root = offsets[t]
        column = (t % groups) * outputs
        for i in range(n):
            node = root
            child = left[node]
            while child >= 0:
                x = X[i, feature[node]]
                if np.isnan(x):
                    goes_left = missing_left[node]
                elif categorical and categories[node] >= 0:
                    if x >= 0.0 and x < 256.0 and x == np.floor(x):
                        code = np.int64(x)
                        word = bitsets[categories[node], code >> 5]
                        goes_left = (word >> np.uint32(code & 31)) & np.uint32(1) != 0
                    else:
                        goes_left = missing_left[node]
                else:
                    goes_left = x <= threshold[node]
                node = root + child + (0 if goes_left else 1)
                child = left[node]
            for k in range(outputs):
                total[i, column + k] += value[node, k]
            if keep:
                leaves[i, t - first] = node - root
