"""What the histogram gradient boosting classifier and regressor have in common."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import KW_ONLY
from functools import partial
from numbers import Integral
from os import PathLike
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from corollary.core.compat import Interval, fit_context
from corollary.core.estimator import (
    ArrayLike,
    Count,
    CountFromTwo,
    Learner,
    NoEffect,
    NonNegative,
    Positive,
    Probability,
    RandomSeed,
    Share,
    fitted,
    read_source,
)
from corollary.core.schema import Array, Flag, Instance, Integer, Optional
from corollary.ensemble.boosting._binned_rows import BinnedRows, open_blocks
from corollary.ensemble.boosting._blocks.boost import boost_blocks
from corollary.ensemble.boosting._boost import Boosted, Boosting, boost
from corollary.ensemble.boosting._grow import Growth
from corollary.ensemble.boosting._interactions import read_interactions
from corollary.ensemble.boosting.losses import BoostingLoss
from corollary.tree import (
    Bins,
    Categories,
    ColumnSketch,
    Trees,
    categorical_columns,
    find_bins,
    read_signs,
)

# A scale is calibrated by so many rows, unless that is more than a quarter of them or less than the
# fraction asked for; and by none if these were so few.
CALIBRATION_ROWS, FEWEST_CALIBRATION_ROWS = 100, 5


class HistGradientBoosting(Learner):
    """Abstract gradient boosting on histograms; subclasses choose losses and read targets."""

    _: KW_ONLY
    learning_rate: Positive = 0.1
    max_iter: Count = 100
    max_leaf_nodes: CountFromTwo | None = 31
    max_depth: Count | None = None
    min_samples_leaf: Count = 20
    l2_regularization: NonNegative = 0.0
    max_features: Share = 1.0
    max_bins: Annotated[int, Interval(Integral, 2, 255, closed="both")] = 255
    categorical_features: ArrayLike | Literal["from_dtype"] | None = "from_dtype"
    monotonic_cst: ArrayLike | dict[Any, Any] | None = None
    interaction_cst: list[Any] | tuple[Any, ...] | Literal["pairwise", "no_interactions"] | None = (
        None
    )
    warm_start: bool = False
    early_stopping: Literal["auto"] | bool = "auto"
    scoring: str | Callable[..., Any] | None = "loss"
    validation_fraction: Probability | Count | None = 0.1
    n_iter_no_change: Count = 10
    tol: NonNegative = 1e-7
    verbose: NoEffect = 0
    random_state: RandomSeed = None
    subsample: Share = 1.0
    n_jobs: int | None = None

    trees_: Trees = fitted(Instance("predict_values", "gain_by_feature"))
    start_: np.ndarray = fitted(Array("f", "r"))
    n_iter_: int = fitted(Integer(1))
    categories_: Categories = fitted(Instance("encode", "mask"))
    train_score_: np.ndarray = fitted(Array("f", "*", nan=True, infinite=True))
    validation_score_: np.ndarray = fitted(Array("f", "*", nan=True, infinite=True))
    do_early_stopping_: bool = fitted(Optional(Flag()))

    _rows: ClassVar[dict[str, Any]] = {
        "dtype": [np.float64, np.float32],
        "ensure_all_finite": "allow-nan",
    }
    _labels: ClassVar[bool]
    #: While it is fitted, which rows were given to judge when to stop.
    _aside: np.ndarray | None = None

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Self:
        """Fit the model to arrays or data frames in memory.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Their labels or targets.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Non-negative weights; a row of weight k counts like k equal rows.
        X_val : array-like or data frame of shape (n_held_out, n_features) or None, default=None
            Rows that judge when to stop, in the place of training rows held out.
        y_val : array-like of shape (n_held_out,) or None, default=None
            Their labels or targets.
        sample_weight_val : array-like of shape (n_held_out,) or None, default=None
            Their weights.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        if X_val is None:
            return super().fit(X, y, sample_weight)
        if y_val is None or not self.early_stopping:
            raise ValueError(
                f"{type(self).__name__}.fit takes X_val together with y_val, to stop early by "
                f"them. Got early_stopping={self.early_stopping!r} and "
                f"{'no' if y_val is None else 'a'} y_val. Give both and set early_stopping=True."
            )
        n, m = len(y), len(y_val)
        weights = None
        if sample_weight is not None or sample_weight_val is not None:
            pairs = ((sample_weight, n), (sample_weight_val, m))
            weights = np.concatenate([np.ones(k) if w is None else w for w, k in pairs])
        self._aside = np.arange(n + m) >= n
        try:
            both = np.concatenate([np.asarray(y), np.asarray(y_val)])
            return super().fit(_stacked(X, X_val), both, weights)
        finally:
            del self._aside

    @abstractmethod
    def _loss(self) -> BoostingLoss:
        """Return the loss of a fitted model."""

    def _training_loss(self, y: np.ndarray) -> BoostingLoss:
        """Return the loss to fit."""
        return self._loss()

    @abstractmethod
    def _read_targets(self, y: np.ndarray) -> np.ndarray:
        """Return targets of training rows as numbers, or labels as codes."""

    @abstractmethod
    def _known_targets(self, y: np.ndarray) -> np.ndarray:
        """Return targets of other rows as the loss wants them."""

    def _check(self, X: Any, y: Any, sample_weight: Any, **checks: Any) -> Any:
        """Learn categories and validate; drop rows without weight, which would count in leaves."""
        categories = Categories.learn(X, self.categorical_features)
        X, y, weight = super()._check(categories.encode(X), y, sample_weight, **checks)
        self.categories_ = categories
        if weight is not None and not (weight > 0).all():
            kept = weight > 0
            X, y, weight = X[kept], y[kept], weight[kept]
            self._aside = None if self._aside is None else self._aside[kept]
        self._require_rows(len(y))
        return X, y, weight

    def _require_rows(self, n_rows: int) -> None:
        if n_rows == 0:
            raise ValueError(
                f"{type(self).__name__} needs a row of positive weight. Got sample weights that "
                "are all 0."
            )

    def _new(self, X: Any) -> Any:
        check_is_fitted(self)
        return super()._new(self.categories_.encode(X))

    def _fit(self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        learnt = slice(None) if self._aside is None else ~self._aside
        bins = find_bins(
            X[learnt],
            sample_weight=None if sample_weight is None else sample_weight[learnt],
            max_bins=self.max_bins,
            categorical=self.categories_.mask(X.shape[1]),
            n_jobs=self.n_jobs,
        )
        codes = bins.transform(X, n_jobs=self.n_jobs)
        earlier = None
        if self.warm_start and hasattr(self, "trees_"):
            losses = -self.train_score_, -self.validation_score_
            earlier = Boosted(self.trees_, self.start_, self.n_iter_, *losses)
            if self.max_iter < self.n_iter_ or self._loss().calibrates:
                raise ValueError(
                    f"{type(self).__name__}(warm_start=True) adds to the {self.n_iter_} iterations "
                    f"that there are. Got max_iter={self.max_iter}, which must be larger than or "
                    f"equal to n_iter_={self.n_iter_}, and loss={self.loss!r}, which must not be "
                    "'normal'. Set warm_start=False to start afresh."
                )
        begun = None if earlier is None else (X, earlier)
        self._boost(codes, y, sample_weight, bins, self._in_memory(), begun)

    @fit_context(prefer_skip_nested_validation=True)
    def fit_source(
        self,
        data: Any,
        *,
        target: str | None = None,
        columns: Sequence[str] | None = None,
        sample_weight: str | None = None,
        memory_budget: int = 2**30,
        scratch_directory: str | PathLike[str] | None = None,
        n_jobs: int | None = None,
    ) -> Self:
        """Fit the model to data that need not fit in memory.

        The data are read twice: once for bins, and once for the bins of rows, one byte per value.
        Where these exceed the memory budget, they are kept in a scratch file on the disk, or on
        the workers of a Dask cluster, and trees grow by passes over them, about as many for a tree
        as it is deep; what a pass returns is a histogram (:class:`GradientHistogram`). The model is
        the same, bit for bit. It equals that of :meth:`fit` on the same rows, if no column has more
        than 8192 distinct values; else its bins differ by less than a tenth of their width.

        Parameters
        ----------
        data : path, data frame, Dask collection, or iterable of chunks
            See :func:`corollary.core.summary.open_source`. Arrays and chunks hold ``(X, y)`` or
            ``(X, y, sample_weight)``. Categorical columns hold whole numbers below 255; NaN or
            null is a missing value.
        target : str or None, default=None
            Name of the column to predict, for files and data frames.
        columns : sequence of str or None, default=None
            Names of the features; None for all other columns.
        sample_weight : str or None, default=None
            Name of the column of weights.
        memory_budget : int, default=1073741824
            Most bytes of bins (rows times features) in memory. Within it they are, which is
            faster, also if the data are on a cluster.
        scratch_directory : path or None, default=None
            Folder for the scratch file; None for the system's temporary folder. The file has no
            name and vanishes with the fit, whatever ends it.
        n_jobs : int or None, default=None
            Threads; None for the parameter of the model. The result does not depend on it.

        Returns
        -------
        self : estimator
            The fitted model.

        Notes
        -----
        Beyond the budget, what is in memory besides bins takes 32 bytes per row and 16 for each raw
        prediction (one, or one per class, quantile or parameter), with weights 8 more. On a
        cluster all of this but targets, weights and the numbers of rows (12 to 20 bytes) is on the
        workers. The driver sees predictions of rows only where these decide: of held-out rows if
        it stops early, and of all rows for absolute and quantile losses, whose leaf values are
        order statistics. Histograms take 4 KiB for each feature and leaf, and while they
        are added up at most 32 MiB three times in each thread.
        """
        if not isinstance(memory_budget, Integral) or memory_budget < 0:
            raise ValueError(
                f"The 'memory_budget' parameter of {type(self).__name__}.fit_source must be an int "
                f"in the range [0, inf). Got {memory_budget!r} instead."
            )
        threads = self.n_jobs if n_jobs is None else n_jobs
        source, sketch = read_source(
            self,
            data,
            lambda source: ColumnSketch.of_width(
                source.n_features,
                categorical=self._source_mask(source.n_features, source.feature_names),
            ),
            target=target,
            columns=columns,
            sample_weight=sample_weight,
            n_jobs=threads,
            one_target=True,
            several_passes=True,
            labels=self._labels,
            missing=True,
        )
        bins, n_features = sketch.bins(self.max_bins), source.n_features
        places = np.flatnonzero(bins.categorical).astype(np.int64)
        values = [np.arange(float(bins.n_bins[j])) for j in places]
        self.categories_ = Categories(places, values)
        n_bytes = self.fingerprint_.n_rows * n_features
        if n_bytes <= memory_budget:
            rows, y, weight = source.reduce(BinnedRows(bins), threads).join()
            self._require_rows(len(y))
            self._boost(rows, self._read_targets(y), weight, bins, self._in_memory(threads))
            return self
        with open_blocks(
            source, bins, n_bytes=n_bytes, directory=scratch_directory, n_jobs=threads
        ) as (blocks, y, weight):
            self._require_rows(len(y))
            self._boost(blocks, self._read_targets(y), weight, bins, boost_blocks)
        return self

    def _source_mask(self, n_features: int, names: list[str] | None) -> np.ndarray:
        categorical = self.categorical_features
        if categorical is None or isinstance(categorical, str):
            return np.zeros(n_features, dtype=bool)
        import pandas as pd

        header = np.empty((0, n_features)) if names is None else pd.DataFrame(columns=names)
        mask = np.zeros(n_features, dtype=bool)
        mask[categorical_columns(header, categorical)] = True
        return mask

    def _boost(
        self,
        rows: Any,
        y: np.ndarray,
        weight: np.ndarray | None,
        bins: Bins,
        boost_rows: Callable[..., Boosted],
        earlier: tuple[Any, Boosted] | None = None,
    ) -> None:
        if weight is not None and not 1e-100 < weight.max() < 1e100:
            weight = np.ldexp(weight, -int(np.frexp(weight.max())[1]))  # no digit changes
        loss = self._training_loss(y)
        random = check_random_state(self.random_state)
        rng = np.random.default_rng(random.randint(2**31 - 1))
        stops = len(y) > 10_000 if self.early_stopping == "auto" else bool(self.early_stopping)
        stops = stops or self._aside is not None
        held_out, least = None, min(CALIBRATION_ROWS, len(y) // 4) if loss.calibrates else 0
        if self.validation_fraction and (stops or least >= FEWEST_CALIBRATION_ROWS):
            held_out = self._held_out(y, random, least)
        held_out = held_out if self._aside is None else self._aside
        self.do_early_stopping_ = stops
        settings = Boosting(
            n_estimators=self.max_iter - (0 if earlier is None else earlier[1].n_iter),
            learning_rate=self.learning_rate,
            subsample=self.subsample,
            growth=Growth(
                self.max_leaf_nodes,
                self.max_depth,
                self.min_samples_leaf,
                float(self.l2_regularization),
                float(self.max_features),
                # Weights above 1 are repetitions; lighter ones set the unit.
                1.0 if weight is None else min(1.0, float(weight.mean())),
                read_interactions(self, len(bins.cuts)),
            ),
            n_iter_no_change=self.n_iter_no_change,
            tol=self.tol,
            stops=stops,
        )
        more: dict[str, Any] = {}
        if earlier is not None:
            if settings.n_estimators == 0:
                return
            more = {"begun": (self._raw(earlier[0]), earlier[1].n_iter)}
        boosted = boost_rows(
            rows,
            bins,
            y,
            weight,
            loss,
            settings,
            monotone=self._monotone(bins, loss),
            rng=rng,
            held_out=held_out,
            measure=None if self.scoring == "loss" else self._measure(),
            **more,
        )
        if earlier is not None:
            boosted = boosted.follows(earlier[1])
        self.trees_, self.start_, self.n_iter_ = boosted.trees, boosted.start, boosted.n_iter
        self.train_score_, self.validation_score_ = -boosted.train_score, -boosted.validation_score

    def _measure(self) -> Callable[..., float]:
        """Return what judges predictions by ``scoring``; smaller is better."""
        from sklearn.metrics import check_scoring

        scorer = check_scoring(self, scoring=self.scoring)

        def measure(y: np.ndarray, raw: np.ndarray, weight: np.ndarray | None) -> float:
            # A copy that knows its answers; the rows it is asked about do not matter.
            answers: Any = copy(self)
            answers._raw, answers._new, answers.trees_ = (lambda X: raw), (lambda X: X), None
            keywords = {} if weight is None else {"sample_weight": weight}
            return -float(scorer(answers, raw, self._targets_of(y), **keywords))

        return measure

    def _targets_of(self, y: np.ndarray) -> np.ndarray:
        """Return targets as users know them."""
        return y

    def _in_memory(self, n_jobs: int | None = None) -> Callable[..., Boosted]:
        return partial(boost, n_jobs=self.n_jobs if n_jobs is None else n_jobs)

    def _held_out(self, y: np.ndarray, random: np.random.RandomState, least: int = 1) -> np.ndarray:
        from sklearn.model_selection import train_test_split

        name = type(self).__name__
        if len(y) < 2:
            raise ValueError(
                f"{name} cannot hold out rows for early stopping: there is one row. Set "
                "early_stopping=False."
            )
        stratify = y if self._labels and np.bincount(y.astype(np.int64)).min() > 1 else None
        share = self.validation_fraction or 0.0
        share = share / len(y) if isinstance(share, Integral) else share
        size = min(len(y) - 1, max(1, least, round(share * len(y))))
        if stratify is not None:
            size = max(size, len(np.unique(y)))
            if size > len(y) - len(np.unique(y)):
                stratify = None
        _, aside = train_test_split(
            np.arange(len(y)), test_size=size, stratify=stratify, random_state=random
        )
        held_out = np.zeros(len(y), dtype=bool)
        held_out[aside] = True
        return held_out

    def _monotone(self, bins: Bins, loss: BoostingLoss) -> np.ndarray:
        signs = read_signs(self, bins.categorical)
        if signs.any() and loss.n_outputs != 1:
            raise ValueError(
                f"monotonic_cst of {type(self).__name__} needs a model with one output. Got a loss "
                f"with {loss.n_outputs}; leave monotonic_cst at None."
            )
        return signs

    def _raw(self, X: np.ndarray) -> np.ndarray:
        """Return the raw predictions of validated rows."""
        return self.trees_.predict_values(
            X, groups=self._loss().n_trees, start=self.start_, n_jobs=self.n_jobs
        )

    def _stages(self, X: Any) -> Iterator[np.ndarray]:
        rows = self._new(X)
        groups = self._loss().n_trees
        raw = np.tile(self.start_, (len(rows), 1))
        for i in range(self.n_iter_):
            raw = raw + self.trees_.predict_values(
                rows,
                groups=groups,
                first=i * groups,
                stop=(i + 1) * groups,
                n_jobs=self.n_jobs,
            )
            yield raw

    def staged_loss(self, X: Any, y: Any, sample_weight: Any = None) -> np.ndarray:
        """Return the mean loss before the first and after each iteration.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights.

        Returns
        -------
        losses : ndarray of shape (n_iter + 1,)
            Means of the loss that the model was fitted to.
        """
        loss, targets = self._loss(), self._known_targets(np.asarray(y))
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        losses = [loss.mean(targets, np.tile(self.start_, (len(targets), 1)), weight)]
        losses += [loss.mean(targets, raw, weight) for raw in self._stages(X)]
        return np.array(losses)

    @property
    def n_trees_per_iteration_(self) -> int:
        """Trees that an iteration adds: one, or one per class if there are more than two."""
        check_is_fitted(self)
        return self._loss().n_trees

    @property
    def is_categorical_(self) -> np.ndarray | None:
        """Which features are categorical; None if none is."""
        check_is_fitted(self)
        mask = self.categories_.mask(self.n_features_in_)
        return mask if mask.any() else None

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each feature in the gains of all splits; zeros if there is no split."""
        check_is_fitted(self)
        gains = self.trees_.gain_by_feature().sum(axis=0)
        total = gains.sum()
        return gains / total if total > 0 else gains

    def contributions(self, X: Any) -> np.ndarray:
        """Attribute raw predictions to features by exact Shapley values.

        The value of a set of features is the expected raw prediction when the others follow the
        training rows below each split (path-dependent). Contributions of a row and
        :attr:`expected_value_` add up to its raw prediction: log odds for the logistic loss.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        contributions : ndarray of shape (n_samples, n_features) or \
(n_samples, n_features, n_outputs)
            The attribution; the last axis is for losses with several raw predictions.
        """
        from corollary.tree import tree_contributions

        values = tree_contributions(
            self.trees_,
            self._new(X),
            groups=self._loss().n_trees,
            n_jobs=self.n_jobs,
        )
        return values[:, :, 0] if values.shape[2] == 1 else values

    @property
    def expected_value_(self) -> float | np.ndarray:
        """Mean raw prediction over the training rows, where contributions start."""
        from corollary.tree import expected_values

        check_is_fitted(self)
        value = self.start_ + expected_values(self.trees_, groups=self._loss().n_trees)
        return float(value[0]) if len(value) == 1 else value

    def _fits_together(self) -> str | None:
        if not isinstance(self.trees_, Trees) or not isinstance(self.categories_, Categories):
            return "trees and categories must be what their names say"
        try:
            loss = self._loss()
        except (ValueError, TypeError, AttributeError):
            return "the loss does not fit the model"
        if self.trees_.n_features != self.n_features_in_:
            return "the trees are for another number of features"
        if len(self.start_) != loss.n_outputs:
            return "the start does not fit the loss"
        if self.trees_.value.shape[1] * loss.n_trees != loss.n_outputs:
            return "the values of leaves do not fit the loss"
        if len(self.trees_) != loss.n_trees * self.n_iter_:
            return "the number of trees does not fit the number of iterations"
        columns = self.categories_.columns
        if len(columns) and columns.max() >= self.n_features_in_:
            return "a categorical column does not exist"
        return None


def _stacked(first: Any, second: Any) -> Any:
    """Return the rows of two tables of one kind, one below the other."""
    if hasattr(first, "iloc"):
        import pandas as pd

        return pd.concat([first, second], ignore_index=True)
    return np.concatenate([np.asarray(first), np.asarray(second)])
