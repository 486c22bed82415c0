"""What growing a boosted tree does to rows: pack derivatives, partition, add to histograms."""

import numpy as np

from corollary.core.jit import jit, part


@part
def pack_rows(derivatives, rows, first, rule, words):
    """Write derivatives of rows as words; ``first`` rows precede these arrays.

    Fractions are rounded up or down by comparison with a sequence that fills the unit interval
    evenly (golden ratio), so that sums have no systematic error; where there are few rows, to the
    nearest, so that equal rows stay equal.
    """
    g_up, h_up, dither = 1.0 / rule.g_scale, 1.0 / rule.h_scale, rule.dither
    h_bits, c_bits = rule.h_bits, rule.c_bits
    for t in range(rows.shape[0]):
        i = np.int64(rows[t])
        u = (((first + i) * 2654435769) & 0xFFFFFFFF) * 2.0**-32 if dither else 0.5
        g = np.int64(np.floor(derivatives[i, 0] * g_up + u))
        h = np.int64(np.floor(derivatives[i, 1] * h_up + u))
        words[i] = (((g << h_bits) + h) << c_bits) + 1


@part
def _partition(codes, first, goes_left, rows, beside):
    """Bring rows that go left to the front, all in their order, and return how many they are."""
    near, far = np.int64(0), np.int64(0)
    for t in range(rows.shape[0]):
        i = rows[t]
        goes = np.int64(goes_left[np.int64(codes[first + np.int64(i)])])
        rows[near] = i
        beside[far] = i
        near += goes
        far += 1 - goes
    for t in range(far):
        rows[near + t] = beside[t]
    return near


@part
def split_span(codes, first, goes_left, order, aside, span, left, right):
    """Partition the rows of a node and write the spans of its children.

    The column of their bins begins at ``first``; ``aside`` is scratch.
    """
    start, stop = span.start, span.stop
    middle = start + _partition(codes, first, goes_left, order[start:stop], aside[start:stop])
    left.start, left.stop = start, middle
    right.start, right.stop = middle, stop


@part
def _tabulate(codes, a, c, rows, words, table):
    """Add words of rows to the tables of two features, which share the loads of rows and words."""
    for t in range(rows.shape[0]):
        i, word = np.int64(rows[t]), words[t]
        p, q = np.int64(codes[a + i]), np.int64(codes[c + i])
        table[p] += word
        table[q + 256] += word


@part
def _unpack(table, column, rule, hist):
    """Add the words of a table to the lines of a feature."""
    shift, c_bits, h_bits, line = rule.shift, rule.c_bits, rule.h_bits, column.line
    one = np.int64(1)
    g_bits, c_field, h_field = h_bits + c_bits, (one << c_bits) - 1, (one << h_bits) - 1
    for b in range(column.n_bins + 1):
        word = table[b]
        hist[line + 2 * b] += word >> g_bits
        hist[line + 2 * b + 1] += (((word >> c_bits) & h_field) << shift) + (word & c_field)


@part
def add_rows(codes, packed, rows, columns, rule, work, hist):
    """Add rows to a histogram; ``work`` has two tables, empty between calls, and room for words."""
    table, words = work[:512], work[512:]
    n, size, room = packed.shape[0], columns.shape[0], rule.room
    for first in range(0, rows.shape[0], room):
        some = rows[first : first + room]
        for t in range(some.shape[0]):
            words[t] = packed[np.int64(some[t])]
        for k in range(0, size, 2):
            last = min(k + 1, size - 1)
            _tabulate(codes, columns[k].feature * n, columns[last].feature * n, some, words, table)
            for j in range(k, last + 1):
                _unpack(table[256 * (j - k) :], columns[j], rule, hist)
            for place in range(512):
                table[place] = 0


@jit(counted=False)
def pack(derivatives, rows, first, rules, words):
    """Write the derivatives of rows as words; ``first`` rows precede these arrays."""
    pack_rows(derivatives, rows, first, rules[0], words)


@jit(counted=False)
def move_rows(codes, n, moves, sides, order, aside, spans):
    """Split places of a block of n rows, whose columns of bins lie end to end.

    The rows of a place are between its ends in the order, and so are then those of its children.
    """
    for m in range(moves.shape[0]):
        move = moves[m]
        span, left, right = spans[move.place], spans[move.child], spans[move.child + 1]
        split_span(codes, move.feature * n, sides[m], order, aside, span, left, right)


@jit(counted=False)
def tally(codes, words, order, spans, slots, columns, rules, work, hists):
    """Add the rows of places to their histograms; a negative slot means that there is none."""
    for place in range(slots.shape[0]):
        if slots[place] >= 0:
            rows = order[spans[place].start : spans[place].stop]
            add_rows(codes, words, rows, columns, rules[0], work, hists[slots[place]])
