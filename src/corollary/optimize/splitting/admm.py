r"""ADMM: a sum of two functions, each minimised by itself, tied together by multipliers.

.. math:: \min_{x,z}\;g(x)+h(z)\quad\text{subject to}\quad Mx+Nz=c

With scaled multipliers u and a strength :math:`\rho`, a step minimises
:math:`g(x)+\tfrac\rho2\|Mx+Nz-c+u\|^2` over x, the same with h over z, and adds the residual
:math:`Mx+Nz-c` to u.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from corollary.core.parallel import one_blas_thread
from corollary.optimize.iteration.certified import solve_by
from corollary.optimize.iteration.driver import Iteration, iterate
from corollary.optimize.iteration.stopping import Info, Stop
from corollary.optimize.problem.functions import Quadratic, Smooth
from corollary.optimize.problem.minimum import certify_minimum
from corollary.optimize.problem.penalties import Penalty
from corollary.optimize.second_order.newton import Newton
from corollary.optimize.solution import Solution

Update = Callable[[np.ndarray, float], np.ndarray]
# Where one relative residual is so many times the other, the strength changes by the next number.
_BALANCE, _FACTOR = 10.0, 2.0
# Norm of the gradient, relative to that of the start, at which Newton's method ends.
_PRECISE = 1e-12


class _Anchored(Smooth):
    """The function f(x) + rho |x - v|^2 / 2."""

    def __init__(self, function: Smooth, v: np.ndarray, rho: float) -> None:
        self.function, self.v, self.rho = function, v, rho

    def _value(self, x: np.ndarray) -> float:
        return self.function.value(x) + 0.5 * self.rho * float((x - self.v) @ (x - self.v))

    def _gradient(self, x: np.ndarray) -> np.ndarray:
        return self.function.gradient(x) + self.rho * (x - self.v)

    def _hessian(self, x: np.ndarray) -> np.ndarray:
        return self.function.hessian(x) + self.rho * np.eye(len(x))


class _ProximalPoint:
    """The map of v to the minimiser of f(x) + rho |x - v|^2 / 2."""

    def __init__(self, function: Smooth, rho: float) -> None:
        if not 0 < rho < np.inf:
            raise ValueError(f"A proximal point needs a positive, finite rho. Got {rho!r}.")
        self.function, self.rho = function, float(rho)

    @cached_property
    def _factor(self) -> tuple[np.ndarray, bool]:
        assert isinstance(self.function, Quadratic)
        matrix = self.function.P + self.rho * np.eye(len(self.function.P))
        try:
            return linalg.cho_factor(matrix, lower=True)
        except linalg.LinAlgError:
            raise ValueError(
                f"f(x) + rho |x - v|^2 / 2 has no minimum for rho = {self.rho:g}: f is not convex. "
                "Raise rho above minus the least eigenvalue of its Hessian."
            ) from None

    def __call__(self, v: np.ndarray) -> np.ndarray:
        if isinstance(self.function, Quadratic):
            return linalg.cho_solve(self._factor, self.rho * v - self.function.q)
        anchored = _Anchored(self.function, v, self.rho)
        small = _PRECISE * max(1.0, float(np.linalg.norm(anchored.gradient(v))))
        return iterate(
            Newton(anchored), v, stop=Stop(gradient=small, step=0.0), max_iter=50
        ).state.x


class SplitState(NamedTuple):
    """Where ADMM is: both parts, scaled multipliers, strength, and the number of steps."""

    x: np.ndarray
    z: np.ndarray
    u: np.ndarray
    rho: float
    n_steps: int


def proximal_point(function: Smooth, v: Any, rho: float = 1.0) -> np.ndarray:
    r"""Return the minimiser of :math:`f(x)+\tfrac\rho2\|x-v\|^2`, for a function with a Hessian.

    It has a closed form for a :class:`Quadratic`, else it is found by Newton's method.
    See :class:`Smooth`.

    Examples
    --------
    >>> from corollary.optimize import Quadratic, proximal_point
    >>> proximal_point(Quadratic([[3.0]], [-2.0]), [4.0])  # (4 + 2) / (3 + 1)
    array([1.5])
    """
    return _ProximalPoint(function, rho)(np.asarray(v, dtype=float))


@dataclass(frozen=True, eq=False)
class ADMM(Iteration[SplitState]):
    r"""Steps of the alternating direction method of multipliers, in scaled form.

    For convex g and h whose Lagrangian has a saddle point, the residuals :math:`Mx+Nz-c` and
    :math:`\rho M^\top N(z-z_{\text{before}})` tend to 0 and the objective to the least one (Boyd,
    Parikh, Chu, Peleato and Eckstein, Foundations and Trends in Machine Learning 3, 2011).

    Parameters
    ----------
    x_update : callable
        ``x_update(v, rho)`` returns a minimiser of :math:`g(x)+\tfrac\rho2\|Mx+v\|^2`.
    z_update : callable
        ``z_update(v, rho)`` returns a minimiser of :math:`h(z)+\tfrac\rho2\|Nz+v\|^2`.
    M, N : array-like of shape (n_constraints, n) or None, default=None
        The matrices; None for the identity and minus the identity.
    c : array-like of shape (n_constraints,) or None, default=None
        Right-hand side; None for zeros.
    rho : float, default=1.0
        First strength.
    n_adapt : int, default=100
        In so many first steps the strength is doubled or halved where one residual, relative to the
        terms that it is the sum of, is more than ten times the other, so that units do not matter.
        From then on it is fixed, as the proof of convergence asks.
    value : callable or None, default=None
        ``value(x)`` for the history.

    Examples
    --------
    >>> from corollary.optimize import ADMM, iterate  # (x - 3)^2 / 2 + |z| with x = z
    >>> from corollary.optimize import soft_threshold
    >>> method = ADMM(lambda v, rho: (3 - rho * v) / (1 + rho),
    ...               lambda v, rho: soft_threshold(v, 1 / rho))
    >>> iterate(method, [0.0], max_iter=50).state.z.round(6)
    array([2.])
    """

    x_update: Update
    z_update: Update
    M: Any = None
    N: Any = None
    c: Any = None
    rho: float = 1.0
    n_adapt: int = 100
    value: Callable[[np.ndarray], float] | None = None

    def __post_init__(self) -> None:
        if not 0 < self.rho < np.inf:
            raise ValueError(f"ADMM needs a positive, finite rho. Got {self.rho!r}.")
        for name in ("M", "N", "c"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, np.array(getattr(self, name), dtype=float))

    def init(self, start: Any) -> SplitState:
        """Return the first state with multipliers 0, from z; x follows in the first step."""
        z = np.array(start, dtype=float)
        u = np.zeros_like(self._right(z))
        x = z if self.M is None else np.zeros(self.M.shape[1])
        return SplitState(x, z, u, float(self.rho), 0)

    def _left(self, x: np.ndarray) -> np.ndarray:
        return x if self.M is None else self.M @ x

    def _right(self, z: np.ndarray) -> np.ndarray:
        Nz = -z if self.N is None else self.N @ z
        return Nz if self.c is None else Nz - self.c

    def step(self, state: SplitState) -> tuple[SplitState, Info]:
        """Take one step; the info has its length in x and z together, and both residuals."""
        rho = state.rho
        before = self._right(state.z)
        x = self.x_update(before + state.u, rho)
        Mx = self._left(x)
        z = self.z_update(Mx + (0.0 if self.c is None else -self.c) + state.u, rho)
        after = self._right(z)
        gap = Mx + after
        u = state.u + gap
        change = after - before
        primal = float(np.linalg.norm(gap))
        dual = rho * float(np.linalg.norm(change if self.M is None else self.M.T @ change))
        if state.n_steps < self.n_adapt:
            factor = self._stronger(primal, dual, Mx, after, rho * u)
            rho, u = rho * factor, u / factor
        away = float(np.hypot(np.linalg.norm(x - state.x), np.linalg.norm(z - state.z)))
        value = None if self.value is None else self.value(x)
        info = Info(value=value, step=away, primal=primal, dual=dual)
        return SplitState(x, z, u, rho, state.n_steps + 1), info

    def _stronger(
        self, primal: float, dual: float, Mx: np.ndarray, Nz: np.ndarray, multipliers: np.ndarray
    ) -> float:
        """Return the factor on the strength that balances residuals, each relative to its terms."""
        force = multipliers if self.M is None else self.M.T @ multipliers
        primal *= float(np.linalg.norm(force))
        dual *= float(max(np.linalg.norm(Mx), np.linalg.norm(Nz)))
        if primal > _BALANCE * dual:
            return _FACTOR
        return 1 / _FACTOR if dual > _BALANCE * primal else 1.0


@one_blas_thread()
def admm(
    function: Smooth,
    start: Any,
    penalty: Penalty,
    *,
    rho: float = 1.0,
    tol: float = 1e-6,
    max_iter: int = 10000,
    state: Any = None,
) -> Solution:
    r"""Minimise :math:`f+h` by ADMM, until the minimum is proved to be near.

    See :class:`ADMM` for the steps; ``rho`` is the first strength, which is adapted in the first
    hundred of them. The other parameters are those of :func:`proximal_gradient`. The smooth part
    has a Hessian; if it is a :class:`Quadratic`, a step solves one triangular system. The point is
    the copy that the penalty's proximal operator made, so that zeros are zeros and constraints are
    met, with :func:`certify_minimum` there.

    Examples
    --------
    >>> from corollary.optimize import L1, Quadratic, admm
    >>> solution = admm(Quadratic([[2.0, 1.0], [1.0, 2.0]], [-3.0, 0.0]), [0.0, 0.0], L1(1.0))
    >>> solution.status, solution.x.round(2)
    ('optimal', array([1., 0.]))
    """
    prepared: dict[float, _ProximalPoint] = {}

    def smooth_update(v: np.ndarray, strength: float) -> np.ndarray:
        if strength not in prepared:
            prepared.clear()
            prepared[strength] = _ProximalPoint(function, strength)
        return prepared[strength](v)

    method = ADMM(
        lambda v, strength: penalty.prox(-v, 1 / strength),
        smooth_update,
        rho=rho,
        value=lambda x: function.value(x) + penalty.value(x),
    )
    certify = partial(certify_minimum, function, penalty=penalty)
    stop = Stop(residual=1e-3 * tol)
    return solve_by(method, start, certify, tol=tol, stop=stop, max_iter=max_iter, state=state)
