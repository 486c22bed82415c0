"""Training and test data from different laws."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, ndtr
from sklearn.utils import check_random_state

from corollary.core.world import World


@dataclass(frozen=True)
class GaussianShift(World):
    """Covariate shift with a known density ratio: the inputs move, the labelling rule does not.

    Inputs are N(mean, I); ``y = curvature * |x|^2 / d + x_1 + noise``. A linear model fitted where
    the training inputs lie is wrong elsewhere.

    Parameters
    ----------
    mean : ndarray of shape (n_features,)
        Mean of the inputs in this world.
    curvature : float, default=1.0
        Weight of the quadratic part.
    noise : float, default=0.1
        Standard deviation of the noise.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.datasets import GaussianShift
    >>> train, test = GaussianShift(np.zeros(2)), GaussianShift(np.array([1.0, 0.0]))
    >>> train.density_ratio(test, np.array([[0.5, 0.0]]))
    array([1.])
    """

    mean: np.ndarray
    curvature: float = 1.0
    noise: float = 0.1

    def sample(self, n_samples: int, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw independent rows."""
        random = check_random_state(random_state)
        X = self.mean + random.standard_normal((n_samples, len(self.mean)))
        return X, self.bayes_rule(X) + self.noise * random.standard_normal(n_samples)

    def bayes_rule(self, X: np.ndarray) -> np.ndarray:
        """Return the conditional mean, which is the same in every shifted world.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
            E[y | x].
        """
        return self.curvature * (X**2).mean(axis=1) + X[:, 0]

    @property
    def bayes_risk(self) -> float:
        """The noise variance, in every shifted world."""
        return float(self.noise**2)

    def density_ratio(self, other: "GaussianShift", X: np.ndarray) -> np.ndarray:
        """Return p_other(x) / p_self(x).

        Parameters
        ----------
        other : GaussianShift
            The world to go to, usually that of the test rows.
        X : ndarray of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ratio : ndarray of shape (n_samples,)
            Importance weights; their mean over this world is 1.
        """
        move = np.asarray(other.mean) - self.mean
        middle = (np.asarray(other.mean) + self.mean) / 2
        return np.exp((X - middle) @ move)


@dataclass(frozen=True)
class Shortcut(World):
    """A cause of the label, and a background that merely went along with it in training.

    y is +-1; the first feature is ``signal * y`` plus standard normal noise; the second, the
    background, is ``strength * y`` with probability ``agreement`` and ``-strength * y`` otherwise,
    plus ``background_noise`` times normal noise. Set ``agreement`` below 1/2 to flip the
    correlation at test time.

    Parameters
    ----------
    agreement : float, default=0.95
        Probability that background and label agree, in [0, 1].
    signal : float, default=1.0
        Strength of the cause.
    strength : float, default=1.0
        Strength of the background.
    background_noise : float, default=0.1
        Noise of the background.

    Examples
    --------
    >>> from corollary.datasets import Shortcut
    >>> train, test = Shortcut(0.95), Shortcut(0.05)
    >>> round(train.error_of_cause, 3) == round(test.error_of_cause, 3)
    True
    >>> test.error_of_background > 0.9
    True
    """

    agreement: float = 0.95
    signal: float = 1.0
    strength: float = 1.0
    background_noise: float = 0.1

    def sample(self, n_samples: int, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw independent rows, labels in {-1, +1}."""
        random = check_random_state(random_state)
        y = random.choice([-1, 1], size=n_samples)
        agrees = np.where(random.uniform(size=n_samples) < self.agreement, 1, -1)
        cause = self.signal * y + random.standard_normal(n_samples)
        noise = self.background_noise * random.standard_normal(n_samples)
        return np.column_stack([cause, self.strength * agrees * y + noise]), y

    @property
    def error_of_cause(self) -> float:
        """Error rate of the sign of the first feature, the same for every agreement."""
        return float(ndtr(-self.signal))

    @property
    def error_of_background(self) -> float:
        """Error rate of the sign of the second feature."""
        wrong = float(ndtr(-self.strength / self.background_noise))
        return self.agreement * wrong + (1 - self.agreement) * (1 - wrong)

    def bayes_rule(self, X: np.ndarray) -> np.ndarray:
        """Return the likelier label in this world.

        Parameters
        ----------
        X : ndarray of shape (n_samples, 2)
            Cause and background.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            In {-1, +1}.
        """
        odds = 2 * self.signal * X[:, 0] + self._background_log_odds(X[:, 1])
        return np.where(odds >= 0, 1, -1)

    def _background_log_odds(self, b: np.ndarray) -> np.ndarray:
        """Return log p(b | y = 1) / p(b | y = -1): a two-component mixture on each side."""
        lean = 2 * self.strength * b / self.background_noise**2
        towards = expit(lean)
        with_label = self.agreement * towards + (1 - self.agreement) * (1 - towards)
        against = (1 - self.agreement) * towards + self.agreement * (1 - towards)
        return np.log(with_label) - np.log(against)
