r"""Closed convex sets: membership, projection, support function.

The projection onto a set is the point of it that is nearest,
:math:`\Pi(v)=\arg\min_{x\in C}\|x-v\|`; it is the only one with
:math:`(v-\Pi v)^\top(z-\Pi v)\le0` for every z of the set. A set is a :class:`Penalty` that is 0
inside and infinite outside: its proximal operator is the projection, whatever the step, and its
conjugate the support function :math:`\sup_{x\in C}z^\top x`.
"""

import math
from abc import abstractmethod
from typing import Any

import numpy as np
from scipy import linalg

from corollary.optimize.problem.penalties import Penalty


def project_simplex(v: Any, total: float = 1.0) -> np.ndarray:
    r"""Return the point :math:`(v-\tau)_+` of :math:`\{x\ge0,\sum_ix_i=s\}` nearest to v.

    The ``total`` s is not negative, and :math:`\tau` makes the sum right. See :class:`Simplex`.

    Examples
    --------
    >>> from corollary.optimize import project_simplex
    >>> project_simplex([0.9, 0.5, -1.0])
    array([0.7, 0.3, 0. ])
    """
    v = np.asarray(v, dtype=float)
    if not total >= 0:
        raise ValueError(f"project_simplex needs a total of at least 0. Got {total!r}.")
    ordered = np.sort(v)[::-1]
    levels = (np.cumsum(ordered) - total) / np.arange(1, len(v) + 1)
    level = levels[np.flatnonzero(ordered >= levels)[-1]]
    return np.maximum(v - level, 0.0)


def project_l1_ball(v: Any, radius: float = 1.0) -> np.ndarray:
    r"""Return the point of :math:`\|x\|_1\le r` nearest to v, for a ``radius`` r of at least 0.

    It is a soft threshold of v whose level makes the norm right. See :class:`L1Ball`.

    Examples
    --------
    >>> from corollary.optimize import project_l1_ball
    >>> project_l1_ball([3.0, -1.0], 2.0)
    array([ 2., -0.])
    """
    if not radius >= 0.0:
        raise ValueError(
            f"The 'radius' parameter of project_l1_ball must be a float in the range [0.0, inf). "
            f"Got {radius} instead."
        )
    v = np.asarray(v, dtype=float)
    size = np.abs(v)
    if size.sum() <= radius:
        return v.copy()
    return np.sign(v) * project_simplex(size.ravel(), radius).reshape(v.shape)


class ConvexSet(Penalty):
    """A closed convex set: ``project(v)``, ``distance(x)`` and ``contains(x, tol)``.

    A point lies in the set if its distance is at most the tolerance, relative to the larger of 1
    and the length of the point.

    Examples
    --------
    >>> from corollary.optimize import Ball, ConvexSet
    >>> disc = Ball(2.0)
    >>> isinstance(disc, ConvexSet), disc.contains([1.0, 1.0]), disc.project([3.0, 4.0])
    (True, True, array([1.2, 1.6]))
    """

    def project(self, v: Any) -> np.ndarray:
        """Return the nearest point of the set. See :class:`ConvexSet`."""
        return self._project(np.asarray(v, dtype=float))

    def distance(self, x: Any) -> float:
        """Return how far a point is from the set, 0 inside. See :class:`ConvexSet`."""
        return float(np.linalg.norm(np.asarray(x, dtype=float) - self.project(x)))

    def contains(self, x: Any, tol: float = 1e-9) -> bool:
        """Tell whether a point lies in the set. See :class:`ConvexSet`."""
        return self.distance(x) <= tol * max(1.0, float(np.linalg.norm(x)))

    def _value(self, x: np.ndarray) -> float:
        return 0.0 if self.contains(x) else math.inf

    def _prox(self, v: np.ndarray, step: float) -> np.ndarray:
        return self._project(v)

    def _conjugate(self, z: np.ndarray, radius: float) -> float:
        return self._support(z)

    @abstractmethod
    def _project(self, v: np.ndarray) -> np.ndarray:
        """Return the nearest point."""

    @abstractmethod
    def _support(self, z: np.ndarray) -> float:
        """Return the largest value of z'x in the set."""


