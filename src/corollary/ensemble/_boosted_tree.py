"""Growing a tree of gradient boosting: histograms of whole numbers, splits, partitions.

Gradients and second derivatives enter a histogram as whole numbers: first and second derivative
and a count are three fields of one 64-bit word, so that one addition per row and feature updates
all three. Sums of whole numbers do not depend on their order; hence histograms are the same bits
for any number of threads or blocks, and siblings are subtracted without error.

A histogram has a line for every bin of every feature and for its missing values, which come last:
the sum of first derivatives, and the sum of second derivatives shifted by ``shift`` bits plus the
number of rows. Histograms lie end to end in one array, and so do the columns of bins.

A whole tree grows in :func:`grow`, which leaves compiled code only where a node has so many rows
that threads should share them, or where the arrays must be made larger. It has one level of
helpers and flat arrays, because the first fit of a process without a cache waits for every
statement to be compiled, and for a helper once more inside each of its callers.
"""

from typing import NamedTuple

import numpy as np

from corollary.core.jit import jit

TIE = 1e-7
# Below this number of rows a histogram is filled line by line, without a table of words.
FEW = 96

# Columns of Nodes.whole; the rows of a node by block follow. A total is a line of a histogram.
FEATURE, BIN, MISSING, G_LEFT, HC_LEFT, G, HC, DEPTH, LEFT, SLOT, SMALL, NEXT, SPANS = range(13)
# Columns of Nodes.real. The gain of a node that is not to be split (any more) is not positive.
GAIN, LOW, HIGH = range(3)
# Columns of Plan.columns. The kind is 2 for categories.
N_BINS, KIND, START = range(3)
# Entries of Plan.whole.
H_BITS, C_BITS, SHIFT, ROOM, MIN_ROWS, MAX_DEPTH, MAX_LEAVES, DITHER, BLOCKS = range(9)
# Entries of Plan.real; scales are powers of two.
L2, MIN_HESSIAN, G_SCALE, H_SCALE = range(4)
# Entries of Pool.counts.
N_NODES, N_FREE, PENDING, SHARE, SHARED, TOP = range(6)
# As many leaves as there is reason for.
MOST = 2**31
# Answers of grow, if they are not a node that waits for its rows to be taken.
DONE, FULL = -1, -2


class Rows(NamedTuple):
    """Training rows: bins, derivatives and these packed, order by node, room to partition."""

    codes: np.ndarray
    derivatives: np.ndarray
    packed: np.ndarray
    order: np.ndarray
    aside: np.ndarray


class Plan(NamedTuple):
    """Features worth a split, all columns, those tried by node, and the rules of growth."""

    features: np.ndarray
    columns: np.ndarray
    tried: np.ndarray
    whole: np.ndarray
    real: np.ndarray


class Nodes(NamedTuple):
    """Nodes so far, and the side of every bin."""

    whole: np.ndarray
    real: np.ndarray
    sides: np.ndarray


class Pool(NamedTuple):
    """Histograms, the first of which serve the blocks of a node; the free ones; counts."""

    hists: np.ndarray
    free: np.ndarray
    counts: np.ndarray


class Work(NamedTuple):
    """Scratch of one thread; the table is empty between calls."""

    words: np.ndarray
    table: np.ndarray


@jit
def _pack(derivatives, mine, plan, packed):
    """Turn derivatives of rows into words with fields (g, h, 1).

    Fractions are rounded up or down by comparison with a sequence that fills the unit interval
    evenly (golden ratio), so that sums have no systematic error; where there are few rows, to the
    nearest, so that equal rows stay equal.
    """
    h_bits, c_bits, dither = plan.whole[H_BITS], plan.whole[C_BITS], plan.whole[DITHER] != 0
    g_scale, h_scale = 1.0 / plan.real[G_SCALE], 1.0 / plan.real[H_SCALE]
    for row in mine:
        i = np.int64(row)
        u = ((i * 2654435769) & 0xFFFFFFFF) * 2.0**-32 if dither else 0.5
        g = np.int64(np.floor(derivatives[i, 0] * g_scale + u))
        h = np.int64(np.floor(derivatives[i, 1] * h_scale + u))
        packed[i] = (((g << h_bits) + h) << c_bits) + 1


