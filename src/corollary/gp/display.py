"""The picture of a Gaussian process: mean, band and draws along one feature."""

from typing import Any, Self

import numpy as np

from corollary.core.display import axes_for


class GaussianProcessDisplay:
    """Draw a posterior mean with its band, draws of the function and the data.

    Parameters
    ----------
    x : ndarray of shape (n_points,)
        Values of the feature along which is drawn.
    mean : ndarray of shape (n_points,)
        Posterior means.
    std : ndarray of shape (n_points,)
        Standard deviations of the function.
    noisy_std : ndarray of shape (n_points,) or None, default=None
        Standard deviations of new observations; None draws no outer band.
    draws : ndarray of shape (n_points, n_draws) or None, default=None
        Draws of the function.
    data : tuple of ndarray or None, default=None
        Values of the feature and targets of observed rows.
    feature_name : str or None, default=None
        Name of the feature.
    confidence : float, default=0.95
        Probability that a value lies in its band.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure it belongs to.
    line_ : matplotlib Line2D
        The mean.
    band_ : matplotlib PolyCollection
        The band of the function.
    draw_lines_ : list of matplotlib Line2D
        The draws.

    See Also
    --------
    GaussianProcessRegressor : The model.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import GaussianProcessDisplay, GaussianProcessRegressor
    >>> X = np.linspace(0.0, 6.0, 20)[:, None]
    >>> model = GaussianProcessRegressor(random_state=0).fit(X, np.sin(X).ravel())
    >>> display = GaussianProcessDisplay.from_estimator(model, X, np.sin(X).ravel(), n_draws=3)
    >>> len(display.draw_lines_)
    3
    """

    def __init__(
        self,
        x: np.ndarray,
        mean: np.ndarray,
        std: np.ndarray,
        *,
        noisy_std: np.ndarray | None = None,
        draws: np.ndarray | None = None,
        data: tuple[np.ndarray, np.ndarray] | None = None,
        feature_name: str | None = None,
        confidence: float = 0.95,
    ) -> None:
        self.x = x
        self.mean = mean
        self.std = std
        self.noisy_std = noisy_std
        self.draws = draws
        self.data = data
        self.feature_name = feature_name
        self.confidence = confidence

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : GaussianProcessDisplay
            Itself, with ``ax_``, ``figure_``, ``line_``, ``band_`` and ``draw_lines_``.
        """
        from scipy.special import ndtri

        if not 0 < self.confidence < 1:
            raise ValueError(
                "The 'confidence' parameter of GaussianProcessDisplay must be a float in the "
                f"range (0.0, 1.0). Got {self.confidence!r} instead."
            )
        ax = axes_for(ax)
        z = float(ndtri(0.5 + 0.5 * self.confidence))
        share = f"{100 * self.confidence:g}%"

        def band(std: np.ndarray, **style: Any) -> Any:
            return ax.fill_between(self.x, self.mean - z * std, self.mean + z * std, **style)

        if self.noisy_std is not None:
            band(self.noisy_std, color="C0", alpha=0.12, linewidth=0, label=f"{share} of new data")
        self.band_ = band(
            self.std, color="C0", alpha=0.3, linewidth=0, label=f"{share} of the function"
        )
        self.draw_lines_ = []
        if self.draws is not None:
            self.draw_lines_ = ax.plot(self.x, self.draws, color="C1", linewidth=0.8, alpha=0.7)
            if self.draw_lines_:
                self.draw_lines_[0].set_label("draws")
        (self.line_,) = ax.plot(self.x, self.mean, color="C0", linewidth=1.8, label="mean")
        if self.data is not None:
            ax.plot(*self.data, linestyle="", marker=".", color="0.2", label="data")
        ax.set_xlabel(self.feature_name or "x")
        ax.set_ylabel("target")
        ax.legend(fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        feature: int = 0,
        n_points: int = 200,
        n_draws: int = 0,
        margin: float = 0.1,
        confidence: float = 0.95,
        random_state: Any = None,
        ax: Any = None,
    ) -> "GaussianProcessDisplay":
        """Compute and draw the posterior of a model along one feature.

        Parameters
        ----------
        estimator : GaussianProcessRegressor
            A fitted model.
        X : array-like or data frame of shape (n_samples, n_features)
            Rows that set the range; all other features are held at their medians.
        y : array-like of shape (n_samples,) or None, default=None
            Targets of the rows, to be drawn; None draws no data.
        feature : int, default=0
            Which column to draw along.
        n_points : int, default=200
            Points of the curves.
        n_draws : int, default=0
            Draws of the function.
        margin : float, default=0.1
            How far to go beyond the data, as a share of their range.
        confidence : float, default=0.95
            Probability that a value lies in its band.
        random_state : int, RandomState instance or None, default=None
            Seed or generator of the draws.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : GaussianProcessDisplay
            The drawn display.
        """
        names = getattr(X, "columns", None)
        values = np.asarray(X, dtype=float)
        if values.ndim != 2 or not -values.shape[1] <= feature < values.shape[1]:
            raise ValueError(
                "GaussianProcessDisplay.from_estimator needs rows with the feature to draw along. "
                f"Got feature={feature} and X of shape {values.shape}."
            )
        column = values[:, feature]
        reach = margin * (column.max() - column.min() or 1.0)
        x = np.linspace(column.min() - reach, column.max() + reach, n_points)
        grid = np.tile(np.median(values, axis=0), (n_points, 1))
        grid[:, feature] = x
        rows: Any = grid
        if names is not None:
            rows = type(X)(grid, columns=names)
        mean, std = estimator.predict(rows, return_std=True)
        noisy = estimator.predict(rows, return_std=True, noisy=True)[1]
        draws = estimator.sample_y(rows, n_draws, random_state) if n_draws else None
        display = cls(
            x,
            mean,
            std,
            noisy_std=noisy,
            draws=draws,
            data=None if y is None else (column, np.asarray(y)),
            feature_name=None if names is None else str(list(names)[feature]),
            confidence=confidence,
        )
        return display.plot(ax)
