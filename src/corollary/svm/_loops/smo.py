"""The pair steps of sequential minimal optimisation, on a block of variables."""

import numpy as np

from corollary.core.jit import jit

# Curvature of a pair below this share of its diagonal counts as zero (as LIBSVM's tau); a matrix
# that is not positive semi-definite then still gives a finite, decreasing step.
_TAU = 1e-12

# A number and its position in one integer: doubles ordered as integers, with the lowest bits of the
# mantissa replaced by the index. The largest such integer is the argmax, and unlike a search with
# branches the loop runs on vector instructions. ``index`` masks the bits of the index: 10 for
# blocks of 1,024 variables, which are then told apart if they differ by 2^-42 of their size.
_POSITIVE = np.int64(0x7FFFFFFFFFFFFFFF)
_SIGN_SHIFT = np.int64(63)


@jit
def _sweep(rest, up, row_i, row_j, move, index):
    """Subtract a step's effect; return where rest + up is largest.

    ``up`` is minus infinity where a variable cannot move up.
    """
    number = ~index
    largest = -_POSITIVE
    for k in range(rest.shape[0]):
        r = rest[k] - move * (row_i[k] - row_j[k])
        rest[k] = r
        a = np.float64(r + up[k]).view(np.int64)
        a = a ^ ((a >> _SIGN_SHIFT) & _POSITIVE)
        largest = max(largest, (a & number) | np.int64(k))
    return largest & index


@jit
def _violation(rest, up, down, ends):
    """Return the largest violation of the groups, negative if no pair can move."""
    violation = -np.inf
    for g in range(len(ends) - 1):
        top, low = -np.inf, np.inf
        for k in range(ends[g], ends[g + 1]):
            a, b = rest[k] + up[k], rest[k] + down[k]
            top = a if a > top else top
            low = b if b < low else low
        violation = top - low if top - low > violation else violation
    return violation


@jit
def _partner(rest, down, row, diagonal, entry, best, floor, index):
    """Return which variable gains most by going down, and the integer that says how much.

    A slope that falls gains nothing; curvatures below ``floor`` count as that.
    """
    number = ~index
    largest = np.int64(0)
    for k in range(rest.shape[0]):
        slope = best - rest[k] - down[k]
        slope = slope if slope > 0.0 else 0.0
        curve = entry + diagonal[k] - 2.0 * row[k]
        curve = curve if curve > floor else floor
        # np.divide does not test for zero, and so runs on vector instructions too.
        gain = np.float64(np.divide(slope * slope, curve)).view(np.int64)
        largest = max(largest, (gain & number) | np.int64(k))
    return largest & index, largest & number


@jit
def _set_slopes(k, beta, lower, upper, epsilon, up, down):
    """Write how moving variable k up or down changes the terms outside the quadratic."""
    up[k] = -np.inf
    down[k] = np.inf
    if beta[k] < upper[k]:
        up[k] = -epsilon if beta[k] >= 0.0 else epsilon
    if beta[k] > lower[k]:
        down[k] = -epsilon if beta[k] > 0.0 else epsilon


@jit
def solve_block(K, rest, beta, lower, upper, ends, epsilon, tol, max_steps):
    """Minimise over a block by pair steps, in place in ``rest`` and ``beta``.

    The problem is ``beta' K beta / 2 - linear' beta + epsilon |beta|_1`` with beta in [lower,
    upper] and constant sums over groups; group g is the variables ends[g]..ends[g + 1], and
    ``rest = linear - K beta``. Each step moves two variables of one group in opposite directions:
    i with the steepest ascent, j with the largest gain of second order. Returns the steps made
    and the largest violation left (negative if no pair can move).
    """
    n = K.shape[0]
    diagonal = np.empty(n)
    up, down = np.empty(n), np.empty(n)
    largest = 0.0
    for k in range(n):
        diagonal[k] = K[k, k]
        largest = abs(diagonal[k]) if abs(diagonal[k]) > largest else largest
        _set_slopes(k, beta, lower, upper, epsilon, up, down)
    floor = _TAU * largest + 1e-300
    index = np.int64(1)
    while index < n:
        index = 2 * index + 1
    n_groups = len(ends) - 1
    first = np.empty(n_groups, dtype=np.int64)
    # Of the type of other indices: numba would compile the functions below for a constant 0 too.
    i, j, move = np.int64(0), np.int64(0), 0.0
    for step in range(max_steps + 1):
        most = np.int64(-1)
        for g in range(n_groups):
            s, e = ends[g], ends[g + 1]
            # Slices that start at zero: only for them does the compiler use vectors.
            first[g] = s + _sweep(rest[s:e], up[s:e], K[i, s:e], K[j, s:e], move, index)
        for g in range(n_groups):
            s, e = ends[g], ends[g + 1]
            a = first[g]
            if s == e or up[a] == -np.inf:
                continue
            best = rest[a] + up[a]
            b, gain = _partner(
                rest[s:e], down[s:e], K[a, s:e], diagonal[s:e], diagonal[a], best, floor, index
            )
            if gain > most:
                most = gain
                i, j = a, b + s
        slope = rest[i] + up[i] - rest[j] - down[j]
        # The pair with the largest gain need not be the one that violates most.
        if step == max_steps or not slope > tol:
            violation = _violation(rest, up, down, ends)
            if step == max_steps or not violation > tol:
                return step, violation
        curve = diagonal[i] + diagonal[j] - 2.0 * K[i, j]
        curve = max(curve, _TAU * max(abs(diagonal[i]), abs(diagonal[j])) + 1e-300)
        # With an absolute value in the objective, a step ends where a variable reaches zero.
        end_i = 0.0 if epsilon > 0.0 and beta[i] < 0.0 else upper[i]
        end_j = 0.0 if epsilon > 0.0 and beta[j] > 0.0 else lower[j]
        room_i, room_j = end_i - beta[i], beta[j] - end_j
        move = min(np.divide(slope, curve), room_i, room_j)
        # Variables that reach their end are set to it, not near it: then they are recognised.
        beta[i] = end_i if move >= room_i else beta[i] + move
        beta[j] = end_j if move >= room_j else beta[j] - move
        _set_slopes(i, beta, lower, upper, epsilon, up, down)
        _set_slopes(j, beta, lower, upper, epsilon, up, down)
    return max_steps, -np.inf
