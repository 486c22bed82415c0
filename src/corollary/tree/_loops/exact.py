"""Compiled growth of one tree by exact splits: sorted running sums.

Every column keeps its own order of the entries, sorted once; a split moves the entries of each
order to the children without disturbing it, so that nothing is sorted again. The criteria are
those of histograms (squared error if ``impurity`` is None), and the absolute error if ``medians``
is not None: then targets are ranks. ``kinds`` says how many categories a column has, 0 for numbers;
it is None if no column has any.

With several targets at once, and for counts, ``outputs`` is not None: it holds a number for each
entry and channel. If ``lone`` is not None, one cut of each column is drawn at random and tried
alone; one order of the entries then serves all columns.
"""

from typing import NamedTuple

import numpy as np

from corollary.core.jit import jit, part, record
from corollary.tree._loops.growth import (
    add,
    add_outputs,
    bound_children,
    close,
    constraint_of,
    draw,
    explained,
    explained_by_means,
    explained_outputs,
    gain_of,
    in_order,
    pick,
    push,
    uniform,
)
from corollary.tree._loops.medians import running_losses

#: The left child (the other follows it), -1 for none, and the entries of the node.
NODE = record(np.int64, "feature missing_left left start stop", np.float64, "threshold gain")
ROW = record(np.float64, "target weight")
#: An entry in the order in which cuts are tried, and its value, or the rank of its category.
PLACE = record(np.int64, "entry", np.float64, "key")
#: Mean target or share of a class, and where its entries are in the order of the column.
CATEGORY = record(np.float64, "share", np.int64, "start stop")


class Work(NamedTuple):
    """Columns (features, entries), orders of them, rows, and what is known at one node.

    That is the entries as arranged for a feature, its categories, channels on the left, which
    entries go left, features in the order drawn, random numbers, open nodes; and which categories
    a split that is drawn at random sends left.
    """

    columns: np.ndarray
    order: np.ndarray
    rows: np.ndarray
    places: np.ndarray
    categories: np.ndarray
    left: np.ndarray
    goes_left: np.ndarray
    features: np.ndarray
    random: np.ndarray
    open: np.ndarray
    bits: np.ndarray


class Grown(NamedTuple):
    """Nodes; their channels; for categories, which go left (one line per node)."""

    nodes: np.ndarray
    total: np.ndarray
    bits: np.ndarray


# -- entries in the order of a feature ------------------------------------------------------------


@part
def _arrange(places, order, column):
    """List entries with their values in the order of a column; return how many are missing."""
    missing = np.int64(0)
    for i in range(len(order)):
        key = column[order[i]]
        places[i].entry, places[i].key = order[i], key
        if np.isnan(key):
            missing += 1
    return missing


@part
def _enter(sums, entry, rows, impurity, outputs):
    """Add an entry to channels."""
    if outputs is None:
        add(sums, rows[entry].target, rows[entry].weight, impurity)
    else:
        add_outputs(sums, outputs[entry], rows[entry].weight)


@part
def _sum_category(places, start, present, rows, channel, outputs):
    """Return where the entries of a category stop, and its mean target or share of a class."""
    code, weight, part_of, stop = places[start].key, 0.0, 0.0, start
    while stop < present and places[stop].key == code:
        row = rows[places[stop].entry]
        weight += row.weight
        if outputs is not None:
            part_of += row.weight * outputs[places[stop].entry, channel]
        elif channel < 0:
            part_of += row.weight * row.target
        elif row.target == channel:
            part_of += row.weight
        stop += 1
    return stop, part_of / weight


@part
def _rank_categories(places, order, present, work, channel, outputs):
    """Arrange entries by category, categories sorted by mean target or share of a class.

    On entry keys are codes, ascending; on return they are the ranks of categories. ``channel`` is
    the class, -1 for the mean.
    """
    rows, categories = work.rows, work.categories
    n_codes, start = 0, 0
    while start < present:
        stop, share = _sum_category(places, start, present, rows, channel, outputs)
        j = n_codes
        while j > 0 and categories[j - 1].share > share:
            categories[j] = categories[j - 1]
            j -= 1
        categories[j].share, categories[j].start, categories[j].stop = share, start, stop
        start = stop
        n_codes += 1
    size = 0
    for rank in range(n_codes):
        for i in range(categories[rank].start, categories[rank].stop):
            places[size].entry, places[size].key = order[i], rank
            size += 1


