"""A fitted classifier and the maps that turn its scores into probabilities."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from corollary.core.schema import Instance, Labels, List, Schema
from corollary.ensemble._members import label_codes
from corollary.ensemble.calibrated.maps import IsotonicMap, SigmoidMap, TemperatureMap

Method = Literal["sigmoid", "isotonic", "temperature"]
#: What probabilities are raised by before their logarithm is a score.
_LEAST = 1e-12


def _fits_together(pair: "CalibratedPair") -> str | None:
    known, kinds = len(codes_of(pair.estimator, pair.classes)), {*map(type, pair.calibrators)}
    if not kinds <= {SigmoidMap, IsotonicMap, TemperatureMap} or len(kinds) != 1:
        return "its maps are not of one kind"
    wanted = 1 if known == 2 or TemperatureMap in kinds else known
    return None if len(pair.calibrators) == wanted else "its maps do not fit its classes"


@dataclass(frozen=True, eq=False)
class CalibratedPair:
    """A fitted classifier, and the maps from its scores to probabilities.

    Parameters
    ----------
    estimator : estimator
        The classifier; it may know some of the classes only.
    calibrators : list of SigmoidMap, IsotonicMap or TemperatureMap
        A map for each class that it knows, or one for two classes or for a temperature.
    classes : ndarray of shape (n_classes,)
        All classes.

    See Also
    --------
    CalibratedClassifierCV : Makes them.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import CalibratedPair, SigmoidMap
    >>> from corollary.svm import LinearSVC
    >>> machine = LinearSVC().fit([[-1.0], [1.0]], ["no", "yes"])
    >>> pair = CalibratedPair(machine, [SigmoidMap(-2.0, 0.0)], machine.classes_)
    >>> pair.predict_proba([[0.0]])
    array([[0.5, 0.5]])
    """

    estimator: Any
    calibrators: list[Any]
    classes: np.ndarray

    _schema = Schema(
        _fits_together,
        estimator=Instance("fit", "predict"),
        calibrators=List(Instance("predict"), "c"),
        classes=Labels("k"),
    )

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return calibrated probabilities.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows, as the classifier takes them.

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes``.
        """
        scores, codes = responses(self.estimator, X), codes_of(self.estimator, self.classes)
        first, k = self.calibrators[0], len(self.classes)
        if isinstance(first, TemperatureMap):
            return first.predict(as_logits(self.estimator, scores, codes, k))
        table = np.zeros((len(scores), k))
        if len(codes) == 2:
            table[:, codes[1]] = first.predict(scores[:, 0])
            table[:, codes[0]] = 1.0 - table[:, codes[1]]
            return table
        for code, column, calibrator in zip(codes, scores.T, self.calibrators):
            table[:, code] = calibrator.predict(column)
        total = table.sum(axis=1, keepdims=True)
        # Where every class was called impossible, nothing is known.
        return np.divide(table, total, out=np.full_like(table, 1.0 / k), where=total > 0)


def calibrate(
    estimator: Any,
    scores: np.ndarray,
    codes: np.ndarray,
    classes: np.ndarray,
    method: Method,
    weight: Any,
) -> CalibratedPair:
    """Learn the maps of a fitted classifier from its scores of rows that it has not seen."""
    columns = codes_of(estimator, classes)
    if method == "temperature":
        logits = as_logits(estimator, scores, columns, len(classes))
        return CalibratedPair(estimator, [TemperatureMap.learn(logits, codes, weight)], classes)
    learn = SigmoidMap.learn if method == "sigmoid" else IsotonicMap.learn
    positive = columns[1:] if len(columns) == 2 else columns
    maps = [learn(s, codes == code, weight) for s, code in zip(scores.T, positive)]
    return CalibratedPair(estimator, maps, classes)


def responses(estimator: Any, X: Any) -> np.ndarray:
    """Return decision values, or else probabilities; of two classes a column for the second."""
    if hasattr(estimator, "decision_function"):
        values = np.asarray(estimator.decision_function(X), dtype=np.float64)
        return values.reshape(len(values), -1)
    values = np.asarray(estimator.predict_proba(X), dtype=np.float64)
    return values[:, 1:] if values.shape[1] == 2 else values


def aligned_responses(estimator: Any, scores: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the scores of a fold among those of others; classes that it lacks score least."""
    codes = codes_of(estimator, classes)
    if len(codes) == len(classes):
        return scores
    scores = _both(estimator, scores)
    table = np.full((len(scores), len(classes)), scores.min(initial=0.0))
    table[:, codes] = scores
    return table


def _both(estimator: Any, scores: np.ndarray) -> np.ndarray:
    """Return the scores of two classes in two columns."""
    if scores.shape[1] > 1:
        return scores
    first = -scores if hasattr(estimator, "decision_function") else 1.0 - scores
    return np.hstack([first, scores])


def as_logits(estimator: Any, scores: np.ndarray, codes: np.ndarray, k: int) -> np.ndarray:
    """Return scores of all classes, from either kind of response; -inf for classes not known."""
    scores = _both(estimator, scores)
    if not hasattr(estimator, "decision_function"):
        scores = np.log(scores + _LEAST)
    logits = np.full((len(scores), k), -np.inf)
    logits[:, codes] = scores
    return logits


def codes_of(estimator: Any, classes: np.ndarray) -> np.ndarray:
    """Return the place of each class that an estimator knows."""
    return label_codes("CalibratedClassifierCV", classes, estimator.classes_)
