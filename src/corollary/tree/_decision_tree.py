"""What single trees have in common: the choice of a grower, and what can be asked of a tree."""

from abc import abstractmethod
from dataclasses import KW_ONLY
from typing import Any, Literal

import numpy as np
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.validation import check_is_fitted

from corollary.core.estimator import fitted
from corollary.core.schema import Instance
from corollary.tree._model import TreeModel
from corollary.tree.binning._columns import check_room
from corollary.tree.binning.table import BinnedTable
from corollary.tree.growth._problem import GrowthProblem, GrowthRules
from corollary.tree.growth.exact import grow_exact
from corollary.tree.growth.histogram import grow_histogram
from corollary.tree.structure.pruning import prune, weakest_links
from corollary.tree.structure.tree import Tree
from corollary.tree.structure.trees import Trees


class DecisionTree(TreeModel):
    """Abstract decision tree; subclasses say what its leaves answer."""

    _: KW_ONLY
    splitter: Literal["best", "exact", "histogram"] = "exact"
    tree_: Tree = fitted(Instance("predict_values", "decision_path"))

    def _parts(self) -> Trees:
        return Trees.join([self.tree_])

    def _fit(self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        tree = self._grow(X, self._problem(y), self._usable(sample_weight))
        if self.ccp_alpha > 0:
            tree = prune(tree, self.ccp_alpha * tree.weight[0])
        self.tree_ = tree

    def _grow(self, X: Any, problem: GrowthProblem, weight: np.ndarray | None) -> Tree:
        n_samples = X.shape[0]
        total = float(n_samples) if weight is None else float(weight.sum())
        rules = self._stopping_rules(n_samples, X.shape[1], total)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        categorical = self.categories_.mask(X.shape[1])
        signs = self._monotone_signs(categorical)
        if self.splitter in ("best", "exact"):
            return grow_exact(
                self._filled(X),
                problem,
                rules,
                sample_weight=weight,
                categorical=categorical,
                monotone=signs,
                seed=seed,
            )
        table = BinnedTable.of(X, sample_weight=weight, categorical=categorical)
        if problem.criterion == "absolute_error":
            return self._grow_on_bins(table, problem, rules, weight, seed)
        return grow_histogram(
            table, problem, rules, sample_weight=weight, monotone=signs, seed=seed
        )

    def _filled(self, X: Any) -> np.ndarray:
        """Fill a sparse table up: every column keeps its own order of all rows."""
        if not hasattr(X, "indptr"):
            return X
        check_room(
            f"Exact splits of {type(self).__name__}",
            X.shape,
            24,
            "Set splitter='histogram', which takes one byte for a value, or keep fewer columns",
        )
        return X.toarray()

    def _grow_on_bins(
        self,
        table: BinnedTable,
        problem: GrowthProblem,
        rules: GrowthRules,
        weight: np.ndarray | None,
        seed: int,
    ) -> Tree:
        """Try exactly the cuts between bins: medians have no histogram."""
        codes = np.where(table.codes == 255, np.nan, table.codes)
        grown = grow_exact(
            codes,
            problem,
            rules,
            sample_weight=weight,
            categorical=table.bins.categorical,
            seed=seed,
        )
        threshold = grown.threshold.copy()
        by_number = (grown.left >= 0) & ~table.bins.categorical[grown.feature]
        last = np.minimum(np.floor(threshold[by_number]), 255).astype(np.int64)
        threshold[by_number] = table.cuts[grown.feature[by_number], last]
        return Tree(**{**vars(grown), "threshold": threshold})

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
        path, weight = weakest_links(whole.tree_), whole.tree_.weight[0]
        impurity = whole._criterion_in_leaves(X, y, sample_weight)
        return Bunch(ccp_alphas=path.lambdas / weight, impurities=impurity + path.lost / weight)

    @abstractmethod
    def _criterion_in_leaves(self, X: Any, y: Any, sample_weight: Any) -> float:
        """Return the mean criterion over training rows, each judged by its leaf."""

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf of each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        leaves : ndarray of int of shape (n_samples,)
            Numbers of nodes of ``tree_``.
        """
        rows = self._new(X)
        return self.tree_.apply(rows)

    def decision_path(self, X: Any) -> Any:
        """Mark the nodes that rows pass.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        indicator : sparse matrix of shape (n_samples, n_nodes)
            One where a row passes a node, its leaf included.
        """
        rows = self._new(X)
        return self.tree_.decision_path(rows)

    def get_depth(self) -> int:
        """Return the number of splits on the longest way to a leaf.

        Returns
        -------
        depth : int
            0 for a tree that is a single leaf.
        """
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves.

        Returns
        -------
        n_leaves : int
            At least 1.
        """
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each feature in the gains of all splits; zeros if there is no split."""
        check_is_fitted(self)
        gains = self._parts().gain_by_feature()[0]
        return gains / gains.sum() if gains.sum() > 0 else gains
