"""What single trees have in common: the choice of a grower, and what can be asked of a tree."""

from dataclasses import KW_ONLY
from functools import cache
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.validation import check_is_fitted

from corollary.core.estimator import fitted
from corollary.core.schema import Instance
from corollary.tree._model import TreeModel
from corollary.tree.binning.table import BinnedTable
from corollary.tree.growth._problem import GrowthProblem
from corollary.tree.growth.exact import grow_exact, grow_on_bins
from corollary.tree.growth.histogram import grow_histogram
from corollary.tree.structure.arrays import TreeArrays
from corollary.tree.structure.pruning import prune, weakest_links
from corollary.tree.structure.tree import Tree
from corollary.tree.structure.trees import Trees


@cache
def _introduce(cls: type) -> None:
    """Let scikit-learn's pictures draw trees of a class; they ask for an instance of its own."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    theirs = DecisionTreeClassifier if issubclass(cls, ClassifierMixin) else DecisionTreeRegressor
    theirs.register(cls)


class DecisionTree(TreeModel):
    """Abstract decision tree; subclasses say what its leaves answer."""

    _: KW_ONLY
    splitter: Literal["best", "random", "exact", "histogram"] = "best"
    nodes_: Tree = fitted(Instance("predict_values", "decision_path"))

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Make an instance that scikit-learn knows; forests make none, and need no such import."""
        _introduce(cls)
        return super().__new__(cls)

    @classmethod
    def _from_former(cls, parameters: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
        """Read a file in which the nodes were called ``tree_``."""
        return {"nodes_" if name == "tree_" else name: value for name, value in state.items()}

    @property
    def tree_(self) -> TreeArrays:
        """The tree under the names of scikit-learn's ``tree_``."""
        if "nodes_" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'tree_'")
        return TreeArrays(self.nodes_, self._labels_of_targets())

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Training rows; NaN is a missing value.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Labels or numbers.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Non-negative weights; a row of weight k counts like k equal rows.
        check_input : bool, default=True
            Changes nothing: rows are always checked.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        return super().fit(X, y, sample_weight)

    def predict(self, X: Any, check_input: bool = True) -> np.ndarray:
        """Predict what the leaves of rows answer.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.
        check_input : bool, default=True
            Changes nothing: rows are always checked.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Labels or numbers.
        """
        return super().predict(X)

    def _parts(self) -> Trees:
        return Trees.join([self.nodes_])

    def _fit(self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        tree = self._grow(X, self._problem(y), self._usable(sample_weight))
        if self.ccp_alpha > 0:
            tree = prune(tree, self.ccp_alpha * tree.weight[0])
        self.nodes_ = tree

    def _grow(self, X: Any, problem: GrowthProblem, weight: np.ndarray | None) -> Tree:
        n_samples = X.shape[0]
        total = float(n_samples) if weight is None else float(weight.sum())
        rules = self._stopping_rules(n_samples, X.shape[1], total)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        categorical = self.categories_.mask(X.shape[1])
        signs = self._monotone_signs(categorical)
        if self.splitter != "histogram":
            return grow_exact(
                self._filled(X),
                problem,
                rules,
                sample_weight=weight,
                categorical=categorical,
                monotone=signs,
                at_random=self.splitter == "random",
                seed=seed,
            )
        table = BinnedTable.of(X, sample_weight=weight, categorical=categorical)
        grow = grow_histogram if problem.in_bins else grow_on_bins
        return grow(table, problem, rules, sample_weight=weight, monotone=signs, seed=seed)

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """Compute the values of ``ccp_alpha`` at which the tree of these rows shrinks.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Training inputs.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights.

        Returns
        -------
        path : Bunch
            ``ccp_alphas``, ascending from 0, and ``impurities``, the mean criterion in the leaves
            of the tree that each of them leaves.
        """
        from sklearn.base import clone

        whole = clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight)
        path, weight = weakest_links(whole.nodes_), whole.nodes_.weight[0]
        leaf = whole.nodes_.left < 0
        impurity = whole.nodes_.weight[leaf] @ whole.nodes_.impurity[leaf] / weight
        return Bunch(ccp_alphas=path.lambdas / weight, impurities=impurity + path.lost / weight)

    def apply(self, X: Any, check_input: bool = True) -> np.ndarray:
        """Return the leaf of each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.
        check_input : bool, default=True
            Changes nothing: rows are always checked.

        Returns
        -------
        leaves : ndarray of int of shape (n_samples,)
            Numbers of nodes of ``tree_``.
        """
        rows = self._new(X)
        return self.nodes_.apply(rows)

    def decision_path(self, X: Any, check_input: bool = True) -> Any:
        """Mark the nodes that rows pass.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.
        check_input : bool, default=True
            Changes nothing: rows are always checked.

        Returns
        -------
        indicator : sparse matrix of shape (n_samples, n_nodes)
            One where a row passes a node, its leaf included.
        """
        rows = self._new(X)
        return self.nodes_.decision_path(rows)

    def get_depth(self) -> int:
        """Return the number of splits on the longest way to a leaf.

        Returns
        -------
        depth : int
            0 for a tree that is a single leaf.
        """
        check_is_fitted(self)
        return self.nodes_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves.

        Returns
        -------
        n_leaves : int
            At least 1.
        """
        check_is_fitted(self)
        return self.nodes_.n_leaves

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each feature in the gains of all splits; zeros if there is no split."""
        check_is_fitted(self)
        gains = self._parts().gain_by_feature()[0]
        return gains / gains.sum() if gains.sum() > 0 else gains
