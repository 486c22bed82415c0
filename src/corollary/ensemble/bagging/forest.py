"""Random forests: bagged trees, each split from a random choice of columns."""

from dataclasses import KW_ONLY
from typing import Any, Literal

import numpy as np

from corollary.core.estimator import Count, Regressor, Share, fitted
from corollary.core.schema import Array, Optional
from corollary.ensemble.bagging._bootstrapped import determination
from corollary.ensemble.bagging._forest import BaseForest
from corollary.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    TreeClassifier,
    tree_partial_dependence,
)


class RandomForestClassifier(BaseForest, TreeClassifier):
    """Classify by the mean of many trees, each grown on its own draw of rows and columns.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"gini", "entropy", "log_loss", "misclassification"}, default="gini"
        Impurity of a node, the entropy in bits. Of several targets the mean decides.
    max_depth : int or None, default=None
        Splits above a leaf at most; None for no limit.
    min_samples_split : int or float, default=2
        Rows a node must have to be split; as a float, a share of all rows.
    min_samples_leaf : int or float, default=1
        Rows a leaf must have; as a float, a share of all rows. Copies count once.
    min_weight_fraction_leaf : float, default=0.0
        Share of the weight of all rows that a leaf must have.
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
        Columns drawn; as a float, a share. None for all, which is bagging.
    random_state : int, RandomState instance or None, default=None
        Determines rows and columns drawn.
    max_leaf_nodes : int or None, default=None
        Leaves of a tree at most; None for no limit.
    min_impurity_decrease : float, default=0.0
        A split must lower the mean impurity of a tree's rows by this much.
    ccp_alpha : float, default=0.0
        Price of a leaf, per unit of weight, at which each tree is pruned.
    monotonic_cst : array-like of int of shape (n_features,), dict or None, default=None
        For each feature whether the probability of the second of two classes may only rise (1) or
        only fall (-1) with it; 0 for no constraint. A dict maps names of columns to signs.
    categorical_features : "from_dtype", array-like of bool, int or str, or None, \
default="from_dtype"
        Categorical columns: those of a data frame whose type is categorical or text, or a mask,
        positions or names.
    bootstrap : bool, default=True
        Whether each tree gets rows drawn with replacement, in proportion to their weights;
        otherwise all trees get all rows.
    oob_score : bool or callable, default=False
        Whether to predict every row by the trees that have not seen it; a function of targets and
        predictions is the score of these.
    n_jobs : int or None, default=None
        Threads; None means one per available core. The forest does not depend on it.
    verbose : int, default=0
        Changes nothing: in a terminal long work shows its progress by itself.
    warm_start : bool, default=False
        Whether a further ``fit`` to the same rows adds trees up to ``n_estimators``; the forest is
        the one that has so many trees from the start.
    max_samples : int, float or None, default=None
        Draws for each tree; as a float, a share of the rows. None for as many as rows.
    feature_sampling : {"split", "tree"}, default="split"
        Whether ``max_features`` columns are drawn at every split, which is Breiman's forest, or
        once for a whole tree.
    class_weight : dict, list of dict, {"balanced", "balanced_subsample"} or None, default=None
        Weights of the classes, a dict for each of several targets; "balanced" gives all classes
        the same total weight among all rows, "balanced_subsample" among the rows of each tree.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list of such
        Labels, of each target if there are several.
    n_classes_ : int or ndarray of int of shape (n_targets,)
        Their number.
    n_outputs_ : int
        Number of targets.
    trees_ : Trees
        The trees, end to end in flat arrays.
    estimator_ : estimator
        A tree with the parameters of the forest, not fitted.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the gains of the splits, averaged over the trees.
    expected_value_ : ndarray of shape (n_classes,)
        Mean class probabilities, where :meth:`contributions` start.
    estimators_samples_ : list of ndarray
        Rows drawn for each tree.
    oob_score_ : float
        Accuracy of the out-of-bag predictions, if ``oob_score``.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes[, n_targets])
        Out-of-bag predictions, NaN for rows that all trees have seen; if ``oob_score``.
    categories_ : Categories
        Values of the categorical columns.
    max_features_ : int
        Columns drawn.
    n_samples_ : int
        Training rows.
    seed_ : int
        Seed of all random draws.
    settings_ : ndarray of str
        Parameters that the trees were grown with.
    bag_weight_ : ndarray of shape (n_samples,)
        Weights by which rows were drawn, if they had weights.

    See Also
    --------
    RandomForestRegressor : The same for numeric targets.
    BaggingClassifier : Bags of any estimator.
    permutation_importance : Importance by shuffled columns, also out of bag.

    Notes
    -----
    Columns are binned once, at most 255 bins each, and every tree is grown to the end on the bins;
    trees grow in threads and depend only on their own seeds, so the forest is the same for any
    number of them. Missing values and categories are split natively, as in
    :class:`corollary.tree.DecisionTreeClassifier`.

    Weights of rows and classes are chances to be drawn; without ``bootstrap`` a row of weight k
    counts like k rows.

    References
    ----------
    .. [1] L. Breiman (2001). Random forests. Machine Learning 45, 5-32.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from corollary.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RandomForestClassifier(n_estimators=50, oob_score=True, random_state=0).fit(X, y)
    >>> model.oob_score_ > 0.9
    True
    """

    _: KW_ONLY
    criterion: Literal["gini", "entropy", "log_loss", "misclassification"] = "gini"
    max_features: Count | Share | Literal["sqrt", "log2"] | None = "sqrt"
    class_weight: (
        dict[Any, float] | list[Any] | Literal["balanced", "balanced_subsample"] | None
    ) = None

    oob_decision_function_: np.ndarray = fitted(
        Optional(Array("f", "n", "k", nan=True) | Array("f", "n", "*", "*", nan=True))
    )

    def _fits_together(self) -> str | None:
        if tuple(np.atleast_1d(self.n_classes_)) != self._labels_of_targets():
            return "the number of classes does not fit"
        return super()._fits_together()

    def _weigh_classes(self, weight: np.ndarray | None, y: np.ndarray) -> np.ndarray | None:
        class_weight = self.class_weight
        if (
            isinstance(class_weight, str) and class_weight == "balanced_subsample"
        ):  # of each tree by itself
            class_weight = None if self.bootstrap else "balanced"
        return self._with_class_weights(class_weight, y.astype(np.int64), weight)

    def _shares(self, X: Any) -> np.ndarray:
        return self._mean(X)

    def _keep_out_of_bag(self, mean: np.ndarray, answered: np.ndarray, target: np.ndarray) -> None:
        codes = mean[answered].argmax(axis=1)
        self.oob_decision_function_ = mean
        if target.ndim == 2:
            parts = self._by_target(mean)
            codes = np.column_stack([p[answered].argmax(axis=1) for p in parts])
            room = np.full((len(mean), max(self.n_classes_), len(parts)), 0.0)
            for k, shares in enumerate(parts):
                room[:, : shares.shape[1], k] = shares
            self.oob_decision_function_ = room
        if callable(self.oob_score):
            decode = self._decode if target.ndim == 2 else self.classes_.__getitem__
            truth = decode(target[answered].astype(np.int64))
            self.oob_score_ = float(self.oob_score(truth, decode(codes)))
            return
        right = (codes == target[answered]).reshape(len(codes), -1).all(axis=1)
        self.oob_score_ = float(right.mean()) if answered.any() else float("nan")

    def _single(self) -> DecisionTreeClassifier:
        model = DecisionTreeClassifier(criterion=self.criterion, splitter="histogram")
        model.classes_, model.n_classes_ = self.classes_, self.n_classes_
        return model


