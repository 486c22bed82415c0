"""What forests take from trees until they derive from TreeModel."""

from abc import ABC, abstractmethod
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import column_or_1d, compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from corollary.core.compat import Interval, StrOptions
from corollary.core.estimator import check_new_data, check_training_data
from corollary.core.schema import Instance, Integer, Optional, Size, Spec, Strings
from corollary.tree.binning.categories import Categories
from corollary.tree.growth._problem import GrowthProblem, GrowthRules
from corollary.tree.growth.monotone import read_signs
from corollary.tree.structure.trees import Tree, Trees

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
) -> tuple[Any, GrowthProblem, np.ndarray | None]:
    """Validate training data of a model of trees; learn categories and classes."""
    labels = is_classifier(model)
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
        problem = GrowthProblem(numbers.astype(np.float64), model.criterion, model.n_classes_)
    else:
        problem = GrowthProblem(np.asarray(y, dtype=np.float64), model.criterion, 0)
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


def stopping_rules(model: Any, n_samples: int, n_features: int, total_weight: float) -> GrowthRules:
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
    return GrowthRules(
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


def monotone_signs(model: Any, categorical: np.ndarray) -> np.ndarray | None:
    """Read the ``monotonic_cst`` of a tree or a forest, whose answers are means."""
    signs, who = read_signs(model, categorical), type(model).__name__
    if not signs.any():
        return None
    if getattr(model, "n_classes_", 2) > 2:
        raise ValueError(
            f"monotonic_cst of {who} constrains the probability of the second of two classes. Got "
            f"{model.n_classes_} classes; leave monotonic_cst at None."
        )
    if model.criterion == "absolute_error":
        raise ValueError(
            f"monotonic_cst of {who} bounds means, and criterion='absolute_error' answers medians. "
            "Take criterion='squared_error', or GradientBoostingRegressor with "
            "loss='absolute_error'."
        )
    # With one class there is nothing to constrain.
    return signs if getattr(model, "n_classes_", 2) == 2 else None


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
        from corollary.tree.explain.shapley import tree_contributions

        rows, trees = read_rows(self, X), self._parts()
        values = tree_contributions(trees, rows, n_jobs=getattr(self, "n_jobs", None)) / len(trees)
        return values if hasattr(self, "classes_") else values[:, :, 0]

    @property
    def expected_value_(self) -> float | np.ndarray:
        """Mean prediction (of each class) over the training rows, where contributions start."""
        from corollary.tree.explain.shapley import expected_values

        check_is_fitted(self)
        trees = self._parts()
        value = expected_values(trees) / len(trees)
        return value if hasattr(self, "classes_") else float(value[0])
