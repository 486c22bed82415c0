"""What the split conformal regressor and classifier share.

Rows are split once: some train the model, the others give the calibration scores, group after
group. A threshold is one order statistic of them, so that nothing is sorted, and memory grows with
the rows predicted plus the rows kept, never with their product.
"""

import math
from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state, indexable
from sklearn.utils.validation import check_is_fitted

from corollary.conformal.calibration import CalibrationCell
from corollary.conformal.checks import count_rows, warn_of_missing_rows, warn_user
from corollary.conformal.fitting import check_training_weights, fit_copy
from corollary.conformal.quantile import (
    check_groups,
    order_statistic,
    rank_of_level,
    smallest_calibration_size,
)
from corollary.conformal.weighted import check_weights, sorted_weighted_quantiles
from corollary.conformal.wrapper import BaseConformal
from corollary.core.compat import HasMethods, Interval, safe_indexing
from corollary.core.guard import refuse_training_rows
from corollary.core.schema import Array, Instance, Integer, Labels, Number, Optional

SCHEMA = {
    "estimator_": Instance("predict"),
    "scores_": Array("f", "n"),
    "group_labels_": Labels("g"),
    "group_sizes_": Array("i", "c", low=0),
    "n_calibration_": Integer(0),
    "weights_": Optional(Array("f", "n", low=0)),
    "thresholds_": Optional(Array("f", "c")),
    "calibrated_confidence_": Optional(Number(0, 1)),
}


def fits_together(estimator: Any) -> str | None:
    """Say what is wrong with the calibration of a loaded estimator, or None."""
    if not hasattr(estimator, "scores_"):
        return None
    labels, sizes = estimator.group_labels_, estimator.group_sizes_
    if sizes.sum() != len(estimator.scores_) or len(estimator.scores_) != estimator.n_calibration_:
        return "its group sizes do not add up to its scores"
    if len(sizes) != len(labels) * estimator._n_cells():
        return "its groups do not fit its labels"
    # A file holds no function that could name groups, so there is one group, numbered 0.
    if estimator.partition is None and labels.tolist() != [0]:
        return "it has groups, but no partition into them"
    if np.isnan(estimator.scores_).any():
        return "a score is not a number"
    weights = getattr(estimator, "weights_", None)
    if weights is not None and not np.isfinite(weights).all():
        return "a weight is not a number"
    if weights is not None:
        for part in np.split(estimator.scores_, np.cumsum(sizes)[:-1]):
            if np.any(part[1:] < part[:-1]):
                return "its scores are not sorted"
        return None
    level = getattr(estimator, "calibrated_confidence_", None)
    known = getattr(estimator, "thresholds_", None)
    if (level is None) != (known is None) or level in (0, 1):
        return "its thresholds have no level"
    if level is not None and known is not None:
        right = cell_thresholds(estimator.scores_, sizes, level)
        if not np.array_equal(known, right):
            return "its thresholds are not those of its scores"
    return None


def cell_thresholds(scores: np.ndarray, sizes: np.ndarray, confidence: float) -> np.ndarray:
    """Return the conformal threshold of each of several groups of scores."""
    thresholds = np.full(len(sizes), np.inf)
    end = 0
    for cell, size in enumerate(sizes.tolist()):
        start, end = end, end + size
        rank = rank_of_level(size, confidence)
        if rank <= size:
            thresholds[cell] = order_statistic(scores[start:end], rank)
    return thresholds


