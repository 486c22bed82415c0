"""The law of coverage beside what calibration sets gave."""

from typing import Any, Self

import numpy as np

from corollary.conformal.coverage.laws import coverage_dkw, coverage_law
from corollary.core.display import axes_for


class CoverageLawDisplay:
    """Draw how coverage varies with the calibration rows.

    The curve is the Beta law of :func:`coverage_law`, the histogram what was observed, and the
    vertical lines are lower limits: the exact one, and that of the inequality of Dvoretzky, Kiefer
    and Wolfowitz.

    Parameters
    ----------
    n_calibration : int
        Number of calibration rows.
    alpha : float
        Allowed share of misses, 1 - confidence.
    coverage : array-like of shape (n_repetitions,) or None, default=None
        Coverage of repeated calibrations, if there were some.
    delta : float, default=0.05
        Probability of bad luck for the lower limits.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Its figure.
    line_ : matplotlib Line2D
        The density.

    See Also
    --------
    coverage_law : The law.
    coverage_dkw : The limit that allows ties.

    Examples
    --------
    >>> from corollary.conformal import CoverageLawDisplay
    >>> display = CoverageLawDisplay(100, 0.1).plot()
    >>> display.ax_.get_xlabel()
    'coverage given the calibration rows'
    """

    def __init__(
        self, n_calibration: int, alpha: float, *, coverage: Any = None, delta: float = 0.05
    ) -> None:
        self.n_calibration = n_calibration
        self.alpha = alpha
        self.coverage = coverage
        self.delta = delta

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : CoverageLawDisplay
            Itself, with ``ax_``, ``figure_`` and ``line_``.
        """
        law = coverage_law(self.n_calibration, self.alpha)
        ax = axes_for(ax)
        low = max(0.0, law.ppf(1e-5) - 0.02)
        if self.coverage is not None:
            seen = np.asarray(self.coverage, dtype=float)
            ax.hist(seen, bins=60, density=True, alpha=0.4, label=f"{len(seen)} calibration sets")
        grid = np.linspace(low, 1, 400)
        (self.line_,) = ax.plot(grid, law.pdf(grid), label="Beta law")
        limits = {
            "exact limit": (law.ppf(self.delta), "--"),
            "DKW limit": (coverage_dkw(self.n_calibration, self.alpha, self.delta), "-."),
        }
        for name, (value, style) in limits.items():
            ax.axvline(
                value, color="0.4", linewidth=1, linestyle=style, label=f"{name}, {value:.3f}"
            )
        ax.axvline(1 - self.alpha, color="black", linewidth=1, linestyle=":", label="wanted")
        ax.set(xlabel="coverage given the calibration rows", ylabel="density", xlim=(None, 1))
        ax.legend(fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self
