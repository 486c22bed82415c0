"""What a fitted candidate is once it is fitted: data and two methods.

A predictor is the weighted mean of one or more fitted estimators; without any it is the baseline
and predicts the same for every row. Estimators of a positive target may have been fitted to its
logarithm.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.core.schema import Array, Flag, Instance, List, Optional, Schema, Size

#: Probabilities are kept at least this large: no finite number of rows proves impossibility.
LEAST_PROBABILITY = 1e-6


def _fits_together(predictor: "Predictor") -> str | None:
    k = len(predictor.constant)
    for estimator in predictor.estimators:
        if getattr(estimator, "n_features_in_", None) != predictor.n_features:
            return "its estimators take other features"
        if predictor.classification:
            classes = np.asarray(getattr(estimator, "classes_", [-1]))
            known = classes.dtype.kind == "i" and classes.ndim == 1
            if not known or not hasattr(estimator, "predict_proba"):
                return "its estimators do not predict its classes"
            if classes.min(initial=0) < 0 or classes.max(initial=0) >= k:
                return "its estimators do not predict its classes"
    weights = predictor.weights
    if weights is not None and not (weights.min(initial=1) >= 0 and weights.sum() > 0):
        return "odd weights"
    if predictor.classification or k == 1:
        low, high = predictor.limits
        return None if low <= high and (low > 0 or not predictor.logs.any()) else "odd limits"
    return "a number has one mean"


@dataclass(frozen=True, eq=False)
class Predictor:
    """Weighted mean of fitted estimators on encoded features.

    Parameters
    ----------
    estimators : tuple of estimator
        Fitted classifiers of class indices, or regressors; none for the baseline.
    logs : ndarray of bool of shape (n_estimators,)
        Whether each was fitted to the logarithm of the target.
    factors : ndarray of shape (n_estimators,)
        Factor that turns the exponential of a prediction of the logarithm into a mean.
    limits : ndarray of shape (2,)
        Smallest and largest training target, between which exponentials are kept: an error of the
        logarithm grows without measure beyond. Zeros for classification.
    constant : ndarray of shape (n_classes,) or (1,)
        What the baseline predicts: class shares, or the mean.
    classification : bool
        Whether classes are predicted.
    n_features : int
        Features it takes.
    weights : ndarray of shape (n_estimators,) or None, default=None
        Weights of the estimators, not negative; None for equal ones.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.reporting import Predictor
    >>> none = {"estimators": (), "logs": np.zeros(0, bool), "factors": np.zeros(0)}
    >>> shares = {"constant": np.array([0.3, 0.7]), "limits": np.zeros(2)}
    >>> guess = Predictor(**none, **shares, classification=True, n_features=2)
    >>> guess.predict(np.zeros((3, 2)))
    array([1, 1, 1])
    """

    estimators: tuple[Any, ...]
    logs: np.ndarray
    factors: np.ndarray
    limits: np.ndarray
    constant: np.ndarray
    classification: bool
    n_features: int
    weights: np.ndarray | None = None

    _schema = Schema(
        _fits_together,
        estimators=List(Instance("predict"), "m"),
        logs=Array("b", "m"),
        factors=Array("f", "m"),
        limits=Array("f", 2),
        constant=Array("f", "*"),
        classification=Flag(),
        n_features=Size("d"),
        weights=Optional(Array("f", "m", low=0.0)),
    )

    def fitted_parts(self, X: Any) -> list[tuple[Any, Any]]:
        """List the models inside with the rows that reach them, which may be training rows.

        Parameters
        ----------
        X : ndarray of shape (n, n_features)
            Encoded rows.

        Returns
        -------
        parts : list of (estimator, ndarray)
            Every estimator takes the rows as they are.
        """
        return [(estimator, X) for estimator in self.estimators]

    @property
    def classes_(self) -> np.ndarray:
        """Class indices."""
        return np.arange(len(self.constant))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags

        kind = "classifier" if self.classification else "regressor"
        return Tags(
            estimator_type=kind,
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags() if self.classification else None,
            regressor_tags=None if self.classification else RegressorTags(),
            input_tags=InputTags(),
        )

    def predict(self, features: np.ndarray) -> np.ndarray:
        """Predict class indices or numbers.

        Parameters
        ----------
        features : ndarray of shape (n, n_features)
            Encoded rows.

        Returns
        -------
        prediction : ndarray of shape (n,)
            Most probable class, or (weighted) mean prediction.
        """
        if self.classification:
            return self.predict_proba(features).argmax(axis=1)
        if not self.estimators or not len(features):
            return np.full(len(features), self.constant[0])
        return self.combine([np.asarray(e.predict(features)) for e in self.estimators])

    def combine(self, outputs: Sequence[np.ndarray]) -> np.ndarray:
        """Turn what the estimators say into one prediction.

        Parameters
        ----------
        outputs : sequence of ndarray of shape (n,) or (n, n_known_classes)
            For each estimator its predictions, or the probabilities of the classes it knows.

        Returns
        -------
        prediction : ndarray of shape (n,) or (n, n_classes)
            (Weighted) mean of numbers, back on the scale of the target, or of probabilities, each
            at least 1e-6.
        """
        if not self.classification:
            numbers = [np.asarray(raw, dtype=np.float64).ravel() for raw in outputs]
            found = [
                self._back(raw, factor) if log else raw
                for raw, log, factor in zip(numbers, self.logs, self.factors)
            ]
            return np.average(found, axis=0, weights=self.weights)
        weights = np.ones(len(outputs)) if self.weights is None else self.weights
        total = np.zeros((len(outputs[0]), len(self.constant)))
        for weight, estimator, probability in zip(weights, self.estimators, outputs):
            # A class that had no training row keeps the share the baseline gives it.
            known = np.isin(self.classes_, estimator.classes_)
            total[:, ~known] += weight * self.constant[~known]
            rest = weight * (1.0 - self.constant[~known].sum())
            total[:, estimator.classes_] += rest * probability
        return _positive(total)

    def _back(self, raw: np.ndarray, factor: float) -> np.ndarray:
        with np.errstate(over="ignore"):
            return np.clip(factor * np.exp(raw), *self.limits)

    def predict_proba(self, features: np.ndarray) -> np.ndarray:
        """Predict class probabilities.

        Parameters
        ----------
        features : ndarray of shape (n, n_features)
            Encoded rows.

        Returns
        -------
        probability : ndarray of shape (n, n_classes)
            (Weighted) mean over estimators, each at least 1e-6; rows sum to one.
        """
        if not self.estimators or not len(features):
            return _positive(np.tile(self.constant, (len(features), 1)))
        return self.combine([e.predict_proba(features) for e in self.estimators])


def _positive(total: np.ndarray) -> np.ndarray:
    total = np.maximum(total / total.sum(axis=1, keepdims=True), LEAST_PROBABILITY)
    return total / total.sum(axis=1, keepdims=True)


def baseline(y: np.ndarray, n_classes: int, n_features: int, *, log: bool = False) -> Predictor:
    """Make the predictor that ignores the features."""
    limits = np.zeros(2) if n_classes else np.array([y.min(), y.max()], dtype=np.float64)
    if n_classes:
        counts = np.bincount(y, minlength=n_classes) + 1.0
        constant = counts / counts.sum()
    else:
        constant = np.array([float(np.exp(np.mean(np.log(y))) if log else np.mean(y))])
    return Predictor(
        (), np.zeros(0, bool), np.zeros(0), limits, constant, n_classes > 0, n_features
    )


def retransformation_factor(y: np.ndarray, log_prediction: np.ndarray) -> float:
    r"""Factor that turns exponentials of predicted logarithms into predictions of the mean.

    Least squares of :math:`y` on :math:`e^{p}` through the origin, kept between 1/2 and 2; Duan's
    smearing estimate is the same idea by means instead of least squares.

    Duan, N. (1983). Smearing estimate: a nonparametric retransformation method. JASA 78.
    """
    raw = np.exp(log_prediction)
    return float(np.clip((y @ raw) / max(raw @ raw, np.finfo(float).tiny), 0.5, 2.0))
