"""Growing a tree of gradient boosting: histograms of whole numbers, splits, partitions.

Gradients and second derivatives enter a histogram as whole numbers: first and second derivative
and a count are three fields of one 64-bit word, so that one addition per row and feature updates
all three. Sums of whole numbers do not depend on their order; hence histograms are the same bits
for any number of threads or blocks, and siblings are subtracted without error.

``codes`` is column-major uint8 with 255 for missing. A histogram has shape (bins of all features,
2): the sum of first derivatives, and the sum of second derivatives shifted by ``shift`` bits plus
the number of rows. Feature f owns the lines from ``starts[f]`` on, one for each of its bins and a
last one for missing values.

A whole tree grows in :func:`grow`, which leaves compiled code only where a node has so many rows
that threads should share them, or where the arrays must be made larger.
"""

from typing import NamedTuple

import numpy as np

from corollary.core.jit import jit

TIE = 1e-7
# Below this number of rows a histogram is filled bin by bin, without a table of its own.
FEW = 96

# Columns of Nodes.whole. A total is a line of a histogram: g, and h with the count.
FEATURE, BIN, MISSING, G_LEFT, HC_LEFT, G, HC, DEPTH, LEFT, SLOT, SMALL = range(11)
# Columns of Nodes.real.
GAIN, LOW, HIGH = range(3)
# Entries of Rules.whole.
H_BITS, C_BITS, SHIFT, ROOM, MIN_ROWS, MAX_DEPTH, MAX_LEAVES, TRIED, DITHER = range(9)
# Entries of Rules.real; scales are powers of two.
L2, MIN_HESSIAN, G_SCALE, H_SCALE = range(4)
# Entries of Pool.counts.
N_NODES, N_OPEN, N_FREE, PENDING = range(4)
# Answers of grow, if they are not a node that waits for its rows to be split.
DONE, FULL = -1, -2


class Rows(NamedTuple):
    """Training rows: their bins, packed derivatives, order by node, and room to partition."""

    codes: np.ndarray
    packed: np.ndarray
    order: np.ndarray
    aside: np.ndarray


class Columns(NamedTuple):
    """Features worth a split, and of all: bins, kind, first line in a histogram.

    The kind is 0 for a number, 2 for categories, 1 or -1 for a number with monotone effect.
    """

    features: np.ndarray
    n_bins: np.ndarray
    kinds: np.ndarray
    starts: np.ndarray


class Rules(NamedTuple):
    """Whole and real numbers that rule the growth, and the state of the random draws."""

    whole: np.ndarray
    real: np.ndarray
    draws: np.ndarray


class Nodes(NamedTuple):
    """Nodes so far: numbers, their rows by block, and the side of every bin."""

    whole: np.ndarray
    real: np.ndarray
    spans: np.ndarray
    sides: np.ndarray


class Pool(NamedTuple):
    """Histograms, those not in use, open nodes as a heap, counts, parts of other blocks."""

    hists: np.ndarray
    free: np.ndarray
    heap: np.ndarray
    counts: np.ndarray
    parts: np.ndarray


class Work(NamedTuple):
    """Scratch of one thread."""

    words: np.ndarray
    table: np.ndarray
    ranks: np.ndarray
    keys: np.ndarray
    tried: np.ndarray


@jit
def _pack(derivatives, mine, rules, packed):
    """Turn derivatives of rows into words with fields (g, h, 1).

    Fractions are rounded up or down by comparison with a sequence that fills the unit interval
    evenly (golden ratio), so that sums have no systematic error; where there are few rows, to the
    nearest, so that equal rows stay equal.
    """
    h_bits, c_bits = rules.whole[H_BITS], rules.whole[C_BITS]
    dither = rules.whole[DITHER] != 0
    g_scale, h_scale = 1.0 / rules.real[G_SCALE], 1.0 / rules.real[H_SCALE]
    for t in range(mine.shape[0]):
        i = np.int64(mine[t])
        u = ((i * 2654435769) & 0xFFFFFFFF) * 2.0**-32 if dither else 0.5
        g = np.int64(np.floor(derivatives[i, 0] * g_scale + u))
        h = np.int64(np.floor(derivatives[i, 1] * h_scale + u))
        packed[i] = (((g << h_bits) + h) << c_bits) + 1


