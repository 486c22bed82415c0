r"""Equality constraints by multipliers: dual ascent and the augmented Lagrangian.

.. math:: L_\rho(x,\nu)=f(x)+\nu^\top(Ax-b)+\tfrac\rho2\|Ax-b\|^2

On feasible points it is f, so that its minimum over x is a lower bound of the least feasible value,
whatever the multipliers :math:`\nu` and the strength :math:`\rho`.
"""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from corollary.optimize.iteration.certified import solve_by
from corollary.optimize.iteration.driver import Iteration, iterate
from corollary.optimize.iteration.stopping import Info, Stop
from corollary.optimize.optimality import Optimality
from corollary.optimize.problem.functions import Quadratic, Smooth
from corollary.optimize.second_order.newton import Newton
from corollary.optimize.solution import Solution

# A gradient this much outside the range of the constraints (relative) counts as inside.
_RIM = 1e-10


class MultiplierState(NamedTuple):
    """Where a method of multipliers is: the point and the multipliers."""

    x: np.ndarray
    multipliers: np.ndarray


class _Lagrangian(Smooth):
    """f(x) + nu'(Ax - b) + rho |Ax - b|^2 / 2 as a function of x."""

    def __init__(self, method: "AugmentedLagrangian", multipliers: np.ndarray) -> None:
        self.of, self.multipliers = method, multipliers

    def _value(self, x: np.ndarray) -> float:
        apart = self.of.A @ x - self.of.b
        penalty = float(apart @ (self.multipliers + 0.5 * self.of.rho * apart))
        return self.of.function.value(x) + penalty

    def _gradient(self, x: np.ndarray) -> np.ndarray:
        pull = self.multipliers + self.of.rho * (self.of.A @ x - self.of.b)
        return self.of.function.gradient(x) + self.of.A.T @ pull

    def _hessian(self, x: np.ndarray) -> np.ndarray:
        return self.of.function.hessian(x) + self.of.rho * self.of.A.T @ self.of.A


@dataclass(frozen=True, eq=False)
class AugmentedLagrangian(Iteration[MultiplierState]):
    r"""Steps :math:`x\leftarrow\arg\min L_\rho(x,\nu)`, :math:`\nu\leftarrow\nu+\eta(Ax-b)`.

    Dual ascent (:math:`\rho=0`) needs a function whose Lagrangian has a minimum for all
    multipliers, such as a strongly convex one, and steps of at most :math:`2m/\|A\|^2` for one with
    constant m. With :math:`\rho>0` any convex function with a feasible minimum will do, a linear
    one, too. See :class:`Iteration`, and :func:`augmented_lagrangian` for the parameters.

    Examples
    --------
    >>> from corollary.optimize import AugmentedLagrangian, Quadratic, iterate
    >>> nearest = Quadratic([[1.0, 0.0], [0.0, 1.0]])  # the shortest x with x1 + x2 = 2
    >>> run = iterate(AugmentedLagrangian(nearest, [[1.0, 1.0]], [2.0], rho=10.0), [0.0, 0.0],
    ...               max_iter=9)
    >>> run.state.x.round(6), run.state.multipliers.round(6)
    (array([1., 1.]), array([-1.]))
    """

    function: Smooth
    A: Any
    b: Any
    rho: float = 1.0
    rate: float | None = None

    def __post_init__(self) -> None:
        A, b = _constraints("AugmentedLagrangian", self.A, self.b)
        object.__setattr__(self, "A", A)
        object.__setattr__(self, "b", b)
        rate = self.rho if self.rate is None else self.rate
        if not (0 <= self.rho < math.inf and 0 < rate < math.inf):
            raise ValueError(
                "AugmentedLagrangian needs rho in the range [0, inf) and a positive rate, which "
                f"must be given where rho is 0. Got rho = {self.rho!r} and rate = {self.rate!r}."
            )
        object.__setattr__(self, "rate", float(rate))

    def init(self, start: Any) -> MultiplierState:
        """Return the first state, at a point with multipliers 0."""
        x = np.array(start, dtype=float)
        if x.shape != self.A.shape[1:]:
            raise ValueError(
                f"The start needs one entry for each of {self.A.shape[1]} columns of A. Got shape "
                f"{x.shape}."
            )
        return MultiplierState(x, np.zeros(len(self.b)))

    def step(self, state: MultiplierState) -> tuple[MultiplierState, Info]:
        r"""Take one step.

        The info has the violation of the constraints and the norm of :math:`\nabla f(x)+A^\top\nu`;
        its value is NaN where the Lagrangian has no minimum.
        """
        try:
            x = self._minimiser(state)
        except ValueError:
            return state, Info(value=math.nan)
        apart = self.A @ x - self.b
        assert self.rate is not None
        multipliers = state.multipliers + self.rate * apart
        value, gradient = self.function.value_and_gradient(x)
        info = Info(
            value=value,
            step=float(np.linalg.norm(x - state.x)),
            primal=float(np.linalg.norm(apart)),
            dual=float(np.linalg.norm(gradient + self.A.T @ multipliers)),
        )
        return MultiplierState(x, multipliers), info

    def _minimiser(self, state: MultiplierState) -> np.ndarray:
        if isinstance(self.function, Quadratic):
            return _quadratic(
                self.function, self.A, self.b, state.multipliers, self.rho
            ).minimiser()
        inner = _Lagrangian(self, state.multipliers)
        small = 1e-12 * max(1.0, float(np.linalg.norm(inner.gradient(state.x))))
        stop = Stop(gradient=small, step=0.0)
        run = iterate(Newton(inner), state.x, stop=stop, max_iter=50)
        if run.status == "diverged":
            raise ValueError("The Lagrangian has no minimum.")
        return run.state.x


