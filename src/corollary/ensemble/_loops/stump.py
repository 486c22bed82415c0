"""The search for the best stump: one pass over presorted columns.

``columns`` is C-contiguous double precision of shape (d, n) without NaN, and ``order`` holds the
rows of each column in ascending order; weights are not negative. A search returns the feature, -1
if no cut beats a constant, and the place k of the cut, which lies between the k-th and the
(k + 1)-th row in order. A later cut must be better by more than rounding to win.
"""

import numpy as np

from corollary.core.jit import jit, part

_ROUNDING = 1e-12


@part
def _weight_right(left, total):
    """Return the weight of the rows that are right if each side predicts its heaviest class."""
    below, above = 0.0, 0.0
    for c in range(total.shape[0]):
        below = max(below, left[c])
        above = max(above, total[c] - left[c])
    return below + above


@jit
def best_label_split(columns, order, codes, weights, n_classes):
    """Find the cut with the smallest weighted error when each side predicts one class.

    ``codes`` are classes 0 to n_classes - 1.
    """
    total, left = np.zeros(n_classes), np.zeros(n_classes)
    for i in range(codes.shape[0]):
        total[codes[i]] += weights[i]
    best, feature, place = _weight_right(left, total), -1, 0
    slack = _ROUNDING * total.sum()
    for j in range(order.shape[0]):
        left[:] = 0.0
        for k in range(order.shape[1] - 1):
            i = order[j, k]
            left[codes[i]] += weights[i]
            if columns[j, order[j, k + 1]] > columns[j, i]:
                right = _weight_right(left, total)
                if right > best + slack:
                    best, feature, place = right, j, k
    return feature, place


@jit
def best_square_split(columns, order, residual, weights):
    """Find the cut with the smallest weighted squared error when each side predicts its mean.

    ``residual`` has weighted mean zero. The squared error falls by L^2 / W_L + R^2 / W_R, where L
    and R = -L are weighted sums of residuals.
    """
    whole, square = 0.0, 0.0
    for i in range(residual.shape[0]):
        whole += weights[i]
        square += weights[i] * residual[i] * residual[i]
    best, feature, place = 0.0, -1, 0
    for j in range(order.shape[0]):
        below, moment = 0.0, 0.0
        for k in range(order.shape[1] - 1):
            i = order[j, k]
            below += weights[i]
            moment += weights[i] * residual[i]
            above = whole - below
            if columns[j, order[j, k + 1]] > columns[j, i] and below > 0.0 and above > 0.0:
                gain = moment * moment * (1.0 / below + 1.0 / above)
                if gain > best + _ROUNDING * square:
                    best, feature, place = gain, j, k
    return feature, place