@jit
def _add_few(rows, mine, columns, rule, hist):
    """Add rows to a histogram one by one."""
    h_bits, c_bits, shift = rule[H_BITS], rule[C_BITS], rule[SHIFT]
    c_mask = (np.int64(1) << c_bits) - 1
    h_mask = (np.int64(1) << h_bits) - 1
    for t in range(mine.shape[0]):
        i = np.int64(mine[t])
        word = rows.packed[i]
        g = word >> (h_bits + c_bits)
        hc = (((word >> c_bits) & h_mask) << shift) + (word & c_mask)
        for f in columns.features:
            line = columns.starts[f] + min(np.int64(rows.codes[i, f]), columns.n_bins[f])
            hist[line, 0] += g
            hist[line, 1] += hc


@jit
def _flush(table, first, n_bins, rule, hist):
    """Add a table of words to the lines of a feature and empty it."""
    h_bits, c_bits, shift = rule[H_BITS], rule[C_BITS], rule[SHIFT]
    c_mask = (np.int64(1) << c_bits) - 1
    h_mask = (np.int64(1) << h_bits) - 1
    for b in range(n_bins + 1):
        place = 255 if b == n_bins else b
        word = table[place]
        table[place] = 0
        hist[first + b, 0] += word >> (h_bits + c_bits)
        hist[first + b, 1] += (((word >> c_bits) & h_mask) << shift) + (word & c_mask)


@jit
def _add_rows(rows, span, columns, rule, work, hist):
    """Add the rows ``order[span[0]:span[1]]`` to a histogram."""
    if span[1] - span[0] < FEW:
        _add_few(rows, rows.order[span[0] : span[1]], columns, rule, hist)
        return
    codes, words, features = rows.codes, work.words, columns.features
    size, room = features.shape[0], rule[ROOM]
    first, second = work.table[0], work.table[1]
    third, fourth = work.table[2], work.table[3]
    for start in range(span[0], span[1], room):
        mine = rows.order[start : min(start + room, span[1])]
        n = mine.shape[0]
        for t in range(n):
            words[t] = rows.packed[mine[t]]
        # Four features at a time share the loads of rows and words.
        for k in range(0, size - 3, 4):
            a, b = codes[:, features[k]], codes[:, features[k + 1]]
            c, d = codes[:, features[k + 2]], codes[:, features[k + 3]]
            for t in range(n):
                i, word = mine[t], words[t]
                at, bt, ct, dt = a[i], b[i], c[i], d[i]
                first[at] += word
                second[bt] += word
                third[ct] += word
                fourth[dt] += word
            for q in range(4):
                f = features[k + q]
                _flush(work.table[q], columns.starts[f], columns.n_bins[f], rule, hist)
        for k in range(size - size % 4, size):
            f = features[k]
            for t in range(n):
                first[codes[mine[t], f]] += words[t]
            _flush(first, columns.starts[f], columns.n_bins[f], rule, hist)


@jit
def _partition(rows, feature, goes_left, span, aside):
    """Bring rows that go left to the front of their span, keeping order; return the middle."""
    mine = rows.order[span[0] : span[1]]
    left, right = np.int64(0), np.int64(0)
    for t in range(mine.shape[0]):
        i = mine[t]
        goes = np.int64(goes_left[rows.codes[np.int64(i), feature]])
        mine[left] = i
        aside[right] = i
        left += goes
        right += 1 - goes
    for t in range(right):
        mine[left + t] = aside[t]
    return span[0] + left


@jit
def sow(block, derivatives, rows, columns, rules, nodes, work, hist):
    """Pack a block's rows and add them to the histogram of the root."""
    span = nodes.spans[0, block]
    _pack(derivatives, rows.order[span[0] : span[1]], rules, rows.packed)
    if columns.features.shape[0]:
        _add_rows(rows, span, columns, rules.whole, work, hist)


@jit
def split_rows(name, block, rows, columns, rules, nodes, work, hist):
    """Partition a block's rows of a node, and add those of its smaller child to a histogram.

    Where no child needs a histogram (Nodes.whole[name, SMALL] is negative), none is filled.
    """
    whole, span = nodes.whole, nodes.spans[name, block]
    left, small = whole[name, LEFT], whole[name, SMALL]
    aside = rows.aside[span[0] : span[1]]
    middle = _partition(rows, whole[name, FEATURE], nodes.sides[name], span, aside)
    nodes.spans[left, block, 0], nodes.spans[left, block, 1] = span[0], middle
    nodes.spans[left + 1, block, 0], nodes.spans[left + 1, block, 1] = middle, span[1]
    if small >= 0:
        _add_rows(rows, nodes.spans[left + small, block], columns, rules.whole, work, hist)


