"""What regressors, classifiers, transformers, densities and clusterers do besides their method.

A subclass declares its parameters and writes ``_fit`` and ``_predict``, ``_scores``,
``_probabilities``, ``_transform`` or ``_log_density``, which are given validated rows. The bases
validate, code labels, choose classes and tell scikit-learn what the estimator accepts.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import (
    ClassifierMixin,
    ClusterMixin,
    DensityMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.utils.multiclass import check_classification_targets

from corollary.core.compat import fit_context
from corollary.core.estimator._checks import check_new_data, check_training_data
from corollary.core.estimator._declaration import Estimator, fitted
from corollary.core.estimator._densities import LogDensityMixin
from corollary.core.schema import Instance, Labels, Optional, Size, Strings


class Learner(Estimator, ABC):
    """An estimator that is given rows of numbers.

    Every fitted one has ``n_features_in_``, ``feature_names_in_`` if the columns had names, and
    ``fingerprint_``, a compact memory of its training rows.

    ``_rows`` is what scikit-learn's ``validate_data`` is told about rows, in ``fit`` and later;
    ``_training_rows`` is told in ``fit`` only. Tags follow from them.
    """

    n_features_in_: int = fitted(Size("d"))
    feature_names_in_: np.ndarray = fitted(Optional(Strings("d")))
    fingerprint_: Any = fitted(Optional(Instance("merge", "overlap")))

    _rows: ClassVar[dict[str, Any]] = {}
    _training_rows: ClassVar[dict[str, Any]] = {}

    def _row_checks(self) -> dict[str, Any]:
        """Return ``_rows``, or what takes its place under the parameters of this estimator."""
        return self._rows

    def _check(self, X: Any, y: Any, sample_weight: Any, **checks: Any) -> Any:
        """Validate training data and remember their rows."""
        checks = self._row_checks() | self._training_rows | checks
        return check_training_data(self, X, y, sample_weight=sample_weight, **checks)

    def _new(self, X: Any) -> Any:
        """Validate rows that the fitted estimator is asked about."""
        return check_new_data(self, X, **self._row_checks())

    def __sklearn_tags__(self) -> Any:
        tags, checks = super().__sklearn_tags__(), self._row_checks()
        tags.input_tags.sparse = bool(checks.get("accept_sparse"))
        tags.input_tags.allow_nan = checks.get("ensure_all_finite") == "allow-nan"
        return tags


class Regressor(RegressorMixin, Learner):
    """A regressor; subclasses write ``_fit(X, y, sample_weight)`` and ``_predict(X)``."""

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to arrays or data frames in memory.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Non-negative weights; a row of weight k counts like k equal rows.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        X, y, sample_weight = self._check(X, y, sample_weight, y_numeric=True)
        self._fit(X, np.asarray(y, dtype=np.float64), sample_weight)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict targets.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Predictions.
        """
        return self._predict(self._new(X))

    @abstractmethod
    def _predict(self, X: Any) -> np.ndarray:
        """Predict validated rows."""


class Classifier(ClassifierMixin, Learner):
    """A classifier; subclasses write ``_fit(X, codes, sample_weight)`` and ``_scores(X)``.

    Codes are places in ``classes_``. Scores are one number for each row, positive for the second of
    two classes, or one number for each row and class.
    """

    classes_: np.ndarray = fitted(Labels("k"))

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to arrays or data frames in memory.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Non-negative weights; a row of weight k counts like k equal rows.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        X, y, sample_weight = self._check(X, y, sample_weight)
        self._fit(X, self._code(y), sample_weight)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of the highest score; of equal ones the first.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels from ``classes_``.
        """
        return self._choose(self._scores(self._new(X)))

    def _code(self, y: np.ndarray) -> np.ndarray:
        """Set ``classes_`` and return the place of each label among them."""
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        refuse_one_class(self, self.classes_)
        return np.searchsorted(self.classes_, y)  # faster than the inverse that `unique` returns

    def _choose(self, scores: np.ndarray) -> np.ndarray:
        """Return the labels that scores decide for."""
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[best]

    @abstractmethod
    def _scores(self, X: Any) -> np.ndarray:
        """Score validated rows."""


class ScoringClassifier(Classifier):
    """A classifier whose scores users may read."""

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes one score, positive for the second class; else one per class.
        """
        return self._scores(self._new(X))


class ProbabilisticClassifier(Classifier):
    """A classifier with probabilities; subclasses write ``_probabilities(X)``.

    Probabilities are its scores unless ``_scores`` is written too.
    """

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of every class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``; rows sum to one.
        """
        return self._probabilities(self._new(X))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithm of the probability of every class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        log_probability : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return self._log_probabilities(self._new(X))

    def _scores(self, X: Any) -> np.ndarray:
        return self._probabilities(X)

    @abstractmethod
    def _probabilities(self, X: Any) -> np.ndarray:
        """Return class probabilities of validated rows."""

    def _log_probabilities(self, X: Any) -> np.ndarray:
        """Return their logarithms."""
        with np.errstate(divide="ignore"):
            return np.log(self._probabilities(X))


class Unsupervised(Learner):
    """An estimator that learns from rows alone; subclasses write ``_fit(X, sample_weight)``."""

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : None, default=None
            Not used.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Non-negative weights; a row of weight k counts like k equal rows.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        X, _, sample_weight = self._check(X, None, sample_weight)
        self._fit(X, sample_weight)
        return self


class Density(LogDensityMixin, DensityMixin, Unsupervised):
    """A density; subclasses write ``_fit(X, sample_weight)`` and ``_log_density(X)``."""


class Clusterer(ClusterMixin, Unsupervised):
    """A clusterer; subclasses write ``_fit``, which sets ``labels_``, and ``_predict(X)``."""

    def predict(self, X: Any) -> np.ndarray:
        """Return the cluster of each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Numbers of clusters, from 0 on.
        """
        return self._predict(self._new(X))

    @abstractmethod
    def _predict(self, X: Any) -> np.ndarray:
        """Return the cluster of each validated row."""


class Transformer(TransformerMixin, Unsupervised):
    """A transformer; subclasses write ``_fit(X, sample_weight)`` and ``_transform(X)``."""

    def transform(self, X: Any) -> Any:
        """Transform rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        Z : ndarray or sparse matrix of shape (n_samples, n_outputs)
            The transformed rows.
        """
        return self._transform(self._new(X))

    @abstractmethod
    def _transform(self, X: Any) -> Any:
        """Transform validated rows."""


def refuse_one_class(estimator: Any, classes: np.ndarray) -> None:
    """Raise unless there are classes to tell apart."""
    if len(classes) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs rows of at least 2 classes. Got one class: "
            f"{classes.tolist()[0]!r}."
        )


def probabilities_of(scores: np.ndarray) -> np.ndarray:
    """Return the probabilities whose log odds are scores."""
    from scipy.special import expit, softmax

    if scores.ndim == 1:
        return np.column_stack([expit(-scores), expit(scores)])
    return softmax(scores, axis=1)


def class_factors(class_weight: Any, classes: np.ndarray, totals: np.ndarray) -> np.ndarray | None:
    """Return the factor on the weight of each class."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        return totals.sum() / (len(classes) * np.where(totals > 0, totals, np.inf))
    from sklearn.utils.class_weight import compute_class_weight

    return np.asarray(compute_class_weight(class_weight, classes=classes, y=classes), float)
