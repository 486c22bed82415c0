"""Draws from a stream: an array of one unsigned 64-bit number, which each draw advances."""

import numpy as np

from corollary.core.jit import part

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
S11, S27, S30, S31 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31)
LAYER = np.uint64(127)
UNIT = 2.0**-53
TINY = 1e-300

# Ziggurat of 128 layers (Doornik, 2005): right edges, and the ratio of each to the one before.
TAIL, AREA = 3.442619855899, 9.91256303526217e-3


def _edges():
    x = np.zeros(129)
    x[0], x[1] = AREA * np.exp(0.5 * TAIL * TAIL), TAIL
    for i in range(2, 128):
        x[i] = np.sqrt(-2.0 * np.log(AREA / x[i - 1] + np.exp(-0.5 * x[i - 1] ** 2)))
    return x


EDGES = _edges()
RATIOS = EDGES[1:] / EDGES[:-1]


@part
def scramble(z):
    """Scramble 64 bits (SplitMix64)."""
    z = (z ^ (z >> S30)) * FIRST
    z = (z ^ (z >> S27)) * SECOND
    return z ^ (z >> S31)


@part
def unit(bits):
    """Turn 64 bits into a number in [0, 1)."""
    return float(bits >> S11) * UNIT


@part
def bits_at(key, index):
    """Return the 64 bits that a stream which starts at a key draws after ``index`` others."""
    return scramble(key + (np.uint64(index) + np.uint64(1)) * GOLDEN)


@part
def _bits(stream):
    """Advance a stream and return 64 bits."""
    stream[0] += GOLDEN
    return scramble(stream[0])


@part
def uniform(stream):
    """Draw from [0, 1)."""
    return unit(_bits(stream))


@part
def normal(stream):
    """Draw from the standard normal law."""
    while True:
        bits = _bits(stream)
        i = np.int64(bits & LAYER)
        u = 2.0 * unit(bits) - 1.0
        if abs(u) < RATIOS[i]:
            return u * EDGES[i]
        if i == 0:
            x = _normal_tail(stream)
            return x if u > 0.0 else -x
        x = u * EDGES[i]
        upper = np.exp(-0.5 * (EDGES[i] * EDGES[i] - x * x))
        lower = np.exp(-0.5 * (EDGES[i + 1] * EDGES[i + 1] - x * x))
        if lower + uniform(stream) * (upper - lower) < 1.0:
            return x


@part
def _normal_tail(stream):
    """Draw from the standard normal law beyond the last edge (Marsaglia, 1964)."""
    while True:
        x = -np.log(1.0 - uniform(stream)) / TAIL
        y = -np.log(1.0 - uniform(stream))
        if y + y > x * x:
            return TAIL + x


@part
def gamma_spread(shape):
    """Return the one number of :func:`gamma` that takes a root, to be kept by who draws often."""
    return 1.0 / np.sqrt(9.0 * (shape if shape >= 1.0 else shape + 1.0) - 3.0)


@part
def gamma(shape, spread, stream):
    """Draw from the gamma law of unit scale (Marsaglia and Tsang, 2000)."""
    boost = 1.0
    if shape < 1.0:
        boost = (1.0 - uniform(stream)) ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    while True:
        x = normal(stream)
        v = 1.0 + spread * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = 1.0 - uniform(stream)
        square = x * x
        if u < 1.0 - 0.0331 * square * square:
            return boost * d * v
        if np.log(u) < 0.5 * square + d * (1.0 - v + np.log(v)):
            return boost * d * v


@part
def beta(a, b, spread_a, spread_b, stream):
    """Draw from the beta law inside (0, 1); the spreads are those of the two gamma laws."""
    first = gamma(a, spread_a, stream)
    value = first / (first + gamma(b, spread_b, stream))
    return min(max(value, TINY), 1.0 - UNIT)
