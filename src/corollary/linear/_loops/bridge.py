"""Compiled coordinate descent for least squares with a penalty on powers of coefficients."""

import numpy as np

from corollary.core.jit import jit


@jit
def scalar_minimiser(curvature, z, penalty, q):
    """Minimise curvature u^2 - 2 z u + penalty |u|^q over u, for q in (0, inf), q != 1.

    Doubles without NaN, curvature > 0. By symmetry u has the sign of z, so u >= 0 and z >= 0
    below. For q > 1 the derivative increases and has one root. For q < 1 it falls, then rises:
    the minimum is zero or the larger root, whichever is lower.
    """
    if z == 0.0:
        return 0.0
    sign = 1.0 if z > 0.0 else -1.0
    z = abs(z)
    if penalty == 0.0:
        return sign * z / curvature
    low, high = 0.0, z / curvature
    if q < 1.0:
        low = (penalty * q * (1.0 - q) / (2.0 * curvature)) ** (1.0 / (2.0 - q))
        if low >= high or 2.0 * (curvature * low - z) + penalty * q * low ** (q - 1.0) >= 0.0:
            return 0.0
    u = high
    for _ in range(200):
        slope = 2.0 * (curvature * u - z) + penalty * q * u ** (q - 1.0)
        if slope > 0.0:
            high = u
        else:
            low = u
        bend = 2.0 * curvature + penalty * q * (q - 1.0) * u ** (q - 2.0)
        new = u - slope / bend
        if not (low < new < high):
            new = 0.5 * (low + high)
        if abs(new - u) <= 4e-16 * u or new == u:
            break
        u = new
    if q < 1.0 and curvature * u * u - 2.0 * z * u + penalty * u**q >= 0.0:
        return 0.0
    return sign * u


@jit
def bridge_epochs(gram, correlation, w, penalty, q, tol, max_epochs):
    """Run epochs until none moves the fit by more than ``tol``; return how many were run.

    ``gram`` is X'X and ``correlation`` X'(y - X w), updated in place with w.
    """
    p = len(w)
    for epoch in range(max_epochs):
        largest = 0.0
        for j in range(p):
            if gram[j, j] <= 0.0:
                continue
            old = w[j]
            new = scalar_minimiser(gram[j, j], correlation[j] + gram[j, j] * old, penalty, q)
            change = new - old
            if change != 0.0:
                w[j] = new
                for i in range(p):
                    correlation[i] -= change * gram[j, i]
                largest = max(largest, abs(change) * np.sqrt(gram[j, j]))
        if largest <= tol:
            return epoch + 1
    return max_epochs
