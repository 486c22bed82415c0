r"""Kernels of the Euclidean distance, with one length scale or one for each feature.

With ``r^2 = sum_j (x_j - y_j)^2 / length_scale_j^2``:

==================  ==============================================================
RBF                 ``exp(-r^2 / 2)``
RationalQuadratic   ``(1 + r^2 / (2 alpha)) ^ -alpha``
Matern, nu = 1/2    ``exp(-r)``
Matern, nu = 3/2    ``(1 + sqrt(3) r) exp(-sqrt(3) r)``
Matern, nu = 5/2    ``(1 + sqrt(5) r + 5 r^2 / 3) exp(-sqrt(5) r)``
==================  ==============================================================

All are 1 at distance zero; an amplitude is a factor, ``amplitude**2 * RBF()``. The width of the
RBF has one convention throughout the library, ``exp(-|x - y|^2 / (2 length_scale^2))``; convert
with :func:`length_scale_from_gamma` and :func:`gamma_from_length_scale`.

For a function f of :math:`r^2` and the matrix :math:`M=W\circ f'(r^2)`,

.. math:: \frac{\partial\langle W,K\rangle}{\partial x_{ik}}
   = \frac{2}{\ell_k^2}\Bigl(x_{ik}(M1)_i-(My_k)_i\Bigr),\qquad
   \frac{\partial\langle W,K\rangle}{\partial\log\ell_k}
   = -\frac{2}{\ell_k^2}\sum_{ij}M_{ij}(x_{ik}-y_{jk})^2,

and one matrix product gives all of them, with no array larger than the Gram matrix.
"""

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from corollary.core.schema import Number, Schema
from corollary.kernels import _arrays as arrays
from corollary.kernels._differentiation import NO_POINTS, Pullback
from corollary.kernels._parametrised import SCALE, hyperparameter
from corollary.kernels._tiles import GramTiles, RBFTiles
from corollary.kernels.vectors.stationary import Stationary


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
    length_scale = 1.0 / np.sqrt(2.0 * _positive("gamma", "length_scale_from_gamma", gamma))
    return float(length_scale) if np.ndim(length_scale) == 0 else length_scale


def _positive(name: str, who: str, value: Any) -> Any:
    number = np.asarray(value, dtype=float)
    if not (np.isfinite(number) & (number > 0)).all():
        raise ValueError(
            f"The {name!r} parameter of {who} must be a float in the range (0.0, inf). "
            f"Got {value!r} instead."
        )
    return float(number) if number.ndim == 0 else number


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
            # Rounding alone depends on the centre, so that it need not be differentiated. It is
            # that of Y, so that a row of X does not depend on the others.
            centre = _constant((Y if Y.shape[0] else X).mean(axis=0))

        def prepare(Z: Any) -> tuple[Any, Any]:
            Z = arrays.divide(Z - centre if np.ndim(centre) else Z, self.length_scale)
            return Z, arrays.squares(Z)

        return arrays.both(prepare, X, X if same else Y)

    def _evaluate(self, P: Any, Q: Any, same: bool) -> Any:
        return self._of_squares(arrays.squared_distances(P, Q, same, for_roots=self._takes_roots))

    @abstractmethod
    def _of_squares(self, r2: Any) -> Any:
        """Return the kernel for squared distances, which may be overwritten."""


