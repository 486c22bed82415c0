r"""How many balls cover a set: covering and packing numbers, volumes, greedy covers.

:math:`N(\varepsilon)` is the fewest centres in the set whose closed balls of radius epsilon cover
it, :math:`M(\varepsilon)` the most points that are pairwise more than epsilon apart, and
:math:`M(2\varepsilon)\le N(\varepsilon)\le M(\varepsilon)`. Both are hard to find; a greedy packing
is a cover and lies between.
"""

import math
from itertools import combinations
from numbers import Real
from typing import Annotated, Any, NamedTuple

import numpy as np

from corollary.core.compat import Interval
from corollary.core.estimator import AnyReal, Count, Positive, checked
from corollary.theory.complexity._checks import check_points
from corollary.theory.complexity.volumes import log_ball_volume


class FarthestPoints(NamedTuple):
    """Points in the order of a farthest-point traversal.

    Parameters
    ----------
    order : ndarray of shape (k,)
        Rows, each as far as possible from those before it.
    radii : ndarray of shape (k,)
        Radius at which the first i + 1 points cover everything; never rising.
    """

    order: np.ndarray
    radii: np.ndarray


def farthest_points(X: Any, n_points: int | None = None, *, start: int = 0) -> FarthestPoints:
    """Traverse points, always to the one farthest from all before it.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points with Euclidean distances.
    n_points : int or None, default=None
        How many to visit; None for all.
    start : int, default=0
        Row to begin with.

    Returns
    -------
    traversal : FarthestPoints
        After i points the radius is at most twice the smallest radius at which i balls cover.

    See Also
    --------
    greedy_packing : Stop at a given radius.

    Examples
    --------
    >>> from corollary.theory import farthest_points
    >>> farthest_points([[0.0], [1.0], [10.0]], 2).radii
    array([10.,  1.])
    """
    X = check_points("farthest_points", X)
    n_points = len(X) if n_points is None else min(int(n_points), len(X))
    if n_points < 1 or not 0 <= start < len(X):
        raise ValueError(
            "farthest_points needs a positive n_points and a start among the rows. Got "
            f"n_points={n_points!r} and start={start!r} for {len(X)} rows."
        )
    order, radii = np.empty(n_points, dtype=int), np.empty(n_points)
    distance, here = np.full(len(X), np.inf), start
    for i in range(n_points):
        order[i] = here
        # Differences, not products of norms: near points must not lose their distance to rounding.
        np.minimum(distance, np.sqrt(np.sum((X - X[here]) ** 2, axis=1)), out=distance)
        here = int(np.argmax(distance))
        radii[i] = distance[here]
    return FarthestPoints(order, radii)


def greedy_packing(X: Any, epsilon: float) -> np.ndarray:
    """Find a maximal packing of points, which also covers them.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points with Euclidean distances.
    epsilon : float
        Radius, positive.

    Returns
    -------
    rows : ndarray
        Rows that are pairwise more than epsilon apart and within epsilon of every point: their
        number lies between the covering and the packing number at epsilon.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import greedy_packing
    >>> greedy_packing(np.linspace(0, 1, 101)[:, None], 0.3)
    array([  0, 100,  50])
    """
    X = check_points("greedy_packing", X)
    if not epsilon > 0:
        raise ValueError(
            f"The 'epsilon' parameter of greedy_packing must be positive. Got {epsilon!r} instead."
        )
    order, radii = np.empty(0, dtype=int), np.empty(0)
    size = 16
    while True:
        order, radii = farthest_points(X, size)
        done = np.flatnonzero(radii <= epsilon)
        if len(done):
            return order[: done[0] + 1]
        size *= 4


