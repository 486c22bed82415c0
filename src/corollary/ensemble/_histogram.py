"""Histograms of whole numbers, the search for splits, and the partition of rows.

Gradients and second derivatives enter a histogram as whole numbers: first and second derivative
and a count are three fields of one 64-bit word, so that one addition per row and feature updates
all three. Sums of whole numbers do not depend on their order; hence histograms are the same bits
for any number of threads or blocks, and siblings are subtracted without error.

``codes`` is column-major uint8 with 255 for missing. A histogram has shape (features, 256, 2):
the sum of first derivatives, and the sum of second derivatives shifted by ``shift`` bits plus the
number of rows.
"""

import numpy as np

from corollary.core.jit import jit

TIE = 1e-7


@jit
def pack(gradient, hessian, first, last, scales, bits, packed):
    """Turn derivatives of rows first to last into words with fields (g, h, 1).

    ``scales`` are powers of two. If bits[2] is set, fractions are rounded up or down by comparison
    with a sequence that fills the unit interval evenly (golden ratio), so that sums have no
    systematic error; else to the nearest, so that equal rows stay equal.
    """
    h_bits, c_bits, dither = bits[0], bits[1], bits[2] != 0
    for i in range(first, last):
        u = ((i * 2654435769) & 0xFFFFFFFF) * 2.0**-32 if dither else 0.5
        g = np.int64(np.floor(gradient[i] * scales[0] + u))
        h = np.int64(np.floor(hessian[i] * scales[1] + u))
        packed[i] = (((g << h_bits) + h) << c_bits) + 1


@jit
def add_histogram(codes, order, span, packed, features, layout, work, hist):
    """Add the rows ``order[span[0]:span[1]]`` to hist.

    ``layout`` holds the bits of h and of the count in a word, the shift in hist, and how many
    rows a word can take. ``work`` is scratch: that many rows, and four times 256 bins.
    """
    h_bits, c_bits, shift, room = layout[0], layout[1], layout[2], layout[3]
    values, local = work
    c_mask = (np.int64(1) << c_bits) - 1
    h_mask = (np.int64(1) << h_bits) - 1
    size = features.shape[0]
    start = span[0]
    while start < span[1]:
        stop = min(start + room, span[1])
        for t in range(start, stop):
            values[t - start] = packed[order[t]]
        # Four features at a time share the loads of rows and words.
        for k in range(0, size, 4):
            for b in range(1024):
                local[b] = 0
            if k + 3 < size:
                first, second = codes[:, features[k]], codes[:, features[k + 1]]
                third, fourth = codes[:, features[k + 2]], codes[:, features[k + 3]]
                for t in range(start, stop):
                    i, word = order[t], values[t - start]
                    b0, b1, b2, b3 = first[i], second[i], third[i], fourth[i]
                    local[np.int64(b0)] += word
                    local[np.int64(b1) + 256] += word
                    local[np.int64(b2) + 512] += word
                    local[np.int64(b3) + 768] += word
            else:
                for q in range(size - k):
                    f = features[k + q]
                    for t in range(start, stop):
                        code = np.int64(codes[np.int64(order[t]), f])
                        local[code + 256 * q] += values[t - start]
            for q in range(min(4, size - k)):
                f = features[k + q]
                for b in range(256):
                    word = local[256 * q + b]
                    if word != 0:
                        hist[f, b, 0] += word >> (h_bits + c_bits)
                        hist[f, b, 1] += (((word >> c_bits) & h_mask) << shift) + (word & c_mask)
        start = stop


@jit
def partition(codes, feature, goes_left, order, span, work):
    """Bring rows that go left to the front of their span, keeping order; return the middle."""
    left, right = np.int64(span[0]), np.int64(0)
    for t in range(span[0], span[1]):
        i = order[t]
        goes = np.int64(goes_left[codes[np.int64(i), feature]])
        order[left] = i
        work[right] = i
        left += goes
        right += 1 - goes
    for t in range(right):
        order[left + t] = work[t]
    return left


