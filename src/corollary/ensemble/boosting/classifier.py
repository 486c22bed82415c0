"""Gradient boosting for classification: trees along the gradient of a loss of labels."""

from dataclasses import KW_ONLY
from typing import Any, Literal

import numpy as np

from corollary.core.estimator import ClassWeight, class_factors
from corollary.ensemble._staged import StagedClassifier
from corollary.ensemble.boosting._estimator import HistGradientBoosting
from corollary.ensemble.boosting.losses import (
    BoostingLoss,
    ExponentialBoostingLoss,
    LogisticBoostingLoss,
    SoftmaxBoostingLoss,
)


class HistGradientBoostingClassifier(HistGradientBoosting, StagedClassifier):
    r"""Gradient boosting of trees for classification.

    The raw prediction is a sum of trees, :math:`f_t=f_{t-1}+\eta\,h_t`, where the tree
    :math:`h_t` takes a regularised Newton step in each leaf: minus the sum of first derivatives
    of the loss over the sum of second derivatives plus :math:`\lambda`.

    Parameters
    ----------
    loss : {"log_loss", "exponential"}, default="log_loss"
        Logistic loss (softmax for more than two classes), or AdaBoost's exponential loss for two.
    learning_rate : float, default=0.1
        Shrinkage: the share of its best step that each tree takes.
    max_iter : int, default=100
        Iterations; each adds one tree, or one per class if there are more than two.
    max_leaf_nodes : int or None, default=31
        Most leaves of a tree; None for no limit.
    max_depth : int or None, default=None
        Most splits on the way to a leaf; None for no limit.
    min_samples_leaf : int, default=20
        Fewest rows in a leaf, whatever their weights.
    l2_regularization : float, default=0.0
        Penalty :math:`\lambda` of squared leaf values.
    max_features : float, default=1.0
        Share of the features, drawn at random, that are tried at each split.
    max_bins : int, default=255
        Most bins of a numerical feature; one more holds missing values.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Categorical features: those of a data frame whose type is categorical or text, or a mask,
        positions or names. The 255 most frequent values of each are told apart.
    monotonic_cst : array-like of int of shape (n_features,), dict or None, default=None
        1 where predictions must not fall as a feature grows, -1 where they must not rise, 0
        elsewhere; a dictionary goes by names.
    interaction_cst : {"pairwise", "no_interactions"}, sequence of groups or None, default=None
        Groups of positions of features that may be together on the way to a leaf; features that
        none names are a group of their own. "no_interactions" gives each feature its own group,
        "pairwise" all pairs; None does not limit interactions.
    warm_start : bool, default=False
        Whether a further ``fit`` to the same rows adds iterations up to ``max_iter``.
    early_stopping : "auto" or bool, default="auto"
        Whether to stop when the loss no longer falls; "auto" does above 10,000 rows.
    scoring : str, callable or None, default="loss"
        What judges that: the loss, or a score as in scikit-learn; None for :meth:`score`.
    validation_fraction : float, int or None, default=0.1
        Share or number of the rows held out to judge that; None judges by the training loss.
    n_iter_no_change : int, default=10
        Iterations without improvement to wait for.
    tol : float, default=1e-7
        Least fall of the loss that counts as improvement.
    verbose : int, default=0
        Changes nothing: in a terminal long work shows its progress by itself.
    random_state : int, RandomState instance or None, default=None
        Draws held-out rows, row samples and feature samples.
    subsample : float, default=1.0
        Share of the rows, drawn without replacement, that each tree learns from.
    n_jobs : int or None, default=None
        Threads; None means one per available core. The result does not depend on it.
    class_weight : dict, "balanced" or None, default=None
        Weights of classes; "balanced" gives all classes equal total weight.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    trees_ : Trees
        The trees in their order; those of one iteration follow each other.
    start_ : ndarray of shape (n_outputs,)
        Raw prediction before the first tree.
    n_iter_ : int
        Iterations kept; after early stopping those up to the best.
    n_trees_per_iteration_ : int
        Trees that an iteration adds.
    do_early_stopping_ : bool
        Whether it may have stopped early.
    is_categorical_ : ndarray of bool of shape (n_features,) or None
        Which features are categorical; None if none is.
    train_score_ : ndarray
        Minus the mean training loss, or the score of ``scoring``, before the first and after each
        iteration, if stopping early.
    validation_score_ : ndarray
        The same on the rows held out.
    categories_ : Categories
        Values of the categorical features.
    feature_importances_ : ndarray of shape (n_features,)
        Shares of the features in the gains of all splits.
    expected_value_ : float or ndarray of shape (n_outputs,)
        Mean raw prediction, where :meth:`contributions` start.

    See Also
    --------
    HistGradientBoostingRegressor : The same for numbers.
    corollary.ensemble.AdaBoostClassifier : Boosting by reweighting rows.

    Notes
    -----
    Features are cut into bins of equal weight, trees grow leaf by leaf on histograms, and the
    smaller child's histogram gives its sibling's by subtraction. Missing values go to the better
    side of each split; the categories of a feature are ordered by their mean gradient and split
    in two.

    No step raises the loss of its leaf: Newton steps are cut where a bound on the loss along them
    has its minimum (see :class:`BoostingLoss`). Hence the training loss falls from round to round,
    however rare a class is; with more than two classes up to a learning rate of 0.45, with rows
    sampled on the rows of the sample, and with monotone constraints where these do not bind.

    Guarantee: the model has the same bits for any number of threads; checked by
    ``tests/ensemble/test_gradient_boosting.py::test_threads_do_not_change_a_bit``. Histograms add
    up whole numbers (derivatives rounded without systematic error), which no order changes; leaf
    values come from unrounded derivatives.

    References
    ----------
    Friedman, J. (2001). Greedy function approximation: a gradient boosting machine. Annals of
    Statistics 29.
    Ke, G., et al. (2017). LightGBM: a highly efficient gradient boosting decision tree. NeurIPS.

    Examples
    --------
    >>> from corollary.ensemble import HistGradientBoostingClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = HistGradientBoostingClassifier(max_iter=20).fit(X[:400], y[:400])
    >>> bool(model.score(X[400:], y[400:]) > 0.9)
    True
    """

    loss: Literal["log_loss", "exponential"] = "log_loss"
    _: KW_ONLY
    class_weight: ClassWeight = None

    _labels = True

    def _loss(self) -> BoostingLoss:
        n_classes = len(self.classes_)
        if self.loss == "exponential":
            if n_classes != 2:
                raise ValueError(
                    f"The exponential loss is for two classes. Got {n_classes}; use "
                    "loss='log_loss'."
                )
            return ExponentialBoostingLoss()
        if n_classes < 2:
            raise ValueError("The loss needs two classes.")
        return LogisticBoostingLoss() if n_classes == 2 else SoftmaxBoostingLoss(n_classes)

    def _read_targets(self, y: np.ndarray) -> np.ndarray:
        return self._code(y)

    def _boost(self, rows: Any, y: np.ndarray, weight: np.ndarray | None, *how: Any) -> None:
        factors = class_factors(self.class_weight, self.classes_, np.bincount(y))
        if factors is not None:
            weight = factors[y] if weight is None else weight * factors[y]
        super()._boost(rows, y.astype(np.float64), weight, *how)

    def _known_targets(self, y: np.ndarray) -> np.ndarray:
        codes = np.searchsorted(self.classes_, y).clip(0, len(self.classes_) - 1)
        if not (self.classes_[codes] == y).all():
            unknown = y[self.classes_[codes] != y][0]
            raise ValueError(f"The label {unknown!r} was not seen in training.")
        return codes.astype(np.float64)

    def _targets_of(self, y: np.ndarray) -> np.ndarray:
        return self.classes_[y.astype(np.int64)]

    def _scores_of(self, raw: np.ndarray) -> np.ndarray:
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def _probabilities_of(self, raw: np.ndarray) -> np.ndarray:
        return self._loss().probabilities(raw)
