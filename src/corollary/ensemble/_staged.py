"""Classifiers that grow round by round, and what they say after each round."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from corollary.core.estimator import ProbabilisticClassifier, ScoringClassifier


class StagedClassifier(ScoringClassifier, ProbabilisticClassifier):
    """A sum over rounds; subclasses say what raw sums of votes or functions mean."""

    @abstractmethod
    def _stages(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the raw sums after each round, perhaps in one array that changes."""

    @abstractmethod
    def _raw(self, X: Any) -> np.ndarray:
        """Return the raw sums of validated rows after the last round."""

    @abstractmethod
    def _scores_of(self, raw: np.ndarray) -> np.ndarray:
        """Turn raw sums into scores."""

    @abstractmethod
    def _probabilities_of(self, raw: np.ndarray) -> np.ndarray:
        """Turn raw sums into probabilities."""

    def _labels_of(self, raw: np.ndarray) -> np.ndarray:
        """Turn raw sums into labels."""
        return self._choose(self._scores_of(raw))

    def _scores(self, X: Any) -> np.ndarray:
        return self._scores_of(self._raw(X))

    def _probabilities(self, X: Any) -> np.ndarray:
        return self._probabilities_of(self._raw(X))

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the labels after each round.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Yields
        ------
        labels : ndarray of shape (n_samples,)
            As :meth:`predict`.
        """
        return map(self._labels_of, self._stages(X))

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the scores after each round.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Yields
        ------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            As :meth:`decision_function`.
        """
        return map(self._scores_of, self._stages(X))

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the probabilities after each round.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Yields
        ------
        probabilities : ndarray of shape (n_samples, n_classes)
            As :meth:`predict_proba`.
        """
        return map(self._probabilities_of, self._stages(X))
