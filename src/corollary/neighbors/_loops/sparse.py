"""Compiled searches of sparse rows, whose distances :func:`_merge` computes."""

import numpy as np

from corollary.core.jit import jit
from corollary.neighbors._loops.distances import CHEBYSHEV, MANHATTAN, SQUARED
from corollary.neighbors._loops.heap import clear, sift, sort
from corollary.neighbors._loops.lists import longer, short_lists


@jit
def _merge(rows, i, queries, j, metric, p):
    """Compute the reduced distance of two sparse rows, whose columns are in order."""
    a, a_end = rows.starts[i], rows.starts[i + 1]
    b, b_end = queries.starts[j], queries.starts[j + 1]
    total = 0.0
    while a < a_end or b < b_end:
        gap = 0.0
        if b == b_end or (a < a_end and rows.where[a] < queries.where[b]):
            gap = rows.values[a]
            a += 1
        elif a == a_end or queries.where[b] < rows.where[a]:
            gap = queries.values[b]
            b += 1
        else:
            gap = rows.values[a] - queries.values[b]
            a += 1
            b += 1
        if metric == SQUARED:
            total += gap * gap
        elif metric == MANHATTAN:
            total += abs(gap)
        elif metric == CHEBYSHEV:
            total = max(total, abs(gap))
        else:
            total += abs(gap) ** p
    return total


@jit
def _multiply_columns(columns, squares, queries, j, out):
    """Write the approximate squared distances of all rows; return the largest sum of squares."""
    length = 0.0
    out[:] = 0.0
    for b in range(queries.starts[j], queries.starts[j + 1]):
        value, column = queries.values[b], queries.where[b]
        length += value * value
        for t in range(columns.starts[column], columns.starts[column + 1]):
            out[columns.where[t]] += value * columns.values[t]
    largest = 0.0
    for i in range(out.shape[0]):
        largest = max(largest, squares[i])
        out[i] = squares[i] + length - 2.0 * out[i]
    return largest + length


@jit
def nearest_sparse(rows, columns, squares, margin, queries, metric, p, values, neighbors):
    """Find the nearest rows of each query; products with columns say which cannot be."""
    n, k = squares.shape[0], values.shape[1]
    guess = np.zeros(n)
    for j in range(values.shape[0]):
        best, where = values[j], neighbors[j]
        clear(best, where)
        limit = np.inf
        if metric == SQUARED:
            size = _multiply_columns(columns, squares, queries, j, guess)
            for i in range(n):
                if guess[i] < best[0]:
                    sift(guess[i], i, best, where, k)
            limit = best[0] + 2.0 * margin * size
            clear(best, where)
        for i in range(n):
            if guess[i] <= limit:
                value = _merge(rows, i, queries, j, metric, p)
                if value < best[0] or (value == best[0] and i < where[0]):
                    sift(value, i, best, where, k)
        sort(best, where)


@jit
def within_sparse(rows, columns, squares, margin, queries, metric, p, limit):
    """List rows within a reduced distance as queries, row numbers and reduced distances."""
    n = squares.shape[0]
    guess = np.zeros(n)
    lists, size = short_lists(), 0
    for j in range(queries.starts.shape[0] - 1):
        near = limit
        if metric == SQUARED:
            near += margin * _multiply_columns(columns, squares, queries, j, guess)
        for i in range(n):
            if guess[i] <= near:
                value = _merge(rows, i, queries, j, metric, p)
                if value <= limit:
                    if size == lists[0].shape[0]:
                        lists = longer(lists, size)
                    lists[0][size], lists[1][size], lists[2][size] = j, i, value
                    size += 1
    return lists[0][:size], lists[1][:size], lists[2][:size]
