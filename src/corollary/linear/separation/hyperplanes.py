r"""Hyperplanes :math:`H_{w,b} = \{x : \langle w, x \rangle + b = 0\}`, :math:`w \ne 0`."""

from typing import Any, Literal

import numpy as np

from corollary.core.estimator import ArrayLike, checked
from corollary.linear.separation._checks import check_points


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
    X, w = check_points("signed_distance", X, coef)
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
    X, w = check_points("project_onto_hyperplane", X, coef)
    return X - np.outer((X @ w + intercept) / (w @ w), w)


@checked
def threshold_classifier(
    X: ArrayLike,
    coef: ArrayLike,
    intercept: float = 0.0,
    *,
    labels: tuple = (-1, 1),
    tie: Literal["below", "above"] = "below",
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
    X, w = check_points("threshold_classifier", X, coef)
    score = X @ w + intercept
    above = score >= 0 if tie == "above" else score > 0
    return np.asarray(labels)[above.astype(int)]
