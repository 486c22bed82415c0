"""Sums of kernels around rows that lie in blocks, each in a box.

Rows and queries are in units of the bandwidth, and all distances are squared. A block is left out
if the nearest point of its box shows that it cannot matter.
"""

import math
from typing import NamedTuple

import numpy as np

from corollary.core.jit import jit, part
from corollary.density._codes import COSINE, EPANECHNIKOV, EXPONENTIAL, LINEAR

#: Rows of a block: five columns of them and their distances stay in a core's first-level cache.
BLOCK = 256
#: Exponents that the nearest row may have: its term, exp(-300), is far from underflow.
_REACH = 300.0
_LOG_2, _LOG2_E = math.log(2), 1 / math.log(2)


class Blocks(NamedTuple):
    """Rows by columns, with what is known of each block."""

    rows: np.ndarray  # (n_blocks, n_features, BLOCK); the last block is filled up, by weight zero
    weight: np.ndarray  # (n_blocks, BLOCK)
    rate: np.ndarray | None  # factor on squared distances from a row; None for one
    low: np.ndarray  # (n_blocks, n_features)
    high: np.ndarray
    mass: np.ndarray  # weight of a block
    slowest: np.ndarray  # least rate of a block


class Work(NamedTuple):
    """Room for one thread."""

    bounds: np.ndarray  # (n_blocks,)
    squares: np.ndarray  # (BLOCK,)
    bits: np.ndarray
    powers: np.ndarray  # the same memory, read as numbers
    factors: np.ndarray


@jit(counted=False)
def log_kernel_sums(queries, own, blocks, kernel, power, share, floor, work, out):
    """Write the logarithm of the weighted sum of kernels at each query, without its own row."""
    # Each block that is left out would add at most `share` of the sum, or at most `floor`.
    rows, weight, rate, low, high, mass, slowest = blocks
    bounds, squares, bits, powers, factors = work
    n_blocks = len(mass)
    for i in range(len(queries)):
        place = own[i]
        nearest = 0
        for b in range(n_blocks):
            bounds[b] = slowest[b] * _box_distance(queries, i, low, high, b, power)
            if kernel == EXPONENTIAL:
                bounds[b] = 2 * math.sqrt(bounds[b])
            if bounds[b] < bounds[nearest]:
                nearest = b
        total = 0.0
        if kernel > EXPONENTIAL:  # zero from distance 1 on
            for b in range(n_blocks):
                if bounds[b] < 1:
                    _distances(queries, i, rows, rate, b, kernel, power, place, squares)
                    total += _add_compact(squares, weight, b, kernel)
            out[i] = math.log(total) if total > 0 else -np.inf
            continue
        shift, least = bounds[nearest], np.inf
        for step in range(n_blocks + 1):
            b = nearest if step == 0 else step - 1
            if bounds[b] < least:
                _distances(queries, i, rows, rate, b, kernel, power, place, squares)
                for j in range(BLOCK):
                    if squares[j] < least and weight[b, j] > 0:
                        least = squares[j]
            if least - shift < 2 * _REACH:
                break
        else:  # boxes say too little: the nearest row itself is the reference
            shift = least
        if least == np.inf:
            out[i] = -np.inf
            continue
        spared = floor * math.exp(min(0.5 * shift, 700.0)) if floor > 0 else 0.0
        for step in range(n_blocks + 1):
            b = nearest if step == 0 else step - 1
            if step > 0:
                most = mass[b] * math.exp(min(0.5 * (shift - bounds[b]), 700.0))
                if b == nearest or most <= max(share * total, spared):
                    continue
            _distances(queries, i, rows, rate, b, kernel, power, place, squares)
            _split_exponentials(squares, shift, bits, factors)
            added = 0.0
            for j in range(BLOCK):
                added += weight[b, j] * factors[j] * powers[j]
            total += added
        out[i] = math.log(total) - 0.5 * shift


@part
def _box_distance(queries, i, low, high, b, power):
    """Return the squared distance from a query to a box."""
    total = 0.0
    for k in range(low.shape[1]):
        gap = max(low[b, k] - queries[i, k], queries[i, k] - high[b, k], 0.0)
        if power == 2:
            total += gap * gap
        else:
            total = max(total, gap) if power == np.inf else total + gap**power
    if power == 2:
        return total
    return total * total if power == np.inf else total ** (2 / power)


@part
def _distances(queries, i, rows, rate, b, kernel, power, place, out):
    """Write the squared distances from a query to the rows of a block, times their rates."""
    d = rows.shape[1]
    first = queries[i, 0]
    for j in range(BLOCK):
        gap = abs(rows[b, 0, j] - first)
        out[j] = gap * gap if power == 2 else gap if power == np.inf else gap**power
    k = 1
    while power == 2 and k < d - 1:  # two columns at a time: sums are stored half as often
        q, r = queries[i, k], queries[i, k + 1]
        for j in range(BLOCK):
            gap, other = rows[b, k, j] - q, rows[b, k + 1, j] - r
            out[j] += gap * gap + other * other
        k += 2
    while k < d:
        q = queries[i, k]
        for j in range(BLOCK):
            gap = abs(rows[b, k, j] - q)
            if power == 2:
                out[j] += gap * gap
            else:
                out[j] = max(out[j], gap) if power == np.inf else out[j] + gap**power
        k += 1
    if power != 2:
        root = 2.0 if power == np.inf else 2 / power
        for j in range(BLOCK):
            out[j] **= root
    if rate is not None:
        for j in range(BLOCK):
            out[j] *= rate[b, j]
    if kernel == EXPONENTIAL:  # what makes it Gaussian
        for j in range(BLOCK):
            out[j] = 2 * math.sqrt(out[j])
    if place // BLOCK == b:
        out[place % BLOCK] = np.inf


@part
def _split_exponentials(squares, shift, bits, factors):
    """Write exp((shift - square) / 2) as a factor near one and the bits of a power of two."""
    for j in range(BLOCK):
        t = max(0.5 * (shift - squares[j]), -700.0)
        k = np.floor(t * _LOG2_E + 0.5)  # a float, unlike that of `math`
        r = t - k * _LOG_2  # at most log(2) / 2, where Taylor's polynomial errs by below 7e-15
        p = 1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + r * (1 / 39916800)))
        p = 1 / 24 + r * (1 / 120 + r * (1 / 720 + r * (1 / 5040 + r * p)))
        factors[j] = 1 + r * (1 + r * (1 / 2 + r * (1 / 6 + r * p)))
        bits[j] = (np.int64(np.int32(k)) + 1023) << 52


@part
def _add_compact(squares, weight, b, kernel):
    """Return the sum of a kernel that is zero from distance 1 on."""
    total = 0.0
    for j in range(BLOCK):
        if squares[j] < 1:
            if kernel == EPANECHNIKOV:
                value = 1 - squares[j]
            elif kernel == LINEAR:
                value = 1 - math.sqrt(squares[j])
            elif kernel == COSINE:
                value = math.cos(0.5 * math.pi * math.sqrt(squares[j]))
            else:
                value = 1.0
            total += weight[b, j] * value
    return total
