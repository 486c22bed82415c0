"""The picture of a regularisation path: coefficients against penalty or degrees of freedom."""

from typing import Any, Literal, Self

import numpy as np

from corollary.core.display import axes_for
from corollary.core.estimator import checked
from corollary.linear.ridge.path import ridge_path
from corollary.linear.ridge.ridge import Ridge
from corollary.linear.sparse.elastic_net import ElasticNet
from corollary.linear.sparse.lasso import Lasso
from corollary.linear.sparse.lasso_cv import LassoCV
from corollary.linear.sparse.path import enet_path

_LABELS = {
    "alpha": r"penalty $\alpha$ (decreasing)",
    "dof": "effective degrees of freedom",
}


class CoefficientPathDisplay:
    """Draw how coefficients grow as the penalty falls.

    Lasso coefficients leave zero one after another, and may reach it again and stay there; ridge
    coefficients are never exactly zero, though with correlated columns one may pass through it.

    Parameters
    ----------
    alphas : ndarray of shape (n_alphas,)
        Penalties.
    coefs : ndarray of shape (n_features, n_alphas)
        Coefficients.
    dof : ndarray of shape (n_alphas,) or None, default=None
        Effective degrees of freedom; None counts non-zero coefficients, which is right for the
        lasso.
    feature_names : list of str or None, default=None
        Names of the features.
    chosen : float or None, default=None
        A penalty to mark.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the path was drawn.
    figure_ : matplotlib Figure
        The figure it belongs to.
    lines_ : list of matplotlib Line2D
        One line per feature.

    See Also
    --------
    lasso_path : Computes a path.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import CoefficientPathDisplay, lasso_path
    >>> X = np.random.default_rng(0).normal(size=(30, 4))
    >>> alphas, coefs, _ = lasso_path(X, X[:, 0], alphas=20)
    >>> display = CoefficientPathDisplay.from_path(alphas, coefs)
    >>> len(display.lines_)
    4
    """

    def __init__(
        self,
        alphas: np.ndarray,
        coefs: np.ndarray,
        *,
        dof: np.ndarray | None = None,
        feature_names: list[str] | None = None,
        chosen: float | None = None,
    ) -> None:
        self.alphas = alphas
        self.coefs = coefs
        self.dof = dof
        self.feature_names = feature_names
        self.chosen = chosen

    @checked
    def plot(
        self, ax: Any = None, *, x_axis: Literal["alpha", "dof"] = "alpha", n_labels: int = 8
    ) -> Self:
        """Draw the path.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        x_axis : {"alpha", "dof"}, default="alpha"
            Penalties on a falling logarithmic scale, or effective degrees of freedom.
        n_labels : int, default=8
            Features to name in the legend: those with the largest coefficients.

        Returns
        -------
        display : CoefficientPathDisplay
            Itself, with ``ax_``, ``figure_`` and ``lines_``.
        """
        ax = axes_for(ax)
        dof = np.count_nonzero(self.coefs, axis=0) if self.dof is None else self.dof
        x = self.alphas if x_axis == "alpha" else np.asarray(dof)
        names = self.feature_names or [f"x{j}" for j in range(len(self.coefs))]
        largest = np.argsort(-np.abs(self.coefs).max(axis=1), kind="stable")[:n_labels]
        named = {int(j) for j in largest if self.coefs[j].any()}
        self.lines_ = []
        for j, row in enumerate(self.coefs):
            style = {"label": str(names[j])} if j in named else {"color": "0.8", "zorder": 1.0}
            self.lines_ += ax.plot(x, row, **style)
        ax.axhline(0.0, color="0.4", linewidth=0.8)
        if x_axis == "alpha":
            ax.set_xscale("log")
            ax.set_xlim(np.max(x), np.min(x))
        if self.chosen is not None:
            nearest = int(np.argmin(np.abs(np.log(self.alphas) - np.log(self.chosen))))
            at = self.chosen if x_axis == "alpha" else x[nearest]
            ax.axvline(at, color="0.2", linestyle="--", linewidth=1.0, label="chosen")
        ax.set_xlabel(_LABELS[x_axis])
        ax.set_ylabel("coefficient")
        if named or self.chosen is not None:
            ax.legend(fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def from_path(
        cls,
        alphas: Any,
        coefs: Any,
        *,
        dof: Any = None,
        feature_names: Any = None,
        chosen: float | None = None,
        ax: Any = None,
        x_axis: Literal["alpha", "dof"] = "alpha",
        n_labels: int = 8,
    ) -> "CoefficientPathDisplay":
        """Draw a path that has been computed.

        Parameters
        ----------
        alphas : array-like of shape (n_alphas,)
            Penalties, positive.
        coefs : array-like of shape (n_features, n_alphas)
            Coefficients, as from :func:`lasso_path`, or ``ridge_path(...).coefs``.
        dof : array-like of shape (n_alphas,) or None, default=None
            Effective degrees of freedom; None counts non-zero coefficients.
        feature_names : array-like of str or None, default=None
            Names of the features.
        chosen : float or None, default=None
            A penalty to mark.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        x_axis : {"alpha", "dof"}, default="alpha"
            What the horizontal axis shows.
        n_labels : int, default=8
            Features to name in the legend.

        Returns
        -------
        display : CoefficientPathDisplay
            The drawn display.
        """
        alphas = np.asarray(alphas, dtype=np.float64)
        coefs = np.asarray(coefs, dtype=np.float64)
        if coefs.ndim != 2 or alphas.shape != (coefs.shape[1],):
            raise ValueError(
                "coefs must have one row per feature and one column per penalty, "
                f"(n_features, {len(alphas)}). Got shape {coefs.shape} instead."
            )
        display = cls(
            alphas,
            coefs,
            dof=None if dof is None else np.asarray(dof, dtype=np.float64),
            feature_names=None if feature_names is None else [str(f) for f in feature_names],
            chosen=chosen,
        )
        return display.plot(ax, x_axis=x_axis, n_labels=n_labels)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        alphas: Any = 100,
        ax: Any = None,
        x_axis: Literal["alpha", "dof"] = "alpha",
        n_labels: int = 8,
    ) -> "CoefficientPathDisplay":
        """Compute and draw the path that a lasso, elastic net or ridge model lies on.

        Parameters
        ----------
        estimator : Lasso, LassoCV, ElasticNet or Ridge
            A model, fitted or not; its penalty is marked.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights.
        alphas : int or array-like of float, default=100
            How many penalties, or which.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        x_axis : {"alpha", "dof"}, default="alpha"
            What the horizontal axis shows.
        n_labels : int, default=8
            Features to name in the legend.

        Returns
        -------
        display : CoefficientPathDisplay
            The drawn display.
        """
        chosen = getattr(estimator, "alpha_", getattr(estimator, "alpha", None))
        dof: Any = None
        if isinstance(estimator, Ridge):
            if np.ndim(alphas) == 0:
                centre = float(chosen) if chosen else 1.0
                alphas = np.geomspace(1e4 * centre, 1e-4 * centre, int(alphas))
            path = ridge_path(
                X, y, alphas, fit_intercept=estimator.fit_intercept, sample_weight=sample_weight
            )
            grid, coefs, dof = path.alphas, path.coefs, path.dof
        elif isinstance(estimator, Lasso | LassoCV | ElasticNet):
            grid, coefs, _ = enet_path(
                X,
                y,
                l1_ratio=estimator.l1_ratio if isinstance(estimator, ElasticNet) else 1.0,
                alphas=alphas,
                fit_intercept=estimator.fit_intercept,
                sample_weight=sample_weight,
                max_iter=estimator.max_iter,
                tol=estimator.tol,
                positive=estimator.positive,
            )
        else:
            raise TypeError(
                "CoefficientPathDisplay.from_estimator draws Lasso, LassoCV, ElasticNet and Ridge. "
                f"Got {type(estimator).__name__} instead; compute its path and use from_path."
            )
        names = getattr(estimator, "feature_names_in_", getattr(X, "columns", None))
        return cls.from_path(
            grid,
            coefs,
            dof=dof,
            feature_names=names,
            chosen=chosen,
            ax=ax,
            x_axis=x_axis,
            n_labels=n_labels,
        )
