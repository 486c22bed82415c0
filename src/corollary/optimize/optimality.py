"""Certificates of optimality: what is proved about a point, and by what."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from corollary.core.certificate import Assumption, format_number
from corollary.core.display import Tabular

Proof = Literal["duality", "strong convexity", "bounded set", "rate", "none"]

_BECAUSE: dict[str, str] = {
    "duality": "a dual point proves it",
    "strong convexity": "the gradient there and strong convexity prove it",
    "bounded set": "the gradient there and the size of the set prove it",
    "rate": "the rate of the method proves it",
}


@dataclass(frozen=True, kw_only=True, repr=False)
class Optimality(Tabular):
    r"""What is proved about one point of a minimisation problem.

    All numbers are computed at the point itself from the problem, whatever the solver said.

    Parameters
    ----------
    value : float
        Objective at the point.
    lower_bound : float, default=-inf
        No feasible point has a smaller value than this.
    violation : float, default=0.0
        Largest amount by which the point violates a constraint.
    proof : {"duality", "strong convexity", "bounded set", "rate", "none"}, default="none"
        Where the lower bound comes from.
    residuals : mapping of str to float, default={}
        What else was measured, such as the norm of the gradient or the residuals of the KKT
        conditions. They are necessary for optimality and prove nothing about the value.
    assumptions : tuple of Assumption, default=()
        What must be true for the bound to hold, such as that a function of the user's is convex.

    Examples
    --------
    >>> from corollary.optimize import Optimality
    >>> certificate = Optimality(value=3.0, lower_bound=2.999, proof="duality")
    >>> print(certificate)
    The value 3 is at most 0.001 above the least one: a dual point proves it.
    >>> certificate.is_optimal(1e-6), certificate.is_optimal(1e-2)
    (False, True)
    >>> print(Optimality(value=3.0, residuals={"gradient": 1e-9}))
    Nothing is proved about the value 3: gradient 1e-09. It may lie above the least one.
    """

    value: float
    lower_bound: float = -math.inf
    violation: float = 0.0
    proof: Proof = "none"
    residuals: Mapping[str, float] = field(default_factory=dict)
    assumptions: tuple[Assumption, ...] = ()

    @property
    def gap(self) -> float:
        """How far the value can lie above the least one; infinite if nothing is proved."""
        apart = self.value - self.lower_bound
        return math.inf if math.isnan(apart) else max(0.0, apart)

    def is_optimal(self, tol: float = 1e-6) -> bool:
        """Tell whether optimality is proved up to a tolerance; never if no gap is.

        A value well below its lower bound is that of a point whose small violation matters. Gap and
        violation may be ``tol``, relative to the larger of 1 and the size of the value.
        See :class:`Optimality`.
        """
        apart, allowed = abs(self.value - self.lower_bound), tol * max(1.0, abs(self.value))
        return math.isfinite(apart) and apart <= allowed and self.violation <= allowed

    def __str__(self) -> str:
        seen = ", ".join(f"{name} {number:.3g}" for name, number in self.residuals.items())
        value, seen = f"the value {self.value:.6g}", f": {seen}" if seen else ""
        if not math.isfinite(self.gap):
            return f"Nothing is proved about {value}{seen}. It may lie above the least one."
        above = f"at most {format_number(self.gap)} above the least one"
        text = f"{value.capitalize()} is {above}: {_BECAUSE[self.proof]}."
        if self.violation > 0:
            text += f" The point violates its constraints by up to {format_number(self.violation)}."
        if self.assumptions:
            text += " Assumed: " + " ".join(map(str, self.assumptions))
        return text

    def _columns(self) -> dict[str, list[Any]]:
        names = ("value", "lower_bound", "gap", "violation", "proof")
        columns: dict[str, list[Any]] = {name: [getattr(self, name)] for name in names}
        return columns | {name: [number] for name, number in self.residuals.items()}
