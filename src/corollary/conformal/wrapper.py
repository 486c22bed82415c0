"""What all conformal wrappers share: a model to which rows reach as they came."""

from abc import abstractmethod
from numbers import Real
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import check_consistent_length, get_tags
from sklearn.utils.validation import check_is_fitted

from corollary.conformal.checks import count_rows
from corollary.core.compat import parameters_fit, validate_parameters


class BaseConformal(MetaEstimatorMixin, BaseEstimator):
    """A wrapper around a model: rows reach the model as they came.

    A subclass checks targets (`_check_targets`) and sets ``estimator_``, the model that makes
    point predictions.
    """

    estimator: Any
    confidence: float

    @abstractmethod
    def _check_targets(self, y: Any, *, finite: bool = True) -> np.ndarray: ...

    def _check_parameters(self) -> None:
        if not get_config()["skip_parameter_validation"] and not parameters_fit(self):
            validate_parameters(self)

    def _check_pair(self, X: Any, y: Any, *, finite: bool = True) -> np.ndarray:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        if type(X) is not np.ndarray or type(y) is not np.ndarray or X.shape[:1] != y.shape[:1]:
            check_consistent_length(X, y)  # knows everything that has a length
        if count_rows(X) == 0:
            raise ValueError(
                f"{type(self).__name__} needs at least one row. Got n_samples=0; a minimum of 1 "
                "is required."
            )
        return self._check_targets(y, finite=finite)

    def _check_confidence(self, confidence: float | None) -> float:
        level = self.confidence if confidence is None else confidence
        if not isinstance(level, Real) or not 0 < level < 1:
            raise ValueError(
                f"The 'confidence' of a prediction by {type(self).__name__} must be a float in the "
                f"range (0.0, 1.0). Got {level!r} instead."
            )
        return float(level)

    def predict(self, X: Any) -> np.ndarray:
        """Predict with the underlying model.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows, passed to the model as they come.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The model's predictions.
        """
        self._require_calibrated()
        return self.estimator_.predict(X)

    def misses(self, X: Any, y: Any) -> np.ndarray:
        """Say which targets lie outside the region that is predicted for their row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows, passed to the models as they come.
        y : array-like of shape (n_samples,)
            Their targets.

        Returns
        -------
        outside : ndarray of bool of shape (n_samples,)
            True where an interval or a set at `confidence` does not hold its target.
        """
        self._require_calibrated()
        return self._outside(X, self._check_pair(X, y))

    @abstractmethod
    def _outside(self, X: Any, y: np.ndarray) -> np.ndarray: ...

    @property
    def n_features_in_(self) -> int:
        """Number of features seen by the model, if it says so."""
        return self.__dict__["estimator_"].n_features_in_ if self._fitted() else self._absent()

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the features seen by the model, if it had any."""
        return self.__dict__["estimator_"].feature_names_in_ if self._fitted() else self._absent()

    @abstractmethod
    def __sklearn_is_fitted__(self) -> bool: ...

    def _require_calibrated(self) -> None:
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)  # which is slower, and says what is missing

    def _fitted(self) -> bool:
        return "estimator_" in self.__dict__

    def _absent(self) -> Any:
        raise AttributeError(f"{type(self).__name__} is not fitted yet.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator).input_tags
        tags.input_tags.sparse = inner.sparse
        tags.input_tags.allow_nan = inner.allow_nan
        tags.input_tags.positive_only = inner.positive_only
        return tags
