"""What random forests have in common: growing trees in threads, out-of-bag predictions."""

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import compute_sample_weight
from sklearn.utils.validation import check_is_fitted

from corollary.core.compat import fit_context
from corollary.core.estimator import Count, NoEffect, Share, fitted
from corollary.core.parallel import available_cores, ordered_map
from corollary.core.progress import track
from corollary.core.schema import Instance
from corollary.ensemble._members import MemberSequence
from corollary.ensemble.bagging._bootstrapped import Bootstrapped
from corollary.ensemble.bagging.bootstrap import number_of_draws
from corollary.tree import (
    BinnedTable,
    GrowthProblem,
    GrowthRules,
    Tree,
    TreeModel,
    Trees,
    grow_exact,
    grow_histogram,
    grow_on_bins,
    prune,
)


@dataclass(frozen=True, eq=False)
class _Ground:
    """What all trees of a forest grow on: bins, targets and rules.

    The table is binned, or one of numbers if cuts are drawn at random. A tree draws ``n_columns``
    columns for itself, None for a draw at every split, and gives the classes among its rows equal
    weights if it is to be ``balanced``.
    """

    table: Any
    categorical: np.ndarray
    problem: GrowthProblem
    rules: GrowthRules
    monotone: np.ndarray | None
    ccp_alpha: float
    n_columns: int | None
    balanced: bool

    def grow(self, weight: np.ndarray | None, random: np.random.Generator) -> Tree:
        """Grow a tree on rows with these weights."""
        if self.balanced and weight is not None:
            drawn = np.repeat(np.arange(len(weight)), weight.astype(np.int64))
            weight = weight * compute_sample_weight("balanced", self.problem.target, indices=drawn)
        columns = None
        if self.n_columns is not None:
            columns = random.choice(len(self.categorical), self.n_columns, replace=False)
        tree = self._grower()(
            self.table,
            self.problem,
            self.rules,
            sample_weight=weight,
            features=columns,
            monotone=self.monotone,
            seed=int(random.integers(2**62)),
        )
        return prune(tree, self.ccp_alpha * tree.weight[0]) if self.ccp_alpha > 0 else tree

    def _grower(self) -> Callable[..., Tree]:
        """Return what grows a tree."""
        if not isinstance(self.table, BinnedTable):
            return partial(grow_exact, categorical=self.categorical, at_random=True)
        return grow_histogram if self.problem.in_bins else grow_on_bins


