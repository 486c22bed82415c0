"""Compiled growth of one tree on binned columns.

Rows are entries, the row's number with its target and weight, that are partitioned in place: a node
owns the entries from ``start`` to ``stop``. Every bin of a histogram holds channels as a node does.
Byte 255 is the bin of missing values. ``kinds`` says how many categories a column has, 0 for
numbers; it is None if no column has any.
"""

from typing import NamedTuple

import numpy as np

from corollary.core.jit import jit, part, record
from corollary.tree._loops.growth import (
    add,
    bound_children,
    close,
    constraint_of,
    draw,
    explained,
    explained_by_means,
    gain_of,
    in_order,
    pick,
    push,
    write_sides,
)

MISSING = 255
# Nodes with fewer rows list the bins they touch while they are filled; others look at all bins.
FEW_ROWS = 64

#: The last bin on the left (MISSING for categories), the side of missing values, the left child
#: (the other follows it), -1 for none, and the entries of the node.
NODE = record(np.int64, "feature cut missing_left left start stop", np.float64, "gain")
ENTRY = record(np.float64, "target weight", np.int64, "row")


class Histogram(NamedTuple):
    """Channels and counts of bins (zero between features), bins that hold rows, channels left."""

    sums: np.ndarray
    counts: np.ndarray
    seen: np.ndarray
    left: np.ndarray


class Work(NamedTuple):
    """Entries, the histogram of a feature, features in the order drawn, random numbers."""

    entry: np.ndarray
    histogram: Histogram
    features: np.ndarray
    random: np.ndarray


class Room(NamedTuple):
    """Open nodes, the side of each bin, room to move entries, and for the bins of one branch.

    With its bins ``near`` the rows of a branch lie side by side in the cache of the processor;
    without columns it is not used.
    """

    open: np.ndarray
    goes_left: np.ndarray
    spare: np.ndarray
    near: np.ndarray


class Grown(NamedTuple):
    """Nodes; their channels; for categories, which bins go left (one line per node)."""

    nodes: np.ndarray
    total: np.ndarray
    bits: np.ndarray


# -- the histogram of a feature -------------------------------------------------------------------


@part
def _fill(histogram, entry, codes, start, stop, impurity, counting):
    """Add a node's entries to the histogram; list the bins that hold some, and say how many."""
    sums, counts, seen, size = histogram.sums, histogram.counts, histogram.seen, 0
    for i in range(start, stop):
        b = np.int64(codes[entry[i].row])
        add(sums[b], entry[i].target, entry[i].weight, impurity)
        if counting:
            counts[b] += 1
    for k in range(256):
        if sums[k, 0] > 0.0:
            seen[size] = k
            size += 1
    return size


@part
def _fill_few(histogram, entry, codes, start, stop, impurity, counting):
    """As :func:`_fill`, without looking at all bins."""
    sums, counts, seen, size = histogram.sums, histogram.counts, histogram.seen, 0
    for i in range(start, stop):
        b = np.int64(codes[entry[i].row])
        if sums[b, 0] == 0.0:
            j = size
            while j > 0 and seen[j - 1] > b:
                seen[j] = seen[j - 1]
                j -= 1
            seen[j] = b
            size += 1
        add(sums[b], entry[i].target, entry[i].weight, impurity)
        if counting:
            counts[b] += 1
    return size


@part
def _clear(histogram, size, few, impurity):
    """Empty the histogram."""
    sums, counts, seen = histogram.sums, histogram.counts, histogram.seen
    for i in range(size + 1 if few else 256):
        b = i
        if few:
            b = seen[i] if i < size else MISSING
        counts[b] = 0
        sums[b, 0] = sums[b, 1] = 0.0
        if impurity is not None:
            for c in range(2, sums.shape[1]):
                sums[b, c] = 0.0


@part
def _sort_bins(sums, seen, size, channel):
    """Sort the listed bins by a channel's share of their weight."""
    for i in range(1, size):
        b, j = seen[i], i
        share = sums[b, channel] / sums[b, 0]
        while j > 0:
            before = seen[j - 1]
            if sums[before, channel] <= share * sums[before, 0]:
                break
            seen[j] = before
            j -= 1
        seen[j] = b


# -- the best split of a node ---------------------------------------------------------------------


