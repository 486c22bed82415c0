"""Kernels of products of the coordinates of two vectors.

=====================  =============================================
Bilinear               ``x' A y`` with A positive semi-definite
ArcCosine              ``1 - angle(x, y) / pi``
ANOVA                  ``prod_j (1 + x_j y_j)``
=====================  =============================================
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.core.schema import Array, Schema
from corollary.kernels import _arrays as arrays
from corollary.kernels.base import Kernel


@dataclass(frozen=True, eq=False)
class Bilinear(Kernel):
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
class ArcCosine(Kernel):
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
class ANOVA(Kernel):
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