# -- the best split of a node ---------------------------------------------------------------------


@part
def _score(i, present, impurity, medians, outputs, total, left):
    """Return what the cut after place i explains, up to a constant: larger is better."""
    if medians is not None:
        return -medians.left[i + 1] - medians.right[present - 1 - i]
    if outputs is not None:
        return explained_outputs(impurity, total, left)
    if impurity is None:
        return explained_by_means(left[0], left[1], total[0] - left[0], total[1] - left[1])
    return explained(impurity, total, left)


@part
def _large_enough(n_left, n_right, wl, wr, rules):
    """Whether both sides have the rows and the weight that a leaf must have."""
    few = n_left < rules.min_samples_leaf or n_right < rules.min_samples_leaf
    return not (few or wl < rules.min_weight_leaf or wr < rules.min_weight_leaf)


@part
def _cut(work, n, missing, best, total, constraint, rules, impurity, medians, outputs):
    """Try the cuts of n arranged entries.

    Returned are the best score, its place (-1 for none) and the side of missing values.
    """
    rows, places, left, present = work.rows, work.places, work.left, n - missing
    place, to_left, answer = -1, False, 1 if impurity is None else 2
    for side in range(2 if missing > 0 else 1):
        outside = missing if side == 1 else np.int64(0)
        if medians is not None:
            running_losses(medians.left, medians, rows, places, present, outside, False)
            running_losses(medians.right, medians, rows, places, present, missing - outside, True)
        left[:] = 0.0
        for i in range(present, present + outside):
            _enter(left, places[i].entry, rows, impurity, outputs)
        # All values can go left only if missing ones stay on the right.
        for i in range(present if missing > outside else present - 1):
            _enter(left, places[i].entry, rows, impurity, outputs)
            if i + 1 < present and places[i].key == places[i + 1].key:
                continue
            wl, wr, n_left = left[0], total[0] - left[0], i + 1 + outside
            if not _large_enough(n_left, n - n_left, wl, wr, rules):
                continue
            if constraint is not None and not in_order(
                constraint, left[answer] / wl, (total[answer] - left[answer]) / wr
            ):
                continue
            score = _score(i, present, impurity, medians, outputs, total, left)
            if score > best:
                best, place = score, i
                to_left = side == 1 if missing > 0 else wl >= wr
    return best, place, to_left


@part
def _note(node, f, places, place, present, to_left):
    """Write a split of a column of numbers, midway between two values."""
    node.feature, node.missing_left, node.threshold = f, to_left, np.inf
    if place + 1 < present:
        below, above = places[place].key, places[place + 1].key
        middle = 0.5 * below + 0.5 * above
        # Between neighbouring floating-point numbers there is no middle.
        node.threshold = middle if below <= middle < above else below


@part
def _note_set(node, f, places, place, present, to_left, column, bits):
    """Write a split of categories: those up to ``place`` go left."""
    node.feature, node.missing_left = f, to_left
    for code in range(256):  # those not seen go with the missing
        bits[code] = to_left
    for i in range(present):
        bits[np.int64(column[places[i].entry])] = i <= place


@part
def _try_feature(
    f, k, span, best, kinds, impurity, medians, outputs, rules, work, grown, constraint
):
    """Try all splits of a feature; return the best score so far and whether its values differ."""
    order, column, n = work.order[f, span[0] : span[1]], work.columns[f], span[1] - span[0]
    places, node, total = work.places, grown.nodes[k], grown.total[k]
    # Categories are cut in the order of their means, or of the share of each class in turn.
    is_set, n_orders = kinds is not None and kinds[f] > 0, 1
    if is_set and impurity is not None:
        n_orders = len(total) - 1
    for channel in range(n_orders):
        missing = _arrange(places, order, column)
        if missing == n or (missing == 0 and places[0].key == places[n - 1].key):
            return best, False
        if is_set:
            by = -1 if impurity is None else channel
            _rank_categories(places, order, n - missing, work, by, outputs)
        best, place, to_left = _cut(
            work, n, missing, best, total, constraint, rules, impurity, medians, outputs
        )
        if place >= 0 and kinds is not None and is_set:
            _note_set(node, f, places, place, n - missing, to_left, column, grown.bits[k])
        elif place >= 0:
            _note(node, f, places, place, n - missing, to_left)
    return best, True


