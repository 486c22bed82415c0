"""What decision trees and forests have in common: reading tables and stopping rules."""

import os
from abc import ABC, abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Bunch, check_random_state, column_or_1d, compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from corollary.core.compat import Interval, StrOptions
from corollary.core.estimator import check_new_data, check_training_data
from corollary.core.schema import Instance, Integer, Optional, Size, Spec, Strings
from corollary.tree.binning import find_bins
from corollary.tree.categories import Categories
from corollary.tree.grow import BinnedTable, Problem, Rules, grow_exact, grow_histogram
from corollary.tree.monotone import monotone_signs
from corollary.tree.pruning import prune, weakest_links
from corollary.tree.structure import Tree, Trees

#: Bytes that the machine has, as far as it says so.
MEMORY = (
    os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {})
    else 2**62
)

#: Constraints of the parameters that trees and forests share.
GROWTH_CONSTRAINTS: dict[str, Any] = {
    "max_depth": [Interval(Integral, 1, None, closed="left"), None],
    "min_samples_split": [
        Interval(Integral, 2, None, closed="left"),
        Interval(Real, 0, 1, closed="right"),
    ],
    "min_samples_leaf": [
        Interval(Integral, 1, None, closed="left"),
        Interval(Real, 0, 1, closed="neither"),
    ],
    "min_weight_fraction_leaf": [Interval(Real, 0, 0.5, closed="both")],
    "max_features": [
        Interval(Integral, 1, None, closed="left"),
        Interval(Real, 0, 1, closed="right"),
        StrOptions({"sqrt", "log2"}),
        None,
    ],
    "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
    "min_impurity_decrease": [Interval(Real, 0, None, closed="left")],
    "ccp_alpha": [Interval(Real, 0, None, closed="left")],
    "monotonic_cst": ["array-like", dict, None],
    "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
    "random_state": ["random_state"],
}

#: What every fitted model of trees has besides its trees.
FITTED: dict[str, Spec] = {
    "categories_": Instance("encode", "mask"),
    "max_features_": Integer(1),
    "n_features_in_": Size("d"),
    "feature_names_in_": Optional(Strings("d")),
    "fingerprint_": Optional(Instance("merge", "overlap")),
}


def trees_fit(model: Any, trees: Any, n_outputs: int) -> str | None:
    """Say what is wrong with the parts of a loaded model of trees, or None."""
    if not isinstance(trees, Tree | Trees) or not isinstance(model.categories_, Categories):
        return "trees and categories must be what their names say"
    if trees.n_features != model.n_features_in_:
        return "the trees are for another number of features"
    if trees.value.shape[1] != n_outputs:
        return "the values of leaves do not fit the targets"
    columns = model.categories_.columns
    if len(columns) and columns.max() >= model.n_features_in_:
        return "a categorical column does not exist"
    return None


def read_training(
    model: Any, X: Any, y: Any, sample_weight: Any
) -> tuple[Any, Problem, np.ndarray | None]:
    """Validate training data of a model of trees; learn categories and classes."""
    labels = hasattr(model, "class_weight")
    categories = Categories.learn(X, model.categorical_features)
    X, y, weight = check_training_data(
        model,
        categories.encode(X),
        y,
        sample_weight=sample_weight,
        ensure_all_finite="allow-nan",
        accept_sparse="csr",
        y_numeric=not labels,
    )
    y = column_or_1d(y, warn=True)
    model.categories_ = categories
    if labels:
        check_classification_targets(y)
        model.classes_, numbers = np.unique(y, return_inverse=True)
        model.n_classes_ = len(model.classes_)
        wanted = model.class_weight
        if isinstance(wanted, str) and wanted == "balanced_subsample":  # of each tree of a forest
            wanted = None if model.bootstrap else "balanced"
        if wanted is not None:
            by_class = compute_sample_weight(wanted, y)
            weight = by_class if weight is None else weight * by_class
        problem = Problem(numbers.astype(np.float64), model.criterion, model.n_classes_)
    else:
        problem = Problem(np.asarray(y, dtype=np.float64), model.criterion, 0)
    if weight is not None and not (weight > 0).any():
        raise ValueError(
            f"{type(model).__name__} needs a row of positive weight. All weights are zero."
        )
    if weight is not None and not 1e-100 < weight.max() < 1e100:
        # Products of weights would vanish or overflow; a power of two changes no digit.
        weight = np.ldexp(weight, -int(np.frexp(weight.max())[1]))
    return X, problem, weight


def read_rows(model: Any, X: Any) -> Any:
    """Validate new rows of a fitted model of trees."""
    check_is_fitted(model)
    return check_new_data(
        model,
        model.categories_.encode(X),
        dtype=[np.float64, np.float32],
        ensure_all_finite="allow-nan",
        accept_sparse="csr",
    )


