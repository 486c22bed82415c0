"""Compiled swaps of k-medoids."""

import numpy as np

from corollary.core.jit import jit


@jit
def two_nearest(D, medoids, first, second):
    """Write the places of the nearest and the second nearest medoid of every row."""
    for i in range(D.shape[0]):
        a, b = -1, -1
        for m in range(medoids.shape[0]):
            value = D[i, medoids[m]]
            if a < 0 or value < D[i, medoids[a]]:
                a, b = m, a
            elif b < 0 or value < D[i, medoids[b]]:
                b = m
        first[i], second[i] = a, b


@jit
def best_swap(D, weight, medoids, first, second, candidate, gains):
    """Return which medoid to replace by a candidate, and how much that lowers the cost.

    A row that is nearer to the candidate than to its own medoid gains, whichever medoid goes; any
    other row loses if its own medoid goes, which ``gains`` of that medoid says.
    """
    n, k = D.shape[0], medoids.shape[0]
    shared = 0.0
    for m in range(k):
        gains[m] = 0.0
    for i in range(n):
        own, new = D[i, medoids[first[i]]], D[i, candidate]
        if new < own:
            shared += weight[i] * (own - new)
        else:
            other = D[i, medoids[second[i]]] if k > 1 else np.inf
            gains[first[i]] += weight[i] * (own - min(new, other))
    best = 0
    for m in range(1, k):
        if gains[m] > gains[best]:
            best = m
    return best, shared + gains[best]
