"""Whether things that are given 70% happen in 70 of 100 cases."""

from typing import Any, Literal, NamedTuple

import numpy as np

from corollary.core.display import axes_for, html_table
from corollary.core.estimator import ArrayLike, Count, Probability, checked
from corollary.theory import clopper_pearson_interval, unit_means
from corollary.validation._units import read_units
from corollary.validation.hold_out import hold_out_interval


class ReliabilityCurve(NamedTuple):
    """Predicted against observed shares in bins of predictions.

    Parameters
    ----------
    predicted : ndarray of shape (n_bins,)
        Mean prediction in each bin.
    observed : ndarray of shape (n_bins,)
        Share of rows in which it happened.
    lower : ndarray of shape (n_bins,)
        Lower limit of the true share, exact for each bin on its own.
    upper : ndarray of shape (n_bins,)
        Upper limit.
    rows : ndarray of shape (n_bins,)
        Rows in each bin.
    """

    predicted: np.ndarray
    observed: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    rows: np.ndarray

    def _repr_html_(self) -> str:
        return html_table(self._asdict())

    @property
    def expected_error(self) -> float:
        """Mean distance of prediction and share over bins, weighted by rows; above 0 by noise."""
        return float(np.average(np.abs(self.predicted - self.observed), weights=self.rows))

    @property
    def overconfidence(self) -> float:
        """Slope by which predictions are too extreme: above 0 when too sure, below when too timid.

        One less the slope of the weighted least-squares line of observed on predicted shares.
        """
        weights = self.rows / self.rows.sum()
        x = self.predicted - weights @ self.predicted
        spread = weights @ x**2
        return float(1 - (weights @ (x * self.observed)) / spread) if spread > 0 else 0.0


@checked
def reliability_curve(
    y: ArrayLike,
    probability: ArrayLike,
    *,
    n_bins: Count = 10,
    strategy: Literal["quantile", "uniform"] = "quantile",
    min_rows: Count = 20,
    confidence: Probability = 0.95,
    groups: Any = None,
) -> ReliabilityCurve:
    """Compute the reliability curve of predicted probabilities, with exact bands.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Whether it happened, 0 or 1.
    probability : array-like of shape (n_samples,)
        Predicted probabilities.
    n_bins : int, default=10
        Most bins.
    strategy : {"quantile", "uniform"}, default="quantile"
        Bins of equal counts, or of equal width.
    min_rows : int, default=20
        Fewest rows of a bin: smaller ones are joined with their neighbour, so that a curve does not
        zigzag through a handful of rows.
    confidence : float, default=0.95
        Confidence of each band.
    groups : array-like of shape (n_samples,) or None, default=None
        The unit of each row: in each bin a unit counts once, and bands count units.

    Returns
    -------
    curve : ReliabilityCurve
        Means, shares, bands and counts.

    See Also
    --------
    ReliabilityDisplay : Its picture.

    Notes
    -----
    Guarantee: a band holds the mean of the true probabilities of its bin with at least this
    confidence when predictions and rows are independent of how the bins were made; checked by
    ``tests/guarantees/validation.py``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.validation import reliability_curve
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(1000)
    >>> curve = reliability_curve(rng.random(1000) < p, p)
    >>> curve.expected_error < 0.06
    True
    """
    if np.asarray(y).dtype.kind in "OUS":
        raise ValueError(
            "reliability_curve needs outcomes that are 0 or 1. Got labels of another kind; say "
            "which one is the event, for instance y == 'yes'."
        )
    y, p = np.asarray(y, dtype=float), np.asarray(probability, dtype=float)
    if y.ndim != 1 or y.shape != p.shape or not len(y) or not np.isin(y, (0, 1)).all():
        raise ValueError(
            "reliability_curve needs an outcome, 0 or 1, and a probability for each row. Got "
            f"shapes {y.shape} and {p.shape}."
        )
    if not np.all((p >= 0) & (p <= 1)):
        raise ValueError("The 'probability' parameter of reliability_curve must lie in [0, 1].")
    if strategy == "uniform":
        bins = np.minimum((p * n_bins).astype(int), n_bins - 1)
    else:
        edges = np.quantile(p, np.linspace(0, 1, n_bins + 1)[1:-1])
        # Equal predictions stay together, or the bins would depend on the order of the rows.
        bins = np.searchsorted(edges, p, side="right")
    bins = _join(np.bincount(bins, minlength=n_bins), min_rows)[bins]
    count = np.bincount(bins)
    if groups is not None:
        units = read_units("reliability_curve", groups, len(y))
        return _curve_of_units(y, p, bins, units, 1 - confidence)
    hits = np.bincount(bins, weights=y)
    limits = np.array(
        [clopper_pearson_interval(int(k), int(m), 1 - confidence) for k, m in zip(hits, count)]
    )
    predicted = np.bincount(bins, weights=p) / count
    return ReliabilityCurve(predicted, hits / count, limits[:, 0], limits[:, 1], count)