@jit
def _add_rows(codes, packed, mine, plan, work, hist):
    """Add rows to a histogram."""
    rule, features, words, table = plan.whole, plan.features, work.words, work.table
    h_bits, c_bits, shift, room = rule[H_BITS], rule[C_BITS], rule[SHIFT], rule[ROOM]
    g_bits, n = h_bits + c_bits, packed.shape[0]
    c_mask, h_mask = (np.int64(1) << c_bits) - 1, (np.int64(1) << h_bits) - 1
    size, few = features.shape[0], mine.shape[0] < FEW
    for start in range(0, mine.shape[0], room):
        now = mine[start : start + room]
        for t in range(now.shape[0]):
            words[t] = packed[np.int64(now[t])]
        k = 0
        while k < size:
            # Four features at a time share the loads of rows and words.
            wide = not few and k + 3 < size
            a = features[k] * n
            if wide:
                b, c, d = features[k + 1] * n, features[k + 2] * n, features[k + 3] * n
                for t in range(now.shape[0]):
                    i, word = np.int64(now[t]), words[t]
                    at, bt, ct, dt = codes[a + i], codes[b + i], codes[c + i], codes[d + i]
                    table[np.int64(at)] += word
                    table[np.int64(bt) + 256] += word
                    table[np.int64(ct) + 512] += word
                    table[np.int64(dt) + 768] += word
            elif not few:
                for t in range(now.shape[0]):
                    table[np.int64(codes[a + np.int64(now[t])])] += words[t]
            for j in range(4 if wide else 1):
                column = plan.columns[features[k + j]]
                n_bins, line = column[N_BINS], 2 * column[START]
                if few:
                    for t in range(now.shape[0]):
                        place = min(np.int64(codes[a + np.int64(now[t])]), n_bins)
                        word = words[t]
                        hist[line + 2 * place] += word >> g_bits
                        hc = (((word >> c_bits) & h_mask) << shift) + (word & c_mask)
                        hist[line + 2 * place + 1] += hc
                    continue
                for place in range(n_bins + 1):
                    at_ = 256 * j + (place if place < n_bins else 255)
                    word = table[at_]
                    table[at_] = 0
                    hist[line + 2 * place] += word >> g_bits
                    hc = (((word >> c_bits) & h_mask) << shift) + (word & c_mask)
                    hist[line + 2 * place + 1] += hc
            k += 4 if wide else 1


@jit
def _partition(codes, first, goes_left, mine, aside):
    """Bring rows that go left to the front, keeping order; return their number."""
    left, right = np.int64(0), np.int64(0)
    for t in range(mine.shape[0]):
        i = mine[t]
        goes = np.int64(goes_left[codes[first + np.int64(i)]])
        mine[left] = i
        aside[right] = i
        left += goes
        right += 1 - goes
    for t in range(right):
        mine[left + t] = aside[t]
    return left


@jit
def _reduction(g, h, low, high):
    """Return twice the decrease of g v + h v^2 / 2 at its best v between the bounds."""
    v = min(max(-g / h, low), high)
    return -2.0 * g * v - h * v * v


@jit
def _sort_categories(hist, line, n_bins, shift, scales, ranks):
    """Rank the categories that occur by smoothed mean gradient; missing is the last category."""
    keys, size = np.empty(256), 0
    for b in range(n_bins + 1):
        hc = hist[line + 2 * b + 1]
        if hc == 0:
            continue
        key = hist[line + 2 * b] * scales[G_SCALE] / ((hc >> shift) * scales[H_SCALE] + 10.0)
        place = size
        while place > 0 and keys[place - 1] > key:
            keys[place], ranks[place] = keys[place - 1], ranks[place - 1]
            place -= 1
        keys[place], ranks[place] = key, b
        size += 1
    return size


