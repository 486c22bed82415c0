"""Compiled walk of rows down many trees."""

from typing import NamedTuple

import numpy as np

from corollary.core.jit import jit, part


class Nodes(NamedTuple):
    """What a walk needs of :class:`~corollary.tree.Trees`, in its dtypes."""

    offsets: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    left: np.ndarray
    categories: np.ndarray
    bitsets: np.ndarray
    value: np.ndarray


@part
def side_of(nodes, at, x):
    """Return 0 if a value goes left at a node, 1 if right.

    Unknown categories go with missing values. A number is added where a truth value would be
    branched on, and half of the branches would be guessed wrong.
    """
    if np.isnan(x):
        left = nodes.missing_left[at]
    elif len(nodes.categories) > 0 and nodes.categories[at] >= 0:
        left = nodes.missing_left[at]
        if 0.0 <= x < 256.0 and x == np.floor(x):
            code = np.int64(x)
            word = nodes.bitsets[nodes.categories[at], code >> 5]
            left = (word >> np.uint32(code & 31)) & np.uint32(1) != 0
    else:
        left = x <= nodes.threshold[at]
    return np.int64(0) if left else np.int64(1)


@jit(counted=False)
def descend(nodes, X, first, stop, groups, total, leaves):
    """Walk every row down trees ``first`` to ``stop``; add values to total, note leaves.

    X is double, C-contiguous, NaN for missing. ``total`` (rows, groups * outputs) is added to:
    tree t adds to the columns of group ``t % groups``. ``leaves`` (rows, trees) receives the
    leaves' numbers within their trees; with no rows it is left alone.
    """
    feature, left, value = nodes.feature, nodes.left, nodes.value
    n, outputs, keep = X.shape[0], value.shape[1], leaves.shape[0] == X.shape[0]
    for t in range(first, stop):
        root, column = nodes.offsets[t], (t % groups) * outputs
        for i in range(n):
            node = root
            child = left[node]
            while child >= 0:
                node = root + child + side_of(nodes, node, X[i, feature[node]])
                child = left[node]
            for k in range(outputs):
                total[i, column + k] += value[node, k]
            if keep:
                leaves[i, t - first] = node - root
