"""Loops of core."""

import numpy as np

from corollary.core import fingerprint


def check_row_hashes_of_both_ways_agree():
    X = np.array([[0.0, -0.0, 1.5], [-2.25, 1e300, 3.0]])
    by_numpy = fingerprint.hash_rows(X)
    fingerprint.COMPILED_SIZE = 1
    assert fingerprint.hash_rows(X).tolist() == by_numpy.tolist()
