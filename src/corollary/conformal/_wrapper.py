"""What all conformal wrappers share: a model that is given rows as they came."""

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length, get_tags
from sklearn.utils.validation import check_is_fitted

from corollary.conformal._checks import count_rows
from corollary.conformal._fitting import Training
from corollary.core.estimator import Estimator, MetaEstimator, Predictor, Probability, fitted
from corollary.core.schema import Instance


class ConformalWrapper(MetaEstimator, Estimator, ABC):
    """A wrapper around a model, which is ``estimator_`` when it is fitted."""

    estimator: Predictor
    _: KW_ONLY
    confidence: Probability = 0.9

    estimator_: Any = fitted(Instance("predict"))

    @abstractmethod
    def _check_targets(self, y: Any, *, finite: bool = True) -> np.ndarray:
        """Return targets as an array, or say what is wrong with them."""

    @abstractmethod
    def _outside(self, X: Any, y: np.ndarray) -> np.ndarray:
        """Say which targets lie outside their region."""

    def _check_pair(self, X: Any, y: Any, *, finite: bool = True) -> np.ndarray:
        """Return targets as an array, one for each of at least one row.

        Whether they are finite need not be asked where scores, which are looked at, will tell.
        """
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        check_consistent_length(X, y)
        if count_rows(X) == 0:
            raise ValueError(
                f"{type(self).__name__} needs at least one row. Got n_samples=0; a minimum of 1 "
                "is required."
            )
        return self._check_targets(y, finite=finite)

    def _training(
        self, X: Any, y: np.ndarray, weight: np.ndarray | None, rng: np.random.RandomState
    ) -> Training:
        """Put training rows before the models that will be fitted to them."""
        how = self._fit_parameters(weight)
        return Training(type(self).__name__, self.confidence, rng, X, y, weight, how)

    def _check_confidence(self, confidence: float | None) -> float:
        """Return the level of a prediction, which is that of the constructor unless given."""
        level = self.confidence if confidence is None else confidence
        if not isinstance(level, Real) or not 0 < level < 1:
            raise ValueError(
                f"The 'confidence' of a prediction by {type(self).__name__} must be a float in the "
                f"range (0.0, 1.0). Got {level!r} instead."
            )
        return float(level)

    def _require_fitted(self) -> None:
        """Raise if there is no fit, at the cost of the sentence only where there is none."""
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)

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
        self._require_fitted()
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
        check_is_fitted(self)
        return self._outside(X, self._check_pair(X, y))

    @property
    def n_features_in_(self) -> int:
        """Number of features seen by the model, if it says so."""
        return self._ask_model("n_features_in_")

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the features seen by the model, if it had any."""
        return self._ask_model("feature_names_in_")

    def _ask_model(self, name: str) -> Any:
        """Return an attribute of the fitted model."""
        if "estimator_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} is not fitted yet.")
        return getattr(self.estimator_, name)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator).input_tags
        tags.input_tags.sparse = inner.sparse
        tags.input_tags.allow_nan = inner.allow_nan
        tags.input_tags.positive_only = inner.positive_only
        return tags
