"""Pictures of mixtures: ellipses with responsibilities, and the trace of the number of clusters."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from corollary.core.display import Display, axes_for
from corollary.mixture.gaussian.law import MixtureLaw


@dataclass(eq=False)
class MixtureDisplay(Display):
    """Draw rows, coloured by their responsibilities, and the ellipses of components.

    Parameters
    ----------
    law : MixtureLaw
        A mixture of two columns.
    X : ndarray of shape (n_samples, 2)
        Rows.
    responsibilities : ndarray of shape (n_samples, n_components)
        Colours are mixed by them.
    names : sequence of str or None, default=None
        Names of the columns.
    mass : float, default=0.9
        Probability of a component inside its ellipse.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    points_ : matplotlib PathCollection
        The rows.
    ellipses_ : list of matplotlib Ellipse
        The components.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.mixture import GaussianMixture, MixtureDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)) + np.repeat([[-3.0, 0.0], [3.0, 0.0]], 30, axis=0)
    >>> display = MixtureDisplay.from_estimator(GaussianMixture(2, random_state=0).fit(X), X)
    >>> len(display.ellipses_)
    2
    """

    law: MixtureLaw
    X: np.ndarray
    responsibilities: np.ndarray
    _: KW_ONLY
    names: Any = None
    mass: float = 0.9

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, *, columns: Any = (0, 1), ax: Any = None, **options: Any
    ) -> Self:
        """Draw a fitted mixture and rows.

        Parameters
        ----------
        model : GaussianMixture
            The mixture.
        X : array-like of shape (n_samples, n_features)
            Rows.
        columns : tuple of two int, default=(0, 1)
            Columns to draw; the others are integrated out.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        **options
            Passed to the constructor, e.g. ``mass``.
        """
        r = model.predict_proba(X)
        names = getattr(model, "feature_names_in_", None)
        if names is not None:
            options.setdefault("names", [str(names[c]) for c in columns])
        law = model.to_law().marginal(columns)
        rows = np.asarray(X, dtype=float)[:, list(columns)]
        return cls(law, rows, r, **options).plot(ax)

    def _draw(self, ax: Any) -> None:
        from matplotlib import colormaps
        from matplotlib.patches import Ellipse

        palette = colormaps["tab10"](np.arange(len(self.law.weights)) % 10)[:, :3]
        colours = np.clip(self.responsibilities @ palette, 0.0, 1.0)
        self.points_ = ax.scatter(*self.X.T, c=colours, s=12)
        radius = np.sqrt(-2 * np.log(1 - self.mass))  # of two columns
        self.ellipses_ = []
        for mean, covariance, colour in zip(self.law.means, self.law.covariances, palette):
            values, vectors = np.linalg.eigh(covariance)
            width, height = 2 * radius * np.sqrt(values)
            angle = float(np.degrees(np.arctan2(vectors[1, 0], vectors[0, 0])))
            shape = Ellipse(mean, width, height, angle=angle, fill=False, color=colour)
            self.ellipses_.append(ax.add_patch(shape))
        if self.names is not None:
            ax.set(xlabel=self.names[0], ylabel=self.names[1])


@dataclass(eq=False)
class ClusterTraceDisplay:
    """Draw the number of clusters after every sweep, and its posterior law.

    Parameters
    ----------
    trace : ndarray of shape (n_chains, n_sweeps)
        Numbers of clusters.
    distribution : ndarray of shape (largest + 1,)
        Posterior probabilities of 0, 1, ... clusters.
    burn_in : int, default=0
        Sweeps at the beginning that are not kept.

    Attributes
    ----------
    ax_, figure_ : ndarray of two matplotlib Axes, and Figure
        Where trace and law were drawn.
    lines_ : list of matplotlib Line2D
        One for each chain.
    bars_ : matplotlib BarContainer
        The law.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.mixture import ClusterTraceDisplay, DirichletProcessMixture
    >>> X = np.random.default_rng(0).normal(size=(30, 1))
    >>> model = DirichletProcessMixture(burn_in=5, n_draws=20, random_state=0).fit(X)
    >>> len(ClusterTraceDisplay.from_estimator(model).lines_)
    2
    """

    trace: np.ndarray
    distribution: np.ndarray
    _: KW_ONLY
    burn_in: int = 0

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None) -> Self:
        """Draw the chains of a fitted mixture.

        Parameters
        ----------
        model : DirichletProcessMixture
            The mixture.
        ax : array-like of two matplotlib Axes or None, default=None
            Where to draw trace and law; None makes a new figure.
        """
        law = model.n_clusters_distribution()
        return cls(model.n_clusters_trace_, law, burn_in=model.burn_in).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw trace and law on two axes or in a new figure. See :class:`ClusterTraceDisplay`."""
        self.ax_ = np.asarray(axes_for(ax, ncols=2, figsize=(9, 3.2)))
        left, right = self.ax_
        self.figure_ = left.figure
        self.lines_ = [left.plot(chain, linewidth=0.8)[0] for chain in self.trace]
        if self.burn_in:
            left.axvline(self.burn_in, color="black", linestyle=":")
        left.set(xlabel="sweep", ylabel="clusters")
        self.bars_ = right.bar(np.arange(len(self.distribution)), self.distribution)
        right.set(xlabel="clusters", ylabel="posterior probability", xlim=(0.4, None))
        return self
