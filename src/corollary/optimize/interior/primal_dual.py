r"""Dense quadratic programs by primal-dual steps.

.. math:: \min_x\tfrac12x^\top Px+q^\top x\quad\text{subject to}\quad Gx+s=h,\ s\ge0,\ Ax=b

Point, slacks and multipliers move together towards :math:`Px+q+G^\top z+A^\top y=0` and
:math:`s_iz_i=\mu` with a falling :math:`\mu`. Each step factorises one matrix as large as x is
long, :math:`P+G^\top\mathrm{diag}(z/s)G`, and uses it twice (Mehrotra's predictor and corrector).
"""

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from corollary.core.estimator import Count, Positive, checked
from corollary.core.parallel import one_blas_thread
from corollary.optimize.conic.no_solution import _without_solution, prove_infeasible
from corollary.optimize.conic.solve import solve
from corollary.optimize.interior._parts import Parts
from corollary.optimize.iteration.certified import _concluded
from corollary.optimize.iteration.driver import Iteration, iterate
from corollary.optimize.iteration.stopping import Info, Stop
from corollary.optimize.problem.functions import Quadratic
from corollary.optimize.program._cones import Origin
from corollary.optimize.program.optimality_conditions import certify_program, repair_dual
from corollary.optimize.program.program import Program
from corollary.optimize.solution import Solution

# Share of the way to the boundary that a step goes.
_INSIDE = 0.995
# A step shorter than this leads nowhere.
_SHORTEST = 1e-9


class PrimalDualState(NamedTuple):
    """Where the method is: the point, the slacks and multipliers of the inequalities."""

    x: np.ndarray
    slack: np.ndarray
    multipliers: np.ndarray