class BaseForest(MemberSequence, TreeModel, Bootstrapped):
    """Abstract forest; subclasses say what its trees answer."""

    n_estimators: Count = 100
    _: KW_ONLY
    bootstrap: bool = True
    oob_score: bool | Callable[..., Any] = False
    n_jobs: int | None = None
    verbose: NoEffect = 0
    warm_start: bool = False
    max_samples: Count | Share | None = None
    feature_sampling: Literal["split", "tree"] = "split"

    trees_: Trees = fitted(Instance("predict_values", "gain_by_feature"))

    _members = "trees_"
    _at_random: ClassVar[bool] = False

    @abstractmethod
    def _keep_out_of_bag(self, mean: np.ndarray, answered: np.ndarray, target: np.ndarray) -> None:
        """Store out-of-bag predictions and their score."""

    @abstractmethod
    def _single(self) -> Any:
        """Return a single tree with the forest's parameters and what it knows of the data."""

    def _weigh_classes(self, weight: np.ndarray | None, y: np.ndarray) -> np.ndarray | None:
        """Multiply weights of rows by those of their classes."""
        return weight

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Training inputs; NaN is a missing value.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Labels or numbers.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        earlier, labels = self._begin(), is_classifier(self)
        if self.max_samples is not None and not self.bootstrap:
            raise ValueError(
                f"{type(self).__name__}(bootstrap=False) grows every tree on all rows. Got "
                f"max_samples={self.max_samples}. Set bootstrap=True or max_samples=None."
            )
        X, y, weight = self._check(X, y, sample_weight, y_numeric=not labels)
        problem = self._problem(self._code(y) if labels else y)
        weight = self._usable(self._weigh_classes(weight, problem.target))
        seeds = self._set_up_draws(earlier, weight if self.bootstrap else None, X.shape[0])
        cores = available_cores() if self.n_jobs is None or self.n_jobs < 1 else self.n_jobs
        ground = self._prepare(X, problem, weight, cores)
        grown = [] if earlier is None else [self.trees_[t] for t in range(len(self.trees_))]
        trees: list[Tree] = []

        def member(t: int) -> tuple[Tree, Any]:
            random, bag = self._row_weights(weight, seeds[t])
            tree = grown[t] if t < len(grown) else ground.grow(bag, random)
            if not self.oob_score:
                return tree, None
            left_out = np.flatnonzero(bag == 0)
            return tree, (left_out, tree.predict_values(X[left_out]))

        def grow_all() -> Iterator[tuple[np.ndarray, np.ndarray]]:
            with track("growing trees", total=len(seeds)) as step:
                for tree, answers in ordered_map(member, range(len(seeds)), workers=cores):
                    trees.append(tree)
                    yield answers
                    step()

        if self.oob_score:
            width = sum(problem.labels) or problem.n_targets
            mean, answered = self._average_out_of_bag(grow_all(), width)
        else:
            deque(grow_all(), maxlen=0)
        self.trees_ = Trees.join(trees)
        if self.oob_score:
            self._keep_out_of_bag(mean, answered, problem.target)
        return self

    def _prepare(
        self, X: Any, problem: GrowthProblem, weight: np.ndarray | None, cores: int
    ) -> _Ground:
        """Bin the rows and read the rules of growth."""
        n_samples, n_features = X.shape
        categorical = self.categories_.mask(n_features)
        # A bag weighs as much as its draws, or as all rows.
        total = float(number_of_draws(self.max_samples, self._n_weighted()))
        if not self.bootstrap:
            total = float(n_samples) if weight is None else float(weight.sum())
        rules = self._stopping_rules(n_samples, n_features, total)
        grid: Any = self._filled(X) if self._at_random else None
        if not self._at_random:
            grid = BinnedTable.of(X, sample_weight=weight, categorical=categorical, n_jobs=cores)
        per_tree = self.feature_sampling == "tree" and rules.max_features != n_features
        return _Ground(
            grid,
            categorical,
            problem,
            rules,
            self._monotone_signs(categorical),
            self.ccp_alpha,
            rules.max_features if per_tree else None,
            self.bootstrap and getattr(self, "class_weight", None) == "balanced_subsample",
        )

    def _row_weights(self, weight: np.ndarray | None, seed: Any) -> tuple[Any, np.ndarray | None]:
        """Return a tree's generator and the weights of its rows."""
        if not self.bootstrap:
            return np.random.Generator(np.random.PCG64(seed)), weight
        random, counts = self._draw(seed)
        return random, counts.astype(np.float64)

    def _parts(self) -> Trees:
        return self.trees_

    def _mean(self, X: Any) -> np.ndarray:
        """Return the mean of the trees for validated rows."""
        return self.trees_.predict_values(X, n_jobs=self.n_jobs) / len(self.trees_)

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf of each row in each tree.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        leaves : ndarray of int of shape (n_samples, n_estimators)
            Numbers of nodes within their trees.
        """
        return self.trees_.apply(self._new(X), n_jobs=self.n_jobs)

    def decision_path(self, X: Any) -> tuple[Any, np.ndarray]:
        """Mark the nodes that rows pass in all trees.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        indicator : sparse matrix of shape (n_samples, n_nodes)
            One where a row passes a node.
        n_nodes_ptr : ndarray of shape (n_estimators + 1,)
            Columns of tree t are those from its entry t up to entry t + 1.
        """
        return self.trees_.decision_path(self._new(X)), self.trees_.offsets

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each feature in the gains of the splits, averaged over the trees."""
        check_is_fitted(self)
        gains = self.trees_.gain_by_feature()
        totals = gains.sum(axis=1, keepdims=True)
        if not totals.any():
            return np.zeros(gains.shape[1])
        return (gains[totals[:, 0] > 0] / totals[totals[:, 0] > 0]).mean(axis=0)

    @property
    def estimators_(self) -> list[Any]:
        """The trees as models, made when asked for."""
        models, parameters = [], self._tree_parameters()
        for t in range(len(self.trees_)):
            model = self._single().set_params(**parameters)
            model.nodes_ = self.trees_[t]
            for name in ("categories_", "max_features_", "n_features_in_", "feature_names_in_"):
                if hasattr(self, name):
                    setattr(model, name, getattr(self, name))
            models.append(model)
        return models

    @property
    def estimator_(self) -> Any:
        """A tree with the parameters of the forest, not fitted."""
        return clone(self._single()).set_params(**self._tree_parameters())

    def _tree_parameters(self) -> dict[str, Any]:
        """Return the parameters of the forest that its trees have, too."""
        check_is_fitted(self)
        names = self._single().get_params(deep=False).keys() & self.get_params(deep=False).keys()
        return {name: getattr(self, name) for name in names - {"random_state"}}

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """Rows drawn for each tree, repeated as often as they were drawn."""
        if self.bootstrap:
            return super().estimators_samples_
        check_is_fitted(self)
        return [np.arange(self.n_samples_)] * len(self.trees_)

    def _fits_together(self) -> str | None:
        if not isinstance(self.trees_, Trees):
            return "the trees must be many"
        return self._draws_fit() or self._trees_fit(self.trees_)
