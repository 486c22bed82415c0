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


def all_labellings(rng, d=200):
    """Every labelling of d points is allowed: the unseen share cannot be learnt."""
    n = d + 1
    unseen = 1 - len(np.unique(rng.integers(0, d, n))) / d
    return vc_bound(n_samples=n, dimension=d, delta=DELTA), unseen


def lost_logarithm(rng, d=200):
    n = d + 1
    wrong = np.sqrt(2 * d * np.log(n / d) / n) + np.sqrt(np.log(1 / DELTA) / (2 * n))
    return float(wrong), all_labellings(rng, d)[1]


guarantee("theory.vc-bound", "thresholds on one row", delta=DELTA)(lambda rng: thresholds(rng, 1))
guarantee("theory.vc-bound", "thresholds on 60 coin labels", delta=DELTA)(thresholds)
guarantee(
    "theory.vc-bound",
    "all labellings of 200 points, 201 rows",
    delta=DELTA,
    faults={"log(n/d) for log(en/d)": lost_logarithm},
)(all_labellings)
