"""Labels drawn from a logistic model, few features and many.

With a fixed ratio of features to rows the maximum-likelihood fit is not consistent: its
coefficients are too large by a factor above one and its probabilities too extreme
(Sur and Candès, 2019). The factor tends to one as the ratio tends to zero.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.utils import check_random_state

from corollary.core.world import World


@dataclass(frozen=True)
class LogisticWorld(World):
    """Standard Gaussian inputs and labels in {-1, +1} from a logistic model.

    Parameters
    ----------
    coef : ndarray of shape (n_features,)
        True coefficients.
    intercept : float, default=0.0
        True intercept.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.datasets import LogisticWorld
    >>> world = LogisticWorld(np.array([2.0, 0.0]))
    >>> world.posterior(np.zeros((1, 2)))
    array([0.5])
    >>> round(world.bayes_risk, 4)
    0.222
    """

    coef: np.ndarray
    intercept: float = 0.0

    def sample(self, n_samples: int, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw independent rows."""
        random = check_random_state(random_state)
        X = random.standard_normal((n_samples, len(self.coef)))
        positive = random.uniform(size=n_samples) < self.posterior(X)
        return X, np.where(positive, 1, -1)

    def posterior(self, X: np.ndarray) -> np.ndarray:
        """Return the probability of the label +1.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        probability : ndarray of shape (n_samples,)
            P(y = 1 | x).
        """
        return expit(X @ self.coef + self.intercept)

    def bayes_rule(self, X: np.ndarray) -> np.ndarray:
        """Return the likelier label; +1 on a tie.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            In {-1, +1}.
        """
        return np.where(X @ self.coef + self.intercept >= 0, 1, -1)

    @property
    def bayes_risk(self) -> float:
        """The smallest possible error rate, ``E[sigmoid(-|s|)]`` for the score s, by quadrature."""
        from scipy.integrate import quad

        scale = float(np.linalg.norm(self.coef))
        if scale == 0:
            return float(expit(-abs(self.intercept)))

        def integrand(z: float) -> float:
            return expit(-abs(scale * z + self.intercept)) * np.exp(-0.5 * z * z)

        # The integrand has a kink where the score changes sign.
        kink = float(np.clip(-self.intercept / scale, -9, 9))
        area = quad(integrand, -10, kink)[0] + quad(integrand, kink, 10)[0]
        return float(area / np.sqrt(2 * np.pi))


@dataclass(frozen=True)
class HighDimensionalLogistic:
    """Logistic data with a fixed ratio of features to rows and a sparse +-signal.

    For n rows the world has ``ratio * n`` features, a share ``density`` of which has coefficients
    of equal size and random sign, scaled so that the score x'beta has standard deviation
    ``strength`` whatever n is.

    Parameters
    ----------
    ratio : float, default=0.2
        Features per row.
    strength : float, default=2.236
        Standard deviation of the score.
    density : float, default=0.25
        Share of coefficients that are not zero.

    Examples
    --------
    >>> from corollary.datasets import HighDimensionalLogistic
    >>> X, y, coef = HighDimensionalLogistic(ratio=0.1).draw(200, random_state=0)
    >>> X.shape, int((coef != 0).sum())
    ((200, 20), 5)
    """

    ratio: float = 0.2
    strength: float = 2.236
    density: float = 0.25

    def draw(
        self, n_samples: int, random_state: Any = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draw a world of the right size and rows from it.

        Parameters
        ----------
        n_samples : int
            How many rows; it also sets the number of features.
        random_state : int, RandomState instance or None, default=None
            Seed or generator.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Inputs.
        y : ndarray of shape (n_samples,)
            Labels in {-1, +1}.
        coef : ndarray of shape (n_features,)
            True coefficients.
        """
        random = check_random_state(random_state)
        n_features = max(1, round(self.ratio * n_samples))
        active = max(1, round(self.density * n_features))
        coef = np.zeros(n_features)
        where = random.permutation(n_features)[:active]
        coef[where] = random.choice([-1.0, 1.0], size=active) * self.strength / np.sqrt(active)
        X, y = LogisticWorld(coef).sample(n_samples, random)
        return X, y, coef
