r"""The gradient step as an operator, and what repeating it gives."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from corollary.core.estimator import CountFromZero, Positive, checked
from corollary.optimize.iteration.driver import Iteration
from corollary.optimize.problem.functions import Quadratic, Smooth


@dataclass(frozen=True)
class GradientMap:
    r"""The operator :math:`G(x)=x-\eta\nabla f(x)` of a function with a ``rate`` :math:`\eta`.

    ``expansion(x, y)`` is the distance of two points after the step over the one before it, which
    :func:`step_expansion` bounds. See :class:`Smooth`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import GradientMap, Quadratic
    >>> G = GradientMap(Quadratic(np.diag([1.0, 4.0])), rate=0.5)
    >>> G([1.0, 1.0]), G.expansion([1.0, 0.0], [0.0, 0.0]), G.largest_expansion()
    (array([ 0.5, -1. ]), 0.5, 1.0)
    """

    function: Smooth
    rate: float

    def __call__(self, x: Any) -> np.ndarray:
        """Take the step."""
        return np.asarray(x, dtype=float) - self.rate * self.function.gradient(x)

    def expansion(self, x: Any, y: Any) -> float:
        """Return by how much the step stretches a distance. See :class:`GradientMap`."""
        before = float(np.linalg.norm(np.asarray(x, dtype=float) - np.asarray(y, dtype=float)))
        if before == 0:
            raise ValueError("GradientMap.expansion needs two different points. Got one twice.")
        return float(np.linalg.norm(self(x) - self(y))) / before

    def largest_expansion(self) -> float:
        r"""Return the largest expansion of a quadratic, the spectral norm of :math:`I-\eta P`."""
        if not isinstance(self.function, Quadratic):
            raise TypeError(
                "GradientMap.largest_expansion is exact for a Quadratic only. Use step_expansion, "
                "which bounds it for every convex function."
            )
        return float(np.abs(1 - self.rate * np.linalg.eigvalsh(self.function.P)).max())


@checked
def quadratic_descent(
    function: Quadratic, start: Any, *, rate: Positive, n_steps: CountFromZero
) -> np.ndarray:
    r"""Return where gradient descent on a quadratic is after t steps, in closed form.

    It is :math:`x^*+(I-\eta P)^t(x_0-x^*)` for a minimiser :math:`x^*`; along directions of zero
    curvature :math:`x_0-t\eta q`. See :class:`Quadratic`, with or without a minimum; the ``rate``
    is :math:`\eta`, and t is ``n_steps``.

    Examples
    --------
    >>> from corollary.optimize import Quadratic, quadratic_descent
    >>> quadratic_descent(Quadratic([[2.0]], [-2.0]), [3.0], rate=0.25, n_steps=3)  # 1 + 2 / 8
    array([1.25])
    """
    eigenvalues, basis = np.linalg.eigh(function.P)
    x, q = basis.T @ np.asarray(start, dtype=float), basis.T @ function.q
    factors = (1 - rate * eigenvalues) ** n_steps
    flat = np.abs(eigenvalues) <= 1e-14 * np.abs(eigenvalues).max(initial=0.0)
    # Sum of (1 - rate * eigenvalue)^s over s < t, times rate.
    sums = np.where(flat, rate * n_steps, (1 - factors) / np.where(flat, 1.0, eigenvalues))
    return basis @ (factors * x - sums * q)


class Expansion(NamedTuple):
    """A descent as a sum: the first point, and what each step added to it.

    Its ``terms``, of shape (n_steps, n), are the steps; for gradient descent, minus the step size
    times the gradient where it began. See :class:`GradientDescent`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import Expansion
    >>> Expansion(np.array([1.0]), np.array([[-0.5], [-0.25]])).points[:, 0]
    array([1.  , 0.5 , 0.25])
    """

    start: np.ndarray
    terms: np.ndarray

    @property
    def points(self) -> np.ndarray:
        """All points: the first one plus the partial sums of the terms."""
        return self.start + np.vstack([np.zeros_like(self.start), np.cumsum(self.terms, axis=0)])


@checked
def expand_descent(function: Smooth, start: Any, *, rates: Any) -> Expansion:
    r"""Write the end point of gradient descent as an additive expansion.

    The terms are :math:`-\eta_t\nabla f(x_t)`, whose sum leads from :math:`x_0` to :math:`x_T`. The
    same identity, with functions in place of points, makes gradient boosting a descent.
    See :class:`Expansion`; the ``rates`` are the step sizes :math:`\eta_t`.

    Examples
    --------
    >>> from corollary.optimize import Quadratic, expand_descent
    >>> expand_descent(Quadratic([[1.0]]), [8.0], rates=[0.5, 0.5, 1.0]).terms[:, 0]
    array([-4., -2., -2.])
    """
    x = np.array(start, dtype=float)
    first, terms = x, []
    for rate in np.asarray(rates, dtype=float):
        terms.append(-rate * function.gradient(x))
        x = x + terms[-1]
    return Expansion(first, np.reshape(terms, (len(terms), x.size)))


def trace_points(method: Iteration[Any], start: Any, n_steps: int) -> np.ndarray:
    """Return the points that a method visits, the first one and one for each step, as rows.

    Its states have a point ``x``. See :class:`Iteration`.

    Examples
    --------
    >>> from corollary.optimize import GradientDescent, Quadratic, trace_points
    >>> trace_points(GradientDescent(Quadratic([[1.0]]), rate=0.5), [8.0], 3)[:, 0]
    array([8., 4., 2., 1.])
    """
    state = method.init(start)
    points = [state.x]
    for _ in range(n_steps):
        state, _ = method.step(state)
        points.append(state.x)
    return np.array(points)