@jit
def _push(pool, real, name):
    """Put a node on the heap: largest gain first, then smallest name."""
    heap, at = pool.heap, pool.counts[N_OPEN]
    pool.counts[N_OPEN] += 1
    while at > 0:
        above = (at - 1) // 2
        if not _before(real, name, heap[above]):
            break
        heap[at] = heap[above]
        at = above
    heap[at] = name


@jit
def _before(real, a, b):
    return real[a, GAIN] > real[b, GAIN] or (real[a, GAIN] == real[b, GAIN] and a < b)


@jit
def _pop(pool, real):
    """Take the first node off the heap."""
    heap = pool.heap
    first = heap[0]
    pool.counts[N_OPEN] -= 1
    size = pool.counts[N_OPEN]
    last, at = heap[size], 0
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size and _before(real, heap[below + 1], heap[below]):
            below += 1
        if not _before(real, heap[below], last):
            break
        heap[at] = heap[below]
        at = below
    heap[at] = last
    return first


@jit
def _release(pool, whole, name):
    """Give the histogram of a node back."""
    pool.free[pool.counts[N_FREE]] = whole[name, SLOT]
    pool.counts[N_FREE] += 1
    whole[name, SLOT] = -1


@jit
def _begin(name, rules, nodes, pool):
    """Make the children of a node, and an empty histogram for the smaller one if it is needed."""
    whole, real, counts, rule = nodes.whole, nodes.real, pool.counts, rules.whole
    left = counts[N_NODES]
    counts[N_NODES] += 2
    whole[name, LEFT] = left
    for child in range(left, left + 2):
        whole[child, LEFT] = whole[child, SLOT] = whole[child, FEATURE] = -1
        whole[child, DEPTH] = whole[name, DEPTH] + 1
        real[child, GAIN], real[child, LOW], real[child, HIGH] = 0.0, real[name, 1], real[name, 2]
    whole[left, G], whole[left, HC] = whole[name, G_LEFT], whole[name, HC_LEFT]
    whole[left + 1, G] = whole[name, G] - whole[name, G_LEFT]
    whole[left + 1, HC] = whole[name, HC] - whole[name, HC_LEFT]
    c_mask = (np.int64(1) << rule[SHIFT]) - 1
    sizes = whole[left, HC] & c_mask, whole[left + 1, HC] & c_mask
    small = 0 if sizes[0] <= sizes[1] else 1
    last = (left + 3) // 2 >= rule[MAX_LEAVES]
    deep = whole[left, DEPTH] >= rule[MAX_DEPTH]
    if last or deep or max(sizes[0], sizes[1]) < 2 * rule[MIN_ROWS]:
        whole[name, SMALL] = -1
        return
    whole[name, SMALL] = small
    counts[N_FREE] -= 1
    slot = pool.free[counts[N_FREE]]
    whole[left + small, SLOT] = slot
    hist = pool.hists[slot]
    for line in range(hist.shape[0]):
        hist[line, 0] = hist[line, 1] = 0


@jit
def _settle(name, columns, rules, nodes, pool, work):
    """After the rows of a node are split: histograms and best splits of its children."""
    whole = nodes.whole
    left, small = whole[name, LEFT], whole[name, SMALL]
    if left >= 0:
        _bound(name, columns.kinds[whole[name, FEATURE]], rules, nodes)
    if small < 0:
        _release(pool, whole, name)
        return
    mine = name if left < 0 else left + small
    hist = pool.hists[whole[mine, SLOT]]
    if pool.counts[PENDING] == name:
        for b in range(pool.parts.shape[0]):
            part = pool.parts[b]
            for line in range(hist.shape[0]):
                hist[line, 0] += part[line, 0]
                hist[line, 1] += part[line, 1]
                part[line, 0] = part[line, 1] = 0
    if left < 0:
        f = columns.features[0]
        whole[0, G] = whole[0, HC] = 0
        for line in range(columns.starts[f], columns.starts[f] + columns.n_bins[f] + 1):
            whole[0, G] += hist[line, 0]
            whole[0, HC] += hist[line, 1]
        _open(0, columns, rules, nodes, pool, work)
        return
    rest = pool.hists[whole[name, SLOT]]
    for line in range(hist.shape[0]):
        rest[line, 0] -= hist[line, 0]
        rest[line, 1] -= hist[line, 1]
    whole[left + 1 - small, SLOT] = whole[name, SLOT]
    whole[name, SLOT] = -1
    _open(left, columns, rules, nodes, pool, work)
    _open(left + 1, columns, rules, nodes, pool, work)


