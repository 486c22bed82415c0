"""The picture of a run: what happened, and what theory allowed."""

from typing import Any, Self

import numpy as np

from corollary.core.display import axes_for
from corollary.online.protocol import Record

NAMES = {"mistakes": "mistakes", "regret": "regret", "loss": "cumulative loss"}


class RegretDisplay:
    """Draw the mistakes or the regret of runs beside their bounds.

    Parameters
    ----------
    records : dict of str to Record
        Runs by name; all with the same measure.
    mean : bool, default=False
        Whether to divide by the rounds, which makes learning curves.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure it belongs to.
    lines_ : dict of str to matplotlib Line2D
        The truth of each run.
    bounds_ : dict of str to matplotlib Line2D
        The bound of each run that has a finite one.

    See Also
    --------
    Record : What is drawn.

    Examples
    --------
    >>> from corollary.online import Hedge, RegretDisplay, hedge_adversary
    >>> record = Hedge().run(hedge_adversary(100))
    >>> display = RegretDisplay.from_record(record, name="Hedge")
    >>> sorted(display.bounds_), display.ax_.get_ylabel()
    (['Hedge'], 'regret')
    """

    def __init__(self, records: dict[str, Record], *, mean: bool = False) -> None:
        self.records = records
        self.mean = mean

    @classmethod
    def from_record(
        cls, record: Record, *, name: str = "run", mean: bool = False, ax: Any = None
    ) -> "RegretDisplay":
        """Draw one run.

        Parameters
        ----------
        record : Record
            The run.
        name : str, default="run"
            Its name in the legend.
        mean : bool, default=False
            Whether to divide by the rounds.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : RegretDisplay
            The drawn display.
        """
        return cls({name: record}, mean=mean).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : RegretDisplay
            Itself, with ``ax_``, ``figure_``, ``lines_`` and ``bounds_``.
        """
        measures = {record.measure for record in self.records.values()}
        if len(measures) != 1:
            raise ValueError(
                "RegretDisplay draws runs of one measure. Got "
                f"{sorted(measures) or 'no run at all'}; draw the others in another picture."
            )
        ax = axes_for(ax)
        self.lines_, self.bounds_ = {}, {}
        for name, record in self.records.items():
            rounds = np.arange(1, len(record.losses) + 1)
            share = rounds if self.mean else 1.0
            (line,) = ax.plot(rounds, record.truth / share, label=name)
            self.lines_[name] = line
            if np.isfinite(record.bound).any():
                bound = np.where(np.isfinite(record.bound), record.bound, np.nan)
                (self.bounds_[name],) = ax.plot(
                    rounds,
                    bound / share,
                    linestyle="--",
                    color=line.get_color(),
                    label=f"{name}, bound",
                )
        ax.set_xlabel("round")
        ax.set_ylabel(NAMES[measures.pop()] + (" per round" if self.mean else ""))
        ax.legend(fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self
