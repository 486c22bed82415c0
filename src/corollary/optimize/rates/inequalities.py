r"""Inequalities of smooth functions, on which all rates rest, as numbers at given points."""

import math
from typing import Any, Literal

import numpy as np

from corollary.core.estimator import NonNegative, Positive, checked
from corollary.optimize.problem.functions import Smooth


def descent_bound(function: Smooth, x: Any, y: Any) -> float:
    r"""Bound a smooth function at one point by what is known at another: the descent lemma.

    It is :math:`f(x)+\langle\nabla f(x),y-x\rangle+\tfrac L2\|y-x\|^2\ge f(y)`, which over y is
    least by :func:`guaranteed_decrease` below f(x). Value and gradient are known at x.
    See :class:`Smooth`, with a finite smoothness L.

    Examples
    --------
    >>> from corollary.optimize import Quadratic, descent_bound
    >>> bowl = Quadratic([[1.0, 0.0], [0.0, 4.0]])
    >>> descent_bound(bowl, [0.0, 1.0], [0.0, 3.0]), bowl.value([0.0, 3.0])
    (18.0, 18.0)
    """
    smoothness = _smoothness("descent_bound", function)
    value, gradient = function.value_and_gradient(x)
    move = np.asarray(y, dtype=float) - np.asarray(x, dtype=float)
    return value + float(gradient @ move) + 0.5 * smoothness * float(move @ move)


def guaranteed_decrease(function: Smooth, x: Any) -> float:
    r"""Return how far a step of length 1/L along the gradient lowers a smooth function at least.

    It is :math:`\tfrac1{2L}\|\nabla f(x)\|^2`, so that also
    :math:`\inf f\le f(x)-\tfrac1{2L}\|\nabla f(x)\|^2`. See :class:`Smooth`, and
    :func:`descent_bound` for the parameters.

    Examples
    --------
    >>> from corollary.optimize import Quadratic, guaranteed_decrease
    >>> guaranteed_decrease(Quadratic([[4.0]]), [1.0])  # all of it: the minimum is reached
    2.0
    """
    smoothness = _smoothness("guaranteed_decrease", function)
    gradient = function.gradient(x)
    return float(gradient @ gradient) / (2 * smoothness)


def co_coercivity(
    function: Smooth, x: Any, y: Any, *, form: Literal["gradients", "values"] = "gradients"
) -> tuple[float, float]:
    r"""Return both sides of the co-coercivity of gradients, the smaller one first.

    Parameters
    ----------
    function : Smooth
        A convex function with a finite smoothness L.
    x, y : array-like of shape (n,)
        Two points.
    form : {"gradients", "values"}, default="gradients"
        :math:`\tfrac1L\|\nabla f(x)-\nabla f(y)\|^2\le\langle\nabla f(x)-\nabla f(y),x-y\rangle`,
        or, on one side,
        :math:`\tfrac1{2L}\|\nabla f(x)-\nabla f(y)\|^2\le f(y)-f(x)-\langle\nabla f(x),y-x\rangle`.

    Examples
    --------
    >>> from corollary.optimize import Quadratic, co_coercivity
    >>> co_coercivity(Quadratic([[1.0, 0.0], [0.0, 4.0]]), [1.0, 1.0], [0.0, 0.0])
    (4.25, 5.0)
    """
    smoothness = _smoothness("co_coercivity", function)
    if not function.convex:
        raise ValueError(
            "co_coercivity needs a convex function. Say convex=True if you can vouch for it."
        )
    start, slope = function.value_and_gradient(x)
    end, other = function.value_and_gradient(y)
    move = np.asarray(y, dtype=float) - np.asarray(x, dtype=float)
    change = other - slope
    squared = float(change @ change) / smoothness
    if form == "gradients":
        return squared, float(change @ move)
    if form != "values":
        raise ValueError(f"The form must be 'gradients' or 'values'. Got {form!r} instead.")
    return squared / 2, end - start - float(slope @ move)


@checked
def step_expansion(
    *, rate: NonNegative, smoothness: Positive, strong_convexity: NonNegative = 0.0
) -> float:
    r"""Bound by how much a gradient step stretches the distance of two points.

    The factor is :math:`\max(1-\eta m,\eta L-1)`: at most 1, and less for a strongly convex
    function and :math:`\eta<2/L`. Quadratics attain it. For :math:`\eta\le\tfrac2{m+L}` the bound
    is below :math:`\sqrt{1-2\eta mL/(m+L)}`, which in turn is below :math:`1-\eta mL/(m+L)`, the
    factors of the usual proofs. :func:`step_distance` is sharper for two given points.

    Parameters
    ----------
    rate : float
        Step size :math:`\eta`, at most :math:`2/L`.
    smoothness : float
        Smoothness L of a convex function.
    strong_convexity : float, default=0.0
        Its constant m of strong convexity.

    Examples
    --------
    >>> from corollary.optimize import step_expansion
    >>> step_expansion(rate=0.25, smoothness=4.0, strong_convexity=1.0)
    0.75
    >>> step_expansion(rate=0.5, smoothness=4.0)  # 2 / L: not shorter, not longer
    1.0
    """
    _check_rate("step_expansion", rate, smoothness)
    if strong_convexity > smoothness:
        raise ValueError(
            "step_expansion needs strong_convexity <= smoothness. Got "
            f"{strong_convexity!r} and {smoothness!r}."
        )
    return max(1 - rate * strong_convexity, rate * smoothness - 1)


def step_distance(function: Smooth, x: Any, y: Any, *, rate: float) -> float:
    r"""Bound the distance of two points after one gradient step each.

    It is the square root of :math:`\|x-y\|^2-(2\eta/L-\eta^2)\|\nabla f(x)-\nabla f(y)\|^2`, at
    most :math:`\|x-y\|`, for a ``rate`` :math:`\eta\le2/L` and a convex function with a finite
    smoothness L. See :class:`Smooth`.

    Examples
    --------
    >>> from corollary.optimize import Quadratic, step_distance
    >>> step_distance(Quadratic([[4.0]]), [1.0], [0.0], rate=0.125)  # 1 - 4/8
    0.5
    """
    smoothness = _smoothness("step_distance", function)
    _check_rate("step_distance", rate, smoothness)
    squared, _ = co_coercivity(function, x, y)
    move = np.asarray(y, dtype=float) - np.asarray(x, dtype=float)
    left = float(move @ move) - (2 * rate - rate**2 * smoothness) * squared
    return math.sqrt(max(left, 0.0))


def _smoothness(name: str, function: Smooth) -> float:
    if not 0 < function.smoothness < math.inf:
        raise ValueError(
            f"{name} needs a function whose smoothness is known, positive and finite. Got "
            f"{function.smoothness!r}; pass smoothness=... if you can vouch for one."
        )
    return function.smoothness


def _check_rate(name: str, rate: float, smoothness: float) -> None:
    if not 0 <= rate * smoothness <= 2 * (1 + 1e-12):
        raise ValueError(
            f"{name} needs a step size between 0 and 2 / smoothness = {2 / smoothness:g}: longer "
            f"steps can stretch distances without limit. Got {rate!r}."
        )
