"""What the gradient boosting classifier and regressor have in common."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from numbers import Integral, Real
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from corollary.core.compat import Interval, StrOptions, fit_context
from corollary.core.estimator import check_new_data, check_training_data
from corollary.core.schema import Array, Instance, Integer, Optional, Size, Spec, Strings
from corollary.ensemble.boosting._binned_rows import BinnedRows, open_blocks, read_bins
from corollary.ensemble.boosting._blocks.boost import boost_blocks
from corollary.ensemble.boosting._boost import Boosted, Boosting, boost
from corollary.ensemble.boosting._grow import Growth
from corollary.ensemble.boosting.losses import BoostingLoss
from corollary.tree import Bins, Categories, Trees, find_bins
from corollary.tree.monotone import read_signs

FITTED: dict[str, Spec] = {
    "trees_": Instance("predict_values", "gain_by_feature"),
    "start_": Array("f", "k"),
    "n_iter_": Integer(1),
    "categories_": Instance("encode", "mask"),
    "train_score_": Array("f", "*"),
    "validation_score_": Array("f", "*"),
    "n_features_in_": Size("d"),
    "feature_names_in_": Optional(Strings("d")),
    "fingerprint_": Optional(Instance("merge", "overlap")),
}


def fits_together(model: Any) -> str | None:
    """Say what is wrong with the parts of a loaded model, or None."""
    if not isinstance(model.trees_, Trees) or not isinstance(model.categories_, Categories):
        return "trees and categories must be what their names say"
    try:
        loss = model._loss()
    except (ValueError, TypeError, AttributeError):
        return "the loss does not fit the model"
    if model.trees_.n_features != model.n_features_in_:
        return "the trees are for another number of features"
    if len(model.start_) != loss.n_outputs:
        return "the start does not fit the loss"
    if model.trees_.value.shape[1] * loss.n_trees != loss.n_outputs:
        return "the values of leaves do not fit the loss"
    if len(model.trees_) != loss.n_trees * model.n_iter_:
        return "the number of trees does not fit the number of iterations"
    columns = model.categories_.columns
    if len(columns) and columns.max() >= model.n_features_in_:
        return "a categorical column does not exist"
    return None


class GradientBoosting(BaseEstimator, ABC):
    """Abstract gradient boosting on histograms; subclasses choose losses and read targets."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "l2_regularization": [Interval(Real, 0, None, closed="left")],
        "max_features": [Interval(Real, 0, 1, closed="right")],
        "max_bins": [Interval(Integral, 2, 255, closed="both")],
        "subsample": [Interval(Real, 0, 1, closed="right")],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "monotonic_cst": ["array-like", dict, None],
        "early_stopping": [StrOptions({"auto"}), "boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither"), None],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    @abstractmethod
    def _loss(self) -> BoostingLoss:
        """Return the loss of a fitted model."""

    def _training_loss(self, y: np.ndarray) -> BoostingLoss:
        """Return the loss to fit."""
        return self._loss()

    @abstractmethod
    def _targets(
        self, y: np.ndarray, weight: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Return targets and weights as the loss wants them."""

    def _known_targets(self, y: np.ndarray) -> np.ndarray:
        """Return targets of other rows as the loss wants them."""
        return np.asarray(y, dtype=np.float64)

    _labels: ClassVar[bool]

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to arrays or data frames in memory.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Inputs; NaN is a missing value. See ``categorical_features`` for columns of text.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Non-negative weights of rows in the loss and in the bins.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        categories = Categories.learn(X, self.categorical_features)
        X, y, weight = check_training_data(
            self,
            categories.encode(X),
            y,
            sample_weight=sample_weight,
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan",
            y_numeric=not self._labels,
        )
        self.categories_ = categories
        if weight is not None and not (weight > 0).all():
            kept = weight > 0  # rows without weight would still count in bins and leaves
            X, y, weight = X[kept], y[kept], weight[kept]
        bins = find_bins(
            X,
            sample_weight=weight,
            max_bins=self.max_bins,
            categorical=categories.mask(X.shape[1]),
            n_jobs=self.n_jobs,
        )
        self._boost(bins.transform(X, n_jobs=self.n_jobs), y, weight, bins, self._in_memory())
        return self

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
        masks: list[np.ndarray] = []

        def categorical(n_features: int, names: list[str] | None) -> np.ndarray:
            masks.append(self._source_mask(n_features, names))
            return masks[0]

        threads = self.n_jobs if n_jobs is None else n_jobs
        source, bins, n_rows = read_bins(
            self,
            data,
            categorical=categorical,
            max_bins=self.max_bins,
            labels=self._labels,
            target=target,
            columns=columns,
            sample_weight=sample_weight,
            n_jobs=threads,
        )
        places = np.flatnonzero(masks[0]).astype(np.int64)
        values = [np.arange(float(bins.n_bins[j])) for j in places]
        self.categories_ = Categories(places, values)
        n_bytes = n_rows * source.n_features
        if n_bytes <= memory_budget:
            rows = source.reduce(BinnedRows(bins), threads).join()
            self._boost(*rows, bins, self._in_memory(threads))
            return self
        with open_blocks(
            source, bins, n_bytes=n_bytes, directory=scratch_directory, n_jobs=threads
        ) as rows:
            self._boost(*rows, bins, boost_blocks)
        return self

    def _source_mask(self, n_features: int, names: list[str] | None) -> np.ndarray:
        wanted = self.categorical_features
        if wanted is None or isinstance(wanted, str):
            return np.zeros(n_features, dtype=bool)

        class Columns:  # what Categories needs to know of a table
            shape = (0, n_features)

        if names is not None:
            Columns.columns = names  # type: ignore[attr-defined]
        from corollary.tree.categories import positions

        mask = np.zeros(n_features, dtype=bool)
        mask[positions(Columns, wanted)] = True
        return mask

    def _boost(
        self,
        rows: Any,
        y: np.ndarray,
        weight: np.ndarray | None,
        bins: Bins,
        boost_rows: Callable[..., Boosted],
    ) -> None:
        if len(y) == 0:
            raise ValueError(
                f"{type(self).__name__} needs a row of positive weight. Got sample weights that "
                "are all 0."
            )
        y, weight = self._targets(y, weight)
        loss = self._training_loss(y)
        random = check_random_state(self.random_state)
        rng = np.random.default_rng(random.randint(2**31 - 1))
        stops = len(y) > 10_000 if self.early_stopping == "auto" else bool(self.early_stopping)
        held_out = self._held_out(y, random) if stops and self.validation_fraction else None
        settings = Boosting(
            n_estimators=self.n_estimators,
            learning_rate=self.learning_rate,
            subsample=self.subsample,
            growth=Growth(
                self.max_leaf_nodes,
                self.max_depth,
                self.min_samples_leaf,
                float(self.l2_regularization),
                float(self.max_features),
            ),
            n_iter_no_change=self.n_iter_no_change,
            tol=self.tol,
            stops=stops,
        )
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
        )
        self.trees_, self.start_, self.n_iter_ = boosted.trees, boosted.start, boosted.n_iter
        self.train_score_ = boosted.train_score
        self.validation_score_ = boosted.validation_score

    def _in_memory(self, n_jobs: int | None = None) -> Callable[..., Boosted]:
        return partial(boost, n_jobs=self.n_jobs if n_jobs is None else n_jobs)

    def _held_out(self, y: np.ndarray, random: np.random.RandomState) -> np.ndarray:
        from sklearn.model_selection import train_test_split

        name = type(self).__name__
        if len(y) < 2:
            raise ValueError(
                f"{name} cannot hold out rows for early stopping: there is one row. Set "
                "early_stopping=False."
            )
        stratify = y if self._labels and np.bincount(y.astype(np.int64)).min() > 1 else None
        share = float(self.validation_fraction)
        size = min(len(y) - 1, max(1, round(share * len(y))))
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

    def _numbers(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = self.categories_.encode(X)
        return np.asarray(
            check_new_data(self, X, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
        )

    def _raw(self, X: Any) -> np.ndarray:
        rows = self._numbers(X)
        return self.trees_.predict_values(
            rows, groups=self._loss().n_trees, start=self.start_, n_jobs=self.n_jobs
        )

    def _staged_raw(self, X: Any) -> Iterator[np.ndarray]:
        rows = self._numbers(X)
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
        losses += [loss.mean(targets, raw, weight) for raw in self._staged_raw(X)]
        return np.array(losses)

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
            self._numbers(X),
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
