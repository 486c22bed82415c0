r"""How far a point can be from the minimum of :math:`F=f+h`, computed at the point itself.

Convexity alone gives a lower bound of F that holds everywhere. With :math:`g=\nabla f(x)`,

.. math:: F(z)\ge f(x)+g^\top(z-x)+h(z)\ge f(x)-g^\top x-h^*(-g),

and if f is m-strongly convex the term :math:`\tfrac m2\|z-x\|^2` may be kept, so that the least
value over z is attained at the proximal point of a step 1/m. For h = 0 this is
:math:`f(x)-\|g\|^2/(2m)`, for a set the gap of Frank and Wolfe.
"""

import math
from typing import Any

import numpy as np

from corollary.core.certificate import Assumption
from corollary.optimize.optimality import Optimality
from corollary.optimize.problem.functions import Smooth
from corollary.optimize.problem.penalties import Penalty, Zero


def certify_minimum(
    function: Smooth, x: Any, penalty: Penalty | None = None, *, radius: float = math.inf
) -> Optimality:
    r"""Compute what is proved about a point as a minimiser of :math:`f+h`.

    Nothing is proved unless f is convex and one of these holds: it is strongly convex, h has a
    conjugate that is finite at the gradient, h is a norm and f is bounded below, or a radius is
    known. The best of the lower bounds that apply counts.

    A norm as penalty bounds where minimisers can be: :math:`h(z)\le F(x)-\inf f`. The supremum in
    the conjugate is taken over these points only, which makes it finite.

    Guarantee: the lower bound is at most the least value of F, checked by
    ``tests/optimize/test_minimum.py::test_no_bound_exceeds_the_least_value``.

    See :class:`Smooth` for f, and :class:`Penalty` for h, which may be a convex set or None. A
    minimiser is known to lie within the ``radius`` of the point.

    Examples
    --------
    >>> from corollary.optimize import L1, Quadratic, certify_minimum
    >>> bowl = Quadratic([[1.0]], [-3.0])  # with L1(1) smallest at 2
    >>> certify_minimum(bowl, [2.0], L1(1.0)).gap
    0.0
    >>> print(certify_minimum(bowl, [2.5]))
    The value -4.375 is at most 0.125 above the least one: the gradient there and strong convexity
    prove it.
    """
    penalty = Zero() if penalty is None else penalty
    x = np.asarray(x, dtype=float)
    smooth_value, gradient = function.value_and_gradient(x)
    value = smooth_value + penalty.value(x)
    if not (math.isfinite(value) and np.isfinite(gradient).all()):
        return Optimality(value=value, residuals={"gradient": float(np.linalg.norm(gradient))})
    m, L = function.strong_convexity, function.smoothness
    step = 1 / m if m > 0 else 1 / L if 0 < L < math.inf else 1.0
    away = penalty.prox(x - step * gradient, step) - x
    residuals = {"gradient": float(np.linalg.norm(away)) / step}
    if not function.convex:
        return Optimality(value=value, residuals=residuals)
    reach = value - function.floor
    along = float(np.sum(gradient * x))
    bounds = {"duality": smooth_value - along - penalty.conjugate(-gradient, reach)}
    if m > 0:
        quadratic = float(np.sum(gradient * away)) + 0.5 * m * float(np.sum(away**2))
        bounds["strong convexity"] = smooth_value + quadratic + penalty.value(x + away)
    if math.isfinite(radius) and isinstance(penalty, Zero):
        bounds["bounded set"] = smooth_value - radius * float(np.linalg.norm(gradient))
    proof = max(bounds, key=lambda name: bounds[name])
    assumptions = function.assumptions
    if proof == "bounded set":
        nearby = f"A minimiser lies within {radius:g} of the point."
        assumptions += (Assumption(nearby, "model"),)
    return Optimality(
        value=value,
        lower_bound=bounds[proof],
        proof=proof if bounds[proof] > -math.inf else "none",  # type: ignore[arg-type]
        residuals=residuals,
        assumptions=assumptions,
    )
