r"""The curse of dimensionality in volumes: neighbourhoods that are not local.

The ball of radius r in :math:`R^d` has volume :math:`\pi^{d/2} r^d / \Gamma(d/2 + 1)`; half the
radius leaves the share :math:`2^{-d}` of the volume, so that rows needed to have one nearby grow
exponentially with the dimension.
"""

from typing import Any

import numpy as np

from corollary.core.estimator import ArrayLike, Count, NonNegative, Positive, Probability, checked


@checked
def ball_volume(dimension: ArrayLike | Count, radius: NonNegative = 1.0) -> Any:
    r"""Compute the volume of a ball, :math:`\pi^{d/2} r^d / \Gamma(d/2 + 1)`.

    Parameters
    ----------
    dimension : int or array-like of int
        The dimension :math:`d`.
    radius : float, default=1.0
        The radius :math:`r`.

    Returns
    -------
    volume : float or ndarray
        The volume; that of the unit ball is largest for d = 5 and tends to zero.

    Examples
    --------
    >>> from corollary.neighbors import ball_volume
    >>> [round(ball_volume(d), 4) for d in (1, 2, 3, 20)]
    [2.0, 3.1416, 4.1888, 0.0258]
    """
    d = _dimensions("ball_volume", dimension)
    if radius == 0:
        return _plain(np.zeros(d.shape))
    from corollary.theory import log_ball_volume

    return _plain(np.exp(log_ball_volume(dimension) + d * np.log(radius)))


@checked
def ball_volume_ratio(dimension: ArrayLike | Count, ratio: Positive = 0.5) -> Any:
    r"""Compute the volume of a ball over that of another, :math:`(r / R)^d`.

    Parameters
    ----------
    dimension : int or array-like of int
        The dimension :math:`d`.
    ratio : float, default=0.5
        Radius over radius; one half gives the ball of half the radius over the whole.

    Returns
    -------
    share : float or ndarray
        The share of the volume, which is also the chance that a point drawn uniformly from the
        larger ball lies in the smaller.

    Examples
    --------
    >>> from corollary.neighbors import ball_volume_ratio
    >>> ball_volume_ratio(10)
    0.0009765625
    """
    return _plain(np.power(float(ratio), _dimensions("ball_volume_ratio", dimension)))


@checked
def rows_to_cover(dimension: ArrayLike | Count, radius: Probability = 0.5) -> Any:
    r"""Bound from below the rows needed so that each point of the unit ball has one nearby.

    Balls of radius :math:`r` around the rows must cover the unit ball, so their volumes must add
    up to its volume: at least :math:`r^{-d}` rows.

    Parameters
    ----------
    dimension : int or array-like of int
        The dimension :math:`d`.
    radius : float, default=0.5
        How near a row must be, strictly between 0 and 1.

    Returns
    -------
    rows : float or ndarray
        The least number of rows, rounded up; infinite beyond double precision.

    Examples
    --------
    >>> from corollary.neighbors import rows_to_cover
    >>> rows_to_cover([1, 2, 10, 20])
    array([2.000000e+00, 4.000000e+00, 1.024000e+03, 1.048576e+06])
    """
    d = _dimensions("rows_to_cover", dimension)
    with np.errstate(over="ignore"):
        return _plain(np.ceil(np.power(1.0 / radius, d) * (1 - 1e-12)))


def _dimensions(who: str, dimension: Any) -> np.ndarray:
    d = np.asarray(dimension)
    if d.dtype.kind not in "iu" or (d.size and d.min() < 1):
        raise ValueError(
            f"The 'dimension' parameter of {who} must be whole numbers, at least 1. Got "
            f"{dimension!r} instead."
        )
    return d.astype(float)


def _plain(values: np.ndarray) -> Any:
    return float(values) if np.ndim(values) == 0 else values
