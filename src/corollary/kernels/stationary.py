"""Kernels of the difference of two vectors, with one length scale or one for each feature.

With ``r^2 = sum_j (x_j - y_j)^2 / length_scale_j^2``:

==================  ==============================================================
RBF                 ``exp(-r^2 / 2)``
RationalQuadratic   ``(1 + r^2 / (2 alpha)) ^ -alpha``
Matern, nu = 1/2    ``exp(-r)``
Matern, nu = 3/2    ``(1 + sqrt(3) r) exp(-sqrt(3) r)``
Matern, nu = 5/2    ``(1 + sqrt(5) r + 5 r^2 / 3) exp(-sqrt(5) r)``
Laplacian           ``exp(-sum_j |x_j - y_j| / length_scale_j)``
Periodic            ``exp(-2 sum_j sin^2(pi (x_j - y_j) / period_j) / length_scale_j^2)``
==================  ==============================================================

All are 1 at difference zero; an amplitude is a factor, ``amplitude**2 * RBF()``. The width of the
RBF has one convention throughout the library, ``exp(-|x - y|^2 / (2 length_scale^2))``; convert
with :func:`length_scale_from_gamma` and :func:`gamma_from_length_scale`.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from corollary.core.schema import Array, Number, Schema
from corollary.kernels import arrays
from corollary.kernels.base import POSITIVE, Kernel

_SCALE = Number(0) | Array("f", "d", low=0)

# Beyond this absolute error in r^2, distances come from differences, not from inner products.
_ROUNDING = 1e-10


def gamma_from_length_scale(length_scale: Any) -> Any:
    """Return scikit-learn's ``gamma`` of an RBF kernel, ``1 / (2 length_scale^2)``.

    Parameters
    ----------
    length_scale : float or array-like
        Positive width in our convention.

    Returns
    -------
    gamma : float or ndarray
        The factor in ``exp(-gamma |x - y|^2)``.

    Examples
    --------
    >>> from corollary.kernels import gamma_from_length_scale
    >>> gamma_from_length_scale(2.0)
    0.125
    """
    scale = _positive("length_scale", "gamma_from_length_scale", length_scale)
    return 0.5 / (scale * scale)


def length_scale_from_gamma(gamma: Any) -> Any:
    """Return the length scale of ``exp(-gamma |x - y|^2)``, which is ``1 / sqrt(2 gamma)``.

    Parameters
    ----------
    gamma : float or array-like
        Positive factor, as in scikit-learn.

    Returns
    -------
    length_scale : float or ndarray
        The width in our convention.

    Examples
    --------
    >>> from corollary.kernels import length_scale_from_gamma
    >>> length_scale_from_gamma(0.125)
    2.0
    """
    found = 1.0 / np.sqrt(2.0 * _positive("gamma", "length_scale_from_gamma", gamma))
    return float(found) if np.ndim(found) == 0 else found


def _positive(name: str, who: str, value: Any) -> Any:
    number = np.asarray(value, dtype=float)
    if not (np.isfinite(number) & (number > 0)).all():
        raise ValueError(
            f"The {name!r} parameter of {who} must be a float in the range (0.0, inf). "
            f"Got {value!r} instead."
        )
    return float(number) if number.ndim == 0 else number


def squared_distances(P: Any, Q: Any, same: bool, *, for_roots: bool = False) -> Any:
    """Return squared Euclidean distances of rows that come with their squared norms."""
    (X, x), (Y, y) = P, Q
    if isinstance(X, np.ndarray) and isinstance(Y, np.ndarray):
        largest = max(x.max(initial=0.0), y.max(initial=0.0))
        if largest * np.finfo(float).eps > _ROUNDING:
            from scipy.spatial.distance import cdist

            return cdist(X, Y, "sqeuclidean")
    products = arrays.dot(X, Y)
    if isinstance(products, np.ndarray):
        products *= -2.0
        products += x[:, None]
        products += y[None, :]
        np.maximum(products, 0.0, out=products)
        if for_roots and products.size and not sparse.issparse(X) and not sparse.issparse(Y):
            close = products < 1e-8 * largest**2
            arrays.refine(products, close, lambda i, j: arrays.squares(X[i] - Y[j]))
    else:
        xp = products.__array_namespace__()
        products = xp.maximum(x[:, None] + y[None, :] - 2.0 * products, 0.0)
    return arrays.with_diagonal(products, 0.0) if same else products


class Stationary(Kernel):
    """A kernel of the difference of two vectors, equal to 1 at difference zero.

    Examples
    --------
    >>> from corollary.kernels import Matern, RBF, Stationary
    >>> isinstance(RBF(), Stationary), isinstance(Matern(), Stationary)
    (True, True)
    """

    stationary = True

    def _diag(self, P: Any) -> Any:
        xp = arrays.namespace(P)
        first = P[0] if isinstance(P, tuple) else P
        return xp.ones(first.shape[0], dtype=first.dtype)


class Radial(Stationary):
    """A decreasing function of the Euclidean distance in units of the length scales.

    Examples
    --------
    >>> from corollary.kernels import Laplacian, Radial, RBF
    >>> isinstance(RBF(), Radial), isinstance(Laplacian(), Radial)
    (True, False)
    """

    length_scale: Any
    _takes_roots: ClassVar[bool] = False

    def _prepare(self, X: Any, Y: Any) -> tuple[Any, Any]:
        X, Y = arrays.vector_pair(type(self).__name__, X, Y, allow_sparse=True)
        same, centre = Y is X, 0.0
        if not sparse.issparse(X) and not sparse.issparse(Y) and X.shape[0]:
            # Distances do not change when all rows move, and small numbers lose fewer digits.
            # Rounding alone depends on the centre, so that it need not be differentiated.
            centre = _constant(X.mean(axis=0))

        def prepare(Z: Any) -> tuple[Any, Any]:
            Z = arrays.divide(Z - centre if np.ndim(centre) else Z, self.length_scale)
            return Z, arrays.squares(Z)

        return arrays.both(prepare, X, X if same else Y)

    def _evaluate(self, P: Any, Q: Any, same: bool) -> Any:
        return self._of_squares(squared_distances(P, Q, same, for_roots=self._takes_roots))

    @abstractmethod
    def _of_squares(self, r2: Any) -> Any:
        """Return the kernel for squared distances, which may be overwritten."""


def _constant(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value
    from jax.lax import stop_gradient

    return stop_gradient(value)


@dataclass(frozen=True, eq=False)
class RBF(Radial):
    """Gaussian kernel ``exp(-|x - y|^2 / (2 length_scale^2))``.

    Also called squared exponential. It is the normalisation of the exponential dot-product
    kernel, and its feature space has infinitely many dimensions.

    Parameters
    ----------
    length_scale : float or array-like of shape (d,), default=1.0
        Width; with one for each feature, differences are divided by it before they are squared.

    See Also
    --------
    length_scale_from_gamma : Widths from scikit-learn's convention ``exp(-gamma |x - y|^2)``.

    Notes
    -----
    scikit-learn's ``gamma`` is ``1 / (2 length_scale**2)``; texts that write
    ``exp(-|x - y|^2 / l^2)`` mean ``length_scale = l / sqrt(2)``. The spectral measure is normal
    with covariance ``1 / length_scale**2``.

    Examples
    --------
    >>> from corollary.kernels import RBF
    >>> RBF(length_scale=2.0).gram([[0.0], [2.0]]).round(6)
    array([[1.      , 0.606531],
           [0.606531, 1.      ]])
    >>> RBF(length_scale=[1.0, 10.0])([0.0, 0.0], [0.0, 10.0])  # one scale for each feature
    0.6065306597126334
    """

    length_scale: Any = field(default=1.0, metadata=POSITIVE)
    _schema = Schema(length_scale=_SCALE)

    def __post_init__(self) -> None:
        self._settle("length_scale", vector=True)

    def _of_squares(self, r2: Any) -> Any:
        if isinstance(r2, np.ndarray):
            r2 *= -0.5
            return np.exp(r2, out=r2)
        return r2.__array_namespace__().exp(-0.5 * r2)

    def _spectral_sample(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        return rng.standard_normal((n, d)) / self.length_scale


@dataclass(frozen=True, eq=False)
class RationalQuadratic(Radial):
    """Rational quadratic kernel ``(1 + r^2 / (2 alpha)) ^ -alpha``, a mixture of RBF kernels.

    Parameters
    ----------
    length_scale : float or array-like of shape (d,), default=1.0
        Width, one or one for each feature.
    alpha : float, default=1.0
        Positive; large values come close to the RBF kernel, small ones have heavy tails.

    Examples
    --------
    >>> from corollary.kernels import RationalQuadratic
    >>> RationalQuadratic(length_scale=1.0, alpha=0.5)(0.0, 1.0)
    0.7071067811865476
    """

    length_scale: Any = field(default=1.0, metadata=POSITIVE)
    alpha: Any = field(default=1.0, metadata=POSITIVE)
    _schema = Schema(length_scale=_SCALE, alpha=Number(0))

    def __post_init__(self) -> None:
        self._settle("length_scale", vector=True)
        self._settle("alpha")

    def _of_squares(self, r2: Any) -> Any:
        # The logarithm keeps precision for large alpha, where the base is close to one.
        if isinstance(r2, np.ndarray):
            r2 *= 0.5 / self.alpha
            np.log1p(r2, out=r2)
            r2 *= -self.alpha
            return np.exp(r2, out=r2)
        xp = r2.__array_namespace__()
        return xp.exp(-self.alpha * xp.log1p(0.5 * r2 / self.alpha))

    def _spectral_sample(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        # The kernel is E exp(-t r^2 / 2) for t with a gamma law of mean one.
        t = rng.gamma(self.alpha, 1.0 / self.alpha, size=(n, 1))
        return np.sqrt(t) * rng.standard_normal((n, d)) / self.length_scale


@dataclass(frozen=True, eq=False)
class Matern(Radial):
    """Matern kernel: its draws have ``nu - 1/2`` derivatives.

    Parameters
    ----------
    length_scale : float or array-like of shape (d,), default=1.0
        Width, one or one for each feature.
    nu : {0.5, 1.5, 2.5}, default=1.5
        Smoothness. 0.5 is the exponential kernel ``exp(-r)``.

    See Also
    --------
    Laplacian : The exponential of the L1 distance; the same in one dimension for nu = 1/2.

    Examples
    --------
    >>> from corollary.kernels import Matern
    >>> round(Matern(nu=0.5)([0.0, 0.0], [3.0, 4.0]), 8)  # exp(-5)
    0.00673795
    """

    length_scale: Any = field(default=1.0, metadata=POSITIVE)
    nu: float = 1.5
    _schema = Schema(length_scale=_SCALE, nu=Number(0.5, 2.5))
    _takes_roots = True

    def __post_init__(self) -> None:
        self._settle("length_scale", vector=True)
        if self.nu not in (0.5, 1.5, 2.5):
            raise ValueError(
                f"The 'nu' parameter of Matern must be one of 0.5, 1.5, 2.5. Got {self.nu!r} "
                "instead; RBF is the limit of large values."
            )

    def _of_squares(self, r2: Any) -> Any:
        root = math.sqrt(2.0 * self.nu)
        if not isinstance(r2, np.ndarray):
            xp = r2.__array_namespace__()
            r = root * arrays.safe_sqrt(r2)
            factors = {0.5: 1.0, 1.5: 1.0 + r, 2.5: 1.0 + r + r * r / 3.0}
            return factors[self.nu] * xp.exp(-r)
        r = np.sqrt(r2, out=r2)
        r *= root
        if self.nu == 0.5:
            return np.exp(np.negative(r, out=r), out=r)
        factor = r + 1.0
        if self.nu == 2.5:
            factor += r * r / 3.0
        factor *= np.exp(np.negative(r, out=r), out=r)
        return factor

    def _spectral_sample(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        # A multivariate t law with 2 nu degrees of freedom.
        chi2 = rng.chisquare(2.0 * self.nu, size=(n, 1)) / (2.0 * self.nu)
        return rng.standard_normal((n, d)) / np.sqrt(chi2) / self.length_scale


@dataclass(frozen=True, eq=False)
class Laplacian(Stationary):
    """Exponential kernel of the L1 distance, ``exp(-sum_j |x_j - y_j| / length_scale_j)``.

    Parameters
    ----------
    length_scale : float or array-like of shape (d,), default=1.0
        Width, one or one for each feature; scikit-learn's ``gamma`` is its inverse.

    See Also
    --------
    Matern : With nu = 1/2, the exponential of the Euclidean distance.

    Notes
    -----
    Under the spectral measure the frequencies are independent Cauchy variables with scale
    ``1 / length_scale``.

    Examples
    --------
    >>> from corollary.kernels import Laplacian
    >>> round(Laplacian(length_scale=7.0)([0.0, 0.0], [3.0, 4.0]), 8)  # exp(-1)
    0.36787944
    """

    length_scale: Any = field(default=1.0, metadata=POSITIVE)
    _schema = Schema(length_scale=_SCALE)

    def __post_init__(self) -> None:
        self._settle("length_scale", vector=True)

    def _prepare(self, X: Any, Y: Any) -> tuple[Any, Any]:
        X, Y = arrays.vector_pair("Laplacian", X, Y)
        return arrays.both(lambda Z: arrays.divide(Z, self.length_scale), X, Y)

    def _evaluate(self, P: Any, Q: Any, same: bool) -> Any:
        if isinstance(P, np.ndarray):
            from scipy.spatial.distance import cdist

            distances = cdist(P, Q, "cityblock")
            return np.exp(np.negative(distances, out=distances), out=distances)
        xp = P.__array_namespace__()
        distances = xp.zeros((P.shape[0], Q.shape[0]), dtype=P.dtype)
        for j in range(P.shape[1]):  # one n x m matrix at a time, never n x m x d
            distances = distances + xp.abs(P[:, j, None] - Q[None, :, j])
        return xp.exp(-distances)

    def _spectral_sample(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        return rng.standard_cauchy((n, d)) / self.length_scale


@dataclass(frozen=True, eq=False)
class Periodic(Stationary):
    """Periodic kernel ``exp(-2 sum_j sin^2(pi (x_j - y_j) / period_j) / length_scale_j^2)``.

    Parameters
    ----------
    length_scale : float or array-like of shape (d,), default=1.0
        Width in units of the circle, one or one for each feature.
    period : float or array-like of shape (d,), default=1.0
        Period, one or one for each feature.

    Notes
    -----
    With several features the sum of squared sines is taken over them, which is a product of
    kernels and positive semi-definite; putting the Euclidean distance into one sine is not.

    Examples
    --------
    >>> from corollary.kernels import Periodic
    >>> kernel = Periodic(period=3.0)
    >>> round(kernel(0.5, 6.5), 12), round(kernel(0.0, 1.5), 6)  # exp(-2) half a period away
    (1.0, 0.135335)
    """

    length_scale: Any = field(default=1.0, metadata=POSITIVE)
    period: Any = field(default=1.0, metadata=POSITIVE)
    _schema = Schema(length_scale=_SCALE, period=_SCALE)

    def __post_init__(self) -> None:
        self._settle("length_scale", vector=True)
        self._settle("period", vector=True)

    def _prepare(self, X: Any, Y: Any) -> tuple[Any, Any]:
        X, Y = arrays.vector_pair("Periodic", X, Y)

        def prepare(Z: Any) -> tuple[Any, Any]:
            # On the circle, |u(x) - u(y)|^2 = 4 sin^2(pi (x - y) / period): an RBF kernel there.
            xp = Z.__array_namespace__()
            angle = arrays.divide(2.0 * math.pi * Z, self.period)
            scale = self.length_scale
            circle = [arrays.divide(f(angle), scale) for f in (xp.cos, xp.sin)]
            U = xp.concat(circle, axis=1)
            return U, arrays.squares(U)

        return arrays.both(prepare, X, Y)

    def _evaluate(self, P: Any, Q: Any, same: bool) -> Any:
        squares = squared_distances(P, Q, same)
        if isinstance(squares, np.ndarray):
            squares *= -0.5
            return np.exp(squares, out=squares)
        return squares.__array_namespace__().exp(-0.5 * squares)

    def _spectral_sample(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        # Fourier coefficients of exp(cos(t) / l^2) are Bessel functions, the law of a difference
        # of two Poisson variables.
        rate = np.broadcast_to(0.5 / np.square(self.length_scale), (n, d))
        return 2.0 * math.pi / self.period * (rng.poisson(rate) - rng.poisson(rate))
