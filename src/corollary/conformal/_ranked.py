"""Compiled running sums of probabilities in decreasing order."""

import numpy as np

from corollary.core.jit import jit

# Up to so many classes a row is ranked by comparing all pairs.
FEW = 48


@jit
def ranked_sums(probabilities, uniform, price, before, scores):
    """Write, for every class, the sum of the likelier ones and its score.

    The score adds the share ``uniform[row]`` of the class's own probability and the price of its
    place. Equal probabilities keep the order of the classes. Before the first there is minus
    infinity.
    """
    n_rows, n_classes = probabilities.shape
    order = np.zeros(n_classes, dtype=np.int64)
    places = np.empty(n_classes, dtype=np.int64)
    for row in range(n_rows):
        if n_classes <= FEW:
            # Counting has no branch to mispredict, and is twice as fast as insertion.
            for j in range(n_classes):
                value, ahead = probabilities[row, j], 0
                for i in range(j):
                    first = np.int64(probabilities[row, i] >= value)
                    places[i] += 1 - first
                    ahead += first
                places[j] = ahead
            for j in range(n_classes):
                order[places[j]] = j
        else:
            order[:] = np.argsort(-probabilities[row], kind="mergesort")
        total = 0.0
        for place in range(n_classes):
            j = order[place]
            before[row, j] = total
            scores[row, j] = total + uniform[row] * probabilities[row, j] + price[place]
            total += probabilities[row, j]
        before[row, order[0]] = -np.inf
