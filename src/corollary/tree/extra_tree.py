"""Extremely randomised trees: the cut of every column is drawn at random."""

from dataclasses import KW_ONLY
from typing import Literal

from corollary.core.estimator import Count, Share
from corollary.tree.decision_tree_classifier import DecisionTreeClassifier
from corollary.tree.decision_tree_regressor import DecisionTreeRegressor


class ExtraTreeClassifier(DecisionTreeClassifier):
    """Classify by one extremely randomised tree.

    Of each column that is drawn at a node one cut is tried, evenly drawn between the least and the
    largest value there. Such a tree is meant to be one of many, see
    :class:`corollary.ensemble.ExtraTreesClassifier`.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "misclassification"}, default="gini"
        Impurity of a node, the entropy in bits; "log_loss" is another name of "entropy". Of
        several targets the mean decides.
    max_depth : int or None, default=None
        Splits above a leaf at most; None for no limit.
    min_samples_split : int or float, default=2
        Rows a node must have to be split; as a float, a share of all rows.
    min_samples_leaf : int or float, default=1
        Rows a leaf must have; as a float, a share of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Share of the weight of all rows that a leaf must have.
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
        Columns drawn at random at every node; as a float, a share. None for all.
    random_state : int, RandomState instance or None, default=None
        Determines the columns and cuts drawn.
    max_leaf_nodes : int or None, default=None
        Leaves at most; the splits of largest gain come first. None for no limit.
    min_impurity_decrease : float, default=0.0
        A split must lower the mean impurity of all rows by this much.
    ccp_alpha : float, default=0.0
        Price of a leaf in cost-complexity pruning, per unit of weight; 0 keeps the whole tree. See
        :func:`prune_by_cross_validation` for its choice.
    monotonic_cst : array-like of int of shape (n_features,), dict or None, default=None
        For each feature whether the probability of the second of two classes may only rise (1) or
        only fall (-1) with it; 0 for no constraint. A dict maps names of columns to signs.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Categorical columns: those of a data frame whose type is categorical or text, or a mask,
        positions or names.
    splitter : {"best", "random", "exact", "histogram"}, default="random"
        Try every cut between neighbouring values; or one cut of each column, drawn evenly between
        its least and its largest value; or the cuts between at most 255 bins of about equal
        weight, which is faster from some thousand rows on. "exact" is another name of "best".
    class_weight : dict, list of dict, "balanced" or None, default=None
        Weights of the classes, a dict for each of several targets; "balanced" gives all classes
        the same total weight.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list of such
        Labels, of each target if there are several.
    n_classes_ : int or ndarray of int of shape (n_targets,)
        Their number.
    n_outputs_ : int
        Number of targets.
    nodes_ : Tree
        The tree as flat arrays.
    tree_ : TreeArrays
        The same under the names of scikit-learn's ``tree_``.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the gains of all splits.
    expected_value_ : ndarray of shape (n_classes,)
        Mean class shares, where :meth:`contributions` start.
    categories_ : Categories
        Values of the categorical columns.
    max_features_ : int
        Columns drawn at every node.

    See Also
    --------
    DecisionTreeClassifier : The same with the best cuts.
    corollary.ensemble.ExtraTreesClassifier : Many of them.

    References
    ----------
    .. [1] P. Geurts, D. Ernst, L. Wehenkel (2006). Extremely randomized trees. Machine Learning
       63, 3-42.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from corollary.tree import ExtraTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> ExtraTreeClassifier(random_state=0).fit(X, y).score(X, y)
    1.0
    """

    _: KW_ONLY
    splitter: Literal["best", "random", "exact", "histogram"] = "random"
    max_features: Count | Share | Literal["sqrt", "log2"] | None = "sqrt"


class ExtraTreeRegressor(DecisionTreeRegressor):
    """Predict numbers by one extremely randomised tree.

    Of each column that is drawn at a node one cut is tried, evenly drawn between the least and the
    largest value there. Such a tree is meant to be one of many, see
    :class:`corollary.ensemble.ExtraTreesRegressor`.

    Parameters
    ----------
    criterion : str, default="squared_error"
        "squared_error" or "absolute_error": the error around the mean or the median of a node;
        "poisson": the deviance of counts from their mean. "friedman_mse" is another name of
        "squared_error". Of several targets the mean decides.
    max_depth : int or None, default=None
        Splits above a leaf at most; None for no limit.
    min_samples_split : int or float, default=2
        Rows a node must have to be split; as a float, a share of all rows.
    min_samples_leaf : int or float, default=1
        Rows a leaf must have; as a float, a share of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Share of the weight of all rows that a leaf must have.
    max_features : int, float, {"sqrt", "log2"} or None, default=1.0
        Columns drawn at random at every node; as a float, a share. None for all.
    random_state : int, RandomState instance or None, default=None
        Determines the columns and cuts drawn.
    max_leaf_nodes : int or None, default=None
        Leaves at most; the splits of largest gain come first. None for no limit.
    min_impurity_decrease : float, default=0.0
        A split must lower the mean impurity of all rows by this much.
    ccp_alpha : float, default=0.0
        Price of a leaf in cost-complexity pruning, per unit of weight; 0 keeps the whole tree. See
        :func:`prune_by_cross_validation` for its choice.
    monotonic_cst : array-like of int of shape (n_features,), dict or None, default=None
        For each feature whether the prediction may only rise (1) or only fall (-1) with
        it; 0 for no constraint. A dict maps names of columns to signs.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Categorical columns: those of a data frame whose type is categorical or text, or a mask,
        positions or names.
    splitter : {"best", "random", "exact", "histogram"}, default="random"
        Try every cut between neighbouring values; or one cut of each column, drawn evenly between
        its least and its largest value; or the cuts between at most 255 bins of about equal
        weight, which is faster from some thousand rows on. "exact" is another name of "best".

    Attributes
    ----------
    n_outputs_ : int
        Number of targets.
    nodes_ : Tree
        The tree as flat arrays.
    tree_ : TreeArrays
        The same under the names of scikit-learn's ``tree_``.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the gains of all splits.
    expected_value_ : float
        Mean prediction, where :meth:`contributions` start.
    categories_ : Categories
        Values of the categorical columns.
    max_features_ : int
        Columns drawn at every node.

    See Also
    --------
    DecisionTreeRegressor : The same with the best cuts.
    corollary.ensemble.ExtraTreesRegressor : Many of them.

    References
    ----------
    .. [1] P. Geurts, D. Ernst, L. Wehenkel (2006). Extremely randomized trees. Machine Learning
       63, 3-42.

    Examples
    --------
    >>> from corollary.tree import ExtraTreeRegressor
    >>> model = ExtraTreeRegressor(random_state=0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 9.0])
    >>> model.predict([[0.0], [2.0]])
    array([0., 9.])
    """

    _: KW_ONLY
    splitter: Literal["best", "random", "exact", "histogram"] = "random"
    max_features: Count | Share | Literal["sqrt", "log2"] | None = 1.0
