"""Halfspaces, boxes, intervals, thresholds and sines: what each can and cannot label.

A labelling is realised by a halfspace when some weight vector gives every point its sign with a
margin; linear programming decides it. The constructions show both sides of each VC dimension: a set
that is shattered, with the weights, and a labelling of any larger set that cannot be realised.
"""

import math
from fractions import Fraction
from itertools import product
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from corollary.core.estimator import Count, checked
from corollary.theory.complexity._checks import check_points


def separating_halfspace(X: Any, y: Any, *, affine: bool = True) -> np.ndarray | None:
    """Find a halfspace that labels points as wanted, by linear programming.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        Points.
    y : array-like of shape (n_points,)
        Labels -1 and +1.
    affine : bool, default=True
        Whether the halfspace has an offset.

    Returns
    -------
    weights : ndarray of shape (n_features + affine,) or None
        Weights, the offset last, with ``y (w x + b) >= 1`` at every point; None if there are none.

    Examples
    --------
    >>> from corollary.theory import separating_halfspace
    >>> separating_halfspace([[0.0], [1.0], [2.0]], [1, -1, 1]) is None
    True
    """
    from scipy.optimize import linprog

    Z, y = check_points("separating_halfspace", X), np.asarray(y, dtype=float)
    if y.shape != (len(Z),) or not np.all(np.abs(y) == 1):
        raise ValueError("separating_halfspace needs one label, -1 or +1, for each point.")
    if affine:
        Z = np.column_stack([Z, np.ones(len(Z))])
    program = linprog(
        np.zeros(Z.shape[1]),
        A_ub=-y[:, None] * Z,
        b_ub=-np.ones(len(Z)),
        bounds=[(None, None)] * Z.shape[1],
        method="highs",
    )
    return program.x if program.status == 0 else None


def halfspace_dichotomies(X: Any, *, affine: bool = True) -> np.ndarray:
    """List the labellings of points that halfspaces realise without a point on the border.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        Points, at most 16.
    affine : bool, default=True
        Whether halfspaces have an offset.

    Returns
    -------
    labels : ndarray of shape (n_dichotomies, n_points)
        Labels -1 and +1.

    See Also
    --------
    linear_dichotomies : Their number for points in general position.

    Examples
    --------
    >>> from corollary.theory import halfspace_dichotomies
    >>> len(halfspace_dichotomies([[0, 0], [1, 0], [0, 1], [1, 1]]))
    14
    """
    X = check_points("halfspace_dichotomies", X)
    if len(X) > 16:
        raise ValueError(
            f"halfspace_dichotomies tries all labellings of at most 16 points. Got {len(X)}."
        )
    # A labelling and its mirror image are realised together.
    half = [
        (1, *signs)
        for signs in product([1, -1], repeat=len(X) - 1)
        if separating_halfspace(X, np.array((1, *signs)), affine=affine) is not None
    ]
    table = np.array(half, dtype=int).reshape(-1, len(X))
    return np.concatenate([table, -table])


@checked
def linear_dichotomies(n_points: Count, n_features: Count, *, affine: bool = True) -> int:
    r"""Count the labellings of points in general position by halfspaces (Cover).

    Parameters
    ----------
    n_points : int
        Number n of points.
    n_features : int
        Dimension d.
    affine : bool, default=True
        Whether halfspaces have an offset.

    Returns
    -------
    count : int
        :math:`2\sum_{k<D}\binom{n-1}{k}` with D = d + 1 with an offset and d without: all
        :math:`2^n` exactly when n is at most D.

    Examples
    --------
    >>> from corollary.theory import linear_dichotomies
    >>> linear_dichotomies(4, 2)
    14
    """
    free = n_features + bool(affine)
    return 2 * sum(math.comb(n_points - 1, k) for k in range(min(free, n_points)))


@checked
def halfspace_shattered_set(n_features: Count, *, affine: bool = True) -> np.ndarray:
    """Return points that halfspaces label in every way.

    Parameters
    ----------
    n_features : int
        Dimension d.
    affine : bool, default=True
        Whether halfspaces have an offset.

    Returns
    -------
    X : ndarray of shape (d + affine, d)
        The unit vectors, after the origin if there is an offset.

    See Also
    --------
    halfspace_weights : The weights for each labelling.

    Examples
    --------
    >>> from corollary.theory import halfspace_shattered_set
    >>> halfspace_shattered_set(2)
    array([[0., 0.],
           [1., 0.],
           [0., 1.]])
    """
    basis = np.eye(n_features)
    return np.concatenate([np.zeros((1, n_features)), basis]) if affine else basis


