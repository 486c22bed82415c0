"""The best split of a node of a boosted tree, found in its histogram.

``ranks`` is scratch for categories, None if no feature has any; ``monotone`` has signs of features,
None if no effect is monotone. What they are for is then not compiled.
"""

import numpy as np

from corollary.core.jit import part

TIE = 1e-7


@part
def _best_value(g, h, node):
    """Return the v between the bounds of a node where g v + h v^2 / 2 is smallest."""
    return min(max(-g / h, node.low), node.high)


@part
def _reduction(g, h, node):
    """Return twice the decrease of g v + h v^2 / 2 at its best v between the bounds."""
    v = _best_value(g, h, node)
    return -2.0 * g * v - h * v * v


@part
def bound_children(node, nodes, sign, rule):
    """Keep the values below a monotone split on their sides of its middle."""
    left, middle = node.left, 0.0
    for child in range(left, left + 2):
        g = nodes[child].g * rule.g_scale
        h = (nodes[child].hc >> rule.shift) * rule.h_scale
        middle += 0.5 * _best_value(g, h + rule.l2, node)
    lower = left if sign == 1 else left + 1
    nodes[lower].high = middle
    nodes[2 * left + 1 - lower].low = middle


@part
def _rank_categories(hist, column, rule, ranks):
    """Sort the categories that occur by smoothed mean gradient; missing is the last category."""
    size = 0
    for b in range(column.n_bins + 1):
        at = column.line + 2 * b
        if hist[at + 1] == 0:
            continue
        key = hist[at] * rule.g_scale / ((hist[at + 1] >> rule.shift) * rule.h_scale + rule.smooth)
        place = size
        while place > 0 and ranks[place - 1].key > key:
            ranks[place].key, ranks[place].bin = ranks[place - 1].key, ranks[place - 1].bin
            place -= 1
        ranks[place].key, ranks[place].bin = key, b
        size += 1
    return size


@part
def _try_cuts(column, n_cuts, missing, node, score, best, hist, rule, ranks, sign):
    """Try the cuts of a feature; return the best gain, its place or -1, and sums to its left.

    Missing values go left if ``missing`` is 1. Gains within rounding of each other are equal: the
    first cut wins. ``score`` is that of the node unsplit.
    """
    shift, min_rows, l2, min_hessian = rule.shift, rule.min_rows, rule.l2, rule.min_hessian
    g_scale, h_scale, c_mask = rule.g_scale, rule.h_scale, (np.int64(1) << rule.shift) - 1
    g_sum, h_sum, c_sum = node.g * g_scale, (node.hc >> shift) * h_scale, node.hc & c_mask
    line, is_set, lost = column.line, column.is_set, column.line + 2 * column.n_bins
    g, hc = hist[lost] * missing, hist[lost + 1] * missing
    place, g_best, hc_best = -1, np.int64(0), np.int64(0)
    for p in range(n_cuts):
        at = line + 2 * p
        if ranks is not None and is_set:
            at = line + 2 * ranks[p].bin
        if hist[at + 1] == 0:
            continue
        g += hist[at]
        hc += hist[at + 1]
        c = hc & c_mask
        if c < min_rows:
            continue
        if c_sum - c < min_rows:
            break
        g_left, h_left = g * g_scale, (hc >> shift) * h_scale
        g_right, h_right = g_sum - g_left, h_sum - h_left
        if h_left < min_hessian or h_right < min_hessian:
            continue
        a, z = h_left + l2, h_right + l2
        if sign is None:
            gain = (g_left * g_left * z + g_right * g_right * a) / (a * z) - score
        else:
            if (_best_value(g_right, z, node) - _best_value(g_left, a, node)) * sign < 0:
                continue
            gain = _reduction(g_left, a, node) + _reduction(g_right, z, node) - score
        if gain > best * (1.0 + TIE):
            best, place, g_best, hc_best = gain, p, g, hc
    return best, place, g_best, hc_best


@part
def _try_column(k, column, node, score, best, hist, goes_left, rule, ranks, sign):
    """Try all splits of a feature, note the best one so far at the node, and return its gain."""
    n_bins, sides = column.n_bins, 1 if hist[column.line + 2 * column.n_bins + 1] == 0 else 2
    if ranks is not None and column.is_set:
        n_bins, sides = _rank_categories(hist, column, rule, ranks), 1
    for missing in range(sides):
        # All bins may go left if missing values go right.
        n_cuts = n_bins if missing < sides - 1 else n_bins - 1
        best, place, g, hc = _try_cuts(
            column, n_cuts, missing, node, score, best, hist, rule, ranks, sign
        )
        if place < 0:
            continue
        node.gain, node.feature, node.bin, node.missing = best, k, place, missing
        node.g_left, node.hc_left = g, hc
        if ranks is not None and column.is_set:
            for b in range(256):
                goes_left[b] = 0
            for p in range(place + 1):
                goes_left[ranks[p].bin] = 1
    return best


@part
def _write_sides(node, column, hist, goes_left, c_mask, ranks):
    """Write which bins go left at a node's split."""
    n_bins, last = column.n_bins, node.bin
    if ranks is None or not column.is_set:
        for b in range(256):
            goes_left[b] = b <= last
        goes_left[n_bins] = node.missing
    if hist[column.line + 2 * n_bins + 1] == 0:
        # No row to learn from: missing values go with the majority.
        goes_left[n_bins] = 2 * (node.hc_left & c_mask) >= (node.hc & c_mask)
    node.missing = goes_left[n_bins]


@part
def find_split(node, columns, tried, hist, goes_left, rule, ranks, monotone):
    """Find the split of largest gain; tell whether there is one worth making."""
    c_mask, l2 = (np.int64(1) << rule.shift) - 1, rule.l2
    g, h = node.g * rule.g_scale, (node.hc >> rule.shift) * rule.h_scale
    few = (node.hc & c_mask) < 2 * rule.min_rows
    if few or h < rule.min_hessian or node.depth >= rule.max_depth:
        return False
    score = g * g / (h + l2) if monotone is None else _reduction(g, h + l2, node)
    best = TIE * score
    for k in range(columns.shape[0]):
        if tried[k] == 0:
            continue
        sign = None if monotone is None else monotone[k]
        best = _try_column(k, columns[k], node, score, best, hist, goes_left, rule, ranks, sign)
    if node.gain <= 0.0:
        return False
    _write_sides(node, columns[node.feature], hist, goes_left, c_mask, ranks)
    return True
