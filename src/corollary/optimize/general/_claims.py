"""What was said about functions, tried out near the points that a solver has seen."""

import math
from dataclasses import replace

import numpy as np

from corollary.core.certificate import Assumption
from corollary.optimize.general._problem import Problem
from corollary.optimize.optimality import Optimality
from corollary.optimize.problem.convexity import (
    CurvatureRange,
    estimate_curvature,
    refute_convexity,
    refute_smoothness,
)
from corollary.optimize.problem.functions import Smooth
from corollary.optimize.program.constraints import FunctionConstraint
from corollary.optimize.solution import Solution

_PAIRS = 100
#: Above this many variables Hessians at random points cost more than the solution.
_MOST_VARIABLES = 50


def with_doubts(problem: Problem, solution: Solution) -> Solution:
    """Withdraw the proof of a solution if a claim that it rests on is wrong nearby."""
    if not isinstance(solution.certificate, Optimality) or not np.isfinite(solution.x).all():
        return solution
    wrong = doubt(problem, solution.x)
    if not wrong:
        return solution
    bare = replace(solution.certificate, lower_bound=-math.inf, proof="none", assumptions=())
    return replace(solution, certificate=bare, status="failed", reason=wrong)


def doubt(problem: Problem, x: np.ndarray) -> str:
    """Return in words which claim about the functions is wrong; empty if none was seen to be."""
    curved = [c for c in problem.constraints if isinstance(c, FunctionConstraint)]
    claimed = {f"the function of {c.name!r}": c.function for c in curved}
    claimed = {"the function": problem.function} | claimed
    low, high = _nearby(problem, x)
    wrong = (_refuted(who, function, x, low, high) for who, function in claimed.items())
    return next(filter(None, wrong), "")


def _nearby(problem: Problem, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a box round start and end, within the bounds if these leave room."""
    low, high = np.minimum(problem.start, x) - 1.0, np.maximum(problem.start, x) + 1.0
    if problem.box is not None:
        inner = np.maximum(low, problem.box.low), np.minimum(high, problem.box.high)
        roomy = inner[0] < inner[1]
        low, high = np.where(roomy, inner[0], low), np.where(roomy, inner[1], high)
    return low, high


def _refuted(who: str, function: Smooth, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> str:
    """Look for points where a function is not what it was said to be."""
    if not function.assumptions or low.ndim != 1:
        return ""
    if function.convex:
        m = function.strong_convexity
        seen = refute_convexity(
            function, low, high, strong_convexity=m, test="tangent", n_pairs=_PAIRS, random_state=0
        )
        if seen is not None:
            claim = f"strongly convex with constant {m:g}" if m > 0 else "convex"
            return f"{who} is not {claim}: a tangent lies {seen.excess:.3g} too high"
    if math.isfinite(function.smoothness):
        seen = refute_smoothness(
            function, low, high, smoothness=function.smoothness, n_pairs=_PAIRS, random_state=0
        )
        if seen is not None:
            return f"the gradient of {who} changes faster than its constant allows"
    if math.isfinite(function.floor):
        points = np.random.default_rng(0).uniform(low, high, (_PAIRS, low.size))
        least = min(function.value(point) for point in (x, *points))
        if least < function.floor - 1e-9 * max(1.0, abs(function.floor)):
            return f"{who} falls below {function.floor:g}: it is {least:.6g} at a point nearby"
    return ""


def curvature_near(problem: Problem, x: np.ndarray) -> CurvatureRange | None:
    """Return the constants of the objective: its own if they were computed, else estimates."""
    function = problem.function
    if math.isfinite(function.smoothness) and not function.assumptions and function.convex:
        return CurvatureRange(function.smoothness, function.strong_convexity, 0.0, 1.0)
    if x.ndim != 1 or x.size > _MOST_VARIABLES or not np.isfinite(x).all():
        return None
    low, high = _nearby(problem, x)
    try:
        seen = estimate_curvature(function, low, high, n_points=_PAIRS, random_state=0)
    except (TypeError, np.linalg.LinAlgError):  # no Hessian, or one with NaN
        return None
    return seen if np.isfinite(seen.smoothness) else None


def with_assumptions(certificate: Optimality, more: tuple[Assumption, ...]) -> Optimality:
    """Add assumptions to what is proved; where nothing is, none are needed."""
    if not isinstance(certificate, Optimality) or not math.isfinite(certificate.gap):
        return certificate
    return replace(certificate, assumptions=(*certificate.assumptions, *more))
