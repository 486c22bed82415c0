"""Growing a tree of gradient boosting: histograms of whole numbers, splits, partitions.

Gradients and second derivatives enter a histogram as whole numbers: first and second derivative
and a count are three fields of one 64-bit word, so that one addition per row and feature updates
all three. Sums of whole numbers do not depend on their order; hence histograms are the same bits
for any number of threads or blocks, and siblings are subtracted without error.

A histogram has a line for every bin of every feature and for its missing values, which come last:
the sum of first derivatives, and the sum of second derivatives shifted by ``shift`` bits plus the
number of rows. Histograms lie end to end in one array, and so do the columns of bins.

A whole tree grows in :func:`grow`, which leaves compiled code only where a node has so many rows
that threads should share them, or where the arrays must be made larger. The first fit of a process
without a cache waits for every statement to be compiled, and for a helper once more inside its
caller. So common work is in one function, and nodes are records, whose fields take a third of
the time to compile that items of arrays do.
"""

from typing import NamedTuple

import numpy as np

from corollary.core.jit import jit

TIE = 1e-7
# As many leaves as there is reason for.
MOST = 2**31
# Answers of grow, if they are not a node that waits for its rows to be taken.
DONE, FULL = -1, -2
# Tasks of settle; they may be added up.
SUM, STEP, ADD = 1, 2, 4


def record(whole: str, real: str = "") -> np.dtype:
    """Return the type of records with these whole and real fields."""
    return np.dtype(
        [(f, np.int64) for f in whole.split()] + [(f, np.float64) for f in real.split()]
    )


# A node: the last bin on the left and the side of missing values, its children (the second follows
# the left one), the histogram in use, which child is the smaller one (-1 if neither will be split)
# and the open node before this one. Totals g and hc, also of the left side, are lines of
# histograms. The gain is not positive if the node is not to be split.
NODE = record(
    "feature bin missing left depth slot small next g hc g_left hc_left", "gain low high mass"
)
# A feature worth a split: its column, its bins, whether these are categories, its first line.
COLUMN = record("feature n_bins is_set line")
# Rules of growth; scales are powers of two, those of sums for the values of leaves.
RULE = record(
    "h_bits c_bits shift room min_rows max_depth max_leaves dither",
    "l2 min_hessian g_scale h_scale g_sums h_sums w_sums rate",
)
# Counts of nodes and free histograms, the node whose rows are being taken (-1 for none), the rows
# from which on a node is handed out, whether this one is, and the last open node.
STATE = record("n_nodes n_free pending share shared top")
# A split of a place: the column of its feature, and where its left child is (the other follows).
MOVE = record("place feature child")
# Where the rows of a node begin and end in one block, and sums of a leaf in one block.
SPAN, SUMS = record("start stop"), record("g h w")


class Rows(NamedTuple):
    """Training rows: bins, derivatives, these packed, and the order of rows, with room beside."""

    codes: np.ndarray
    derivatives: np.ndarray
    packed: np.ndarray
    order: np.ndarray
    aside: np.ndarray


class Plan(NamedTuple):
    """Features worth a split, those tried by node, and the rules of growth."""

    columns: np.ndarray
    tried: np.ndarray
    rule: np.ndarray


class Tree(NamedTuple):
    """Nodes so far, the side of every bin, spans by block, histograms, the free ones, counts.

    The first histograms serve the blocks of a node.
    """

    nodes: np.ndarray
    sides: np.ndarray
    spans: np.ndarray
    hists: np.ndarray
    free: np.ndarray
    state: np.ndarray


class Leaves(NamedTuple):
    """What settles leaves: rows by node, weights (or none); sums by block, steps, predictions."""

    nodes: np.ndarray
    spans: np.ndarray
    order: np.ndarray
    derivatives: np.ndarray
    weight: np.ndarray
    sums: np.ndarray
    steps: np.ndarray
    raw: np.ndarray


@jit(helper=True)
def _reduction(g, h, low, high):
    """Return twice the decrease of g v + h v^2 / 2 at its best v between the bounds."""
    v = min(max(-g / h, low), high)
    return -2.0 * g * v - h * v * v


