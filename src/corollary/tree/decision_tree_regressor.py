"""Regression by a decision tree."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin

from corollary.core.compat import StrOptions, fit_context
from corollary.core.schema import Instance, Schema
from corollary.tree.base import FITTED, BaseDecisionTree, read_rows, trees_fit


def _fits_together(model: Any) -> str | None:
    return trees_fit(model, model.tree_, 1)


class DecisionTreeRegressor(RegressorMixin, BaseDecisionTree):
    r"""Predict numbers by recursive splits of the columns.

    Every split :math:`x_j \le s` is the one that lowers the error of the two sides most; a leaf
    answers with the mean (or median) target of its training rows.

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error"}, default="squared_error"
        Error around the mean or the median of a node.
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
    ccp_alpha : float, default=0.0
        Price of a leaf in cost-complexity pruning, per unit of weight; 0 keeps the whole tree. See
        :func:`prune_by_cross_validation` for its choice.
    monotonic_cst : array-like of int of shape (n_features,), dict or None, default=None
        For each feature whether the prediction may only rise (1) or only fall (-1) with
        it; 0 for no constraint. A dict maps names of columns to signs.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Categorical columns: those of a data frame whose type is categorical or text, or a mask,
        positions or names.

    Attributes
    ----------
    tree_ : Tree
        The tree as flat arrays.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the gains of all splits.
    expected_value_ : float
        Mean prediction, where :meth:`contributions` start.
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

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseDecisionTree._parameter_constraints,
        "criterion": [StrOptions({"squared_error", "absolute_error"})],
    }
    _schema = Schema(_fits_together, tree_=Instance("predict_values", "decision_path"), **FITTED)

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "exact",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
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
            Numbers.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows.

        Returns
        -------
        self : DecisionTreeRegressor
            The fitted model.
        """
        self._fit_tree(X, y, sample_weight)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict the value of each row's leaf.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predictions.
        """
        rows = read_rows(self, X)
        return self.tree_.predict_values(rows)[:, 0]

    def _criterion_in_leaves(self, X: Any, y: Any, sample_weight: Any) -> float:
        residual = np.asarray(y, dtype=np.float64).ravel() - self.predict(X)
        loss = residual**2 if self.criterion == "squared_error" else np.abs(residual)
        if sample_weight is None or np.ndim(sample_weight) == 0:
            return float(loss.mean())
        return float(np.average(loss, weights=sample_weight))