@part
def _cut_means(histogram, size, side, n_rows, best, total, constraint, rules):
    """Try the cuts between listed bins.

    Returned are the best score, its place in the list (-1 for none) and the side of missing values.
    ``side`` is 1 if missing values go left, 0 if right, -1 if there are none.
    """
    sums, counts, seen = histogram.sums, histogram.counts, histogram.seen
    min_rows, min_weight = rules.min_samples_leaf, rules.min_weight_leaf
    w_all, s_all = total[0], total[1]
    wl, sl, n_left, counting = 0.0, 0.0, np.int64(0), min_rows > 1
    place, to_left = -1, False
    if side == 1:
        wl, sl, n_left = sums[MISSING, 0], sums[MISSING, 1], counts[MISSING]
    # If missing values go right, all others may go left.
    for i in range(size if side == 0 else size - 1):
        b = seen[i]
        wl += sums[b, 0]
        sl += sums[b, 1]
        wr, sr = w_all - wl, s_all - sl
        if counting:
            n_left += counts[b]
            if n_left < min_rows or n_rows - n_left < min_rows:
                continue
        if wl < min_weight or wr < min_weight:
            continue
        if constraint is not None and not in_order(constraint, sl / wl, sr / wr):
            continue
        score = explained_by_means(wl, sl, wr, sr)
        if score > best:
            best, place = score, i
            to_left = side == 1 if side >= 0 else wl >= wr
    return best, place, to_left


@part
def _cut_classes(histogram, size, side, n_rows, best, total, constraint, rules, impurity):
    """As :func:`_cut_means`, with a channel for every class."""
    sums, counts, seen, left = histogram
    min_rows, min_weight = rules.min_samples_leaf, rules.min_weight_leaf
    n_left, counting = np.int64(0), min_rows > 1
    place, to_left = -1, False
    for c in range(len(left)):
        left[c] = sums[MISSING, c] if side == 1 else 0.0
    if side == 1:
        n_left = counts[MISSING]
    for i in range(size if side == 0 else size - 1):
        b = seen[i]
        for c in range(len(left)):
            left[c] += sums[b, c]
        wl, wr = left[0], total[0] - left[0]
        if counting:
            n_left += counts[b]
            if n_left < min_rows or n_rows - n_left < min_rows:
                continue
        if wl < min_weight or wr < min_weight:
            continue
        if constraint is not None and not in_order(
            constraint, left[2] / wl, (total[2] - left[2]) / wr
        ):
            continue
        score = explained(impurity, total, left)
        if score > best:
            best, place = score, i
            to_left = side == 1 if side >= 0 else wl >= wr
    return best, place, to_left


@part
def _note(node, f, seen, place, size, to_left):
    """Write a split of a column of numbers, after the listed bin at ``place``."""
    node.feature, node.missing_left = f, to_left
    # Midway between the bins seen; the last of them has no limit.
    node.cut = (seen[place] + seen[place + 1] - 1) // 2 if place < size - 1 else MISSING - 1


@part
def _note_set(node, f, seen, place, size, to_left, bits):
    """Write a split of categories: those listed up to ``place`` go left."""
    node.feature, node.missing_left, node.cut = f, to_left, MISSING
    for b in range(256):  # those not seen go with the missing
        bits[b] = to_left
    for j in range(size):
        bits[seen[j]] = j <= place


@part
def _try_feature(f, k, span, codes, best, kinds, impurity, rules, work, grown, constraint):
    """Try all splits of a feature; return the best score so far and whether its values differ."""
    start, stop = span
    histogram, node, total = work.histogram, grown.nodes[k], grown.total[k]
    few, counting = stop - start < FEW_ROWS, rules.min_samples_leaf > 1
    if few:
        listed = _fill_few(histogram, work.entry, codes, start, stop, impurity, counting)
    else:
        listed = _fill(histogram, work.entry, codes, start, stop, impurity, counting)
    missing = histogram.sums[MISSING, 0] > 0.0
    size, n_rows = listed - 1 if missing else listed, stop - start
    # Categories are cut in the order of their means, or of the share of each class in turn.
    is_set, n_orders = kinds is not None and kinds[f] > 0, 1
    if is_set and impurity is not None:
        n_orders = len(total) - 1
    for order in range(n_orders):
        for side in range(0 if missing else -1, 2 if missing else 0):
            if is_set:
                _sort_bins(histogram.sums, histogram.seen, size, 1 + order)
            if impurity is None:
                best, place, to_left = _cut_means(
                    histogram, size, side, n_rows, best, total, constraint, rules
                )
            else:
                best, place, to_left = _cut_classes(
                    histogram, size, side, n_rows, best, total, constraint, rules, impurity
                )
            if place < 0:
                continue
            if kinds is not None and is_set:
                _note_set(node, f, histogram.seen, place, size, to_left, grown.bits[k])
            else:
                _note(node, f, histogram.seen, place, size, to_left)
    _clear(histogram, size, few, impurity)
    return best, listed > 1


@part
def _differ(entry, start, stop):
    """Whether the targets of entries differ."""
    i = start + 1
    while i < stop and entry[i].target == entry[start].target:
        i += 1
    return i < stop


