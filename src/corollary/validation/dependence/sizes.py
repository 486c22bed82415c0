"""Whether units are more equal in size than independent draws of rows can make them."""

from typing import Any

import numpy as np


def even_sizes_p_value(sizes: Any) -> float:
    r"""Test whether rows were collected unit by unit, by the sizes of the units.

    If rows are drawn independently, with whatever probabilities of the values, numbers of rows are
    Poisson numbers that are not zero, since values without rows are not seen. Of all such laws with
    a given mean the one with equal probabilities varies least: with rate :math:`\lambda` and mean
    :math:`\mu = \lambda / (1 - e^{-\lambda})` its variance is :math:`\mu (1 + \lambda - \mu)`. A
    sum of squared deviations far below that, by the chi-square law, shows a design: six visits
    of each patient, every month of each shop.

    Parameters
    ----------
    sizes : array-like of int of shape (n_units,)
        Rows of each unit, at least 1.

    Returns
    -------
    p_value : float
        Chance of sizes at least so even, at most; 1 for fewer than 10 units or units of one row.

    Examples
    --------
    >>> from corollary.validation import even_sizes_p_value
    >>> even_sizes_p_value([6] * 40) < 1e-9
    True
    >>> even_sizes_p_value([3, 9, 5, 7, 4, 8, 6, 2, 10, 6, 7, 5]) > 0.05
    True
    """
    from scipy.special import gammainc

    sizes = np.asarray(sizes, dtype=np.float64)
    if sizes.ndim != 1 or (sizes < 1).any():
        raise ValueError(
            "even_sizes_p_value needs the number of rows of each unit, at least 1 each. "
            f"Got {sizes!r}. Leave out units without rows."
        )
    if len(sizes) < 10 or sizes.max() < 2:
        return 1.0
    mean = sizes.mean()
    variance = mean * (1 + _truncated_rate(mean) - mean)
    deviation = ((sizes - mean) ** 2).sum() / variance
    return float(gammainc((len(sizes) - 1) / 2, deviation / 2))


def _truncated_rate(mean: float) -> float:
    """Find the rate of the Poisson law whose mean is this if zeros are left out."""
    rate = mean
    for _ in range(200):  # a contraction, for the slope of the right-hand side is below 1
        rate = mean * -np.expm1(-rate)
    return float(rate)
