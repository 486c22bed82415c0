"""The distribution function of a sample, with a band that holds everywhere at once."""

import math
from typing import Any, Literal, NamedTuple

import numpy as np

from corollary.core.estimator import Count, Positive, Probability, checked


@checked
def dkw_bound(
    *,
    n_samples: Count | None = None,
    delta: Probability | None = None,
    radius: Positive | None = None,
    sides: Literal[1, 2] = 2,
) -> float:
    r"""Solve the Dvoretzky-Kiefer-Wolfowitz inequality for its radius, probability or size.

    .. math:: P\{\sup_\tau |F_n(\tau) - F(\tau)| > r\} \le 2 e^{-2nr^2}

    Parameters
    ----------
    n_samples : int or None, default=None
        Number of independent observations, n.
    delta : float or None, default=None
        Probability of failure.
    radius : float or None, default=None
        Half width of the band, r.
    sides : {1, 2}, default=2
        2 for a band; 1 for a limit on one side, with 1 in place of the factor 2, which holds for
        delta up to one half.

    Returns
    -------
    answer : float
        The quantity that was left out; a sample size is a whole number.

    Raises
    ------
    ValueError
        If not exactly one quantity is left out, or a one-sided limit is asked for at a
        probability above one half.

    References
    ----------
    Massart, P. (1990). The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality. Annals of
    Probability 18.

    Examples
    --------
    >>> from corollary.theory import dkw_bound
    >>> round(dkw_bound(n_samples=1000, delta=0.05), 4)
    0.0429
    """
    if sum(value is not None for value in (n_samples, delta, radius)) != 2:
        raise ValueError("dkw_bound needs exactly two of 'n_samples', 'delta' and 'radius'.")
    if n_samples is not None and radius is not None:
        delta = sides * math.exp(-2 * n_samples * radius**2)
        # One-sided, the inequality is known only where its right side is at most one half.
        return min(1.0, delta) if sides == 2 or delta <= 0.5 else 1.0
    assert delta is not None
    if sides == 1 and delta > 0.5:
        raise ValueError(
            f"A one-sided dkw_bound holds for delta up to 0.5. Got delta={delta}: use sides=2."
        )
    if n_samples is not None:
        return math.sqrt(math.log(sides / delta) / (2 * n_samples))
    assert radius is not None
    return float(max(1, math.ceil(math.log(sides / delta) / (2 * radius**2) - 1e-9)))


class CDFBand(NamedTuple):
    """A distribution function with a band.

    Parameters
    ----------
    points : ndarray of shape (n,)
        Observations in order.
    value : ndarray of shape (n,)
        Share of observations at or below each point.
    lower : ndarray of shape (n,)
        Lower limit of the true distribution function at each point, and up to the next one.
    upper : ndarray of shape (n,)
        Upper limit there.
    """

    points: np.ndarray
    value: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def cdf_band(sample: Any, delta: float) -> CDFBand:
    """Compute a confidence band for the distribution function of a sample.

    Parameters
    ----------
    sample : array-like of shape (n,)
        Independent observations of one law.
    delta : float
        Probability that the true function leaves the band anywhere.

    Returns
    -------
    band : CDFBand
        The empirical function and its limits; before the first point the true function lies
        between 0 and the radius.

    Notes
    -----
    Guarantee: with probability at least 1 - delta the true function lies inside everywhere at
    once, whatever the law. Checked by ``tests/guarantees/concentration.py``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import cdf_band
    >>> band = cdf_band(np.arange(100), delta=0.05)
    >>> round(float(band.upper[49]), 4)
    0.6358
    """
    points = np.sort(np.asarray(sample, dtype=float))
    if points.ndim != 1 or not len(points) or np.isnan(points).any():
        raise ValueError(
            "The 'sample' parameter of cdf_band must hold one or more numbers, none of them NaN. "
            f"Got shape {points.shape}."
        )
    value = np.searchsorted(points, points, side="right") / len(points)
    radius = dkw_bound(n_samples=len(points), delta=delta)
    return CDFBand(points, value, np.maximum(value - radius, 0), np.minimum(value + radius, 1))
