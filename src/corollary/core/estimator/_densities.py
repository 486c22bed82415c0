"""What estimators with a density do: log densities of rows, their mean, and draws."""

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted


class LogDensityMixin:
    """Add ``score_samples`` and ``score`` to a learner; subclasses write ``_log_density(X)``."""

    _new: Any

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the logarithm of the density at rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
            Natural logarithms.
        """
        return self._log_density(self._new(X))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean of the log densities at rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : None, default=None
            Not used.

        Returns
        -------
        log_likelihood : float
            Higher is better.
        """
        return float(np.mean(self.score_samples(X)))

    @abstractmethod
    def _log_density(self, X: Any) -> np.ndarray:
        """Return the logarithm of the density at validated rows."""


class SampleMixin:
    """Add ``sample`` to an estimator; subclasses write ``_sample(n_samples, random)``."""

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Draw from the fitted law.

        Parameters
        ----------
        n_samples : int, default=1
            Number of draws.
        random_state : int, RandomState instance or None, default=None
            Seed or generator; None takes the estimator's own, where it has one.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Independent draws.
        """
        check_is_fitted(self)
        if random_state is None:
            random_state = getattr(self, "random_state", None)
        return self._sample(n_samples, check_random_state(random_state))

    @abstractmethod
    def _sample(self, n_samples: int, random: np.random.RandomState) -> np.ndarray:
        """Draw rows by a generator."""
