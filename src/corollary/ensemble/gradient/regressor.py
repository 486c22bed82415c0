"""Friedman's gradient boosting for regression."""

from collections.abc import Iterator
from dataclasses import KW_ONLY
from typing import Any, Literal

import numpy as np

from corollary.core.estimator import Probability, Regressor, check_squares
from corollary.ensemble.boosting.losses import BoostingLoss, SquareBoostingLoss
from corollary.ensemble.boosting.quantile_losses import PinballBoostingLoss, weighted_quantile
from corollary.ensemble.boosting.regressor import HistGradientBoostingRegressor
from corollary.ensemble.gradient._gradient import (
    GradientBoosting,
    first_of,
    histogram_successor,
)
from corollary.ensemble.gradient.huber_loss import HuberBoostingLoss


class GradientBoostingRegressor(GradientBoosting, Regressor):
    r"""Gradient boosting for regression, stage by stage with exact trees.

    The prediction is a sum, :math:`f_t=f_{t-1}+\eta\,h_t`: a tree is grown on the negative
    gradient of the loss by least squares, and each of its leaves holds the best step of its rows.

    Parameters
    ----------
    criterion : str, default="deprecated"
        Changes nothing: "friedman_mse" and "squared_error" choose the same splits.
    max_depth : int or None, default=3
        Splits above a leaf at most; None for no limit.
    min_samples_split : int or float, default=2
        Rows a node must have to be split; as a float, a share of all rows.
    min_samples_leaf : int or float, default=1
        Rows a leaf must have; as a float, a share of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Share of the weight of all rows that a leaf must have.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Columns drawn at random at every node; as a float, a share. None for all.
    random_state : int, RandomState instance or None, default=None
        Draws rows, columns and held-out rows.
    max_leaf_nodes : int or None, default=None
        Leaves at most; the splits of largest gain come first. None for no limit.
    min_impurity_decrease : float, default=0.0
        A split must lower the mean squared error of the residuals by this much.
    ccp_alpha : float, default=0.0
        Price of a leaf, per unit of weight, at which each tree is pruned.
    monotonic_cst : None, default=None
        Not offered here; :class:`HistGradientBoostingRegressor` has it.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Categorical columns: those of a data frame whose type is categorical or text, or a mask,
        positions or names.
    learning_rate : float, default=0.1
        Shrinkage: the share of its best step that each tree takes.
    n_estimators : int, default=100
        Stages; each adds one tree.
    subsample : float, default=1.0
        Share of the rows, drawn without replacement, that each stage learns from.
    init : estimator, "zero" or None, default=None
        What is predicted before the first tree; None for the best constant.
    verbose : int, default=0
        Changes nothing: in a terminal long work shows its progress by itself.
    warm_start : bool, default=False
        Whether a further ``fit`` to the same rows adds stages up to ``n_estimators``.
    validation_fraction : float, default=0.1
        Share of the rows held out to stop early.
    n_iter_no_change : int or None, default=None
        Stages without improvement on held-out rows after which to stop; None never stops early.
    tol : float, default=1e-4
        Least fall of the loss that counts as improvement.
    loss : {"squared_error", "absolute_error", "huber", "quantile"}, default="squared_error"
        Squared or absolute error, Huber's mixture of both, or the pinball loss of a quantile.
    alpha : float, default=0.9
        Level of the loss "quantile"; of "huber", the share of residuals that count as small.

    Attributes
    ----------
    estimators_ : ndarray of DecisionTreeRegressor of shape (n_estimators, n_trees)
        The trees as models, made when asked for.
    trees_ : Trees
        The trees in their order, end to end in flat arrays; not yet shrunk.
    init_ : estimator or "zero"
        What predicts before the first tree.
    init_model_ : estimator or None
        The fitted estimator that was given as ``init``.
    start_ : ndarray of shape (n_trees,)
        Raw prediction before the first tree; zeros with an estimator as ``init``.
    n_estimators_ : int
        Stages; fewer than asked for after early stopping.
    n_trees_per_iteration_ : int
        Trees that a stage adds.
    max_features_ : int
        Columns drawn at every node.
    train_score_ : ndarray of shape (n_estimators,)
        Loss on the rows of each stage after it: the mean squared error, or the mean loss.
    oob_improvement_ : ndarray of shape (n_estimators,)
        Fall of the loss on the rows outside the sample of each stage, if ``subsample`` is below 1.
    oob_scores_ : ndarray of shape (n_estimators,)
        That loss.
    oob_score_ : float
        The last of them.
    feature_importances_ : ndarray of shape (n_features,)
        Shares of the features in the gains of all splits.
    expected_value_ : float or ndarray of shape (n_trees,)
        Mean raw prediction, where :meth:`contributions` start.
    categories_ : Categories
        Values of the categorical columns.
    seed_ : int
        Seed of all random draws.

    See Also
    --------
    HistGradientBoostingRegressor : Faster from some thousand rows on; also distributions.
    GradientBoostingClassifier : The same for labels.

    Notes
    -----
    Cuts between all neighbouring values are tried, so that time grows with rows times columns for
    every level of every tree.

    References
    ----------
    Friedman, J. (2001). Greedy function approximation: a gradient boosting machine. Annals of
    Statistics 29.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import GradientBoostingRegressor
    >>> X = np.linspace(0, 6, 200)[:, None]
    >>> model = GradientBoostingRegressor().fit(X, np.sin(X[:, 0]))
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.99)
    True
    """

    _: KW_ONLY
    loss: Literal["squared_error", "absolute_error", "huber", "quantile"] = "squared_error"
    alpha: Probability = 0.9

    @classmethod
    def _successor(cls, parameters: dict[str, Any], state: dict[str, Any]) -> type:
        """Return the class that a file means: once this name stood for histograms."""
        return histogram_successor(cls, HistGradientBoostingRegressor, parameters, state)

    def _loss(self) -> BoostingLoss:
        losses: dict[str, BoostingLoss] = {
            "squared_error": SquareBoostingLoss(),
            "absolute_error": PinballBoostingLoss(0.5),
            "huber": HuberBoostingLoss(1.0),
        }
        return losses.get(self.loss) or PinballBoostingLoss(float(self.alpha))

    def _stage_loss(self, y: np.ndarray, raw: np.ndarray, weight: Any) -> BoostingLoss:
        if self.loss != "huber":
            return self._loss()
        return HuberBoostingLoss(weighted_quantile(np.abs(y - raw[:, 0]), self.alpha, weight))

    def _score_factor(self) -> float:
        return 2.0 if self.loss in ("squared_error", "absolute_error") else 1.0

    def _best_constant(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        if self.loss == "squared_error":
            return self._loss().start(y, weight)
        level = self.alpha if self.loss == "quantile" else 0.5
        # Between neighbours where all rows count alike, as in scikit-learn.
        best = np.quantile(y, level) if weight is None else weighted_quantile(y, level, weight)
        return np.array([float(best)])

    def _begin(self, X: Any, y: np.ndarray, weight: np.ndarray | None) -> None:
        check_squares(self, y[:0], y)
        super()._begin(X, y, weight)

    def _raw_of(self, model: Any, X: Any) -> np.ndarray:
        return np.asarray(model.predict(X), dtype=np.float64).reshape(-1, 1)

    @property
    def init_(self) -> Any:
        """What predicts before the first tree: an estimator, or "zero"."""
        from sklearn.dummy import DummyRegressor

        if self.init is not None or "start_" not in vars(self):
            return first_of(self)
        row = np.zeros((1, self.n_features_in_))
        return DummyRegressor(strategy="constant", constant=self.start_).fit(row, self.start_)

    def _predict(self, X: Any) -> np.ndarray:
        return self._raw(X)[:, 0]

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Predict after each stage.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Inputs.

        Yields
        ------
        y : ndarray of shape (n_samples,)
            Predictions.
        """
        return (raw[:, 0] for raw in self._stages(X))
