"""Projections of high-dimensional data look Gaussian, unless the direction is special."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.world import World


@dataclass(frozen=True)
class Hypercube(World):
    """Points uniform on the cube [-sqrt(3), sqrt(3)]^d: unit variance, far from Gaussian.

    The output of a row is its projection on ``direction`` (normalised), by default the diagonal,
    for which Berry and Esseen bound the Kolmogorov distance to the normal law by C / sqrt(d).

    Parameters
    ----------
    n_features : int
        Dimension.
    direction : ndarray of shape (n_features,) or None, default=None
        Direction of the projection; None for the diagonal. A coordinate axis is the
        counter-example: its projection stays uniform.

    Examples
    --------
    >>> from corollary.datasets import Hypercube, kolmogorov_distance
    >>> _, few = Hypercube(2).sample(5000, random_state=0)
    >>> _, many = Hypercube(50).sample(5000, random_state=0)
    >>> kolmogorov_distance(few) > kolmogorov_distance(many)
    True
    """

    n_features: int
    direction: np.ndarray | None = None

    def sample(self, n_samples: int, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw independent rows and their projections."""
        random = check_random_state(random_state)
        X = random.uniform(-np.sqrt(3), np.sqrt(3), size=(n_samples, self.n_features))
        direction = np.ones(self.n_features) if self.direction is None else self.direction
        return X, X @ (direction / np.linalg.norm(direction))


def kolmogorov_distance(sample: np.ndarray) -> float:
    """Return the largest distance between a sample's distribution function and the normal one.

    Parameters
    ----------
    sample : ndarray of shape (n_samples,)
        Values of a law with mean 0 and variance 1.

    Returns
    -------
    distance : float
        ``sup_t |F_n(t) - Phi(t)|``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.datasets import kolmogorov_distance
    >>> kolmogorov_distance(np.array([0.0]))
    0.5
    """
    from scipy.special import ndtr

    ordered = ndtr(np.sort(np.asarray(sample, dtype=float)))
    n = len(ordered)
    steps = np.arange(n + 1) / n
    return float(max(np.max(steps[1:] - ordered), np.max(ordered - steps[:-1])))
