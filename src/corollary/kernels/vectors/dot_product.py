"""Kernels that are functions of the inner product of two vectors.

=====================  =============================================
Constant               ``value``
Linear                 ``<x, y>``
Polynomial             ``(gamma <x, y> + offset) ^ degree``
ExponentialDot         ``exp(scale <x, y>)``
TruncatedExponential   ``sum_{i <= degree} (scale <x, y>)^i / i!``
Sigmoid                ``tanh(scale <x, y> - offset)``, not positive semi-definite
=====================  =============================================
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.core.schema import Integer, Number, Schema
from corollary.kernels import _arrays as arrays
from corollary.kernels._differentiation import NO_POINTS, Pullback
from corollary.kernels._parametrised import check_whole, hyperparameter
from corollary.kernels.base import Kernel


class DotProduct(Kernel):
    """A function of the inner product of two vectors.

    Examples
    --------
    >>> from corollary.kernels import DotProduct, Linear, RBF
    >>> isinstance(Linear(), DotProduct), isinstance(RBF(), DotProduct)
    (True, False)
    """

    def _prepare(self, X: Any, Y: Any) -> tuple[Any, Any]:
        return arrays.vector_pair(type(self).__name__, X, Y, allow_sparse=True)

    def _evaluate(self, P: Any, Q: Any, same: bool) -> Any:
        return self._of_products(arrays.dot(P, Q))

    def _diag(self, P: Any) -> Any:
        return self._of_products(arrays.squares(P))

    @abstractmethod
    def _of_products(self, products: Any) -> Any:
        """Return the kernel for inner products, which may be overwritten."""


@dataclass(frozen=True, eq=False)
class Constant(Kernel):
    """Constant kernel.

    Parameters
    ----------
    value : float, default=1.0
        Non-negative.

    Examples
    --------
    >>> from corollary.kernels import Constant, Linear
    >>> Constant(2.0)([0.0], [5.0])
    2.0
    >>> Linear() + 1.0  # a bias
    Sum(terms=(Linear(), Constant(value=1.0)))
    """

    value: Any = hyperparameter(1.0)
    _schema = Schema(value=Number(0))
    stationary = True

    def __post_init__(self) -> None:
        self._settle("value", strict=False)

    def _prepare(self, X: Any, Y: Any) -> tuple[Any, Any]:
        return arrays.vector_pair("Constant", X, Y, allow_sparse=True)

    def _evaluate(self, P: Any, Q: Any, same: bool) -> Any:
        xp = arrays.namespace(P)
        return xp.ones((P.shape[0], Q.shape[0]), dtype=P.dtype) * self.value

    def _diag(self, P: Any) -> Any:
        return arrays.namespace(P).ones(P.shape[0], dtype=P.dtype) * self.value

    def gram_with_gradient(self, X: Any, Y: Any = None) -> tuple[np.ndarray, Pullback]:
        """See :meth:`Kernel.gram_with_gradient`."""
        K = self.gram(X, Y)
        by_points = NO_POINTS if Y is None else np.zeros(np.shape(X))
        return K, lambda W: (np.array([self.value * W.sum()]), by_points)

    def diag_gradient(self, X: Any, weight: np.ndarray) -> np.ndarray:
        """See :meth:`Kernel.diag_gradient`."""
        return np.array([self.value * weight.sum()])

    def _spectral_sample(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        return np.zeros((n, d))

    def spectral_mass(self) -> float:
        """Return the constant; all the mass is at frequency zero."""
        return self.value


@dataclass(frozen=True, eq=False)
class Linear(DotProduct):
    """Linear kernel ``<x, y>``.

    Examples
    --------
    >>> from corollary.kernels import Linear
    >>> Linear().gram([[1.0, 2.0], [3.0, 4.0]])
    array([[ 5., 11.],
           [11., 25.]])
    """

    _schema = Schema()

    def _of_products(self, products: Any) -> Any:
        return products


@dataclass(frozen=True, eq=False)
class Polynomial(DotProduct):
    """Polynomial kernel ``(gamma <x, y> + offset) ^ degree``.

    Parameters
    ----------
    degree : int, default=2
        At least 1.
    offset : float, default=1.0
        Non-negative; 0 gives the homogeneous kernel, whose features are the monomials of exactly
        this degree. scikit-learn calls it ``coef0``.
    gamma : float, default=1.0
        Positive factor of the inner product.

    Examples
    --------
    >>> from corollary.kernels import Polynomial
    >>> Polynomial(degree=3)([1.0, 2.0], [3.0, 0.5])  # (4 + 1) ^ 3
    125.0
    """

    degree: int = 2
    offset: Any = hyperparameter(1.0)
    gamma: Any = hyperparameter(1.0)
    _schema = Schema(degree=Integer(1), offset=Number(0), gamma=Number(0))

    def __post_init__(self) -> None:
        check_whole("Polynomial", "degree", self.degree, 1)
        self._settle("offset", strict=False)
        self._settle("gamma")

    def _of_products(self, products: Any) -> Any:
        return arrays.whole_power(products * self.gamma + self.offset, self.degree)


@dataclass(frozen=True, eq=False)
class ExponentialDot(DotProduct):
    """Exponential dot-product kernel ``exp(scale <x, y>)``.

    Parameters
    ----------
    scale : float, default=1.0
        Positive.

    Notes
    -----
    Normalised, it is the RBF kernel with ``length_scale = 1 / sqrt(scale)``. In one dimension
    its features are ``sqrt(scale^i / i!) x^i``, see :func:`exponential_map`.

    Examples
    --------
    >>> from corollary.kernels import ExponentialDot, RBF
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [2.0, -0.5]])
    >>> np.allclose(ExponentialDot(4.0).normalised().gram(X), RBF(0.5).gram(X))
    True
    """

    scale: Any = hyperparameter(1.0)
    _schema = Schema(scale=Number(0))

    def __post_init__(self) -> None:
        self._settle("scale")

    def _of_products(self, products: Any) -> Any:
        return arrays.apply("exp", products * self.scale)


@dataclass(frozen=True, eq=False)
class TruncatedExponential(DotProduct):
    """The first terms of the exponential kernel, ``sum_{i <= degree} (scale <x, y>)^i / i!``.

    Parameters
    ----------
    degree : int, default=2
        Largest power; at least 0.
    scale : float, default=1.0
        Positive.

    Examples
    --------
    >>> from corollary.kernels import TruncatedExponential
    >>> TruncatedExponential(degree=3)(1.0, 1.0)  # 1 + 1 + 1/2 + 1/6
    2.6666666666666665
    """

    degree: int = 2
    scale: Any = hyperparameter(1.0)
    _schema = Schema(degree=Integer(0), scale=Number(0))

    def __post_init__(self) -> None:
        check_whole("TruncatedExponential", "degree", self.degree, 0)
        self._settle("scale")

    def _of_products(self, products: Any) -> Any:
        t, total = products * self.scale, 1.0 + 0.0 * products
        for i in range(self.degree, 0, -1):  # Horner: 1 + t (1 + t/2 (1 + t/3 (...)))
            total = 1.0 + total * t / i
        return total


@dataclass(frozen=True, eq=False)
class Sigmoid(DotProduct):
    """Sigmoid "kernel" ``tanh(scale <x, y> - offset)``, which is not positive semi-definite.

    Parameters
    ----------
    scale : float, default=1.0
        Positive factor of the inner product.
    offset : float, default=0.0
        Subtracted from it.

    Notes
    -----
    It is offered because it is in use. Its Gram matrices can have negative eigenvalues, so it is
    no inner product of features: ``Sigmoid().positive_semidefinite`` is False, and
    :func:`psd_test` finds witnesses.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.kernels import Sigmoid
    >>> K = Sigmoid().gram([[1.0], [2.0], [3.0]])
    >>> round(float(np.linalg.eigvalsh(K)[0]), 3)
    -0.139
    """

    scale: Any = hyperparameter(1.0)
    offset: Any = hyperparameter(0.0, positive=False)
    _schema = Schema(scale=Number(0), offset=Number())
    positive_semidefinite = False

    def __post_init__(self) -> None:
        self._settle("scale")
        self._settle("offset", low=-math.inf)

    def _of_products(self, products: Any) -> Any:
        return arrays.apply("tanh", products * self.scale - self.offset)
