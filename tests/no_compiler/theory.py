"""Loops of theory: bets on means, suprema over signs, counts of labellings."""

import numpy as np


def check_labellings():
    from corollary.theory import growth_function, vc_dimension

    x = np.arange(5)
    intervals = [np.where((x >= a) & (x < b), 1, -1) for a in range(6) for b in range(a, 6)]
    assert vc_dimension(intervals) == 2
    thresholds = np.where(x < np.arange(6)[:, None], 1, -1)
    assert [growth_function(thresholds, n) for n in (1, 2, 3)] == [2, 3, 4]


def check_suprema():
    from corollary.theory import rademacher_complexity

    assert rademacher_complexity([[1, 1], [1, -1], [-1, 1], [-1, -1]]).value == 1.0
    # One function of two ones: the mean of |e1 + e2| / 2 over signs.
    assert rademacher_complexity([[1.0, 1.0], [-1.0, -1.0]]).value == 0.5


def check_bets():
    from corollary.theory import betting_sequence

    coins = np.tile([0.0, 0.0, 0.0, 1.0], 10)
    limits = betting_sequence(coins, delta=0.1)
    assert (np.diff(limits.lower) >= 0).all()
    assert limits.lower[-1] < 0.25 < limits.upper[-1] < 0.6
