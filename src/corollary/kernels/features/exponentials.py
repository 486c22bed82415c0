"""The first features of exponential and RBF kernels, and the error of leaving out the rest."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import gammainc, gammaln

from corollary.kernels import _arrays as arrays
from corollary.kernels._parametrised import check_whole
from corollary.kernels.features.monomials import monomial_exponents, monomial_map


def exponential_map(X: Any, degree: int, *, scale: float = 1.0) -> np.ndarray:
    """Return the features of the exponential kernel ``exp(scale <x, y>)`` up to a degree.

    Parameters
    ----------
    X : array-like of shape (n, d) or (n,)
        Inputs.
    degree : int
        Largest degree; the inner products are those of :class:`TruncatedExponential`.
    scale : float, default=1.0
        Positive.

    Returns
    -------
    features : ndarray of shape (n, N)
        ``sqrt(scale^|m| / m!) x^m``; in one dimension ``sqrt(scale^i / i!) x^i``.

    Examples
    --------
    >>> from corollary.kernels import exponential_map
    >>> exponential_map([3.0], 2, scale=2.0)  # 1, sqrt(2) 3, sqrt(4/2) 9
    array([[ 1.        ,  4.24264069, 12.72792206]])
    """
    check_whole("exponential_map", "degree", degree, 0)
    if not (np.isfinite(scale) and scale > 0):
        raise ValueError(
            "The 'scale' parameter of exponential_map must be a float in the range (0.0, inf). "
            f"Got {scale!r} instead."
        )
    X = np.asarray(arrays.vectors("exponential_map", X)) * np.sqrt(scale)
    exponents = monomial_exponents(X.shape[1], degree)
    return monomial_map(X, degree) * np.exp(-0.5 * gammaln(exponents + 1).sum(axis=1))


def rbf_map(X: Any, degree: int, *, length_scale: float | Sequence[float] = 1.0) -> np.ndarray:
    """Return the monomial features of the RBF kernel up to a degree.

    Parameters
    ----------
    X : array-like of shape (n, d) or (n,)
        Inputs.
    degree : int
        Largest degree.
    length_scale : float or array-like of shape (d,), default=1.0
        Width of the kernel.

    Returns
    -------
    features : ndarray of shape (n, N)
        ``exp(-|z|^2 / 2) z^m / sqrt(m!)`` with ``z = x / length_scale``, for every monomial m.

    See Also
    --------
    rbf_map_error : How far their inner products are from the kernel.

    Examples
    --------
    >>> from corollary.kernels import RBF, rbf_map
    >>> x, y = rbf_map([[0.5, 0.2], [0.1, -0.4]], degree=8)
    >>> abs(float(x @ y) - RBF()([0.5, 0.2], [0.1, -0.4])) < 1e-12
    True
    """
    Z = _scaled("rbf_map", X, length_scale)
    return exponential_map(Z, degree) * np.exp(-0.5 * arrays.squares(Z))[:, None]


def rbf_map_error(
    X: Any, Y: Any = None, *, degree: int, length_scale: float | Sequence[float] = 1.0
) -> np.ndarray:
    """Bound the error of :func:`rbf_map` for all pairs of inputs.

    Parameters
    ----------
    X : array-like of shape (n, d) or (n,)
        Inputs.
    Y : array-like of shape (m, d), (m,) or None, default=None
        Other inputs; None for X.
    degree : int
        Largest degree of the features.
    length_scale : float or array-like of shape (d,), default=1.0
        Width of the kernel.

    Returns
    -------
    bound : ndarray of shape (n, m)
        ``exp(-(|x|^2 + |y|^2) / 2) sum_{k > degree} |<x, y>|^k / k!`` in units of the length
        scale; at least the absolute difference of kernel and inner product of features.

    Examples
    --------
    >>> from corollary.kernels import rbf_map_error
    >>> bool(rbf_map_error([[1.0]], degree=10)[0, 0] < 2e-8)
    True
    """
    check_whole("rbf_map_error", "degree", degree, 0)
    X = _scaled("rbf_map_error", X, length_scale)
    Y = X if Y is None else _scaled("rbf_map_error", Y, length_scale)
    t = np.abs(X @ Y.T)
    # The tail of the exponential series is e^t times a regularised incomplete gamma function.
    exponent = t - 0.5 * (arrays.squares(X)[:, None] + arrays.squares(Y)[None, :])
    return np.exp(exponent) * gammainc(degree + 1, t)


def _scaled(who: str, X: Any, length_scale: Any) -> np.ndarray:
    from corollary.kernels.vectors.radial import RBF

    return arrays.divide(np.asarray(arrays.vectors(who, X)), RBF(length_scale).length_scale)
