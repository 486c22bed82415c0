"""Pictures: regret beside its bound, and how often each arm was played."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from corollary.bandit.play import Play
from corollary.core.display import axes_for


class RegretDisplay:
    """Draw mean regret over rounds with its spread, beside what theory promises.

    Parameters
    ----------
    plays : dict of str to Play
        Simulations by name.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure it belongs to.
    lines_ : list of matplotlib Line2D
        Mean regret of each simulation.
    bounds_ : list of matplotlib Line2D
        The bounds drawn.

    See Also
    --------
    ArmPullDisplay : Which arms were played.

    Examples
    --------
    >>> from corollary.bandit import UCB1, BernoulliArms, RegretDisplay, play
    >>> result = play(UCB1(), BernoulliArms([0.2, 0.6]), rounds=500, repetitions=20, random_state=0)
    >>> display = RegretDisplay.from_plays(result)
    >>> len(display.lines_), len(display.bounds_)
    (1, 1)
    """

    def __init__(self, plays: dict[str, Play]) -> None:
        self.plays = plays

    @classmethod
    def from_plays(
        cls,
        plays: Any,
        *,
        ax: Any = None,
        bounds: bool = True,
        quantiles: tuple[float, float] = (0.1, 0.9),
    ) -> "RegretDisplay":
        """Draw one or several simulations.

        Parameters
        ----------
        plays : Play, list of Play or dict of str to Play
            What :func:`play` returned; without names the policies' names are used.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        bounds : bool, default=True
            Whether to draw the theorem's bounds.
        quantiles : tuple of two floats, default=(0.1, 0.9)
            Levels between which the repetitions are shaded.

        Returns
        -------
        display : RegretDisplay
            The drawn display.
        """
        return cls(_named(plays)).plot(ax, bounds=bounds, quantiles=quantiles)

    def plot(
        self, ax: Any = None, *, bounds: bool = True, quantiles: tuple[float, float] = (0.1, 0.9)
    ) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        bounds : bool, default=True
            Whether to draw the theorem's bounds.
        quantiles : tuple of two floats, default=(0.1, 0.9)
            Levels between which the repetitions are shaded.

        Returns
        -------
        display : RegretDisplay
            Itself, with ``ax_``, ``figure_``, ``lines_`` and ``bounds_``.
        """
        ax = axes_for(ax)
        self.lines_, self.bounds_ = [], []
        kinds = set()
        for place, (name, result) in enumerate(self.plays.items()):
            colour = f"C{place}"
            (line,) = ax.plot(result.rounds, result.mean_regret, color=colour, label=name)
            self.lines_.append(line)
            kinds.add(result.regret_kind)
            if result.regret is not None and len(result.regret) > 1:
                low, high = np.quantile(result.regret, quantiles, axis=0)
                ax.fill_between(result.rounds, low, high, color=colour, alpha=0.15, linewidth=0)
            if bounds and result.bound is not None:
                style = {"color": colour, "linestyle": "--", "linewidth": 1}
                (line,) = ax.plot(
                    result.rounds, result.bound.values, label=f"{name}, bound", **style
                )
                self.bounds_.append(line)
        ax.set(xlabel="round", ylabel=" or ".join(sorted(kinds)))
        ax.legend(fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self


class ArmPullDisplay:
    """Draw the share of rounds in which each arm was played.

    Parameters
    ----------
    plays : dict of str to Play
        Simulations by name, with the same number of arms.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure it belongs to.
    bars_ : list of matplotlib BarContainer
        Bars of each simulation, an arm each.

    See Also
    --------
    RegretDisplay : What the choice of arms cost.

    Examples
    --------
    >>> from corollary.bandit import UCB1, ArmPullDisplay, BernoulliArms, play
    >>> result = play(UCB1(), BernoulliArms([0.2, 0.6]), rounds=500, repetitions=20, random_state=0)
    >>> len(ArmPullDisplay.from_plays(result).bars_[0])
    2
    """

    def __init__(self, plays: dict[str, Play]) -> None:
        self.plays = plays

    @classmethod
    def from_plays(cls, plays: Any, *, ax: Any = None) -> "ArmPullDisplay":
        """Draw one or several simulations.

        Parameters
        ----------
        plays : Play, list of Play or dict of str to Play
            What :func:`play` returned; without names the policies' names are used.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : ArmPullDisplay
            The drawn display.
        """
        return cls(_named(plays)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture; the thin lines span the middle 80% of the repetitions.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : ArmPullDisplay
            Itself, with ``ax_``, ``figure_`` and ``bars_``.
        """
        widths = {result.pulls.shape[1] for result in self.plays.values()}
        if len(widths) != 1:
            raise ValueError(
                f"ArmPullDisplay compares simulations of the same arms. Got {sorted(widths)} arms."
            )
        ax = axes_for(ax)
        self.bars_ = []
        step = 0.8 / len(self.plays)
        for place, (name, result) in enumerate(self.plays.items()):
            share = result.pulls / result.pulls.sum(axis=1, keepdims=True)
            mean = share.mean(axis=0)
            spread = np.abs(np.quantile(share, (0.1, 0.9), axis=0) - mean)
            at = np.arange(len(mean)) - 0.4 + step * (place + 0.5)
            style = {"width": step, "color": f"C{place}", "error_kw": {"linewidth": 1}}
            self.bars_.append(ax.bar(at, mean, yerr=spread, label=name, **style))
        ax.set(xlabel="arm", ylabel="share of rounds")
        ax.legend(fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _named(plays: Any) -> dict[str, Play]:
    if isinstance(plays, Play):
        plays = [plays]
    if isinstance(plays, Mapping):
        return dict(plays)
    named: dict[str, Play] = {}
    for result in plays:
        name = type(result.policy).__name__
        copies = sum(key.split(" (")[0] == name for key in named)
        named[name if not copies else f"{name} ({copies + 1})"] = result
    return named
