r"""Scaling of variables: the same problem with a smaller condition number.

With :math:`x=Dz` for a positive diagonal D, :math:`g(z)=f(Dz)` has the Hessian
:math:`D\nabla^2f(Dz)D`. A method that is slowed down by the quotient :math:`L/m` works on g, and
its answer is mapped back by D.
"""

from typing import Any

import numpy as np

from corollary.core.estimator import Count, checked
from corollary.optimize.problem.functions import Quadratic, Smooth


def jacobi_scaling(P: Any) -> np.ndarray:
    r"""Return the scaling :math:`d_j=1/\sqrt{P_{jj}}`, which makes a diagonal one.

    It is the diagonal of D, and 1 where that of P is 0. No other diagonal scaling has a condition
    number that is smaller by more than the factor n (van der Sluis, Numerische Mathematik 14,
    1969), checked by
    ``tests/optimize/test_scaling.py::test_no_scaling_is_better_by_more_than_the_order``. For
    :math:`P=A^\top A` it is the scaling of features to unit length.

    Parameters
    ----------
    P : array-like of shape (n, n)
        Symmetric, positive semi-definite, such as a Hessian.

    Examples
    --------
    >>> from corollary.optimize import jacobi_scaling
    >>> jacobi_scaling([[4.0, 0.0], [0.0, 100.0]])
    array([0.5, 0.1])
    """
    P = np.asarray(P, dtype=float)
    diagonal = np.diag(P) if P.ndim == 2 and P.shape[0] == P.shape[1] else np.array([np.nan])
    if not ((diagonal >= 0) & (diagonal < np.inf)).all():
        raise ValueError(
            "jacobi_scaling needs a square, positive semi-definite matrix, whose diagonal is not "
            f"negative. Got shape {P.shape} and the least diagonal entry {diagonal.min():g}."
        )
    return 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))


@checked
def equilibrate(A: Any, *, n_rounds: Count = 20) -> tuple[np.ndarray, np.ndarray]:
    r"""Scale rows and columns of a matrix so that the largest modulus in each is one (Ruiz 2001).

    Factors of the rows, 1 for rows of zeros, and of the columns are returned. Constraints become
    ``rows[:, None] * A * columns <= rows * b``, and the solution of the scaled problem is
    multiplied by ``columns``.

    Parameters
    ----------
    A : array-like of shape (m, n)
        The matrix, such as that of the constraints :math:`Ax\le b`.
    n_rounds : int, default=20
        How often all rows and columns are divided by the roots of their largest moduli; what is
        missing to one is halved in each round, on a logarithmic scale.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import equilibrate
    >>> rows, columns = equilibrate([[1.0, 100.0], [0.0, 4.0]])
    >>> (rows[:, None] * np.array([[1.0, 100.0], [0.0, 4.0]]) * columns).round(3)
    array([[1., 1.],
           [0., 1.]])
    """
    A = np.abs(np.asarray(A, dtype=float))
    if A.ndim != 2 or not np.isfinite(A).all():
        raise ValueError(f"equilibrate needs a matrix of finite numbers. Got shape {A.shape}.")
    rows, columns = np.ones(A.shape[0]), np.ones(A.shape[1])
    for _ in range(n_rounds):
        scaled = rows[:, None] * A * columns
        by_row, by_column = scaled.max(axis=1, initial=0), scaled.max(axis=0, initial=0)
        rows /= np.sqrt(np.where(by_row > 0, by_row, 1.0))
        columns /= np.sqrt(np.where(by_column > 0, by_column, 1.0))
    return rows, columns


class _Rescaled(Smooth):
    """The function of z whose argument is multiplied by a diagonal first."""

    def __init__(self, function: Smooth, scale: np.ndarray) -> None:
        self.function, self.scale = function, scale
        self.convex, self.floor = function.convex, function.floor
        self.smoothness = float(scale.max() ** 2 * function.smoothness)
        self.strong_convexity = float(scale.min() ** 2 * function.strong_convexity)
        self.assumptions = function.assumptions

    def _value(self, x: np.ndarray) -> float:
        return self.function.value(self.scale * x)

    def _gradient(self, x: np.ndarray) -> np.ndarray:
        return self.scale * self.function.gradient(self.scale * x)

    def _value_and_gradient(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = self.function.value_and_gradient(self.scale * x)
        return value, self.scale * gradient

    def _hessian(self, x: np.ndarray) -> np.ndarray:
        return self.scale[:, None] * self.function.hessian(self.scale * x) * self.scale


def rescale(function: Smooth, scale: Any) -> Smooth:
    r"""Return :math:`g(z)=f(Dz)`; if z minimises it, Dz minimises f.

    The positive diagonal ``scale`` of D may be :func:`jacobi_scaling` of a Hessian.
    See :class:`Smooth`. The constants of g are exact for a :class:`Quadratic`; otherwise
    :math:`L\max_jd_j^2` and :math:`m\min_jd_j^2`, which hold but may say less than is true.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import Quadratic, jacobi_scaling, rescale
    >>> f = Quadratic(np.diag([1.0, 100.0]), [-1.0, -1.0])
    >>> d = jacobi_scaling(f.P)
    >>> g = rescale(f, d)
    >>> g.smoothness / g.strong_convexity, d * g.minimiser()
    (1.0, array([1.  , 0.01]))
    """
    d = np.array(scale, dtype=float)
    if d.ndim != 1 or not ((d > 0) & (d < np.inf)).all():
        raise ValueError("rescale needs one positive, finite factor for each variable.")
    if isinstance(function, Quadratic):
        if d.shape != function.q.shape:
            raise ValueError(
                f"rescale needs one factor for each of {len(function.q)} variables. Got {len(d)}."
            )
        return Quadratic(d[:, None] * function.P * d, d * function.q, function.r)
    return _Rescaled(function, d)
