"""Positive random features: estimates of Gaussian and exponential kernels that are never negative.

They rest on the moment generating function of a normal vector instead of its characteristic
function. Their variance grows quickly with the length of the inputs, so that sums are formed from
logarithms wherever that is possible; linear-time attention is such a place.
"""

import math
from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from corollary.core.estimator import Count, check_squares, fitted
from corollary.core.parallel import row_products
from corollary.core.schema import Array
from corollary.kernels import _arrays as arrays
from corollary.kernels._arrays import generator
from corollary.kernels._parametrised import check_whole
from corollary.kernels.features._base import FeatureMap, Seed
from corollary.kernels.vectors.dot_product import ExponentialDot
from corollary.kernels.vectors.radial import RBF


def positive_log_features(
    X: Any, directions: Any, kernel: RBF | ExponentialDot | None = None
) -> np.ndarray:
    """Return the logarithms of positive random features.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Inputs.
    directions : array-like of shape (K, d)
        Standard normal draws w.
    kernel : RBF, ExponentialDot or None, default=None
        The kernel; None for ``RBF()``.

    Returns
    -------
    logarithms : ndarray of shape (n, K)
        ``<w, z> - |z|^2 - log(K) / 2`` with ``z = x / length_scale`` for the RBF kernel;
        ``<w, z> - |z|^2 / 2 - log(K) / 2`` with ``z = sqrt(scale) x`` for ``exp(scale <x, y>)``.

    Examples
    --------
    >>> from corollary.kernels import positive_log_features
    >>> positive_log_features([[1.0, 0.0]], [[0.5, 2.0]])
    array([[-0.5]])
    """
    kernel = RBF() if kernel is None else kernel
    X = np.asarray(arrays.vectors("positive_log_features", X))
    W = np.asarray(arrays.vectors("positive_log_features", directions))
    if isinstance(kernel, RBF):
        Z, factor = arrays.divide(X, kernel.length_scale), 1.0
    elif isinstance(kernel, ExponentialDot):
        Z, factor = X * math.sqrt(kernel.scale), 0.5
    else:
        raise TypeError(
            "Positive features exist for the kernels RBF and ExponentialDot. "
            f"Got {kernel!r} instead."
        )
    return (
        row_products(Z, W.T) - factor * arrays.squares(Z)[:, None] - 0.5 * math.log(max(1, len(W)))
    )


class PositiveRandomFeatures(FeatureMap):
    """Random features of the RBF or exponential kernel that are positive.

    Parameters
    ----------
    kernel : RBF, ExponentialDot or None, default=None
        The kernel; None for ``RBF()``.
    n_components : int, default=100
        Number K of features.
    random_state : int, Generator, RandomState or None, default=None
        Seed or generator of the directions.

    Attributes
    ----------
    directions_ : ndarray of shape (n_components, n_features)
        Standard normal draws.

    See Also
    --------
    linear_attention : Attention in linear time by these features.

    Notes
    -----
    Inner products are unbiased for the kernel and never negative. With z as in
    :func:`positive_log_features`, one feature has variance ``exp(4 <z, z'>) - k^2`` for the RBF
    kernel and ``exp(2 <z, z'>) (exp(|z + z'|^2) - 1)`` for the exponential one: much larger than
    that of Fourier features for long inputs. They are not bounded, so that no Hoeffding bound
    exists. Features that overflow are infinite; :func:`positive_log_features` does not overflow.

    Examples
    --------
    >>> from corollary.kernels import PositiveRandomFeatures, RBF
    >>> X = [[0.0, 0.5], [0.3, 0.2]]
    >>> Z = PositiveRandomFeatures(n_components=5000, random_state=0).fit_transform(X)
    >>> bool((Z > 0).all()), bool(abs(Z[0] @ Z[1] - RBF()(*X)) < 0.05)
    (True, True)
    """

    kernel: RBF | ExponentialDot | None = None
    _: KW_ONLY
    n_components: Count = 100
    random_state: Seed = None

    directions_: np.ndarray = fitted(Array("f", "k", "d"))

    def _fit(self, X: np.ndarray, sample_weight: np.ndarray | None) -> None:
        rng = generator(self.random_state)
        self.directions_ = rng.standard_normal((self.n_components, X.shape[1]))

    def _transform(self, X: np.ndarray) -> np.ndarray:
        check_squares(self, X)
        logarithms = positive_log_features(X, self.directions_, self.kernel)
        with np.errstate(over="ignore"):
            return np.exp(logarithms, out=logarithms)

    @property
    def _n_features_out(self) -> int:
        return len(self.directions_)


