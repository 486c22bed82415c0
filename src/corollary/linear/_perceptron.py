"""The perceptron's loop."""

import numpy as np

from corollary.core.jit import jit


@jit
def run_pass(X, y, order, skip, weights, mistakes):
    """Visit the rows in ``order`` except ``skip``; update weights and mistake counts in place.

    X is C-contiguous double precision of shape (n, d), y holds -1.0 and 1.0, no NaN. Returns the
    number of mistakes of the pass.
    """
    wrong = 0
    for i in order:
        if i == skip:
            continue
        score = 0.0
        for j in range(X.shape[1]):
            score += X[i, j] * weights[j]
        if y[i] * score <= 0.0:
            for j in range(X.shape[1]):
                weights[j] += y[i] * X[i, j]
            mistakes[i] += 1
            wrong += 1
    return wrong


@jit
def run_passes(X, y, skip, max_passes, weights, mistakes):
    """Cycle through the rows in their order until a pass without mistake; return the passes.

    Returns minus the number of passes if the last one still made a mistake.
    """
    order = np.arange(X.shape[0])
    for passes in range(1, max_passes + 1):
        if run_pass(X, y, order, skip, weights, mistakes) == 0:
            return passes
    return -max_passes


@jit
def run_pass_sparse(data, indices, indptr, y, order, weights, mistakes):
    """Visit the rows of a CSR matrix in ``order``, as :func:`run_pass` does.

    The last entry of weights is the intercept's and is updated only if weights is one longer
    than the matrix is wide and the caller appended a column of ones.
    """
    wrong = 0
    for i in order:
        score = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            score += data[k] * weights[indices[k]]
        if y[i] * score <= 0.0:
            for k in range(indptr[i], indptr[i + 1]):
                weights[indices[k]] += y[i] * data[k]
            mistakes[i] += 1
            wrong += 1
    return wrong
