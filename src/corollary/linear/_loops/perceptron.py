"""Compiled passes of the perceptron over dense and sparse rows.

Arrays are contiguous double precision without NaN, labels are -1 and 1. The weights and the counts
of mistakes are updated in place; a pass returns how many mistakes it made.
"""

from corollary.core.jit import jit


@jit
def dense_pass(X, y, order, weights, mistakes):
    """Visit rows in an order and add every row that is on the wrong side of the plane, or on it."""
    wrong = 0
    for i in order:
        score = 0.0
        for j in range(len(weights)):
            score += X[i, j] * weights[j]
        if not y[i] * score > 0.0:
            for j in range(len(weights)):
                weights[j] += y[i] * X[i, j]
            mistakes[i] += 1
            wrong += 1
    return wrong


@jit
def sparse_pass(data, indices, indptr, y, order, weights, mistakes):
    """Do the same with rows in compressed form."""
    wrong = 0
    for i in order:
        score = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            score += data[k] * weights[indices[k]]
        if not y[i] * score > 0.0:
            for k in range(indptr[i], indptr[i + 1]):
                weights[indices[k]] += y[i] * data[k]
            mistakes[i] += 1
            wrong += 1
    return wrong
