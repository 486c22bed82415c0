"""Features that nearly repeat each other, and the instability they cause.

Least squares divides the noise by the singular values of the design: the total variance of the
coefficients is the noise variance times the sum of 1 / D_i^2, which explodes as columns become
collinear, while the fitted values hardly change.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.world import World
from corollary.datasets.regression import LinearGaussian


@dataclass(frozen=True)
class Equicorrelated(World):
    """Linear regression whose Gaussian features all have the same pairwise correlation.

    Parameters
    ----------
    coef : ndarray of shape (n_features,)
        True coefficients.
    correlation : float, default=0.9
        Correlation between any two features, in [0, 1]; 1 makes them identical.
    noise : float, default=1.0
        Standard deviation of the noise.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.datasets import Equicorrelated
    >>> world = Equicorrelated(np.ones(3), correlation=1.0)
    >>> X, y = world.sample(4, random_state=0)
    >>> bool(np.allclose(X[:, 0], X[:, 1]))
    True
    """

    coef: np.ndarray
    correlation: float = 0.9
    noise: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.correlation <= 1:
            raise ValueError(
                "The 'correlation' parameter of Equicorrelated must be a float in the range "
                f"[0.0, 1.0]. Got {self.correlation} instead."
            )

    @property
    def linear(self) -> LinearGaussian:
        """The same world as a :class:`LinearGaussian`, with its exact risks."""
        d = len(self.coef)
        covariance = (1 - self.correlation) * np.eye(d) + self.correlation
        return LinearGaussian(self.coef, noise=self.noise, covariance=covariance)

    def sample(self, n_samples: int, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw independent rows."""
        random = check_random_state(random_state)
        own = random.standard_normal((n_samples, len(self.coef)))
        common = random.standard_normal((n_samples, 1))
        X = np.sqrt(1 - self.correlation) * own + np.sqrt(self.correlation) * common
        return X, self.linear.bayes_rule(X) + self.noise * random.standard_normal(n_samples)


def design_with_singular_values(
    n_samples: int, singular_values: np.ndarray, random_state: Any = None
) -> np.ndarray:
    """Draw a design matrix with prescribed singular values and random directions.

    Parameters
    ----------
    n_samples : int
        Rows; at least the number of singular values.
    singular_values : ndarray of shape (n_features,)
        Non-negative singular values.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The design.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.datasets import design_with_singular_values
    >>> X = design_with_singular_values(10, np.array([3.0, 1e-3]), random_state=0)
    >>> np.linalg.svd(X, compute_uv=False).round(6).tolist()
    [3.0, 0.001]
    """
    values = np.asarray(singular_values, dtype=float)
    if n_samples < len(values) or np.any(values < 0):
        raise ValueError(
            "design_with_singular_values needs non-negative singular values and at least as many "
            f"rows. Got {len(values)} values, smallest {values.min()}, and {n_samples} rows."
        )
    random = check_random_state(random_state)
    left, _ = np.linalg.qr(random.standard_normal((n_samples, len(values))))
    right, _ = np.linalg.qr(random.standard_normal((len(values), len(values))))
    return (left * values) @ right.T


def ols_total_variance(X: np.ndarray, noise: float = 1.0) -> float:
    """Return the total variance of the least-squares coefficients, noise^2 * sum 1 / D_i^2.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Design.
    noise : float, default=1.0
        Standard deviation of the noise.

    Returns
    -------
    variance : float
        Sum of the coefficients' variances; infinite for a design without full column rank.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.datasets import ols_total_variance
    >>> round(ols_total_variance(np.diag([1.0, 0.1])), 6)
    101.0
    """
    values = np.linalg.svd(X, compute_uv=False)
    if X.shape[0] < X.shape[1] or values[-1] <= values[0] * max(X.shape) * np.finfo(float).eps:
        return float("inf")
    return float(noise**2 * np.sum(1 / values**2))
