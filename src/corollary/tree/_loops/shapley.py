"""Compiled Shapley values of trees.

A leaf answers v if all conditions on the way to it hold. With the features of the way merged,
feature i holds in a share z_i of the rows that get there, and o_i says whether the row at hand
fulfils it. The Shapley value of feature j in this product game of m features is

    v (o_j - z_j) sum_S |S|! (m - |S| - 1)! / m! prod_{i in S} o_i prod_{i not in S, j} z_i,

whose sum over sets is a sum over the coefficients of prod (z_i + x) over those i with o_i = 1, one
factor divided out for each j.
"""

from typing import NamedTuple

import numpy as np

from corollary.core.jit import jit, part, record
from corollary.tree._loops.descend import side_of

#: Where a node hangs in its tree; -1 for the parent of the root.
PLACE = record(np.int64, "parent depth")
#: A leaf, and of how many features the way to it asks something.
LEAF = record(np.int64, "node n_factors")
#: A feature of a way, and the share of rows that fulfil what is asked of it.
FACTOR = record(np.int64, "feature", np.float64, "share")


class Ways(NamedTuple):
    """The ways to the leaves of one tree: places of nodes, leaves, factors of each leaf.

    ``slots`` says which factor of a leaf the split at a depth belongs to. Room for one row: the
    child that it goes to from each node, which factors hold, coefficients of a polynomial.
    """

    places: np.ndarray
    leaves: np.ndarray
    factors: np.ndarray
    slots: np.ndarray
    next_node: np.ndarray
    holds: np.ndarray
    poly: np.ndarray


@part
def _share(left, weight, root, node, parent):
    """Return the share of the rows of a parent that go to a node."""
    first = root + left[root + parent]
    both = weight[first] + weight[first + 1]
    return weight[root + node] / both if both > 0.0 else 0.5


@jit(counted=False)
def reach(offsets, left, weight, chance):
    """Fill chance: the probability that a row drawn by weights reaches each node from its root."""
    for t in range(offsets.shape[0] - 1):
        root = offsets[t]
        chance[root] = 1.0
        for node in range(offsets[t + 1] - root):
            child = left[root + node]
            if child >= 0:
                share = _share(left, weight, root, child, node)
                chance[root + child] = chance[root + node] * share
                chance[root + child + 1] = chance[root + node] * (1.0 - share)


@part
def _place(left, places):
    """Write parents and depths of the nodes of a tree; return the largest depth and the leaves."""
    deepest, n_leaves = 0, 0
    places[0].parent, places[0].depth = -1, 0
    for node in range(len(left)):
        if left[node] < 0:
            n_leaves += 1
            deepest = max(deepest, places[node].depth)
        else:
            for child in range(left[node], left[node] + 2):
                places[child].parent, places[child].depth = node, places[node].depth + 1
    return deepest, n_leaves


@part
def _merge(leaf, factors, slots, nodes, weight, root, places):
    """Write the factors of the way to a leaf: one for each feature."""
    leaf.n_factors, node = 0, leaf.node
    while places[node].parent >= 0:
        parent = places[node].parent
        feature, slot = nodes.feature[root + parent], 0
        while slot < leaf.n_factors and factors[slot].feature != feature:
            slot += 1
        if slot == leaf.n_factors:
            factors[slot].feature, factors[slot].share = feature, 1.0
            leaf.n_factors += 1
        factors[slot].share *= _share(nodes.left, weight, root, node, parent)
        slots[places[parent].depth] = slot
        node = parent


@part
def _fulfils(leaf, slots, places, next_node, holds):
    """Write which factors of a leaf the row at hand fulfils."""
    node = leaf.node
    for slot in range(leaf.n_factors):
        holds[slot] = True
    while places[node].parent >= 0:
        parent = places[node].parent
        if next_node[parent] != node:
            holds[slots[places[parent].depth]] = False
        node = parent