class Affine(ConvexSet):
    r"""The solutions of :math:`Ax=b`.

    Rows of ``A`` may depend on each other. See :class:`ConvexSet`.

    Examples
    --------
    >>> from corollary.optimize import Affine
    >>> Affine([[1.0, 1.0]], [2.0]).project([0.0, 0.0])
    array([1., 1.])
    """

    def __init__(self, A: Any, b: Any) -> None:
        self.A, self.b = np.atleast_2d(np.array(A, dtype=float)), np.atleast_1d(np.array(b, float))
        if self.b.shape != (len(self.A),):
            raise ValueError(
                f"Affine needs one entry of b for each row of A. Got {self.b.shape} and "
                f"{self.A.shape}."
            )
        self._inverse = np.linalg.pinv(self.A)
        self._point = self._inverse @ self.b
        gap = float(np.linalg.norm(self.A @ self._point - self.b))
        if gap > 1e-9 * max(1.0, float(np.linalg.norm(self.b))):
            raise ValueError("Affine needs equations with a solution. A x = b has none.")

    def _project(self, v: np.ndarray) -> np.ndarray:
        return v - self._inverse @ (self.A @ v - self.b)

    def _support(self, z: np.ndarray) -> float:
        along = z - self._inverse @ (self.A @ z)
        if np.linalg.norm(along) > 1e-9 * max(1.0, float(np.linalg.norm(z))):
            return math.inf
        return float(z @ self._point)


class HalfSpace(ConvexSet):
    r"""The points with :math:`a^\top x\le b`.

    The normal vector ``a`` is not zero, the offset ``b`` 0 by default. See :class:`ConvexSet`.

    Examples
    --------
    >>> from corollary.optimize import HalfSpace
    >>> HalfSpace([2.0, 0.0], 2.0).project([3.0, 1.0])
    array([1., 1.])
    """

    def __init__(self, a: Any, b: float = 0.0) -> None:
        self.a, self.b = np.array(a, dtype=float), float(b)
        if not np.any(self.a):
            raise ValueError("HalfSpace needs a normal vector that is not zero.")

    def _project(self, v: np.ndarray) -> np.ndarray:
        excess = max(0.0, float(self.a @ v) - self.b)
        return v - excess / float(self.a @ self.a) * self.a

    def _support(self, z: np.ndarray) -> float:
        factor = float(z @ self.a) / float(self.a @ self.a)
        if factor < 0 or np.linalg.norm(z - factor * self.a) > 1e-9 * np.linalg.norm(z):
            return math.inf
        return factor * self.b


class Box(ConvexSet):
    r"""The points with :math:`l\le x\le u`, entry by entry; :math:`x\ge0` by default.

    The bounds ``low`` and ``high`` are numbers or arrays, infinite for none.
    See :class:`ConvexSet`.

    Examples
    --------
    >>> from corollary.optimize import Box
    >>> Box(0.0, 1.0).project([-2.0, 0.5, 3.0])
    array([0. , 0.5, 1. ])
    """

    def __init__(self, low: Any = 0.0, high: Any = math.inf) -> None:
        self.low, self.high = np.array(low, dtype=float), np.array(high, dtype=float)
        if not np.all(self.low <= self.high):
            raise ValueError("Box needs lower bounds that are at most the upper ones.")

    def _project(self, v: np.ndarray) -> np.ndarray:
        return np.clip(v, self.low, self.high)

    def _support(self, z: np.ndarray) -> float:
        ends = np.where(z > 0, self.high, self.low)
        return float(np.sum(np.multiply(z, ends, where=z != 0, out=np.zeros_like(z))))


class Ball(ConvexSet):
    r"""The points with :math:`\|x-c\|_2\le r`.

    The ``radius`` r is 1 by default, the ``centre`` c 0, a number or an array.
    See :class:`ConvexSet`.

    Examples
    --------
    >>> from corollary.optimize import Ball
    >>> Ball(1.0).conjugate([3.0, 4.0])
    5.0
    """

    def __init__(self, radius: float = 1.0, centre: Any = 0.0) -> None:
        if not radius >= 0:
            raise ValueError(f"Ball needs a radius of at least 0. Got {radius!r}.")
        self.radius, self.centre = float(radius), np.array(centre, dtype=float)

    def _project(self, v: np.ndarray) -> np.ndarray:
        away = v - self.centre
        length = float(np.linalg.norm(away))
        return v.copy() if length <= self.radius else self.centre + self.radius / length * away

    def _support(self, z: np.ndarray) -> float:
        return float(np.sum(z * self.centre) + self.radius * np.linalg.norm(z))