def halfspace_weights(y: Any, *, affine: bool = True) -> tuple[np.ndarray, float]:
    """Return the halfspace that labels the standard shattered set as wanted.

    Parameters
    ----------
    y : array-like of shape (n_points,)
        Labels -1 and +1 of the points of :func:`halfspace_shattered_set`.
    affine : bool, default=True
        Whether there is an offset.

    Returns
    -------
    weights : ndarray of shape (n_features,)
        Labels of the unit vectors.
    offset : float
        Half the label of the origin; 0 without an offset.

    Examples
    --------
    >>> from corollary.theory import halfspace_weights
    >>> halfspace_weights([-1, 1, -1])
    (array([ 1., -1.]), -0.5)
    """
    y = np.asarray(y, dtype=float)
    if y.ndim != 1 or len(y) < 1 + affine or not np.all(np.abs(y) == 1):
        raise ValueError("halfspace_weights needs labels -1 and +1, one for each point of the set.")
    return (y[1:], float(y[0]) / 2) if affine else (y, 0.0)


class RadonPartition(NamedTuple):
    """Two sets of points whose convex hulls meet.

    Parameters
    ----------
    labels : ndarray of shape (n_points,)
        +1 for one set, -1 for the other: a labelling that no halfspace realises.
    weights : ndarray of shape (n_points,)
        Nonnegative, with sum 1 over each set.
    point : ndarray of shape (n_features,)
        The point in both hulls.
    """

    labels: np.ndarray
    weights: np.ndarray
    point: np.ndarray


def radon_partition(X: Any) -> RadonPartition:
    """Split points into two sets whose convex hulls meet (Radon).

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        At least ``n_features + 2`` points.

    Returns
    -------
    partition : RadonPartition
        Labels, weights and the common point: a proof that halfspaces do not shatter the set.

    Examples
    --------
    >>> from corollary.theory import radon_partition
    >>> square = [[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    >>> radon_partition(square).point
    array([0.5, 0.5])
    """
    X = check_points("radon_partition", X)
    n, d = X.shape
    if n < d + 2:
        raise ValueError(
            f"radon_partition needs at least n_features + 2 = {d + 2} points. Got {n}: halfspaces "
            "may shatter fewer."
        )
    # A dependence of the points with coefficients that sum to zero.
    beta = scipy.linalg.null_space(np.vstack([X.T, np.ones(n)]))[:, 0]
    beta[np.abs(beta) < 1e-12 * np.abs(beta).max()] = 0.0
    # The sign of a null vector is arbitrary: the first point of either set is called positive.
    beta *= np.sign(beta[np.flatnonzero(beta)[0]])
    total = beta[beta > 0].sum()
    weights = np.abs(beta) / total
    inside = beta > 0
    return RadonPartition(np.where(inside, 1, -1), weights, weights[inside] @ X[inside])


def unrealisable_labels(X: Any) -> np.ndarray:
    """Return labels that no halfspace through the origin gives to more than d points in R^d.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        At least ``n_features + 1`` points.

    Returns
    -------
    labels : ndarray of shape (n_points,)
        +1 where a linear dependence of the points has a nonnegative coefficient, -1 elsewhere, with
        sign(0) = +1.

    Examples
    --------
    >>> from corollary.theory import unrealisable_labels
    >>> unrealisable_labels([[1.0], [2.0]]).tolist()
    [-1, 1]
    """
    X = check_points("unrealisable_labels", X)
    n, d = X.shape
    if n < d + 1:
        raise ValueError(
            f"unrealisable_labels needs at least n_features + 1 = {d + 1} points. Got {n}: "
            "halfspaces through the origin may shatter fewer."
        )
    alpha = scipy.linalg.null_space(X.T)[:, 0]
    alpha[np.abs(alpha) < 1e-12 * np.abs(alpha).max()] = 0.0
    # Some coefficient must be negative.
    alpha *= -np.sign(alpha[np.flatnonzero(alpha)[0]])
    return np.where(alpha >= 0, 1, -1)


