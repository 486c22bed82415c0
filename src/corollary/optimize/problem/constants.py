"""Constants of functions whose curvature nobody computed, with a stated error."""

from typing import Any, NamedTuple

import numpy as np

from corollary.core.estimator import Count, Probability, RandomSeed, checked
from corollary.optimize.problem.convexity import _pairs
from corollary.optimize.problem.functions import Smooth


class CurvatureRange(NamedTuple):
    """Extreme curvatures seen at random points of a box.

    Parameters
    ----------
    smoothness : float
        Largest absolute eigenvalue of the Hessian that was seen.
    strong_convexity : float
        Smallest eigenvalue that was seen; negative if the function is not convex.
    exceeded : float
        With the confidence below, at most this share of the box has a larger absolute eigenvalue,
        or a smaller eigenvalue.
    confidence : float
        Probability that this is true.

    Examples
    --------
    >>> from corollary.optimize import Quadratic, estimate_curvature
    >>> estimate_curvature(Quadratic([[3.0]]), [-1.0], [1.0], random_state=0).smoothness
    3.0
    """

    smoothness: float
    strong_convexity: float
    exceeded: float
    confidence: float

    def __str__(self) -> str:
        low, high = self.strong_convexity, self.smoothness
        if self.exceeded == 0:
            return f"The curvature lies between {low:.3g} and {high:.3g}."
        return (
            f"The curvature was between {low:.3g} and {high:.3g} at random points nearby; at most "
            f"{self.exceeded:.1%} of their box lie outside, with {self.confidence:.0%} confidence."
        )


@checked
def estimate_curvature(
    function: Smooth,
    low: Any,
    high: Any,
    *,
    n_points: Count = 200,
    confidence: Probability = 0.95,
    random_state: RandomSeed = None,
) -> CurvatureRange:
    r"""Estimate the constants L and m of a function in a box from its Hessians at random points.

    Parameters
    ----------
    function : Smooth
        The function, with a Hessian.
    low, high : array-like of shape (n,)
        Corners of the box.
    n_points : int, default=200
        Number N of independent, uniformly drawn points.
    confidence : float, default=0.95
        Probability :math:`1-\delta` with which the stated error holds.
    random_state : int, RandomState instance or None, default=None
        Source of the points.

    Returns
    -------
    curvature : CurvatureRange
        Extremes, and the share of the box that may lie outside:
        :math:`1-(\delta/2)^{1/N}` for each extreme, twice that in all.

    Notes
    -----
    If a share p of the box lay above the largest value seen, N draws would all have missed it,
    which has probability :math:`(1-p)^N`. Extremes of samples err to one side: L is too small and
    m too large. Quadratics and empirical risks know their constants exactly.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import Function, estimate_curvature
    >>> f = Function(lambda x: x[0] ** 4 / 12, lambda x: x**3 / 3, lambda x: np.diag(x**2))
    >>> seen = estimate_curvature(f, [-1.0], [1.0], random_state=0)
    >>> seen.smoothness < 1 < seen.smoothness + 0.05, round(seen.exceeded, 4)
    (True, 0.0366)
    """
    spectra = np.array(
        [
            np.linalg.eigvalsh(function.hessian(x))
            for x, _, _ in _pairs(low, high, n_points, random_state)
        ]
    )
    share = -np.expm1(np.log((1 - confidence) / 2) / n_points)
    return CurvatureRange(
        float(np.abs(spectra).max()), float(spectra.min()), float(2 * share), confidence
    )
