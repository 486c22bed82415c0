"""Compiled Shapley values of trees."""

import numpy as np

from corollary.core.jit import jit


@jit
def reach(offsets, left, weight, chance):
    """Fill chance: the probability that a row drawn by weights reaches each node from its root."""
    for t in range(offsets.shape[0] - 1):
        root = offsets[t]
        chance[root] = 1.0
        for node in range(root, offsets[t + 1]):
            if left[node] < 0:
                continue
            a = root + left[node]
            both = weight[a] + weight[a + 1]
            share = weight[a] / both if both > 0.0 else 0.5
            chance[a] = chance[node] * share
            chance[a + 1] = chance[node] * (1.0 - share)


@jit
def contribute(nodes, weight, X, groups, phi):
    """Add the Shapley values of every tree to phi of shape (rows, features, outputs).

    A leaf answers v if all conditions on the way to it hold. With the features of the way merged,
    feature i holds in a share z_i of the rows that get there, and o_i says whether the row at
    hand fulfils it. The Shapley value of feature j in this product game is

        v (o_j - z_j) sum_S |S|! (m - |S| - 1)! / m! prod_{i in S} o_i prod_{i not in S, j} z_i,

    whose sum over sets is a sum over the coefficients of prod (z_i + x) over those i with
    o_i = 1, one factor divided out for each j.
    """
    offsets, feature, threshold, missing_left, left, categories, bitsets, value = nodes
    n, outputs = X.shape[0], value.shape[1]
    categorical = len(categories) > 0
    for t in range(offsets.shape[0] - 1):
        root, stop = offsets[t], offsets[t + 1]
        size = stop - root
        column = (t % groups) * outputs
        parent = np.empty(size, dtype=np.int64)
        depth = np.empty(size, dtype=np.int64)
        parent[0], depth[0] = -1, 0
        deepest, n_leaves = 0, 0
        for node in range(size):
            child = left[root + node]
            if child < 0:
                n_leaves += 1
                deepest = max(deepest, depth[node])
            else:
                for c in range(child, child + 2):
                    parent[c], depth[c] = node, depth[node] + 1
        if deepest == 0:
            continue
        # Ways to the leaves, features merged: z of each feature, and the slot of each edge.
        leaves = np.empty(n_leaves, dtype=np.int64)
        used = np.empty(n_leaves, dtype=np.int64)
        names = np.empty((n_leaves, deepest), dtype=np.int64)
        shares = np.empty((n_leaves, deepest))
        slots = np.empty((n_leaves, deepest), dtype=np.int64)
        k = 0
        for node in range(size):
            if left[root + node] >= 0:
                continue
            leaves[k], used[k] = node, 0
            here = node
            while parent[here] >= 0:
                above = parent[here]
                name = feature[root + above]
                a = root + left[root + above]
                both = weight[a] + weight[a + 1]
                share = weight[root + here] / both if both > 0.0 else 0.5
                slot = 0
                while slot < used[k] and names[k, slot] != name:
                    slot += 1
                if slot == used[k]:
                    names[k, slot], shares[k, slot] = name, 1.0
                    used[k] += 1
                shares[k, slot] *= share
                slots[k, depth[above]] = slot
                here = above
            k += 1
        goes = np.empty(size, dtype=np.bool_)
        holds = np.empty(deepest, dtype=np.bool_)
        poly = np.empty(deepest + 1)
        for i in range(n):
            for node in range(size):
                if left[root + node] >= 0:
                    at = root + node
                    x = X[i, feature[at]]
                    if np.isnan(x):
                        goes[node] = missing_left[at]
                    elif categorical and categories[at] >= 0:
                        if x >= 0.0 and x < 256.0 and x == np.floor(x):
                            code = np.int64(x)
                            word = bitsets[categories[at], code >> 5]
                            goes[node] = (word >> np.uint32(code & 31)) & np.uint32(1) != 0
                        else:
                            goes[node] = missing_left[at]
                    else:
                        goes[node] = x <= threshold[at]
            for k in range(n_leaves):
                m = used[k]
                for s in range(m):
                    holds[s] = True
                here = leaves[k]
                while parent[here] >= 0:
                    above = parent[here]
                    if goes[above] != (here == left[root + above]):
                        holds[slots[k, depth[above]]] = False
                    here = above
                # Coefficients of prod (z_i + x) over the features that hold.
                rest, ones = 1.0, 0
                poly[0] = 1.0
                for s in range(m):
                    z = shares[k, s]
                    if not holds[s]:
                        rest *= z
                        continue
                    poly[ones + 1] = poly[ones]
                    for q in range(ones, 0, -1):
                        poly[q] = poly[q - 1] + z * poly[q]
                    poly[0] *= z
                    ones += 1
                if rest == 0.0:
                    continue
                if ones < m:
                    # Every feature that fails has the same value.
                    total, factor = 0.0, 1.0 / m
                    for q in range(ones + 1):
                        total += poly[q] * factor
                        factor *= (q + 1.0) / max(1.0, m - q - 1.0)
                    for s in range(m):
                        if not holds[s]:
                            for o in range(outputs):
                                phi[i, names[k, s], column + o] -= (
                                    rest * total * value[root + leaves[k], o]
                                )
                for s in range(m):
                    if not holds[s]:
                        continue
                    z = shares[k, s]
                    # Divide (z + x) out from the top; weights |S|! (m - |S| - 1)! / m!.
                    total, down = 0.0, poly[ones]
                    factor = 1.0 / m
                    for q in range(1, ones):
                        factor *= q / (m - q * 1.0)
                    for q in range(ones - 1, -1, -1):
                        total += down * factor
                        down = poly[q] - z * down
                        if q > 0:
                            factor *= (m - q * 1.0) / q
                    for o in range(outputs):
                        phi[i, names[k, s], column + o] += (
                            (1.0 - z) * rest * total * value[root + leaves[k], o]
                        )
