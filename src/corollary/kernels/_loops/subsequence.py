"""The dynamic programme of the gap-weighted subsequence kernel."""

import numpy as np

from corollary.core.jit import jit


@jit
def _pair(s, n, t, m, length, decay):
    """Return the kernel of s[:n] and t[:m], int64 codes, in O(length n m)."""
    # inner[i, j]: weights of common subsequences of s[:i] and t[:j], all gaps up to i and j counted
    inner = np.ones((n + 1, m + 1))
    total = 0.0
    for p in range(1, length + 1):
        if p == length:
            for i in range(1, n + 1):
                for j in range(1, m + 1):
                    if s[i - 1] == t[j - 1]:
                        total += decay * decay * inner[i - 1, j - 1]
            return total
        outer = np.zeros((n + 1, m + 1))
        for i in range(p, n + 1):
            row = 0.0
            for j in range(p, m + 1):
                row *= decay
                if s[i - 1] == t[j - 1]:
                    row += decay * decay * inner[i - 1, j - 1]
                outer[i, j] = decay * outer[i - 1, j] + row
        inner = outer
    return total


@jit
def all_pairs(S, n, T, m, length, decay, same):
    """Return the kernel of all rows of S and T (padded int64 codes) with lengths n and m."""
    K = np.empty((S.shape[0], T.shape[0]))
    for i in range(S.shape[0]):
        for j in range(i if same else 0, T.shape[0]):
            K[i, j] = _pair(S[i], n[i], T[j], m[j], length, decay)
            if same:
                K[j, i] = K[i, j]
    return K


@jit
def same_pairs(S, n, length, decay):
    """Return the kernel of every row of S (padded int64 codes, lengths n) with itself."""
    diagonal = np.empty(S.shape[0])
    for i in range(S.shape[0]):
        diagonal[i] = _pair(S[i], n[i], S[i], n[i], length, decay)
    return diagonal
