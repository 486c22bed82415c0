"""Permuted inner products of two Gram matrices."""

import numpy as np

from corollary.core.jit import jit

TOGETHER, ROWS = 8, 16  # permutations and rows for which a part of K is read once


@jit
def permuted_products(K, L, permutations):
    """Return ``sum_ij K[i, j] L[p[i], p[j]]`` for every row p of permutations.

    K and L are C-contiguous double precision of shape (n, n), symmetric, no NaN; permutations is
    int64 of shape (b, n). Each sum is formed row after row, however permutations are shared out.
    """
    n, count = K.shape[0], permutations.shape[0]
    sums = np.zeros(count)
    for first in range(0, count, TOGETHER):
        for start in range(0, n, ROWS):
            for b in range(first, min(count, first + TOGETHER)):
                p = permutations[b]
                for i in range(start, min(n, start + ROWS)):
                    row = L[p[i]]
                    below = 0.0
                    for j in range(i):
                        below += K[i, j] * row[p[j]]
                    sums[b] += 2.0 * below + K[i, i] * row[p[i]]
    return sums