class L1Ball(ConvexSet):
    r"""The points with :math:`\|x\|_1\le r`.

    The ``radius`` r is 1 by default. See :class:`ConvexSet`.

    Examples
    --------
    >>> from corollary.optimize import L1Ball
    >>> L1Ball(2.0).project([3.0, -1.0])
    array([ 2., -0.])
    """

    def __init__(self, radius: float = 1.0) -> None:
        self.radius = float(radius)
        project_l1_ball([0.0], self.radius)  # refuses a negative radius

    def _project(self, v: np.ndarray) -> np.ndarray:
        return project_l1_ball(v, self.radius)

    def _support(self, z: np.ndarray) -> float:
        return self.radius * float(np.abs(z).max(initial=0.0))


class Simplex(ConvexSet):
    r"""The points with :math:`x\ge0` and :math:`\sum_ix_i=s`: mixtures and portfolios.

    The ``total`` s is 1 by default. See :class:`ConvexSet`.

    Examples
    --------
    >>> from corollary.optimize import Simplex
    >>> Simplex().project([0.5, 0.5, 0.5]).round(3)
    array([0.333, 0.333, 0.333])
    """

    def __init__(self, total: float = 1.0) -> None:
        self.total = float(total)
        project_simplex([0.0], self.total)  # refuses a negative total

    def _project(self, v: np.ndarray) -> np.ndarray:
        return project_simplex(v, self.total)

    def _support(self, z: np.ndarray) -> float:
        return self.total * float(z.max())


class Ellipsoid(ConvexSet):
    r"""The points with :math:`(x-c)^\top P^{-1}(x-c)\le1`.

    The half axes are the roots of the eigenvalues of the positive definite ``P``; the ``centre`` c
    is 0 by default. See :class:`ConvexSet`.

    Examples
    --------
    >>> from corollary.optimize import Ellipsoid
    >>> Ellipsoid([[4.0, 0.0], [0.0, 1.0]]).project([5.0, 0.0])
    array([2., 0.])
    """

    def __init__(self, P: Any, centre: Any = 0.0) -> None:
        self.P, self.centre = np.array(P, dtype=float), np.array(centre, dtype=float)
        values, self._axes = linalg.eigh(self.P)
        if not values[0] > 0:
            raise ValueError("Ellipsoid needs a positive definite matrix P.")
        self._squares = values

    def _project(self, v: np.ndarray) -> np.ndarray:
        from scipy.optimize import brentq

        y = self._axes.T @ (v - self.centre)
        if np.sum(y**2 / self._squares) <= 1:
            return v.copy()

        # x = P (P + t)^-1 y lies on the rim for one t > 0, by the conditions of optimality.
        def rim(t: float) -> float:
            return float(np.sum(self._squares * y**2 / (self._squares + t) ** 2)) - 1.0

        far = math.sqrt(float(self._squares[-1])) * float(np.linalg.norm(y))
        t = brentq(rim, 0.0, far, xtol=1e-300, rtol=4 * np.finfo(float).eps)
        return self.centre + self._axes @ (self._squares * y / (self._squares + t))

    def _support(self, z: np.ndarray) -> float:
        return float(np.sum(z * self.centre) + math.sqrt(float(z @ self.P @ z)))


class PositiveSemidefinite(ConvexSet):
    """Symmetric matrices without negative eigenvalues.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import PositiveSemidefinite
    >>> PositiveSemidefinite().project(np.diag([2.0, -1.0]))
    array([[2., 0.],
           [0., 0.]])
    """

    def _project(self, v: np.ndarray) -> np.ndarray:
        values, vectors = linalg.eigh((v + v.T) / 2)
        return (vectors * np.maximum(values, 0.0)) @ vectors.T

    def _support(self, z: np.ndarray) -> float:
        largest = float(linalg.eigvalsh((z + z.T) / 2)[-1])
        return 0.0 if largest <= 1e-9 * max(1.0, float(np.abs(z).max())) else math.inf
