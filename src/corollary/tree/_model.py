"""Models of trees: parameters of growth, tables with categories and gaps, contributions."""

from abc import abstractmethod
from dataclasses import KW_ONLY
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from corollary.core.compat import Interval
from corollary.core.estimator import (
    ArrayLike,
    Count,
    CountFromTwo,
    Learner,
    NonNegative,
    Probability,
    RandomSeed,
    Share,
    check_squares,
    fitted,
)
from corollary.core.schema import Instance, Integer
from corollary.tree.binning._columns import check_room
from corollary.tree.binning.categories import Categories
from corollary.tree.growth._problem import GrowthProblem, GrowthRules
from corollary.tree.growth.monotone import read_signs
from corollary.tree.structure.tree import Tree
from corollary.tree.structure.trees import Trees


class TreeModel(Learner):
    """Base of models that answer by trees: what a tree and a forest share.

    A subclass declares its ``criterion``, writes ``_parts`` and what its bases ask for; rows that
    it is given have categories as codes and NaN where a value is missing.

    Parameters
    ----------
    criterion : str, default="squared_error"
        What splits lower.
    max_depth : int or None, default=None
        Splits above a leaf at most; None for no limit.
    min_samples_split : int or float, default=2
        Rows a node must have to be split; a float is a share of the rows.
    min_samples_leaf : int or float, default=1
        Rows a leaf must have; a float is a share of the rows.
    min_weight_fraction_leaf : float, default=0.0
        Share of the total weight a leaf must have.
    max_features : int, float, "sqrt", "log2" or None, default=None
        Columns drawn at random at every node; a float is a share of them, None means all.
    random_state : int, RandomState or None, default=None
        Seed of the columns drawn.
    max_leaf_nodes : int or None, default=None
        Leaves at most; with a limit the split of largest gain comes first.
    min_impurity_decrease : float, default=0.0
        By how much a split must lower the criterion, as a share of the total weight.
    ccp_alpha : float, default=0.0
        Price of a leaf by which grown trees are pruned.
    monotonic_cst : array-like, dict or None, default=None
        For each feature 1, -1 or 0: whether answers may only rise, only fall, or both.
    categorical_features : array-like, "from_dtype" or None, default="from_dtype"
        Which columns hold categories.

    See Also
    --------
    DecisionTreeRegressor : A single tree.

    Examples
    --------
    >>> from corollary.tree import DecisionTreeRegressor, TreeModel
    >>> issubclass(DecisionTreeRegressor, TreeModel)
    True
    """

    _: KW_ONLY
    criterion: str = "squared_error"
    max_depth: Count | None = None
    min_samples_split: CountFromTwo | Share = 2
    min_samples_leaf: Count | Probability = 1
    min_weight_fraction_leaf: Annotated[float, Interval(Real, 0, 0.5, closed="both")] = 0.0
    max_features: Count | Share | Literal["sqrt", "log2"] | None = None
    random_state: RandomSeed = None
    max_leaf_nodes: CountFromTwo | None = None
    min_impurity_decrease: NonNegative = 0.0
    ccp_alpha: NonNegative = 0.0
    monotonic_cst: ArrayLike | dict[Any, Any] | None = None
    categorical_features: ArrayLike | Literal["from_dtype"] | None = "from_dtype"

    categories_: Categories = fitted(Instance("encode", "mask"))
    max_features_: int = fitted(Integer(1))

    _rows: ClassVar[dict[str, Any]] = {
        "accept_sparse": "csr",
        "ensure_all_finite": "allow-nan",
        "dtype": [np.float64, np.float32],
    }
    _training_rows: ClassVar[dict[str, Any]] = {"dtype": np.float64, "multi_output": True}
    _several_targets: ClassVar[bool] = True

    @abstractmethod
    def _parts(self) -> Trees:
        """Return the trees."""

    def _check(self, X: Any, y: Any, sample_weight: Any, **checks: Any) -> Any:
        """Learn the categories of a table and validate it, its targets and its weights."""
        if issparse(y):
            raise ValueError(
                f"{type(self).__name__} needs a dense y. Got a sparse one; use y.toarray()."
            )
        categories = Categories.learn(X, self.categorical_features)
        X, y, weight = super()._check(categories.encode(X), y, sample_weight, **checks)
        if not is_classifier(self):
            check_squares(self, None, y)  # features are only compared
        self.categories_ = categories
        if not self._several_targets or y.ndim == 1 or y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        return X, y, weight

    def _new(self, X: Any) -> Any:
        check_is_fitted(self)
        return super()._new(self.categories_.encode(X))

    def _usable(self, weight: np.ndarray | None) -> np.ndarray | None:
        """Return weights whose products neither vanish nor overflow."""
        if weight is None:
            return None
        if not (weight > 0).any():
            raise ValueError(
                f"{type(self).__name__} needs a row of positive weight. All weights are zero."
            )
        if 1e-100 < weight.max() < 1e100:
            return weight
        # A power of two changes no digit.
        return np.ldexp(weight, -int(np.frexp(weight.max())[1]))

    def _filled(self, X: Any) -> np.ndarray:
        """Fill a sparse table up: every column keeps its own order of all rows."""
        if not hasattr(X, "indptr"):
            return X
        check_room(
            f"Exact splits of {type(self).__name__}",
            X.shape,
            24,
            "Use splitter='histogram' or a RandomForest, which take one byte for a value",
        )
        return X.toarray()

    def _problem(self, target: np.ndarray) -> GrowthProblem:
        """Return what trees are grown for: numbers, or places in ``classes_``."""
        target, who = np.asarray(target, dtype=np.float64), type(self).__name__
        if self.criterion == "poisson" and (
            (target < 0).any() or not (target.sum(axis=0) > 0).all()
        ):
            raise ValueError(
                f"{who}(criterion='poisson') needs targets that are counts: none negative, with a "
                f"positive sum. Got values from {target.min():g} to {target.max():g}; take "
                "criterion='squared_error'."
            )
        if target.ndim == 2 and self.criterion in ("absolute_error", "misclassification"):
            raise ValueError(
                f"{who}(criterion={self.criterion!r}) is for one target. Got {target.shape[1]}; "
                "take sklearn.multioutput.MultiOutputRegressor or MultiOutputClassifier, or "
                "another criterion."
            )
        return GrowthProblem(target, self.criterion, self._n_classes())

    def _n_classes(self) -> int | tuple[int, ...]:
        """Return the number of classes, of each target if there are several; 0 for numbers."""
        classes = getattr(self, "classes_", ())
        return tuple(map(len, classes)) if isinstance(classes, list) else len(classes)

    def _labels_of_targets(self) -> tuple[int, ...]:
        """Return the number of classes of each target; nothing for numbers."""
        counts = self._n_classes()
        return counts if isinstance(counts, tuple) else (counts,) if counts else ()

    @property
    def n_outputs_(self) -> int:
        """Number of targets."""
        check_is_fitted(self)
        return len(self._labels_of_targets()) or self._parts().value.shape[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._several_targets
        return tags

    def _stopping_rules(self, n_samples: int, n_features: int, total_weight: float) -> GrowthRules:
        """Turn parameters into the rules of growth, and set ``max_features_``."""
        if isinstance(self.min_samples_split, Integral) and self.min_samples_split < 2:
            raise ValueError(
                f"The 'min_samples_split' parameter of {type(self).__name__} must be an int in the "
                "range [2, inf) or a float in the range (0.0, 1.0]. Got 1 instead; 1.0 means all "
                "rows."
            )
        limit = self.max_features
        if limit is None:
            self.max_features_ = n_features
        elif limit == "sqrt":
            self.max_features_ = max(1, int(np.sqrt(n_features)))
        elif limit == "log2":
            self.max_features_ = max(1, int(np.log2(n_features)))
        elif isinstance(limit, Integral):
            self.max_features_ = min(int(limit), n_features)
        else:
            self.max_features_ = max(1, int(limit * n_features))
        return GrowthRules(
            max_depth=self.max_depth,
            min_samples_split=_number_of_rows(self.min_samples_split, n_samples, 2),
            min_samples_leaf=_number_of_rows(self.min_samples_leaf, n_samples, 1),
            min_weight_leaf=self.min_weight_fraction_leaf * total_weight,
            min_gain=self.min_impurity_decrease * total_weight,
            max_leaf_nodes=self.max_leaf_nodes,
            max_features=self.max_features_,
        )

    def _monotone_signs(self, categorical: np.ndarray) -> np.ndarray | None:
        """Read ``monotonic_cst`` for answers that are means; None if there is no constraint."""
        signs, who = read_signs(self, categorical), type(self).__name__
        if not signs.any():
            return None
        n_classes = self._n_classes()
        if isinstance(n_classes, tuple) or n_classes > 2:
            raise ValueError(
                f"monotonic_cst of {who} constrains the probability of the second of two classes. "
                f"Got {n_classes} classes; leave monotonic_cst at None."
            )
        if self.criterion in ("absolute_error", "poisson"):
            raise ValueError(
                f"monotonic_cst of {who} bounds means by their squared error. Got "
                f"criterion={self.criterion!r}; take criterion='squared_error', or "
                f"HistGradientBoostingRegressor with loss={self.criterion!r}."
            )
        # With one class there is nothing to constrain.
        return None if n_classes == 1 else signs

    def _trees_fit(self, trees: Any, *, several: bool = True) -> str | None:
        """Say what is wrong with the parts of a loaded model of trees, or None."""
        if not isinstance(trees, Tree | Trees) or not isinstance(self.categories_, Categories):
            return "trees and categories must be what their names say"
        if trees.n_features != self.n_features_in_:
            return "the trees are for another number of features"
        labels, width = self._labels_of_targets(), trees.value.shape[1]
        if width != sum(labels) if labels else not several and width != 1:
            return "the values of leaves do not fit the targets"
        columns = self.categories_.columns
        if len(columns) and columns.max() >= self.n_features_in_:
            return "a categorical column does not exist"
        return None

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

        rows, trees = self._new(X), self._parts()
        values = tree_contributions(trees, rows, n_jobs=getattr(self, "n_jobs", None)) / len(trees)
        return values[:, :, 0] if values.shape[2] == 1 and not is_classifier(self) else values

    @property
    def expected_value_(self) -> float | np.ndarray:
        """Mean prediction (of each class) over the training rows, where contributions start."""
        from corollary.tree.explain.shapley import expected_values

        check_is_fitted(self)
        trees = self._parts()
        value = expected_values(trees) / len(trees)
        return float(value[0]) if len(value) == 1 and not is_classifier(self) else value


def _number_of_rows(amount: float, n_samples: int, least: int) -> int:
    """Return a number of rows that is given as such or as a share."""
    if isinstance(amount, Integral):
        return int(amount)
    return max(least, int(np.ceil(amount * n_samples)))
