r"""Convex functions that need not be smooth, with their proximal operators.

.. math:: \mathrm{prox}_{\eta h}(v)=\arg\min_x\; h(x)+\tfrac1{2\eta}\|x-v\|^2

A :class:`Penalty` knows its value, this operator and its conjugate
:math:`h^*(z)=\sup_xz^\top x-h(x)`, from which gaps are computed. The three are tied together by
Moreau's identity :math:`v=\mathrm{prox}_{\eta h}(v)+\eta\,\mathrm{prox}_{h^*/\eta}(v/\eta)`.
Matrices are passed as they are: a penalty of a vector works on any shape.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

# A conjugate is infinite outside a set; a point this much outside (relative) counts as on its rim.
_RIM = 1e-12


def soft_threshold(z: Any, threshold: float) -> np.ndarray:
    r"""Shrink towards zero by a threshold, and to zero below it.

    :math:`S(z,t)=\mathrm{sign}(z)(|z|-t)_+` minimises :math:`\tfrac12(u-z)^2+t|u|` over u; it
    solves the lasso for orthonormal columns and is each step of coordinate descent.
    See :class:`L1`.

    Examples
    --------
    >>> from corollary.optimize import soft_threshold
    >>> soft_threshold([-3.0, 0.5, 2.0], 1.0)
    array([-2.,  0.,  1.])
    """
    if not threshold >= 0:
        raise ValueError(
            "The 'threshold' parameter of soft_threshold must be a float in the range [0.0, inf). "
            f"Got {threshold!r} instead."
        )
    z = np.asarray(z, dtype=float)
    return np.maximum(z - threshold, 0.0) + np.minimum(z + threshold, 0.0)


class Penalty(ABC):
    r"""A convex function with a proximal operator.

    Of arrays of any shape, ``value(x)`` is its value, infinite outside the domain, ``prox(v,
    step)`` the minimiser of :math:`h(x)+\|x-v\|^2/(2\eta)` for a step :math:`\eta>0`, and
    ``conjugate(z, radius)`` the supremum of :math:`z^\top x-h(x)` over points with :math:`h(x)\le`
    radius, or an upper bound on it.

    Examples
    --------
    >>> from corollary.optimize import L1, Penalty
    >>> h = L1(2.0)
    >>> isinstance(h, Penalty), h.value([1.0, -1.0]), h.prox([3.0, -1.0], 1.0)
    (True, 4.0, array([1., 0.]))
    """

    def value(self, x: Any) -> float:
        """Return the value at a point. See :class:`Penalty`."""
        return float(self._value(np.asarray(x, dtype=float)))

    def prox(self, v: Any, step: float = 1.0) -> np.ndarray:
        """Return the proximal point of a step. See :class:`Penalty`."""
        if not step > 0:
            raise ValueError(f"The 'step' of a proximal operator must be above 0. Got {step!r}.")
        return self._prox(np.asarray(v, dtype=float), step)

    def conjugate(self, z: Any, radius: float = math.inf) -> float:
        """Return the conjugate, perhaps over points of small penalty only. See :class:`Penalty`."""
        return float(self._conjugate(np.asarray(z, dtype=float), radius))

    @abstractmethod
    def _value(self, x: np.ndarray) -> float:
        """Return the value."""

    @abstractmethod
    def _prox(self, v: np.ndarray, step: float) -> np.ndarray:
        """Return the proximal point."""

    @abstractmethod
    def _conjugate(self, z: np.ndarray, radius: float) -> float:
        """Return the conjugate."""


@dataclass(frozen=True)
class _Norm(Penalty):
    """A norm times its strength: the conjugate is the indicator of the dual norm's ball."""

    strength: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.strength < math.inf:
            raise ValueError(
                f"The 'strength' of {type(self).__name__} must be a float in the range [0, inf). "
                f"Got {self.strength!r} instead."
            )

    def _conjugate(self, z: np.ndarray, radius: float) -> float:
        # Over h(x) <= r the supremum is r (dual norm of z / strength - 1), or 0 at x = 0.
        excess = self._dual_norm(z) - self.strength
        if excess <= 0 or (excess <= _RIM * self.strength and radius == math.inf):
            return 0.0
        return radius * excess / self.strength if self.strength else math.inf

    @abstractmethod
    def _dual_norm(self, z: np.ndarray) -> float:
        """Return the norm that is dual to the one penalised."""


@dataclass(frozen=True)
class Zero(Penalty):
    """No penalty.

    Examples
    --------
    >>> from corollary.optimize import Zero
    >>> Zero().value([1.0]), Zero().prox([1.0]), Zero().conjugate([1.0])
    (0.0, array([1.]), inf)
    """

    def _value(self, x: np.ndarray) -> float:
        return 0.0

    def _prox(self, v: np.ndarray, step: float) -> np.ndarray:
        return v

    def _conjugate(self, z: np.ndarray, radius: float) -> float:
        return math.inf if np.any(z) else 0.0


@dataclass(frozen=True)
class L1(_Norm):
    r"""The sum of moduli, :math:`\lambda\|x\|_1`.

    Its ``strength`` :math:`\lambda` is 1 by default. See :class:`Penalty`.

    Examples
    --------
    >>> from corollary.optimize import L1
    >>> L1(0.5).prox([2.0, -0.2], 2.0)
    array([1., 0.])
    """

    def _value(self, x: np.ndarray) -> float:
        return self.strength * np.abs(x).sum()

    def _prox(self, v: np.ndarray, step: float) -> np.ndarray:
        return soft_threshold(v, step * self.strength)

    def _dual_norm(self, z: np.ndarray) -> float:
        return float(np.abs(z).max(initial=0.0))


