"""Winnow's loops over dense rows, CSR rows, and all subsets of binary inputs."""

import numpy as np

from corollary.core.jit import jit

# Halving stops here: a weight of zero could never grow again.
LOWEST = 2.0**-1000


@jit
def winnow_dense(X, y, threshold, weights, scores):
    """Play Winnow on rows of zeros and ones; update weights in place, write the scores."""
    n = X.shape[1]
    for t in range(X.shape[0]):
        score = 0.0
        for i in range(n):
            score += weights[i] * X[t, i]
        scores[t] = score
        if (score >= threshold) != (y[t] > 0.5):
            factor = 2.0 if y[t] > 0.5 else 0.5
            for i in range(n):
                if X[t, i] > 0.0:
                    weights[i] = max(weights[i] * factor, LOWEST)


@jit
def winnow_sparse(indices, indptr, y, threshold, weights, scores):
    """Play Winnow on CSR rows whose entries are all one."""
    for t in range(indptr.shape[0] - 1):
        score = 0.0
        for k in range(indptr[t], indptr[t + 1]):
            score += weights[indices[k]]
        scores[t] = score
        if (score >= threshold) != (y[t] > 0.5):
            factor = 2.0 if y[t] > 0.5 else 0.5
            for k in range(indptr[t], indptr[t + 1]):
                weights[indices[k]] = max(weights[indices[k]] * factor, LOWEST)


@jit
def subset_score(mask, weights):
    """Sum the weights of all subsets of a set of bits."""
    total, subset = 0.0, mask
    while True:
        total += weights[subset]
        if subset == 0:
            return total
        subset = (subset - 1) & mask


@jit
def winnow_subsets(masks, y, threshold, weights, scores):
    """Play Winnow on the features "all bits of S are set", one for each S; S indexes weights."""
    for t in range(masks.shape[0]):
        scores[t] = subset_score(masks[t], weights)
        if (scores[t] >= threshold) != (y[t] > 0.5):
            factor = 2.0 if y[t] > 0.5 else 0.5
            subset = masks[t]
            while True:
                weights[subset] = max(weights[subset] * factor, LOWEST)
                if subset == 0:
                    break
                subset = (subset - 1) & masks[t]


@jit
def subset_scores(masks, weights):
    """Return the score of every set of bits."""
    scores = np.empty(masks.shape[0])
    for t in range(masks.shape[0]):
        scores[t] = subset_score(masks[t], weights)
    return scores
