"""Compiled capitals of bets on many means at once."""

import numpy as np

from corollary.core.jit import jit

# Beyond any threshold the size of a capital does not matter; that it is finite does.
LARGEST = 1e250


@jit
def lower_limits(x, bets, shares, means, caps, threshold, running, limits):
    """Write the largest mean that bets on larger observations refute, after every round.

    ``bets`` has a row per strategy and ``shares`` what each starts with; ``means`` ascends in
    (0, 1] and ``caps`` bounds the bets against each. A capital falls as the mean it bets against
    grows, so that the refuted means are the first ones. With ``running`` a mean stays refuted;
    without, only while the capital stays above the threshold.
    """
    n_strategies, n_means = shares.shape[0], means.shape[0]
    capital = np.empty((n_strategies, n_means))
    total = np.empty(n_means)
    for k in range(n_strategies):
        capital[k] = shares[k]
    refuted = 0
    for t in range(x.shape[0]):
        value = x[t]
        start = refuted if running else 0
        total[start:] = 0.0
        for k in range(n_strategies):
            bet = bets[k, t]
            for j in range(start, n_means):
                amount = bet if bet < caps[j] else caps[j]
                after = capital[k, j] * (1.0 + amount * (value - means[j]))
                after = after if after < LARGEST else LARGEST
                capital[k, j] = after
                total[j] += after
        if not running:
            refuted = 0
        while refuted < n_means and total[refuted] >= threshold:
            refuted += 1
        limits[t] = means[refuted - 1] if refuted else 0.0
