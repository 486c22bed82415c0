"""Compiled growth of one tree on binned columns.

Rows are entries of two arrays, the row's number and its target and weight, that are partitioned
in place: a node owns the entries from ``start`` to ``stop``. Every bin of a histogram holds the
total weight in its first channel and, after it, the sum of weighted targets (squared error, and
the Gini index of two classes) or the weight of each class. Byte 255 is the bin of missing values.

Compiling is part of the first fit, so it counts: arrays are flat, the loop is one function, and
what a fit does not need is None and never compiled (``kinds`` without categorical columns,
``impurity`` for squared error, ``monotone`` without constraints).
"""

from typing import NamedTuple

import numpy as np

from corollary.core.jit import jit

GINI, ENTROPY, ERROR = 1, 2, 3
# Nodes with fewer rows list the bins they touch while they are filled; others look at all bins.
FEW_ROWS = 64


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


class Work(NamedTuple):
    """Entries (row; target and weight), room to move them, histograms, lists, features, queue.

    ``hist`` has 256 bins and the sums on the left after them. ``lists`` holds the state of the
    random numbers (0), the bins that hold rows (from 1) and their counts (from 257). Histograms
    and counts are zero, and are left so. ``near`` takes the bins of one branch at a time,
    so that its rows lie side by side in the cache; without columns it is not used.
    """

    row: np.ndarray
    value: np.ndarray
    spare_row: np.ndarray
    spare_value: np.ndarray
    hist: np.ndarray
    lists: np.ndarray
    features: np.ndarray
    queue: np.ndarray
    near: np.ndarray


class Grown(NamedTuple):
    """The tree: feature, cut, side of missing values, left child; channels; gain; bits.

    The cut is the last bin on the left, or 255 for categories, of which ``bits`` (one row for
    each node, if there are categorical columns) marks those that go left.
    """

    nodes: np.ndarray
    total: np.ndarray
    gain: np.ndarray
    bits: np.ndarray


class Monotone(NamedTuple):
    """Sign of each column's constraint, and between which values the answers of a node must lie.

    The answer is the mean target, or the share of the second of two classes.
    """

    signs: np.ndarray
    low: np.ndarray
    high: np.ndarray


@jit
def _explained(impurity, total, left):
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


@jit
def _sort_bins(hist, lists, width, m, channel):
    """Sort the m listed bins by a channel's share of their weight."""
    for i in range(2, m + 1):
        b, j = lists[i], i
        key = hist[b * width + channel] / hist[b * width]
        while j > 1:
            place = lists[j - 1] * width
            if hist[place + channel] <= key * hist[place]:
                break
            lists[j] = lists[j - 1]
            j -= 1
        lists[j] = b