@part
def _limits(column, order):
    """Return the least and the largest value of entries, and how many are missing."""
    low, high, missing = np.inf, -np.inf, np.int64(0)
    for i in range(len(order)):
        x = column[order[i]]
        if np.isnan(x):
            missing += 1
        else:
            low, high = min(low, x), max(high, x)
    return low, high, missing


@part
def _deal(places, column, order, threshold, bits, missing_left, is_set):
    """Arrange entries by the side of a drawn split, which is then the only cut."""
    start, stop = 0, len(order)
    for i in range(len(order)):
        x = column[order[i]]
        to_left = x <= threshold
        if np.isnan(x):
            to_left = missing_left
        elif is_set:
            to_left = bits[np.int64(x)]
        if to_left:
            places[start].entry, places[start].key = order[i], 0.0
            start += 1
        else:
            stop -= 1
            places[stop].entry, places[stop].key = order[i], 1.0


@part
def _draw_split(low, high, missing, is_set, bits, random):
    """Draw a threshold, or the side of each category, and the side of missing values.

    The least value goes left and the largest right, so that neither side is empty.
    """
    threshold, missing_left = high, False
    if low < high:
        threshold = low + uniform(random) * (high - low)
        threshold = threshold if threshold < high else low
        missing_left = missing > 0 and uniform(random) < 0.5
    if is_set:
        for code in range(256):
            bits[code] = uniform(random) < 0.5
        bits[np.int64(low)], bits[np.int64(high)] = True, low == high
    return threshold, missing_left


@part
def _try_at_random(
    f, k, span, best, kinds, impurity, medians, outputs, rules, work, grown, constraint
):
    """As :func:`_try_feature`, for one split that is drawn at random."""
    order, column, n = work.order[0, span[0] : span[1]], work.columns[f], span[1] - span[0]
    low, high, missing = _limits(column, order)
    if missing == n or (missing == 0 and low == high):
        return best, False
    is_set = kinds is not None and kinds[f] > 0
    bits = work.bits
    threshold, missing_left = _draw_split(low, high, missing, is_set, bits, work.random)
    _deal(work.places, column, order, threshold, bits, missing_left, is_set)
    none = np.int64(0)
    best, place, to_left = _cut(
        work, n, none, best, grown.total[k], constraint, rules, impurity, medians, outputs
    )
    if place >= 0:
        node = grown.nodes[k]
        node.feature, node.threshold = f, threshold
        node.missing_left = missing_left if missing > 0 else to_left
        if kinds is not None and is_set:
            for code in range(256):
                grown.bits[k, code] = bits[code]
    return best, True


@part
def _gain(best, span, impurity, medians, outputs, work, total):
    """Turn the best score of a node's splits into what the split gains."""
    if medians is not None:
        n = span[1] - span[0]
        _arrange(work.places, work.order[0, span[0] : span[1]], work.columns[0])
        running_losses(medians.left, medians, work.rows, work.places, n, np.int64(0), False)
        return max(best + medians.left[n], 0.0)
    if outputs is not None:
        work.left[:] = 0.0
        return max(best - explained_outputs(impurity, total, work.left), 0.0)
    return max(gain_of(best, impurity, total, work.left), 0.0)


@part
def _differ(order, rows, start, stop, outputs):
    """Whether the targets of entries differ."""
    if outputs is not None:
        for i in range(start + 1, stop):
            for c in range(outputs.shape[1]):
                if outputs[order[i], c] != outputs[order[start], c]:
                    return True
        return False
    i = start + 1
    while i < stop and rows[order[i]].target == rows[order[start]].target:
        i += 1
    return i < stop


