"""Tests by permutation of rows, within strata if there are any."""

from typing import Any, NamedTuple

import numpy as np

# Statistics that differ by less than this share are ties, and ties count against rejection.
TIE = 1e-10


class PermutationTest(NamedTuple):
    """Outcome of a permutation test.

    Parameters
    ----------
    statistic : float
        The statistic of the data.
    p_value : float
        Share of assignments, that of the data included, with a statistic at least as large.
        Rejecting when it is at most delta is wrong with probability at most delta.
    null : ndarray of shape (n_permutations,)
        Statistics of the random assignments.
    """

    statistic: float
    p_value: float
    null: np.ndarray


def permutation_result(statistics: np.ndarray) -> PermutationTest:
    """Turn statistics into a p-value; the first is that of the data."""
    observed, null = float(statistics[0]), statistics[1:]
    # Equal assignments may differ by rounding: a tie must count, or the level is lost.
    slack = TIE * float(np.abs(statistics).max())
    count = 1 + int(np.count_nonzero(null >= observed - slack))
    return PermutationTest(observed, count / len(statistics), null)


def stratum_rows(who: str, strata: Any, n: int) -> list[np.ndarray]:
    """Return the rows of every stratum."""
    if strata is None:
        return [np.arange(n)]
    strata = np.asarray(strata)
    if strata.shape != (n,):
        raise ValueError(f"{who} needs one stratum for each of the {n} rows. Got {strata.shape}.")
    codes = np.unique(strata, return_inverse=True)[1]
    return [np.flatnonzero(codes == c) for c in range(codes.max(initial=-1) + 1)]