@part
def _expand(size, factors, holds, poly):
    """Write the coefficients of prod (z + x) over the factors that hold.

    Returned are how many hold, and the product of the shares of the others.
    """
    others, ones = 1.0, 0
    poly[0] = 1.0
    for slot in range(size):
        z = factors[slot].share
        if not holds[slot]:
            others *= z
            continue
        poly[ones + 1] = poly[ones]
        for q in range(ones, 0, -1):
            poly[q] = poly[q - 1] + z * poly[q]
        poly[0] *= z
        ones += 1
    return ones, others


@part
def _sum_for_failing(poly, ones, size):
    """Sum over sets for a feature that fails; it is the same for each of them."""
    total, factor = 0.0, 1.0 / size
    for q in range(ones + 1):
        total += poly[q] * factor
        factor *= (q + 1.0) / max(1.0, size - q - 1.0)
    return total


@part
def _sum_for_holding(poly, ones, size, z):
    """Sum over sets for a feature that holds: divide (z + x) out, from the top."""
    total, down, factor = 0.0, poly[ones], 1.0 / size
    for q in range(1, ones):
        factor *= q / (size - q * 1.0)
    for q in range(ones - 1, -1, -1):
        total += down * factor
        down = poly[q] - z * down
        if q > 0:
            factor *= (size - q * 1.0) / q
    return total


@part
def _share_out(leaf, factors, holds, poly, value, column, phi):
    """Add the Shapley values of one leaf's game to those of a row."""
    ones, others = _expand(leaf.n_factors, factors, holds, poly)
    if others == 0.0:
        return
    failing = _sum_for_failing(poly, ones, leaf.n_factors) if ones < leaf.n_factors else 0.0
    for slot in range(leaf.n_factors):
        z = factors[slot].share
        amount = -others * failing
        if holds[slot]:
            amount = (1.0 - z) * others * _sum_for_holding(poly, ones, leaf.n_factors, z)
        for output in range(len(value)):
            phi[factors[slot].feature, column + output] += amount * value[output]


@part
def _contribute_tree(nodes, weight, root, X, ways, column, phi):
    """Add the Shapley values of one tree, whose nodes have their places."""
    places, leaves, factors, slots, next_node, holds, poly = ways
    feature, value, n_leaves = nodes.feature, nodes.value, 0
    left = nodes.left[root : root + len(places)]
    for node in range(len(places)):
        if left[node] < 0:
            leaf = leaves[n_leaves]
            leaf.node = node
            _merge(leaf, factors[n_leaves], slots[n_leaves], nodes, weight, root, places)
            n_leaves += 1
    for i in range(len(X)):
        for node in range(len(places)):
            if left[node] >= 0:
                next_node[node] = left[node] + side_of(
                    nodes, root + node, X[i, feature[root + node]]
                )
        for k in range(n_leaves):
            leaf = leaves[k]
            _fulfils(leaf, slots[k], places, next_node, holds)
            _share_out(leaf, factors[k], holds, poly, value[root + leaf.node], column, phi[i])


@jit
def contribute(nodes, weight, X, groups, phi):
    """Add the Shapley values of every tree to phi of shape (rows, features, outputs)."""
    offsets, left, outputs = nodes.offsets, nodes.left, nodes.value.shape[1]
    for t in range(len(offsets) - 1):
        root, size = offsets[t], offsets[t + 1] - offsets[t]
        places = np.empty(size, PLACE)
        deepest, n_leaves = _place(left[root : root + size], places)
        ways = Ways(
            places,
            np.empty(n_leaves, LEAF),
            np.empty((n_leaves, deepest), FACTOR),
            np.empty((n_leaves, deepest), np.int64),
            np.empty(size, np.int64),
            np.empty(deepest, np.bool_),
            np.empty(deepest + 1),
        )
        _contribute_tree(nodes, weight, root, X, ways, (t % groups) * outputs, phi)