@dataclass(frozen=True)
class LargestModulus(_Norm):
    r"""The largest modulus, :math:`\lambda\|x\|_\infty`.

    Its ``strength`` :math:`\lambda` is 1 by default. See :class:`Penalty`.

    Examples
    --------
    >>> from corollary.optimize import LargestModulus
    >>> LargestModulus().prox([3.0, 1.0], 1.0)
    array([2., 1.])
    """

    def _value(self, x: np.ndarray) -> float:
        return self.strength * np.abs(x).max(initial=0.0)

    def _prox(self, v: np.ndarray, step: float) -> np.ndarray:
        from corollary.optimize.problem.sets import project_l1_ball

        return v - project_l1_ball(v, step * self.strength)

    def _dual_norm(self, z: np.ndarray) -> float:
        return float(np.abs(z).sum())


@dataclass(frozen=True)
class GroupNorm(_Norm):
    r"""The sum of Euclidean norms of groups, :math:`\lambda\sum_g\|x_g\|_2`.

    The ``groups`` are a label for each entry, equal within a group; one group of all by default,
    and a ``strength`` :math:`\lambda` of 1. See :class:`Penalty`.

    Examples
    --------
    >>> from corollary.optimize import GroupNorm
    >>> GroupNorm(1.0, (0, 0, 1)).prox([3.0, 4.0, 0.5])
    array([2.4, 3.2, 0. ])
    """

    groups: Sequence[int] | None = None

    def _codes(self, x: np.ndarray) -> np.ndarray:
        if self.groups is None:
            return np.zeros(x.size, dtype=int)
        if len(self.groups) != x.size:
            raise ValueError(
                f"GroupNorm needs one label for each entry. Got {len(self.groups)} labels and "
                f"{x.size} entries."
            )
        return np.unique(np.asarray(self.groups), return_inverse=True)[1]

    def _norms(self, x: np.ndarray, codes: np.ndarray) -> np.ndarray:
        return np.sqrt(np.bincount(codes, np.ravel(x) ** 2))

    def _value(self, x: np.ndarray) -> float:
        return self.strength * self._norms(x, self._codes(x)).sum()

    def _prox(self, v: np.ndarray, step: float) -> np.ndarray:
        codes = self._codes(v)
        norms = self._norms(v, codes)
        kept = np.maximum(norms - step * self.strength, 0.0) / np.where(norms > 0, norms, 1.0)
        return v * kept[codes].reshape(v.shape)

    def _dual_norm(self, z: np.ndarray) -> float:
        return float(self._norms(z, self._codes(z)).max(initial=0.0))


@dataclass(frozen=True)
class NuclearNorm(_Norm):
    r"""The sum of singular values of a matrix, :math:`\lambda\|X\|_*`.

    Its ``strength`` :math:`\lambda` is 1 by default. See :class:`Penalty`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import NuclearNorm
    >>> NuclearNorm().prox(np.diag([3.0, 0.5]))
    array([[2., 0.],
           [0., 0.]])
    """

    def _value(self, x: np.ndarray) -> float:
        return self.strength * np.linalg.svd(_matrix(x), compute_uv=False).sum()

    def _prox(self, v: np.ndarray, step: float) -> np.ndarray:
        U, s, Vt = np.linalg.svd(_matrix(v), full_matrices=False)
        return (U * np.maximum(s - step * self.strength, 0.0)) @ Vt

    def _dual_norm(self, z: np.ndarray) -> float:
        return float(np.linalg.svd(_matrix(z), compute_uv=False).max(initial=0.0))


@dataclass(frozen=True)
class ElasticNetPenalty(Penalty):
    r"""The sum :math:`\lambda\|x\|_1+\tfrac\mu2\|x\|_2^2`; with one of the two 0, the other alone.

    The strengths ``l1`` :math:`\lambda`, 0 by default, and ``l2`` :math:`\mu>0`, 1 by default.
    See :class:`Penalty`.

    Examples
    --------
    >>> from corollary.optimize import ElasticNetPenalty
    >>> ElasticNetPenalty(1.0, 1.0).prox([3.0, 0.5])  # soft threshold, then shrink
    array([1., 0.])
    """

    l1: float = 0.0
    l2: float = 1.0

    def __post_init__(self) -> None:
        if not (0 <= self.l1 < math.inf and 0 < self.l2 < math.inf):
            raise ValueError(
                "ElasticNetPenalty needs l1 in the range [0, inf) and l2 in the range (0, inf). "
                f"Got {self.l1!r} and {self.l2!r}; without l2 it is L1(strength)."
            )

    def _value(self, x: np.ndarray) -> float:
        return self.l1 * np.abs(x).sum() + 0.5 * self.l2 * (x**2).sum()

    def _prox(self, v: np.ndarray, step: float) -> np.ndarray:
        return soft_threshold(v, step * self.l1) / (1.0 + step * self.l2)

    def _conjugate(self, z: np.ndarray, radius: float) -> float:
        return float((np.maximum(np.abs(z) - self.l1, 0.0) ** 2).sum() / (2 * self.l2))


def _matrix(x: np.ndarray) -> np.ndarray:
    if x.ndim != 2:
        raise ValueError(f"NuclearNorm needs a matrix. Got an array of shape {x.shape}.")
    return x
