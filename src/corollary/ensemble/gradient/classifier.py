"""Friedman's gradient boosting for classification."""

from dataclasses import KW_ONLY
from typing import Any, Literal

import numpy as np

from corollary.core.estimator import fitted
from corollary.core.schema import Integer
from corollary.ensemble._staged import StagedClassifier
from corollary.ensemble.boosting.classifier import HistGradientBoostingClassifier
from corollary.ensemble.boosting.losses import (
    BoostingLoss,
    ExponentialBoostingLoss,
    LogisticBoostingLoss,
    SoftmaxBoostingLoss,
)
from corollary.ensemble.gradient._gradient import (
    GradientBoosting,
    first_of,
    histogram_successor,
)

# Probabilities of an estimator given as init are kept this far from 0 and 1.
_CLIP = float(np.finfo(np.float32).eps)


class GradientBoostingClassifier(GradientBoosting, StagedClassifier):
    r"""Gradient boosting for classification, stage by stage with exact trees.

    The raw prediction is a sum, :math:`f_t=f_{t-1}+\eta\,h_t`: a tree is grown on the negative
    gradient of the loss by least squares, and each of its leaves takes a Newton step.

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
        Not offered here; :class:`HistGradientBoostingClassifier` has it.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Categorical columns: those of a data frame whose type is categorical or text, or a mask,
        positions or names.
    learning_rate : float, default=0.1
        Shrinkage: the share of its best step that each tree takes.
    n_estimators : int, default=100
        Stages; each adds one tree, or one per class if there are more than two.
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
    loss : {"log_loss", "exponential"}, default="log_loss"
        Logistic loss (softmax for more than two classes), or AdaBoost's exponential loss for two.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_classes_ : int
        Their number.
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
        Loss on the rows of each stage after it: the deviance for two classes, else the mean loss.
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
    HistGradientBoostingClassifier : Faster from some thousand rows on, with early stopping.
    GradientBoostingRegressor : The same for numbers.

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
    >>> from corollary.ensemble import GradientBoostingClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = GradientBoostingClassifier(n_estimators=20).fit(X[:400], y[:400])
    >>> bool(model.score(X[400:], y[400:]) > 0.9)
    True
    """

    _: KW_ONLY
    loss: Literal["log_loss", "exponential"] = "log_loss"

    n_classes_: int = fitted(Integer(2))

    @classmethod
    def _successor(cls, parameters: dict[str, Any], state: dict[str, Any]) -> type:
        """Return the class that a file means: once this name stood for histograms."""
        return histogram_successor(cls, HistGradientBoostingClassifier, parameters, state)

    def _code(self, y: np.ndarray) -> np.ndarray:
        codes = super()._code(y)
        self.n_classes_ = len(self.classes_)
        if self.loss == "exponential" and self.n_classes_ != 2:
            raise ValueError(
                "GradientBoostingClassifier(loss='exponential') is for two classes. Got "
                f"{self.n_classes_}; use loss='log_loss'."
            )
        return codes

    def _loss(self) -> BoostingLoss:
        n_classes = len(self.classes_)
        if self.loss == "exponential":
            return ExponentialBoostingLoss()
        return LogisticBoostingLoss() if n_classes == 2 else SoftmaxBoostingLoss(n_classes)

    def _score_factor(self) -> float:
        return 2.0 if isinstance(self._loss(), LogisticBoostingLoss) else 1.0

    def _begin(self, X: Any, y: np.ndarray, weight: np.ndarray | None) -> None:
        if self.init not in (None, "zero") and not hasattr(self.init, "predict_proba"):
            raise ValueError(
                "The init estimator of GradientBoostingClassifier needs predict_proba. "
                f"{self.init!r} has none."
            )
        super()._begin(X, y, weight)

    def _raw_of(self, model: Any, X: Any) -> np.ndarray:
        chance = np.clip(model.predict_proba(X), _CLIP, 1.0 - _CLIP)
        if len(self.classes_) > 2:
            logs = np.log(chance)
            return logs - logs.mean(axis=1, keepdims=True)
        odds = np.log(chance[:, 1:]) - np.log1p(-chance[:, 1:])
        return 0.5 * odds if self.loss == "exponential" else odds

    @property
    def init_(self) -> Any:
        """What predicts before the first tree: an estimator, or "zero"."""
        from sklearn.dummy import DummyClassifier

        if self.init is not None or "start_" not in vars(self):
            return first_of(self)
        prior = self._loss().probabilities(self.start_[None])[0]
        rows = np.zeros((len(prior), self.n_features_in_))
        return DummyClassifier(strategy="prior").fit(rows, self.classes_, sample_weight=prior)

    def _scores_of(self, raw: np.ndarray) -> np.ndarray:
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def _probabilities_of(self, raw: np.ndarray) -> np.ndarray:
        return self._loss().probabilities(raw)
