r"""Claims about functions, tried at random points of a box.

A point at which a claim fails proves it wrong. None found proves nothing, except that violations
are rare among such points; curvatures that are seen are estimates with a stated error.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.estimator import Count, NonNegative, Probability, RandomSeed, checked
from corollary.optimize.problem.functions import Smooth

# What rounding can do, relative to the numbers that are compared.
_ROUNDING = 1e-9


class Violation(NamedTuple):
    """Two points, equal if one decides, the weight of x on the chord, and how far a claim fails."""

    x: np.ndarray
    y: np.ndarray
    weight: float
    excess: float


class CurvatureRange(NamedTuple):
    """Extreme curvatures, and the share of a box that may lie outside, with a confidence."""

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
def refute_convexity(
    function: Callable[..., Any] | Smooth,
    low: Any,
    high: Any,
    *,
    strong_convexity: NonNegative = 0.0,
    strict: bool = False,
    test: Literal["chord", "tangent", "hessian"] = "chord",
    n_pairs: Count = 1000,
    random_state: RandomSeed = None,
) -> Violation | None:
    r"""Search for a violation of (strict, strong) convexity in a box.

    The worst violation that was seen has points ``x`` and ``y``, the ``weight`` of x on the chord
    and the ``excess``; None stands for none above rounding.

    Parameters
    ----------
    function : callable or Smooth
        The function; only the test of chords takes a plain callable.
    low, high : array-like of shape (n,)
        Corners of the box.
    strong_convexity : float, default=0.0
        Constant m that is claimed; 0 for convexity alone.
    strict : bool, default=False
        Whether equality at different points violates the claim; not for Hessians, which may
        vanish at single points of a strictly convex function.
    test : {"chord", "tangent", "hessian"}, default="chord"
        :math:`f(z)\le\theta f(x)+(1-\theta)f(y)-\tfrac m2\theta(1-\theta)\|x-y\|^2` for
        :math:`z=\theta x+(1-\theta)y`,
        :math:`f(y)\ge f(x)+\langle\nabla f(x),y-x\rangle+\tfrac m2\|x-y\|^2`, or
        :math:`\nabla^2f(x)\succeq mI`.
    n_pairs : int, default=1000
        Number of pairs that are tried.
    random_state : int, RandomState instance or None, default=None
        Source of the points.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import Quadratic, refute_convexity
    >>> bowl = Quadratic(np.diag([1.0, 4.0]))
    >>> refute_convexity(bowl, [-1, -1], [1, 1], strong_convexity=1.0, random_state=0) is None
    True
    >>> refute_convexity(bowl, [-1, -1], [1, 1], strong_convexity=1.1, random_state=0) is None
    False
    """
    if test != "chord" and not isinstance(function, Smooth):
        raise TypeError(
            f"The test {test!r} of refute_convexity needs derivatives. Wrap the function in "
            "corollary.optimize.Function."
        )
    if strict and test == "hessian":
        raise ValueError("A Hessian does not decide strict convexity; use test='chord'.")
    value = function.value if isinstance(function, Smooth) else function
    worst: Violation | None = None
    terms: tuple[float, ...]
    for x, y, weight in _pairs(low, high, n_pairs, random_state):
        bend = 0.5 * strong_convexity * float((x - y) @ (x - y))
        if test == "hessian":
            assert isinstance(function, Smooth)
            eigenvalues = np.linalg.eigvalsh(function.hessian(x))
            excess, scale = strong_convexity - eigenvalues[0], np.abs(eigenvalues).max()
            y, weight = x, 1.0
        elif test == "tangent":
            assert isinstance(function, Smooth)
            start, slope = function.value_and_gradient(x)
            terms = (start, float(slope @ (y - x)), bend, -function.value(y))
            excess, scale, weight = sum(terms), max(map(abs, terms)), 1.0
        else:
            chord = weight * float(value(x)), (1 - weight) * float(value(y))
            terms = (float(value(weight * x + (1 - weight) * y)), -chord[0], -chord[1])
            excess = sum(terms) + weight * (1 - weight) * bend
            scale = max(map(abs, terms))
        allowed = -_ROUNDING * scale if strict else _ROUNDING * scale
        if excess > allowed and (worst is None or excess > worst.excess):
            worst = Violation(x, y, weight, float(excess))
    return worst


@checked
def refute_smoothness(
    function: Smooth,
    low: Any,
    high: Any,
    *,
    smoothness: NonNegative,
    n_pairs: Count = 1000,
    random_state: RandomSeed = None,
) -> Violation | None:
    r"""Search a box for points where :math:`\|\nabla f(x)-\nabla f(y)\|>L\|x-y\|`.

    See :class:`Smooth`; the constant L that is claimed is ``smoothness``, and the other parameters
    are those of :func:`refute_convexity`, as is what is returned.

    Examples
    --------
    >>> from corollary.optimize import Quadratic, refute_smoothness
    >>> bowl = Quadratic([[3.0]])
    >>> refute_smoothness(bowl, [-1.0], [1.0], smoothness=3.0, random_state=0) is None
    True
    >>> refute_smoothness(bowl, [-1.0], [1.0], smoothness=2.9, random_state=0) is None
    False
    """
    worst = None
    for x, y, _ in _pairs(low, high, n_pairs, random_state):
        change = float(np.linalg.norm(function.gradient(x) - function.gradient(y)))
        excess = change - smoothness * float(np.linalg.norm(x - y))
        if excess > _ROUNDING * change and (worst is None or excess > worst.excess):
            worst = Violation(x, y, 1.0, excess)
    return worst


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

    The largest modulus of an eigenvalue is the ``smoothness``, the least eigenvalue the
    ``strong_convexity``, and ``exceeded`` the share of the box that may lie outside:
    :math:`1-(\delta/2)^{1/N}` for each extreme, twice that in all.

    If a share p of the box lay above the largest value seen, N draws would all have missed it,
    which has probability :math:`(1-p)^N`. Extremes of samples err to one side: L is too small and
    m too large. Quadratics and empirical risks know their constants exactly.

    See :class:`Smooth`, with a Hessian; N is ``n_points``, and :math:`1-\delta` the ``confidence``
    with which the stated error holds. The box is given as in :func:`refute_convexity`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import Function, estimate_curvature
    >>> f = Function(lambda x: x[0] ** 4 / 12, lambda x: x**3 / 3, lambda x: np.diag(x**2))
    >>> seen = estimate_curvature(f, [-1.0], [1.0], random_state=0)
    >>> seen.smoothness < 1 < seen.smoothness + 0.05, round(seen.exceeded, 4)
    (True, 0.0366)
    """
    points = (x for x, _, _ in _pairs(low, high, n_points, random_state))
    spectra = np.array([np.linalg.eigvalsh(function.hessian(x)) for x in points])
    share = -np.expm1(np.log((1 - confidence) / 2) / n_points)
    L, m = float(np.abs(spectra).max()), float(spectra.min())
    return CurvatureRange(L, m, float(2 * share), confidence)


def _pairs(low: Any, high: Any, n_pairs: int, random_state: Any) -> Any:
    """Draw pairs of points of a box with weights, half of the pairs close together."""
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    if low.ndim != 1 or low.shape != high.shape or not (low < high).all():
        raise ValueError(
            "The corners 'low' and 'high' of a box must be vectors of one length with low < high. "
            f"Got {low.tolist()} and {high.tolist()}."
        )
    rng = check_random_state(random_state)
    for i in range(n_pairs):
        x, y = rng.uniform(low, high), rng.uniform(low, high)
        if i % 2:
            y = x + 0.01 * (y - x)
        yield x, y, rng.uniform(0.05, 0.95)