class BaseSplitConformal(BaseConformal):
    """Fit, calibrate, and look thresholds up.

    A subclass computes scores from rows and targets (`_scores`), numbers the cells that have
    thresholds of their own besides the groups (`_cells`, -1 for rows that count in none, and
    `_n_cells`), names its models (`_parts`), and fits them (`_fit_models`).
    """

    _parameter_constraints: dict = {
        "estimator": [HasMethods(["fit", "predict"])],
        "confidence": [Interval(Real, 0, 1, closed="neither")],
        "prefit": ["boolean"],
        "calibration_size": [
            Interval(Real, 0, 1, closed="neither"),
            Interval(Integral, 1, None, closed="left"),
        ],
        "partition": [callable, None],
        "likelihood_ratio": [callable, None],
        "random_state": ["random_state"],
    }

    prefit: bool
    calibration_size: float | int
    partition: Callable[[Any], Any] | None
    likelihood_ratio: Callable[[Any], Any] | None
    random_state: Any
    weights_: Any
    thresholds_: Any

    # What too few calibration rows lead to, for warnings.
    _fallback: str

    @abstractmethod
    def _fit_models(
        self, X: Any, y: np.ndarray, rng: np.random.RandomState, sample_weight: np.ndarray | None
    ) -> None: ...

    def _parts(self) -> tuple[str, ...]:
        """Return the names of the parameters that are models, some of which may be None."""
        return ("estimator",)

    def _adopt_models(self) -> None:
        """Check what the fitted parts are good for, and take from them what is needed."""

    @abstractmethod
    def _scores(self, X: Any, y: np.ndarray, rng: np.random.RandomState) -> np.ndarray: ...

    def __sklearn_is_fitted__(self) -> bool:
        return "scores_" in self.__dict__

    def _n_cells(self) -> int:
        return 1

    def _cells(self, y: np.ndarray) -> np.ndarray:
        return np.zeros(len(y), dtype=np.intp)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on some rows and calibrate on the others.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows, passed to the models as they come.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of rows in the fits of all models. Calibration counts every row once, or by
            `likelihood_ratio`: a weight that makes a model better says nothing of how often a
            new row resembles this one.

        Returns
        -------
        self : estimator
            The fitted estimator.

        Raises
        ------
        ValueError
            If a model takes no weights, or `prefit` leaves none to be trained; or if a fitted
            model remembers having been trained on some of the rows.
        """
        self._check_parameters()
        y = self._check_pair(X, y, finite=not self.prefit)
        weight = check_training_weights(sample_weight, y)
        if self.prefit:
            if weight is not None:
                raise ValueError(
                    f"{type(self).__name__} with prefit=True trains no model, so that "
                    "sample_weight would have no effect. Give it to the fit of the model; for "
                    "covariate shift, pass weights to calibrate and to the prediction."
                )
            return self._adopt_and_calibrate(X, y)
        rng = check_random_state(self.random_state)
        train, rest = self._split(len(y), rng)
        (X,) = indexable(X)  # sparse formats without rows, and objects that only become arrays
        self._fit_models(
            safe_indexing(X, train), y[train], rng, None if weight is None else weight[train]
        )
        self._calibrate(safe_indexing(X, rest), y[rest], rng)
        return self

    def _split(self, n: int, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of the rows that train and of those that calibrate."""
        size = self.calibration_size
        n_rest = int(size) if isinstance(size, Integral) else math.ceil(size * n)
        if n_rest >= n:
            raise ValueError(
                f"{type(self).__name__} needs rows to train and rows to calibrate. Got "
                f"n_samples={n} and calibration_size={size!r}; give more rows or another share."
            )
        order = rng.permutation(n)
        return order[n_rest:], order[:n_rest]

    def _fit_one(self, model: Any, X: Any, y: np.ndarray, weight: np.ndarray | None) -> Any:
        return fit_copy(type(self).__name__, model, X, y, weight)

    def calibrate(self, X: Any, y: Any, *, weights: Any = None) -> Self:
        """Calibrate on rows that the model was not trained on, in place of earlier ones.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Calibration rows, passed to the model as they come.
        y : array-like of shape (n_samples,)
            Their targets.
        weights : array-like of shape (n_samples,) or None, default=None
            Density ratio of new rows to these, in place of `likelihood_ratio`; predictions then
            need weights too.

        Returns
        -------
        self : estimator
            The same object.

        Raises
        ------
        ValueError
            If the model remembers having been trained on some of the rows.
        """
        self._check_parameters()
        y = self._check_pair(X, y, finite=False)
        if self.prefit:
            return self._adopt_and_calibrate(X, y, weights)
        self._require_calibrated()
        for name in self._parts():
            self._refuse_training_rows(getattr(self, f"{name}_"), X)
        self._calibrate(X, y, check_random_state(self.random_state), weights)
        return self

    def _adopt_and_calibrate(self, X: Any, y: np.ndarray, weights: Any = None) -> Self:
        given = {name: getattr(self, name) for name in self._parts()}
        for model in given.values():
            self._require_fitted(model)
            self._refuse_training_rows(model, X)
        for name, model in given.items():
            setattr(self, f"{name}_", model)
        self._adopt_models()
        self._calibrate(X, y, check_random_state(self.random_state), weights)
        return self

    def _require_fitted(self, model: Any) -> None:
        if model is None or (
            not hasattr(model, "__sklearn_is_fitted__")
            and any(name.endswith("_") and name[:2] != "__" for name in vars(model))
        ):
            return  # what scikit-learn would find after a look at the tags
        try:
            check_is_fitted(model)
        except NotFittedError:
            raise NotFittedError(
                f"{type(self).__name__} with prefit=True needs fitted models, and this "
                f"{type(model).__name__} is not fitted yet. Fit it first, or pass prefit=False."
            ) from None

    def _refuse_training_rows(self, model: Any, X: Any) -> None:
        # A part may have seen rows that the others have not.
        refuse_training_rows(
            model,
            X,
            who=f"Calibrating {type(self).__name__}",
            repair="Scores of training rows are too small: calibrate on rows kept aside.",
        )

    def _calibrate(
        self, X: Any, y: np.ndarray, rng: np.random.RandomState, weights: Any = None
    ) -> None:
        weights = self._weights(X, weights)
        scores = self._scores(X, y, rng)
        worst = scores.max(initial=-np.inf)
        if not np.isfinite(worst):
            self._check_targets(y)  # the fault of a target, if one is not finite
        if np.isnan(worst):
            missing = int(np.count_nonzero(np.isnan(scores)))
            raise ValueError(
                f"{type(self).__name__} got {missing} scores that are not numbers. The model's "
                "predictions must not be NaN."
            )
        n_cells = self._n_cells()
        if self.partition is None and n_cells == 1:
            self.group_labels_ = np.zeros(1, dtype=np.intp)
            self.group_sizes_ = np.array([len(scores)])
            order = None if weights is None else np.argsort(scores, kind="stable")
        else:
            cells = self._cells(y)
            self.group_labels_ = np.zeros(1, dtype=np.intp)
            if self.partition is not None:
                self.group_labels_, groups = np.unique(self._partition(X), return_inverse=True)
                cells = np.where(cells < 0, -1, groups.ravel() * n_cells + cells)
            # Rows that count in no cell come first, and are cut off.
            order = (
                np.argsort(cells, kind="stable") if weights is None else np.lexsort((scores, cells))
            )
            order = order[int((cells < 0).sum()) :]
            self.group_sizes_ = np.bincount(
                cells[order], minlength=len(self.group_labels_) * n_cells
            )
        self.scores_ = scores if order is None else scores[order]
        self.weights_ = None if weights is None else weights[order]
        self.n_calibration_ = len(self.scores_)
        self.thresholds_ = self.calibrated_confidence_ = None
        if weights is None:
            level = float(self.confidence)
            self.thresholds_ = cell_thresholds(self.scores_, self.group_sizes_, level)
            self.calibrated_confidence_ = level
        self._warn_if_too_few(self.confidence)

    def calibration_cells(self) -> list[CalibrationCell]:
        """List the groups of calibration rows that have a threshold at `confidence`.

        Returns
        -------
        cells : list of CalibrationCell
            One for all rows, or one for each group and class that has a threshold of its own;
            none if rows have weights, since every new row then has its own threshold.
        """
        self._require_calibrated()
        if getattr(self, "weights_", None) is not None:
            return []
        level = self._check_confidence(None)
        thresholds = cell_thresholds(self.scores_, self.group_sizes_, level)
        parts = np.split(self.scores_, np.cumsum(self.group_sizes_)[:-1])
        return [
            CalibrationCell(
                rows=self._words_of_cell(cell),
                n_calibration=len(scores),
                rank=rank_of_level(len(scores), level),
                beyond=int(np.count_nonzero(scores > threshold)),
                finite=bool(np.isfinite(threshold)),
                n_needed=smallest_calibration_size(level),
            )
            for cell, (scores, threshold) in enumerate(zip(parts, thresholds))
        ]

    def _words_of_cell(self, cell: int) -> str:
        if self.partition is None:
            return ""
        return f"of group {self.group_labels_.tolist()[cell // self._n_cells()]!r}"

    def calibrated_on(self, X: Any, y: Any) -> bool:
        """Tell whether rows are those that calibrated, by their scores.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows, passed to the models as they come.
        y : array-like of shape (n_samples,)
            Their targets.

        Returns
        -------
        same : bool
            True if there are as many rows as calibration rows, and their scores are the same
            numbers, ten different ones at least; random scores cannot be told apart.
        """
        self._require_calibrated()
        if count_rows(X) != self.n_calibration_ or getattr(self, "randomised", False):
            return False
        known = np.sort(self.scores_)
        if np.count_nonzero(np.diff(known) > 0) < 9:
            return False
        # A copy: to compute scores may leave something behind, such as a seed.
        scores = copy(self)._scores(X, self._check_pair(X, y), np.random.RandomState(0))
        return bool(np.array_equal(np.sort(scores), known))

    def _weights(self, X: Any, weights: Any, *, new: bool = False) -> np.ndarray | None:
        who = type(self).__name__
        if weights is None and self.likelihood_ratio is None:
            return None
        n = count_rows(X)
        if weights is not None:
            return check_weights(weights, n, who=who, infinite=new)
        assert self.likelihood_ratio is not None
        who = f"The 'likelihood_ratio' of {who}"
        return check_weights(self.likelihood_ratio(X), n, who=who, infinite=new)

    def _partition(self, X: Any) -> np.ndarray:
        assert self.partition is not None
        who = f"The 'partition' of {type(self).__name__}"
        return check_groups(self.partition(X), count_rows(X), who=who)

    def _level(self, confidence: float | None) -> float:
        level = self._check_confidence(confidence)
        if level != getattr(self, "calibrated_confidence_", None):
            self._warn_if_too_few(level)
        return level

    def _thresholds(self, X: Any, confidence: float, weights: Any = None) -> np.ndarray:
        """Return the threshold of every row and cell, shape (n_samples, n_cells).

        If all rows have the same, the shape is (1, n_cells).
        """
        new_weights = self._weights(X, weights, new=True)
        if (new_weights is None) != (getattr(self, "weights_", None) is None):
            missing = "predictions" if new_weights is None else "calibration rows"
            raise ValueError(
                f"{type(self).__name__} needs weights of calibration rows and of new rows, or of "
                f"neither. The {missing} have none; set 'likelihood_ratio', or pass weights to "
                "both calibrate and the prediction."
            )
        if new_weights is not None:
            return self._weighted_thresholds(self._places(X), new_weights, confidence)
        table = getattr(self, "thresholds_", None)
        if table is None or self.calibrated_confidence_ != confidence:
            table = cell_thresholds(self.scores_, self.group_sizes_, confidence)
        table = table.reshape(-1, self._n_cells())
        if self.partition is None:
            return table
        # The last row of the table serves groups without calibration rows.
        return np.vstack([table, np.full((1, table.shape[1]), np.inf)])[self._places(X)]

    def _weighted_thresholds(
        self, place: np.ndarray, new_weights: np.ndarray, confidence: float
    ) -> np.ndarray:
        n_cells = self._n_cells()
        thresholds = np.full((len(place), n_cells), np.inf)
        weights: np.ndarray = self.weights_
        ends = np.cumsum(self.group_sizes_)
        for cell, (end, size) in enumerate(zip(ends, self.group_sizes_)):
            rows, part = np.flatnonzero(place == cell // n_cells), slice(end - size, end)
            thresholds[rows, cell % n_cells] = sorted_weighted_quantiles(
                self.scores_[part], weights[part], new_weights[rows], confidence
            )
        beyond = int(np.isinf(thresholds).any(axis=1).sum())
        if beyond:
            warn_user(
                f"{beyond} of {len(place)} rows weigh so much that the calibration rows say too "
                f"little about them: {self._fallback} for them."
            )
        return thresholds

    def _places(self, X: Any) -> np.ndarray:
        """Return the number of each row's group; one past the last if it is unknown."""
        if self.partition is None:
            return np.zeros(count_rows(X), dtype=np.intp)
        groups = self._partition(X)
        place = np.searchsorted(self.group_labels_, groups)
        place = np.minimum(place, len(self.group_labels_) - 1)
        unknown = self.group_labels_[place] != groups
        if unknown.any():
            count = int(unknown.sum())
            warn_user(
                f"{count} {'row belongs' if count == 1 else 'rows belong'} to groups without "
                f"calibration rows (such as {groups[unknown].tolist()[0]!r}): {self._fallback} for "
                f"{'it' if count == 1 else 'them'}."
            )
        return np.where(unknown, len(self.group_labels_), place)

    def _warn_if_too_few(self, confidence: float) -> None:
        if getattr(self, "weights_", None) is not None:
            return  # what is enough depends on the weight of the new row
        least = min(self.group_sizes_.tolist())
        if rank_of_level(least, confidence) <= least:
            return
        needed = smallest_calibration_size(confidence)
        if len(self.group_sizes_) == 1:
            warn_of_missing_rows(self, least, confidence, self._fallback, "calibration rows")
            return
        short = int((self.group_sizes_ < needed).sum())
        what, fallback = self._cell_words()
        warn_user(
            f"{type(self).__name__} has too few calibration rows in {short} of "
            f"{len(self.group_sizes_)} {what}, {least} in the smallest; confidence {confidence:g} "
            f"takes at least {needed} in each. Until they are given, {fallback}."
        )

    def _cell_words(self) -> tuple[str, str]:
        """Return what cells are, and what happens where one has too few rows."""
        return "groups", f"{self._fallback} there"