def stopping_rules(model: Any, n_samples: int, n_features: int, total_weight: float) -> Rules:
    """Turn a model's parameters into the rules of growth, and set ``max_features_``."""
    wanted = model.max_features
    if wanted is None:
        model.max_features_ = n_features
    elif wanted == "sqrt":
        model.max_features_ = max(1, int(np.sqrt(n_features)))
    elif wanted == "log2":
        model.max_features_ = max(1, int(np.log2(n_features)))
    elif isinstance(wanted, Integral):
        model.max_features_ = min(int(wanted), n_features)
    else:
        model.max_features_ = max(1, int(wanted * n_features))
    split, leaf = model.min_samples_split, model.min_samples_leaf
    return Rules(
        max_depth=model.max_depth,
        min_samples_split=(
            int(split) if isinstance(split, Integral) else max(2, int(np.ceil(split * n_samples)))
        ),
        min_samples_leaf=(
            int(leaf) if isinstance(leaf, Integral) else max(1, int(np.ceil(leaf * n_samples)))
        ),
        min_weight_leaf=model.min_weight_fraction_leaf * total_weight,
        min_gain=model.min_impurity_decrease * total_weight,
        max_leaf_nodes=model.max_leaf_nodes,
        max_features=model.max_features_,
    )


def bin_table(
    X: Any, weight: np.ndarray | None, categorical: np.ndarray, n_jobs: int | None = None
) -> BinnedTable:
    """Bin the columns of a table."""
    if hasattr(X, "indptr"):
        check_room("Bins", X.shape, 1, "Keep fewer columns, or reduce them first")
    bins = find_bins(X, sample_weight=weight, categorical=categorical, n_jobs=n_jobs)
    return BinnedTable(bins, bins.transform(X, n_jobs=n_jobs))


def check_room(who: str, shape: tuple[int, int], size: int, advice: str) -> None:
    """Refuse to fill up a sparse table that would not fit in memory."""
    wanted = shape[0] * shape[1] * size
    if wanted > MEMORY:
        raise MemoryError(
            f"{who} hold every value of a sparse matrix, zeros too: {shape[0]} rows of {shape[1]} "
            f"columns take {wanted / 2**30:.1f} GiB, and the machine has {MEMORY / 2**30:.1f}. "
            f"{advice}."
        )


class Contributions(ABC):
    """Shapley values of models that answer the mean of their trees."""

    @abstractmethod
    def _parts(self) -> Trees:
        """Return the trees."""

    def contributions(self, X: Any) -> np.ndarray:
        """Attribute predictions to features by exact Shapley values.

        The value of a set of features is the expected prediction when the others follow the
        training rows below each split (path-dependent). Contributions of a row and
        :attr:`expected_value_` add up to its prediction, or to its class probabilities.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        contributions : ndarray of shape (n_samples, n_features) or \
(n_samples, n_features, n_classes)
            The attribution; of each class for a classifier.
        """
        from corollary.tree.shapley import tree_contributions

        rows, trees = read_rows(self, X), self._parts()
        values = tree_contributions(trees, rows, n_jobs=getattr(self, "n_jobs", None)) / len(trees)
        return values if hasattr(self, "classes_") else values[:, :, 0]

    @property
    def expected_value_(self) -> float | np.ndarray:
        """Mean prediction (of each class) over the training rows, where contributions start."""
        from corollary.tree.shapley import expected_values

        check_is_fitted(self)
        trees = self._parts()
        value = expected_values(trees) / len(trees)
        return value if hasattr(self, "classes_") else float(value[0])


class BaseDecisionTree(Contributions, BaseEstimator):
    """Abstract decision tree; subclasses say what its leaves answer."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GROWTH_CONSTRAINTS,
        "splitter": [StrOptions({"best", "exact", "histogram"})],
    }

    tree_: Tree

    @abstractmethod
    def predict(self, X: Any) -> np.ndarray:
        """Predict rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predictions.
        """

    def _parts(self) -> Trees:
        return Trees.join([self.tree_])

    def _grow(self, X: Any, problem: Problem, weight: np.ndarray | None) -> Tree:
        n_samples = X.shape[0]
        total = float(n_samples) if weight is None else float(weight.sum())
        rules = stopping_rules(self, n_samples, X.shape[1], total)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        categorical = self.categories_.mask(X.shape[1])
        signs = monotone_signs(self, categorical)
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
        table = bin_table(X, weight, categorical)
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
        problem: Problem,
        rules: Rules,
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

    def _fit_tree(self, X: Any, y: Any, sample_weight: Any) -> None:
        X, problem, weight = read_training(self, X, y, sample_weight)
        tree = self._grow(X, problem, weight)
        if self.ccp_alpha > 0:
            tree = prune(tree, self.ccp_alpha * tree.weight[0])
        self.tree_ = tree

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
        rest = whole._criterion_in_leaves(X, y, sample_weight)
        return Bunch(ccp_alphas=path.lambdas / weight, impurities=rest + path.lost / weight)

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
        rows = read_rows(self, X)
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
        rows = read_rows(self, X)
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
