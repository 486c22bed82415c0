"""Densities and sums of Gaussian mixtures over rows, in lanes.

Rows are worked on in lanes of one fixed number, the last ones filled up with zeros, so that a row
is rounded in the same way alone and among others. A whitener is the inverse of the lower Cholesky
factor of a covariance.
"""

import math

import numpy as np

from corollary.core._loops.gram import add_products
from corollary.core.jit import jit, part

LANES = 128
#: Coefficients of the exponential series behind the first, 1 / 11!.
FACTORIALS = tuple(1.0 / math.factorial(n) for n in range(10, -1, -1))


@part
def load_lanes(X, start, lanes):
    """Copy rows from a place on into lanes, and return how many there are."""
    n, d = X.shape
    count = min(LANES, n - start)
    for i in range(d):
        for b in range(count):
            lanes[i, b] = X[start + b, i]
        for b in range(count, LANES):
            lanes[i, b] = 0.0
    return count


@part
def deviate(lanes, mean, deviations):
    """Subtract a mean from all lanes."""
    for i in range(len(mean)):
        for b in range(LANES):
            deviations[i, b] = lanes[i, b] - mean[i]


@part
def squared_lengths(deviations, whitener, line, lengths):
    """Compute the squared length of whitened deviations."""
    d = len(whitener)
    for b in range(LANES):
        lengths[b] = 0.0
    for j in range(d):
        for b in range(LANES):
            line[b] = whitener[j, j] * deviations[j, b]
        i = 0
        while i + 4 <= j:  # four at once: a line is loaded and stored less often
            w0, w1, w2, w3 = (
                whitener[j, i],
                whitener[j, i + 1],
                whitener[j, i + 2],
                whitener[j, i + 3],
            )
            for b in range(LANES):
                line[b] += (
                    w0 * deviations[i, b]
                    + w1 * deviations[i + 1, b]
                    + w2 * deviations[i + 2, b]
                    + w3 * deviations[i + 3, b]
                )
            i += 4
        while i < j:
            w0 = whitener[j, i]
            for b in range(LANES):
                line[b] += w0 * deviations[i, b]
            i += 1
        for b in range(LANES):
            lengths[b] += line[b] * line[b]


@part
def scaled_lengths(deviations, scales, lengths):
    """Compute the squared length of deviations that are scaled column by column."""
    for b in range(LANES):
        lengths[b] = 0.0
    for i in range(len(scales)):
        s = scales[i] * scales[i]
        for b in range(LANES):
            lengths[b] += s * deviations[i, b] * deviations[i, b]


@part
def log_joint_lanes(lanes, law, deviations, line, joint):
    """Compute log densities of lanes and components."""
    log_factors, means, whiteners, scales = law
    for k in range(len(means)):
        deviate(lanes, means[k], deviations)
        if len(whiteners):
            squared_lengths(deviations, whiteners[k], line, joint[k])
        else:
            scaled_lengths(deviations, scales[k], joint[k])
        for b in range(LANES):
            joint[k, b] = log_factors[k] - 0.5 * joint[k, b]


@part
def exponentials(line, bits, powers):
    """Replace numbers of at most zero by their exponentials, to the last two bits.

    exp(x) = 2**n exp(r) with |r| <= log(2) / 2: a polynomial, and n as the bits of a number
    (``powers`` is ``bits`` seen as numbers). The compiler calls a function for ``np.exp`` of every
    lane; this it does for all lanes at once.
    """
    for b in range(LANES):
        n = np.floor(line[b] * 1.4426950408889634 + 0.5)
        n = max(n, -1022.0)
        bits[b] = (np.int64(n) + 1023) << 52
        r = (line[b] - n * 0.693147180369123816490) - n * 1.90821492927058770002e-10
        r = max(r, -1.0)  # of what is no longer a number above zero
        p = 1.0 / 39916800.0
        for t in range(len(FACTORIALS)):
            p = p * r + FACTORIALS[t]
        line[b] = p
    for b in range(LANES):
        line[b] = line[b] * powers[b] if bits[b] > 1 << 52 else 0.0


@part
def responsibilities(joint, evidence, total, bits, powers):
    """Turn log densities into responsibilities, and return the evidence of every lane."""
    for b in range(LANES):
        evidence[b] = joint[0, b]
        total[b] = 0.0
    for k in range(1, len(joint)):
        for b in range(LANES):
            evidence[b] = max(evidence[b], joint[k, b])
    for k in range(len(joint)):
        for b in range(LANES):
            joint[k, b] -= evidence[b]
        exponentials(joint[k], bits, powers)
        for b in range(LANES):
            total[b] += joint[k, b]
    for k in range(len(joint)):
        for b in range(LANES):
            joint[k, b] /= total[b]
    for b in range(LANES):
        evidence[b] += np.log(total[b])


@part
def add_moments(deviations, r, weighted, first, second):
    """Add weighted first and second moments of deviations; the lower triangle of the second."""
    for i in range(len(first)):
        total = 0.0
        for b in range(LANES):
            weighted[i, b] = r[b] * deviations[i, b]
            total += weighted[i, b]
        first[i] += total
    add_products(weighted, deviations, second)


@part
def add_squares(deviations, r, first, second):
    """Add weighted first moments and squares of deviations."""
    for i in range(len(first)):
        total, squares = 0.0, 0.0
        for b in range(LANES):
            step = r[b] * deviations[i, b]
            total += step
            squares += step * deviations[i, b]
        first[i] += total
        second[i] += squares


@jit
def log_joint_loop(X, law, out):
    """Fill the log densities of rows and components."""
    k, d = law.means.shape
    lanes, deviations = np.empty((d, LANES)), np.empty((d, LANES))
    line, joint = np.empty(LANES), np.empty((k, LANES))
    for start in range(0, len(X), LANES):
        count = load_lanes(X, start, lanes)
        log_joint_lanes(lanes, law, deviations, line, joint)
        for j in range(k):
            for b in range(count):
                out[start + b, j] = joint[j, b]


@jit
def sums_loop(X, weight, law, counts, first, second, squares):
    """Add up what an M-step needs, and return the weighted log-likelihood.

    Moments are taken about the present means; ``second`` has no entries if covariances are
    diagonal, ``squares`` none if they are not.
    """
    k, d = law.means.shape
    means, full = law.means, len(second) > 0
    wide = d + -d % 4  # lines of zeros complete the last tile
    lanes, deviations = np.empty((d, LANES)), np.zeros((wide, LANES))
    line, joint, evidence = np.empty(LANES), np.empty((k, LANES)), np.empty(LANES)
    weighted, products = np.zeros((wide, LANES)), np.zeros((k if full else 0, wide, wide))
    bits = np.zeros(LANES, dtype=np.int64)
    powers = bits.view(np.float64)
    likelihood = 0.0
    for start in range(0, len(X), LANES):
        count = load_lanes(X, start, lanes)
        log_joint_lanes(lanes, law, deviations, line, joint)
        responsibilities(joint, evidence, line, bits, powers)
        for b in range(LANES):
            w = 0.0
            if b < count:
                w = 1.0 if weight is None else weight[start + b]
                if w > 0.0:
                    likelihood += w * evidence[b]
            for j in range(k):
                joint[j, b] *= w
        for j in range(k):
            total = 0.0
            for b in range(LANES):
                total += joint[j, b]
            counts[j] += total
            deviate(lanes, means[j], deviations)
            if full:
                add_moments(deviations, joint[j], weighted, first[j], products[j])
            else:
                add_squares(deviations, joint[j], first[j], squares[j])
    for j in range(len(products)):
        second[j] += products[j, :d, :d]
    return likelihood
