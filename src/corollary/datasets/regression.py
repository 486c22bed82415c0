"""Regression data whose regression function is known.

Both worlds are additive: y = f(x) + e with E[e | x] = 0, so that the conditional mean f is the
Bayes rule for the square loss and the noise variance is its risk.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.world import World


@dataclass(frozen=True)
class LinearGaussian(World):
    """Linear regression with Gaussian inputs and Gaussian noise.

    Inputs are drawn from N(0, covariance), outputs are ``X @ coef + intercept + noise * e``.

    Parameters
    ----------
    coef : ndarray of shape (n_features,)
        True coefficients.
    intercept : float, default=0.0
        True intercept.
    noise : float, default=1.0
        Standard deviation of the noise.
    covariance : ndarray of shape (n_features, n_features) or None, default=None
        Covariance of the inputs; None for the identity.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.datasets import LinearGaussian
    >>> world = LinearGaussian(coef=np.array([1.0, -2.0]), noise=0.5)
    >>> world.bayes_risk
    0.25
    >>> world.risk(np.array([1.0, -1.0]))
    1.25
    >>> X, y = world.sample(5, random_state=0)
    >>> X.shape, y.shape
    ((5, 2), (5,))
    """

    coef: np.ndarray
    intercept: float = 0.0
    noise: float = 1.0
    covariance: np.ndarray | None = None

    def sample(self, n_samples: int, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw independent rows."""
        random = check_random_state(random_state)
        X = random.standard_normal((n_samples, len(self.coef)))
        if self.covariance is not None:
            # A symmetric square root, so that a singular covariance is allowed.
            values, vectors = np.linalg.eigh(self.covariance)
            X = X @ (vectors * np.sqrt(np.clip(values, 0, None))) @ vectors.T
        return X, self.bayes_rule(X) + self.noise * random.standard_normal(n_samples)

    def bayes_rule(self, X: np.ndarray) -> np.ndarray:
        """Return the conditional mean of y.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
            E[y | x].
        """
        return X @ self.coef + self.intercept

    @property
    def bayes_risk(self) -> float:
        """The noise variance: no predictor has a smaller mean square error."""
        return float(self.noise**2)

    def risk(self, coef: np.ndarray, intercept: float = 0.0) -> float:
        """Return the exact mean square error of a linear predictor.

        Parameters
        ----------
        coef : ndarray of shape (n_features,)
            Coefficients of the predictor.
        intercept : float, default=0.0
            Intercept of the predictor.

        Returns
        -------
        risk : float
            Noise variance + (coef - truth)' covariance (coef - truth) + squared intercept error.
        """
        error = np.asarray(coef) - self.coef
        quadratic = error @ error if self.covariance is None else error @ self.covariance @ error
        return float(self.bayes_risk + quadratic + (intercept - self.intercept) ** 2)

    def logdensity(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the conditional log density log p(y | x).

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Inputs.
        y : ndarray of shape (n_samples,)
            Outputs.

        Returns
        -------
        logdensity : ndarray of shape (n_samples,)
            One value a row.
        """
        z = (y - self.bayes_rule(X)) / self.noise
        return -0.5 * z**2 - np.log(self.noise * np.sqrt(2 * np.pi))


@dataclass(frozen=True)
class AdditiveNoise(World):
    """Any regression function plus noise, with inputs uniform on a box.

    Parameters
    ----------
    function : callable
        Maps X of shape (n, n_features) to the n conditional means.
    noise : float or callable, default=1.0
        Standard deviation of the Gaussian noise; a callable gives it for each row of X, for data
        whose difficulty varies.
    n_features : int, default=1
        Number of inputs.
    low : float, default=0.0
        Lower end of every input.
    high : float, default=1.0
        Upper end of every input.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.datasets import AdditiveNoise
    >>> world = AdditiveNoise(lambda X: np.sin(X[:, 0]), noise=0.1, high=6.0)
    >>> X, y = world.sample(3, random_state=0)
    >>> bool(np.allclose(world.bayes_rule(X), np.sin(X[:, 0])))
    True
    """

    function: Callable[[np.ndarray], np.ndarray]
    noise: float | Callable[[np.ndarray], np.ndarray] = 1.0
    n_features: int = 1
    low: float = 0.0
    high: float = 1.0

    def sample(self, n_samples: int, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw independent rows."""
        random = check_random_state(random_state)
        X = random.uniform(self.low, self.high, size=(n_samples, self.n_features))
        return X, self.bayes_rule(X) + self.noise_at(X) * random.standard_normal(n_samples)

    def bayes_rule(self, X: np.ndarray) -> np.ndarray:
        """Return the regression function.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
            E[y | x].
        """
        return np.asarray(self.function(X), dtype=float)

    def noise_at(self, X: np.ndarray) -> np.ndarray:
        """Return the noise's standard deviation at each row; its square is the Bayes risk there.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        noise : ndarray of shape (n_samples,)
            Standard deviations.
        """
        if callable(self.noise):
            return np.asarray(self.noise(X), dtype=float)
        return np.full(len(X), float(self.noise))
