"""Runs of methods that have a rate: it says in advance how long they take, and proves the end."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from corollary.optimize.iteration.certified import solve_by
from corollary.optimize.iteration.driver import Iteration
from corollary.optimize.iteration.stopping import Stop
from corollary.optimize.optimality import Optimality
from corollary.optimize.problem.functions import Smooth
from corollary.optimize.problem.minimum import certify_minimum
from corollary.optimize.problem.penalties import Penalty
from corollary.optimize.rates.plan import Plan
from corollary.optimize.solution import Solution


def solve_as_planned(
    plan: Plan,
    method: Iteration[Any],
    function: Smooth,
    start: Any,
    penalty: Penalty | None = None,
    *,
    tol: float,
    max_iter: int,
    radius: float = math.inf,
) -> Solution:
    """Run a method until a certificate or its rate proves its point optimal."""
    first = np.asarray(start, dtype=float)

    def certify(x: np.ndarray) -> Optimality:
        # Where a minimiser is near the first point, it is not much farther from this one.
        near = radius + float(np.linalg.norm(x - first)) if math.isfinite(radius) else radius
        return certify_minimum(function, x, penalty, radius=near)

    enough = plan.steps(tol)
    solution = solve_by(
        method,
        start,
        certify,
        tol=tol,
        stop=Stop(gradient=1e-3 * tol),
        max_iter=max_iter if enough is None else min(max_iter, enough),
    )
    certificate = plan.improve(solution.certificate, solution.n_iter)
    status = "optimal" if certificate.is_optimal(tol) else solution.status
    return replace(solution, certificate=certificate, status=status, planned=enough)


def step_size(name: str, function: Smooth, rate: float | None) -> float:
    """Return a step size, 1/L by default, or refuse it."""
    size = rate
    if size is None:
        size = 1 / function.smoothness if function.smoothness > 0 else math.inf
    if not 0 < size < math.inf:
        raise ValueError(
            f"{name} needs a positive, finite step. Pass 'rate', or a function whose smoothness is "
            f"known and positive. Got {rate!r} and smoothness {function.smoothness!r}."
        )
    return float(size)
