"""Growing a boosted tree.

A whole tree grows in :func:`grow`, which leaves compiled code only where a node has so many rows
that threads should share them, or where the arrays must be made larger.
"""

import numpy as np

from corollary.core.jit import jit, part
from corollary.ensemble._loops.records import DONE, FULL, MOST
from corollary.ensemble._loops.rows import add_rows, pack_rows, split_span
from corollary.ensemble._loops.split import bound_children, find_split


@part
def _take_rows(name, first, last, rows, plan, tree, work):
    """Partition the rows of a node, and add those of its smaller child to a histogram.

    Rows of the root, while it is the only node, are packed and all added. Those of a shared node
    enter the histogram of their block.
    """
    codes, derivatives, packed, order, aside = rows
    nodes, spans, hists, sides = tree.nodes, tree.spans, tree.hists, tree.sides
    node, columns, rule, state = nodes[name], plan.columns, plan.rule[0], tree.state[0]
    left, small, n = node.left, node.small, packed.shape[0]
    child = left + small if left >= 0 else 0
    for b in range(first, last):
        span = spans[name, b]
        if left < 0:
            pack_rows(derivatives, order[span.start : span.stop], 0, rule, packed)
        else:
            column = columns[node.feature].feature * n
            near, far = spans[left, b], spans[left + 1, b]
            split_span(codes, column, sides[name], order, aside, span, near, far)
        if small >= 0:
            slot, span = b if state.shared else nodes[child].slot, spans[child, b]
            some = order[span.start : span.stop]
            add_rows(codes, packed, some, columns, rule, work, hists[slot])


@part
def _sum_root(node, column, hist):
    """Sum the lines of a feature, which are the totals of all rows."""
    for b in range(column.n_bins + 1):
        node.g += hist[column.line + 2 * b]
        node.hc += hist[column.line + 2 * b + 1]


@part
def _subtract(hist, smaller):
    """Leave in the histogram of a node that of its larger child."""
    for k in range(hist.shape[0]):
        hist[k] -= smaller[k]


@part
def _give_back(slot, tree):
    """Note that a histogram is free."""
    state = tree.state[0]
    tree.free[state.n_free] = slot
    state.n_free += 1


@part
def _allow(alive, groups, tried, allowed):
    """Write which of the features to be tried may interact with those above a node."""
    for k in range(allowed.shape[0]):
        allowed[k] = 0
        for g in range(groups.shape[0]):
            if alive[g] and groups[g, k]:
                allowed[k] = tried[k]


@part
def _find_splits_below(name, plan, tree, ranks, monotone):
    """Find the best splits of the children of a node, or of the root while it is alone."""
    nodes, hists, sides, state = tree.nodes, tree.hists, tree.sides, tree.state[0]
    columns, tried, rule = plan.columns, plan.tried, plan.rule[0]
    node, left, small = nodes[name], nodes[name].left, nodes[name].small
    if monotone is not None and left >= 0 and monotone[node.feature] != 0:
        bound_children(node, nodes, monotone[node.feature], rule)
    if small < 0:
        _give_back(node.slot, tree)
        return
    if left < 0:
        _sum_root(node, columns[0], hists[node.slot])
    else:
        _subtract(hists[node.slot], hists[nodes[left + small].slot])
        nodes[left + 1 - small].slot = node.slot
    for child in range(max(left, 0), left + 2):
        below = nodes[child]
        hist, some = hists[below.slot], tried[child % tried.shape[0]]
        if plan.groups.shape[0] > 0:
            _allow(tree.alive[child], plan.groups, some, plan.allowed)
            some = plan.allowed
        if find_split(below, columns, some, hist, sides[child], rule, ranks, monotone):
            below.next = state.top
            state.top = child
        else:
            _give_back(below.slot, tree)


@part
def _pick(nodes, state, max_leaves):
    """Choose the next node to split: that of largest gain, if the number of leaves is limited.

    Otherwise any order gives the same tree, and the last node first needs the fewest histograms.
    """
    if max_leaves >= MOST:
        return state.top
    name, best = DONE, 0.0
    if (state.n_nodes + 1) // 2 < max_leaves:
        for other in range(state.n_nodes):
            if nodes[other].gain > best and nodes[other].left < 0:
                name, best = other, nodes[other].gain
    return name


@part
def _open_children(name, plan, tree, rule):
    """Give a node two children and, if one may be split, an empty histogram to the smaller one."""
    nodes, state, c_mask = tree.nodes, tree.state[0], (np.int64(1) << rule.shift) - 1
    node, left = nodes[name], state.n_nodes
    state.pending, state.top = name, node.next
    state.n_nodes += 2
    node.left, node.small = left, -1
    for k in range(left, left + 2):
        child = nodes[k]
        child.left, child.feature, child.depth, child.gain = -1, -1, node.depth + 1, 0.0
        child.low, child.high = node.low, node.high
        for g in range(plan.groups.shape[0]):
            tree.alive[k, g] = tree.alive[name, g] * plan.groups[g, node.feature]
    nodes[left].g, nodes[left].hc = node.g_left, node.hc_left
    nodes[left + 1].g, nodes[left + 1].hc = node.g - node.g_left, node.hc - node.hc_left
    near, far = nodes[left].hc & c_mask, nodes[left + 1].hc & c_mask
    last = (left + 3) // 2 >= rule.max_leaves or node.depth + 1 >= rule.max_depth
    if not last and max(near, far) >= 2 * rule.min_rows:
        node.small = 1 if near > far else 0
        state.n_free -= 1
        slot = tree.free[state.n_free]
        nodes[left + node.small].slot = slot
        tree.hists[slot, :] = 0
    state.shared = (node.hc & c_mask) >= state.share


@jit(counted=False)
def grow(name, block, rows, plan, tree, work, ranks, monotone):
    """Take the rows of a node and go on growing a tree, best split first.

    With a ``block`` of 0 or more only the rows of that block are taken, and nothing else is done;
    those of a shared node enter the block's histogram, which the caller adds to that of the child.
    With a negative name the rows of the pending node have been taken so. The answer is the next
    node that the caller must hand out by blocks because of its many rows; or FULL if arrays must
    be larger, or DONE. ``ranks`` and ``monotone`` are None where no feature asks for them.
    """
    nodes, state, rule = tree.nodes, tree.state[0], plan.rule[0]
    first, last = max(block, 0), block + 1 if block >= 0 else tree.spans.shape[1]
    while True:
        if name >= 0:
            _take_rows(name, first, last, rows, plan, tree, work)
        if block >= 0:
            return DONE
        if state.pending >= 0:
            _find_splits_below(state.pending, plan, tree, ranks, monotone)
        name = _pick(nodes, state, rule.max_leaves)
        state.pending = -1
        if name < 0:
            return DONE
        if state.n_nodes + 2 > nodes.shape[0] or state.n_free == 0:
            return FULL
        _open_children(name, plan, tree, rule)
        if state.shared:
            return name
