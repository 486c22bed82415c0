"""The steps of a greedy additive fit: which way, and how far."""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from corollary.risk import (
    CostLoss,
    CrossEntropyLoss,
    ExponentialLoss,
    Loss,
    SquareLoss,
    SquareMarginLoss,
    ZeroOneLoss,
    check_loss,
)

# Along a direction in which the loss falls for ever (separable rows under the exponential loss) the
# search ends where the slope is this share of what it was: going on would gain nothing. A fit ends
# at the same share of its first slopes.
FLAT = 1e-12


def additive_loss(loss: Any, who: str) -> Any:
    """Return a loss that a greedy additive fit can descend."""
    checked = check_loss(loss, gradient=True)
    if isinstance(checked, CostLoss | CrossEntropyLoss | ZeroOneLoss):
        raise ValueError(
            f"{who} needs a loss of one real score that has a slope, such as 'exponential', "
            f"'logistic', 'hinge', 'square' or 'absolute'. Got {loss!r} instead."
        )
    return checked


def search(V: Any, y: np.ndarray, f: np.ndarray, h: np.ndarray, w: np.ndarray) -> float:
    """Return the length of the step along h that minimises the weighted loss."""
    size = float(np.abs(h).max(initial=0.0))
    if size == 0.0 or not np.isfinite(size):
        return 0.0
    if isinstance(V, SquareLoss | SquareMarginLoss):
        # (y - f)^2 in both cases, since y^2 = 1 for labels -1 and +1
        unit = h / size
        return float(w @ (unit * (y - f)) / (w @ unit**2)) / size
    if isinstance(V, ExponentialLoss) and np.all(np.abs(h) == size):
        step = _half_log_odds(y, f, h, w) / size
        if np.isfinite(step):
            return step

    def risk(step: float) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            return float(w @ V(y, f + step * h))

    def slope(step: float) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            terms = w * V.gradient(y, f + step * h) * h
        value = float(terms[w > 0].sum())
        return np.inf if np.isnan(value) else value

    if not getattr(V, "convex", False):
        return _search_anywhere(risk, max(1.0, float(np.abs(f).max()), _scale(y)) / size)
    return _search_convex(risk, slope, max(1.0, _scale(y)) / size)


def _search_convex(risk: Any, slope: Any, far: float) -> float:
    """Halve the interval in which the slope of a convex function changes its sign."""
    start = slope(0.0)
    if start == 0.0:
        return 0.0
    towards = -np.sign(start)
    near = 0.0
    while (ahead := towards * slope(towards * far)) < 0:
        near, far = far, 2 * far
        if -ahead <= FLAT * abs(start):
            return float(towards * near)
    for _ in range(200):
        middle = near + (far - near) / 2
        if not near < middle < far:
            break
        if towards * slope(towards * middle) < 0:
            near = middle
        else:
            far = middle
    # At a kink the slope jumps over zero; both ends are the kink up to the last digit.
    ends = (0.0, towards * near, towards * far)
    return float(min(ends, key=risk))


def _half_log_odds(y: np.ndarray, f: np.ndarray, h: np.ndarray, w: np.ndarray) -> float:
    """Return AdaBoost's weight of a function with values -1 and +1 times a constant."""
    with np.errstate(divide="ignore"):
        logs = np.log(w) - y * f
    right = y * h > 0
    if right.all() or not right.any():
        return np.inf
    return 0.5 * float(logsumexp(logs[right]) - logsumexp(logs[~right]))


def _search_anywhere(risk: Any, scale: float) -> float:
    """Look for a lower point of a function that need not be convex."""
    from scipy.optimize import minimize_scalar

    grid = scale * np.geomspace(1e-3, 1e3, 25)
    grid = np.concatenate([-grid[::-1], [0.0], grid])
    values = np.array([risk(step) for step in grid])
    best = int(values.argmin())
    if values[best] >= risk(0.0):
        return 0.0
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    refined = float(minimize_scalar(risk, bounds=(low, high), method="bounded").x)
    return refined if risk(refined) < values[best] else float(grid[best])


def _scale(y: np.ndarray) -> float:
    return float(np.abs(y.astype(float)).max(initial=0.0))


class StagewiseRun(NamedTuple):
    """A greedy fit with a base learner."""

    members: list[Any]  # the functions added
    lengths: np.ndarray  # their coefficients
    losses: np.ndarray  # mean training loss before the first and after each step
    start: float  # the constant the sum starts from


def best_constant(loss: Loss, y: np.ndarray, w: np.ndarray) -> float:
    """Return the constant with the smallest loss."""
    return search(loss, y, np.zeros(len(y)), np.ones(len(y)), w)


def stagewise_run(
    loss: Loss,
    y: np.ndarray,
    learn: Any,
    *,
    n_steps: int,
    learning_rate: float,
    sample_weight: np.ndarray,
    start: float = 0.0,
) -> StagewiseRun:
    """Run forward stagewise modelling with a base learner."""
    w = sample_weight / sample_weight.sum()
    f = np.full(len(y), float(start))
    members: list[Any] = []
    lengths: list[float] = []
    losses = [float(w @ loss(y, f))]
    first = 0.0
    for _ in range(n_steps):
        slopes = loss.gradient(y, f)
        size = float(w @ np.abs(slopes))
        first = max(first, size)
        if size <= FLAT * first:
            break  # a minimum over all functions
        member, h = learn(slopes, w)
        length = learning_rate * search(loss, y, f, h, w)
        with np.errstate(over="ignore"):
            value = float(w @ loss(y, f + length * h))
        # A gain of rounding only would go on for ever.
        if length == 0.0 or not value < losses[-1] * (1 - 1e-14):
            break
        f = f + length * h
        members.append(member)
        lengths.append(length)
        losses.append(value)
    return StagewiseRun(members, np.array(lengths, dtype=float), np.array(losses), float(start))