@part
def _find_split(k, span, depth, table, kinds, impurity, rules, work, grown, monotone):
    """Find the best split of node k; return whether it is worth making."""
    node, total, n_features = grown.nodes[k], grown.total[k], len(work.features)
    node.feature = node.left = -1
    node.gain = 0.0
    start, stop = span
    node.start, node.stop = start, stop
    if depth >= rules.max_depth or stop - start < rules.min_samples_split:
        return False
    if depth > 0 and not _differ(work.entry, start, stop):
        return False
    best, drawn, varies, perfect = -np.inf, np.int64(0), False, np.inf
    if rules.binary:
        perfect = total[1] * (total[0] - total[1]) * (1.0 - 1e-12)
    while drawn < n_features and (drawn < rules.max_features or not varies) and best < perfect:
        f = draw(work.features, work.random, drawn, rules.max_features)
        drawn += 1
        constraint = None if monotone is None else constraint_of(monotone, f, k)
        best, differs = _try_feature(
            f, k, span, table[f], best, kinds, impurity, rules, work, grown, constraint
        )
        varies = varies or differs
    if node.feature < 0:
        return False
    gain = gain_of(best, impurity, total, work.histogram.left)
    if gain < rules.min_gain:
        node.feature = -1
        return False
    node.gain = gain
    return True


# -- from one node to the next --------------------------------------------------------------------


@part
def _bring_near(bins, near, entry, features, start, stop):
    """Copy the bins of a branch; its entries then hold places in the copy."""
    for f in features:
        for i in range(start, stop):
            near[f, i - start] = bins[f, entry[i].row]
    for i in range(start, stop):
        entry[i].row = i - start


@part
def _sides(node, kinds, bits, goes_left):
    """Write which bins go left; ``bits`` are those of the node."""
    if kinds is not None and node.cut == MISSING:
        for b in range(256):
            goes_left[b] = bits[b]
    else:
        write_sides(goes_left, node.cut, MISSING, node.missing_left)


@part
def _partition(entry, spare, goes_left, codes, start, stop, total, impurity):
    """Move entries to two children, in order, and sum these; return where the second begins."""
    total[:, :] = 0.0
    middle, n_right = start, 0
    for i in range(start, stop):
        row, target, weight = entry[i].row, entry[i].target, entry[i].weight
        if goes_left[np.int64(codes[row])]:
            moved, child = entry[middle], 0
            middle += 1
        else:
            moved, child = spare[n_right], 1
            n_right += 1
        moved.row, moved.target, moved.weight = row, target, weight
        add(total[child], target, weight, impurity)
    for i in range(n_right):
        entry[middle + i] = spare[i]
    return middle


@jit(counted=False)
def grow_tree(bins, kinds, impurity, rules, work, room, grown, monotone):
    """Grow a tree from all entries; return its number of nodes.

    ``bins`` is (features, rows), C-ordered. Depth first, or the largest gain first if leaves are
    limited. At every node features are drawn as the rules say, and more while all that are drawn
    are constant. ``total`` holds the root's. A split of a constrained column must keep the order of
    its sides and the bounds of its node.
    """
    entry, nodes, total, open_, near = work.entry, grown.nodes, grown.total, room.open, room.near
    best_first = rules.max_leaf_nodes < len(entry)
    # A variable that starts as a literal would have every part compiled twice.
    zero = np.int64(0)
    near_start, near_stop, table, depth, n_open = zero, zero, bins, zero, zero
    n_nodes, child, start, middle, stop = zero + 1, zero, zero, zero, len(entry)
    while True:
        # The root is a right child without a sibling.
        for k in range(child, n_nodes):
            span = (start, middle) if k < n_nodes - 1 else (middle, stop)
            if _find_split(k, span, depth, table, kinds, impurity, rules, work, grown, monotone):
                n_open = push(open_, n_open, k, span, depth)
        if n_open == 0 or n_nodes > 2 * rules.max_leaf_nodes - 2:
            break
        chosen = pick(open_, n_open, nodes, best_first)
        parent, start, stop = open_[chosen].node, open_[chosen].start, open_[chosen].stop
        depth = open_[chosen].depth + 1
        n_open -= 1
        open_[chosen] = open_[n_open]
        node, child = nodes[parent], n_nodes
        node.left = child
        n_nodes += 2
        # A small branch takes its bins along; depth first, it is finished before the next.
        if stop - start <= near.shape[1] and (start < near_start or stop > near_stop):
            near_start, near_stop = start, stop
            _bring_near(bins, near, entry, work.features, start, stop)
        table = near if near_start <= start and stop <= near_stop else bins
        _sides(node, kinds, grown.bits[parent if kinds is not None else 0], room.goes_left)
        codes, sums = table[node.feature], total[child : child + 2]
        middle = _partition(entry, room.spare, room.goes_left, codes, start, stop, sums, impurity)
        if monotone is not None:
            bound_children(monotone, impurity, parent, node, total)
    close(open_, n_open, nodes)
    return n_nodes
