"""The picture of prices: what each constraint costs."""

from typing import Any, Self

from corollary.core.display import axes_for
from corollary.optimize.program.program import Program
from corollary.optimize.program.sensitivity import Sensitivities, sensitivities
from corollary.optimize.solution import Solution


class SensitivityDisplay:
    """Draw the prices of constraints as bars.

    Parameters
    ----------
    sensitivities : Sensitivities
        The prices.
    most : int, default=15
        Largest number of bars; those with the largest prices are drawn.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure it belongs to.
    bars_ : dict of str to matplotlib Rectangle
        The bars by the labels of the constraints, the largest on top.

    See Also
    --------
    sensitivities : Computes the prices.

    Examples
    --------
    >>> from corollary.optimize import Program, SensitivityDisplay, linear_inequality, solve
    >>> program = Program([2.0], [linear_inequality([-1.0], -1.0, name="floor")])
    >>> display = SensitivityDisplay.from_solution(program, solve(program))
    >>> round(float(display.bars_["floor"].get_width()), 6)
    2.0
    """

    def __init__(self, sensitivities: Sensitivities, *, most: int = 15) -> None:
        self.sensitivities, self.most = sensitivities, most

    @classmethod
    def from_solution(
        cls, program: Program, solution: Solution, *, most: int = 15, ax: Any = None
    ) -> "SensitivityDisplay":
        """Draw the prices at a solution.

        Parameters
        ----------
        program : Program
            The program.
        solution : Solution
            Its solution, with multipliers.
        most : int, default=15
            Largest number of bars.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : SensitivityDisplay
            The drawn display.
        """
        return cls(sensitivities(program, solution.dual), most=most).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : SensitivityDisplay
            Itself, with ``ax_``, ``figure_`` and ``bars_``.
        """
        ax = axes_for(ax)
        prices = sorted(self.sensitivities.prices.items(), key=lambda item: -abs(item[1]))
        largest = dict(prices[: self.most][::-1])
        bars = ax.barh(list(largest), list(largest.values()))
        self.bars_ = dict(zip(largest, bars))
        ax.set_xlabel("rise of the least value for each unit of tightening")
        self.ax_, self.figure_ = ax, ax.figure
        return self
