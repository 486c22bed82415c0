"""Coordinate descent on the quadratic model of proximal Newton."""

from corollary.core.jit import jit


@jit
def descend(hessian, gradient, x, start, l1, tol, max_sweeps):
    """Minimise g'(u - x) + (u - x)'H(u - x)/2 + sum_j l1_j |u_j| over u by coordinates.

    All arrays are contiguous double precision without NaN; H is symmetric. Starts at u = start.
    A sweep over all coordinates is followed by sweeps over the non-zero ones until these stand
    still. Stops when a full sweep moves no partial derivative by more than ``tol``.
    """
    n = len(x)
    u = start.copy()
    slope = gradient.copy()  # gradient of the smooth part of the model at u
    for j in range(n):
        away = u[j] - x[j]
        if away != 0.0:
            for i in range(n):
                slope[i] += hessian[j, i] * away
    full = True
    for _ in range(max_sweeps):
        largest = 0.0
        for j in range(n):
            curvature = hessian[j, j]
            if curvature <= 0.0 or (not full and u[j] == 0.0):
                continue
            old = u[j]
            centre = old - slope[j] / curvature
            threshold = l1[j] / curvature
            if centre > threshold:
                new = centre - threshold
            elif centre < -threshold:
                new = centre + threshold
            else:
                new = 0.0
            change = new - old
            if change != 0.0:
                u[j] = new
                for i in range(n):
                    slope[i] += hessian[j, i] * change
                largest = max(largest, abs(change) * curvature)
        if largest <= tol:
            if full:
                break
            full = True
        else:
            full = False
    return u
