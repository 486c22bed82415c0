"""Which points are safe, might be, and might be best."""

from typing import NamedTuple

import numpy as np


class SafeSets(NamedTuple):
    """What bands say about points.

    Parameters
    ----------
    safe : ndarray of shape (m,), dtype=bool
        Pessimistic safe set: lower bounds of all constraints reach their thresholds.
    optimistic : ndarray of shape (m,), dtype=bool
        Optimistic safe set: upper bounds do.
    maximisers : ndarray of shape (m,), dtype=bool
        Points of the optimistic set whose upper bound of the objective reaches the best lower
        bound among safe points.
    lower : ndarray of shape (n_functions, m)
        Lower bounds, the objective first.
    upper : ndarray of shape (n_functions, m)
        Upper bounds.

    Examples
    --------
    >>> from corollary.active import Prior, SafeITL
    >>> from corollary.kernels import RBF
    >>> optimiser = SafeITL([[0.0], [0.1], [9.0]], Prior(RBF(), 1e-4), safe_start=[0])
    >>> optimiser.tell([0], [2.0])
    >>> optimiser.sets().safe, optimiser.sets().optimistic
    (array([ True,  True, False]), array([ True,  True,  True]))
    """

    safe: np.ndarray
    optimistic: np.ndarray
    maximisers: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
