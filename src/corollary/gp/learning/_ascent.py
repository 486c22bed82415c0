r"""Climbing a smooth function of few variables inside a box.

Each evaluation of an evidence costs the cube of the number of points, so that a matrix B of second
derivatives, learnt from the gradients on the way, is free in comparison. Steps maximise the
quadratic model that it makes inside the box, are shortened where they fail, and never lengthened.
None moves a variable by more than :data:`LONGEST`: all of them are logarithms, and longer steps
mostly had to be taken back.

B begins as what is known, or as the multiple of the identity that fits the last step, and takes in
the last :data:`MEMORY` steps by the BFGS rule.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]
Pair = tuple[np.ndarray, np.ndarray]

LONGEST = 2.0
MEMORY = 20
# The least curvature believed: half a unit of evidence over one unit of a logarithm.
FLATTEST = 1.0
# Step of the differences of gradients.
DIFFERENCE = 1e-3
# Share of the promised improvement that a step must keep, and the shortest step tried.
KEPT, SHORTEST = 1e-4, 1e-10


class Ascent(NamedTuple):
    """Where a climb ended."""

    theta: np.ndarray
    value: float
    gradient: np.ndarray
    curvature: np.ndarray
    n_iter: int
    converged: bool


def ascend(
    objective: Objective,
    start: np.ndarray,
    bounds: np.ndarray,
    *,
    curvature: np.ndarray | None = None,
    max_iter: int = 200,
    tol: float = 1e-7,
) -> Ascent:
    """Maximise a function of few variables inside a box by a quasi-Newton method."""
    low, high = bounds.T
    here = _evaluate(objective, np.clip(start, low, high))
    known, pairs, brought = curvature, list[Pair](), 0.0
    for n_iter in range(max_iter):
        B = _curvature(known, pairs, here.gradient)
        step = _towards_maximum(here, B, low, high)
        least = tol * max(1.0, abs(here.value))
        if 0.5 * float(here.gradient @ step) <= least and brought <= 10.0 * least:
            return Ascent(*here, B, n_iter, True)
        there = _search(objective, here, step, low, high)
        if there is None and known is None and not pairs:
            # Nothing better along the gradient itself: as good as it gets.
            return Ascent(*here, B, n_iter, True)
        if there is None:
            known, pairs = None, []
            continue
        moved, change = there.theta - here.theta, here.gradient - there.gradient
        if moved @ change > 1e-10 * (change @ change):  # concave along the way
            pairs = [*pairs, (moved, change)][-MEMORY:]
        brought, here = there.value - here.value, there
    return Ascent(*here, _curvature(known, pairs, here.gradient), max_iter, False)


def estimate_curvature(objective: Objective, at: Ascent, bounds: np.ndarray) -> np.ndarray:
    """Estimate minus the second derivatives by differences of gradients."""
    p = len(at.theta)
    H = np.empty((p, p))
    for k in range(p):
        moved = at.theta.copy()
        moved[k] += DIFFERENCE if moved[k] + DIFFERENCE <= bounds[k, 1] else -DIFFERENCE
        near = _evaluate(objective, moved)
        if near.value == -np.inf:
            return at.curvature
        H[k] = (at.gradient - near.gradient) / (moved[k] - at.theta[k])
    sizes, axes = np.linalg.eigh(0.5 * (H + H.T))
    return (axes * np.maximum(np.abs(sizes), FLATTEST)) @ axes.T


class _Point(NamedTuple):
    theta: np.ndarray
    value: float
    gradient: np.ndarray


def _evaluate(objective: Objective, theta: np.ndarray) -> _Point:
    try:
        value, gradient = objective(theta)
    except np.linalg.LinAlgError:  # a corner where no factorisation exists
        return _Point(theta, -np.inf, np.zeros_like(theta))
    if not (np.isfinite(value) and np.isfinite(gradient).all()):
        return _Point(theta, -np.inf, np.zeros_like(theta))
    return _Point(theta, float(value), gradient)


def _curvature(known: np.ndarray | None, pairs: list[Pair], gradient: np.ndarray) -> np.ndarray:
    """Return the curvature that explains the last changes of the gradient."""
    B = np.eye(len(gradient)) if known is None else known
    if known is None and pairs:
        moved, change = pairs[-1]
        B = B * ((change @ change) / (moved @ change))
    elif known is None:
        B = B * max(1.0, float(np.linalg.norm(gradient)))  # a step of length one at most
    for moved, change in pairs:
        guess = B @ moved
        B = B - np.outer(guess, guess) / (moved @ guess)
        B += np.outer(change, change) / (moved @ change)
    return B


def _towards_maximum(here: _Point, B: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return a step towards the maximum of the quadratic model inside the box."""
    theta, gradient = here.theta, here.gradient
    below, above = low - theta, high - theta
    # Which wall each variable is held by: -1, 1, or 0 for none.
    wall = 1 * ((above <= 0) & (gradient > 0)) - 1 * ((below >= 0) & (gradient < 0))
    for _ in range(1 + 3 * len(theta)):
        step = np.where(wall < 0, below, np.where(wall > 0, above, 0.0))
        free, held = np.flatnonzero(wall == 0), np.flatnonzero(wall)
        pull = gradient[free] - B[np.ix_(free, held)] @ step[held]
        step[free] = _solve(B[np.ix_(free, free)], pull)
        left = gradient - B @ step
        # What would leave the box is held by its wall; what is drawn away from a wall is let go.
        turned = np.where(wall * left < 0, 0, wall - 1 * (step < below) + 1 * (step > above))
        if np.array_equal(turned, wall):
            break
        wall = turned
    step = np.clip(step, below, above)
    if gradient @ step <= 0:  # each variable for itself
        step = np.clip(gradient / np.diag(B), below, above)
    return np.asarray(step * (LONGEST / max(LONGEST, float(np.abs(step).max(initial=0.0)))))


def _solve(B: np.ndarray, b: np.ndarray) -> np.ndarray:
    if not len(b):
        return b
    try:
        return np.asarray(cho_solve(cho_factor(B), b))
    except np.linalg.LinAlgError:  # positive definite but for rounding
        return b / np.diag(B)


def _search(
    objective: Objective, here: _Point, step: np.ndarray, low: np.ndarray, high: np.ndarray
) -> _Point | None:
    """Return the first point on the way that keeps enough of what the gradient promises."""
    share, slope = 1.0, float(here.gradient @ step)
    while share > SHORTEST:
        promised = share * slope
        there = _evaluate(objective, np.clip(here.theta + share * step, low, high))
        if there.value >= here.value + KEPT * promised:
            return there
        # The peak of the parabola through what is known; a tenth where there is no value.
        missing = here.value + promised - there.value
        peak = 0.5 * promised / missing if np.isfinite(missing) and missing > 0 else 0.1
        share *= min(0.5, max(0.1, peak))
    return None
