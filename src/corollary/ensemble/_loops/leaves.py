"""The leaves of a boosted tree: who is in them, and their values."""

import numpy as np

from corollary.core.jit import jit, part
from corollary.ensemble._loops.records import ADD, STEP, SUM


@part
def _whole(derivatives, weight, i, rule):
    """Return derivatives and weight of a row as whole numbers; a row without weight counts 1."""
    g = np.int64(np.rint(derivatives[i, 0] * rule.g_sums))
    h = np.int64(np.rint(derivatives[i, 1] * rule.h_sums))
    w = np.int64(np.rint(weight[i] * rule.w_sums)) if weight.shape[0] > 0 else np.int64(1)
    return g, h, w


@part
def _sum_rows(rows, derivatives, weight, rule, sums):
    """Sum the derivatives and weights of rows."""
    g, h, w = np.int64(0), np.int64(0), np.int64(0)
    for k in range(rows.shape[0]):
        more = _whole(derivatives, weight, rows[k], rule)
        g, h, w = g + more[0], h + more[1], w + more[2]
    sums.g, sums.h, sums.w = g, h, w


@part
def shrink(step, rule):
    """Return a Newton step times the rate, but none so long that it may raise the loss."""
    size, longest = abs(step), rule.longest
    if rule.curb > 0.0:
        longest = max(longest, np.log1p(size))
    length = min(rule.rate * size, longest)
    return length if step > 0.0 else -length


@part
def _newton_step(sums, node, rule):
    """Return the shrunk Newton step of a leaf from its sums by block; note its mass."""
    g, h, w = np.int64(0), np.int64(0), np.int64(0)
    for b in range(sums.shape[0]):
        g, h, w = g + sums[b].g, h + sums[b].h, w + sums[b].w
    node.mass = w / rule.w_sums
    curvature, step = h / rule.h_sums + rule.l2, 0.0
    if curvature > 0.0:
        step = -(g / rule.g_sums) / curvature
    return shrink(min(max(step, node.low), node.high), rule)


@part
def _add_step(rows, step, raw, column):
    """Add a leaf's values to the predictions of its rows."""
    for k in range(rows.shape[0]):
        for j in range(step.shape[0]):
            raw[rows[k], column + j] += step[j]


@jit(counted=False)
def settle(task, first, last, leaves, rules, column):
    """Sum derivatives by leaf, take Newton steps, and add those to predictions.

    Sums are taken, and steps added, in the blocks from ``first`` to before ``last``. The sums are
    of whole numbers, which any order adds up alike. Steps are for nodes, and enter the columns of
    raw predictions from ``column`` on. The mass of a leaf without weights is its number of rows.
    """
    nodes, spans, order, derivatives, weight, sums, steps, raw = leaves
    rule = rules[0]
    for name in range(nodes.shape[0]):
        if nodes[name].left >= 0:
            continue
        for b in range(first, last if task & SUM else first):
            rows = order[spans[name, b].start : spans[name, b].stop]
            _sum_rows(rows, derivatives, weight, rule, sums[b, name])
        if task & STEP:
            steps[name, 0] = _newton_step(sums[:, name], nodes[name], rule)
        for b in range(first, last if task & ADD else first):
            rows = order[spans[name, b].start : spans[name, b].stop]
            _add_step(rows, steps[name], raw, column)


@jit(counted=False)
def walk(codes, rows, columns, nodes, sides, leaves):
    """Find the leaf of binned rows; sides has a line of 256 for every node."""
    for k in range(rows.shape[0]):
        i, name = np.int64(rows[k]), 0
        while nodes[name].left >= 0:
            feature = columns[nodes[name].feature].feature
            goes = np.int64(sides[name, np.int64(codes[i, feature])])
            name = nodes[name].left + 1 - goes
        leaves[k] = name


@jit(counted=False)
def sum_leaves(leaves, words, derivatives, weight, rules, sums):
    """Add derivatives and weights of rows that have a word to the sums of their leaves."""
    rule = rules[0]
    for i in range(leaves.shape[0]):
        if words[i] != 0:
            total, (g, h, w) = sums[leaves[i]], _whole(derivatives, weight, i, rule)
            total.g, total.h, total.w = total.g + g, total.h + h, total.w + w
