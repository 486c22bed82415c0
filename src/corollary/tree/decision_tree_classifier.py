"""Classification by a decision tree."""

from dataclasses import KW_ONLY
from typing import Any, Literal

import numpy as np

from corollary.core.estimator import ClassWeight
from corollary.tree._decision_tree import DecisionTree
from corollary.tree._labels import TreeClassifier


class DecisionTreeClassifier(DecisionTree, TreeClassifier):
    r"""Classify by recursive splits of the columns.

    Every split :math:`x_j \le s` is the one that lowers the impurity of the two sides most; a leaf
    answers with the shares of the classes among its training rows,
    :math:`p_{nk} = \frac{1}{m_n} \sum_{i \in R_n} 1[y_i = k]`, and predicts the largest.

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
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Columns drawn at random at every node; as a float, a share. None for all, in which case
        nothing is random.
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
    splitter : {"best", "random", "exact", "histogram"}, default="best"
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
    DecisionTreeRegressor : The same for numeric targets.
    prune_by_cross_validation : Chooses ``ccp_alpha``.
    TreeDisplay : Draws the tree.

    Notes
    -----
    A split at which no impurity falls is still made while a node is impure, as in scikit-learn:
    without it, exclusive-or could not be learnt. Missing values (NaN) are tried on both sides of
    every cut; where training saw none, they go with the heavier side, and so do categories that a
    node has not seen. Categories are sorted by the share of a class and cut in that order, which
    is optimal for two classes; for more, the best cut over the orders of all classes is taken,
    which need not be optimal. At most 255 categories of a column are told apart, the most frequent
    ones.

    A row of weight k counts like k rows, except in ``min_samples_split`` and ``min_samples_leaf``.

    References
    ----------
    .. [1] L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone (1984). Classification and
       regression trees. Chapman and Hall.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from corollary.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DecisionTreeClassifier(max_depth=2).fit(X, y)
    >>> model.predict(X[[0, 50, 100]]), model.get_n_leaves()
    (array([0, 1, 2]), 3)
    """

    _: KW_ONLY
    criterion: Literal["gini", "entropy", "log_loss", "misclassification"] = "gini"
    class_weight: ClassWeight | list[Any] = None

    def _fits_together(self) -> str | None:
        if tuple(np.atleast_1d(self.n_classes_)) != self._labels_of_targets():
            return "the number of classes does not fit"
        return self._trees_fit(self.nodes_)

    def _fit(self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        super()._fit(X, y, self._with_class_weights(self.class_weight, y, sample_weight))

    def predict_proba(self, X: Any, check_input: bool = True) -> Any:
        """Return the shares of the classes in the leaves of rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.
        check_input : bool, default=True
            Changes nothing: rows are always checked.

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes), or a list of such
            Columns in the order of ``classes_``; one array for each of several targets.
        """
        return super().predict_proba(X)

    def _shares(self, X: Any) -> np.ndarray:
        return self.nodes_.predict_values(X)
