"""Scores of calibration rows, cell after cell, and the thresholds that new rows get from them.

A cell is a part of the partition of rows, or a class within one, that has a threshold of its own.
Memory grows with the rows predicted plus the rows kept, never with their product.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any, Literal, get_args

import numpy as np
from sklearn.utils.validation import check_is_fitted

from corollary.conformal._checks import (
    check_groups,
    check_weights,
    count_rows,
    places_of_labels,
    warn_of_missing_rows,
    warn_user,
)
from corollary.conformal._fitting import Rows
from corollary.conformal._groups import hash_labels, maximum_weights, row_weights
from corollary.conformal._order import rank_of_level, smallest_finite_size, suffices
from corollary.conformal._wrapper import ConformalWrapper
from corollary.conformal.scores._base import ConformityScore
from corollary.conformal.split._cells import Cells
from corollary.conformal.split._partition import groups_of
from corollary.conformal.split.calibration import CalibrationCell
from corollary.conformal.split.partitions import Bands, Groups
from corollary.core.estimator import RandomSeed, fitted
from corollary.core.schema import Array, Instance, Integer, Labels, Number, Optional, Text

#: What calibration takes to be exchangeable with what is new.
Exchangeable = Literal["rows", "groups", "nothing"]


class CalibratedWrapper(ConformalWrapper):
    """Calibrate, and look thresholds up; a subclass says which score it uses."""

    _: KW_ONLY
    partition: Groups | Bands | Callable[[Any], Any] | None = None
    covers: Literal["row", "group"] = "row"
    likelihood_ratio: Callable[[Any], Any] | None = None
    random_state: RandomSeed = None

    conformity_score_: Any = fitted(Instance("scores", "regions"))
    scores_: np.ndarray = fitted(Array("f", "n", infinite=True))
    group_labels_: np.ndarray = fitted(Labels("g"))
    group_sizes_: np.ndarray = fitted(Array("i", "c", low=0))
    n_calibration_: int = fitted(Integer(0))
    weights_: Any = fitted(Optional(Array("f", "n", low=0)))
    thresholds_: Any = fitted(Optional(Array("f", "c", infinite=True)))
    calibrated_confidence_: float | None = fitted(Optional(Number(0, 1)))
    exchangeable_: Exchangeable = fitted(Text(get_args(Exchangeable)))
    calibration_groups_: Any = fitted(Optional(Array("u", "*")))

    set_seed_: int  # of sets from random scores, which a classifier declares

    @abstractmethod
    def _score(self) -> ConformityScore:
        """Return the score that the parameters name, its models not fitted yet."""

    def __sklearn_is_fitted__(self) -> bool:
        return "scores_" in vars(self)

    def _row_partition(self) -> Any:
        """Return the partition of rows, or None."""
        return self.partition

    def _by_class(self) -> bool:
        """Say whether each class has a threshold of its own."""
        return False

    def _n_classes(self) -> int:
        """Return the number of cells within a part of the partition."""
        return len(self.estimator_.classes_) if self._by_class() else 1

    def _rows(self, X: Any) -> Rows:
        """Put rows before the fitted model."""
        return Rows(type(self).__name__, self.estimator_, X)

    def _check_targets(self, y: Any, *, finite: bool = True) -> np.ndarray:
        return self._score().check_targets(y, finite=finite)

    def _calibrate(
        self, X: Any, y: np.ndarray, rng: np.random.RandomState, weights: Any, groups: Any
    ) -> None:
        """Keep the scores of calibration rows, cell after cell, and their thresholds."""
        weights = ratios = self._weights(X, weights)
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
        self.calibration_groups_ = None
        if groups is not None:
            self.calibration_groups_ = np.unique(hash_labels(groups))
            weights = (
                row_weights(groups, len(y), rows.who)
                if self.covers == "row"
                else maximum_weights(scores, groups, rows.who)
            )
        self.group_labels_, numbers = self._cells(rows, y)
        n_cells = len(self.group_labels_) * self._n_classes()
        cells = Cells.of(scores, weights, numbers, n_cells)
        self.scores_, self.weights_, self.group_sizes_ = cells
        self.n_calibration_ = len(self.scores_)
        self.thresholds_ = self.calibrated_confidence_ = None
        if ratios is None:
            self.calibrated_confidence_ = float(self.confidence)
            self.thresholds_ = cells.thresholds(self.calibrated_confidence_)
            self._warn_if_too_few(self.confidence)

    def _cells(self, rows: Rows, y: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return labels of the partition, and the cell of each row: -1 for none, None for one."""
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
        """Return the part of the partition that each row belongs to."""
        who = f"The 'partition' of {rows.who}"
        return check_groups(groups_of(self._row_partition(), rows), count_rows(rows.X), who=who)

    def _weights(self, X: Any, weights: Any, *, new: bool = False) -> np.ndarray | None:
        """Return the density ratio of each row, if rows have any."""
        who = type(self).__name__
        if weights is None:
            if self.likelihood_ratio is None:
                return None
            weights, who = self.likelihood_ratio(X), f"The 'likelihood_ratio' of {who}"
        return check_weights(weights, count_rows(X), who=who, infinite=new)

    def _has_ratios(self) -> bool:
        """Say whether calibration rows weigh what their density ratio says."""
        return self.weights_ is not None and self.exchangeable_ != "groups"

    def _calibration(self) -> Cells:
        """Return the calibration scores in their cells."""
        return Cells(self.scores_, self.weights_, self.group_sizes_)

    def _regions(self, X: Any, confidence: float | None = None, weights: Any = None) -> np.ndarray:
        """Predict intervals or sets."""
        self._require_fitted()
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
        ratios = self._weights(rows.X, weights, new=True)
        if (ratios is not None) != self._has_ratios():
            missing = "predictions" if ratios is None else "calibration rows"
            raise ValueError(
                f"{rows.who} needs weights of calibration rows and of new rows, or of "
                f"neither. The {missing} have none; set 'likelihood_ratio', or pass weights to "
                "both calibrate and the prediction."
            )
        cells, n_classes = self._calibration(), self._n_classes()
        if ratios is not None:
            table = cells.weighted_thresholds(self._places(rows), n_classes, ratios, confidence)
            if beyond := int(np.isinf(table).any(axis=1).sum()):
                warn_user(
                    f"{beyond} of {len(table)} rows weigh so much that the calibration rows say "
                    f"too little about them: {self.conformity_score_.fallback} for them."
                )
            return table
        table = self.thresholds_
        if self.calibrated_confidence_ != confidence or table is None:
            table = cells.thresholds(confidence)
        table = table.reshape(-1, n_classes)
        if self._row_partition() is None:
            return table
        # The last row of the table serves parts without calibration rows.
        return np.vstack([table, np.full((1, n_classes), np.inf)])[self._places(rows)]

    def _places(self, rows: Rows) -> np.ndarray:
        """Return the number of each row's part; one past the last if it is unknown."""
        if self._row_partition() is None:
            return np.zeros(count_rows(rows.X), dtype=np.intp)
        groups = self._groups(rows)
        place = np.searchsorted(self.group_labels_, groups)
        place = np.minimum(place, len(self.group_labels_) - 1)
        unknown = self.group_labels_[place] != groups
        if count := int(unknown.sum()):
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
        self._require_fitted()
        return self.conformity_score_.point(self._rows(X))

    def calibration_cells(self) -> list[CalibrationCell]:
        """List the groups of calibration rows that have a threshold at `confidence`.

        Returns
        -------
        cells : list of CalibrationCell
            One for all rows, or one for each part of the partition and class that has a threshold
            of its own; none if rows are not taken to be exchangeable (they came in groups or in
            time), or if they have weights, since every new row then has its own threshold.
        """
        check_is_fitted(self)
        if self.weights_ is not None or self.exchangeable_ != "rows":
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
        """Say how many rows or groups are missing where a threshold is infinite."""
        if self._has_ratios():
            return  # what is enough depends on the weight of the new row
        counts = self._calibration().counts()
        if suffices(counts.min(), confidence):
            return
        who, fallback = type(self).__name__, self.conformity_score_.fallback
        units = "groups" if self.exchangeable_ == "groups" else "rows"
        least, needed = int(counts.min() + 1e-9), smallest_finite_size(confidence)
        if len(counts) == 1:
            warn_of_missing_rows(who, least, confidence, fallback, f"calibration {units}")
            return
        cells, fallback = "groups", f"{fallback} there"
        if self._by_class():
            cells = "classes" if self._row_partition() is None else "classes of groups"
            fallback = "sets hold every such class"
        n_lacking = int((~suffices(counts, confidence)).sum())
        warn_user(
            f"{who} has too few calibration {units} in {n_lacking} of {len(counts)} {cells}, "
            f"{least} in the smallest; confidence {confidence:g} takes at least {needed} in each. "
            f"Until they are given, {fallback}."
        )
