"""Volumes of balls."""

from numbers import Real
from typing import Annotated, Any

import numpy as np
from scipy.special import gammaln

from corollary.core.compat import Interval
from corollary.core.estimator import ArrayLike, Count, checked


@checked
def log_ball_volume(
    dimension: ArrayLike | Count, p: Annotated[float, Interval(Real, 1, None, closed="both")] = 2.0
) -> Any:
    r"""Compute the logarithm of the volume of the unit ball of a norm.

    Parameters
    ----------
    dimension : int or array-like of int
        The dimension :math:`d`.
    p : float, default=2.0
        Order of the norm, from 1 to infinity.

    Returns
    -------
    log_volume : float or ndarray
        Log of :math:`(2\Gamma(1+1/p))^d/\Gamma(1+d/p)`: :math:`2^d/d!` for p = 1,
        :math:`\pi^{d/2}/\Gamma(1+d/2)` for p = 2, :math:`2^d` for p = infinity.

    See Also
    --------
    volume_covering : Covering numbers by volumes.

    Examples
    --------
    >>> from math import exp, pi
    >>> from corollary.theory import log_ball_volume
    >>> abs(exp(log_ball_volume(2)) - pi) < 1e-12
    True
    """
    d = np.asarray(dimension)
    if d.dtype.kind not in "iu" or (d.size and d.min() < 1):
        raise ValueError(
            "The 'dimension' parameter of log_ball_volume must be whole numbers, at least 1. Got "
            f"{dimension!r} instead."
        )
    share = 0.0 if np.isinf(p) else 1.0 / p
    logarithm = d * (np.log(2.0) + gammaln(1.0 + share)) - gammaln(1.0 + d * share)
    return float(logarithm) if np.ndim(logarithm) == 0 else logarithm