@jit
def _bound(name, kind, rules, nodes):
    """Keep the values below a monotone split on their sides of its middle."""
    if kind != 1 and kind != -1:
        return
    whole, real, shift = nodes.whole, nodes.real, rules.whole[SHIFT]
    left = whole[name, LEFT]
    middle = 0.0
    for child in range(left, left + 2):
        g = whole[child, G] * rules.real[G_SCALE]
        h = (whole[child, HC] >> shift) * rules.real[H_SCALE]
        middle += 0.5 * min(max(-g / (h + rules.real[L2]), real[name, LOW]), real[name, HIGH])
    lower = left if kind == 1 else left + 1
    real[lower, HIGH] = middle
    real[2 * left + 1 - lower, LOW] = middle


@jit
def _open(name, columns, rules, nodes, pool, work):
    """Search the best split of a node; put it on the heap if it has one."""
    whole, rule = nodes.whole, rules.whole
    count = whole[name, HC] & ((np.int64(1) << rule[SHIFT]) - 1)
    if whole[name, DEPTH] < rule[MAX_DEPTH] and count >= 2 * rule[MIN_ROWS]:
        _draw_features(columns, rules, work)
        if _best_split(name, columns, rules, nodes, pool, work):
            _push(pool, nodes.real, name)
            return
    _release(pool, whole, name)


@jit
def _draw_features(columns, rules, work):
    """Mark the features that are tried at a split, a fresh choice without replacement."""
    features, size = columns.features, columns.features.shape[0]
    wanted = rules.whole[TRIED]
    if wanted >= size:
        return
    for k in range(size):
        work.tried[features[k]] = 0
    for k in range(size):
        # Selection sampling: take the next one with chance (still wanted) / (still left).
        state = rules.draws[0] + np.uint64(0x9E3779B97F4A7C15)
        rules.draws[0] = state
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
        if np.float64(state >> np.uint64(11)) * 2.0**-53 * (size - k) < wanted:
            work.tried[features[k]] = 1
            wanted -= 1


@jit
def _best_split(name, columns, rules, nodes, pool, work):
    """Find the split of largest gain and write it to the node; tell whether there is one."""
    whole, real = nodes.whole, nodes.real
    hist = pool.hists[whole[name, SLOT]]
    shift, min_rows = rules.whole[SHIFT], rules.whole[MIN_ROWS]
    l2, min_hessian = rules.real[L2], rules.real[MIN_HESSIAN]
    g_scale, h_scale = rules.real[G_SCALE], rules.real[H_SCALE]
    low, high = real[name, LOW], real[name, HIGH]
    bounded = low > -np.inf or high < np.inf
    c_mask = (np.int64(1) << shift) - 1
    c_all = whole[name, HC] & c_mask
    h_sum = (whole[name, HC] >> shift) * h_scale
    g_sum = whole[name, G] * g_scale
    if h_sum < min_hessian:
        return False
    base = g_sum * g_sum / (h_sum + l2)
    if bounded:
        base = _reduction(g_sum, h_sum + l2, low, high)
    # Gains within rounding of each other are equal: the first feature and bin win.
    best = TIE * base
    feature = np.int64(-1)
    for f in columns.features:
        if work.tried[f] == 0:
            continue
        first, bins, kind = columns.starts[f], columns.n_bins[f], columns.kinds[f]
        lost = first + bins
        size = _sort_categories(hist, first, bins, rules, work) if kind == 2 else bins
        directions = 1 if kind == 2 or hist[lost, 1] & c_mask == 0 else 2
        for direction in range(directions):
            # Missing values go right in the first round and left in the second.
            g = hist[lost, 0] if direction == 1 else np.int64(0)
            hc = hist[lost, 1] if direction == 1 else np.int64(0)
            stop = size if directions == 2 and direction == 0 else size - 1
            for b in range(stop):
                line = first + (work.ranks[0, b] if kind == 2 else b)
                more = hist[line, 1]
                if more == 0:
                    continue
                g += hist[line, 0]
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
                if bounded or kind == 1 or kind == -1:
                    at_left = min(max(-g_left / a, low), high)
                    at_right = min(max(-g_right / z, low), high)
                    if kind != 2 and (at_right - at_left) * kind < 0:
                        continue
                    gain = (
                        _reduction(g_left, a, low, high) + _reduction(g_right, z, low, high) - base
                    )
                else:
                    gain = (g_left * g_left * z + g_right * g_right * a) / (a * z) - base
                if gain > best * (1.0 + TIE):
                    best, feature = gain, f
                    whole[name, BIN], whole[name, MISSING] = b, direction
                    whole[name, G_LEFT], whole[name, HC_LEFT] = g, hc
                    if kind == 2:
                        for k in range(b + 1):
                            work.ranks[1, k] = work.ranks[0, k]
    if feature < 0:
        return False
    real[name, GAIN], whole[name, FEATURE] = best, feature
    _choose_sides(name, columns, nodes, hist, work, c_mask)
    return True