class _Sloped(Radial):
    """A radial kernel that knows its slope, from which all gradients follow without JAX."""

    @abstractmethod
    def _slope(
        self, K: np.ndarray, squares: Callable[[], np.ndarray]
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """Return the derivative of the kernel in r^2, and those in what is no length scale.

        The squares are computed when they are asked for. All results are new arrays, and
        hyper-parameters are on the scale of ``with_parameters``.
        """

    def gram_with_gradient(self, X: Any, Y: Any = None) -> tuple[np.ndarray, Pullback]:
        """See :meth:`Kernel.gram_with_gradient`."""
        P, Q = self._prepare(X, Y)
        K = arrays.assemble(self._evaluate, P, Q) if Y is None else self._evaluate(P, Q, False)

        def pull(W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            (U, _), (V, _) = P, Q
            M, others = self._slope(K, lambda: arrays.squared_distances(P, Q, Y is None))
            M *= W
            if Y is None:  # distance zero whatever the length scales: no rounding from there
                np.fill_diagonal(M, 0.0)
            # One product gives the row sums too.
            MV = M @ np.column_stack([np.ones(len(V)), V])
            rows, columns, MV = MV[:, 0], np.ones(len(U)) @ M, MV[:, 1:]
            along = -2.0 * (rows @ U**2 + columns @ V**2 - 2.0 * (U * MV).sum(axis=0))
            scales = along if np.ndim(self.length_scale) else np.array([along.sum()])
            by_parameters = np.append(scales, [float(np.vdot(W, other)) for other in others])
            if Y is None:
                return by_parameters, NO_POINTS
            return by_parameters, 2.0 * (rows[:, None] * U - MV) / self.length_scale

        return K, pull


def _constant(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value
    from jax.lax import stop_gradient

    return stop_gradient(value)


@dataclass(frozen=True, eq=False)
class RBF(_Sloped):
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

    length_scale: Any = hyperparameter(1.0)
    _schema = Schema(length_scale=SCALE)

    def __post_init__(self) -> None:
        self._settle("length_scale", vector=True)

    def _of_squares(self, r2: Any) -> Any:
        if isinstance(r2, np.ndarray):
            r2 *= -0.5
            return np.exp(r2, out=r2)
        return r2.__array_namespace__().exp(-0.5 * r2)

    def _slope(
        self, K: np.ndarray, squares: Callable[[], np.ndarray]
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        return -0.5 * K, []

    def tiles(self, X: Any) -> GramTiles:
        """See :meth:`Kernel.tiles`."""
        if not sparse.issparse(X):
            P = self._prepare(X, None)[0]
            # Inner products lose digits when rows are far from their centre; the kernel then
            # computes distances in another way.
            if P[1].max(initial=0.0) * np.finfo(float).eps <= arrays.ROUNDING:
                return RBFTiles(P)
        return super().tiles(X)

    def _spectral_sample(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        return rng.standard_normal((n, d)) / self.length_scale


@dataclass(frozen=True, eq=False)
class RationalQuadratic(_Sloped):
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

    length_scale: Any = hyperparameter(1.0)
    alpha: Any = hyperparameter(1.0)
    _schema = Schema(length_scale=SCALE, alpha=Number(0))

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

    def _slope(
        self, K: np.ndarray, squares: Callable[[], np.ndarray]
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        base = 1.0 + 0.5 * squares() / self.alpha
        # k = exp(-a log(1 + r2 / 2a)), differentiated in log a.
        by_alpha = self.alpha * K * ((1.0 - 1.0 / base) - np.log(base))
        return -0.5 * K / base, [by_alpha]

    def _spectral_sample(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        # The kernel is E exp(-t r^2 / 2) for t with a gamma law of mean one.
        t = rng.gamma(self.alpha, 1.0 / self.alpha, size=(n, 1))
        return np.sqrt(t) * rng.standard_normal((n, d)) / self.length_scale


@dataclass(frozen=True, eq=False)
class Matern(_Sloped):
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

    length_scale: Any = hyperparameter(1.0)
    nu: float = 1.5
    _schema = Schema(length_scale=SCALE, nu=Number(0.5, 2.5))
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

    def _slope(
        self, K: np.ndarray, squares: Callable[[], np.ndarray]
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        r = np.sqrt(squares())
        if self.nu == 0.5:
            # The slope is infinite at distance zero, where it multiplies zero.
            return np.where(r > 0, -0.5 * K / np.where(r > 0, r, 1.0), 0.0), []
        root = math.sqrt(2.0 * self.nu)
        factor = -1.5 if self.nu == 1.5 else -5.0 / 6.0 * (1.0 + root * r)
        return factor * np.exp(-root * r), []

    def _spectral_sample(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        # A multivariate t law with 2 nu degrees of freedom.
        chi2 = rng.chisquare(2.0 * self.nu, size=(n, 1)) / (2.0 * self.nu)
        return rng.standard_normal((n, d)) / np.sqrt(chi2) / self.length_scale
