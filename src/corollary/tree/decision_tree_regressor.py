"""Regression by a decision tree."""

from dataclasses import KW_ONLY
from typing import Any, Literal

import numpy as np

from corollary.core.estimator import Regressor
from corollary.tree._decision_tree import DecisionTree
from corollary.tree.explain.partial_dependence import tree_partial_dependence


class DecisionTreeRegressor(DecisionTree, Regressor):
    r"""Predict numbers by recursive splits of the columns.

    Every split :math:`x_j \le s` is the one that lowers the error of the two sides most; a leaf
    answers with the mean (or median) target of its training rows.

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
        For each feature whether the prediction may only rise (1) or only fall (-1) with
        it; 0 for no constraint. A dict maps names of columns to signs.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Categorical columns: those of a data frame whose type is categorical or text, or a mask,
        positions or names.
    splitter : {"best", "random", "exact", "histogram"}, default="best"
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
    DecisionTreeClassifier : The same for labels.
    prune_by_cross_validation : Chooses ``ccp_alpha``.
    TreeDisplay : Draws the tree.

    Notes
    -----
    Missing values (NaN) are tried on both sides of every cut; where training saw none, they go
    with the heavier side, and so do categories that a node has not seen. Categories are sorted by
    mean target (by mean rank of the target for the absolute error) and cut in that order, which
    is optimal for squared error. At most 255 categories of a column are told apart, the most
    frequent ones.

    A row of weight k counts like k rows, except in ``min_samples_split`` and ``min_samples_leaf``.

    References
    ----------
    .. [1] L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone (1984). Classification and
       regression trees. Chapman and Hall.

    Examples
    --------
    >>> from corollary.tree import DecisionTreeRegressor
    >>> model = DecisionTreeRegressor(max_depth=1).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 9.0])
    >>> model.predict([[0.4], [1.6]])
    array([0.5, 9. ])
    """

    _: KW_ONLY
    criterion: Literal["squared_error", "friedman_mse", "absolute_error", "poisson"] = (
        "squared_error"
    )

    def _fits_together(self) -> str | None:
        return self._trees_fit(self.nodes_)

    def _compute_partial_dependence_recursion(self, grid: Any, target_features: Any) -> np.ndarray:
        """Return what scikit-learn's ``partial_dependence`` asks its trees for, by this name."""
        return tree_partial_dependence(self.nodes_, grid, target_features).T

    def _predict(self, X: Any) -> np.ndarray:
        values = self.nodes_.predict_values(X)
        return values[:, 0] if values.shape[1] == 1 else values