def _curve_of_units(
    y: np.ndarray, p: np.ndarray, bins: np.ndarray, units: np.ndarray, delta: float
) -> ReliabilityCurve:
    """Return the curve in which each unit counts once in a bin."""
    columns = []
    for k in range(int(bins.max()) + 1):
        rows = bins == k
        shares, means = unit_means(y[rows], units[rows]), unit_means(p[rows], units[rows])
        limits = hold_out_interval(y[rows], delta, units=units[rows])
        columns.append((means.mean(), shares.mean(), *limits, rows.sum()))
    predicted, observed, lower, upper, count = np.transpose(columns)
    return ReliabilityCurve(predicted, observed, lower, upper, count.astype(int))


class ReliabilityDisplay:
    """Reliability curve with bands, and where the predictions lie.

    Parameters
    ----------
    curve : ReliabilityCurve
        What to draw.
    name : str or None, default=None
        Label of the curve.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Its figure.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.validation import ReliabilityDisplay
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(500)
    >>> display = ReliabilityDisplay.from_predictions(rng.random(500) < p, p)
    >>> display.ax_.get_xlabel()
    'predicted probability'
    """

    def __init__(self, curve: ReliabilityCurve, *, name: str | None = None) -> None:
        self.curve = curve
        self.name = name

    @classmethod
    def from_predictions(
        cls, y: Any, probability: Any, *, ax: Any = None, name: str | None = None, **how: Any
    ) -> "ReliabilityDisplay":
        """Compute and draw a curve.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Whether it happened, 0 or 1.
        probability : array-like of shape (n_samples,)
            Predicted probabilities.
        ax : matplotlib Axes or None, default=None
            Where to draw; None for a new figure.
        name : str or None, default=None
            Label of the curve.
        **how
            Passed to :func:`reliability_curve`.

        Returns
        -------
        display : ReliabilityDisplay
            The display.
        """
        return cls(reliability_curve(y, probability, **how), name=name).plot(ax=ax)

    def plot(self, ax: Any = None) -> "ReliabilityDisplay":
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None for a new figure.

        Returns
        -------
        display : ReliabilityDisplay
            This object.
        """
        ax = axes_for(ax)
        c = self.curve
        ax.plot([0, 1], [0, 1], color="0.6", linewidth=1, linestyle="--")
        errors = np.stack([c.observed - c.lower, c.upper - c.observed])
        ax.errorbar(
            c.predicted, c.observed, yerr=errors, fmt="o-", markersize=4, capsize=2, label=self.name
        )
        ax.set(
            xlabel="predicted probability", ylabel="observed share", xlim=(0, 1), ylim=(-0.02, 1.02)
        )
        if self.name:
            ax.legend(loc="upper left")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _join(count: np.ndarray, least: int) -> np.ndarray:
    """Return the group of each bin, neighbours joined until each holds enough rows."""
    group, groups, held = 0, np.empty(len(count), dtype=int), 0
    for i, rows in enumerate(count):
        groups[i] = group
        held += rows
        if held >= least:
            group, held = group + 1, 0
    if held and group:  # the rest is too small to stand alone
        groups[groups == group] = group - 1
    return groups
