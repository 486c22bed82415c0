"""Compiled coordinate descent for least squares with an l1 and a squared l2 penalty.

Every kernel minimises, over the coordinates it is given,

    |y - X w|^2 / 2 + l1 |w|_1 + l2 |w|^2 / 2        (w >= 0 if ``positive``)

Arrays are contiguous double precision without NaN; w and the residual (or the correlations) are
updated in place. A coordinate that is zero and stays zero costs one comparison.
"""

from corollary.core.jit import jit


@jit
def _minimiser(z, curvature, l1, l2, positive):
    """Minimise curvature u^2 / 2 - z u + l1 |u| + l2 u^2 / 2 over u: a soft threshold."""
    if z > l1:
        return (z - l1) / (curvature + l2)
    if z < -l1 and not positive:
        return (z + l1) / (curvature + l2)
    return 0.0


@jit
def gram_epochs(gram, correlation, w, iterates, l1, l2, positive):
    """Run one epoch per row of ``iterates`` on the first ``len(w)`` columns of a Gram matrix.

    ``gram`` is a symmetric buffer at least as large as needed, ``correlation`` is X'(y - X w).
    An epoch costs one row of the Gram matrix per coordinate that moves, however many rows X has.
    Row e of ``iterates`` receives w after epoch e.
    """
    m = len(w)
    for epoch in range(iterates.shape[0]):
        for j in range(m):
            curvature = gram[j, j]
            if curvature == 0.0:
                continue
            old = w[j]
            new = _minimiser(correlation[j] + curvature * old, curvature, l1, l2, positive)
            change = new - old
            if change != 0.0:
                w[j] = new
                row = gram[j]
                for i in range(m):
                    correlation[i] -= change * row[i]
        for j in range(m):
            iterates[epoch, j] = w[j]


@jit
def dense_epochs(X, squares, features, residual, w, iterates, l1, l2, positive):
    """Run one epoch per row of ``iterates`` on chosen columns of a column-major matrix.

    ``squares`` holds the squared norms of all columns, ``w`` the coefficients of ``features``.
    """
    n = len(residual)
    for epoch in range(iterates.shape[0]):
        for k in range(len(features)):
            j = features[k]
            if squares[j] == 0.0:
                continue
            z = squares[j] * w[k]
            for i in range(n):
                z += X[i, j] * residual[i]
            change = _minimiser(z, squares[j], l1, l2, positive) - w[k]
            if change != 0.0:
                w[k] += change
                for i in range(n):
                    residual[i] -= change * X[i, j]
            iterates[epoch, k] = w[k]


@jit
def sparse_epochs(columns, centre, squares, features, residual, w, iterates, l1, l2, positive):
    """Run one epoch per row of ``iterates`` on chosen columns of a centred sparse matrix.

    ``columns`` is the tuple (data, indices, indptr) of the matrix before centring and ``centre``
    the pair (column means, the vector they multiply): column j is ``data_j - mean_j * vector``.
    The centring is never carried out: ``shift`` collects its effect on the residual.
    """
    data, indices, indptr = columns
    mean, vector = centre
    n = len(residual)
    length = 0.0  # |vector|^2
    total = 0.0  # residual'vector, without the shift
    for i in range(n):
        length += vector[i] * vector[i]
        total += residual[i] * vector[i]
    shift = 0.0  # the true residual is residual + shift * vector
    for epoch in range(iterates.shape[0]):
        for k in range(len(features)):
            j = features[k]
            if squares[j] == 0.0:
                continue
            z = squares[j] * w[k] - mean[j] * (total + shift * length)
            for p in range(indptr[j], indptr[j + 1]):
                i = indices[p]
                z += data[p] * (residual[i] + shift * vector[i])
            change = _minimiser(z, squares[j], l1, l2, positive) - w[k]
            if change != 0.0:
                w[k] += change
                for p in range(indptr[j], indptr[j + 1]):
                    i = indices[p]
                    residual[i] -= change * data[p]
                    total -= change * data[p] * vector[i]
                shift += change * mean[j]
            iterates[epoch, k] = w[k]
    for i in range(n):
        residual[i] += shift * vector[i]


@jit
def correlate(X, residual, features, out):
    """Write X_j'residual to ``out[j]`` for the chosen columns of a column-major matrix."""
    n = len(residual)
    for k in range(len(features)):
        j = features[k]
        total = 0.0
        for i in range(n):
            total += X[i, j] * residual[i]
        out[j] = total
