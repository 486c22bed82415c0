"""Hashes of UTF-8 strings."""

import numpy as np

from corollary.core.jit import jit


@jit
def hash_strings(data, offsets, salt, hashes):
    """Hash the strings ``data[offsets[i]:offsets[i + 1]]``: FNV-1a, then SplitMix64's finaliser.

    ``data`` holds bytes. Writes one 64-bit hash for each string; the same on every machine.
    """
    for i in range(offsets.shape[0] - 1):
        z = np.uint64(0xCBF29CE484222325) ^ salt
        for k in range(offsets[i], offsets[i + 1]):
            z = (z ^ np.uint64(data[k])) * np.uint64(0x100000001B3)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        hashes[i] = z ^ (z >> np.uint64(31))
