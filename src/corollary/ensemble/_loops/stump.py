"""The search for the best stump: one pass over presorted columns."""

import numpy as np

from corollary.core.jit import jit


@jit
def best_label_split(columns, order, codes, weights, n_classes):
    """Find the cut with the smallest weighted error when each side predicts one class.

    columns is C-contiguous double precision of shape (d, n) without NaN, order holds the rows of
    each column in ascending order, codes are classes 0 to n_classes - 1, weights non-negative.
    Returns the feature (-1 if no cut beats a constant) and the place k of the cut, which lies
    between the k-th and the (k + 1)-th row in order. A later cut must be better by more than
    rounding to win.
    """
    d, n = order.shape
    total = np.zeros(n_classes)
    for i in range(n):
        total[codes[i]] += weights[i]
    whole = 0.0
    most = 0.0
    for c in range(n_classes):
        whole += total[c]
        most = max(most, total[c])
    slack = 1e-12 * whole
    best, feature, place = most, -1, 0
    left = np.zeros(n_classes)
    for j in range(d):
        left[:] = 0.0
        for k in range(n - 1):
            i = order[j, k]
            left[codes[i]] += weights[i]
            if columns[j, order[j, k + 1]] > columns[j, i]:
                below, above = 0.0, 0.0
                for c in range(n_classes):
                    below = max(below, left[c])
                    above = max(above, total[c] - left[c])
                if below + above > best + slack:
                    best, feature, place = below + above, j, k
    return feature, place


@jit
def best_square_split(columns, order, residual, weights):
    """Find the cut with the smallest weighted squared error when each side predicts its mean.

    residual must have weighted mean zero; else as :func:`best_label_split`. The squared error
    falls by L^2 / W_L + R^2 / W_R, where L and R are weighted sums of residuals.
    """
    d, n = order.shape
    whole, square = 0.0, 0.0
    for i in range(n):
        whole += weights[i]
        square += weights[i] * residual[i] * residual[i]
    best, feature, place = 0.0, -1, 0
    for j in range(d):
        weight, moment = 0.0, 0.0
        for k in range(n - 1):
            i = order[j, k]
            weight += weights[i]
            moment += weights[i] * residual[i]
            if columns[j, order[j, k + 1]] > columns[j, i]:
                rest = whole - weight
                if weight > 0.0 and rest > 0.0:
                    gain = moment * moment * (1.0 / weight + 1.0 / rest)
                    if gain > best + 1e-12 * square:
                        best, feature, place = gain, j, k
    return feature, place
