"""What a step reports, and when that is enough."""

import math
from dataclasses import dataclass, fields
from typing import NamedTuple


class Info(NamedTuple):
    """What one step saw, as numbers; None for those that it did not compute.

    Parameters
    ----------
    value : float or None, default=None
        Objective at the new point.
    step : float or None, default=None
        Distance between the old and the new point.
    gradient : float or None, default=None
        Norm of the gradient, or of what takes its place, at the point that the step began with.
    gap : float or None, default=None
        Proved bound on how far the value lies above the least one.
    primal, dual : float or None, default=None
        How far the new point violates its constraints, and its multipliers those of the dual.

    Examples
    --------
    >>> from corollary.optimize import Info
    >>> Info(value=1.0, gap=0.5).computed()
    {'value': 1.0, 'gap': 0.5}
    """

    value: float | None = None
    step: float | None = None
    gradient: float | None = None
    gap: float | None = None
    primal: float | None = None
    dual: float | None = None

    def computed(self) -> dict[str, float]:
        """Return the numbers that were computed, by name."""
        return {name: float(n) for name, n in self._asdict().items() if n is not None}

    def is_lost(self) -> bool:
        """Tell whether value, step or gradient was computed and is not finite."""
        numbers = (self.value, self.step, self.gradient)
        return any(n is not None and not math.isfinite(n) for n in numbers)


@dataclass(frozen=True)
class Stop:
    r"""Tolerances that end a run.

    Only the gap proves anything about the value: a short step or a small change is also what a
    slow method shows, and a small gradient what a flat function shows.

    Parameters
    ----------
    step : float or None, default=None
        :math:`\|x_{t+1}-x_t\|` is at most this.
    value : float or None, default=None
        :math:`|f(x_{t+1})-f(x_t)|` is at most this.
    gradient : float or None, default=None
        :math:`\|\nabla f(x_t)\|`, or the norm of what takes its place, is at most this.
    gap : float or None, default=None
        The proved distance from the least value is at most this, times the size of the value
        where that exceeds 1.
    residual : float or None, default=None
        Violation of the constraints and of dual feasibility are both at most this.
    together : bool, default=False
        Whether all tolerances that are set must be met at once, or the first one ends the run.

    Examples
    --------
    >>> from corollary.optimize import Info, Stop
    >>> Stop(step=0.1, gap=1e-6).met(Info(step=0.05, gap=0.3))
    'the step is at most 0.1'
    >>> Stop(step=0.1, gap=1e-6, together=True).met(Info(step=0.05, gap=0.3))
    ''
    """

    step: float | None = None
    value: float | None = None
    gradient: float | None = None
    gap: float | None = None
    residual: float | None = None
    together: bool = False

    def __post_init__(self) -> None:
        for field in fields(self):
            tol = getattr(self, field.name)
            if field.name != "together" and tol is not None and not tol >= 0:
                raise ValueError(
                    f"The {field.name!r} parameter of Stop must be a float in the range [0, inf) "
                    f"or None. Got {tol!r} instead."
                )

    def met(self, info: Info, previous: Info | None = None) -> str:
        """Say in words which tolerance is met; nothing if none is, or not all that must be.

        Without the info of the step before, no change of the value is known. See :class:`Stop`.
        """
        change = residual = None
        if previous is not None and previous.value is not None and info.value is not None:
            change = abs(info.value - previous.value)
        if info.primal is not None and info.dual is not None:
            residual = max(info.primal, info.dual)
        size = 1.0 if info.value is None else max(1.0, abs(info.value))
        seen = [
            ("the step is", info.step, self.step),
            ("the change of the value is", change, self.value),
            ("the gradient is", info.gradient, self.gradient),
            ("the gap is", None if info.gap is None else info.gap / size, self.gap),
            ("the residuals are", residual, self.residual),
        ]
        asked = [(words, number, tol) for words, number, tol in seen if tol is not None]
        met = [f"{w} at most {tol:g}" for w, n, tol in asked if n is not None and n <= tol]
        if not met or (self.together and len(met) < len(asked)):
            return ""
        return " and ".join(met) if self.together else met[0]
