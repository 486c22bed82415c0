"""The picture of AdaBoost's training error and what bounds it."""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from corollary.core.display import axes_for


class AdaBoostDisplay:
    """Draw training error, exponential loss and bounds over the rounds of boosting.

    Parameters
    ----------
    training_errors : ndarray of shape (n_rounds,)
        Training error after each round.
    exponential_losses : ndarray of shape (n_rounds,)
        Exponential loss after each round.
    training_bounds : ndarray of shape (n_rounds,)
        Products of normalisers.
    edge_bounds : ndarray of shape (n_rounds,) or None, default=None
        Bounds from the edges; None beyond two classes.
    test_errors : ndarray of shape (n_rounds,) or None, default=None
        Error on other rows after each round.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure it belongs to.
    lines_ : dict of str to matplotlib Line2D
        The curves by name.

    See Also
    --------
    AdaBoostClassifier : The model.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import AdaBoostClassifier, AdaBoostDisplay
    >>> X = np.arange(8.0)[:, None]
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, [0, 0, 1, 1, 1, 1, 0, 0])
    >>> sorted(AdaBoostDisplay.from_estimator(model).lines_)
    ['edge bound', 'exponential loss', 'product of normalisers', 'training error']
    """

    def __init__(
        self,
        training_errors: np.ndarray,
        exponential_losses: np.ndarray,
        training_bounds: np.ndarray,
        *,
        edge_bounds: np.ndarray | None = None,
        test_errors: np.ndarray | None = None,
    ) -> None:
        self.training_errors = training_errors
        self.exponential_losses = exponential_losses
        self.training_bounds = training_bounds
        self.edge_bounds = edge_bounds
        self.test_errors = test_errors

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : AdaBoostDisplay
            Itself, with ``ax_``, ``figure_`` and ``lines_``.
        """
        ax = axes_for(ax)
        rounds = np.arange(1, len(self.training_errors) + 1)
        self.lines_: dict[str, Any] = {}

        def draw(name: str, values: np.ndarray | None, **style: Any) -> None:
            if values is not None:
                (self.lines_[name],) = ax.plot(rounds, values, label=name, **style)

        draw("edge bound", self.edge_bounds, color="C3")
        # Equal to the product: the wide line shows on both sides of the narrow one.
        draw("exponential loss", self.exponential_losses, color="C0", linewidth=4, alpha=0.4)
        draw("product of normalisers", self.training_bounds, color="C0", linewidth=1)
        draw("training error", self.training_errors, color="black", drawstyle="steps-post")
        draw("test error", self.test_errors, color="C1", drawstyle="steps-post")
        ax.set(xlabel="round", ylabel="share of rows, or loss")
        ax.set_ylim(bottom=0)
        ax.legend(fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *, ax: Any = None
    ) -> "AdaBoostDisplay":
        """Draw the rounds of a fitted model.

        Parameters
        ----------
        estimator : AdaBoostClassifier
            A fitted model.
        X : array-like or data frame of shape (n_samples, n_features) or None, default=None
            Rows for a test error; None draws none.
        y : array-like of shape (n_samples,) or None, default=None
            Their labels.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : AdaBoostDisplay
            The drawn display.
        """
        if not hasattr(estimator, "staged_score"):
            raise TypeError(
                "AdaBoostDisplay.from_estimator draws AdaBoostClassifier. Got "
                f"{type(estimator).__name__} instead."
            )
        check_is_fitted(estimator)
        if (X is None) != (y is None):
            raise ValueError("AdaBoostDisplay.from_estimator needs X and y together, or neither.")
        test = None
        if X is not None:
            test = 1 - np.array(list(estimator.staged_score(X, y)))
        display = cls(
            estimator.training_errors_,
            estimator.exponential_losses_,
            estimator.training_bounds_,
            edge_bounds=estimator.edge_bounds_,
            test_errors=test,
        )
        return display.plot(ax)
