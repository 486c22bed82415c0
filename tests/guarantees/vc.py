"""Uniform bounds over infinite classes."""

import numpy as np

from corollary.theory import vc_bound
from tests.guarantees.registry import guarantee

DELTA = 0.1


def threshold_gap(rng, n):
    """Largest risk minus training risk over thresholds, labels are coins: risks are all 1/2."""
    signs = rng.choice([-1, 1], n)  # +1: the label of the k-th smallest point is +1
    # Training error of "positive above the k-th point": negatives above, positives below.
    mistakes = np.concatenate([[np.sum(signs == -1)], np.sum(signs == -1) + np.cumsum(signs)])
    return 0.5 - mistakes.min() / n


def thresholds(rng, n=60):
    return vc_bound(n_samples=n, dimension=1, delta=DELTA), threshold_gap(rng, n)


def all_labellings(rng, d=50, n=400):
    """Every labelling of d points is allowed and labels are coins: the best has the minorities."""
    points, heads = rng.integers(0, d, n), rng.integers(0, 2, n)
    ones, rows = np.bincount(points, heads, minlength=d), np.bincount(points, minlength=d)
    mistakes = np.minimum(ones, rows - ones).sum() / n
    return vc_bound(n_samples=n, dimension=d, delta=DELTA), 0.5 - float(mistakes)


def no_dimension(rng):
    return vc_bound(n_samples=400, dimension=0, delta=DELTA), all_labellings(rng)[1]


# With fewer rows the bound is 1, which no simulation can break.
guarantee("theory.vc-bound", "thresholds on 12 coin labels", delta=DELTA)(
    lambda rng: thresholds(rng, 12)
)
guarantee("theory.vc-bound", "thresholds on 60 coin labels", delta=DELTA)(thresholds)
guarantee(
    "theory.vc-bound",
    "all labellings of 50 points, 400 coin labels",
    delta=DELTA,
    faults={"dimension 0 for 50": no_dimension},
)(all_labellings)
