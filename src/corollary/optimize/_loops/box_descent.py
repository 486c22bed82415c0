"""Coordinate descent for the dual of kernel risks with piecewise linear losses."""

from corollary.core.jit import jit


@jit
def sweep(K, b, epsilon, low, high, a, u):
    """Minimise ``a'Ka / 2 - b'a + epsilon |a|_1`` over the box, one coordinate after the other.

    K is C-contiguous double precision of shape (n, n), symmetric, no NaN; ``u = K a``. Updates a
    and u in place and returns the largest change of an entry of a.
    """
    largest = 0.0
    n = K.shape[0]
    for i in range(n):
        slope = b[i] - u[i]
        curvature = K[i, i]
        if curvature > 0.0:
            target = a[i] * curvature + slope
            if target > epsilon:
                new = (target - epsilon) / curvature
            elif target < -epsilon:
                new = (target + epsilon) / curvature
            else:
                new = 0.0
        elif slope > epsilon:  # an input without features: only the linear part counts
            new = high[i]
        elif slope < -epsilon:
            new = low[i]
        else:
            new = 0.0
        new = min(max(new, low[i]), high[i])
        change = new - a[i]
        if change != 0.0:
            a[i] = new
            for j in range(n):
                u[j] += change * K[i, j]
            largest = max(largest, abs(change))
    return largest