@jit
def _best_split(node, values, tried, hist, goes_left, plan, ranks, monotone):
    """Find the split of largest gain and write it to the node, whose gain tells if there is one."""
    shift, min_rows = plan.whole[SHIFT], plan.whole[MIN_ROWS]
    l2, min_hessian = plan.real[L2], plan.real[MIN_HESSIAN]
    g_scale, h_scale = plan.real[G_SCALE], plan.real[H_SCALE]
    c_mask = (np.int64(1) << shift) - 1
    c_all, h_sum, g_sum = node[HC] & c_mask, (node[HC] >> shift) * h_scale, node[G] * g_scale
    if h_sum < min_hessian:
        return
    base = g_sum * g_sum / (h_sum + l2)
    if monotone is not None:
        low, high = values[LOW], values[HIGH]
        base = _reduction(g_sum, h_sum + l2, low, high)
    # Gains within rounding of each other are equal: the first feature and bin win.
    best = TIE * base
    for f in plan.features:
        if tried[f] == 0:
            continue
        column = plan.columns[f]
        size, line = column[N_BINS], 2 * column[START]
        lost = line + 2 * size
        directions = 1 if hist[lost + 1] & c_mask == 0 else 2
        if ranks is not None and column[KIND] == 2:
            size, directions = _sort_categories(hist, line, size, shift, plan.real, ranks), 1
        for direction in range(directions):
            # Missing values go right in the first round and left in the second.
            g, hc = np.int64(0), np.int64(0)
            if direction == 1:
                g, hc = hist[lost], hist[lost + 1]
            stop = size if directions == 2 and direction == 0 else size - 1
            for b in range(stop):
                at = line + 2 * b
                if ranks is not None and column[KIND] == 2:
                    at = line + 2 * ranks[b]
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
                h_left = (hc >> shift) * h_scale
                h_right = h_sum - h_left
                if h_left < min_hessian or h_right < min_hessian:
                    continue
                g_left = g * g_scale
                g_right = g_sum - g_left
                a, z = h_left + l2, h_right + l2
                gain = (g_left * g_left * z + g_right * g_right * a) / (a * z) - base
                if monotone is not None:
                    at_left = min(max(-g_left / a, low), high)
                    at_right = min(max(-g_right / z, low), high)
                    if (at_right - at_left) * monotone[f] < 0:
                        continue
                    gain = _reduction(g_left, a, low, high) + _reduction(g_right, z, low, high)
                    gain -= base
                if gain > best * (1.0 + TIE):
                    best = values[GAIN] = gain
                    node[FEATURE], node[BIN], node[MISSING] = f, b, direction
                    node[G_LEFT], node[HC_LEFT] = g, hc
                    if ranks is not None and column[KIND] == 2:
                        for k in range(256):
                            goes_left[k] = 0
                        for k in range(b + 1):
                            goes_left[ranks[k] if line + 2 * ranks[k] < lost else 255] = 1
    if values[GAIN] <= 0.0:
        return
    column = plan.columns[node[FEATURE]]
    if column[KIND] != 2:
        for b in range(255):
            goes_left[b] = 1 if b <= node[BIN] else 0
        goes_left[255] = node[MISSING]
    if hist[2 * (column[START] + column[N_BINS]) + 1] & c_mask == 0:
        # No row to learn from: missing values go with the majority.
        goes_left[255] = 1 if 2 * (node[HC_LEFT] & c_mask) >= c_all else 0
    node[MISSING] = goes_left[255]


@jit
def _begin(whole, real, rule, free, counts, hists):
    """Make children of the open node of largest gain; return its name, DONE or FULL.

    The smaller child gets an empty histogram, unless neither child will be split.
    """
    left, name, best = counts[N_NODES], DONE, 0.0
    if (left + 1) // 2 >= rule[MAX_LEAVES]:
        return name
    if rule[MAX_LEAVES] < MOST:
        for other in range(left):
            if real[other, GAIN] > best and whole[other, LEFT] < 0:
                name, best = other, real[other, GAIN]
    else:
        # Any order gives the same tree; the last node first needs the fewest histograms.
        name = counts[TOP]
    if name < 0:
        return name
    if left + 2 > whole.shape[0] or counts[N_FREE] == 0:
        return FULL
    counts[TOP] = whole[name, NEXT]
    node, values, c_mask = whole[name], real[name], (np.int64(1) << rule[SHIFT]) - 1
    node[LEFT], node[SMALL] = left, 0
    counts[N_NODES] += 2
    for child in range(left, left + 2):
        fresh = whole[child]
        fresh[LEFT] = fresh[FEATURE] = -1
        fresh[DEPTH], fresh[G], fresh[HC] = node[DEPTH] + 1, node[G_LEFT], node[HC_LEFT]
        if child > left:
            fresh[G], fresh[HC] = node[G] - node[G_LEFT], node[HC] - node[HC_LEFT]
        real[child, GAIN], real[child, LOW], real[child, HIGH] = 0.0, values[LOW], values[HIGH]
    fewer, more = whole[left, HC] & c_mask, whole[left + 1, HC] & c_mask
    if fewer > more:
        fewer, more, node[SMALL] = more, fewer, 1
    last = (left + 3) // 2 >= rule[MAX_LEAVES]
    if last or node[DEPTH] + 1 >= rule[MAX_DEPTH] or more < 2 * rule[MIN_ROWS]:
        node[SMALL] = -1
        return name
    counts[N_FREE] -= 1
    slot = free[counts[N_FREE]]
    whole[left + node[SMALL], SLOT] = slot
    for k in range(hists.shape[1]):
        hists[slot, k] = 0
    return name


