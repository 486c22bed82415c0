"""What the split conformal wrappers share: rows kept aside, their scores, and thresholds.

Rows are split once: some train the models, the others give the calibration scores, cell after cell.
A cell is a group of rows, or a class within a group, that has a threshold of its own. Memory grows
with the rows predicted plus the rows kept, never with their product.
"""

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state, indexable
from sklearn.utils.validation import check_is_fitted

from corollary.conformal._checks import (
    check_groups,
    check_weights,
    count_rows,
    places_of_labels,
    warn_of_missing_rows,
    warn_user,
)
from corollary.conformal._fitting import Rows, check_training_weights
from corollary.conformal._order import rank_of_level, smallest_finite_size
from corollary.conformal._wrapper import ConformalWrapper
from corollary.conformal.scores._base import ConformityScore
from corollary.conformal.split._cells import Cells
from corollary.conformal.split._files import calibration_problem
from corollary.conformal.split._partition import groups_of
from corollary.conformal.split.calibration import CalibrationCell
from corollary.conformal.split.partitions import Bands, Groups
from corollary.core.compat import fit_context, safe_indexing
from corollary.core.estimator import Count, Probability, RandomSeed, fitted
from corollary.core.guard import refuse_training_rows
from corollary.core.schema import Array, Instance, Integer, Labels, Number, Optional