@jit
def grow_tree(bins, kinds, impurity, rules, work, grown, monotone):
    """Grow a tree from all entries; return its number of nodes.

    ``bins`` is (features, rows), C-ordered; ``kinds`` says how many categories a column has, 0 for
    numbers. Depth first, or the largest gain first if leaves are limited. At every node features
    are drawn as the rules say, and more while all that are drawn are constant. ``total`` holds the
    root's. A split of a constrained column must keep the order of its sides and the bounds of its
    node; the mean of both sides then bounds what is below them.
    """
    row, value, spare_row, spare_value, hist, lists, features, queue, near = work
    nodes, total, gain, bits = grown
    max_depth, min_split, min_leaf, min_weight, min_gain, max_leaves, max_features, binary = rules
    n_features, end, width = len(features), len(row), 2
    if impurity is not None:  # else the width is known to the compiler, which adds both at once
        width = total.shape[1]
    left = hist[len(hist) - width :]
    n_nodes, n_open, child, depth, start, middle = 1, 0, 0, 0, 0, 0
    best_first, counting = max_leaves < end, min_leaf > 1
    varies_left = varies_right = True
    table, near_start, near_end = bins, 0, 0
    while True:
        # -- the best split of each new node
        for node in range(child, n_nodes):
            a, b_, varies = middle, end, varies_right
            if child > 0 and node == child:
                a, b_, varies = start, middle, varies_left
            size = b_ - a
            nodes[4 * node] = -1
            nodes[4 * node + 3] = -1
            gain[node] = 0.0
            if not varies or depth >= max_depth or size < min_split:
                continue
            w_all, s_all, few = total[node, 0], total[node, 1], size < FEW_ROWS
            best, drawn, varies = -np.inf, 0, False
            perfect = s_all * (w_all - s_all) * (1.0 - 1e-12) if binary else np.inf
            while drawn < n_features and (drawn < max_features or not varies) and best < perfect:
                if max_features < n_features:
                    lists[0] = lists[0] * 6364136223846793005 + 1442695040888963407
                    j = drawn + ((((lists[0] >> 33) & 0x7FFFFFFF) * (n_features - drawn)) >> 31)
                    f = features[j]
                    features[j] = features[drawn]
                    features[drawn] = f
                f = features[drawn]
                drawn += 1
                m = 0
                for i in range(a, b_):
                    t, w, channel = value[2 * i], value[2 * i + 1], np.int64(1)
                    amount = w * t
                    if impurity is not None:
                        channel += np.int64(t)
                        amount = w
                    x = np.int64(table[f, np.int64(row[i])])
                    if few and hist[x * width] == 0.0:
                        m += 1
                        j = m
                        while j > 1 and lists[j - 1] > x:
                            lists[j] = lists[j - 1]
                            j -= 1
                        lists[j] = x
                    hist[x * width] += w
                    hist[x * width + channel] += amount
                    if counting:
                        lists[257 + x] += 1
                if not few:
                    for b in range(256):
                        if hist[b * width] > 0.0:
                            m += 1
                            lists[m] = b
                if m > 0 and lists[m] == 255:
                    m -= 1
                lost, last, n_orders = 255 * width, m, 1
                missing = hist[lost] > 0.0
                if missing:
                    last += 1
                if last > 1:
                    varies = True
                if kinds is not None and impurity is not None and kinds[f] > 0:
                    n_orders = width - 1
                # Missing values go right in the first scan of an order, left in the second.
                for scan in range(2 * n_orders if missing else n_orders):
                    side = scan & 1 if missing else 0
                    if kinds is not None and kinds[f] > 0:
                        _sort_bins(hist, lists, width, m, 1 + (scan // 2 if missing else scan))
                    wl = sl = 0.0
                    n_left = 0
                    if side == 1:
                        wl, sl, n_left = hist[lost], hist[lost + 1], lists[512]
                    if impurity is not None:
                        for c in range(width):
                            left[c] = hist[lost + c] * side
                    for i in range(1, last - side):
                        b = lists[i]
                        wl += hist[b * width]
                        wr = w_all - wl
                        if impurity is None:
                            sl += hist[b * width + 1]
                            d = sl * wr - (s_all - sl) * wl
                            score = d * d / (wl * wr)
                        else:
                            for c in range(width):
                                left[c] += hist[b * width + c]
                            score = _explained(impurity, total[node], left)
                        if counting:
                            n_left += lists[257 + b]
                            if n_left < min_leaf or size - n_left < min_leaf:
                                continue
                        if monotone is not None and monotone.signs[f] != 0:
                            y, z = sl / wl, (s_all - sl) / wr
                            if impurity is not None:
                                y, z = left[2] / wl, (total[node, 2] - left[2]) / wr
                            lowest, highest = min(y, z), max(y, z)
                            if lowest < monotone.low[node] or highest > monotone.high[node]:
                                continue
                            if (y - z) * monotone.signs[f] > 0:
                                continue
                        if score > best and wl >= min_weight and wr >= min_weight:
                            best = score
                            to_left = side == 1 if missing else wl >= wr
                            nodes[4 * node] = f
                            # Midway between the bins seen; the last of them has no limit.
                            nodes[4 * node + 1] = (b + lists[i + 1] - 1) // 2 if i < m else 254
                            nodes[4 * node + 2] = to_left
                            if kinds is not None and kinds[f] > 0:
                                nodes[4 * node + 1] = 255
                                for j in range(256):  # those not seen go with the missing
                                    bits[node, j] = to_left
                                for j in range(1, m + 1):
                                    bits[node, lists[j]] = j <= i
                for i in range(1, m + 2 if few else 257):
                    b = i - 1
                    if few:
                        b = lists[i] if i <= m else 255
                    lists[257 + b] = 0
                    for c in range(width):
                        hist[b * width + c] = 0.0
            if nodes[4 * node] < 0:
                continue
            if impurity is None:
                best /= w_all
            else:
                for c in range(width):
                    left[c] = 0.0
                best -= _explained(impurity, total[node], left)
            if best < min_gain:
                nodes[4 * node] = -1
                continue
            gain[node] = best
            queue[4 * n_open] = node
            queue[4 * n_open + 1] = a
            queue[4 * n_open + 2] = b_
            queue[4 * n_open + 3] = depth
            n_open += 1
        # -- the node to split
        if n_open == 0 or n_nodes > 2 * max_leaves - 2:
            break
        n_open -= 1
        chosen = n_open
        if best_first:
            for k in range(n_open):
                if gain[queue[4 * k]] > gain[queue[4 * chosen]]:
                    chosen = k
        node = queue[4 * chosen]
        start = queue[4 * chosen + 1]
        end = queue[4 * chosen + 2]
        depth = queue[4 * chosen + 3] + 1
        for c in range(4):
            queue[4 * chosen + c] = queue[4 * n_open + c]
        child = n_nodes
        n_nodes += 2
        nodes[4 * node + 3] = child
        # -- a small branch takes its bins along; depth first, it is finished before the next
        if end - start <= near.shape[1] and (start < near_start or end > near_end):
            near_start, near_end = start, end
            for j in range(n_features):
                f = features[j]
                for i in range(start, end):
                    near[f, i - start] = bins[f, np.int64(row[i])]
            for i in range(start, end):
                row[i] = i - start
        table = near if near_start <= start and end <= near_end else bins
        # -- its entries move to the children, in order, and are summed
        f, cut, to_left = nodes[4 * node], nodes[4 * node + 1], nodes[4 * node + 2] != 0
        for c in range(width):
            total[child, c] = 0.0
            total[child + 1, c] = 0.0
        middle, n_right, low_left, low_right = start, 0, np.inf, np.inf
        high_left = high_right = -np.inf
        for i in range(start, end):
            r, t, w = np.int64(row[i]), value[2 * i], value[2 * i + 1]
            x = np.int64(table[f, r])
            goes_left = x <= cut
            if x == 255:
                goes_left = to_left
            elif kinds is not None and cut == 255:
                goes_left = bits[node, x]
            here, channel, amount = child, np.int64(1), w * t
            if impurity is not None:
                channel += np.int64(t)
                amount = w
            if goes_left:
                row[middle] = r
                value[2 * middle] = t
                value[2 * middle + 1] = w
                middle += 1
                low_left = t if t < low_left else low_left
                high_left = t if t > high_left else high_left
            else:
                spare_row[n_right] = r
                spare_value[2 * n_right] = t
                spare_value[2 * n_right + 1] = w
                n_right += 1
                low_right = t if t < low_right else low_right
                high_right = t if t > high_right else high_right
                here += 1
            total[here, 0] += w
            total[here, channel] += amount
        for i in range(n_right):
            row[middle + i] = spare_row[i]
            value[2 * (middle + i)] = spare_value[2 * i]
            value[2 * (middle + i) + 1] = spare_value[2 * i + 1]
        varies_left, varies_right = low_left < high_left, low_right < high_right
        if monotone is not None:
            answer, sign = 1 if impurity is None else 2, monotone.signs[f]
            y, z = total[child, answer] / total[child, 0], total[child + 1, answer]
            z /= total[child + 1, 0]
            for side in range(2):
                monotone.low[child + side] = monotone.low[node]
                monotone.high[child + side] = monotone.high[node]
            # Within the bounds also if the last digit of a sum has left them.
            y = min(max(0.5 * y + 0.5 * z, monotone.low[node]), monotone.high[node])
            if sign > 0:
                monotone.high[child] = monotone.low[child + 1] = y
            elif sign < 0:
                monotone.low[child] = monotone.high[child + 1] = y
    for k in range(n_open):
        nodes[4 * queue[4 * k]] = -1
        gain[queue[4 * k]] = 0.0
    return n_nodes
