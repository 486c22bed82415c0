r"""What a small relative entropy between Bernoulli laws says about their probabilities.

Chernoff's inequality in its sharpest form says that an observed share q of n independent
observations in [0, 1] and its expectation p satisfy :math:`\mathrm{kl}(q\|p) \le \log(1/\delta)/n`
on each side with probability at least 1 - delta; PAC-Bayes bounds have the same form. Solving for p
is a one-dimensional search with a certain answer: the functions here round outwards.
"""

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from corollary.core.compat import Interval, Options, validate_params

_DELTA = Interval(Real, 0, 1, closed="neither")


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
    p = _outermost(q, radius, np.ones_like(q))
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
    p = _outermost(q, radius, np.zeros_like(q))
    return float(p) if p.ndim == 0 else p


def _outermost(q: np.ndarray, radius: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Search between q and an end for the root, and return the outer side of the last bracket."""
    inner, outer = q.copy(), end
    for _ in range(60):
        middle = 0.5 * (inner + outer)
        gap = middle - q
        with np.errstate(divide="ignore", invalid="ignore"):
            first = np.where(q > 0, -q * _log_ratio(gap / q, middle / q), 0.0)
            rest = _log_ratio(gap / (1 - middle), (1 - q) / (1 - middle))
            second = np.where(q < 1, (1 - q) * rest, 0.0)
        # A divergence that rounding lifts over the radius is still inside.
        slack = 4e-16 * (np.abs(first) + np.abs(second))
        inside = first + second <= radius + slack
        inner, outer = np.where(inside, middle, inner), np.where(inside, outer, middle)
    return outer


def _log_ratio(excess: np.ndarray, ratio: np.ndarray) -> np.ndarray:
    """Compute the log of a ratio from what it exceeds 1 by, unless it is far from 1."""
    return np.where(np.abs(excess) < 0.5, np.log1p(excess), np.log(ratio))


@validate_params(
    {
        "mean": [Interval(Real, 0, 1, closed="both")],
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "delta": [_DELTA],
        "side": [Options(str, {"upper", "lower"})],
    },
    prefer_skip_nested_validation=True,
)
def kl_confidence_limit(mean: float, *, n_samples: int, delta: float, side: str = "upper") -> float:
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
