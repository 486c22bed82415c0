r"""What a small relative entropy between Bernoulli laws says about their probabilities.

Chernoff's inequality in its sharpest form says that an observed share q of n independent
observations in [0, 1] and its expectation p satisfy :math:`\mathrm{kl}(q\|p) \le \log(1/\delta)/n`
on each side with probability at least 1 - delta; PAC-Bayes bounds have the same form. Solving for p
is a one-dimensional search with a certain answer: the functions here round outwards.
"""

import math
from typing import Annotated, Any

import numpy as np

from corollary.core.compat import Options
from corollary.core.estimator import Count, Fraction, Probability, checked


def kl_upper_inverse(q: Any, radius: Any) -> Any:
    r"""Return the largest p with :math:`\mathrm{kl}(q\|p) \le r`.

    Parameters
    ----------
    q : float or array-like
        Observed shares, in [0, 1].
    radius : float or array-like
        The bound r on the relative entropy, at least 0.

    Returns
    -------
    p : float or ndarray
        At least q; never below the exact root, and above it by at most 1e-12 or so.

    See Also
    --------
    kl_lower_inverse : The smallest p.

    Examples
    --------
    >>> from corollary.theory import kl_upper_inverse
    >>> round(kl_upper_inverse(0.0, 0.03), 6)
    0.029554
    """
    q, radius = _check("kl_upper_inverse", q, radius)
    gap = _largest_gap(q, 1 - q, radius)
    p = np.minimum(np.where(gap > 0, np.nextafter(q + gap, 2.0), q), 1.0)
    return float(p) if p.ndim == 0 else p


def kl_lower_inverse(q: Any, radius: Any) -> Any:
    r"""Return the smallest p with :math:`\mathrm{kl}(q\|p) \le r`.

    Parameters
    ----------
    q : float or array-like
        Observed shares, in [0, 1].
    radius : float or array-like
        The bound r on the relative entropy, at least 0.

    Returns
    -------
    p : float or ndarray
        At most q; never above the exact root.

    Examples
    --------
    >>> from corollary.theory import kl_lower_inverse
    >>> round(kl_lower_inverse(1.0, 0.03), 6)
    0.970446
    """
    q, radius = _check("kl_lower_inverse", q, radius)
    gap = _largest_gap(1 - q, q, radius)
    p = np.maximum(np.where(gap > 0, np.nextafter(q - gap, -1.0), q), 0.0)
    return float(p) if p.ndim == 0 else p


# More than the relative error of a logarithm, a quotient and a product together.
_ROUNDING = 8e-16


def _largest_gap(away: np.ndarray, towards: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """Search for the largest distance of p from q with so small a divergence, rounded up.

    ``away`` and ``towards`` are q and 1 - q if p is larger than q, and the other way round if it is
    smaller. Written in the gap, both logarithms keep their digits however close p and q are.
    """
    divisor, whole = np.maximum(away, 1e-300), np.where(towards > 0, towards, 1.0)[()]
    # Pinsker: a larger gap has a larger divergence.
    inner = np.zeros_like(away)
    outer = np.minimum(towards, (1 + _ROUNDING) * np.sqrt(radius / 2))
    if is_number := away.ndim == 0:  # five times as fast as an array of one number
        away, towards, radius, inner = away[()], towards[()], radius[()], inner[()]
    # A gap that rounding lets touch the end has an infinite divergence.
    with np.errstate(divide="ignore"):
        for _ in range(60):
            gap = 0.5 * (inner + outer)
            gain = towards * np.log1p(gap / (whole - gap))
            loss = away * np.log1p(gap / divisor)
            # A divergence that rounding lifts over the radius is still inside.
            inside = (1 - _ROUNDING) * gain - (1 + _ROUNDING) * loss <= radius
            if is_number:
                inner, outer = (gap, outer) if inside else (inner, gap)
            else:
                inner, outer = np.where(inside, gap, inner), np.where(inside, outer, gap)
    return outer


@checked
def kl_confidence_limit(
    mean: Fraction,
    *,
    n_samples: Count,
    delta: Probability,
    side: Annotated[str, Options(str, {"upper", "lower"})] = "upper",
) -> float:
    r"""Bound an expectation by Chernoff's inequality in its relative-entropy form.

    Parameters
    ----------
    mean : float
        Mean of the observations.
    n_samples : int
        Number of independent observations in [0, 1], n.
    delta : float
        Probability of failure.
    side : {"upper", "lower"}, default="upper"
        Which limit.

    Returns
    -------
    limit : float
        The root of :math:`\mathrm{kl}(\text{mean}\|p) = \log(1/\delta)/n` on that side. It is never
        worse than Hoeffding's and much better near 0 and 1.

    Notes
    -----
    Guarantee: the expectation lies beyond the limit with probability at most delta. Checked by
    ``tests/guarantees/concentration.py``.

    Examples
    --------
    >>> from corollary.theory import kl_confidence_limit
    >>> round(kl_confidence_limit(0.02, n_samples=500, delta=0.05), 4)
    0.0393
    """
    solve = kl_upper_inverse if side == "upper" else kl_lower_inverse
    return solve(mean, math.log(1 / delta) / n_samples)


def _check(who: str, q: Any, radius: Any) -> tuple[np.ndarray, np.ndarray]:
    q, radius = np.asarray(q, dtype=float), np.asarray(radius, dtype=float)
    if not np.all((q >= 0) & (q <= 1)):
        raise ValueError(f"The 'q' parameter of {who} must lie between 0 and 1.")
    if not np.all(radius >= 0):
        raise ValueError(f"The 'radius' parameter of {who} must not be negative.")
    q, radius = np.broadcast_arrays(q, radius)
    return q.astype(float), radius.astype(float)
