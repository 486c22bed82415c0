"""Whether what follows each other is alike, and stretches of neighbouring moments."""

import math
from typing import Any

import numpy as np

from corollary.core.estimator import Count, checked
from corollary.validation.dependence._hashes import number_units


def serial_correlation(values: Any) -> tuple[float, float]:
    """Correlate the ranks of successive values.

    Parameters
    ----------
    values : array-like of shape (n,)
        Numbers in their order; missing ones are left out.

    Returns
    -------
    correlation : float
        Correlation of the rank of each value with that of the next; 0 for constant ones.
    p_value : float
        Two-sided, for values drawn alike: then the correlation times the root of n is nearly
        standard normal.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.validation import serial_correlation
    >>> noise = np.random.default_rng(0).normal(size=300)
    >>> serial_correlation(noise)[1] > 0.05, serial_correlation(np.cumsum(noise))[1] < 1e-9
    (True, True)
    """
    from scipy.stats import rankdata

    values = np.asarray(values, dtype=np.float64)
    ranks = rankdata(values[~np.isnan(values)])
    if len(ranks) < 3 or np.ptp(ranks[1:]) == 0 or np.ptp(ranks[:-1]) == 0:
        return 0.0, 1.0
    correlation = float(np.corrcoef(ranks[1:], ranks[:-1])[0, 1])
    return correlation, math.erfc(abs(correlation) * math.sqrt(len(ranks) / 2))


@checked
def stretches(moments: Any, *, most: Count = 48) -> np.ndarray:
    """Cut the rows into stretches of neighbouring moments.

    Parameters
    ----------
    moments : array-like of shape (n_rows,)
        When each row was; equal moments fall into one stretch, missing ones into one of their own.
    most : int, default=48
        Stretches at most; each has about 12 rows at least.

    Returns
    -------
    codes : ndarray of int of shape (n_rows,)
        Stretch of each row, from 0 by first appearance.

    Examples
    --------
    >>> from corollary.validation import stretches
    >>> stretches([3.0, 1.0, 2.0, 4.0] * 9, most=2)[:4]
    array([0, 1, 1, 0])
    """
    from scipy.stats import rankdata

    moments = np.asarray(moments, dtype=np.float64)
    present = ~np.isnan(moments)
    codes = np.full(len(moments), -1)
    n = int(present.sum())
    share = (rankdata(moments[present], "min") - 1) / max(n, 1)
    codes[present] = (share * max(1, min(most, n // 12))).astype(int)
    return number_units(codes)
