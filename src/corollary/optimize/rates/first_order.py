r"""What first-order methods guarantee after a number of steps, and how many steps are enough.

With :math:`R\ge\|x_0-x^*\|`, smoothness L, strong convexity m, length G of subgradients and
:math:`\Delta\ge f(x_0)-f^*`, after k steps the value lies above the least one by at most

- gradient descent: :math:`LR^2/(4k+2)` and :math:`(1-m/L)^{2k}\Delta`;
- proximal gradient: :math:`LR^2/(2k)` and :math:`(1-m/L)^kLR^2/2`;
- nesterov: :math:`2LR^2/(k+1)^2`, or :math:`(1-\sqrt{m/L})^k(\Delta+\tfrac m2R^2)` if m > 0;
- conjugate gradients on quadratics: :math:`4\rho^{2k}\Delta` with
  :math:`\rho=(\sqrt L-\sqrt m)/(\sqrt L+\sqrt m)`;
- subgradient: :math:`RG/\sqrt k`.

Gradient and proximal steps have length 1/L; "fista" is "nesterov" with a proximal step, and
"projected gradient" a proximal one. The subgradient rate is that of the best or average point of
k steps of length :math:`R/(G\sqrt k)`, and that of SGD in expectation.
"""

import math
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np

from corollary.core.estimator import (
    CountFromZero,
    NonNegative,
    Positive,
    PositiveOrInfinite,
    checked,
)

FirstOrderMethod: TypeAlias = Literal[
    "gradient descent",
    "projected gradient",
    "proximal gradient",
    "nesterov",
    "fista",
    "conjugate gradients",
    "subgradient",
]


@checked
def first_order_bound(
    method: FirstOrderMethod,
    n_steps: CountFromZero,
    *,
    radius: PositiveOrInfinite = math.inf,
    smoothness: PositiveOrInfinite = math.inf,
    strong_convexity: NonNegative = 0.0,
    excess: PositiveOrInfinite = math.inf,
    lipschitz: PositiveOrInfinite = math.inf,
) -> float:
    r"""Bound how far the value lies above the least one after a number of steps.

    It is the smallest of the bounds above that the constants give; infinite if they give none. Some
    functions attain it: :func:`descent_worst_case`, :func:`subgradient_worst_case`. The rates are
    those of Drori and Teboulle (Mathematical Programming 145, 2014), and for proximal steps of
    Taylor, Hendrickx and Glineur (JOTA 178, 2018).

    Parameters
    ----------
    method : str
        "gradient descent", "projected gradient", "proximal gradient", "nesterov", "fista",
        "conjugate gradients" or "subgradient".
    n_steps : int
        Number k of steps.
    radius : float, default=inf
        Bound R on the distance of the first point from a minimiser.
    smoothness : float, default=inf
        Smoothness L of the (smooth part of the) convex function; for a constant step
        :math:`\eta\le1/L` pass :math:`1/\eta`, which is a smoothness, too.
    strong_convexity : float, default=0.0
        Its constant m of strong convexity.
    excess : float, default=inf
        Bound :math:`\Delta` on the excess of the first value; without it :math:`LR^2/2` is used,
        which holds for unconstrained smooth functions.
    lipschitz : float, default=inf
        Bound G on the lengths of subgradients.

    Examples
    --------
    >>> from corollary.optimize import first_order_bound
    >>> first_order_bound("gradient descent", 12, radius=1.0, smoothness=10.0)
    0.2
    >>> first_order_bound("nesterov", 9, radius=1.0, smoothness=10.0)
    0.2
    """
    if strong_convexity > smoothness:
        raise ValueError(
            "first_order_bound needs strong_convexity <= smoothness. Got "
            f"{strong_convexity!r} and {smoothness!r}."
        )
    if method == "subgradient":
        return radius * lipschitz / math.sqrt(n_steps) if n_steps else math.inf
    if math.isinf(smoothness):
        return math.inf
    k, L, m = n_steps, smoothness, strong_convexity
    first = min(excess, L * radius**2 / 2)
    if math.isinf(first) and math.isinf(radius):
        return math.inf
    if method == "gradient descent":
        return min(L * radius**2 / (4 * k + 2), (1 - m / L) ** (2 * k) * first)
    if method == "conjugate gradients":
        ratio = (math.sqrt(L) - math.sqrt(m)) / (math.sqrt(L) + math.sqrt(m))
        return min(4 * ratio ** (2 * k), 1.0) * first
    # Proximal steps: the first value may be infinite, and f(x0) - f* is not bounded by the radius.
    if method in ("nesterov", "fista"):
        # A method with constant momentum has the second rate and not the first.
        if m == 0:
            return 2 * L * radius**2 / (k + 1) ** 2 if k else excess
        start = first if method == "nesterov" else excess
        if math.isinf(start) or math.isinf(radius):
            return math.inf
        return (1 - math.sqrt(m / L)) ** k * (start + m * radius**2 / 2)
    slow = L * radius**2 / (2 * k) if k else excess
    return min(slow, (1 - m / L) ** k * L * radius**2 / 2 if k else excess)


