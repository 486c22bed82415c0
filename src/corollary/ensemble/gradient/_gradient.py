"""What Friedman's gradient boosting for labels and for numbers have in common."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from corollary.core.compat import HasMethods, Only, StrOptions, fit_context
from corollary.core.estimator import (
    Count,
    NoEffect,
    NonNegative,
    Probability,
    Share,
    fitted,
    weight_parameters,
)
from corollary.core.progress import track
from corollary.core.schema import Array, Instance, Integer, Nullable, Optional, Spec, Text
from corollary.ensemble.boosting.losses import BoostingLoss
from corollary.ensemble.gradient._record import Record
from corollary.ensemble.gradient._stages import Ground, grow_stage
from corollary.tree import DecisionTreeRegressor, Tree, TreeModel, Trees

_HIST = "HistGradientBoosting of the same kind has it"


class GradientBoosting(TreeModel):
    """Abstract gradient boosting by exact trees; subclasses choose losses and read targets."""

    _: KW_ONLY
    learning_rate: NonNegative = 0.1
    n_estimators: Count = 100
    subsample: Share = 1.0
    criterion: NoEffect = "deprecated"
    max_depth: Count | None = 3
    init: Annotated[Any, StrOptions({"zero"}), HasMethods(["fit", "predict"]), None] = None
    verbose: NoEffect = 0
    warm_start: bool = False
    validation_fraction: Probability = 0.1
    n_iter_no_change: Count | None = None
    tol: NonNegative = 1e-4
    monotonic_cst: Annotated[None, Only(None, instead=_HIST)] = None

    trees_: Trees = fitted(Instance("predict_values", "gain_by_feature"))
    start_: np.ndarray = fitted(Array("f", "r"))
    init_model_: Any = fitted(Nullable(Instance("fit", "predict")))
    n_estimators_: int = fitted(Integer(1))
    seed_: int = fitted(Integer(0, 2**31))
    train_score_: np.ndarray = fitted(Array("f", "*", nan=True, infinite=True))
    oob_improvement_: np.ndarray = fitted(Optional(Array("f", "*", nan=True, infinite=True)))
    oob_scores_: np.ndarray = fitted(Optional(Array("f", "*", nan=True, infinite=True)))

    _several_targets: ClassVar[bool] = False
    _saved_parameters: ClassVar[dict[str, Spec]] = {
        "init": Nullable(Text(("zero",)) | Instance("fit", "predict", "get_params"))
    }

    @abstractmethod
    def _loss(self) -> BoostingLoss:
        """Return the loss of a fitted model."""

    def _stage_loss(self, y: np.ndarray, raw: np.ndarray, weight: Any) -> BoostingLoss:
        """Return the loss of one stage, which may depend on the residuals."""
        return self._loss()

    @abstractmethod
    def _raw_of(self, model: Any, X: Any) -> np.ndarray:
        """Return the raw predictions that an estimator given as ``init`` stands for."""

    def _score_factor(self) -> float:
        """Return by what recorded losses are multiplied: 2 makes a deviance of a half one."""
        return 1.0

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        monitor: Callable[..., Any] | None = None,
    ) -> Self:
        """Fit the model to arrays or data frames in memory.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Their labels or targets.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Non-negative weights; a row of weight k counts like k equal rows.
        monitor : callable or None, default=None
            Called after each stage as ``monitor(stage, model, variables)``; if it returns true,
            the fit ends.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        grown = self._grown()
        labels = is_classifier(self)
        X, y, weight = self._check(X, y, sample_weight, y_numeric=not labels)
        if weight is not None and not (weight > 0).all():
            X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]
        y = self._code(y).astype(np.float64) if labels else np.asarray(y, dtype=np.float64)
        weight, held = self._usable(weight), None
        if self.n_iter_no_change is not None:
            X, y, weight, held = self._set_aside(X, y, weight)
        if not grown:
            self.seed_ = int(check_random_state(self.random_state).randint(2**31 - 1))
            self._begin(X, y, weight)
        self._stages_of_fit(X, y, weight, held, grown, monitor)
        return self

    def _grown(self) -> list[Tree]:
        """Return the trees of an earlier fit, if this one adds to them."""
        if not self.warm_start or not hasattr(self, "trees_"):
            return []
        if self.n_estimators < self.n_estimators_:
            raise ValueError(
                f"{type(self).__name__}(warm_start=True) adds to the {self.n_estimators_} stages "
                f"that there are. Got n_estimators={self.n_estimators}, which must be larger or "
                f"equal to estimators_.shape[0]={self.n_estimators_}. Raise it, or set "
                "warm_start=False to start afresh."
            )
        return [self.trees_[t] for t in range(len(self.trees_))]

    def _set_aside(self, X: Any, y: np.ndarray, weight: np.ndarray | None) -> tuple[Any, ...]:
        """Hold rows out for early stopping."""
        parts = [X, y] if weight is None else [X, y, weight]
        parts = train_test_split(
            *parts,
            random_state=self.random_state,
            test_size=self.validation_fraction,
            stratify=y if is_classifier(self) else None,
        )
        if is_classifier(self) and len(np.unique(parts[2])) < len(self.classes_):
            raise ValueError(
                f"The training rows that {type(self).__name__} keeps after holding rows out do "
                "not have all classes. Set n_iter_no_change=None, or lower validation_fraction."
            )
        learnt, held = parts[::2], parts[1::2]
        both = [*learnt, None] if weight is None else learnt
        return (*both, tuple([*held, None] if weight is None else held))

    def _begin(self, X: Any, y: np.ndarray, weight: np.ndarray | None) -> None:
        """Set what is predicted before the first tree."""
        self.init_model_, n_outputs = None, self._loss().n_outputs
        self.start_ = np.zeros(n_outputs)
        if self.init is None:
            self.start_ = self._best_constant(y, weight)
        elif not isinstance(self.init, str):
            target = self.classes_[y.astype(np.int64)] if is_classifier(self) else y
            keywords = {} if weight is None else weight_parameters(self, self.init, weight)
            self.init_model_ = clone(self.init).fit(X, target, **keywords)

    def _best_constant(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        """Return the best constant as raw prediction."""
        return self._loss().start(y, weight)

    def _raw_init(self, X: Any) -> np.ndarray:
        """Return the raw predictions of validated rows before the first tree."""
        if self.init_model_ is not None:
            return self._raw_of(self.init_model_, X)
        return np.tile(self.start_, (X.shape[0], 1))

    def _stages_of_fit(
        self,
        X: Any,
        y: np.ndarray,
        weight: np.ndarray | None,
        held: tuple[Any, ...] | None,
        grown: list[Tree],
        monitor: Callable[..., Any] | None,
    ) -> None:
        n, total = len(y), float(len(y) if weight is None else weight.sum())
        rules = self._stopping_rules(n, X.shape[1], total)
        ground = Ground(
            self._filled(X), self.categories_.mask(X.shape[1]), rules, float(self.ccp_alpha)
        )
        groups = self._loss().n_trees
        first = len(grown) // groups
        record = Record(self, first)
        raw = self._raw_init(X)
        if grown:
            raw += self.learning_rate * self.trees_.predict_values(X, groups=groups)
        recent = np.full(self.n_iter_no_change or 1, np.inf)
        held_raw = None if held is None else self._raw_init(held[0])
        with track("boosting", total=self.n_estimators - first) as step:
            for i in range(first, self.n_estimators):
                rng = np.random.default_rng([self.seed_, i])
                bag, outside = self._draw(n, weight, rng)
                loss = self._stage_loss(y, raw, bag)
                record.before(i, loss, y, raw, weight, outside)
                seeds = rng.integers(2**62, size=groups).tolist()
                trees = grow_stage(ground, loss, y, raw, bag, seeds, self.learning_rate)
                grown += trees
                record.after(loss, y, raw, bag, weight, outside)
                self.n_estimators_ = i + 1
                record.keep()
                step()
                if monitor is not None:
                    self.trees_ = Trees.join(grown)
                    if monitor(i, self, locals()):
                        break
                if held is not None and held_raw is not None:
                    more = Trees.join(trees).predict_values(held[0], groups=groups)
                    held_raw += self.learning_rate * more
                    now = self._score_factor() * loss.mean(held[1], held_raw, held[2])
                    if not (now + self.tol < recent).any():
                        break
                    recent[i % len(recent)] = now
        self.trees_ = Trees.join(grown)

    def _draw(
        self, n: int, weight: np.ndarray | None, rng: np.random.Generator
    ) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Draw the rows of a stage: their weights, and which rows are outside."""
        if self.subsample >= 1.0:
            return weight, None
        inside = rng.choice(n, max(1, int(self.subsample * n)), replace=False)
        outside = np.ones(n, dtype=bool)
        outside[inside] = False
        return np.where(outside, 0.0, 1.0 if weight is None else weight), outside

    def _parts(self) -> Trees:
        return self.trees_

    def _raw(self, X: Any) -> np.ndarray:
        """Return the raw predictions of validated rows."""
        groups = self._loss().n_trees
        return self._raw_init(X) + self.learning_rate * self.trees_.predict_values(X, groups=groups)

    def _stages(self, X: Any) -> Iterator[np.ndarray]:
        rows = self._new(X)
        groups, raw = self._loss().n_trees, self._raw_init(rows)
        for i in range(self.n_estimators_):
            raw = raw + self.learning_rate * self.trees_.predict_values(
                rows, groups=groups, first=i * groups, stop=(i + 1) * groups
            )
            yield raw

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf of each row in each tree.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        leaves : ndarray of shape (n_samples, n_estimators) or (n_samples, n_estimators, n_trees)
            Numbers of nodes within their trees; of a classifier with the axis of classes, of
            which there is one if there are two classes.
        """
        leaves = self.trees_.apply(self._new(X)).astype(np.float64)
        if not is_classifier(self):
            return leaves
        return leaves.reshape(len(leaves), self.n_estimators_, -1)

    @property
    def estimators_(self) -> np.ndarray:
        """The trees as models, of shape (n_estimators, n_trees), made when asked for."""
        if "trees_" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'estimators_'")
        groups = self._loss().n_trees
        models = np.empty(len(self.trees_), dtype=object)
        own = DecisionTreeRegressor().get_params().keys() & self.get_params(deep=False).keys()
        own -= {"criterion", "random_state", "monotonic_cst"}
        for t in range(len(models)):
            model: Any = DecisionTreeRegressor(**{name: getattr(self, name) for name in own})
            model.nodes_ = self.trees_[t]
            for name in ("categories_", "max_features_", "n_features_in_"):
                setattr(model, name, getattr(self, name))
            models[t] = model
        return models.reshape(-1, groups)

    @property
    def n_trees_per_iteration_(self) -> int:
        """Trees that a stage adds: one, or one per class if there are more than two."""
        check_is_fitted(self)
        return self._loss().n_trees

    @property
    def oob_score_(self) -> float:
        """Loss on the rows outside the sample of the last stage, if ``subsample`` is below 1."""
        if "oob_scores_" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'oob_score_'")
        return float(self.oob_scores_[-1])

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each feature in the gains of all splits; zeros if there is no split."""
        check_is_fitted(self)
        roots = self.trees_.weight[self.trees_.offsets[:-1]]
        gains = (self.trees_.gain_by_feature() / roots[:, None]).sum(axis=0)
        return gains / gains.sum() if gains.sum() > 0 else gains

    def contributions(self, X: Any) -> np.ndarray:
        """Attribute raw predictions to features by exact Shapley values.

        Contributions of a row and :attr:`expected_value_` add up to its raw prediction.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        contributions : ndarray of shape (n_samples, n_features) or \
(n_samples, n_features, n_trees)
            The attribution; the last axis is for several classes.
        """
        from corollary.tree import tree_contributions

        rows, groups = self._new(X), self._loss().n_trees
        values = self.learning_rate * tree_contributions(self.trees_, rows, groups=groups)
        return values[:, :, 0] if groups == 1 else values

    @property
    def expected_value_(self) -> float | np.ndarray:
        """Mean raw prediction over the training rows, where contributions start.

        With an estimator as ``init`` it leaves out what that predicts.
        """
        from corollary.tree import expected_values

        check_is_fitted(self)
        means = expected_values(self.trees_, groups=self._loss().n_trees)
        value = self.start_ + self.learning_rate * means
        return float(value[0]) if len(value) == 1 else value

    def _fits_together(self) -> str | None:
        try:
            loss = self._loss()
        except (ValueError, TypeError, AttributeError):
            return "the loss does not fit the model"
        if len(self.start_) != loss.n_outputs:
            return "the start does not fit the loss"
        if not isinstance(self.trees_, Trees) or self.trees_.value.shape[1] != 1:
            return "the trees do not have one value"
        if len(self.trees_) != loss.n_trees * self.n_estimators_:
            return "the number of trees does not fit the number of stages"
        if self.init_model_ is not None:
            check_is_fitted(self.init_model_)
            if getattr(self.init_model_, "n_features_in_", self.n_features_in_) != (
                self.n_features_in_
            ):
                return "the first estimator has other columns"
        if self.trees_.n_features != self.n_features_in_:
            return "the trees are for another number of features"
        columns = self.categories_.columns
        if len(columns) and columns.max() >= self.n_features_in_:
            return "a categorical column does not exist"
        return None


def first_of(model: GradientBoosting) -> Any:
    """Return what was given as ``init``, fitted."""
    if "start_" not in vars(model):
        raise AttributeError(f"{type(model).__name__!r} object has no attribute 'init_'")
    return "zero" if model.init_model_ is None else model.init_model_


def histogram_successor(
    cls: type, histograms: type, parameters: dict[str, Any], state: dict[str, Any]
) -> type:
    """Return the class of a file, and name its parts as that does.

    Files of earlier versions, which have bins among their parameters, hold models of histograms.
    """
    if "max_bins" not in parameters:
        return cls
    if "n_estimators" in parameters:
        parameters["max_iter"] = parameters.pop("n_estimators")
    for name in ("train_score_", "validation_score_"):
        if isinstance(state.get(name), np.ndarray):
            state[name] = -state[name]
    return histograms