def covering_number(X: Any, epsilon: float) -> int:
    """Compute the smallest number of balls around points that cover all of them.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        At most 200 points, with Euclidean distances.
    epsilon : float
        Radius of the closed balls.

    Returns
    -------
    number : int
        Exact, by an integer program.

    See Also
    --------
    packing_number : The most points far from each other.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import covering_number
    >>> covering_number(np.linspace(0, 1, 101)[:, None], 0.1)
    5
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    near = _near("covering_number", X, epsilon)
    program = milp(
        np.ones(len(near)),
        constraints=LinearConstraint(near.astype(float), lb=1),
        integrality=np.ones(len(near)),
        bounds=Bounds(0, 1),
    )
    return round(program.fun)


def packing_number(X: Any, epsilon: float) -> int:
    """Compute the largest number of points that are pairwise more than epsilon apart.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        At most 200 points, with Euclidean distances.
    epsilon : float
        Distance.

    Returns
    -------
    number : int
        Exact, by an integer program.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import packing_number
    >>> packing_number(np.linspace(0, 1, 101)[:, None], 0.19)
    6
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    near = _near("packing_number", X, epsilon)
    i, j = np.nonzero(np.triu(near, k=1))
    if not len(i):
        return len(near)
    rows = np.arange(len(i))
    pairs = coo_array(
        (np.ones(2 * len(i)), (np.concatenate([rows, rows]), np.concatenate([i, j]))),
        shape=(len(i), len(near)),
    )
    program = milp(
        -np.ones(len(near)),
        constraints=LinearConstraint(pairs.tocsr(), ub=1),
        integrality=np.ones(len(near)),
        bounds=Bounds(0, 1),
    )
    return round(-program.fun)


class CoveringBounds(NamedTuple):
    """Limits of the log of a covering number.

    Parameters
    ----------
    lower : float
        Lower limit.
    upper : float
        Upper limit.
    """

    lower: float
    upper: float


@checked
def unit_ball_covering(n_features: Count, epsilon: Positive) -> CoveringBounds:
    r"""Bound the metric entropy of the unit ball of any norm by comparing volumes.

    Parameters
    ----------
    n_features : int
        Dimension d.
    epsilon : float
        Radius of the covering balls, positive.

    Returns
    -------
    entropy : CoveringBounds
        Logs of :math:`\varepsilon^{-d}\le N(\varepsilon)\le(1+2/\varepsilon)^d`; both 0 from
        epsilon = 1 on, where one ball covers.

    See Also
    --------
    volume_covering : Any set whose volume is known.

    Examples
    --------
    >>> from corollary.theory import unit_ball_covering
    >>> round(unit_ball_covering(3, 0.1).upper, 4)
    9.1336
    """
    if epsilon >= 1:
        return CoveringBounds(0.0, 0.0)
    return CoveringBounds(-n_features * math.log(epsilon), n_features * math.log1p(2 / epsilon))


@checked
def volume_covering(
    log_volume: AnyReal,
    log_volume_widened: AnyReal,
    *,
    n_features: Count,
    epsilon: Positive,
    p: Annotated[float, Interval(Real, 1, None, closed="both")] = 2.0,
) -> CoveringBounds:
    r"""Bound the metric entropy of a set by its volume.

    Parameters
    ----------
    log_volume : float
        Log of the volume of the set T.
    log_volume_widened : float
        Log of the volume of T with a margin, all points within epsilon / 2 of T.
    n_features : int
        Dimension d.
    epsilon : float
        Radius of the covering balls.
    p : float, default=2.0
        Order of the norm, from 1 to infinity.

    Returns
    -------
    entropy : CoveringBounds
        Logs of :math:`\frac{\mathrm{Vol}\,T}{\varepsilon^d\,\mathrm{Vol}\,B}` and
        :math:`\frac{\mathrm{Vol}(T+\frac\varepsilon2B)}{(\varepsilon/2)^d\,\mathrm{Vol}\,B}`.

    Examples
    --------
    >>> from math import inf, log
    >>> from corollary.theory import volume_covering
    >>> cube = volume_covering(0.0, 2 * log(1.1), n_features=2, epsilon=0.1, p=inf)
    >>> round(cube.lower, 4), round(cube.upper, 4)
    (3.2189, 4.7958)
    """
    ball = log_ball_volume(n_features, p)
    return CoveringBounds(
        max(0.0, log_volume - n_features * math.log(epsilon) - ball),
        log_volume_widened - n_features * math.log(epsilon / 2) - ball,
    )


def _near(who: str, X: Any, epsilon: float) -> np.ndarray:
    X = check_points(who, X)
    if len(X) > 200 or not epsilon >= 0:
        raise ValueError(
            f"{who} solves an integer program for at most 200 points and a radius that is not "
            f"negative. Got {len(X)} points and epsilon={epsilon!r}: use greedy_packing."
        )
    distance = np.zeros((len(X), len(X)))
    for i, j in combinations(range(len(X)), 2):
        distance[i, j] = distance[j, i] = math.dist(X[i], X[j])
    # Balls are closed: points at distance epsilon up to rounding are inside.
    return distance <= epsilon * (1 + 1e-12)
