"""Compiled distances between rows and centres.

:func:`square` alone decides which centre is nearest, so that a row gets the same label from every
algorithm, in every batch and on every machine of a cluster.
"""

from corollary.core.jit import jit, part


@part(strict=True)
def square(X, i, C, j):
    """Return the squared distance between row i of X and row j of C, summed in a fixed order."""
    d = X.shape[1]
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    whole = d - d % 4
    for c in range(0, whole, 4):
        g0 = X[i, c] - C[j, c]
        g1 = X[i, c + 1] - C[j, c + 1]
        g2 = X[i, c + 2] - C[j, c + 2]
        g3 = X[i, c + 3] - C[j, c + 3]
        s0 += g0 * g0
        s1 += g1 * g1
        s2 += g2 * g2
        s3 += g3 * g3
    for c in range(whole, d):
        gap = X[i, c] - C[j, c]
        s0 += gap * gap
    return (s0 + s1) + (s2 + s3)


@part
def nearest_of(X, i, C):
    """Return the centre nearest to row i; of equally near ones the first."""
    best, label = square(X, i, C, 0), 0
    for j in range(1, C.shape[0]):
        value = square(X, i, C, j)
        if value < best:
            best, label = value, j
    return label


@jit(counted=False)
def all_squares(X, C, out):
    """Write the squared distance between every row and every centre."""
    for i in range(X.shape[0]):
        for j in range(C.shape[0]):
            out[i, j] = square(X, i, C, j)


@jit(counted=False)
def squares_to(X, C, labels, out):
    """Write the squared distance of every row from the centre of its label."""
    for i in range(X.shape[0]):
        out[i] = square(X, i, C, labels[i])
