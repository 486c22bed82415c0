"""How many steps are enough, said in advance from what a function knows about itself."""

import math
from typing import Any, NamedTuple

import numpy as np

from corollary.core.certificate import Assumption
from corollary.optimize.optimality import Optimality
from corollary.optimize.problem.functions import Smooth
from corollary.optimize.problem.minimum import certify_minimum
from corollary.optimize.problem.penalties import Penalty
from corollary.optimize.problem.sets import ConvexSet
from corollary.optimize.rates.first_order import (
    FirstOrderMethod,
    first_order_bound,
    first_order_steps,
)


class Plan(NamedTuple):
    """What the rate of a method says about one problem before the first step.

    ``bound(n_steps)`` is how far the value then lies above the least one at most,
    ``steps(accuracy)`` how many steps are enough, or None if nothing is known, and
    ``improve(certificate, n_steps)`` the better one of a certificate and what the rate proves after
    the steps that led to its point.

    The ``method`` is one of :func:`first_order_bound`, ``constants`` has what is known by the names
    of its parameters, and ``assumptions`` what the caller vouched for. See :class:`Optimality`.

    Examples
    --------
    >>> from corollary.optimize import Quadratic, plan_steps
    >>> plan = plan_steps("gradient descent", Quadratic([[1.0, 0.0], [0.0, 2.0]]), [1.0, 1.0])
    >>> plan.bound(2), plan.steps(0.2)  # (1 - 1/2)^4 times |gradient|^2 / 2
    (0.15625, 2)
    """

    method: FirstOrderMethod
    constants: dict[str, float]
    assumptions: tuple[Assumption, ...] = ()

    def bound(self, n_steps: int) -> float:
        """Bound the excess after a number of steps. See :class:`Plan`."""
        return first_order_bound(self.method, n_steps, **self.constants)

    def steps(self, accuracy: float) -> int | None:
        """Return how many steps are enough for an accuracy. See :class:`Plan`."""
        enough = first_order_steps(self.method, accuracy, **self.constants)
        return None if math.isinf(enough) else int(enough)

    def improve(self, certificate: Optimality, n_steps: int) -> Optimality:
        """Return the better one of a certificate and the rate. See :class:`Plan`."""
        bound = self.bound(n_steps)
        if not bound < certificate.gap or not math.isfinite(certificate.value):
            return certificate
        return Optimality(
            value=certificate.value,
            lower_bound=certificate.value - bound,
            proof="rate",
            residuals=certificate.residuals,
            assumptions=self.assumptions,
        )


def plan_steps(
    method: FirstOrderMethod,
    function: Smooth,
    start: Any,
    penalty: Penalty | None = None,
    *,
    radius: float = math.inf,
    rate: float | None = None,
) -> Plan:
    r"""Gather the constants that decide how many steps of a method are enough.

    The excess of the first value is bounded by its certificate, the distance from a minimiser by
    :math:`\sqrt{2\Delta/m}` under strong convexity, and by the extent of a bounded set.

    See :class:`Plan`; the caller vouches for a ``radius`` round the start that holds a minimiser. A
    constant ``rate`` is 1/L by default, and longer steps than that have no rate. The other
    parameters are those of :func:`first_order_bound` and :func:`proximal_gradient`.

    Examples
    --------
    >>> from corollary.optimize import Ball, Function, plan_steps
    >>> f = Function(lambda x: x[0], lambda x: 0 * x + 1, convex=True, smoothness=1.0)
    >>> plan_steps("projected gradient", f, [0.0], Ball(2.0)).constants["radius"]
    2.0
    """
    x = np.asarray(start, dtype=float)
    if isinstance(penalty, ConvexSet):
        x = penalty.project(x)
    m, L = function.strong_convexity, function.smoothness
    if rate is not None:
        L = 1 / rate if rate * L <= 1 + 1e-12 else math.inf
    assumptions = function.assumptions
    excess = math.inf
    if function.convex:
        if math.isfinite(radius):
            near = f"A minimiser lies within {radius:g} of the first point."
            assumptions += (Assumption(near, "model"),)
        excess = certify_minimum(function, x, penalty, radius=radius).gap
        if m > 0:
            radius = min(radius, math.sqrt(2 * excess / m))
        if isinstance(penalty, ConvexSet) and x.ndim == 1:
            radius = min(radius, _reach(penalty, x))
    else:
        radius = math.inf
    tiny = float(np.finfo(float).tiny)  # a start at the minimum
    constants = {
        "radius": max(radius, tiny),
        "smoothness": L if L > 0 else math.inf,
        "strong_convexity": m if m <= L else 0.0,
        "excess": max(excess, tiny),
    }
    return Plan(method, constants, assumptions)


def _reach(within: ConvexSet, x: np.ndarray) -> float:
    """Bound the distance of a point from the farthest one of a set by the extents of the set."""
    axes = np.eye(x.size)
    above = np.array([within.conjugate(axis) for axis in axes]) - x
    below = np.array([within.conjugate(-axis) for axis in axes]) + x
    return float(np.linalg.norm(np.maximum(above, below)))