@dataclass(frozen=True, eq=False)
class PrimalDual(Iteration[PrimalDualState]):
    """Mehrotra's steps for a quadratic program with inequalities.

    Equations are eliminated: the point moves along the directions in which they stay fulfilled.
    See :class:`Iteration`; the ``program`` is convex, with a linear or quadratic objective and
    linear constraints, at least one of them an inequality.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import PrimalDual, Program, Quadratic, iterate, linear_inequality
    >>> program = Program(Quadratic(np.eye(2), [-2.0, 0.0]),
    ...                   [linear_inequality([1.0, 1.0], 1.0, name="cap")])
    >>> state = iterate(PrimalDual(program), max_iter=8).state
    >>> state.x.round(6), state.multipliers.round(6)
    (array([ 1.5, -0.5]), array([0.5]))
    """

    program: Program
    _parts: Parts = field(init=False, repr=False)
    _P: np.ndarray = field(init=False, repr=False)
    _G: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.program._require_conic("PrimalDual")
        parts = Parts.of(self.program, self.program.n_variables, "PrimalDual")
        if not len(parts.h):
            raise ValueError("PrimalDual needs at least one inequality. Without any, use solve.")
        assert isinstance(self.program.objective, Quadratic)
        P, free = self.program.objective.P, parts.free
        object.__setattr__(self, "_parts", parts)
        object.__setattr__(self, "_P", free.T @ P @ free if len(parts.A) else P)
        object.__setattr__(self, "_G", parts.G @ free if len(parts.A) else parts.G)

    def init(self, start: Any = None) -> PrimalDualState:
        """Return the first state, from a point or zeros.

        It is the minimiser of the objective plus half the squared distance to the limits of the
        inequalities, with slacks and multipliers that are moved inside where they must be.
        """
        parts, objective = self._parts, self.program.objective
        x = parts.onto_equations(np.zeros(parts.n) if start is None else np.array(start, float))
        residual = parts.G @ x - parts.h
        pull = self._along(objective.gradient(x)) + self._G.T @ residual
        x = x + parts.free @ self._factorised(np.ones_like(residual))(-pull)
        residual = parts.G @ x - parts.h
        return PrimalDualState(x, _inside(-residual), _inside(residual))

    def step(self, state: PrimalDualState) -> tuple[PrimalDualState, Info]:
        """Take one step.

        The info has relative residuals at the end: of the inequalities with their slacks, and the
        larger one of stationarity and complementarity.
        """
        x, s, z = state
        G, free, objective = self._G, self._parts.free, self.program.objective
        apart = self._parts.G @ x + s - self._parts.h
        pull = self._along(objective.gradient(x) + self._parts.G.T @ z)
        solve_normal, mu = self._factorised(z / s), float(s @ z) / len(s)

        def direction(products: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            """Return the Newton step towards products of slacks and multipliers that are less."""
            shift = (z * apart - products) / s
            dv = solve_normal(-pull - G.T @ shift)
            along = G @ dv
            return dv, -apart - along, shift + z / s * along

        _, ds, dz = direction(s * z)
        length = min(1.0, _reach(s, ds), _reach(z, dz))
        predicted = float((s + length * ds) @ (z + length * dz)) / len(s)
        centred = (predicted / mu) ** 3 * mu
        dv, ds, dz = direction(s * z + ds * dz - centred)
        length = min(1.0, _INSIDE * min(_reach(s, ds), _reach(z, dz)))
        if not (length > _SHORTEST and np.isfinite(dv).all()):
            return state, Info(value=math.nan)
        dx = free @ dv
        following = PrimalDualState(x + length * dx, s + length * ds, z + length * dz)
        return following, self._info(following, length * float(np.linalg.norm(dx)))

    def _info(self, state: PrimalDualState, step: float) -> Info:
        x, s, z = state
        parts, (value, gradient) = self._parts, self.program.objective.value_and_gradient(x)
        primal = float(np.abs(parts.G @ x + s - parts.h).max())
        stationarity = float(np.abs(self._along(gradient + parts.G.T @ z)).max(initial=0.0))
        sides = 1.0 + float(np.abs(parts.h).max())
        return Info(
            value=value,
            step=step,
            primal=primal / sides,
            dual=max(stationarity / (1.0 + np.abs(gradient).max()), s @ z / (1.0 + abs(value))),
        )

    def _along(self, gradient: np.ndarray) -> np.ndarray:
        """Return the part of a gradient along the directions in which the point may move."""
        return self._parts.free.T @ gradient if len(self._parts.A) else gradient

    def _factorised(self, weights: np.ndarray) -> Any:
        """Return a function that solves equations with the matrix P + G' diag(weights) G."""
        rows = np.sqrt(weights)[:, None] * self._G
        matrix = self._P + rows.T @ rows
        try:
            factor = linalg.cho_factor(matrix, lower=True, check_finite=False)
        except linalg.LinAlgError:  # a direction that neither curvature nor an inequality limits
            size = float(np.abs(matrix.diagonal()).max(initial=1.0))
            lifted = matrix + 1e-9 * size * np.eye(len(matrix))
            factor = linalg.cho_factor(lifted, lower=True, check_finite=False)
        return lambda right: linalg.cho_solve(factor, right, check_finite=False)


def _inside(v: np.ndarray) -> np.ndarray:
    """Return a vector moved along the ones until it is positive."""
    least = float(v.min())
    return v if least > 0 else v + (1.0 - least)


def _reach(v: np.ndarray, dv: np.ndarray) -> float:
    """Return the longest step that leaves a positive vector without negative entries."""
    falling = dv < 0
    return float((v[falling] / -dv[falling]).min(initial=math.inf))


@checked
@one_blas_thread()  # factors of a few hundred rows: threads would wait for each other
def primal_dual(program: Program, *, tol: Positive = 1e-6, max_iter: Count = 100) -> Solution:
    """Solve a dense linear or quadratic program by a primal-dual interior point method.

    The steps are Mehrotra's (SIAM Journal on Optimization, 1992). :func:`solve` is for sparse
    programs, norms and matrices; :func:`barrier` goes the same path, one weight after the other.

    See :class:`PrimalDual` for the steps, and :func:`solve` for the parameters; constraints are
    inequalities and equations. Where the steps do not end in a proof, the solution is that of
    :func:`solve`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import Program, Quadratic, linear_inequality, primal_dual
    >>> program = Program(Quadratic(np.eye(2), [-2.0, 0.0]),
    ...                   [linear_inequality([1.0, 1.0], 1.0, name="cap")])
    >>> solution = primal_dual(program)
    >>> solution.status, solution.x.round(6), solution.dual["cap"].round(6)
    ('optimal', array([ 1.5, -0.5]), array([0.5]))
    """
    if all(isinstance(c.cone, Origin) for c in program.constraints):
        return solve(program, tol=tol, max_iter=max_iter)
    method = PrimalDual(program)
    parts = method._parts
    small = min(1e-8, tol / 10)
    run = iterate(method, stop=Stop(residual=small), max_iter=max_iter, description="solving")
    x, _, z = run.state
    dual = parts.named(z, parts.balance(program.objective.gradient(x) + parts.G.T @ z))
    certificate = certify_program(program, x, dual)
    if certificate.is_optimal(tol):
        return _concluded(run, certificate, tol, dual=repair_dual(program, dual), reason="")
    proof = prove_infeasible(program, dual)
    if proof is not None:
        return _without_solution(proof, len(x), run.n_iter)
    return solve(program, tol=tol, max_iter=max_iter)
