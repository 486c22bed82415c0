"""Compiled suprema over sign vectors."""

import numpy as np

from corollary.core.jit import jit


@jit
def exact_supremum(values, absolute):
    """Average ``max_f sum_i e_i values[f, i]`` over all sign vectors e.

    Sign vectors follow a Gray code, so that one entry changes at a time. Without absolute values
    nothing is symmetric and all of them are needed; with them, half.
    """
    n_functions, n = values.shape
    sums = np.zeros(n_functions)
    for f in range(n_functions):
        for i in range(n):
            sums[f] += values[f, i]
    signs = np.ones(n)
    count = 1 << (n - 1) if absolute else 1 << n
    total = 0.0
    for step in range(count):
        best = abs(sums[0]) if absolute else sums[0]
        for f in range(1, n_functions):
            value = abs(sums[f]) if absolute else sums[f]
            if value > best:
                best = value
        total += best
        # The bit that the Gray code flips next is the number of trailing zeros of step + 1.
        place, rest = 0, step + 1
        while rest % 2 == 0:
            rest //= 2
            place += 1
        if place < n:
            signs[place] = -signs[place]
            for f in range(n_functions):
                sums[f] += 2.0 * signs[place] * values[f, place]
    return total / count