@jit(helper=True)
def _sort_categories(hist, line, n_bins, rule, ranks):
    """Rank the categories that occur by smoothed mean gradient; missing is the last category."""
    keys, size = np.empty(256), 0
    for b in range(n_bins + 1):
        hc = hist[line + 2 * b + 1]
        if hc == 0:
            continue
        key = hist[line + 2 * b] * rule.g_scale / ((hc >> rule.shift) * rule.h_scale + 10.0)
        place = size
        while place > 0 and keys[place - 1] > key:
            keys[place], ranks[place] = keys[place - 1], ranks[place - 1]
            place -= 1
        keys[place], ranks[place] = key, b
        size += 1
    return size


@jit(helper=True)
def _bound(left, node, nodes, sign, rule):
    """Keep the values below a monotone split on their sides of its middle."""
    middle = 0.0
    for child in range(left, left + 2):
        g = nodes[child].g * rule.g_scale
        h = (nodes[child].hc >> rule.shift) * rule.h_scale
        middle += 0.5 * min(max(-g / (h + rule.l2), node.low), node.high)
    lower = left if sign == 1 else left + 1
    nodes[lower].high = middle
    nodes[2 * left + 1 - lower].low = middle


@jit(helper=True)
def _pack_rows(derivatives, mine, first, rule, packed):
    """Write derivatives of rows as words; ``first`` rows precede these arrays.

    Fractions are rounded up or down by comparison with a sequence that fills the unit interval
    evenly (golden ratio), so that sums have no systematic error; where there are few rows, to the
    nearest, so that equal rows stay equal.
    """
    g_up, h_up, dither = 1.0 / rule.g_scale, 1.0 / rule.h_scale, rule.dither
    for t in range(mine.shape[0]):
        i = np.int64(mine[t])
        u = (((first + i) * 2654435769) & 0xFFFFFFFF) * 2.0**-32 if dither else 0.5
        g = np.int64(np.floor(derivatives[i, 0] * g_up + u))
        h = np.int64(np.floor(derivatives[i, 1] * h_up + u))
        packed[i] = (((g << rule.h_bits) + h) << rule.c_bits) + 1


@jit(helper=True)
def _split_rows(codes, first, goes_left, mine, beside):
    """Bring rows that go left to the front, all in their order, and return how many they are.

    The column of their bins begins at ``first``; ``beside`` is scratch.
    """
    near, far = np.int64(0), np.int64(0)
    for t in range(mine.shape[0]):
        i = mine[t]
        goes = np.int64(goes_left[np.int64(codes[first + np.int64(i)])])
        mine[near] = i
        beside[far] = i
        near += goes
        far += 1 - goes
    for t in range(far):
        mine[near + t] = beside[t]
    return near


@jit(helper=True)
def _add_rows(codes, packed, mine, columns, rule, work, hist):
    """Add rows to a histogram."""
    # The table is empty between calls; words of rows follow it.
    table, words = work[:512], work[512:]
    shift, c_bits, h_bits, room = rule.shift, rule.c_bits, rule.h_bits, rule.room
    n, size, one = packed.shape[0], columns.shape[0], np.int64(1)
    g_bits, c_field, h_field = h_bits + c_bits, (one << c_bits) - 1, (one << h_bits) - 1
    for first in range(0, mine.shape[0], room):
        now = mine[first : first + room]
        for t in range(now.shape[0]):
            words[t] = packed[np.int64(now[t])]
        for k in range(0, size, 2):
            # Two features at a time share the loads of rows and words.
            a, c = columns[k].feature * n, columns[k + (k + 1 < size)].feature * n
            for t in range(now.shape[0]):
                i, word = np.int64(now[t]), words[t]
                p, q = np.int64(codes[a + i]), np.int64(codes[c + i])
                table[p] += word
                table[q + 256] += word
            for j in range(k, k + 1 + (k + 1 < size)):
                column = columns[j]
                line, corner = column.line, 256 * (j - k)
                for place in range(column.n_bins + 1):
                    word = table[corner + place]
                    hist[line + 2 * place] += word >> g_bits
                    hc = ((word >> c_bits) & h_field) << shift
                    hist[line + 2 * place + 1] += hc + (word & c_field)
            for place in range(512):
                table[place] = 0


