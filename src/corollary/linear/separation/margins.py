r"""Margins of hyperplanes, and the widest that a data set allows.

The functional margin of a labelled point is :math:`y (\langle w, x \rangle + b)`; divided by
:math:`\|w\|` it is the geometric margin, the signed distance to the plane. The margin of a data
set is the largest smallest geometric margin that a separating plane attains. By duality it is the
distance from 0 to the convex hull of the points :math:`y_i x_i` (plane through the origin), or
half the distance between the hulls of the two classes (plane anywhere); either is the shortest
vector of a polytope, which Wolfe's algorithm finds in finitely many steps.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from corollary.linear.separation._checks import check_points, check_signs
from corollary.linear.separation._records import MaximumMargin


def functional_margin(X: Any, y: Any, coef: Any, intercept: float = 0.0) -> float:
    r"""Return the functional margin of a hyperplane on a data set.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points.
    y : array-like of shape (n_samples,)
        Labels -1 and 1.
    coef : array-like of shape (n_features,)
        Normal vector w, not zero.
    intercept : float, default=0.0
        Offset b.

    Returns
    -------
    margin : float
        :math:`\min_i y_i (\langle w, x_i \rangle + b)`; positive exactly if the plane separates
        the classes strictly.

    Examples
    --------
    >>> from corollary.linear import functional_margin
    >>> functional_margin([[2.0], [-1.0]], [1, -1], [3.0])
    3.0
    """
    X, w = check_points("functional_margin", X, coef)
    return float((check_signs("functional_margin", y, len(X)) * (X @ w + intercept)).min())


def geometric_margin(X: Any, y: Any, coef: Any, intercept: float = 0.0) -> float:
    r"""Return the geometric margin of a hyperplane on a data set.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points.
    y : array-like of shape (n_samples,)
        Labels -1 and 1.
    coef : array-like of shape (n_features,)
        Normal vector w, not zero; its length does not matter.
    intercept : float, default=0.0
        Offset b.

    Returns
    -------
    margin : float
        Smallest signed distance :math:`\min_i y_i (\langle w, x_i \rangle + b) / \|w\|`.

    Examples
    --------
    >>> from corollary.linear import geometric_margin
    >>> geometric_margin([[2.0], [-1.0]], [1, -1], [3.0])
    1.0
    """
    margin = functional_margin(X, y, coef, intercept)
    return float(margin / np.linalg.norm(np.asarray(coef, dtype=np.float64)))


def canonical_hyperplane(
    X: Any, y: Any, coef: Any, intercept: float = 0.0
) -> tuple[np.ndarray, float]:
    r"""Scale a separating hyperplane so that its functional margin is one.

    The geometric margin, the distance to the closest point, is then :math:`1 / \|w\|`, and the
    slab between the planes at -1 and 1 is :math:`2 / \|w\|` wide.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points.
    y : array-like of shape (n_samples,)
        Labels -1 and 1.
    coef : array-like of shape (n_features,)
        Normal vector w of a plane that separates the classes strictly.
    intercept : float, default=0.0
        Offset b.

    Returns
    -------
    coef : ndarray of shape (n_features,)
        Scaled normal vector.
    intercept : float
        Scaled offset.

    Examples
    --------
    >>> from corollary.linear import canonical_hyperplane
    >>> canonical_hyperplane([[2.0], [-1.0]], [1, -1], [3.0])
    (array([1.]), 0.0)
    """
    margin = functional_margin(X, y, coef, intercept)
    if margin <= 0:
        raise ValueError(
            "canonical_hyperplane needs a hyperplane that separates the classes strictly. Got "
            f"functional margin {margin:.6g}. Find one with dataset_margin."
        )
    return np.asarray(coef, dtype=np.float64) / margin, float(intercept / margin)


def dataset_margin(X: Any, y: Any, *, fit_intercept: bool = False) -> MaximumMargin:
    """Return the margin of a data set and the hyperplane that attains it.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points.
    y : array-like of shape (n_samples,)
        Labels -1 and 1.
    fit_intercept : bool, default=False
        Whether the plane may miss the origin; both classes are then needed.

    Returns
    -------
    result : named tuple
        The geometric ``margin``, 0.0 if no plane separates the data strictly; the plane's unit
        normal ``coef`` (zeros if there is none) and ``intercept``; and ``upper``, a proven upper
        bound on every margin, the length of a vector of the convex hull.

    See Also
    --------
    separability : Whether the margin is positive, for large data.

    References
    ----------
    .. [1] P. Wolfe (1976). Finding the nearest point in a polytope. Mathematical Programming 11,
       128-149.

    Examples
    --------
    >>> from corollary.linear import dataset_margin
    >>> round(dataset_margin([[1.0, 1.0], [-1.0, 1.0]], [1, 1]).margin, 12)
    1.0
    >>> dataset_margin([[0.0], [4.0]], [-1, 1], fit_intercept=True)[:3]
    (2.0, array([1.]), -2.0)
    """
    X = np.asarray(X, dtype=np.float64)
    X, _ = check_points("dataset_margin", X, np.ones(X.shape[-1]))
    sign = check_signs("dataset_margin", y, len(X))
    if not fit_intercept:
        points = sign[:, None] * X
        nearest = nearest_to_origin(lambda v: points[np.argmin(points @ v)], points[0])
        length = float(np.linalg.norm(nearest))
        lowest = float((points @ nearest).min())
        if not _positive(lowest, nearest, points):
            return MaximumMargin(0.0, np.zeros(X.shape[1]), 0.0, length)
        return MaximumMargin(lowest / length, nearest / length, 0.0, length)
    above, below = X[sign > 0], X[sign < 0]
    if not len(above) or not len(below):
        raise ValueError(
            "dataset_margin with fit_intercept=True needs points of both classes: with one class "
            "every margin is possible. Got one class."
        )
    nearest = nearest_to_origin(
        lambda v: above[np.argmin(above @ v)] - below[np.argmax(below @ v)], above[0] - below[0]
    )
    length = float(np.linalg.norm(nearest))
    low, high = float((above @ nearest).min()), float((below @ nearest).max())
    if not _positive(low - high, nearest, X):
        return MaximumMargin(0.0, np.zeros(X.shape[1]), 0.0, length / 2)
    # Adding 0.0 turns -0.0 into 0.0.
    offset = -(low + high) / (2 * length) + 0.0
    return MaximumMargin((low - high) / (2 * length), nearest / length, offset, length / 2)


def nearest_to_origin(
    lowest: Callable[[np.ndarray], np.ndarray], start: Any, *, tol: float = 1e-12
) -> np.ndarray:
    """Return the shortest vector of a polytope by Wolfe's algorithm.

    Parameters
    ----------
    lowest : callable
        ``lowest(v)`` returns a vertex with the smallest inner product with v.
    start : array-like of shape (n_features,)
        Any vertex.
    tol : float, default=1e-12
        Largest allowed excess of the squared length, as a share of the squared length.

    Returns
    -------
    nearest : ndarray of shape (n_features,)
        A convex combination of vertices, shortest up to the tolerance.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import nearest_to_origin
    >>> V = np.array([[1.0, 1.0], [1.0, -1.0], [3.0, 0.0]])
    >>> nearest_to_origin(lambda v: V[np.argmin(V @ v)], V[0]).round(12)
    array([1., 0.])
    """
    corral = np.atleast_2d(np.array(start, dtype=np.float64))
    share = np.ones(1)
    x = corral[0]
    radius = float(np.linalg.norm(x))
    while True:
        if np.linalg.norm(x) <= 1e-14 * radius:
            return np.zeros_like(x)
        vertex = np.asarray(lowest(x), dtype=np.float64)
        radius = max(radius, float(np.linalg.norm(vertex)))
        excess = x @ x - x @ vertex
        rounding = 1e-15 * radius * np.linalg.norm(x)
        if excess <= max(tol * (x @ x), rounding) or (corral == vertex).all(axis=1).any():
            return x
        corral, share = np.vstack([corral, vertex]), np.append(share, 0.0)
        while True:
            affine = _affine_minimiser(corral)
            if (affine > 0).all():
                share = affine
                break
            # Walk towards the affine minimiser until the first vertex loses its share.
            falling = affine <= 0
            ratio = share[falling] / np.maximum(share[falling] - affine[falling], 1e-300)
            share = share + min(1.0, float(ratio.min())) * (affine - share)
            gone = np.flatnonzero(falling)[ratio == ratio.min()]
            keep = np.setdiff1d(np.arange(len(share)), gone)
            corral, share = corral[keep], np.maximum(share[keep], 0.0)
            share = share / share.sum()
        new = share @ corral
        if new @ new >= x @ x:  # rounding has stopped the descent
            return x
        x = new


def _affine_minimiser(corral: np.ndarray) -> np.ndarray:
    """Return coefficients, with sum one, of the shortest vector of the points' affine hull."""
    edges = corral[1:] - corral[0]
    beta = np.linalg.lstsq(edges.T, -corral[0], rcond=None)[0]
    return np.append(1.0 - beta.sum(), beta)


def _positive(lowest: float, direction: np.ndarray, points: np.ndarray) -> bool:
    """Say whether a smallest inner product is positive beyond rounding."""
    size = np.linalg.norm(direction) * np.linalg.norm(points, axis=1).max()
    return bool(lowest > 16 * np.finfo(float).eps * size)