class RandomForestRegressor(BaseForest, Regressor):
    """Predict numbers by the mean of many trees, each grown on its own draw of rows and columns.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}, \
default="squared_error"
        Error around the mean or the median of a node, or the deviance of counts from their mean;
        "friedman_mse" is another name of "squared_error". Of several targets the mean decides.
    max_depth : int or None, default=None
        Splits above a leaf at most; None for no limit.
    min_samples_split : int or float, default=2
        Rows a node must have to be split; as a float, a share of all rows.
    min_samples_leaf : int or float, default=1
        Rows a leaf must have; as a float, a share of all rows. Copies count once.
    min_weight_fraction_leaf : float, default=0.0
        Share of the weight of all rows that a leaf must have.
    max_features : int, float, {"sqrt", "log2"} or None, default=1.0
        Columns drawn; as a float, a share. The default is all, which is bagging; a third is usual
        where columns are many.
    random_state : int, RandomState instance or None, default=None
        Determines rows and columns drawn.
    max_leaf_nodes : int or None, default=None
        Leaves of a tree at most; None for no limit.
    min_impurity_decrease : float, default=0.0
        A split must lower the mean impurity of a tree's rows by this much.
    ccp_alpha : float, default=0.0
        Price of a leaf, per unit of weight, at which each tree is pruned.
    monotonic_cst : array-like of int of shape (n_features,), dict or None, default=None
        For each feature whether the prediction may only rise (1) or only fall (-1) with
        it; 0 for no constraint. A dict maps names of columns to signs.
    categorical_features : "from_dtype", array-like of bool, int or str, or None, \
default="from_dtype"
        Categorical columns: those of a data frame whose type is categorical or text, or a mask,
        positions or names.
    bootstrap : bool, default=True
        Whether each tree gets rows drawn with replacement, in proportion to their weights;
        otherwise all trees get all rows.
    oob_score : bool or callable, default=False
        Whether to predict every row by the trees that have not seen it; a function of targets and
        predictions is the score of these.
    n_jobs : int or None, default=None
        Threads; None means one per available core. The forest does not depend on it.
    verbose : int, default=0
        Changes nothing: in a terminal long work shows its progress by itself.
    warm_start : bool, default=False
        Whether a further ``fit`` to the same rows adds trees up to ``n_estimators``; the forest is
        the one that has so many trees from the start.
    max_samples : int, float or None, default=None
        Draws for each tree; as a float, a share of the rows. None for as many as rows.
    feature_sampling : {"split", "tree"}, default="split"
        Whether ``max_features`` columns are drawn at every split, which is Breiman's forest, or
        once for a whole tree.

    Attributes
    ----------
    n_outputs_ : int
        Number of targets.
    trees_ : Trees
        The trees, end to end in flat arrays.
    estimator_ : estimator
        A tree with the parameters of the forest, not fitted.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the gains of the splits, averaged over the trees.
    expected_value_ : float
        Mean prediction, where :meth:`contributions` start.
    estimators_samples_ : list of ndarray
        Rows drawn for each tree.
    oob_score_ : float
        Coefficient of determination of the out-of-bag predictions, if ``oob_score``.
    oob_prediction_ : ndarray of shape (n_samples,)
        Out-of-bag predictions, NaN for rows that all trees have seen; if ``oob_score``.
    categories_ : Categories
        Values of the categorical columns.
    max_features_ : int
        Columns drawn.
    n_samples_ : int
        Training rows.
    seed_ : int
        Seed of all random draws.
    settings_ : ndarray of str
        Parameters that the trees were grown with.
    bag_weight_ : ndarray of shape (n_samples,)
        Weights by which rows were drawn, if they had weights.

    See Also
    --------
    RandomForestClassifier : The same for labels.
    BaggingRegressor : Bags of any estimator.
    permutation_importance : Importance by shuffled columns, also out of bag.

    Notes
    -----
    Columns are binned once, at most 255 bins each, and every tree is grown to the end on the bins;
    trees grow in threads and depend only on their own seeds, so the forest is the same for any
    number of them. Missing values and categories are split natively, as in
    :class:`corollary.tree.DecisionTreeRegressor`.

    Weights of rows are chances to be drawn; without ``bootstrap`` a row of weight k counts
    like k rows.

    References
    ----------
    .. [1] L. Breiman (2001). Random forests. Machine Learning 45, 5-32.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import RandomForestRegressor
    >>> X = np.random.default_rng(0).uniform(size=(200, 3))
    >>> model = RandomForestRegressor(50, oob_score=True, random_state=0).fit(X, X[:, 0])
    >>> model.oob_score_ > 0.95, int(model.feature_importances_.argmax())
    (True, 0)
    """

    _: KW_ONLY
    criterion: Literal["squared_error", "friedman_mse", "absolute_error", "poisson"] = (
        "squared_error"
    )
    max_features: Count | Share | Literal["sqrt", "log2"] | None = 1.0

    oob_prediction_: np.ndarray = fitted(
        Optional(Array("f", "n", nan=True) | Array("f", "n", "*", nan=True))
    )

    def _predict(self, X: Any) -> np.ndarray:
        mean = self._mean(X)
        return mean[:, 0] if mean.shape[1] == 1 else mean

    def _compute_partial_dependence_recursion(self, grid: Any, target_features: Any) -> np.ndarray:
        """Return what scikit-learn's ``partial_dependence`` asks its forests for, by this name."""
        curves = [
            tree_partial_dependence(m.nodes_, grid, target_features) for m in self.estimators_
        ]
        return np.mean(curves, axis=0).T

    def _keep_out_of_bag(self, mean: np.ndarray, answered: np.ndarray, target: np.ndarray) -> None:
        mean = mean if target.ndim == 2 else mean[:, 0]
        self.oob_prediction_ = mean
        score = self.oob_score if callable(self.oob_score) else determination
        self.oob_score_ = float(score(target[answered], mean[answered]))

    def _single(self) -> DecisionTreeRegressor:
        return DecisionTreeRegressor(criterion=self.criterion, splitter="histogram")
