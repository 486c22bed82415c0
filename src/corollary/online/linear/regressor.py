"""OnlineRegressor: linear regression one round at a time."""

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any, Literal, Self

import numpy as np

from corollary.core.compat import fit_context
from corollary.core.estimator import NonNegative, Probability, Regressor
from corollary.online._rows import chunks
from corollary.online.linear._estimator import OnlineLinearModel
from corollary.online.protocol import Record
from corollary.risk import EpsilonInsensitiveLoss, Loss, PinballLoss, check_loss


class OnlineRegressor(OnlineLinearModel, Regressor):
    r"""Predict numbers by a linear rule that learns from one row at a time.

    ``fit`` makes passes over the rows; ``partial_fit`` learns from a chunk, which is the same as
    learning from its rows one by one.

    Parameters
    ----------
    learner : {"gradient-descent", "passive-aggressive"}, default="gradient-descent"
        How weights change.
    loss : {"square", "absolute", "epsilon_insensitive", "pinball"}, default="square"
        Loss of gradient descent; the passive-aggressive learner has the insensitive one.
    step : {"adagrad", "sqrt", "constant"}, default="adagrad"
        Schedule of gradient descent: a step for each weight that falls with the slopes it met,
        ``eta / sqrt(t)`` in round t, or ``eta``.
    eta : float, default=0.2
        Size of the steps of gradient descent.
    alpha : float, default=0.0
        Strength of the L2 penalty: in each round the weights shrink by the factor
        ``1 - eta_t * alpha``, where eta_t is the schedule's step (with AdaGrad ``eta / sqrt(t)``).
    radius : float or None, default=None
        Radius of the ball in which gradient descent keeps the weights (with AdaGrad half the
        side of a box); None for no limit.
    variant : {"pa", "pa-i", "pa-ii", "linearised"}, default="pa-i"
        Rule of the passive-aggressive learner.
    C : float, default=1.0
        Aggressiveness of the passive-aggressive learner.
    averaging : bool, default=False
        Whether ``coef_`` is the average over all rounds instead of the last weights.
    fit_intercept : bool, default=True
        Whether there is an intercept; it is neither penalised nor projected.
    n_passes : int, default=5
        Passes of ``fit`` over the rows.
    shuffle : bool, default=True
        Whether each pass of ``fit`` has a fresh random order. ``partial_fit`` keeps the order.
    random_state : int, RandomState instance or None, default=None
        Source of the orders.
    epsilon : float, default=0.1
        Errors up to it cost nothing, in the insensitive loss.
    quantile : float, default=0.5
        Level of the pinball loss, in (0, 1).

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights.
    intercept_ : ndarray of shape (1,)
        Intercept.
    state_ : dict of str to ndarray
        What ``partial_fit`` needs to go on.

    See Also
    --------
    OnlineGradientDescent : The learner with its regret bounds.
    corollary.linear.Ridge : The exact minimum of the square loss.

    Notes
    -----
    Features and target should be of size one or so; scale them first.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.online import OnlineRegressor
    >>> X = np.random.default_rng(0).normal(size=(5000, 2))
    >>> model = OnlineRegressor().partial_fit(X, X @ [1.0, -2.0] + 0.5)
    >>> model.coef_.round(2), model.intercept_.round(2)
    (array([[ 1., -2.]]), array([0.5]))
    """

    _: KW_ONLY
    learner: Literal["gradient-descent", "passive-aggressive"] = "gradient-descent"
    loss: Literal["square", "absolute", "epsilon_insensitive", "pinball"] = "square"
    epsilon: NonNegative = 0.1
    quantile: Probability = 0.5

    def _fits_together(self) -> str | None:
        if hasattr(self, "coef_") and self.coef_.shape[0] != 1:
            return "there must be one row of weights"
        return super()._fits_together()

    @property
    def _loss(self) -> Loss:
        if self.learner == "passive-aggressive" or self.loss == "epsilon_insensitive":
            return EpsilonInsensitiveLoss(self.epsilon)
        return PinballLoss(self.quantile) if self.loss == "pinball" else check_loss(self.loss)

    def _fit(self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        passes: dict[str, Any] = {"n_passes": self.n_passes, "shuffle": self.shuffle}
        self._learn(self._start(X.shape[1], 1), X, y, sample_weight, **passes)

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a chunk, row by row in its order.

        Parameters
        ----------
        X : array-like, data frame or CSR matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Factors of the slopes.

        Returns
        -------
        self : OnlineRegressor
            The model.
        """
        self._partial_fit(X, y, sample_weight, record=False)
        return self

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, *, record: bool) -> np.ndarray:
        first = not hasattr(self, "coef_")
        X, y, weight = self._check_chunk(X, y, sample_weight, first=first)
        state = self._start(X.shape[1], 1) if first else self._state()
        return self._learn(state, X, y, weight, record=record)

    def run(
        self,
        stream: Any,
        *,
        target: str | None = None,
        columns: Sequence[str] | None = None,
    ) -> Record:
        """Predict, then learn, for every row of a stream; record what happened.

        This is progressive validation: every row is a test row before it is a training row.

        Parameters
        ----------
        stream : tuple of arrays, path, data frame or iterable of chunks
            ``(X, y)`` or ``(X, y, sample_weight)``; a Parquet or CSV file; or chunks of either
            kind.
        target : str or None, default=None
            Column of the targets, where columns have names.
        columns : sequence of str or None, default=None
            Columns of the features, where columns have names; None for all others.

        Returns
        -------
        record : Record
            Predictions and losses of every round; no comparator and no bound.
        """
        loss = self._loss
        predictions, suffered = [], []
        for X, y, *weight in chunks(stream, target, columns):
            scores = self._partial_fit(X, y, weight[0] if weight else None, record=True)[:, 0]
            predictions.append(scores)
            suffered.append(loss(np.asarray(y, dtype=float), scores))
        joined = np.concatenate(predictions)
        m = len(joined)
        return Record(
            joined,
            np.concatenate(suffered),
            np.zeros(m, dtype=bool),
            np.full(m, np.nan),
            np.full(m, np.inf),
            "loss",
            "",
        )

    def _predict(self, X: Any) -> np.ndarray:
        return self._outputs(X)[:, 0]
