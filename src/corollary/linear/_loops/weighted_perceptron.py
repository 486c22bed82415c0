"""Compiled passes of the perceptron with weighted rows and a penalty.

Arrays are contiguous double precision without NaN, labels are -1 and 1. ``steps`` is by how much
each row moves the weights, ``shrink`` the factor of an l2 penalty for each row visited, ``l1`` the
shift of an l1 penalty. ``shifted`` holds the shift that each weight has had and, last, the one that
is due: a weight is shifted when a row next stores its feature, and never beyond zero. Weights,
intercept (an array of one number), counts of mistakes and shifts are updated in place; a pass
returns the sum of the losses ``max(-y score, 0)``.
"""

from corollary.core.jit import jit


@jit
def _shift(weights, shifted, j):
    """Shift one weight towards zero by what is due."""
    before = weights[j]
    due = shifted[len(weights)]
    if before > 0.0:
        weights[j] = max(0.0, before - (due + shifted[j]))
    elif before < 0.0:
        weights[j] = min(0.0, before + (due - shifted[j]))
    shifted[j] += weights[j] - before


@jit
def dense_weighted_pass(X, y, steps, order, weights, intercept, mistakes, shrink, l1, shifted):
    """Visit rows in an order and add every row that is on the wrong side of the plane, or on it.

    Without intercept its array is empty.
    """
    d = len(weights)
    loss = 0.0
    for i in order:
        score = 0.0
        for j in range(d):
            score += X[i, j] * weights[j]
        if len(intercept):
            score += intercept[0]
        wrong = not y[i] * score > 0.0
        if wrong:
            loss -= y[i] * score
        if shrink != 1.0:
            for j in range(d):
                weights[j] *= shrink
        if wrong and steps[i] > 0.0:
            change = steps[i] * y[i]
            for j in range(d):
                weights[j] += change * X[i, j]
            if len(intercept):
                intercept[0] += change
            mistakes[i] += 1
        if l1 > 0.0:
            shifted[d] += l1
            for j in range(d):
                _shift(weights, shifted, j)
    return loss


@jit
def sparse_weighted_pass(rows, y, steps, order, weights, intercept, mistakes, shrink, l1, shifted):
    """Do the same with rows in compressed form, ``(data, indices, indptr)``."""
    data, indices, indptr = rows
    d = len(weights)
    loss = 0.0
    for i in order:
        score = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            score += data[k] * weights[indices[k]]
        if len(intercept):
            score += intercept[0]
        wrong = not y[i] * score > 0.0
        if wrong:
            loss -= y[i] * score
        if shrink != 1.0:
            for j in range(d):
                weights[j] *= shrink
        if wrong and steps[i] > 0.0:
            change = steps[i] * y[i]
            for k in range(indptr[i], indptr[i + 1]):
                weights[indices[k]] += change * data[k]
            if len(intercept):
                intercept[0] += change
            mistakes[i] += 1
        if l1 > 0.0:
            shifted[d] += l1
            for k in range(indptr[i], indptr[i + 1]):
                _shift(weights, shifted, indices[k])
    return loss
