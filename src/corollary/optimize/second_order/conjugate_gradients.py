r"""Conjugate gradients: positive definite systems from products with the matrix alone."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from corollary.core.certificate import Assumption
from corollary.optimize.iteration.certified import solve_by
from corollary.optimize.iteration.driver import Iteration
from corollary.optimize.iteration.stopping import Info, Stop
from corollary.optimize.optimality import Optimality
from corollary.optimize.solution import Solution

Product = Callable[[np.ndarray], Any]


class ConjugateState(NamedTuple):
    """Where conjugate gradients are: point, residual, direction, and the residual's size."""

    x: np.ndarray
    residual: np.ndarray
    direction: np.ndarray
    square: float


def conjugate_gradient_bound(condition: float, n_steps: int) -> float:
    r"""Bound the error of conjugate gradients as a share of the first one.

    .. math:: \|x_t-x^*\|_A\le2\Big(\frac{\sqrt\kappa-1}{\sqrt\kappa+1}\Big)^t\|x_0-x^*\|_A

    It is at most 1 because the error never grows; its square bounds the share of :math:`f(x_0)-f^*`
    that is left, with :math:`f(x)=\tfrac12x^\top Ax-b^\top x`.

    Guarantee: no iterate has a larger error, checked by
    ``tests/optimize/test_conjugate_gradients.py::test_no_step_violates_its_bound``.

    See :class:`ConjugateGradients`; the ``condition`` :math:`\kappa\ge1` is the quotient of the
    largest and the least eigenvalue of A, and t is ``n_steps``.

    Examples
    --------
    >>> from corollary.optimize import conjugate_gradient_bound
    >>> conjugate_gradient_bound(9.0, 3)  # 2 (2/4)^3
    0.25
    """
    if not (1 <= condition < math.inf and n_steps >= 0):
        raise ValueError(
            "conjugate_gradient_bound needs a condition number in the range [1, inf) and a number "
            f"of steps that is not negative. Got {condition!r} and {n_steps!r}."
        )
    root = math.sqrt(condition)
    return min(1.0, 2 * ((root - 1) / (root + 1)) ** n_steps)


@dataclass(frozen=True, eq=False)
class ConjugateGradients(Iteration[ConjugateState]):
    r"""Steps along directions that are conjugate: :math:`p_s^\top Ap_t=0`.

    Each iterate minimises :math:`\tfrac12x^\top Ax-b^\top x` over all combinations of the residuals
    so far. The solution is therefore reached in at most n steps, up to rounding, and in as many as
    A has different eigenvalues; :func:`conjugate_gradient_bound` bounds the error before.

    See :class:`Iteration`, and :func:`conjugate_gradients` for the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import ConjugateGradients, iterate
    >>> method = ConjugateGradients(np.diag([1.0, 4.0]), [1.0, 4.0])
    >>> iterate(method, [0.0, 0.0], max_iter=2).state.x.round(12)
    array([1., 1.])
    """

    A: Any
    b: Any
    preconditioner: Any = None

    def __post_init__(self) -> None:
        b = np.array(self.b, dtype=float)
        if b.ndim != 1 or not np.isfinite(b).all():
            raise ValueError(
                "ConjugateGradients needs a vector of finite numbers as right-hand side. "
                f"Got shape {b.shape}" + ("." if b.ndim != 1 else " with NaN or infinity.")
            )
        object.__setattr__(self, "b", b)
        if not callable(self.A):
            if not hasattr(self.A, "shape"):
                object.__setattr__(self, "A", np.array(self.A, dtype=float))
            if self.A.shape != (len(b), len(b)):
                raise ValueError(
                    "ConjugateGradients needs a square matrix with a row for each entry of b. "
                    f"Got shapes {self.A.shape} and {b.shape}."
                )
        if self.preconditioner is not None and not callable(self.preconditioner):
            diagonal = np.array(self.preconditioner, dtype=float)
            if diagonal.shape != b.shape or not (diagonal > 0).all():
                raise ValueError(
                    "A diagonal preconditioner needs one positive number for each entry of b. Got "
                    f"shape {diagonal.shape} and the least entry {diagonal.min(initial=np.inf):g}."
                )
            object.__setattr__(self, "preconditioner", diagonal)

    def _multiply(self, v: np.ndarray) -> np.ndarray:
        """Return the product of the matrix with a vector."""
        product = np.asarray(self.A(v) if callable(self.A) else self.A @ v, dtype=float)
        if product.shape != v.shape:
            raise ValueError(
                f"A product with the matrix must have shape {v.shape}. Got shape {product.shape}."
            )
        return product

    def _preconditioned(self, r: np.ndarray) -> np.ndarray:
        if self.preconditioner is None:
            return r
        if callable(self.preconditioner):
            return np.asarray(self.preconditioner(r), dtype=float)
        return self.preconditioner * r

    def init(self, start: Any) -> ConjugateState:
        """Return the first state, whose direction is the residual, preconditioned."""
        x = np.array(start, dtype=float)
        if x.shape != self.b.shape:
            raise ValueError(
                f"The start must have shape {self.b.shape}, as b has. Got shape {x.shape}."
            )
        residual = self.b - self._multiply(x)
        direction = self._preconditioned(residual)
        return ConjugateState(x, residual, direction, float(residual @ direction))

    def step(self, state: ConjugateState) -> tuple[ConjugateState, Info]:
        r"""Take one step; the info has the value and the norm of the residual at its end."""
        if state.square == 0.0:
            return state, Info(value=self._value(state), step=0.0, gradient=0.0)
        product = self._multiply(state.direction)
        curvature = float(state.direction @ product)
        if curvature <= 0:
            raise ValueError(
                "ConjugateGradients needs a positive definite matrix. Got a direction p with "
                f"p'Ap = {curvature:.3g}; add a multiple of the identity, or solve A'Ax = A'b."
            )
        length = state.square / curvature
        x = state.x + length * state.direction
        residual = state.residual - length * product
        better = self._preconditioned(residual)
        square = float(residual @ better)
        direction = better + (square / state.square) * state.direction
        following = ConjugateState(x, residual, direction, square)
        away = length * float(np.linalg.norm(state.direction))
        norm = float(np.linalg.norm(residual))
        return following, Info(value=self._value(following), step=away, gradient=norm)

    def _value(self, state: ConjugateState) -> float:
        # With A x = b - r the value needs no further product.
        return -0.5 * float(state.x @ (self.b + state.residual))


