"""The picture of active learning: what was asked, in which order, and what is known by now."""

from typing import Any, Self

import numpy as np

from corollary.active.domain import Box, Pool
from corollary.core.display import axes_for


class ActiveLearningDisplay:
    """Draw the path of queries with the posterior band and the safe set.

    Parameters
    ----------
    x : ndarray of shape (n_points,)
        Points along which is drawn, increasing.
    mean : ndarray of shape (n_points,)
        Posterior means.
    lower : ndarray of shape (n_points,)
        Lower ends of the band.
    upper : ndarray of shape (n_points,)
        Upper ends of the band.
    queries : ndarray of shape (n_queries,)
        What was asked, in order.
    values : ndarray of shape (n_queries,)
        What was answered.
    safe : ndarray of shape (n_points,), dtype=bool or None, default=None
        Which points are surely safe; None if nothing need be.
    threshold : float or None, default=None
        What values must reach; None draws no line.
    truth : ndarray of shape (n_points,) or None, default=None
        The function itself, if it is known.
    feature_name : str or None, default=None
        Name of the feature.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure it belongs to.
    line_ : matplotlib Line2D
        The mean.
    band_ : matplotlib PolyCollection
        The band.
    path_ : matplotlib PathCollection
        The queries, coloured by their order.
    safe_ : matplotlib PolyCollection or None
        The strip that marks the safe set.

    See Also
    --------
    SafeOpt : A learner with a safe set.
    corollary.gp.GaussianProcessDisplay : The picture of a fitted model.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.active import ActiveLearningDisplay, Prior, SafeITL
    >>> from corollary.kernels import RBF
    >>> optimiser = SafeITL(np.linspace(0, 4, 41)[:, None], Prior(RBF(), 0.01), safe_start=[5])
    >>> optimiser.tell([5], [1.0])
    >>> display = ActiveLearningDisplay.from_learner(optimiser)
    >>> len(display.queries)
    1
    """

    def __init__(
        self,
        x: np.ndarray,
        mean: np.ndarray,
        lower: np.ndarray,
        upper: np.ndarray,
        queries: np.ndarray,
        values: np.ndarray,
        *,
        safe: np.ndarray | None = None,
        threshold: float | None = None,
        truth: np.ndarray | None = None,
        feature_name: str | None = None,
    ) -> None:
        self.x = x
        self.mean = mean
        self.lower = lower
        self.upper = upper
        self.queries = queries
        self.values = values
        self.safe = safe
        self.threshold = threshold
        self.truth = truth
        self.feature_name = feature_name

    def plot(self, ax: Any = None, *, colorbar: bool = True) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        colorbar : bool, default=True
            Whether a bar explains the colours of the queries.

        Returns
        -------
        display : ActiveLearningDisplay
            Itself, with ``ax_``, ``figure_``, ``line_``, ``band_``, ``path_`` and ``safe_``.
        """
        ax = axes_for(ax)
        self.band_ = ax.fill_between(
            self.x, self.lower, self.upper, color="C0", alpha=0.2, linewidth=0, label="band"
        )
        if self.truth is not None:
            ax.plot(self.x, self.truth, color="0.35", linewidth=1.2, linestyle=":", label="truth")
        (self.line_,) = ax.plot(self.x, self.mean, color="C0", linewidth=1.8, label="mean")
        if self.threshold is not None:
            ax.axhline(self.threshold, color="C3", linewidth=1.2, label="threshold")
        self.safe_ = None
        if self.safe is not None:
            # A strip at the foot of the axes, whatever the values are.
            self.safe_ = ax.fill_between(
                self.x,
                0.0,
                0.03,
                where=self.safe,
                step="mid",
                color="C2",
                linewidth=0,
                transform=ax.get_xaxis_transform(),
                label="safe set",
            )
        order = np.arange(1, len(self.queries) + 1)
        ax.plot(self.queries, self.values, color="0.5", linewidth=0.5, alpha=0.4, zorder=1.5)
        self.path_ = ax.scatter(
            self.queries,
            self.values,
            c=order,
            cmap="viridis",
            vmin=1,
            vmax=max(len(order), 2),
            s=28,
            edgecolors="0.15",
            linewidths=0.6,
            zorder=3,
            label="queries",
        )
        if colorbar and len(order) > 1:
            from matplotlib.ticker import MaxNLocator

            ticks = MaxNLocator(integer=True)
            ax.figure.colorbar(self.path_, ax=ax, label="query", ticks=ticks)
        ax.set_xlabel(self.feature_name or "x")
        ax.set_ylabel("value")
        ax.margins(x=0.01)
        ax.legend(fontsize="small", ncols=2)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def from_learner(
        cls,
        learner: Any,
        *,
        truth: Any = None,
        n_points: int = 300,
        confidence: float = 0.95,
        feature_name: str | None = None,
        ax: Any = None,
        colorbar: bool = True,
    ) -> "ActiveLearningDisplay":
        """Draw what a learner has asked and what it knows.

        Parameters
        ----------
        learner : TransductiveLearner, UncertaintySampler, SafeITL or SafeOpt
            A learner with one feature. A safe one is drawn with the band that safety rests on,
            others with a pointwise credible band.
        truth : callable or None, default=None
            The function: ``truth(X)`` for X of shape (n_points, 1) returns its values.
        n_points : int, default=300
            Points of the curves in a box; in a pool its own points are used.
        confidence : float, default=0.95
            Probability that a value lies in a pointwise band.
        feature_name : str or None, default=None
            Name of the feature.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        colorbar : bool, default=True
            Whether a bar explains the colours of the queries.

        Returns
        -------
        display : ActiveLearningDisplay
            The drawn display.
        """
        from scipy.special import ndtri

        domain = getattr(learner, "domain", None)
        if not isinstance(domain, Pool | Box) or not hasattr(learner, "predict"):
            raise TypeError(
                "ActiveLearningDisplay.from_learner draws learners of corollary.active with a "
                f"Gaussian process. Got {type(learner).__name__}."
            )
        if domain.n_features != 1:
            raise ValueError(
                "ActiveLearningDisplay draws learners with one feature. "
                f"Got {domain.n_features} features."
            )
        if not 0 < confidence < 1:
            raise ValueError(
                "The 'confidence' parameter of ActiveLearningDisplay.from_learner must be a float "
                f"in the range (0.0, 1.0). Got {confidence!r} instead."
            )
        if isinstance(domain, Pool):
            x = np.unique(domain.X[:, 0])
        else:
            x = np.linspace(domain.bounds[0, 0], domain.bounds[0, 1], n_points)
        mean, std = learner.predict(x[:, None])
        half = float(ndtri(0.5 + 0.5 * confidence)) * std
        lower, upper, safe, threshold = mean - half, mean + half, None, None
        if hasattr(learner, "sets"):
            sets = learner.sets(x[:, None])
            lower, upper, safe = sets.lower[0], sets.upper[0], sets.safe
            if len(sets.lower) == 1:
                threshold = float(learner.threshold[0])
        display = cls(
            x,
            mean,
            lower,
            upper,
            learner.X_[:, 0],
            learner.y_,
            safe=safe,
            threshold=threshold,
            truth=None if truth is None else np.asarray(truth(x[:, None]), dtype=float),
            feature_name=feature_name,
        )
        return display.plot(ax, colorbar=colorbar)
