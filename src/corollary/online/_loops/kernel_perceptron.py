"""The kernel perceptron's loop over a block of rounds."""

from corollary.core.jit import jit


@jit
def kernel_rounds(outer, inner, alpha, y, budget, scores, added):
    """Play a block of rounds whose kernel values are known.

    ``outer`` holds the kernel of the rounds with the support rows (oldest first, weights
    ``alpha``), ``inner`` that of the rounds with each other. Beyond ``budget`` support rows the
    oldest is dropped. Writes the scores and, to ``added``, the rounds that became support rows.
    Returns how many old and how many new support rows were dropped, how many were added, and the
    first round after which one was dropped.
    """
    n_old = alpha.shape[0]
    old, new, count, first = 0, 0, 0, y.shape[0]
    for t in range(y.shape[0]):
        score = 0.0
        for j in range(old, n_old):
            score += alpha[j] * outer[t, j]
        for k in range(new, count):
            score += y[added[k]] * inner[t, added[k]]
        scores[t] = score
        if y[t] * score <= 0.0:
            added[count] = t
            count += 1
            if n_old - old + count - new > budget:
                first = min(first, t)
                if old < n_old:
                    old += 1
                else:
                    new += 1
    return old, new, count, first
