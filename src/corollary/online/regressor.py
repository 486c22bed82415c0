"""OnlineRegressor: linear regression one round at a time."""

from collections.abc import Sequence
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from corollary.core.compat import Interval, StrOptions, fit_context
from corollary.core.schema import Schema
from corollary.online import protocol
from corollary.online.linear_model import CONSTRAINTS, FITTED, OnlineLinearModel, state_fits
from corollary.online.linear_state import LinearSettings
from corollary.online.protocol import Record
from corollary.risk import EpsilonInsensitiveLoss, PinballLoss, check_loss

LEARNERS = ("gradient-descent", "passive-aggressive")


def _fits(model: Any) -> str | None:
    if hasattr(model, "coef_") and model.coef_.shape[0] != 1:
        return "there must be one row of weights"
    return state_fits(model)


class OnlineRegressor(RegressorMixin, OnlineLinearModel):
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
    epsilon : float, default=0.1
        Errors up to it cost nothing, in the insensitive loss.
    quantile : float, default=0.5
        Level of the pinball loss, in (0, 1).
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

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights.
    intercept_ : ndarray of shape (1,)
        Intercept.
    state_ : dict of str to ndarray
        What ``partial_fit`` needs to go on.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if the rows had names.
    fingerprint_ : Fingerprint
        Memory of the training rows.

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

    _parameter_constraints: dict = {
        "learner": [StrOptions(set(LEARNERS))],
        "loss": [StrOptions({"square", "absolute", "epsilon_insensitive", "pinball"})],
        **CONSTRAINTS,
        "epsilon": [Interval(Real, 0, None, closed="left")],
        "quantile": [Interval(Real, 0, 1, closed="neither")],
    }
    _schema = Schema(_fits, **FITTED)

    def __init__(
        self,
        *,
        learner: str = "gradient-descent",
        loss: str = "square",
        step: str = "adagrad",
        eta: float = 0.2,
        alpha: float = 0.0,
        radius: float | None = None,
        variant: str = "pa-i",
        C: float = 1.0,
        epsilon: float = 0.1,
        quantile: float = 0.5,
        averaging: bool = False,
        fit_intercept: bool = True,
        n_passes: int = 5,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self.learner = learner
        self.loss = loss
        self.step = step
        self.eta = eta
        self.alpha = alpha
        self.radius = radius
        self.variant = variant
        self.C = C
        self.epsilon = epsilon
        self.quantile = quantile
        self.averaging = averaging
        self.fit_intercept = fit_intercept
        self.n_passes = n_passes
        self.shuffle = shuffle
        self.random_state = random_state

    @property
    def _loss_name(self) -> str:
        return "epsilon_insensitive" if self.learner == "passive-aggressive" else self.loss

    def _settings(self) -> LinearSettings:
        shapes = {"epsilon_insensitive": self.epsilon, "pinball": self.quantile}
        return self._make_settings(self._loss_name, shapes.get(self._loss_name, 0.0))

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows in several passes, from the start.

        Parameters
        ----------
        X : array-like, data frame or CSR matrix of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Factors of the slopes.

        Returns
        -------
        self : OnlineRegressor
            The fitted model.
        """
        X, y, weight = self._check_rows(X, y, sample_weight, first=True, whole=True)
        state = self._start(X.shape[1], 1)
        self._learn(state, X, y, weight, n_passes=self.n_passes, shuffle=self.shuffle)
        return self

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
        X, y, weight = self._check_rows(X, y, sample_weight, first=first, whole=False)
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
        losses = {
            "epsilon_insensitive": EpsilonInsensitiveLoss(epsilon=self.epsilon),
            "pinball": PinballLoss(quantile=self.quantile),
        }
        loss = losses.get(self._loss_name) or check_loss(self._loss_name)
        predictions, suffered = [], []
        for X, y, *weight in protocol.chunks(stream, target, columns):
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

    def predict(self, X: Any) -> np.ndarray:
        """Return predictions of rows.

        Parameters
        ----------
        X : array-like, data frame or CSR matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        predictions : ndarray of shape (n_samples,)
            Numbers.
        """
        return self._scores(X)[:, 0]
