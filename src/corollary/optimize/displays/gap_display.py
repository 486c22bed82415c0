"""The picture of a proof in the making: the proved gap against steps or time."""

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np

from corollary.core.display import axes_for
from corollary.optimize.rates.plan import Plan
from corollary.optimize.solution import Solution


class GapDisplay:
    """Draw how far from the least value runs were proved to be, against steps or time.

    Parameters
    ----------
    solutions : mapping of str to Solution
        Solutions with a history, by names.
    against : {"steps", "seconds"}, default="steps"
        What the gap is drawn against.
    plans : mapping of str to Plan or None, default=None
        What the rates of methods promise, by the same names; drawn against steps only.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure it belongs to.
    lines_ : dict of str to matplotlib Line2D
        The gaps, at the steps where they were computed.
    rates_ : dict of str to matplotlib Line2D
        What the rates promise.

    Examples
    --------
    >>> from corollary.optimize import GapDisplay, L1, Quadratic, proximal_gradient
    >>> bowl = Quadratic([[2.0, 1.0], [1.0, 2.0]], [-3.0, 0.0])
    >>> solution = proximal_gradient(bowl, [0.0, 0.0], L1(1.0))
    >>> display = GapDisplay.from_solution(solution, name="FISTA")
    >>> display.ax_.get_ylabel(), len(display.lines_["FISTA"].get_ydata())
    ('proved gap', 1)
    """

    def __init__(
        self,
        solutions: Mapping[str, Solution],
        *,
        against: Literal["steps", "seconds"] = "steps",
        plans: Mapping[str, Plan] | None = None,
    ) -> None:
        self.solutions, self.against = solutions, against
        self.plans = {} if plans is None else plans

    @classmethod
    def from_solution(
        cls,
        solution: Solution,
        *,
        name: str = "gap",
        against: Literal["steps", "seconds"] = "steps",
        ax: Any = None,
    ) -> "GapDisplay":
        """Draw one run.

        Parameters
        ----------
        solution : Solution
            A solution with a history.
        name : str, default="gap"
            Its name in the legend.
        against : {"steps", "seconds"}, default="steps"
            What the gap is drawn against.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : GapDisplay
            The drawn display.
        """
        return cls({name: solution}, against=against).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : GapDisplay
            Itself, with ``ax_``, ``figure_``, ``lines_`` and ``rates_``.
        """
        if self.against not in ("steps", "seconds"):
            raise ValueError(
                "The 'against' parameter of GapDisplay must be 'steps' or 'seconds'. Got "
                f"{self.against!r} instead."
            )
        seen = {name: self._gaps(solution) for name, solution in self.solutions.items()}
        bare = sorted(name for name, (_, gaps) in seen.items() if not len(gaps))
        if bare or not seen:
            raise ValueError(
                "GapDisplay needs solutions with a history of finite gaps, such as those of "
                f"proximal_gradient on a convex function. None in {bare or 'an empty mapping'}."
            )
        ax = axes_for(ax)
        self.lines_, self.rates_ = {}, {}
        for name, (where, gaps) in seen.items():
            (line,) = ax.plot(where, gaps, marker=".", label=name)
            self.lines_[name] = line
            if name in self.plans and self.against == "steps":
                steps = np.arange(1, int(where[-1]) + 1)
                promised = [self.plans[name].bound(int(k)) for k in steps]
                (self.rates_[name],) = ax.plot(
                    steps, promised, color=line.get_color(), linestyle="--", label=f"{name}, rate"
                )
        ax.set(yscale="log", xlabel=self.against, ylabel="proved gap")
        ax.legend(fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _gaps(self, solution: Solution) -> tuple[np.ndarray, np.ndarray]:
        """Return where gaps were computed, and the gaps."""
        if solution.history is None:
            return np.zeros(0), np.zeros(0)
        gaps = solution.history["gap"]
        where = np.arange(1, len(gaps) + 1.0)
        if self.against == "seconds":
            where = solution.history["seconds"]
        return where[np.isfinite(gaps)], gaps[np.isfinite(gaps)]
