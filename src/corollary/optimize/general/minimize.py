r"""One entrance for problems of any form: minimise :math:`f(x)`, or :math:`f(x)+h(x)`."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from corollary.core.estimator import Count, Positive, checked
from corollary.optimize.conic.solve import slater_point, solve
from corollary.optimize.general._claims import curvature_near, with_assumptions, with_doubts
from corollary.optimize.general._problem import Problem, read_problem
from corollary.optimize.general._sequential import sequential_quadratic
from corollary.optimize.iteration.certified import solve_by
from corollary.optimize.iteration.driver import Iteration
from corollary.optimize.iteration.stopping import Stop
from corollary.optimize.optimality import Optimality
from corollary.optimize.problem.functions import Quadratic
from corollary.optimize.problem.minimum import certify_minimum
from corollary.optimize.problem.penalties import Penalty
from corollary.optimize.proximal.proximal_gradient import ProximalGradient
from corollary.optimize.second_order.bfgs import BFGS, lbfgs
from corollary.optimize.second_order.newton import Newton
from corollary.optimize.solution import Solution

Method = Literal[
    "auto", "newton", "bfgs", "lbfgs", "proximal gradient", "sequential quadratic", "conic"
]

#: Above this many variables no matrix of theirs is kept.
_DENSE = 200
_MAX_ITER = {
    "newton": 100, "bfgs": 500, "lbfgs": 10000, "proximal gradient": 10000,
    "sequential quadratic": 500, "conic": 200,
}  # fmt: skip


@checked
def minimize(
    fun: Any,
    x0: Any = None,
    *,
    jac: Any = None,
    hess: Callable[..., Any] | None = None,
    bounds: Any = None,
    constraints: Any = (),
    penalty: Penalty | None = None,
    method: Method = "auto",
    tol: Positive = 1e-6,
    max_iter: Count | None = None,
    callback: Callable[..., Any] | None = None,
    state: Any = None,
    **claims: Any,
) -> Solution:
    r"""Minimise a function, and say what is proved about the point that is returned.

    The ``certificate`` of the solution prints as a sentence. The status is "optimal" only if a gap
    proves it; a small gradient or KKT residual alone gives "stopped", and "infeasible" and
    "unbounded" come with a verified proof. ``curvature`` has the constants of the objective: exact,
    or estimated with their error.

    Claims about functions are tried at random points nearby; if one is wrong the status is
    "failed", and the reason says which. What does not fit together raises a ValueError, a function
    that cannot be evaluated or differentiated at the start a TypeError. A plain function is
    compiled anew in each call; one :class:`Function` object is compiled once for each shape.

    Parameters
    ----------
    fun : callable, Smooth or Program
        ``fun(x)`` returns a number; it is written with ``jax.numpy`` if its gradient is to be
        derived. A :class:`Quadratic` or :class:`EmpiricalRisk` knows its constants, a
        :class:`Program` its constraints.
    x0 : array-like of shape (n,) or None, default=None
        Start; None only for a program that knows its number of variables.
    jac : callable, True, "3-point" or None, default=None
        ``jac(x)`` is the gradient; True if ``fun`` returns value and gradient; "3-point" for
        central differences, which costs 2n values; None derives it.
    hess : callable or None, default=None
        ``hess(x)`` is the Hessian; None derives it if the gradient is derived, too.
    bounds : sequence of (low, high), Bounds of SciPy or None, default=None
        Bounds of the variables, None or infinity for none.
    constraints : Constraint, dict, constraint of SciPy or a sequence of them, default=()
        Such as :func:`linear_inequality`, or ``{"type": "ineq", "fun": f}`` for
        :math:`f(x)\ge0`. Equations must be linear.
    penalty : Penalty or None, default=None
        A part h with a proximal operator, such as :class:`L1`, or a convex set.
    method : str, default="auto"
        "newton", "bfgs" or "lbfgs" without constraints, "proximal gradient" with bounds or a
        penalty, "sequential quadratic" (SciPy's SLSQP) for smooth functions with constraints,
        "conic" for convex quadratics (:func:`solve`). "auto" chooses.
    tol : float, default=1e-6
        Proved gap and violation up to which the point counts as optimal, relative to the larger of
        1 and the size of the value.
    max_iter : int or None, default=None
        Largest number of steps; None for what the method usually needs at most.
    callback : callable or None, default=None
        ``callback(x)`` is called after each step and ends the run by raising StopIteration; not
        for conic programs.
    state : object, default=None
        ``solution.state`` of an earlier run to go on from, or ``error.run.state`` of an
        :class:`Interrupted` one; for Newton, BFGS and proximal gradient.
    **claims : dict
        What the caller vouches for: of a plain function ``convex``, ``smoothness``,
        ``strong_convexity`` and ``floor``, as in :class:`Function`; and a ``radius`` within which
        of the start a minimiser lies, used without constraints.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from corollary.optimize import minimize
    >>> def bowl(x):
    ...     return jnp.sum((x - 1) ** 2) + jnp.logaddexp(0, x[0])
    >>> print(minimize(bowl, [0.0, 0.0]).certificate)  # nobody vouches for convexity
    Nothing is proved about the value 1.1...: gradient ... It may lie above the least one.
    >>> capped = minimize(bowl, [0.0, 0.0], strong_convexity=2.0,
    ...                   constraints={"type": "ineq", "fun": lambda x: 1 - x.sum()})
    >>> capped.status, capped.x.round(3)
    ('optimal', array([0.353, 0.647]))
    """
    radius = _radius(claims)
    problem = read_problem(fun, x0, jac, hess, bounds, constraints, penalty, claims)
    chosen = _choose(problem) if method == "auto" else method
    _check(problem, chosen, callback, state)
    budget = _MAX_ITER[chosen] if max_iter is None else int(max_iter)
    if chosen == "conic":
        solution = _conic(problem, tol, budget)
    elif chosen == "sequential quadratic":
        solution = sequential_quadratic(problem, tol=tol, max_iter=budget, callback=callback)
    elif chosen == "lbfgs":
        solution = lbfgs(
            problem.function, problem.start, tol=tol, max_iter=budget, callback=callback
        )
    else:
        solution = _iterated(problem, chosen, radius, tol, budget, callback, state)
    solution = _explained(with_doubts(problem, solution), tol)
    return replace(
        solution,
        certificate=with_assumptions(solution.certificate, problem.assumptions),
        curvature=curvature_near(problem, solution.x),
    )


def _radius(claims: dict[str, Any]) -> float:
    """Take the radius out of the claims, and refuse those that nobody knows."""
    radius = float(claims.pop("radius", math.inf))
    unknown = sorted(set(claims) - {"convex", "smoothness", "strong_convexity", "floor"})
    if unknown or not radius > 0:
        raise ValueError(
            "minimize takes the claims 'convex', 'smoothness', 'strong_convexity', 'floor' and a "
            f"positive 'radius'. Got {unknown or radius!r}."
        )
    return radius


def _choose(problem: Problem) -> str:
    """Choose a method by what the problem is made of and by its size."""
    if problem.penalty is not None:
        return "proximal gradient"
    program = problem.program()
    if program.is_conic and program.convex:
        return "conic"
    if problem.constraints:
        return "sequential quadratic"
    if problem.box is not None:
        return "proximal gradient"
    if problem.start.size > _DENSE:
        return "lbfgs"
    return "newton" if _has_hessian(problem) else "bfgs"


def _has_hessian(problem: Problem) -> bool:
    try:
        problem.function.hessian(problem.start)
    except TypeError:
        return False
    return True


def _check(problem: Problem, method: str, callback: Any, state: Any) -> None:
    """Refuse methods that are not for the problem, and what a method does not offer."""
    free = not problem.constraints and problem.box is None and problem.penalty is None
    fits = {
        "conic": problem.penalty is None and isinstance(problem.function, Quadratic),
        "sequential quadratic": problem.penalty is None,
        "proximal gradient": not problem.constraints,
    }.get(method, free)
    if not fits:
        raise ValueError(
            f"The method {method!r} of minimize is not for this problem: Newton and BFGS take no "
            "constraints, proximal gradient takes bounds or a penalty, conic programs have "
            "quadratic objectives. Leave 'method' at 'auto'."
        )
    if (callback is not None and method == "conic") or (
        state is not None and method in ("conic", "lbfgs", "sequential quadratic")
    ):
        what = "callback" if state is None else "state"
        raise ValueError(
            f"The method {method!r} of minimize takes no {what}: its steps are those of another "
            "library. Leave it out, or choose another method."
        )


def _iterated(
    problem: Problem, name: str, radius: float, tol: float, max_iter: int, callback: Any, state: Any
) -> Solution:
    """Run a method of this package until a certificate proves its point."""
    function, start = problem.function, problem.start
    part = problem.box if problem.penalty is None else problem.penalty
    methods: dict[str, Callable[[], Iteration[Any]]] = {
        "newton": lambda: Newton(function),
        "bfgs": lambda: BFGS(function),
        "proximal gradient": lambda: ProximalGradient(function, part),
    }

    def certify(x: np.ndarray) -> Optimality:
        near = radius + float(np.linalg.norm(x - start))
        return certify_minimum(function, x, part, radius=near)

    small = 1e-3 * tol if name == "proximal gradient" else tol
    return solve_by(
        methods[name](), start, certify, tol=tol, stop=Stop(gradient=small, step=0.0),
        max_iter=max_iter, every=1 if name == "newton" else 10, state=state, callback=callback,
    )  # fmt: skip


def _conic(problem: Problem, tol: float, max_iter: int) -> Solution:
    """Solve a conic program, and say why where that fails without a proof."""
    program = problem.program()
    solution = solve(program, tol=tol, max_iter=max_iter)
    if solution.status == "failed" and slater_point(program) is None:
        reason = f"{solution.reason}; no point satisfies the constraints strictly"
        return replace(solution, reason=reason)
    return solution


def _explained(solution: Solution, tol: float) -> Solution:
    """Say why a run ended that met no tolerance; one that could not move on has failed."""
    if solution.status not in ("diverged", "out of steps", "stopped") or solution.history is None:
        return solution
    values = solution.history["value"][np.isfinite(solution.history["value"])]
    if solution.status == "stopped":
        last = solution.history[-1]
        if last["step"] > 0 or last["gradient"] <= 0.1 * math.sqrt(tol):
            return solution
        reason = f"no step lowers the value, though the gradient is {last['gradient']:.2g}"
        return replace(solution, status="failed", reason=reason)
    if len(values) > 1 and values[-1] < min(values[0], -1e9):
        reason = f"the value fell to {values[-1]:.2g}, and may have no least one"
    elif solution.status == "diverged":
        reason = "the value or the gradient is not finite"
    else:
        change = values[-2] - values[-1] if len(values) > 1 else math.nan
        reason = f"the last step lowered the value by {change:.2g}"
    return replace(solution, reason=reason)