@jit
def _choose_sides(name, columns, nodes, hist, work, c_mask):
    """Write the side of every bin of a node's split."""
    whole, goes_left = nodes.whole, nodes.sides[name]
    f = whole[name, FEATURE]
    bins = columns.n_bins[f]
    goes_left[:] = 0
    if columns.kinds[f] == 2:
        for k in range(whole[name, BIN] + 1):
            place = work.ranks[1, k]
            goes_left[255 if place == bins else place] = 1
    else:
        goes_left[: whole[name, BIN] + 1] = 1
        goes_left[255] = whole[name, MISSING]
    if hist[columns.starts[f] + bins, 1] & c_mask == 0:
        # No row to learn from: missing values go with the majority.
        most = 2 * (whole[name, HC_LEFT] & c_mask) >= (whole[name, HC] & c_mask)
        goes_left[255] = 1 if most else 0
    whole[name, MISSING] = goes_left[255]


@jit
def _reduction(g, h, low, high):
    """Return twice the decrease of g v + h v^2 / 2 at its best v between the bounds."""
    v = min(max(-g / h, low), high)
    return -2.0 * g * v - h * v * v


@jit
def _sort_categories(hist, first, bins, rules, work):
    """Rank the categories that occur by smoothed mean gradient; missing is the last category."""
    shift = rules.whole[SHIFT]
    ranks, keys = work.ranks[0], work.keys
    size = 0
    for b in range(bins + 1):
        if hist[first + b, 1] == 0:
            continue
        h = (hist[first + b, 1] >> shift) * rules.real[H_SCALE]
        key = hist[first + b, 0] * rules.real[G_SCALE] / (h + 10.0)
        place = size
        while place > 0 and keys[place - 1] > key:
            keys[place], ranks[place] = keys[place - 1], ranks[place - 1]
            place -= 1
        keys[place], ranks[place] = key, b
        size += 1
    return size


@jit
def grow(rows, columns, rules, nodes, pool, work, alone):
    """Go on growing a tree, best split first.

    Begin with the node whose rows the caller has just split, Pool.counts[PENDING]. Return a node
    of ``alone`` rows or more whose rows the caller must split, FULL if arrays must be larger, or
    DONE.
    """
    counts, whole = pool.counts, nodes.whole
    c_mask = (np.int64(1) << rules.whole[SHIFT]) - 1
    if counts[PENDING] >= 0:
        _settle(counts[PENDING], columns, rules, nodes, pool, work)
        counts[PENDING] = -1
    while counts[N_OPEN] > 0 and (counts[N_NODES] + 1) // 2 < rules.whole[MAX_LEAVES]:
        if counts[N_NODES] + 2 > whole.shape[0] or counts[N_FREE] == 0:
            return FULL
        name = _pop(pool, nodes.real)
        _begin(name, rules, nodes, pool)
        if whole[name, HC] & c_mask >= alone:
            counts[PENDING] = name
            return name
        slot = whole[whole[name, LEFT] + max(whole[name, SMALL], 0), SLOT]
        for block in range(nodes.spans.shape[1]):
            split_rows(name, block, rows, columns, rules, nodes, work, pool.hists[slot])
        _settle(name, columns, rules, nodes, pool, work)
    return DONE