@jit
def grow(name, block, rows, plan, tree, work, ranks, monotone):
    """Take the rows of a node and go on growing a tree, best split first.

    To take the rows of the node ``name`` is to partition them and to add those of the smaller
    child to its histogram; those of the root, while it is the only node, are packed and all added.
    With a ``block`` of 0 or more only the rows of that block are taken, and nothing else is done;
    those of a shared node enter the block's histogram, which the caller adds to that of the child.
    With a negative name the rows of the pending node have been taken so. The answer is the next
    node that the caller must hand out by blocks because of its many rows; or FULL if arrays must
    be larger, or DONE.

    ``ranks`` is scratch, None if no feature is categorical; ``monotone`` has signs of features,
    None if no effect is monotone. What they are for is then not compiled.
    """
    codes, derivatives, packed, order, aside = rows
    columns, tried, rules = plan
    nodes, sides, spans, hists, free, states = tree
    rule, state = rules[0], states[0]
    shift, min_rows = rule.shift, rule.min_rows
    g_scale, h_scale, l2, min_hessian = rule.g_scale, rule.h_scale, rule.l2, rule.min_hessian
    n, size, c_mask = packed.shape[0], columns.shape[0], (np.int64(1) << shift) - 1
    width, first_block, last_block = hists.shape[1], block, block + 1
    if block < 0:
        first_block, last_block = 0, spans.shape[1]
    while True:
        if name >= 0:
            node = nodes[name]
            left, small = node.left, node.small
            child = left + small if left >= 0 else 0
            for b in range(first_block, last_block):
                span = spans[name, b]
                mine = order[span.start : span.stop]
                if left < 0:
                    _pack_rows(derivatives, mine, 0, rule, packed)
                else:
                    first = columns[node.feature].feature * n
                    beside = aside[span.start : span.stop]
                    near = _split_rows(codes, first, sides[name], mine, beside)
                    fore, hind = spans[left, b], spans[left + 1, b]
                    fore.start, fore.stop = span.start, span.start + near
                    hind.start, hind.stop = fore.stop, span.stop
                    mine = mine[:near] if small == 0 else mine[near:]
                if small < 0:
                    continue
                hist = hists[b if state.shared else nodes[child].slot]
                _add_rows(codes, packed, mine, columns, rule, work, hist)
            if block >= 0:
                return DONE
        name = state.pending
        if name >= 0:
            node = nodes[name]
            left, small = node.left, node.small
            if monotone is not None and left >= 0 and monotone[node.feature] != 0:
                _bound(left, node, nodes, monotone[node.feature], rule)
            if small < 0:
                free[state.n_free] = node.slot
                state.n_free += 1
                left = -2
            else:
                kid = left + small if left >= 0 else 0
                hist, rest = hists[nodes[kid].slot], hists[node.slot]
                if left < 0:
                    column = columns[0]
                    line = column.line
                    for p in range(column.n_bins + 1):
                        node.g += hist[line + 2 * p]
                        node.hc += hist[line + 2 * p + 1]
                else:
                    for k in range(width):
                        rest[k] -= hist[k]
                    nodes[2 * left + 1 - kid].slot = node.slot
            for child in range(left if left >= 0 else 0, left + 2):
                # Find the split of largest gain.
                node = nodes[child]
                hist, c_all = hists[node.slot], node.hc & c_mask
                h_sum, g_sum = (node.hc >> shift) * h_scale, node.g * g_scale
                score = g_sum * g_sum / (h_sum + l2)
                if monotone is not None:
                    low, high = node.low, node.high
                    score = _reduction(g_sum, h_sum + l2, low, high)
                # Gains within rounding of each other are equal: the first feature and bin win.
                best, goes_left = TIE * score, sides[child]
                stop = size if h_sum >= min_hessian and node.depth < rule.max_depth else 0
                for k in range(stop if c_all >= 2 * min_rows else 0):
                    if tried[child % tried.shape[0], k] == 0:
                        continue
                    column = columns[k]
                    n_bins, line = column.n_bins, column.line
                    lost = line + 2 * n_bins
                    directions = 1 if hist[lost + 1] == 0 else 2
                    if ranks is not None and column.is_set:
                        n_bins, directions = _sort_categories(hist, line, n_bins, rule, ranks), 1
                    for direction in range(directions):
                        # Missing values go right in the first round and left in the second.
                        g, hc = hist[lost] * direction, hist[lost + 1] * direction
                        for p in range(n_bins + directions - direction - 2):
                            at = line + 2 * p
                            if ranks is not None and column.is_set:
                                at = line + 2 * ranks[p]
                            more = hist[at + 1]
                            if more == 0:
                                continue
                            g += hist[at]
                            hc += more
                            c = hc & c_mask
                            if c < min_rows:
                                continue
                            if c_all - c < min_rows:
                                break
                            h_left, g_left = (hc >> shift) * h_scale, g * g_scale
                            h_right, g_right = h_sum - h_left, g_sum - g_left
                            if h_left < min_hessian or h_right < min_hessian:
                                continue
                            a, z = h_left + l2, h_right + l2
                            gain = (g_left * g_left * z + g_right * g_right * a) / (a * z) - score
                            if monotone is not None:
                                at_left = min(max(-g_left / a, low), high)
                                at_right = min(max(-g_right / z, low), high)
                                if (at_right - at_left) * monotone[k] < 0:
                                    continue
                                gain = _reduction(g_left, a, low, high)
                                gain += _reduction(g_right, z, low, high)
                                gain -= score
                            if gain > best * (1.0 + TIE):
                                best = gain
                                node.gain = gain
                                node.feature, node.bin, node.missing = k, p, direction
                                node.g_left, node.hc_left = g, hc
                                if ranks is not None and column.is_set:
                                    for q in range(256):
                                        goes_left[q] = 0
                                    for q in range(p + 1):
                                        goes_left[ranks[q]] = 1
                if node.gain <= 0.0:
                    free[state.n_free] = node.slot
                    state.n_free += 1
                    continue
                node.next = state.top
                state.top = child
                column = columns[node.feature]
                n_bins = column.n_bins
                if ranks is None or not column.is_set:
                    for p in range(256):
                        goes_left[p] = p <= node.bin
                    goes_left[n_bins] = node.missing
                if hist[column.line + 2 * n_bins + 1] == 0:
                    # No row to learn from: missing values go with the majority.
                    goes_left[n_bins] = 2 * (node.hc_left & c_mask) >= c_all
                node.missing = goes_left[n_bins]
        # The next node: that of largest gain, if their number is limited. Otherwise any order
        # gives the same tree, and the last node first needs the fewest histograms.
        left, name, best = state.n_nodes, state.top, 0.0
        if rule.max_leaves < MOST:
            name = DONE
            for other in range(left if (left + 1) // 2 < rule.max_leaves else 0):
                if nodes[other].gain > best and nodes[other].left < 0:
                    name, best = other, nodes[other].gain
        state.pending = -1
        if name < 0:
            return DONE
        if left + 2 > nodes.shape[0] or state.n_free == 0:
            return FULL
        state.pending = name
        state.n_nodes += 2
        node, right = nodes[name], nodes[left + 1]
        state.top = node.next
        node.left = left
        for child in range(left, left + 2):
            fresh = nodes[child]
            fresh.left, fresh.feature, fresh.depth = -1, -1, node.depth + 1
            fresh.g, fresh.hc, fresh.gain = node.g_left, node.hc_left, 0.0
            fresh.low, fresh.high = node.low, node.high
        right.g, right.hc = node.g - node.g_left, node.hc - node.hc_left
        # Only the smaller child gets a histogram, and none does if neither will be split.
        more, small = node.hc_left & c_mask, 0
        if more > right.hc & c_mask:
            small = 1
        else:
            more = right.hc & c_mask
        last = (left + 3) // 2 >= rule.max_leaves or right.depth >= rule.max_depth
        node.small = -1
        if not last and more >= 2 * min_rows:
            node.small = small
            state.n_free -= 1
            slot = free[state.n_free]
            nodes[left + small].slot = slot
            hist = hists[slot]
            for k in range(width):
                hist[k] = 0
        state.shared = (node.hc & c_mask) >= state.share
        if state.shared:
            return name


@jit
def settle(task, first, last, leaves, rules, column):
    """Sum derivatives by leaf, take Newton steps, and add those to predictions.

    Sums are taken, and steps added, in the blocks from ``first`` to before ``last``. The sums are
    of whole numbers, which any order adds up alike. Steps are for nodes, and enter the columns of
    raw predictions from ``column`` on. The mass of a leaf without weights is its number of rows.
    """
    nodes, spans, order, derivatives, weight, sums, steps, raw = leaves
    rule, weighted = rules[0], weight.shape[0] > 0
    for name in range(nodes.shape[0]):
        node = nodes[name]
        if node.left >= 0:
            continue
        for b in range(first, last if task & SUM else first):
            g, h, w = np.int64(0), np.int64(0), np.int64(0)
            for i in order[spans[name, b].start : spans[name, b].stop]:
                g += np.int64(np.rint(derivatives[i, 0] * rule.g_sums))
                h += np.int64(np.rint(derivatives[i, 1] * rule.h_sums))
                w += np.int64(np.rint(weight[i] * rule.w_sums)) if weighted else 1
            part = sums[b, name]
            part.g, part.h, part.w = g, h, w
        if task & STEP:
            g, h, w = np.int64(0), np.int64(0), np.int64(0)
            for b in range(sums.shape[0]):
                part = sums[b, name]
                g, h, w = g + part.g, h + part.h, w + part.w
            curvature, step = h / rule.h_sums + rule.l2, 0.0
            if curvature > 0.0:
                step = -(g / rule.g_sums) / curvature
            if step < node.low:
                step = node.low
            if step > node.high:
                step = node.high
            steps[name, 0] = rule.rate * step
            node.mass = w / rule.w_sums
        for b in range(first, last if task & ADD else first):
            for i in order[spans[name, b].start : spans[name, b].stop]:
                for j in range(steps.shape[1]):
                    raw[i, column + j] += steps[name, j]


@jit
def walk(codes, rows, columns, nodes, sides, leaves):
    """Find the leaf of binned rows; sides has a line of 256 for every node."""
    for k in range(rows.shape[0]):
        i, name = np.int64(rows[k]), 0
        while nodes[name].left >= 0:
            feature = columns[nodes[name].feature].feature
            goes = np.int64(sides[name, np.int64(codes[i, feature])])
            name = nodes[name].left + 1 - goes
        leaves[k] = name


@jit
def pack(derivatives, rows, first, rules, words):
    """Write the derivatives of rows as words; ``first`` rows precede these arrays."""
    _pack_rows(derivatives, rows, first, rules[0], words)


@jit
def move_rows(codes, n, moves, sides, order, aside, spans):
    """Split places of a block of n rows, whose columns of bins lie end to end.

    The rows of a place are between its ends in the order, and so are then those of its children.
    """
    for m in range(moves.shape[0]):
        move = moves[m]
        span, fore, hind = spans[move.place], spans[move.child], spans[move.child + 1]
        mine, beside = order[span.start : span.stop], aside[span.start : span.stop]
        near = _split_rows(codes, move.feature * n, sides[m], mine, beside)
        fore.start, fore.stop = span.start, span.start + near
        hind.start, hind.stop = fore.stop, span.stop


@jit
def tally(codes, words, order, spans, slots, columns, rules, work, hists):
    """Add the rows of places to their histograms; a negative slot means that there is none."""
    for place in range(slots.shape[0]):
        if slots[place] >= 0:
            mine = order[spans[place].start : spans[place].stop]
            _add_rows(codes, words, mine, columns, rules[0], work, hists[slots[place]])


@jit
def sum_leaves(leaves, words, derivatives, weight, rules, sums):
    """Add derivatives and weights of rows that have a word to the sums of their leaves."""
    rule, weighted = rules[0], weight.shape[0] > 0
    for i in range(leaves.shape[0]):
        if words[i] != 0:
            part = sums[leaves[i]]
            part.g += np.int64(np.rint(derivatives[i, 0] * rule.g_sums))
            part.h += np.int64(np.rint(derivatives[i, 1] * rule.h_sums))
            part.w += np.int64(np.rint(weight[i] * rule.w_sums)) if weighted else 1
