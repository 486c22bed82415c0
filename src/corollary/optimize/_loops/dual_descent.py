"""Dual coordinate descent for linear machines."""

import numpy as np

from corollary.core.jit import jit


@jit
def pass_dense(X, y, margin, order, diagonal, addition, upper, alpha, w):
    """Visit rows in ``order``; update alpha and ``w = sum alpha_i y_i x_i`` in place.

    A row pays below ``margin``; ``diagonal`` is |x_i|^2 + addition_i. Returns the largest and
    least projected gradient.
    """
    largest, least = -np.inf, np.inf
    for i in order:
        gradient = -margin[i] + alpha[i] * addition[i]
        score = 0.0
        row = X[i]
        for k in range(row.shape[0]):
            score += row[k] * w[k]
        gradient += y[i] * score
        projected = gradient
        if alpha[i] <= 0.0:
            projected = min(gradient, 0.0)
        elif alpha[i] >= upper[i]:
            projected = max(gradient, 0.0)
        largest = max(largest, projected)
        least = min(least, projected)
        if projected == 0.0:
            continue
        if diagonal[i] > 0.0:
            new = min(max(alpha[i] - gradient / diagonal[i], 0.0), upper[i])
        else:  # a row of zeros: the objective falls linearly until the bound
            new = upper[i]
        step = (new - alpha[i]) * y[i]
        alpha[i] = new
        for k in range(row.shape[0]):
            w[k] += step * row[k]
    return largest, least


@jit
def pass_sparse(data, indices, indptr, y, margin, order, diagonal, addition, upper, alpha, w):
    """Do the same as :func:`pass_dense` for rows in compressed form."""
    largest, least = -np.inf, np.inf
    for i in order:
        gradient = -margin[i] + alpha[i] * addition[i]
        score = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            score += data[k] * w[indices[k]]
        gradient += y[i] * score
        projected = gradient
        if alpha[i] <= 0.0:
            projected = min(gradient, 0.0)
        elif alpha[i] >= upper[i]:
            projected = max(gradient, 0.0)
        largest = max(largest, projected)
        least = min(least, projected)
        if projected == 0.0:
            continue
        if diagonal[i] > 0.0:
            new = min(max(alpha[i] - gradient / diagonal[i], 0.0), upper[i])
        else:
            new = upper[i]
        step = (new - alpha[i]) * y[i]
        alpha[i] = new
        for k in range(indptr[i], indptr[i + 1]):
            w[indices[k]] += step * data[k]
    return largest, least
