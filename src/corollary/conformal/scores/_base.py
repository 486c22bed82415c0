"""What a conformity score is: how badly a target fits, and which targets fit well enough.

A score is a frozen object. Before ``fit`` its models are templates or None; ``fit`` returns the
score with fitted models, which the wrapper keeps. A wrapper asks it for the scores of calibration
rows and, given thresholds, for the regions of new rows.
"""

from abc import ABC, abstractmethod
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite

from corollary.conformal._checks import (
    check_one_target,
    check_real_targets,
    count_rows,
    held_labels,
    is_text,
    places_of_labels,
    warn_of_no_predictions,
)
from corollary.conformal._fitting import Rows, Training
from corollary.conformal._intervals import distance_outside, widen
from corollary.conformal.scores.functions import reach
from corollary.conformal.scores.probabilities import class_probabilities


class ConformityScore(ABC):
    """How badly a target fits what models say of its row."""

    #: What is predicted where calibration rows are too few, for warnings.
    fallback: ClassVar[str]
    #: Whether scores take a uniform random number for each row.
    randomised: bool = False

    def models(self) -> dict[str, Any]:
        """Return the models of the score, besides the one that the wrapper has, by their role."""
        return {}

    def fit(self, estimator: Any, training: Training) -> tuple[Any, Self]:
        """Return the wrapper's model, fitted, and this score with its models fitted."""
        return training.fit(estimator), self

    def check_models(self, rows: Rows) -> None:
        """Raise if fitted models do not say what the score needs."""
        return None

    def problem(self, estimator: Any) -> str | None:
        """Say why models that were loaded do not say what the score needs, or None."""
        return None

    @abstractmethod
    def check_targets(self, y: Any, *, finite: bool = True) -> np.ndarray:
        """Return targets as an array, or say what is wrong with them."""

    def point(self, rows: Rows) -> np.ndarray:
        """Predict one target for each row."""
        return rows.estimator.predict(rows.X)

    @abstractmethod
    def scores(self, rows: Rows, y: np.ndarray, uniform: np.ndarray | None) -> np.ndarray:
        """Return how badly each target fits."""

    @abstractmethod
    def regions(self, rows: Rows, thresholds: np.ndarray, uniform: np.ndarray | None) -> np.ndarray:
        """Return the targets whose score is at most the threshold of their row."""

    @abstractmethod
    def outside(self, rows: Rows, regions: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Say which targets lie outside their region."""


class Band(NamedTuple):
    """What models say of rows before calibration: two ends, and the unit of distances from them."""

    lower: np.ndarray
    upper: np.ndarray
    unit: np.ndarray | None = None


class IntervalScore(ConformityScore):
    """A distance from a band; a subclass fits the models of its band and asks them."""

    fallback: ClassVar[str] = "intervals are infinite"

    def problem(self, estimator: Any) -> str | None:
        """Say why a model that was loaded cannot give the band, or None."""
        if any(is_classifier(model) for model in [estimator, *self.models().values()]):
            return "its models are not regressors"
        return None

    def check_targets(self, y: Any, *, finite: bool = True) -> np.ndarray:
        """Return targets as real numbers."""
        return check_real_targets(y, finite=finite)

    @abstractmethod
    def band(self, rows: Rows) -> Band:
        """Ask the fitted models."""

    def scores(self, rows: Rows, y: np.ndarray, uniform: np.ndarray | None) -> np.ndarray:
        """Return how badly each target fits."""
        lower, upper, unit = self.band(rows)
        distance = distance_outside(y, lower, upper)
        return distance if unit is None else distance / unit

    def regions(self, rows: Rows, thresholds: np.ndarray, uniform: np.ndarray | None) -> np.ndarray:
        """Return the interval of targets whose score is at most the threshold of their row."""
        lower, upper, unit = self.band(rows)
        return widen(rows.who, lower, upper, reach(thresholds[:, 0], unit))

    def outside(self, rows: Rows, intervals: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Say which targets lie outside their interval."""
        return ~((intervals[:, 0] <= y) & (y <= intervals[:, 1]))


class SetScore(ConformityScore):
    """A score of every class from the probabilities of all."""

    fallback: ClassVar[str] = "sets hold every class"

    def check_models(self, rows: Rows) -> None:
        """Raise if the fitted model does not tell its labels."""
        if not hasattr(rows.estimator, "classes_"):
            raise TypeError(
                f"{rows.who} needs a classifier that tells its labels in 'classes_'. "
                f"{type(rows.estimator).__name__} has none; for a regressor, use "
                "SplitConformalRegressor."
            )

    def problem(self, estimator: Any) -> str | None:
        """Say why a model that was loaded gives no probabilities, or None."""
        if not hasattr(estimator, "predict_proba") and not hasattr(estimator, "decision_function"):
            return "its model is not a classifier"
        return None

    def check_targets(self, y: Any, *, finite: bool = True) -> np.ndarray:
        """Return labels as an array, or say what is wrong with them."""
        y = check_one_target(y)
        if y.dtype.kind == "f":
            assert_all_finite(y, input_name="y")
        if y.dtype.kind == "O":
            kinds = sorted({type(label).__name__ for label in y if not isinstance(label, str)})
            text = len(y) and not kinds
            if not text and not all(isinstance(v, Real) and v == v for v in y):
                raise ValueError(
                    "Sets of classes need labels of one kind, none of them missing. Got labels of "
                    f"type {', '.join(kinds)} in y."
                )
        if y.dtype.kind not in "iubUS":  # whole numbers and text are labels without a look
            check_classification_targets(y)
        return y

    def scores(self, rows: Rows, y: np.ndarray, uniform: np.ndarray | None) -> np.ndarray:
        """Return how badly each label fits; infinitely, if the model does not know it."""
        probabilities, classes = _probabilities(rows), np.asarray(rows.estimator.classes_)
        columns, known = places_of_labels(y, classes)
        # A few rows may all be of a class that training had not; many are a slip of encoding.
        if not known.any() and (len(y) >= 10 or is_text(y) != is_text(classes)):
            names = ", ".join(map(repr, classes[:5].tolist()))
            raise ValueError(
                f"None of the labels is a class of {type(rows.estimator).__name__} ({names}"
                f"{', ...' if len(classes) > 5 else ''}). Got {y[0]!r} of type {y.dtype}; encode y "
                "as in training."
            )
        scores = self.label_scores(probabilities, columns, uniform)
        scores[~known] = np.inf
        return scores

    def regions(self, rows: Rows, thresholds: np.ndarray, uniform: np.ndarray | None) -> np.ndarray:
        """Return the sets of classes whose score is at most their threshold."""
        probabilities = _probabilities(rows)
        sets = self.sets(probabilities, thresholds, uniform)
        # A row that the model says nothing of may have any label.
        if np.isnan(probabilities.sum()):
            unknown = np.isnan(probabilities).any(axis=1)
            sets[unknown] = True
            warn_of_no_predictions(rows.who, int(unknown.sum()), self.fallback)
        return sets

    def outside(self, rows: Rows, sets: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Say which labels their sets do not hold."""
        return ~held_labels(y, sets, np.asarray(rows.estimator.classes_), who=rows.who)

    @abstractmethod
    def label_scores(
        self, probabilities: np.ndarray, columns: np.ndarray, uniform: np.ndarray | None
    ) -> np.ndarray:
        """Return the score of one class of each row."""

    @abstractmethod
    def sets(
        self, probabilities: np.ndarray, thresholds: np.ndarray, uniform: np.ndarray | None
    ) -> np.ndarray:
        """Return which classes have a score that is at most their threshold."""


def _probabilities(rows: Rows) -> np.ndarray:
    """Return a probability for each row and class, or say that there is none."""
    probabilities = class_probabilities(rows.estimator, rows.X)
    expected = (count_rows(rows.X), len(rows.estimator.classes_))
    if probabilities.shape != expected:
        raise ValueError(
            f"{rows.who} needs a probability for each row and class, of shape {expected}. "
            f"{type(rows.estimator).__name__} gave shape {probabilities.shape}."
        )
    return probabilities
