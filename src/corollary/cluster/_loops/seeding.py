"""Compiled passes of k-means++ over a block of rows.

Most rows need no distance: if a candidate is twice as far from the centre of a row as the row is,
the candidate is not nearer (the triangle inequality).
"""

from corollary.cluster._loops.distances import square
from corollary.core.jit import jit


@jit(counted=False)
def potentials(X, weight, near, owner, centres, gaps, out):
    """Add, for each candidate, the weighted squared distances that would be left with it.

    ``gaps[t, j]`` is the squared distance between candidate t and centre j.
    """
    for i in range(X.shape[0]):
        w = 1.0 if weight is None else weight[i]
        for t in range(centres.shape[0]):
            left = near[i]
            if gaps[t, owner[i]] < 4.0 * left:
                left = min(left, square(X, i, centres, t))
            out[t] += w * left


@jit(counted=False)
def approach(X, centres, j, gaps, near, owner):
    """Let rows know of the new centre j, which is ``gaps[i]`` from centre i, squared."""
    for i in range(X.shape[0]):
        if gaps[owner[i]] < 4.0 * near[i]:
            value = square(X, i, centres, j)
            if value < near[i]:
                near[i], owner[i] = value, j
