r"""Hyperplanes, threshold classifiers and margins.

A hyperplane is :math:`H_{w,b} = \{x : \langle w, x \rangle + b = 0\}`, :math:`w \ne 0`. The
functional margin of a labelled point is :math:`y (\langle w, x \rangle + b)`; divided by
:math:`\|w\|` it is the geometric margin, the signed distance to the plane. The margin of a data
set is the largest smallest geometric margin that a separating plane attains. By duality it is the
distance from 0 to the convex hull of the points :math:`y_i x_i` (plane through the origin), or
half the distance between the hulls of the two classes (plane anywhere); either is the shortest
vector of a polytope, which Wolfe's algorithm finds in finitely many steps.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from corollary.core.compat import StrOptions, validate_params


class MaximumMargin(NamedTuple):
    """The widest separating hyperplane of a data set.

    Parameters
    ----------
    margin : float
        Its geometric margin; 0.0 if no plane separates the data strictly.
    coef : ndarray of shape (n_features,)
        Unit normal vector; zeros if there is no such plane.
    intercept : float
        Its offset.
    upper : float
        Proven upper bound on every margin: the length of a vector of the convex hull. The
        difference to ``margin`` is what the computation left open.

    Examples
    --------
    >>> from corollary.linear import dataset_margin
    >>> dataset_margin([[2.0, 0.0]], [1])
    MaximumMargin(margin=2.0, coef=array([1., 0.]), intercept=0.0, upper=2.0)
    """

    margin: float
    coef: np.ndarray
    intercept: float
    upper: float


def signed_distance(X: Any, coef: Any, intercept: float = 0.0) -> np.ndarray:
    r"""Return the signed distance of points to a hyperplane.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points.
    coef : array-like of shape (n_features,)
        Normal vector w, not zero; it points to the positive side.
    intercept : float, default=0.0
        Offset b.

    Returns
    -------
    distance : ndarray of shape (n_samples,)
        :math:`(\langle w, x \rangle + b) / \|w\|`.

    Examples
    --------
    >>> from corollary.linear import signed_distance
    >>> signed_distance([[3.0, 4.0], [0.0, 0.0]], [3.0, 4.0], -5.0)
    array([ 4., -1.])
    """
    X, w = _points("signed_distance", X, coef)
    return (X @ w + intercept) / np.linalg.norm(w)


def project_onto_hyperplane(X: Any, coef: Any, intercept: float = 0.0) -> np.ndarray:
    r"""Return the point of a hyperplane that is nearest to each given point.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points.
    coef : array-like of shape (n_features,)
        Normal vector w, not zero.
    intercept : float, default=0.0
        Offset b.

    Returns
    -------
    projection : ndarray of shape (n_samples, n_features)
        :math:`x - w (\langle w, x \rangle + b) / \|w\|^2`.

    Examples
    --------
    >>> from corollary.linear import project_onto_hyperplane
    >>> project_onto_hyperplane([[2.0, 2.0]], [1.0, 1.0], -2.0)
    array([[1., 1.]])
    """
    X, w = _points("project_onto_hyperplane", X, coef)
    return X - np.outer((X @ w + intercept) / (w @ w), w)


@validate_params(
    {
        "X": ["array-like"],
        "coef": ["array-like"],
        "intercept": "no_validation",
        "labels": "no_validation",
        "tie": [StrOptions({"below", "above"})],
    },
    prefer_skip_nested_validation=True,
)
def threshold_classifier(
    X: Any, coef: Any, intercept: float = 0.0, *, labels: tuple = (-1, 1), tie: str = "below"
) -> np.ndarray:
    r"""Label points by the side of a hyperplane that they are on.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points.
    coef : array-like of shape (n_features,)
        Normal vector w, not zero.
    intercept : float, default=0.0
        Offset b.
    labels : tuple of two labels, default=(-1, 1)
        Label below (:math:`\langle w, x \rangle + b < 0`) and above the plane.
    tie : {"below", "above"}, default="below"
        Where points exactly on the plane belong.

    Returns
    -------
    y : ndarray of shape (n_samples,)
        Labels.

    Examples
    --------
    >>> from corollary.linear import threshold_classifier
    >>> threshold_classifier([[-1.0], [0.0], [1.0]], [1.0])
    array([-1, -1,  1])
    >>> threshold_classifier([[-1.0], [0.0], [1.0]], [1.0], labels=(1, 0))
    array([1, 1, 0])
    """
    if len(labels) != 2:
        raise ValueError(
            "The 'labels' parameter of threshold_classifier must hold two labels, (below, above). "
            f"Got {labels!r} instead."
        )
    X, w = _points("threshold_classifier", X, coef)
    score = X @ w + intercept
    above = score >= 0 if tie == "above" else score > 0
    return np.asarray(labels)[above.astype(int)]


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
    X, w = _points("functional_margin", X, coef)
    return float((signs("functional_margin", y, len(X)) * (X @ w + intercept)).min())


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
    result : MaximumMargin
        Margin, plane, and a proven upper bound on the margin.

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
    X, _ = _points("dataset_margin", X, np.ones(X.shape[-1]))
    sign = signs("dataset_margin", y, len(X))
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


def _points(name: str, X: Any, coef: Any) -> tuple[np.ndarray, np.ndarray]:
    X = np.asarray(X, dtype=np.float64)
    w = np.asarray(coef, dtype=np.float64)
    if X.ndim != 2 or X.shape[0] == 0:
        raise ValueError(
            f"The 'X' parameter of {name} must be a table of shape (n_samples, n_features) with "
            f"at least one row. Got shape {X.shape} instead."
        )
    if w.shape != (X.shape[1],) or not w.any():
        raise ValueError(
            f"The 'coef' parameter of {name} must be a non-zero vector of shape "
            f"({X.shape[1]},). Got {coef!r} instead."
        )
    return X, w


def signs(name: str, y: Any, n: int) -> np.ndarray:
    """Return labels -1 and 1 as numbers, or say what is wrong with them."""
    y = np.asarray(y)
    if y.shape != (n,) or not np.isin(y, (-1, 1)).all():
        raise ValueError(
            f"The 'y' parameter of {name} must hold {n} labels -1 or 1. Got "
            f"shape {y.shape} with values {np.unique(y)[:5].tolist()} instead."
        )
    return y.astype(np.float64)