def threshold_growth(n_points: int) -> int:
    """Return the number of ways thresholds on the line label n points.

    Parameters
    ----------
    n_points : int
        Number of different points.

    Returns
    -------
    count : int
        ``n + 1``; the VC dimension is 1.

    Examples
    --------
    >>> from corollary.theory import threshold_growth
    >>> threshold_growth(5)
    6
    """
    return _growth("threshold_growth", n_points) + 1


def interval_growth(n_points: int) -> int:
    """Return the number of ways closed intervals label n points of the line.

    Parameters
    ----------
    n_points : int
        Number of different points.

    Returns
    -------
    count : int
        ``1 + n (n + 1) / 2``; the VC dimension is 2.

    Examples
    --------
    >>> from corollary.theory import interval_growth
    >>> interval_growth(5)
    16
    """
    n = _growth("interval_growth", n_points)
    return 1 + n * (n + 1) // 2


def fits_rectangle(X: Any, y: Any) -> bool:
    """Tell whether some axis-aligned box holds exactly the positive points.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        Points.
    y : array-like of shape (n_points,)
        Labels -1 and +1.

    Returns
    -------
    fits : bool
        Whether the bounding box of the positive points has no negative one.

    Notes
    -----
    In the plane the VC dimension is 4: the four points of :func:`rectangle_shattered_set` are
    shattered, and of any five points the extreme ones cannot be kept without the fifth.

    Examples
    --------
    >>> from corollary.theory import fits_rectangle
    >>> fits_rectangle([[0, 0], [1, 1], [2, 2]], [1, -1, 1])
    False
    """
    from corollary.theory.learnability.pac import tightest_rectangle

    return tightest_rectangle(X, y).risk == 0


def rectangle_shattered_set(n_features: int = 2) -> np.ndarray:
    """Return 2d points that axis-aligned boxes label in every way.

    Parameters
    ----------
    n_features : int, default=2
        Dimension d.

    Returns
    -------
    X : ndarray of shape (2 * n_features, n_features)
        The unit vectors and their opposites: a diamond in the plane.

    Examples
    --------
    >>> from corollary.theory import rectangle_shattered_set
    >>> rectangle_shattered_set().astype(int).tolist()
    [[1, 0], [0, 1], [-1, 0], [0, -1]]
    """
    basis = np.eye(_growth("rectangle_shattered_set", n_features))
    return np.concatenate([basis, -basis])


def sine_parameter(y: Any) -> int:
    r"""Return the parameter with which a sine labels the points 0.1, 0.01, ... as wanted.

    The class :math:`x\mapsto\mathrm{sgn}\,\sin(\theta x)` has one parameter and infinite VC
    dimension: for labels of :math:`x_i=10^{-i}` take
    :math:`\theta=\pi\,(1+\sum_{i:y_i=-1}10^i)`.

    Parameters
    ----------
    y : array-like of shape (n_points,)
        Labels -1 and +1.

    Returns
    -------
    multiple : int
        :math:`\theta/\pi`, exact: beyond fifteen points it does not fit into a float.

    See Also
    --------
    sine_labels : The labels that a parameter gives.

    Examples
    --------
    >>> from corollary.theory import sine_labels, sine_parameter
    >>> sine_labels(sine_parameter([1, -1, -1]), 3)
    array([ 1, -1, -1])
    """
    y = np.asarray(y)
    if y.ndim != 1 or not len(y) or not np.all(np.abs(y) == 1):
        raise ValueError("sine_parameter needs labels -1 and +1, one for each point.")
    return 1 + sum(10 ** int(i + 1) for i in np.flatnonzero(y == -1))


def sine_labels(multiple: int, n_points: int) -> np.ndarray:
    r"""Return the labels of 0.1, 0.01, ... by a sine, in exact arithmetic.

    Parameters
    ----------
    multiple : int
        :math:`\theta/\pi`.
    n_points : int
        Number of points.

    Returns
    -------
    labels : ndarray of shape (n_points,)
        Sign of :math:`\sin(\theta 10^{-i})`, with sign(0) = +1.

    Examples
    --------
    >>> from corollary.theory import sine_labels
    >>> sine_labels(1, 2)
    array([1, 1])
    """
    angles = [Fraction(int(multiple), 10**i) % 2 for i in range(1, n_points + 1)]
    return np.array([1 if angle <= 1 else -1 for angle in angles])


def _growth(who: str, n: int) -> int:
    if not isinstance(n, Integral) or n < 1:
        raise ValueError(f"{who} needs a positive whole number. Got {n!r} instead.")
    return int(n)