class SplitConformal(ConformalWrapper):
    """Fit, calibrate, and look thresholds up; a subclass says which score it uses."""

    _: KW_ONLY
    prefit: bool = False
    calibration_size: Probability | Count = 0.25
    partition: Groups | Bands | Callable[[Any], Any] | None = None
    likelihood_ratio: Callable[[Any], Any] | None = None
    random_state: RandomSeed = None

    conformity_score_: Any = fitted(Instance("scores", "regions"))
    scores_: np.ndarray = fitted(Array("f", "n"))
    group_labels_: np.ndarray = fitted(Labels("g"))
    group_sizes_: np.ndarray = fitted(Array("i", "c", low=0))
    n_calibration_: int = fitted(Integer(0))
    weights_: Any = fitted(Optional(Array("f", "n", low=0)))
    thresholds_: Any = fitted(Optional(Array("f", "c")))
    calibrated_confidence_: float | None = fitted(Optional(Number(0, 1)))

    set_seed_: int  # of sets from random scores, which a classifier declares

    @abstractmethod
    def _score(self) -> ConformityScore:
        """Return the score that the parameters name, its models not fitted yet."""

    def __sklearn_is_fitted__(self) -> bool:
        return "scores_" in vars(self)

    def _inner(self) -> dict[str, Any]:
        return {"estimator": self.estimator} | self._score().models()

    def _row_partition(self) -> Any:
        """Return the partition of rows into groups, or None."""
        return self.partition

    def _by_class(self) -> bool:
        """Say whether each class has a threshold of its own."""
        return False

    def _n_classes(self) -> int:
        """Return the number of cells within a group."""
        return len(self.estimator_.classes_) if self._by_class() else 1

    def _rows(self, X: Any) -> Rows:
        """Put rows before the fitted model."""
        return Rows(type(self).__name__, self.estimator_, X)

    def _check_targets(self, y: Any, *, finite: bool = True) -> np.ndarray:
        return self._score().check_targets(y, finite=finite)

    @fit_context(prefer_skip_nested_validation=False)
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
        train, kept = self._split(len(y), rng)
        (X,) = indexable(X)  # sparse formats without rows, and objects that only become arrays
        training = self._training(X, y, weight, rng).of(train)
        self.estimator_, self.conformity_score_ = self._score().fit(self.estimator, training)
        self.conformity_score_.check_models(self._rows(X))
        self._calibrate(safe_indexing(X, kept), y[kept], rng)
        return self

    def _split(self, n: int, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of the rows that train and of those that calibrate."""
        size = self.calibration_size
        n_kept = int(size) if isinstance(size, Integral) else math.ceil(size * n)
        if n_kept >= n:
            raise ValueError(
                f"{type(self).__name__} needs rows to train and rows to calibrate. Got "
                f"n_samples={n} and calibration_size={size!r}; give more rows or another share."
            )
        order = rng.permutation(n)
        return order[n_kept:], order[:n_kept]

    @fit_context(prefer_skip_nested_validation=False)
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
        y = self._check_pair(X, y, finite=False)
        if self.prefit:
            return self._adopt_and_calibrate(X, y, weights)
        check_is_fitted(self)
        for model in [self.estimator_, *self.conformity_score_.models().values()]:
            self._refuse_training_rows(model, X)
        self._calibrate(X, y, check_random_state(self.random_state), weights)
        return self

    def _adopt_and_calibrate(self, X: Any, y: np.ndarray, weights: Any = None) -> Self:
        """Calibrate models that were fitted before."""
        score = self._score()
        for model in [self.estimator, *score.models().values()]:
            self._require_fitted(model)
            self._refuse_training_rows(model, X)
        score.check_models(Rows(type(self).__name__, self.estimator, X))
        self.estimator_, self.conformity_score_ = self.estimator, score
        self._calibrate(X, y, check_random_state(self.random_state), weights)
        return self

    def _require_fitted(self, model: Any) -> None:
        """Raise if a model was said to be fitted and is not."""
        try:
            check_is_fitted(model)
        except NotFittedError:
            raise NotFittedError(
                f"{type(self).__name__} with prefit=True needs fitted models, and this "
                f"{type(model).__name__} is not fitted yet. Fit it first, or pass prefit=False."
            ) from None

    def _refuse_training_rows(self, model: Any, X: Any) -> None:
        """Raise if a model remembers having been trained on some of the rows."""
        refuse_training_rows(
            model,
            X,
            who=f"Calibrating {type(self).__name__}",
            repair="Scores of training rows are too small: calibrate on rows kept aside.",
        )

    def _calibrate(
        self, X: Any, y: np.ndarray, rng: np.random.RandomState, weights: Any = None
    ) -> None:
        """Keep the scores of calibration rows, cell after cell, and their thresholds."""
        weights = self._weights(X, weights)
        rows, score = self._rows(X), self.conformity_score_
        uniform = None
        if score.randomised:
            uniform = rng.random_sample(len(y))
            self.set_seed_ = int(rng.randint(2**31 - 1))
        scores = score.scores(rows, y, uniform)
        worst = scores.max(initial=-np.inf)
        if not np.isfinite(worst):
            self._check_targets(y)  # the fault of a target, if one is not finite
        if np.isnan(worst):
            raise ValueError(
                f"{type(self).__name__} got {int(np.isnan(scores).sum())} scores that are not "
                "numbers. The model's predictions must not be NaN."
            )
        self.group_labels_, numbers = self._cells(rows, y)
        n_cells = len(self.group_labels_) * self._n_classes()
        cells = Cells.of(scores, weights, numbers, n_cells)
        self.scores_, self.weights_, self.group_sizes_ = cells
        self.n_calibration_ = len(self.scores_)
        self.thresholds_ = self.calibrated_confidence_ = None
        if weights is None:
            self.calibrated_confidence_ = float(self.confidence)
            self.thresholds_ = cells.thresholds(self.calibrated_confidence_)
        self._warn_if_too_few(self.confidence)

    def _cells(self, rows: Rows, y: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the labels of groups, and the cell of each row: -1 for none, None for only one."""
        labels, cells = np.zeros(1, dtype=np.intp), None
        if self._row_partition() is not None:
            labels, cells = np.unique(self._groups(rows), return_inverse=True)
        if self._by_class():
            place, known = places_of_labels(y, np.asarray(self.estimator_.classes_))
            first = 0 if cells is None else cells * self._n_classes()
            # A label unknown to the model says nothing about the classes that it knows.
            cells = np.where(known, first + place, -1)
        return labels, cells

    def _groups(self, rows: Rows) -> np.ndarray:
        """Return the group of each row."""
        who = f"The 'partition' of {type(self).__name__}"
        return check_groups(groups_of(self._row_partition(), rows), count_rows(rows.X), who=who)

    def _weights(self, X: Any, weights: Any, *, new: bool = False) -> np.ndarray | None:
        """Return the weight of each row, if rows have any."""
        who = type(self).__name__
        if weights is None:
            if self.likelihood_ratio is None:
                return None
            weights, who = self.likelihood_ratio(X), f"The 'likelihood_ratio' of {who}"
        return check_weights(weights, count_rows(X), who=who, infinite=new)

    def _calibration(self) -> Cells:
        """Return the calibration scores in their cells."""
        return Cells(self.scores_, self.weights_, self.group_sizes_)

    def _regions(self, X: Any, confidence: float | None = None, weights: Any = None) -> np.ndarray:
        """Predict intervals or sets."""
        check_is_fitted(self)
        rows, score = self._rows(X), self.conformity_score_
        level = self._check_confidence(confidence)
        if level != self.calibrated_confidence_:
            self._warn_if_too_few(level)
        thresholds, uniform = self._thresholds(rows, level, weights), None
        if score.randomised:
            uniform = np.random.RandomState(self.set_seed_).random_sample(count_rows(X))
        return score.regions(rows, thresholds, uniform)

    def _thresholds(self, rows: Rows, confidence: float, weights: Any) -> np.ndarray:
        """Return thresholds of shape (n_samples, n_classes); (1, n_classes) if rows share them."""
        new_weights = self._weights(rows.X, weights, new=True)
        if (new_weights is None) != (self.weights_ is None):
            missing = "predictions" if new_weights is None else "calibration rows"
            raise ValueError(
                f"{type(self).__name__} needs weights of calibration rows and of new rows, or of "
                f"neither. The {missing} have none; set 'likelihood_ratio', or pass weights to "
                "both calibrate and the prediction."
            )
        if new_weights is not None:
            return self._weighted_thresholds(self._places(rows), new_weights, confidence)
        table = self.thresholds_
        if self.calibrated_confidence_ != confidence or table is None:
            table = self._calibration().thresholds(confidence)
        table = table.reshape(-1, self._n_classes())
        if self._row_partition() is None:
            return table
        # The last row of the table serves groups without calibration rows.
        return np.vstack([table, np.full((1, table.shape[1]), np.inf)])[self._places(rows)]

    def _weighted_thresholds(
        self, places: np.ndarray, new_weights: np.ndarray, confidence: float
    ) -> np.ndarray:
        """Return the threshold of each row, by its weight, and class."""
        thresholds = self._calibration().weighted_thresholds(
            places, self._n_classes(), new_weights, confidence
        )
        beyond = int(np.isinf(thresholds).any(axis=1).sum())
        if beyond:
            warn_user(
                f"{beyond} of {len(places)} rows weigh so much that the calibration rows say too "
                f"little about them: {self.conformity_score_.fallback} for them."
            )
        return thresholds

    def _places(self, rows: Rows) -> np.ndarray:
        """Return the number of each row's group; one past the last if it is unknown."""
        if self._row_partition() is None:
            return np.zeros(count_rows(rows.X), dtype=np.intp)
        groups = self._groups(rows)
        place = np.searchsorted(self.group_labels_, groups)
        place = np.minimum(place, len(self.group_labels_) - 1)
        unknown = self.group_labels_[place] != groups
        if unknown.any():
            count = int(unknown.sum())
            warn_user(
                f"{count} {'row belongs' if count == 1 else 'rows belong'} to groups without "
                f"calibration rows (such as {groups[unknown].tolist()[0]!r}): "
                f"{self.conformity_score_.fallback} for {'it' if count == 1 else 'them'}."
            )
        return np.where(unknown, len(self.group_labels_), place)

    def _outside(self, X: Any, y: np.ndarray) -> np.ndarray:
        return self.conformity_score_.outside(self._rows(X), self._regions(X), y)

    def predict(self, X: Any) -> np.ndarray:
        """Predict one target for each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows, passed to the models as they come.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The model's predictions; the middle between two models of quantiles, which is the
            middle of the interval at every confidence.
        """
        check_is_fitted(self)
        return self.conformity_score_.point(self._rows(X))

    def calibration_cells(self) -> list[CalibrationCell]:
        """List the groups of calibration rows that have a threshold at `confidence`.

        Returns
        -------
        cells : list of CalibrationCell
            One for all rows, or one for each group and class that has a threshold of its own;
            none if rows have weights, since every new row then has its own threshold.
        """
        check_is_fitted(self)
        if self.weights_ is not None:
            return []
        level = self._check_confidence(None)
        cells = self._calibration()
        return [
            CalibrationCell(
                rows=self._words_of_cell(number),
                n_calibration=len(scores),
                rank=rank_of_level(len(scores), level),
                beyond=int(np.count_nonzero(scores > limit)),
                finite=bool(np.isfinite(limit)),
                n_needed=smallest_finite_size(level),
            )
            for number, (scores, limit) in enumerate(
                zip(cells.split(cells.scores), cells.thresholds(level))
            )
        ]

    def _words_of_cell(self, cell: int) -> str:
        """Return what follows "such rows" in a sentence about a cell."""
        group, place = divmod(cell, self._n_classes())
        words = []
        if self._row_partition() is not None:
            words.append(f"of group {self.group_labels_.tolist()[group]!r}")
        if self._by_class():
            words.append(f"of class {np.asarray(self.estimator_.classes_).tolist()[place]!r}")
        return " and ".join(words)

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
        check_is_fitted(self)
        score = self.conformity_score_
        if count_rows(X) != self.n_calibration_ or score.randomised:
            return False
        calibration = np.sort(self.scores_)
        if np.count_nonzero(np.diff(calibration) > 0) < 9:
            return False
        scores = score.scores(self._rows(X), self._check_pair(X, y), None)
        return bool(np.array_equal(np.sort(scores), calibration))

    def _warn_if_too_few(self, confidence: float) -> None:
        """Say how many rows are missing where a threshold is infinite."""
        if self.weights_ is not None:
            return  # what is enough depends on the weight of the new row
        least, fallback = min(self.group_sizes_.tolist()), self.conformity_score_.fallback
        if rank_of_level(least, confidence) <= least:
            return
        who, needed = type(self).__name__, smallest_finite_size(confidence)
        if len(self.group_sizes_) == 1:
            warn_of_missing_rows(who, least, confidence, fallback, "calibration rows")
            return
        cells, fallback = "groups", f"{fallback} there"
        if self._by_class():
            cells = "classes" if self._row_partition() is None else "classes of groups"
            fallback = "sets hold every such class"
        warn_user(
            f"{who} has too few calibration rows in {int((self.group_sizes_ < needed).sum())} of "
            f"{len(self.group_sizes_)} {cells}, {least} in the smallest; confidence "
            f"{confidence:g} takes at least {needed} in each. Until they are given, {fallback}."
        )

    @classmethod
    def _from_former(cls, parameters: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
        """Give the state of a file written before scores were objects the score it had."""
        if not state or "conformity_score_" in state:
            return state
        score = cls(**parameters)._score()
        nothing = dict.fromkeys(("weights_", "thresholds_", "calibrated_confidence_"))
        return nothing | cls._with_score(score, dict(state))

    @classmethod
    def _with_score(cls, score: Any, state: dict[str, Any]) -> dict[str, Any]:
        """Move what belonged to a score from a former state into it."""
        return state | {"conformity_score_": score}

    def _fits_together(self) -> str | None:
        return calibration_problem(self)
