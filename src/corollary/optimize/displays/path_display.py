"""The picture of methods at work: their paths on contours, and their values beside their rates."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from corollary.core.display import axes_for
from corollary.optimize.iteration.driver import Iteration
from corollary.optimize.problem.functions import Smooth
from corollary.optimize.rates.plan import Plan
from corollary.optimize.smooth.gradient_map import trace_points


class DescentPathDisplay:
    """Draw paths of methods on the contours of a function, and their values beside their rates.

    Parameters
    ----------
    function : Smooth
        A function of two variables.
    paths : mapping of str to ndarray of shape (n_steps + 1, 2)
        Points that methods visit, by the names of the methods.
    plans : mapping of str to Plan or None, default=None
        What the rates of methods promise, by the same names.
    least : float or None, default=None
        Least value of the function; None for its ``floor`` or, if that is not known, the smallest
        value on a path.

    Attributes
    ----------
    ax_, rate_ax_ : matplotlib Axes
        Where paths and values were drawn.
    figure_ : matplotlib Figure
        The figure they belong to.
    paths_, excess_, rates_ : dict of str to matplotlib Line2D
        The paths, how far values lie above the least one, and what the rates promise.

    See Also
    --------
    plan_steps : What a rate promises.
    GapDisplay : What is proved while a method runs.

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

    def __init__(
        self,
        function: Smooth,
        paths: Mapping[str, Any],
        *,
        plans: Mapping[str, Plan] | None = None,
        least: float | None = None,
    ) -> None:
        self.function, self.paths, self.least = function, paths, least
        self.plans = {} if plans is None else plans

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
        """Run methods and draw them.

        Parameters
        ----------
        function : Smooth
            A function of two variables.
        start : array-like of shape (2,)
            First point of all methods.
        methods : mapping of str to Iteration
            The methods, by names.
        n_steps : int, default=50
            Number of steps.
        plans : mapping of str to Plan or None, default=None
            What the rates of methods promise, by the same names.
        least : float or None, default=None
            Least value of the function, if it is known.
        axes : pair of matplotlib Axes or None, default=None
            Where to draw paths and values; None makes a new figure.

        Returns
        -------
        display : DescentPathDisplay
            The drawn display.
        """
        paths = {name: trace_points(method, start, n_steps) for name, method in methods.items()}
        return cls(function, paths, plans=plans, least=least).plot(axes)

    def plot(self, axes: Any = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        axes : pair of matplotlib Axes or None, default=None
            Where to draw paths and values; None makes a new figure.

        Returns
        -------
        display : DescentPathDisplay
            Itself, with ``ax_``, ``rate_ax_``, ``figure_`` and the lines.
        """
        paths = {name: np.asarray(points, dtype=float) for name, points in self.paths.items()}
        if not paths or any(points.ndim != 2 or points.shape[1] != 2 for points in paths.values()):
            raise ValueError(
                "DescentPathDisplay needs at least one path of points with two coordinates. Got "
                f"shapes {[points.shape for points in paths.values()]}."
            )
        axes = axes_for(axes, ncols=2, figsize=(10, 4))
        self.ax_, self.rate_ax_ = axes
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
            colour = line.get_color()
            self.paths_[name] = line
            (self.excess_[name],) = self.rate_ax_.plot(
                steps, values[name] - least, color=colour, label=name
            )
            if name in self.plans:
                promised = [self.plans[name].bound(int(k)) if k else np.nan for k in steps]
                (self.rates_[name],) = self.rate_ax_.plot(
                    steps, promised, color=colour, linestyle="--", label=f"{name}, rate"
                )
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
