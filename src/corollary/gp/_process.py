"""What regressors by Gaussian processes share: predictions with their uncertainty, and draws."""

from abc import abstractmethod
from typing import Any

import numpy as np

from corollary.core.estimator import Regressor, fitted
from corollary.core.parallel import one_blas_thread
from corollary.core.schema import Instance, Integer, Number
from corollary.gp.exact.posterior import draw_gaussian


def refuse_both(return_std: bool, return_cov: bool) -> None:
    """Raise if standard deviations and covariances are asked for at once."""
    if return_std and return_cov:
        raise RuntimeError(
            "At most one of return_std or return_cov can be requested. Got both; the standard "
            "deviations are the roots of the covariance's diagonal."
        )


class ProcessRegressor(Regressor):
    """A regressor whose predictions are normal laws; subclasses give them in standard units."""

    kernel_: Any = fitted(Instance("gram"))
    noise_variance_: float = fitted(Number(0))
    jitter_: float = fitted(Number(0))
    y_mean_: float = fitted()
    y_scale_: float = fitted(Number(0))
    n_iter_: int = fitted(Integer(0))

    _training_rows = {"finite_squares": True}

    @abstractmethod
    def _mean(self, X: np.ndarray) -> np.ndarray:
        """Return the posterior means of the standardised function at validated rows."""

    @abstractmethod
    def _pointwise(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return its means and variances, which rounding may have made negative."""

    @abstractmethod
    def _jointly(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return its means and covariances."""

    def predict(
        self, X: Any, return_std: bool = False, return_cov: bool = False, *, noisy: bool = False
    ) -> Any:
        """Predict f, with its uncertainty if asked for.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            New inputs.
        return_std : bool, default=False
            Whether standard deviations are returned too.
        return_cov : bool, default=False
            Whether the joint covariance is returned instead.
        noisy : bool, default=False
            Whether the uncertainty is that of a new observation, with the common noise variance,
            instead of that of f.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
            Posterior means.
        std : ndarray of shape (n_samples,)
            Only with ``return_std``; never negative.
        covariance : ndarray of shape (n_samples, n_samples)
            Only with ``return_cov``.
        """
        refuse_both(return_std, return_cov)
        X = self._new(X)
        extra = self.noise_variance_ if noisy else 0.0
        with one_blas_thread():
            if return_cov:
                mean, covariance = self._jointly(X)
                covariance = covariance * self.y_scale_**2
                diagonal = np.maximum(np.diag(covariance), 0.0) + extra
                np.fill_diagonal(covariance, diagonal)
                return self._units(mean), covariance
            if not return_std:
                return self._predict(X)
            mean, variance = self._pointwise(X)
        # The difference of two close numbers may be rounded below zero.
        variance = np.maximum(variance, 0.0) * self.y_scale_**2 + extra
        return self._units(mean), np.sqrt(variance)

    def _predict(self, X: np.ndarray) -> np.ndarray:
        return self._units(self._mean(X))

    def _units(self, values: np.ndarray) -> np.ndarray:
        return self.y_mean_ + self.y_scale_ * values

    def sample_y(
        self, X: Any, n_samples: int = 1, random_state: Any = 0, *, noisy: bool = False
    ) -> np.ndarray:
        """Draw jointly from the posterior at given points.

        Parameters
        ----------
        X : array-like or data frame of shape (n_points, n_features)
            Where.
        n_samples : int, default=1
            How many draws.
        random_state : int, RandomState instance or None, default=0
            Seed or generator.
        noisy : bool, default=False
            Whether new observations are drawn instead of values of f.

        Returns
        -------
        draws : ndarray of shape (n_points, n_samples) or (n_points, n_targets, n_samples)
            One draw per column; the prior may have several targets.
        """
        from sklearn.utils import check_random_state

        mean, covariance = self.predict(X, return_cov=True, noisy=noisy)
        rng = check_random_state(random_state)
        with one_blas_thread():
            if mean.ndim == 1:
                return draw_gaussian(mean, covariance, n_samples, rng)
            parts = zip(mean.T, np.moveaxis(covariance, -1, 0))
            return np.stack([draw_gaussian(m, C, n_samples, rng) for m, C in parts], axis=1)
