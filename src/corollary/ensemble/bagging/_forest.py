"""What random forests have in common: growing trees in threads, out-of-bag predictions."""

import warnings
from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state, compute_sample_weight
from sklearn.utils.validation import check_is_fitted

from corollary.core.compat import Interval, StrOptions
from corollary.core.progress import track
from corollary.core.schema import Array, Instance, Integer, Number, Optional, Spec, Strings
from corollary.core.threads import available_cores, ordered_map
from corollary.ensemble.bagging._warm_start import check_same_rows, earlier_fit, settings_of
from corollary.ensemble.bagging.bootstrap import bootstrap_counts, generators, number_of_draws
from corollary.tree import BinnedTable, GrowthProblem, Tree, Trees, grow_histogram, prune
from corollary.tree.base import (
    FITTED,
    GROWTH_CONSTRAINTS,
    Contributions,
    monotone_signs,
    read_rows,
    read_training,
    stopping_rules,
    trees_fit,
)

#: What a fitted forest has.
FITTED_FOREST: dict[str, Spec] = {
    **FITTED,
    "trees_": Instance("predict_values", "gain_by_feature"),
    "n_samples_": Integer(1, 2**31),
    "seed_": Integer(0, 2**31),
    "oob_score_": Optional(Number(nan=True)),
    "bag_weight_": Optional(Array("f", "n", low=0)),
    "settings_": Optional(Strings("*")),
}


def forest_fits(model: Any, n_outputs: int) -> str | None:
    """Say what is wrong with the parts of a loaded forest, or None."""
    if not isinstance(model.trees_, Trees):
        return "the trees must be many"
    for name in ("oob_decision_function_", "oob_prediction_", "bag_weight_"):
        if getattr(model, name, None) is not None and len(getattr(model, name)) != model.n_samples_:
            return f"{name} does not fit the number of rows"
    return trees_fit(model, model.trees_, n_outputs)


