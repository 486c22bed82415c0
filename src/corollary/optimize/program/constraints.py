r"""Constraints with names.

Linear ones read :math:`h-Gx\in K` for a cone K: zero (equations), vectors without negative entries
(inequalities), second-order cones (norms) or semidefinite matrices. Others are smooth convex
functions with :math:`f(x)\le0`.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.optimize.problem.functions import Smooth
from corollary.optimize.program._cones import Origin, Orthant, SecondOrder, Semidefinite

_NUMBER = Orthant(1)


class Constraint(ABC):
    """A constraint of a program, made by one of the functions below.

    At a point, ``slack(x)`` is what must lie in the cone, nonnegative entries for inequalities,
    ``jacobian(x)`` the derivative of minus the slack, and ``violation(x)`` the largest excess of an
    inequality, error of an equation, excess of a norm, or modulus of the most negative eigenvalue.

    Attributes
    ----------
    name : str
        What multipliers, violations and conflicts are reported under.

    Examples
    --------
    >>> from corollary.optimize import linear_inequality
    >>> cap = linear_inequality([[1.0, 1.0]], [2.0], name="cap")
    >>> cap.name, cap.violation([2.0, 1.0])
    ('cap', 1.0)
    """

    name: str
    cone: Orthant

    @abstractmethod
    def slack(self, x: Any) -> np.ndarray:
        """Return what must lie in the cone, of shape (m,). See :class:`Constraint`."""

    @abstractmethod
    def jacobian(self, x: Any) -> np.ndarray:
        """Return the derivative of minus the slack, of shape (m, n). See :class:`Constraint`."""

    def violation(self, x: Any) -> float:
        """Return by how much a point violates it; 0 if it holds. See :class:`Constraint`."""
        return self.cone.excess(self.slack(x))

    def labels(self) -> list[str]:
        """Return the name itself for one entry, norm or matrix, else "name[i]" for each entry."""
        single = self.cone.size == 1 or isinstance(self.cone, SecondOrder | Semidefinite)
        return [self.name] if single else [f"{self.name}[{i}]" for i in range(self.cone.size)]


@dataclass(frozen=True, eq=False)
class LinearConstraint(Constraint):
    """The constraint that h - Gx lies in a cone."""

    G: np.ndarray
    h: np.ndarray
    cone: Orthant
    name: str

    def __post_init__(self) -> None:
        if self.G.ndim != 2 or self.h.shape != (len(self.G),) or not self.G.size:
            raise ValueError(
                f"The constraint {self.name!r} needs a matrix with one row for each right-hand "
                f"side and at least one row. Got shapes {self.G.shape} and {self.h.shape}."
            )
        if not (np.isfinite(self.G).all() and np.isfinite(self.h).all()):
            raise ValueError(
                f"The constraint {self.name!r} needs finite numbers, but holds NaN or infinity. "
                "Leave out rows without a bound."
            )

    def slack(self, x: Any) -> np.ndarray:
        """Return h - Gx."""
        return self.h - self.G @ np.asarray(x, dtype=float)

    def jacobian(self, x: Any = None) -> np.ndarray:
        """Return G."""
        return self.G


@dataclass(frozen=True, eq=False)
class FunctionConstraint(Constraint):
    """The constraint that a smooth function is at most 0."""

    function: Smooth
    name: str
    cone: Orthant = _NUMBER

    def slack(self, x: Any) -> np.ndarray:
        """Return -f(x)."""
        return -np.atleast_1d(self.function.value(x))

    def jacobian(self, x: Any) -> np.ndarray:
        """Return the gradient as a row."""
        return self.function.gradient(x)[None, :]


def linear_inequality(G: Any, h: Any, *, name: str) -> Constraint:
    r"""Return the constraint :math:`Gx\le h`.

    The coefficients ``G`` have shape (m, n), or (n,) for one row, and ``h`` holds the right-hand
    sides. See :class:`Constraint`.

    Examples
    --------
    >>> from corollary.optimize import linear_inequality
    >>> linear_inequality([[-1.0, 0.0], [0.0, -1.0]], [0.0, 0.0], name="sign").labels()
    ['sign[0]', 'sign[1]']
    """
    G, h = _rows(G, h)
    return LinearConstraint(G, h, Orthant(len(h)), name)


def linear_equality(A: Any, b: Any, *, name: str) -> Constraint:
    """Return the constraint :math:`Ax=b`, whose multipliers may have any sign.

    The parameters are those of :func:`linear_inequality`. See :class:`Constraint`.

    Examples
    --------
    >>> from corollary.optimize import linear_equality
    >>> linear_equality([1.0, 1.0], 1.0, name="budget").violation([0.2, 0.3])
    0.5
    """
    A, b = _rows(A, b)
    return LinearConstraint(A, b, Origin(len(b)), name)


def norm_inequality(A: Any, b: Any, c: Any, d: float, *, name: str) -> Constraint:
    r"""Return the constraint :math:`\|Ax+b\|\le c^\top x+d`, a second-order cone.

    Its multiplier is a vector (t, u) with k + 1 entries. See :class:`Constraint`, and
    :func:`linear_inequality` for ``A`` and ``b``, which here are inside the norm.

    Examples
    --------
    >>> from corollary.optimize import norm_inequality
    >>> ball = norm_inequality([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0], [0.0, 0.0], 1.0, name="ball")
    >>> ball.violation([3.0, 4.0])
    4.0
    """
    A, b = _rows(A, b)
    G, h = np.vstack([-np.asarray(c, dtype=float), -A]), np.concatenate([[d], b])
    return LinearConstraint(G, h, SecondOrder(len(h)), name)


def quadratic_inequality(P: Any, q: Any, r: float, *, name: str) -> Constraint:
    r"""Return the constraint :math:`\tfrac12x^\top Px+q^\top x+r\le0` as a second-order cone.

    For :math:`P=LL^\top` and :math:`t=-q^\top x-r` it reads
    :math:`\|(\sqrt2L^\top x,t-1)\|\le t+1`. See :class:`Constraint`; P must be positive
    semidefinite.

    Examples
    --------
    >>> from corollary.optimize import quadratic_inequality
    >>> risk = quadratic_inequality([[2.0]], [0.0], -4.0, name="risk")  # x^2 <= 4
    >>> risk.violation([2.0]), risk.violation([3.0]) > 0
    (0.0, True)
    """
    P, q = np.asarray(P, dtype=float), np.asarray(q, dtype=float)
    values, vectors = np.linalg.eigh(P)
    if values[0] < -1e-10 * np.abs(values).max():
        raise ValueError(
            f"The constraint {name!r} needs a positive semidefinite matrix P, else the points that "
            f"satisfy it are no convex set. Its least eigenvalue is {values[0]:.3g}."
        )
    root = np.sqrt(2 * np.maximum(values, 0.0))[:, None] * vectors.T
    return norm_inequality(
        np.vstack([root, -q]), np.append(np.zeros(len(q)), -r - 1.0), -q, 1.0 - r, name=name
    )


def matrix_inequality(constant: Any, coefficients: Sequence[Any], *, name: str) -> Constraint:
    r"""Return the constraint :math:`F_0+\sum_jx_jF_j\succeq0` on symmetric matrices.

    Its multiplier is a semidefinite matrix. The ``constant`` is :math:`F_0`, and the
    ``coefficients`` are the n matrices :math:`F_1,\dots,F_n`. See :class:`Constraint`.

    Examples
    --------
    >>> from corollary.optimize import matrix_inequality
    >>> top = matrix_inequality([[-1.0, 0.0], [0.0, -3.0]], [[[1.0, 0.0], [0.0, 1.0]]], name="top")
    >>> top.violation([1.0])  # x I - diag(1, 3) has the eigenvalue -2
    2.0
    """
    matrices = [np.asarray(F, dtype=float) for F in (constant, *coefficients)]
    order = len(matrices[0])
    for F in matrices:
        if F.shape != (order, order) or not np.allclose(F, F.T, rtol=1e-10, atol=1e-12):
            raise ValueError(
                f"The constraint {name!r} needs symmetric matrices of one shape. Got "
                f"shapes {sorted({F.shape for F in matrices})}; pass (F + F.T) / 2."
            )
    cone = Semidefinite.of_order(order)
    h, *columns = (cone.pack(F) for F in matrices)
    return LinearConstraint(-np.array(columns).T, h, cone, name)


def function_inequality(function: Smooth, *, name: str) -> Constraint:
    r"""Return the constraint :math:`f(x)\le0` for a :class:`Smooth` function.

    Certificates need the ``function`` to be convex. See :class:`Constraint`.

    Examples
    --------
    >>> from corollary.optimize import Quadratic, function_inequality
    >>> function_inequality(Quadratic([[2.0]], r=-4.0), name="risk").violation([3.0])
    5.0
    """
    return FunctionConstraint(function, name)


def _rows(G: Any, h: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return coefficients as a matrix and right-hand sides as a vector."""
    return np.atleast_2d(np.array(G, dtype=float)), np.atleast_1d(np.array(h, dtype=float))
