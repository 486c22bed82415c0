"""Kernels of the inner product of two vectors.

=====================  =============================================
Constant               ``value``
Linear                 ``<x, y>``
Polynomial             ``(gamma <x, y> + offset) ^ degree``
ExponentialDot         ``exp(scale <x, y>)``
TruncatedExponential   ``sum_{i <= degree} (scale <x, y>)^i / i!``
Bilinear               ``x' A y`` with A positive semi-definite
ArcCosine              ``1 - angle(x, y) / pi``
ANOVA                  ``prod_j (1 + x_j y_j)``
Sigmoid                ``tanh(scale <x, y> - offset)``, not positive semi-definite
=====================  =============================================
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from corollary.core.schema import Array, Integer, Number, Schema
from corollary.kernels import arrays
from corollary.kernels.base import POSITIVE, REAL, Kernel


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

    def _of_products(self, products: Any) -> Any:
        """Return the kernel for inner products, which may be overwritten."""
        return products


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

    value: Any = field(default=1.0, metadata=POSITIVE)
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
    offset: Any = field(default=1.0, metadata=POSITIVE)
    gamma: Any = field(default=1.0, metadata=POSITIVE)
    _schema = Schema(degree=Integer(1), offset=Number(0), gamma=Number(0))

    def __post_init__(self) -> None:
        check_whole("Polynomial", "degree", self.degree, 1)
        self._settle("offset", strict=False)
        self._settle("gamma")

    def _of_products(self, products: Any) -> Any:
        return whole_power(products * self.gamma + self.offset, self.degree)


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

    scale: Any = field(default=1.0, metadata=POSITIVE)
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
    scale: Any = field(default=1.0, metadata=POSITIVE)
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

    scale: Any = field(default=1.0, metadata=POSITIVE)
    offset: Any = field(default=0.0, metadata=REAL)
    _schema = Schema(scale=Number(0), offset=Number())
    positive_semidefinite = False

    def __post_init__(self) -> None:
        self._settle("scale")
        self._settle("offset", low=-math.inf)

    def _of_products(self, products: Any) -> Any:
        return arrays.apply("tanh", products * self.scale - self.offset)


@dataclass(frozen=True, eq=False)
class Bilinear(DotProduct):
    """Bilinear kernel ``x' A y`` with a positive semi-definite matrix.

    Parameters
    ----------
    matrix : array-like of shape (d, d)
        Symmetric and positive semi-definite; ``A = R R'`` gives the features ``R' x``.

    Examples
    --------
    >>> from corollary.kernels import Bilinear
    >>> Bilinear([[2.0, 1.0], [1.0, 2.0]])([1.0, 0.0], [0.0, 1.0])
    1.0
    """

    matrix: Any
    _schema = Schema(matrix=Array("f", "d", "d"))

    def __post_init__(self) -> None:
        A = np.array(self.matrix, dtype=np.float64)
        if A.ndim != 2 or A.shape[0] != A.shape[1] or not np.isfinite(A).all():
            raise ValueError(
                "The 'matrix' parameter of Bilinear must be a square matrix of finite numbers. "
                f"Got an array of shape {A.shape}."
            )
        size = np.abs(A).max(initial=0.0)
        if not np.allclose(A, A.T, rtol=0, atol=1e-10 * size):
            raise ValueError("The 'matrix' parameter of Bilinear must be symmetric.")
        smallest = np.linalg.eigvalsh(A).min(initial=0.0)
        if smallest < -1e-10 * size * max(1, len(A)):
            raise ValueError(
                "The 'matrix' parameter of Bilinear must be positive semi-definite. Its smallest "
                f"eigenvalue is {smallest:.3g}."
            )
        A.flags.writeable = False
        object.__setattr__(self, "matrix", A)

    def _prepare(self, X: Any, Y: Any) -> tuple[Any, Any]:
        X, Y = arrays.vector_pair("Bilinear", X, Y)
        if X.shape[1] != len(self.matrix):
            raise ValueError(
                f"This Bilinear kernel compares vectors of length {len(self.matrix)}. "
                f"Got {X.shape[1]}."
            )
        A = X.__array_namespace__().asarray(self.matrix, dtype=X.dtype)
        return arrays.both(lambda Z: (Z, Z @ A), X, Y)

    def _evaluate(self, P: Any, Q: Any, same: bool) -> Any:
        return P[1] @ Q[0].T

    def _diag(self, P: Any) -> Any:
        return (P[0] * P[1]).sum(axis=1)


@dataclass(frozen=True, eq=False)
class ArcCosine(DotProduct):
    """Arc-cosine kernel of order 0, ``1 - angle(x, y) / pi``.

    Notes
    -----
    It is the probability that a random hyperplane through the origin has both inputs on the same
    side: ``P(sign <u, x> = sign <u, y>)`` for u uniform on the sphere. See
    :class:`ArcCosineFeatures`. The zero vector has no angle and is refused.

    Examples
    --------
    >>> from corollary.kernels import ArcCosine
    >>> ArcCosine().gram([[1.0, 0.0]], [[2.0, 0.0], [0.0, 3.0], [-1.0, 0.0]])
    array([[1. , 0.5, 0. ]])
    """

    _schema = Schema()

    def _prepare(self, X: Any, Y: Any) -> tuple[Any, Any]:
        X, Y = arrays.vector_pair("ArcCosine", X, Y)

        def unit(Z: Any) -> Any:
            xp = Z.__array_namespace__()
            # Dividing by the largest entry first keeps squares of tiny and huge numbers in range.
            largest = xp.max(xp.abs(Z), axis=1, keepdims=True)
            if xp is np and not largest.all():
                raise ValueError(
                    "ArcCosine compares directions, and the zero vector has none. Remove rows "
                    "that are zero, or append a constant feature."
                )
            Z = Z / largest
            return Z / xp.sqrt(arrays.squares(Z))[:, None]

        return arrays.both(unit, X, Y)

    def _evaluate(self, P: Any, Q: Any, same: bool) -> Any:
        cosine = arrays.dot(P, Q)
        xp = cosine.__array_namespace__()
        if xp is np:
            ends = np.abs(cosine) > 1.0 - 1e-6
            angle = np.arccos(np.clip(cosine, -1.0, 1.0, out=cosine), out=cosine)
            # Near its ends the arc cosine loses half of the digits; half-angle tangents do not.
            arrays.refine(angle, ends, lambda i, j: _half_angles(P[i], Q[j]))
        else:  # the derivative of the angle is infinite at its ends, where we take zero
            inside = xp.abs(cosine) < 1.0
            ends = xp.where(cosine > 0, 0.0, math.pi)
            angle = xp.where(inside, xp.arccos(xp.where(inside, cosine, 0.0)), ends)
        K = 1.0 - angle / math.pi
        return arrays.with_diagonal(K, 1.0) if same else K

    def _diag(self, P: Any) -> Any:
        return P.__array_namespace__().ones(P.shape[0], dtype=P.dtype)


def _half_angles(U: np.ndarray, V: np.ndarray) -> np.ndarray:
    return 2.0 * np.arctan2(np.linalg.norm(U - V, axis=1), np.linalg.norm(U + V, axis=1))


@dataclass(frozen=True, eq=False)
class ANOVA(DotProduct):
    """All-subsets kernel ``prod_j (1 + x_j y_j)``.

    Its features are the ``2^d`` monomials in which every input occurs at most once, one for each
    subset of the inputs; :func:`subset_map` lists them.

    Notes
    -----
    On bits it counts: the kernel is 2 to the number of shared ones. A monotone disjunctive normal
    form on x is a disjunction of single features; append ``1 - x`` for general ones.

    Examples
    --------
    >>> from corollary.kernels import ANOVA
    >>> ANOVA()([1, 1, 0, 1], [1, 1, 1, 0])
    4.0
    """

    _schema = Schema()

    def _prepare(self, X: Any, Y: Any) -> tuple[Any, Any]:
        return arrays.vector_pair("ANOVA", X, Y)

    def _evaluate(self, P: Any, Q: Any, same: bool) -> Any:
        K = P.__array_namespace__().ones((P.shape[0], Q.shape[0]), dtype=P.dtype)
        for j in range(P.shape[1]):
            K = K * (1.0 + P[:, j, None] * Q[None, :, j])
        return K

    def _diag(self, P: Any) -> Any:
        return P.__array_namespace__().prod(1.0 + P * P, axis=1)


def check_whole(who: str, name: str, value: Any, low: int) -> None:
    """Refuse what is not a whole number of at least ``low``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise ValueError(
            f"The {name!r} parameter of {who} must be an int in the range [{low}, inf). "
            f"Got {value!r} instead."
        )


def whole_power(base: Any, degree: int) -> Any:
    """Raise entries to a whole power by repeated squaring, which is faster than ``**``."""
    result = None
    while degree:
        if degree & 1:
            result = base if result is None else result * base
        degree >>= 1
        if degree:
            base = base * base
    return result