@jit
def _bound(left, values, whole, real, kind, plan):
    """Keep the values below a monotone split on their sides of its middle."""
    middle, shift = 0.0, plan.whole[SHIFT]
    for child in range(left, left + 2):
        g = whole[child, G] * plan.real[G_SCALE]
        h = (whole[child, HC] >> shift) * plan.real[H_SCALE]
        middle += 0.5 * min(max(-g / (h + plan.real[L2]), values[LOW]), values[HIGH])
    lower = left if kind == 1 else left + 1
    real[lower, HIGH] = real[2 * left + 1 - lower, LOW] = middle


@jit
def grow(name, block, rows, plan, nodes, pool, work, ranks, monotone):
    """Do one block's share of a node, or go on growing a tree, best split first.

    With a ``block`` of 0 or more, take the rows of that block in the node ``name``: partition
    them, and add those of the smaller child to the block's histogram; those of the root, while it
    is the only node, are packed and all added. With a negative block, begin with the children of
    Pool.counts[PENDING], the node whose rows have just been taken, and return the next node of
    Pool.counts[SHARE] rows or more, which the caller must hand out by blocks; or FULL if arrays
    must be larger, or DONE.

    ``ranks`` is scratch, None if no feature is categorical; ``monotone`` has signs of features,
    None if no effect is monotone. What they are for is then not compiled.
    """
    whole, real, rule = nodes.whole, nodes.real, plan.whole
    counts, free, n_blocks = pool.counts, pool.free, plan.whole[BLOCKS]
    width = pool.hists.shape[1]
    c_mask = (np.int64(1) << rule[SHIFT]) - 1
    while True:
        if block < 0:
            name = counts[PENDING]
            if name >= 0:
                node = whole[name]
                left, small = node[LEFT], node[SMALL]
                if monotone is not None and left >= 0 and monotone[node[FEATURE]] != 0:
                    _bound(left, real[name], whole, real, monotone[node[FEATURE]], plan)
                if small < 0:
                    free[counts[N_FREE]] = node[SLOT]
                    counts[N_FREE] += 1
                else:
                    mine = max(left + small, 0)
                    hist = pool.hists[whole[mine, SLOT]]
                    for b in range(n_blocks if counts[SHARED] else 0):
                        part = pool.hists[b]
                        for k in range(width):
                            hist[k] += part[k]
                            part[k] = 0
                    if left < 0:
                        first = plan.columns[plan.features[0]]
                        for line in range(first[START], first[START] + first[N_BINS] + 1):
                            node[G] += hist[2 * line]
                            node[HC] += hist[2 * line + 1]
                    else:
                        rest = pool.hists[node[SLOT]]
                        for k in range(width):
                            rest[k] -= hist[k]
                        whole[2 * left + 1 - mine, SLOT] = node[SLOT]
                    for child in range(max(left, 0), left + 2):
                        node, values = whole[child], real[child]
                        enough = node[HC] & c_mask >= 2 * rule[MIN_ROWS]
                        if enough and node[DEPTH] < rule[MAX_DEPTH]:
                            hist = pool.hists[node[SLOT]]
                            tried = plan.tried[min(child, plan.tried.shape[0] - 1)]
                            sides = nodes.sides[child]
                            _best_split(node, values, tried, hist, sides, plan, ranks, monotone)
                        if values[GAIN] > 0.0:
                            node[NEXT], counts[TOP] = counts[TOP], child
                        else:
                            free[counts[N_FREE]] = node[SLOT]
                            counts[N_FREE] += 1
            counts[PENDING] = name = _begin(whole, real, rule, free, counts, pool.hists)
            if name < 0:
                return name
            counts[SHARED] = whole[name, HC] & c_mask >= counts[SHARE]
            if counts[SHARED]:
                return name
        node = whole[name]
        left, small = node[LEFT], node[SMALL]
        for b in range(max(block, 0), block + 1 if block >= 0 else n_blocks):
            start, stop = node[SPANS + 2 * b], node[SPANS + 2 * b + 1]
            mine = rows.order[start:stop]
            slot = b if counts[SHARED] else whole[max(left + small, 0), SLOT]
            if left < 0:
                _pack(rows.derivatives, mine, plan, rows.packed)
            else:
                first = node[FEATURE] * rows.packed.shape[0]
                goes_left, aside = nodes.sides[name], rows.aside[start:stop]
                middle = _partition(rows.codes, first, goes_left, mine, aside)
                whole[left, SPANS + 2 * b], whole[left + 1, SPANS + 2 * b + 1] = start, stop
                whole[left, SPANS + 2 * b + 1] = start + middle
                whole[left + 1, SPANS + 2 * b] = start + middle
                mine = mine[:middle] if small == 0 else mine[middle:]
            if small >= 0:
                hist = pool.hists[slot]
                _add_rows(rows.codes, rows.packed, mine, plan, work, hist)
        if block >= 0:
            return DONE