def _quadratic(f: Quadratic, A: Any, b: Any, multipliers: np.ndarray, rho: float) -> Quadratic:
    """Return the augmented Lagrangian of a quadratic as a quadratic of x."""
    P = f.P + rho * A.T @ A
    q = f.q + A.T @ (multipliers - rho * b)
    return Quadratic(P, q, f.r - float(multipliers @ b) + 0.5 * rho * float(b @ b))


def certify_equality(function: Smooth, x: Any, A: Any, b: Any) -> Optimality:
    r"""Compute what is proved about a point as a minimiser of f subject to :math:`Ax=b`.

    Nothing is proved unless f is convex and either strongly so, or quadratic, or has a gradient at
    x that is a combination of the rows of A; nor if no point satisfies the constraints. The
    violation is :math:`\max_i|Ax-b|_i`.

    With :math:`g=\nabla f(x)`, every feasible z has
    :math:`f(z)\ge f(x)+g^\top d+\tfrac m2\|d\|^2` for :math:`d=z-x`, where :math:`Ad=b-Ax`. The
    least value over these d splits into the shortest such d and the part of g in the null space of
    A. For a quadratic the bound is the least value of the augmented Lagrangian, with the
    multipliers that make :math:`g+A^\top\nu` shortest.

    Guarantee: the lower bound is at most the least feasible value, checked by
    ``tests/optimize/test_augmented_lagrangian.py::test_no_bound_exceeds_the_least_value``.

    See :class:`Smooth`; the matrix ``A`` has shape (m, n), and its right-hand side ``b`` shape
    (m,).

    Examples
    --------
    >>> from corollary.optimize import Quadratic, certify_equality
    >>> nearest = Quadratic([[1.0, 0.0], [0.0, 1.0]])
    >>> print(certify_equality(nearest, [1.0, 1.0], [[1.0, 1.0]], [2.0]))
    The value 1 is at most 0 above the least one: a dual point proves it.
    """
    A, b = _constraints("certify_equality", A, b)
    x = np.asarray(x, dtype=float)
    value, g = function.value_and_gradient(x)
    missing = b - A @ x
    violation = float(np.abs(missing).max(initial=0.0))
    multipliers = linalg.lstsq(A.T, -g)[0] if np.isfinite(g).all() else np.full(len(b), np.nan)
    outside = g + A.T @ multipliers
    residuals = {"stationarity": float(np.linalg.norm(outside))}
    shortest = linalg.lstsq(A, missing)[0] if math.isfinite(violation) else np.zeros_like(x)
    attainable = np.abs(A @ shortest - missing).max(initial=0.0)
    bare = Optimality(value=value, violation=violation, residuals=residuals)
    if not (math.isfinite(value) and np.isfinite(g).all() and function.convex):
        return bare
    if attainable > 1e-8 * max(1.0, float(np.abs(b).max(initial=0.0))):
        return bare
    m, linear = function.strong_convexity, value + float(g @ shortest)
    strong = duality = -math.inf
    if m > 0:
        strong = linear + 0.5 * m * float(shortest @ shortest) - float(outside @ outside) / (2 * m)
    elif np.linalg.norm(outside) <= _RIM * np.linalg.norm(g):
        duality = linear
    if isinstance(function, Quadratic):
        rho = max(1.0, function.smoothness) / max(float(np.linalg.norm(A, 2)) ** 2, 1e-300)
        duality = max(duality, _quadratic(function, A, b, multipliers, rho).floor)
    bound, proof = max(strong, duality), "duality" if duality >= strong else "strong convexity"
    proved: Any = proof if bound > -math.inf else "none"
    vouched = function.assumptions
    return replace(bare, lower_bound=bound, proof=proved, assumptions=vouched)