def conjugate_gradients(
    A: Any,
    b: Any,
    start: Any = None,
    *,
    preconditioner: Any = None,
    least_eigenvalue: float | None = None,
    tol: float = 1e-8,
    max_iter: int | None = None,
    state: Any = None,
) -> Solution:
    r"""Solve :math:`Ax=b` for a positive definite A by conjugate gradients.

    The solution minimises :math:`f(x)=\tfrac12x^\top Ax-b^\top x`. The residual is computed anew at
    the end, and :math:`f(x)-f^*\le\|b-Ax\|^2/(2\lambda)` with the least eigenvalue :math:`\lambda`.
    A direction that shows that A is not positive definite raises a ValueError.

    Parameters
    ----------
    A : ndarray of shape (n, n), sparse matrix or callable
        The matrix, or a function that multiplies a vector by it; memory for a few vectors is all
        that the method needs.
    b : array-like of shape (n,)
        Right-hand side.
    start : array-like of shape (n,) or None, default=None
        First point; None for zeros.
    preconditioner : array-like of shape (n,), callable or None, default=None
        What residuals are multiplied by: a positive diagonal, such as :math:`1/A_{jj}`, or a
        function that applies a positive definite matrix near :math:`A^{-1}`. None for none.
    least_eigenvalue : float or None, default=None
        A number that no eigenvalue of A falls below, as the caller vouches. With it the residual
        proves how good the point is; without it nothing is proved.
    tol : float, default=1e-8
        Norm of the residual to stop at, relative to that of b.
    max_iter : int or None, default=None
        Largest number of steps; None for 10 n.
    state : object, default=None
        ``solution.state`` of an earlier run to go on from, in place of ``start``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import conjugate_gradients
    >>> A = np.array([[4.0, 1.0], [1.0, 3.0]])
    >>> solution = conjugate_gradients(A, [1.0, 2.0], least_eigenvalue=2.0)
    >>> solution.x.round(4), solution.status, solution.n_iter
    (array([0.0909, 0.6364]), 'optimal', 2)
    """
    method = ConjugateGradients(A, b, preconditioner)
    if least_eigenvalue is not None and not 0 < least_eigenvalue < math.inf:
        raise ValueError(
            "The 'least_eigenvalue' parameter of conjugate_gradients must be a float in the range "
            f"(0, inf) or None. Got {least_eigenvalue!r} instead."
        )

    def certify(x: np.ndarray) -> Optimality:
        product = method._multiply(x)
        value = float(0.5 * (x @ product) - method.b @ x)
        norm = float(np.linalg.norm(method.b - product))
        if least_eigenvalue is None:
            return Optimality(value=value, residuals={"residual": norm})
        vouched = f"No eigenvalue of the matrix is below {least_eigenvalue:g}."
        return Optimality(
            value=value,
            lower_bound=value - norm**2 / (2 * least_eigenvalue),
            proof="strong convexity",
            residuals={"residual": norm},
            assumptions=(Assumption(vouched, "model"),),
        )

    n = len(method.b)
    stop = Stop(gradient=tol * float(np.linalg.norm(method.b)))
    budget = 10 * n if max_iter is None else max_iter
    begin = np.zeros(n) if start is None else start
    # The residual ends the run; a gap on the way would cost a product more.
    return solve_by(
        method, begin, certify, tol=tol, stop=stop, max_iter=budget, every=budget + 1, state=state
    )