@checked
def first_order_steps(
    method: FirstOrderMethod, accuracy: Positive, **constants: Any
) -> int | float:
    """Return how many steps of a method are enough for an accuracy.

    It is the least number whose bound is at most the accuracy; infinite if there is none.

    Parameters
    ----------
    method : str
        As in :func:`first_order_bound`.
    accuracy : float
        How far the value may lie above the least one.
    **constants : float
        As in :func:`first_order_bound`.

    Examples
    --------
    >>> from corollary.optimize import first_order_steps
    >>> first_order_steps("gradient descent", 0.2, radius=1.0, smoothness=10.0)
    12
    """
    return _inverse(lambda k: first_order_bound(method, k, **constants), accuracy)


@checked
def subgradient_bound(*, step_sizes: Any, radius: NonNegative, lipschitz: NonNegative) -> float:
    r"""Bound the excess of the best and of the average point of subgradient steps.

    It is :math:`(R^2+G^2\sum\eta_t^2)/(2\sum\eta_t)`, and holds for the least value at
    :math:`x_0,\dots,x_{k-1}` and at their average with weights :math:`\eta_t`; for SGD in
    expectation, for the average. A constant step converges to a neighbourhood of size
    :math:`G^2\eta/2` only; steps :math:`R/(G\sqrt k)` for a horizon k give :math:`RG/\sqrt k`.

    Parameters
    ----------
    step_sizes : array-like of shape (n_steps,)
        Step sizes :math:`\eta_t`.
    radius : float
        Bound R on the distance of the first point from a minimiser.
    lipschitz : float
        Bound G on the lengths of subgradients; for SGD, :math:`G^2` bounds :math:`E\|\hat g\|^2`.

    Examples
    --------
    >>> from corollary.optimize import subgradient_bound
    >>> subgradient_bound(step_sizes=[0.5] * 4, radius=1.0, lipschitz=1.0)
    0.5
    """
    steps = _check_steps("subgradient_bound", step_sizes)
    return (radius**2 + lipschitz**2 * float(steps @ steps)) / (2 * float(steps.sum()))


def _inverse(bound: Callable[[int], float], accuracy: float) -> int | float:
    """Return the least number of steps at which a falling bound is small enough."""
    if bound(0) <= accuracy:  # the bound before the first step can be better than after it
        return 0
    high = 1
    while bound(high) > accuracy:
        high *= 2
        if high > 2**60:
            return math.inf
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if bound(middle) <= accuracy else (middle, high)
    return high


def _check_steps(name: str, step_sizes: Any, largest: float = math.inf) -> np.ndarray:
    """Return positive step sizes as an array, or refuse others; who asks stands in the message."""
    steps = np.asarray(step_sizes, dtype=float)
    valid = steps.ndim == 1 and steps.size and np.isfinite(steps).all() and (steps > 0).all()
    if not valid or steps.max() > largest * (1 + 1e-12):
        limit = f", none longer than {largest:g}" if math.isfinite(largest) else ""
        raise ValueError(
            f"{name} needs at least one step size, all positive and finite{limit}. Got "
            f"{step_sizes!r}."
        )
    return steps
