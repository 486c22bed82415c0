"""Pictures: methods at work beside their rates, proofs in the making, prices of constraints."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np

from corollary.core.display import Display, axes_for
from corollary.optimize.iteration.driver import Iteration
from corollary.optimize.problem.functions import Smooth
from corollary.optimize.program.program import Program
from corollary.optimize.program.sensitivity import Sensitivities, sensitivities
from corollary.optimize.rates.plan import Plan
from corollary.optimize.smooth.gradient_map import trace_points
from corollary.optimize.solution import Solution


def _draw_rate(ax: Any, line: Any, plan: Plan, steps: np.ndarray) -> Any:
    """Draw what a rate promises, dashed in the colour of what it is promised for."""
    promised = [plan.bound(int(k)) if k else np.nan for k in steps]
    style = {"color": line.get_color(), "linestyle": "--", "label": f"{line.get_label()}, rate"}
    return ax.plot(steps, promised, **style)[0]


@dataclass(eq=False)
class GapDisplay(Display):
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
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    lines_, rates_ : dict of str to matplotlib Line2D
        The gaps, at the steps where they were computed, and what the rates promise.

    Examples
    --------
    >>> from corollary.optimize import GapDisplay, L1, Quadratic, proximal_gradient
    >>> bowl = Quadratic([[2.0, 1.0], [1.0, 2.0]], [-3.0, 0.0])
    >>> solution = proximal_gradient(bowl, [0.0, 0.0], L1(1.0))
    >>> display = GapDisplay.from_solution(solution, name="FISTA")
    >>> display.ax_.get_ylabel(), len(display.lines_["FISTA"].get_ydata())
    ('proved gap', 1)
    """

    solutions: Mapping[str, Solution]
    _: KW_ONLY
    against: Literal["steps", "seconds"] = "steps"
    plans: Mapping[str, Plan] | None = None

    @classmethod
    def from_solution(
        cls,
        solution: Solution,
        *,
        name: str = "gap",
        against: Literal["steps", "seconds"] = "steps",
        ax: Any = None,
    ) -> "GapDisplay":
        """Draw one run by a name, on axes or in a new figure. See :class:`GapDisplay`."""
        return cls({name: solution}, against=against).plot(ax)

    def _draw(self, ax: Any) -> None:
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
        plans = self.plans or {}
        self.lines_, self.rates_ = {}, {}
        for name, (where, gaps) in seen.items():
            (line,) = ax.plot(where, gaps, marker=".", label=name)
            self.lines_[name] = line
            if name in plans and self.against == "steps":
                steps = np.arange(1, int(where[-1]) + 1)
                self.rates_[name] = _draw_rate(ax, line, plans[name], steps)
        ax.set(yscale="log", xlabel=self.against, ylabel="proved gap")
        ax.legend(fontsize="small")

    def _gaps(self, solution: Solution) -> tuple[np.ndarray, np.ndarray]:
        """Return where gaps were computed, and the gaps."""
        if solution.history is None:
            return np.zeros(0), np.zeros(0)
        gaps, seconds = solution.history["gap"], solution.history["seconds"]
        where = seconds if self.against == "seconds" else np.arange(1, len(gaps) + 1.0)
        return where[np.isfinite(gaps)], gaps[np.isfinite(gaps)]


