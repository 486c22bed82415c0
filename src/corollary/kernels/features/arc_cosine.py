"""Random sign features, on which side of hyperplanes inputs lie."""

import math
from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from corollary.core.estimator import Count, fitted
from corollary.core.schema import Array
from corollary.kernels import _arrays as arrays
from corollary.kernels._arrays import generator
from corollary.kernels.features._base import FeatureMap, Seed


def arc_cosine_features(X: Any, directions: Any) -> np.ndarray:
    """Return random sign features, on which side of hyperplanes the inputs lie.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Inputs.
    directions : array-like of shape (K, d)
        Normal vectors of random hyperplanes; their length does not matter.

    Returns
    -------
    features : ndarray of shape (n, 2K)
        ``(1{<u, x> >= 0}, 1{<u, x> < 0}) / sqrt(K)``.

    Examples
    --------
    >>> from corollary.kernels import arc_cosine_features
    >>> arc_cosine_features([[1.0, 0.0]], [[2.0, 5.0]])
    array([[1., 0.]])
    """
    X = np.asarray(arrays.vectors("arc_cosine_features", X))
    U = np.asarray(arrays.vectors("arc_cosine_features", directions))
    positive = X @ U.T >= 0
    return np.hstack([positive, ~positive]) / math.sqrt(max(1, len(U)))


class ArcCosineFeatures(FeatureMap):
    """Random sign features of the arc-cosine kernel.

    Parameters
    ----------
    n_components : int, default=100
        Number K of random hyperplanes through the origin; there are 2K columns.
    random_state : int, Generator, RandomState or None, default=None
        Seed or generator of the hyperplanes.

    Attributes
    ----------
    directions_ : ndarray of shape (n_components, n_features)
        Normal vectors, uniform on the sphere.

    See Also
    --------
    ArcCosine : The kernel.

    Notes
    -----
    K times the inner product of two inputs has the binomial law with K trials and success
    probability ``k(x, y)``. Guarantee: it misses the kernel by ``epsilon`` or more with
    probability at most ``2 exp(-2 K epsilon^2)``; simulated in
    ``tests/kernels/test_random_features.py``.

    Examples
    --------
    >>> from corollary.kernels import ArcCosineFeatures
    >>> Z = ArcCosineFeatures(n_components=4000, random_state=0).fit_transform([[1, 0], [0, 1]])
    >>> bool(abs(Z[0] @ Z[1] - 0.5) < 0.05)
    True
    """

    _: KW_ONLY
    n_components: Count = 100
    random_state: Seed = None

    directions_: np.ndarray = fitted(Array("f", "k", "d"))

    def _fit(self, X: np.ndarray, sample_weight: np.ndarray | None) -> None:
        normal = generator(self.random_state).standard_normal((self.n_components, X.shape[1]))
        self.directions_ = normal / np.linalg.norm(normal, axis=1, keepdims=True)

    def _transform(self, X: np.ndarray) -> np.ndarray:
        return arc_cosine_features(X, self.directions_)

    @property
    def _n_features_out(self) -> int:
        return 2 * len(self.directions_)
