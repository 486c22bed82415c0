"""The picture of a theorem: a bound beside the quantity it bounds, as the sample grows."""

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.compat import Interval
from corollary.core.display import axes_for
from corollary.core.estimator import ArrayLike, Count, RandomSeed, checked


class BoundCurve(NamedTuple):
    """Simulated bounds and truths for growing samples.

    Parameters
    ----------
    sizes : ndarray of int of shape (n_sizes,)
        Numbers of observations.
    bounds : ndarray of shape (n_sizes, n_repetitions)
        The bound in each repetition.
    truths : ndarray of shape (n_sizes, n_repetitions)
        What it bounds.
    delta : float
        Share of the repetitions in which the truth may be larger.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import BoundCurve
    >>> curve = BoundCurve(np.array([10]), np.array([[0.3, 0.4]]), np.array([[0.2, 0.5]]), 0.05)
    >>> curve.violations
    array([0.5])
    """

    sizes: np.ndarray
    bounds: np.ndarray
    truths: np.ndarray
    delta: float

    @property
    def violations(self) -> np.ndarray:
        """Share of the repetitions in which the truth exceeded the bound, for each size."""
        slack = 1e-9 * np.maximum(1.0, np.abs(self.bounds))
        return np.mean(self.truths > self.bounds + slack, axis=1)

    @property
    def attained(self) -> np.ndarray:
        """The smallest number, for each size, that would have kept the promise here."""
        return np.quantile(self.truths, 1 - self.delta, axis=1, method="higher")


@checked
def bound_curve(
    trial: Callable[..., Any],
    sizes: ArrayLike,
    *,
    delta: Annotated[float, Interval(Real, 0, 1, closed="left")] = 0.05,
    repetitions: Count = 50,
    random_state: RandomSeed = None,
) -> BoundCurve:
    """Simulate a bound and the quantity it bounds for samples of several sizes.

    Parameters
    ----------
    trial : callable
        ``trial(n, rng)`` draws n observations with a NumPy generator and returns the bound and the
        true value that must not exceed it.
    sizes : array-like of int
        Numbers of observations.
    delta : float, default=0.05
        Share of failures that the bound allows; 0 for one that always holds.
    repetitions : int, default=50
        Draws for each size.
    random_state : int, RandomState instance or None, default=None
        Source of the draws. Curves with the same seed and sizes see the same draws.

    Returns
    -------
    curve : BoundCurve
        All bounds and truths.

    Raises
    ------
    ValueError
        If sizes are not positive whole numbers.

    See Also
    --------
    BoundDisplay : Its picture.

    Examples
    --------
    >>> from corollary.theory import bound_curve, hoeffding_bound
    >>> def coins(n, rng):
    ...     return rng.binomial(n, 0.5) / n + hoeffding_bound(n_samples=n, delta=0.05), 0.5
    >>> curve = bound_curve(coins, [10, 1000], random_state=0)
    >>> bool(curve.violations.max() <= 0.1), curve.bounds.shape
    (True, (2, 50))
    """
    numbers = np.asarray(sizes)
    if numbers.ndim != 1 or not len(numbers) or numbers.dtype.kind not in "iu" or numbers.min() < 1:
        raise ValueError(
            "The 'sizes' parameter of bound_curve must hold positive whole numbers. "
            f"Got {sizes!r} instead."
        )
    seeds = check_random_state(random_state).randint(2**31, size=(len(numbers), repetitions))
    pairs = np.array(
        [
            [trial(int(n), np.random.default_rng(seed)) for seed in row]
            for n, row in zip(numbers, seeds)
        ],
        dtype=float,
    )
    return BoundCurve(numbers, pairs[..., 0], pairs[..., 1], delta)


class BoundDisplay:
    """Draw bounds beside the simulated quantity that they bound.

    Lines are medians over the repetitions, bands hold the middle nine tenths of them. The dotted
    line is the smallest number that would have kept the promise in this world.

    Parameters
    ----------
    curves : dict of str to BoundCurve
        Bounds by name, all of the same quantity: that of the first is drawn.
    quantity : str, default="simulated"
        Name of the quantity.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure it belongs to.
    bounds_ : dict of str to matplotlib Line2D
        The bounds.
    truth_ : matplotlib Line2D
        The simulated quantity.

    See Also
    --------
    bound_curve : What is drawn.

    Examples
    --------
    >>> from corollary.theory import BoundDisplay, hoeffding_bound
    >>> def coins(n, rng):
    ...     return hoeffding_bound(n_samples=n, delta=0.05), rng.binomial(n, 0.5) / n - 0.5
    >>> display = BoundDisplay.from_trial(coins, [10, 100], name="Hoeffding", random_state=0)
    >>> list(display.bounds_), display.ax_.get_xlabel()
    (['Hoeffding'], 'rows')
    """

    def __init__(self, curves: Mapping[str, BoundCurve], *, quantity: str = "simulated") -> None:
        self.curves = curves
        self.quantity = quantity

    @classmethod
    def from_trial(
        cls,
        trial: Callable[[int, np.random.Generator], tuple[float, float]],
        sizes: Any,
        *,
        name: str = "bound",
        quantity: str = "simulated",
        ax: Any = None,
        **how: Any,
    ) -> "BoundDisplay":
        """Simulate one bound and draw it.

        Parameters
        ----------
        trial : callable
            ``trial(n, rng)`` returns the bound and the truth for n observations.
        sizes : array-like of int
            Numbers of observations.
        name : str, default="bound"
            Name of the bound in the legend.
        quantity : str, default="simulated"
            Name of the quantity.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        **how
            Passed to :func:`bound_curve`.

        Returns
        -------
        display : BoundDisplay
            The drawn display.
        """
        return cls({name: bound_curve(trial, sizes, **how)}, quantity=quantity).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : BoundDisplay
            Itself, with ``ax_``, ``figure_``, ``bounds_`` and ``truth_``.
        """
        if not self.curves:
            raise ValueError("BoundDisplay needs at least one curve. Got none.")
        ax = axes_for(ax)
        first = next(iter(self.curves.values()))
        self.bounds_ = {}
        for place, (name, curve) in enumerate(self.curves.items()):
            (self.bounds_[name],) = ax.plot(
                curve.sizes, np.median(curve.bounds, axis=1), color=f"C{place}", label=name
            )
            _band(ax, curve.sizes, curve.bounds, f"C{place}")
        colour = "0.35"
        _band(ax, first.sizes, first.truths, colour)
        (self.truth_,) = ax.plot(
            first.sizes, np.median(first.truths, axis=1), color=colour, label=self.quantity
        )
        if np.ptp(first.truths) > 0:
            ax.plot(first.sizes, first.attained, color=colour, linestyle=":", linewidth=1)
        ax.set_xscale("log")
        ax.set_xlabel("rows")
        ax.legend(fontsize="small", frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _band(ax: Any, sizes: np.ndarray, values: np.ndarray, colour: str) -> None:
    ends = np.quantile(values, [0.05, 0.95], axis=1)
    ax.fill_between(sizes, *ends, color=colour, alpha=0.15, linewidth=0)
