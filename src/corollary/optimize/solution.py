"""The one result type of the package."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from corollary.core.display import Tabular
from corollary.optimize.optimality import Optimality
from corollary.optimize.problem.convexity import CurvatureRange

Status = Literal[
    "optimal", "stopped", "out of steps", "diverged", "infeasible", "unbounded", "failed"
]

_WORDS: dict[str, str] = {
    "optimal": "Solved",
    "stopped": "Stopped without a proof of optimality",
    "out of steps": "Out of steps",
    "diverged": "Diverged",
    "infeasible": "No point satisfies the constraints",
    "unbounded": "The objective falls without limit",
    "failed": "The solver gave up",
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Solution(Tabular):
    """A point, and what is proved about it.

    ``fun``, ``nit``, ``message`` and ``success`` are SciPy's names for the value, the number of
    steps, the sentence and whether the status is "optimal".

    Parameters
    ----------
    x : ndarray
        The point; NaN where the problem is infeasible or unbounded.
    value : float
        Objective there.
    certificate : Optimality
        What is proved about it, or a certificate that the problem has no solution.
    status : str
        "optimal" only if the certificate proves it within the tolerance; "stopped" if a tolerance
        was met that proves nothing, or by a callback; "out of steps", "diverged", "failed";
        "infeasible" and "unbounded" only with a certificate that was verified.
    n_iter : int
        Number of steps.
    reason : str, default=""
        Why the solver stopped, in words.
    dual : mapping of str to ndarray, default={}
        Multipliers of the constraints, by the names of the constraints.
    history : ndarray or None, default=None
        A record for each step: the fields of :class:`Info`, and ``seconds`` since the run began.
    state : object, default=None
        Where the method can go on from.
    planned : int or None, default=None
        Number of steps that were known to be enough before the first one, by the rate of the
        method; for stochastic methods in expectation. None if none is known.
    curvature : CurvatureRange or None, default=None
        Constants of the objective, exact or estimated with their error, if they were asked for.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import Optimality, Solution
    >>> print(Solution(x=np.zeros(2), value=0.0, status="optimal", n_iter=3,
    ...                certificate=Optimality(value=0.0, lower_bound=-1e-9, proof="duality")))
    Solved in 3 steps. The value 0 is at most 1e-09 above the least one: a dual point proves it.
    """

    x: np.ndarray
    value: float
    certificate: Any
    status: Status
    n_iter: int
    reason: str = ""
    dual: Mapping[str, np.ndarray] = field(default_factory=dict)
    history: np.ndarray | None = None
    state: Any = None
    planned: int | None = None
    curvature: CurvatureRange | None = None

    @property
    def gap(self) -> float:
        """Proved bound on how far the value lies above the least one; infinite if none is."""
        return self.certificate.gap if isinstance(self.certificate, Optimality) else np.inf

    fun = property(lambda self: self.value, doc="The value, by SciPy's name.")
    nit = property(lambda self: self.n_iter, doc="The number of steps, by SciPy's name.")
    message = property(str, doc="The sentence, by SciPy's name.")
    success = property(lambda self: self.status == "optimal", doc="Whether the point is optimal.")

    def __str__(self) -> str:
        steps = f"{self.n_iter} step{'' if self.n_iter == 1 else 's'}"
        joint = "in" if self.status == "optimal" else "after"
        notes = [self.reason] if self.reason and self.status != "optimal" else []
        if self.planned is not None:
            notes.append(f"{self.planned} are enough by the rate")
        why = f" ({'; '.join(notes)})" if notes else ""
        text = f"{_WORDS[self.status]} {joint} {steps}{why}. {self.certificate}"
        return text if self.curvature is None else f"{text} {self.curvature}"

    def _columns(self) -> dict[str, list[Any]]:
        names = {"status": "status", "value": "value", "gap": "gap", "n_iter": "steps"}
        columns = {shown: [getattr(self, name)] for name, shown in names.items()}
        return columns | {"certificate": [str(self.certificate)]}
