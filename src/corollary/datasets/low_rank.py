"""A table of low rank of which some entries are seen: users and items."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.world import World


@dataclass(frozen=True)
class LowRankTable(World):
    r"""Rows of :math:`M=AB^\top+\sigma E`, of which entries are seen independently.

    A row of A is a user's standard normal taste, a row of B an item. Inputs are rows with NaN where
    nothing is seen, outputs the whole rows with their noise.

    Parameters
    ----------
    items : ndarray of shape (n_items, rank)
        The matrix B.
    noise : float, default=0.1
        Standard deviation :math:`\sigma` of the noise.
    seen : float, default=0.5
        Probability q that an entry is seen.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.datasets import LowRankTable
    >>> world = LowRankTable(np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]), noise=0.0, seen=0.7)
    >>> X, M = world.sample(100, random_state=0)
    >>> int(np.linalg.matrix_rank(M)), round(float(np.mean(~np.isnan(X))), 2)
    (2, 0.69)
    >>> world.zero_risk.tolist()
    [1.0, 4.0, 2.0]
    """

    items: np.ndarray
    noise: float = 0.1
    seen: float = 0.5

    def __post_init__(self) -> None:
        if np.ndim(self.items) != 2 or not self.noise >= 0 or not 0 < self.seen <= 1:
            raise ValueError(
                "LowRankTable needs a matrix of items, noise in the range [0, inf) and seen in the "
                f"range (0, 1]. Got shape {np.shape(self.items)}, {self.noise} and {self.seen}."
            )

    def sample(self, n_samples: int, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw independent rows."""
        random = check_random_state(random_state)
        n_items, rank = self.items.shape
        tastes = random.standard_normal((n_samples, rank))
        M = tastes @ self.items.T + self.noise * random.standard_normal((n_samples, n_items))
        return np.where(random.uniform(size=M.shape) < self.seen, M, np.nan), M

    @property
    def zero_risk(self) -> np.ndarray:
        r"""Squared error of predicting zero, for each item :math:`\|b_j\|^2+\sigma^2`."""
        return np.sum(self.items**2, axis=1) + self.noise**2

    def _taste_covariance(self, seen: np.ndarray) -> np.ndarray:
        """Return the covariance of a user's taste given which items were seen."""
        B = self.items[seen]
        if self.noise > 0:
            return np.linalg.inv(np.eye(B.shape[1]) + B.T @ B / self.noise**2)
        return np.eye(B.shape[1]) - np.linalg.pinv(B) @ B

    def bayes_rule(self, X: np.ndarray) -> np.ndarray:
        """Predict whole rows from what is seen of them, knowing the items.

        What is not seen becomes the expectation of the user's taste times the item.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_items)
            Rows with NaN where nothing is seen.
        """
        prediction = np.array(X, dtype=np.float64)
        patterns, places = np.unique(~np.isnan(prediction), axis=0, return_inverse=True)
        for place, seen in enumerate(patterns):
            rows, B = places == place, self.items[seen]
            if self.noise > 0:
                weights = self._taste_covariance(seen) @ B.T / self.noise**2
            else:
                weights = np.linalg.pinv(B)
            tastes = prediction[np.ix_(rows, seen)] @ weights.T
            prediction[np.ix_(rows, ~seen)] = tastes @ self.items[~seen].T
        return prediction

    def oracle_risk(self, seen: Any) -> np.ndarray:
        r"""Return the expected squared error of :meth:`bayes_rule` for each item.

        It is :math:`b_j^\top(I+B_s^\top B_s/\sigma^2)^{-1}b_j+\sigma^2`, and zero for what is seen.

        Parameters
        ----------
        seen : array-like of bool of shape (n_items,)
            Which items of a row are seen.
        """
        seen = np.asarray(seen, dtype=bool)
        spread = np.einsum("ij,jk,ik->i", self.items, self._taste_covariance(seen), self.items)
        return np.where(seen, 0.0, spread + self.noise**2)