@dataclass(eq=False)
class DescentPathDisplay:
    """Draw paths of methods on the contours of a function, and their values beside their rates.

    Parameters
    ----------
    function : Smooth
        A function of two variables.
    paths : mapping of str to ndarray of shape (n_steps + 1, 2)
        Points that methods visit, by the names of the methods.
    plans : mapping of str to Plan or None, default=None
        What the rates of methods promise (:func:`plan_steps`), by the same names.
    least : float or None, default=None
        Least value of the function; None for its ``floor`` or, if that is not known, the smallest
        value on a path.

    Attributes
    ----------
    ax_, rate_ax_, figure_ : matplotlib Axes and Figure
        Where paths and values were drawn.
    paths_, excess_, rates_ : dict of str to matplotlib Line2D
        The paths, how far values lie above the least one, and what the rates promise.

    Examples
    --------
    >>> from corollary.optimize import DescentPathDisplay, GradientDescent, Quadratic, plan_steps
    >>> bowl, start = Quadratic([[1.0, 0.0], [0.0, 4.0]]), [2.0, 1.0]
    >>> display = DescentPathDisplay.from_methods(
    ...     bowl, start, {"descent": GradientDescent(bowl)}, n_steps=5,
    ...     plans={"descent": plan_steps("gradient descent", bowl, start)})
    >>> display.excess_["descent"].get_ydata()[0]
    np.float64(4.0)
    """

    function: Smooth
    paths: Mapping[str, Any]
    _: KW_ONLY
    plans: Mapping[str, Plan] | None = None
    least: float | None = None

    @classmethod
    def from_methods(
        cls,
        function: Smooth,
        start: Any,
        methods: Mapping[str, Iteration[Any]],
        *,
        n_steps: int = 50,
        plans: Mapping[str, Plan] | None = None,
        least: float | None = None,
        axes: Any = None,
    ) -> "DescentPathDisplay":
        """Run methods by their names from one start, and draw them on two axes or a new figure.

        See :class:`DescentPathDisplay`.
        """
        paths = {name: trace_points(method, start, n_steps) for name, method in methods.items()}
        return cls(function, paths, plans=plans, least=least).plot(axes)

    def plot(self, axes: Any = None) -> Self:
        """Draw the picture on two axes or in a new figure. See :class:`DescentPathDisplay`."""
        paths = {name: np.asarray(points, dtype=float) for name, points in self.paths.items()}
        if not paths or any(points.ndim != 2 or points.shape[1] != 2 for points in paths.values()):
            raise ValueError(
                "DescentPathDisplay needs at least one path of points with two coordinates. Got "
                f"shapes {[points.shape for points in paths.values()]}."
            )
        self.ax_, self.rate_ax_ = axes_for(axes, ncols=2, figsize=(10, 4))
        self.figure_ = self.ax_.figure
        self._draw_contours(np.vstack(list(paths.values())))
        values = {n: np.array([self.function.value(x) for x in p]) for n, p in paths.items()}
        least = self.function.floor if self.least is None else self.least
        if not np.isfinite(least):
            least = min(float(seen.min()) for seen in values.values())
        self.paths_, self.excess_, self.rates_ = {}, {}, {}
        for name, points in paths.items():
            steps = np.arange(len(points))
            (line,) = self.ax_.plot(*points.T, marker=".", markersize=4, linewidth=1, label=name)
            above, colour = values[name] - least, line.get_color()
            self.paths_[name] = line
            (self.excess_[name],) = self.rate_ax_.plot(steps, above, color=colour, label=name)
            if self.plans and name in self.plans:
                self.rates_[name] = _draw_rate(self.rate_ax_, line, self.plans[name], steps)
        self.rate_ax_.set(yscale="log", xlabel="step", ylabel="value above the least one")
        self.ax_.set(xlabel="first variable", ylabel="second variable")
        self.rate_ax_.legend(fontsize="small")
        return self

    def _draw_contours(self, points: np.ndarray) -> None:
        """Draw levels that are evenly spaced in the root of the value."""
        low, high = points.min(axis=0), points.max(axis=0)
        room = 0.15 * np.maximum(high - low, 1e-3)
        sides = [np.linspace(a, b, 80) for a, b in zip(low - room, high + room)]
        grid = np.array([[self.function.value((x, y)) for x in sides[0]] for y in sides[1]])
        levels = grid.min() + (grid.max() - grid.min()) * np.linspace(0, 1, 14)[1:] ** 2
        style = {"colors": "0.8", "linewidths": 0.8, "linestyles": "solid", "zorder": 0}
        self.ax_.contour(*sides, grid, levels=levels, **style)


@dataclass(eq=False)
class SensitivityDisplay(Display):
    """Draw the prices of constraints (:func:`sensitivities`) as bars.

    Parameters
    ----------
    sensitivities : Sensitivities
        The prices.
    most : int, default=15
        Largest number of bars; those with the largest prices are drawn.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    bars_ : dict of str to matplotlib Rectangle
        The bars by the labels of the constraints, the largest on top.

    Examples
    --------
    >>> from corollary.optimize import Program, SensitivityDisplay, linear_inequality, solve
    >>> program = Program([2.0], [linear_inequality([-1.0], -1.0, name="floor")])
    >>> display = SensitivityDisplay.from_solution(program, solve(program))
    >>> round(float(display.bars_["floor"].get_width()), 6)
    2.0
    """

    sensitivities: Sensitivities
    _: KW_ONLY
    most: int = 15

    @classmethod
    def from_solution(
        cls, program: Program, solution: Solution, *, most: int = 15, ax: Any = None
    ) -> "SensitivityDisplay":
        """Draw the prices at a solution with multipliers. See :class:`SensitivityDisplay`."""
        return cls(sensitivities(program, solution.dual), most=most).plot(ax)

    def _draw(self, ax: Any) -> None:
        prices = sorted(self.sensitivities.prices.items(), key=lambda item: -abs(item[1]))
        largest = dict(prices[: self.most][::-1])
        self.bars_ = dict(zip(largest, ax.barh(list(largest), list(largest.values()))))
        ax.set_xlabel("rise of the least value for each unit of tightening")