class BaseForest(Contributions, BaseEstimator):
    """Abstract forest; subclasses say what its trees answer."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GROWTH_CONSTRAINTS,
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "bootstrap": ["boolean"],
        "oob_score": ["boolean"],
        "n_jobs": [Integral, None],
        "max_samples": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
            None,
        ],
        "warm_start": ["boolean"],
        "feature_sampling": [StrOptions({"split", "tree"})],
    }

    trees_: Trees

    @abstractmethod
    def _keep_out_of_bag(self, mean: np.ndarray, known: np.ndarray, problem: GrowthProblem) -> None:
        """Store out-of-bag predictions and their score."""

    @abstractmethod
    def _single(self) -> Any:
        """Return a single tree with the forest's parameters and what it knows of the data."""

    def _weights(self, weight: np.ndarray | None, seed: Any) -> tuple[Any, np.ndarray | None]:
        """Return a tree's generator and the weights of its rows."""
        random = np.random.Generator(np.random.PCG64(seed))
        if not self.bootstrap:
            return random, weight
        counts = bootstrap_counts(
            self.n_samples_,
            number_of_draws(self.max_samples, self.n_samples_),
            random,
            sample_weight=weight,
        )
        return random, counts.astype(np.float64)

    def _fit_forest(self, X: Any, y: Any, sample_weight: Any) -> None:
        if self.oob_score and not self.bootstrap:
            raise ValueError(
                "Out-of-bag predictions need rows that trees have not seen. "
                "Set bootstrap=True or oob_score=False."
            )
        earlier = earlier_fit(self, "trees_")
        X, problem, weight = read_training(self, X, y, sample_weight)
        self.n_samples_, n_features = X.shape
        check_same_rows(self, earlier, weight if self.bootstrap else None)
        grown = [] if earlier is None else [self.trees_[t] for t in range(len(self.trees_))]
        if earlier is None:
            self.seed_ = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.settings_ = settings_of(self)
        cores = available_cores() if self.n_jobs is None or self.n_jobs < 1 else self.n_jobs
        categorical = self.categories_.mask(n_features)
        signs = monotone_signs(self, categorical)
        table = BinnedTable.of(X, sample_weight=weight, categorical=categorical, n_jobs=cores)
        # A bag weighs as much as its draws, or as all rows.
        total = float(number_of_draws(self.max_samples, self.n_samples_))
        if not self.bootstrap:
            total = float(self.n_samples_) if weight is None else float(weight.sum())
        rules = stopping_rules(self, self.n_samples_, n_features, total)
        per_tree = self.feature_sampling == "tree" and rules.max_features != n_features
        balanced = getattr(self, "class_weight", None) == "balanced_subsample"
        for name in ("bag_weight_", "oob_score_", "oob_decision_function_", "oob_prediction_"):
            self.__dict__.pop(name, None)
        if self.bootstrap and weight is not None:
            self.bag_weight_ = weight

        def grow(seed: Any) -> tuple[Tree, np.ndarray | None]:
            random, mine = self._weights(weight, seed)
            bag = mine
            if balanced and mine is not None:
                drawn = np.repeat(np.arange(len(mine)), mine.astype(np.int64))
                by_class = compute_sample_weight("balanced", problem.target, indices=drawn)
                bag = mine * by_class
            columns = None
            if per_tree:
                columns = random.choice(n_features, rules.max_features, replace=False)
            tree = grow_histogram(
                table,
                problem,
                rules,
                sample_weight=bag,
                features=columns,
                monotone=signs,
                seed=int(random.integers(2**62)),
            )
            if self.ccp_alpha > 0:
                tree = prune(tree, self.ccp_alpha * tree.weight[0])
            return tree, mine

        def member(t: int) -> tuple[Tree, np.ndarray | None, np.ndarray | None]:
            known = t < len(grown)
            tree, mine = (grown[t], None) if known else grow(seeds[t])
            if not self.oob_score:
                return tree, None, None
            if known:
                _, mine = self._weights(weight, seeds[t])
            left_out = np.flatnonzero(mine == 0)
            return tree, left_out, tree.predict_values(X[left_out])

        seeds, trees = generators(self.seed_, self.n_estimators), []
        sums = np.zeros((self.n_samples_, max(1, problem.n_classes)))
        seen = np.zeros(self.n_samples_, dtype=np.int64)
        with track("growing trees", total=self.n_estimators) as step:
            for tree, left_out, values in ordered_map(member, range(len(seeds)), workers=cores):
                trees.append(tree)
                if left_out is not None:
                    sums[left_out] += values
                    seen[left_out] += 1
                step()
        self.trees_ = Trees.join(trees)
        if self.oob_score:
            if not seen.all():
                warnings.warn(
                    f"{int((seen == 0).sum())} rows were seen by all {self.n_estimators} trees and "
                    "have no out-of-bag prediction. Raise n_estimators.",
                    stacklevel=4,
                )
            with np.errstate(invalid="ignore"):
                self._keep_out_of_bag(sums / seen[:, None], seen > 0, problem)

    def _parts(self) -> Trees:
        return self.trees_

    def _mean(self, X: Any) -> np.ndarray:
        rows = read_rows(self, X)
        return self.trees_.predict_values(rows, n_jobs=self.n_jobs) / len(self.trees_)

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
        rows = read_rows(self, X)
        return self.trees_.apply(rows, n_jobs=self.n_jobs)

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
        rows = read_rows(self, X)
        return self.trees_.decision_path(rows), self.trees_.offsets

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
        check_is_fitted(self)
        found = []
        for t in range(len(self.trees_)):
            model = self._single()
            model.tree_ = self.trees_[t]
            for name in ("categories_", "max_features_", "n_features_in_", "feature_names_in_"):
                if hasattr(self, name):
                    setattr(model, name, getattr(self, name))
            found.append(model)
        return found

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """Rows drawn for each tree, repeated as often as they were drawn."""
        check_is_fitted(self)
        rows, found = np.arange(self.n_samples_), []
        for seed in generators(self.seed_, len(self.trees_)):
            _, counts = self._weights(getattr(self, "bag_weight_", None), seed)
            if self.bootstrap and counts is not None:
                found.append(np.repeat(rows, counts.astype(np.int64)))
            else:
                found.append(rows)
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