def augmented_lagrangian(
    function: Smooth,
    start: Any,
    A: Any,
    b: Any,
    *,
    rho: float = 1.0,
    rate: float | None = None,
    tol: float = 1e-6,
    max_iter: int = 1000,
    state: Any = None,
) -> Solution:
    r"""Minimise a smooth function subject to :math:`Ax=b` by the method of multipliers.

    The solution has :func:`certify_equality` at its point, and the multipliers as
    ``dual["equality"]``. It is "diverged" where the Lagrangian has no minimum.

    See :class:`AugmentedLagrangian` for the steps, with the Hessian of the function; ``rho``
    :math:`\rho` is the strength of the squared violation, and 0 plain dual ascent. The ``rate``
    :math:`\eta` of the multipliers is rho by default, after which x and the multipliers satisfy
    :math:`\nabla f(x)+A^\top\nu=0`. The other parameters are those of :func:`proximal_gradient`;
    the start need not be feasible, and ``tol`` bounds the violation as well as the gap.

    Examples
    --------
    >>> from corollary.optimize import Quadratic, augmented_lagrangian
    >>> cheapest = Quadratic([[1.0, 0.0], [0.0, 3.0]])
    >>> solution = augmented_lagrangian(cheapest, [0.0, 0.0], [[1.0, 1.0]], [4.0], rho=20.0)
    >>> solution.x.round(4), solution.dual["equality"].round(4), solution.status
    (array([3., 1.]), array([-3.]), 'optimal')
    """
    method = AugmentedLagrangian(function, A, b, rho, rate)
    certify = partial(certify_equality, function, A=A, b=b)
    # A gap alone would end at points that violate the constraints.
    stop = Stop(residual=0.1 * tol, together=True)
    solution = solve_by(
        method, start, certify, tol=tol, stop=stop, max_iter=max_iter, every=1, state=state
    )
    return replace(solution, dual={"equality": solution.state.inner.multipliers})


def _constraints(who: str, A: Any, b: Any) -> tuple[np.ndarray, np.ndarray]:
    A, b = np.array(A, dtype=float), np.array(b, dtype=float)
    if A.ndim != 2 or b.shape != A.shape[:1]:
        raise ValueError(
            f"{who} needs a matrix A and one entry of b for each of its rows. Got shapes {A.shape} "
            f"and {b.shape}."
        )
    if not (np.isfinite(A).all() and np.isfinite(b).all()):
        raise ValueError(f"{who} needs finite numbers. A or b holds NaN or infinity.")
    return A, b
