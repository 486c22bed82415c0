"""Parts that the histogram and the exact grower share.

A node's channels are its total weight and, after it, the sum of weighted targets (squared error,
and the Gini index of two classes) or the weight of each class. What a fit does not need is None and
never compiled: ``impurity`` for squared error, ``monotone`` without constraints.
"""

from typing import NamedTuple

import numpy as np

from corollary.core.jit import part, record

GINI, ENTROPY, ERROR, POISSON = 1, 2, 3, 4

#: A node that may be split, and its entries.
OPEN = record(np.int64, "node start stop depth")
#: Between which values the answers of a node must lie.
BOUND = record(np.float64, "low high")


class Rules(NamedTuple):
    """When to split; ``min_gain`` is a sum over rows, limits are large where there is none.

    ``binary`` says that targets are 0 and 1, so that a perfect split is known when it is seen.
    """

    max_depth: int
    min_samples_split: int
    min_samples_leaf: int
    min_weight_leaf: float
    min_gain: float
    max_leaf_nodes: int
    max_features: int
    binary: bool


class Monotone(NamedTuple):
    """Sign of each column's constraint, and the bounds of each node.

    The answer of a node is its mean target, or the share of the second of two classes.
    """

    signs: np.ndarray
    bounds: np.ndarray


# -- sums and criteria ----------------------------------------------------------------------------


@part(strict=True)
def _times(weight, target):
    """Round the product before it is added, wherever the compiler puts it."""
    return weight * target


@part
def add(sums, target, weight, impurity):
    """Add a row to channels."""
    sums[0] += weight
    if impurity is None:
        sums[1] += _times(weight, target)
    else:
        sums[1 + np.int64(target)] += weight


@part
def add_outputs(sums, outputs, weight):
    """Add a row with a number for every channel."""
    sums[0] += weight
    for c in range(len(outputs)):
        sums[1 + c] += _times(weight, outputs[c])


@part
def explained_by_means(wl, sl, wr, sr):
    """Return what the means of both sides explain, times the weight of the node."""
    d = sl * wr - sr * wl
    return d * d / (wl * wr)


@part
def explained(impurity, total, left):
    """Sum over rows of what a split explains, up to a constant: larger is better.

    With an empty left side it is what the node explains without a split.
    """
    wl = left[0]
    wr = total[0] - wl
    a = b = 0.0
    for c in range(1, len(total)):
        x = left[c]
        y = total[c] - x
        if impurity == GINI:
            a += x * x
            b += y * y
        elif impurity == ENTROPY:
            a += x * np.log(x) if x > 0.0 else 0.0
            b += y * np.log(y) if y > 1e-12 * total[c] else 0.0
        else:
            a = x if x > a else a
            b = y if y > b else b
    if impurity == GINI:
        return (a / wl if wl > 0.0 else 0.0) + b / wr
    if impurity == ENTROPY:
        return a + b - (wl * np.log(wl) if wl > 0.0 else 0.0) - wr * np.log(wr)
    return a + b


@part
def explained_outputs(impurity, total, left):
    """As :func:`explained`, for channels that are several targets, or the classes of several.

    Squares of means for squared errors and Gini indices; else the sum over channels of
    x log(x / w), of which the entropy and the Poisson deviance are made. A side of counts that are
    all zero has no deviance, and is no split.
    """
    wl = left[0]
    wr = total[0] - wl
    a = b = 0.0
    for c in range(1, len(total)):
        x = left[c]
        y = total[c] - x
        if impurity == GINI:
            a += x * x
            b += y * y
            continue
        y = y if y > 1e-12 * total[c] else 0.0
        if impurity == POISSON and ((x <= 0.0 and wl > 0.0) or y <= 0.0):
            return -np.inf
        a += x * np.log(x / wl) if x > 0.0 else 0.0
        b += y * np.log(y / wr) if y > 0.0 else 0.0
    if impurity == GINI:
        return (a / wl if wl > 0.0 else 0.0) + b / wr
    return a + b


@part
def gain_of(best, impurity, total, left):
    """Turn the best score of a node's splits into what the split gains; ``left`` is room."""
    if impurity is None:
        return best / total[0]
    left[:] = 0.0
    return best - explained(impurity, total, left)


# -- constraints ----------------------------------------------------------------------------------


@part
def constraint_of(monotone, f, k):
    """Return the sign of column f and the bounds of node k."""
    bound = monotone.bounds[k]
    return monotone.signs[f], bound.low, bound.high


@part
def in_order(constraint, at_left, at_right):
    """Whether the answers of both sides are in order and within the bounds of their node."""
    sign, low, high = constraint
    if sign == 0:
        return True
    if min(at_left, at_right) < low or max(at_left, at_right) > high:
        return False
    return (at_left - at_right) * sign <= 0


@part
def bound_children(monotone, impurity, k, node, total):
    """Bound what is below a split of node k: by its own bounds and the mean of both sides."""
    answer, sign = 1 if impurity is None else 2, monotone.signs[node.feature]
    outer, left, right = (
        monotone.bounds[k],
        monotone.bounds[node.left],
        monotone.bounds[node.left + 1],
    )
    y = total[node.left, answer] / total[node.left, 0]
    z = total[node.left + 1, answer] / total[node.left + 1, 0]
    # Within the bounds also if the last digit of a sum has left them.
    middle = min(max(0.5 * y + 0.5 * z, outer.low), outer.high)
    left.low = right.low = outer.low
    left.high = right.high = outer.high
    if sign > 0:
        left.high = right.low = middle
    elif sign < 0:
        left.low = right.high = middle


# -- features and open nodes ----------------------------------------------------------------------


@part
def _next(random):
    """Return the next random whole number below 2^31."""
    random[0] = random[0] * 6364136223846793005 + 1442695040888963407
    return (random[0] >> 33) & 0x7FFFFFFF


@part
def uniform(random):
    """Return a random number from 0 to below 1."""
    return _next(random) * 2.0**-31


@part
def draw(features, random, drawn, max_features):
    """Return the next feature to try at a node; those before ``drawn`` were tried already."""
    if max_features < len(features):
        left = len(features) - drawn
        j = drawn + ((_next(random) * left) >> 31)
        f = features[j]
        features[j] = features[drawn]
        features[drawn] = f
    return np.int64(features[drawn])


@part
def push(open_, n_open, k, span, depth):
    """Add node k to those that may be split; return their number."""
    new = open_[n_open]
    new.node, new.start, new.stop, new.depth = k, span[0], span[1], depth
    return n_open + 1


@part
def pick(open_, n_open, nodes, best_first):
    """Say which open node to split: the last one, or that of the largest gain."""
    chosen = n_open - 1
    if best_first:
        for i in range(n_open - 1):
            if nodes[open_[i].node].gain > nodes[open_[chosen].node].gain:
                chosen = i
    return chosen


@part
def close(open_, n_open, nodes):
    """Make leaves of the nodes that are still open."""
    for i in range(n_open):
        node = nodes[open_[i].node]
        node.feature, node.gain = -1, 0.0


@part
def write_sides(goes_left, cut, missing, missing_left):
    """Write which bins go left: those up to the cut, and the bin of missing values if it does."""
    for b in range(len(goes_left)):
        goes_left[b] = b <= cut
    goes_left[missing] = missing_left
