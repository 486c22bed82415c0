"""Kernels of the difference of two vectors, with one length scale or one for each feature.

==================  ==============================================================
Laplacian           ``exp(-sum_j |x_j - y_j| / length_scale_j)``
Periodic            ``exp(-2 sum_j sin^2(pi (x_j - y_j) / period_j) / length_scale_j^2)``
==================  ==============================================================

Both are 1 at difference zero. Those of the Euclidean distance are in :mod:`.radial`.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.core.schema import Schema
from corollary.kernels import _arrays as arrays
from corollary.kernels._parametrised import SCALE, hyperparameter
from corollary.kernels.base import Kernel


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

    def diag_gradient(self, X: Any, weight: np.ndarray) -> np.ndarray:
        """Return zeros: the diagonal is one, whatever the parameters."""
        return np.zeros(len(self.parameters().values))


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

    length_scale: Any = hyperparameter(1.0)
    _schema = Schema(length_scale=SCALE)

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

    length_scale: Any = hyperparameter(1.0)
    period: Any = hyperparameter(1.0)
    _schema = Schema(length_scale=SCALE, period=SCALE)

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
        squares = arrays.squared_distances(P, Q, same)
        if isinstance(squares, np.ndarray):
            squares *= -0.5
            return np.exp(squares, out=squares)
        return squares.__array_namespace__().exp(-0.5 * squares)

    def _spectral_sample(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        # Fourier coefficients of exp(cos(t) / l^2) are Bessel functions, the law of a difference
        # of two Poisson variables.
        rate = np.broadcast_to(0.5 / np.square(self.length_scale), (n, d))
        return 2.0 * math.pi / self.period * (rng.poisson(rate) - rng.poisson(rate))
