"""Loops over rounds of expert advice."""

import numpy as np

from corollary.core.jit import jit

# A power of two: scaling weights by it changes no digit of them.
SMALL, LARGE = 2.0**-400, 2.0**400


@jit
def majority_rounds(advice, y, beta, weights, wrong, predictions, best):
    """Play weighted majority; update weights and the experts' mistake counts in place.

    ``advice`` and ``y`` hold 0.0 and 1.0. Writes the prediction of every round (a tie is 1) and
    the mistakes of the best expert after it.
    """
    n = advice.shape[1]
    for t in range(advice.shape[0]):
        for_one, for_zero = 0.0, 0.0
        for i in range(n):
            if advice[t, i] > 0.5:
                for_one += weights[i]
            else:
                for_zero += weights[i]
        predictions[t] = 1.0 if for_one >= for_zero else 0.0
        fewest, largest = wrong[0] + 1, 0.0
        for i in range(n):
            if advice[t, i] != y[t]:
                wrong[i] += 1
                weights[i] *= beta
            fewest = min(fewest, wrong[i])
            largest = max(largest, weights[i])
        best[t] = fewest
        if 0.0 < largest < SMALL:
            for i in range(n):
                weights[i] *= LARGE


@jit
def exponential_rounds(losses, values, eta, decreasing, start, totals, out):
    """Play exponential weights; add every round's losses to ``totals`` in place.

    The weights of a round are proportional to exp(-eta * totals), or, if ``decreasing``, with
    eta / sqrt(t) in round t. Writes to the columns of ``out``: the mean of ``values``, of
    the losses and of the squared losses under the weights, and the smallest total afterwards.
    Losses may be infinite: such an expert has weight zero from then on, and all experts have the
    same if none is left.
    """
    m, n = losses.shape
    weights = np.empty(n)
    for t in range(m):
        least = totals.min()
        rate = eta / np.sqrt(start + t + 1.0) if decreasing else eta
        norm = 0.0
        for i in range(n):
            if totals[i] == least:
                weights[i] = 1.0
            else:
                weights[i] = np.exp(-rate * (totals[i] - least))
            norm += weights[i]
        mean, loss, square = 0.0, 0.0, 0.0
        for i in range(n):
            share = weights[i] / norm
            if share > 0.0:
                mean += share * values[t, i]
                loss += share * losses[t, i]
                square += share * losses[t, i] * losses[t, i]
        for i in range(n):
            totals[i] += losses[t, i]
        out[t, 0], out[t, 1], out[t, 2], out[t, 3] = mean, loss, square, totals.min()