@jit
def best_split(hist, total, features, columns, limits, scales, work, out):
    """Find the split of largest gain; return its gain, or -1.

    ``total`` are the sums of the node (g, h and count in the form of hist). ``columns`` gives for
    each feature the number of bins and 0 (a number), 2 (categories), 1 or -1 (a number with
    monotone effect). ``limits`` holds the shift of hist, l2, the fewest rows and the least second
    derivative of a child, and the bounds of its value. ``work`` is scratch. Of ``out``, the first
    array receives feature, bin, whether missing goes left, left sums and whether the split is
    categorical; the second the side of every bin.
    """
    found, goes_left = out
    ranks, best_ranks, _ = work
    shift, l2, min_rows, min_hessian = np.int64(limits[0]), limits[1], limits[2], limits[3]
    low, high = limits[4], limits[5]
    bounded = low > -np.inf or high < np.inf
    c_mask = (np.int64(1) << shift) - 1
    g_all, hc_all = total[0], total[1]
    c_all = hc_all & c_mask
    h_sum = (hc_all >> shift) * scales[1]
    g_sum = g_all * scales[0]
    found[0] = -1
    if h_sum < min_hessian:
        return -1.0
    base = g_sum * g_sum / (h_sum + l2)
    if bounded:
        base = _reduction(g_sum, h_sum + l2, low, high)
    # Gains within rounding of each other are equal: the first feature and bin win.
    best = TIE * base
    for f in features:
        bins, kind = columns[f, 0], columns[f, 1]
        lost = hist[f, 255, 1] & c_mask
        size = _sort_categories(hist, f, bins, shift, scales, work) if kind == 2 else bins
        directions = 1 if kind == 2 or lost == 0 else 2
        for direction in range(directions):
            # Missing values go right in the first round and left in the second.
            g = hist[f, 255, 0] if direction == 1 else np.int64(0)
            hc = hist[f, 255, 1] if direction == 1 else np.int64(0)
            stop = size if directions == 2 and direction == 0 else size - 1
            for b in range(stop):
                place = ranks[b] if kind == 2 else b
                more = hist[f, place, 1]
                if more == 0:
                    continue
                g += hist[f, place, 0]
                hc += more
                c = hc & c_mask
                if c < min_rows:
                    continue
                if c_all - c < min_rows:
                    break
                h_left = (hc >> shift) * scales[1]
                h_right = h_sum - h_left
                if h_left < min_hessian or h_right < min_hessian:
                    continue
                g_left = g * scales[0]
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
                    best = gain
                    found[0], found[1], found[2] = f, b, direction
                    found[3], found[4], found[5] = g, hc, 1 if kind == 2 else 0
                    if kind == 2:
                        for k in range(size):
                            best_ranks[k] = ranks[k]
    if found[0] < 0:
        return -1.0
    for b in range(256):
        goes_left[b] = 0
    f = found[0]
    if found[5] == 1:
        for b in range(found[1] + 1):
            goes_left[best_ranks[b]] = 1
        if hist[f, 255, 1] & c_mask == 0:
            goes_left[255] = 1 if 2 * (found[4] & c_mask) >= c_all else 0
        found[2] = goes_left[255]
    else:
        for b in range(found[1] + 1):
            goes_left[b] = 1
        if hist[f, 255, 1] & c_mask == 0:
            # No row to learn from: missing values go with the majority.
            found[2] = 1 if 2 * (found[4] & c_mask) >= c_all else 0
        goes_left[255] = found[2]
    return best


@jit
def _reduction(g, h, low, high):
    """Return twice the decrease of g v + h v^2 / 2 at its best v between the bounds."""
    v = min(max(-g / h, low), high)
    return -2.0 * g * v - h * v * v


@jit
def _sort_categories(hist, f, bins, shift, scales, work):
    """Rank the categories that occur by smoothed mean gradient; missing is a category."""
    ranks, _, keys = work
    size = 0
    for b in range(256):
        if (b >= bins and b != 255) or hist[f, b, 1] == 0:
            continue
        key = hist[f, b, 0] * scales[0] / ((hist[f, b, 1] >> shift) * scales[1] + 10.0)
        place = size
        while place > 0 and keys[place - 1] > key:
            keys[place], ranks[place] = keys[place - 1], ranks[place - 1]
            place -= 1
        keys[place], ranks[place] = key, b
        size += 1
    return size


@jit
def sum_leaves(gradient, hessian, order, spans, scales, sums):
    """Add derivatives of each leaf's rows as whole numbers, which any order adds up alike."""
    for leaf in range(spans.shape[0]):
        g, h = np.int64(0), np.int64(0)
        for t in range(spans[leaf, 0], spans[leaf, 1]):
            g += np.int64(np.rint(gradient[order[t]] * scales[0]))
            h += np.int64(np.rint(hessian[order[t]] * scales[1]))
        sums[leaf, 0] = g
        sums[leaf, 1] = h


@jit
def add_leaves(raw, column, order, spans, steps):
    """Add each leaf's steps to its rows, in columns of raw from ``column`` on."""
    for leaf in range(spans.shape[0]):
        for t in range(spans[leaf, 0], spans[leaf, 1]):
            for k in range(steps.shape[1]):
                raw[order[t], column + k] += steps[leaf, k]


@jit
def walk_codes(codes, rows, feature, left, goes_left, leaves):
    """Find the leaf of binned rows; goes_left has a line of 256 sides for every node."""
    for k in range(rows.shape[0]):
        i = rows[k]
        node = 0
        while left[node] >= 0:
            node = left[node] + 1 - np.int64(goes_left[node, codes[i, feature[node]]])
        leaves[k] = node