@part
def _find_split(
    k, span, depth, kinds, impurity, medians, outputs, rules, work, grown, monotone, lone
):
    """Find the best split of node k; return whether it is worth making."""
    node, total, n_features = grown.nodes[k], grown.total[k], len(work.features)
    node.feature = node.left = -1
    node.missing_left, node.start, node.stop = 0, span[0], span[1]
    node.gain = node.threshold = 0.0
    if depth >= rules.max_depth or span[1] - span[0] < rules.min_samples_split:
        return False
    if not _differ(work.order[0], work.rows, span[0], span[1], outputs):
        return False
    best, drawn, varies = -np.inf, np.int64(0), False
    while drawn < n_features and (drawn < rules.max_features or not varies):
        f = draw(work.features, work.random, drawn, rules.max_features)
        drawn += 1
        constraint = None if monotone is None else constraint_of(monotone, f, k)
        if lone is None:
            best, differs = _try_feature(
                f, k, span, best, kinds, impurity, medians, outputs, rules, work, grown, constraint
            )
        else:
            best, differs = _try_at_random(
                f, k, span, best, kinds, impurity, medians, outputs, rules, work, grown, constraint
            )
        varies = varies or differs
    if node.feature < 0:
        return False
    gain = _gain(best, span, impurity, medians, outputs, work, total)
    if gain < rules.min_gain:
        node.feature = -1
        return False
    node.gain = gain
    return True


# -- from one node to the next --------------------------------------------------------------------


@part
def _mark(node, is_set, bits, work, span, total, impurity, outputs):
    """Mark the entries that go left and sum both children; return where the second begins."""
    order, column, rows, goes_left = (
        work.order[min(node.feature, len(work.order) - 1)],
        work.columns[node.feature],
        work.rows,
        work.goes_left,
    )
    threshold, missing_left, middle = node.threshold, node.missing_left != 0, span[0]
    total[:, :] = 0.0
    for i in range(span[0], span[1]):
        e = order[i]
        x = column[e]
        if np.isnan(x):
            to_left = missing_left
        elif is_set:
            to_left = bits[np.int64(x)]
        else:
            to_left = x <= threshold
        goes_left[e] = to_left
        middle += to_left
        _enter(total[0 if to_left else 1], e, rows, impurity, outputs)
    return middle


@part
def _move(order, places, goes_left, span):
    """Move the entries of a node to its children, in the order of one column."""
    middle, n_right = span[0], 0
    for i in range(span[0], span[1]):
        e = order[i]
        if goes_left[e]:
            order[middle] = e
            middle += 1
        else:
            places[n_right].entry = e
            n_right += 1
    for i in range(n_right):
        order[middle + i] = places[i].entry


@jit(counted=False)
def grow_exact(kinds, impurity, medians, outputs, rules, work, grown, monotone, lone):
    """Grow a tree from all entries; return its number of nodes.

    Depth first, or the largest gain first if leaves are limited. ``total`` holds the root's. A
    split of a constrained column must keep the order of its sides and the bounds of its node.
    """
    nodes, total, open_, order = grown.nodes, grown.total, work.open, work.order
    best_first = rules.max_leaf_nodes < order.shape[1]
    # A variable that starts as a literal would have every part compiled twice.
    zero = np.int64(0)
    n_nodes, n_open, child, depth = zero + 1, zero, zero, zero
    start, middle, stop = zero, zero, order.shape[1]
    while True:
        # The root is a right child without a sibling.
        for k in range(child, n_nodes):
            span = (start, middle) if k < n_nodes - 1 else (middle, stop)
            if _find_split(
                k,
                span,
                depth,
                kinds,
                impurity,
                medians,
                outputs,
                rules,
                work,
                grown,
                monotone,
                lone,
            ):
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
        is_set = kinds is not None and kinds[node.feature] > 0
        bits, sums = grown.bits[parent if kinds is not None else 0], total[child : child + 2]
        middle = _mark(node, is_set, bits, work, (start, stop), sums, impurity, outputs)
        for f in range(len(order)):
            _move(order[f], work.places, work.goes_left, (start, stop))
        if monotone is not None:
            bound_children(monotone, impurity, parent, node, total)
    close(open_, n_open, nodes)
    return n_nodes