def _attention_inputs(who: str, queries: Any, keys: Any, values: Any) -> list[np.ndarray]:
    Q, K = arrays.vector_pair(who, queries, keys)
    V = arrays.vectors(who, values)
    if len(K) != len(V) or not len(K):
        raise ValueError(
            f"{who} needs one value for each key, and at least one. Got {len(K)} keys and "
            f"{len(V)} values."
        )
    scale = Q.shape[1] ** -0.25
    return [np.asarray(Q) * scale, np.asarray(K) * scale, np.asarray(V)]


def softmax_attention(queries: Any, keys: Any, values: Any) -> np.ndarray:
    """Return exact attention ``softmax(Q K' / sqrt(d)) V``.

    Parameters
    ----------
    queries : array-like of shape (n, d)
        Queries Q.
    keys : array-like of shape (m, d)
        Keys K.
    values : array-like of shape (m, c)
        Values V.

    Returns
    -------
    attended : ndarray of shape (n, c)
        Averages of the values with weights in proportion to ``exp(<q, k> / sqrt(d))``.

    Examples
    --------
    >>> from corollary.kernels import softmax_attention
    >>> softmax_attention([[0.0]], [[1.0], [5.0]], [[1.0], [3.0]])
    array([[2.]])
    """
    Q, K, V = _attention_inputs("softmax_attention", queries, keys, values)
    scores = Q @ K.T
    scores -= scores.max(axis=1, keepdims=True)
    weights = np.exp(scores, out=scores)
    return weights @ V / weights.sum(axis=1, keepdims=True)


def linear_attention(
    queries: Any, keys: Any, values: Any, *, n_components: int = 256, random_state: Any = None
) -> np.ndarray:
    """Return attention estimated by positive random features, in time linear in its length.

    Parameters
    ----------
    queries : array-like of shape (n, d)
        Queries Q.
    keys : array-like of shape (m, d)
        Keys K.
    values : array-like of shape (m, c)
        Values V.
    n_components : int, default=256
        Number of random features.
    random_state : int, Generator, RandomState or None, default=None
        Seed or generator of the directions.

    Returns
    -------
    attended : ndarray of shape (n, c)
        Averages of the values whose weights are positive and sum to one, as those of softmax.

    Notes
    -----
    The features are positive, so that no denominator can vanish; logarithms keep them in range.
    The error falls with the root of the number of features.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.kernels import linear_attention, softmax_attention
    >>> rng = np.random.default_rng(0)
    >>> Q, K, V = 0.5 * rng.normal(size=(3, 40, 4))
    >>> close = linear_attention(Q, K, V, n_components=4000, random_state=0)
    >>> bool(np.abs(close - softmax_attention(Q, K, V)).max() < 0.05)
    True
    """
    check_whole("linear_attention", "n_components", n_components, 1)
    Q, K, V = _attention_inputs("linear_attention", queries, keys, values)
    directions = generator(random_state).standard_normal((n_components, Q.shape[1]))
    kernel = ExponentialDot()
    left = positive_log_features(Q, directions, kernel)
    right = positive_log_features(K, directions, kernel)
    # A factor of a query's features cancels in its average; so does a common one of all keys'.
    # Features whose keys are all tiny are lifted by their own largest key, which the queries
    # give back before they are scaled.
    top = right.max(axis=0)
    right -= top
    left += top
    left -= left.max(axis=1, keepdims=True)
    np.exp(left, out=left)
    np.exp(right, out=right)
    return left @ (right.T @ V) / (left @ right.sum(axis=0))[:, None]
