"""Classification by a decision tree."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin

from corollary.core.compat import StrOptions, fit_context
from corollary.core.schema import Instance, Integer, Labels, Schema
from corollary.tree.base import FITTED, BaseDecisionTree, read_rows, trees_fit
from corollary.tree.impurity import gini_index, misclassification, node_entropy


def _fits_together(model: Any) -> str | None:
    if model.n_classes_ != len(model.classes_):
        return "the number of classes does not fit"
    return trees_fit(model, model.tree_, len(model.classes_))


class DecisionTreeClassifier(ClassifierMixin, BaseDecisionTree):
    r"""Classify by recursive splits of the columns.

    Every split :math:`x_j \le s` is the one that lowers the impurity of the two sides most; a leaf
    answers with the shares of the classes among its training rows,
    :math:`p_{nk} = \frac{1}{m_n} \sum_{i \in R_n} 1[y_i = k]`, and predicts the largest.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "misclassification"}, default="gini"
        Impurity of a node; "log_loss" is another name of "entropy".
    splitter : {"exact", "best", "histogram"}, default="exact"
        Try every cut between neighbouring values, or those between at most 255 bins of about
        equal weight, which is faster from some thousand rows on. "best" is another name of
        "exact".
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
        Determines the columns drawn.
    max_leaf_nodes : int or None, default=None
        Leaves at most; the splits of largest gain come first. None for no limit.
    min_impurity_decrease : float, default=0.0
        A split must lower the mean impurity of all rows by this much.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; "balanced" gives all classes the same total weight.
    ccp_alpha : float, default=0.0
        Price of a leaf in cost-complexity pruning, per unit of weight; 0 keeps the whole tree. See
        :func:`prune_by_cross_validation` for its choice.
    monotonic_cst : array-like of int of shape (n_features,), dict or None, default=None
        For each feature whether the probability of the second of two classes may only rise (1) or
        only fall (-1) with it; 0 for no constraint. A dict maps names of columns to signs.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Categorical columns: those of a data frame whose type is categorical or text, or a mask,
        positions or names.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_classes_ : int
        Their number.
    tree_ : Tree
        The tree as flat arrays.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the gains of all splits.
    expected_value_ : ndarray of shape (n_classes,)
        Mean class shares, where :meth:`contributions` start.
    categories_ : Categories
        Values of the categorical columns.
    max_features_ : int
        Columns drawn at every node.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if they have names.
    fingerprint_ : Fingerprint
        Memory of the training rows.

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

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseDecisionTree._parameter_constraints,
        "criterion": [StrOptions({"gini", "entropy", "log_loss", "misclassification"})],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }
    _schema = Schema(
        _fits_together,
        tree_=Instance("predict_values", "decision_path"),
        classes_=Labels("k"),
        n_classes_=Integer(1),
        **FITTED,
    )

    def __init__(
        self,
        *,
        criterion: str = "gini",
        splitter: str = "exact",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        categorical_features: Any = "from_dtype",
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Training inputs; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows.

        Returns
        -------
        self : DecisionTreeClassifier
            The fitted model.
        """
        self._fit_tree(X, y, sample_weight)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the shares of the classes in each row's leaf.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        rows = read_rows(self, X)
        return self.tree_.predict_values(rows)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of :meth:`predict_proba`.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
            Minus infinity for classes a leaf does not have.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """Predict the most frequent class of each row's leaf.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels; among equally frequent ones the first.
        """
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]

    def _criterion_in_leaves(self, X: Any, y: Any, sample_weight: Any) -> float:
        impurity = {"gini": gini_index, "misclassification": misclassification}
        leaf = self.tree_.left < 0
        shares, weight = self.tree_.value[leaf], self.tree_.weight[leaf]
        return float(weight @ impurity.get(self.criterion, node_entropy)(shares) / weight.sum())
