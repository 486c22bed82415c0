"""A law with a rare event: why learning is only probable and only approximate."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.world import World


@dataclass(frozen=True)
class RareEvent(World):
    """Two points, one of which is hardly ever seen.

    The input is 1 with probability ``probability`` and 0 otherwise; the label is -1 at 0 and
    ``label`` at 1. A learner that has not seen the rare point cannot know its label, and after
    m draws that happens with probability (1 - probability)^m.

    Parameters
    ----------
    probability : float
        Of the rare point, in (0, 1).
    label : int, default=1
        Label of the rare point, -1 or +1.

    Examples
    --------
    >>> from corollary.datasets import RareEvent
    >>> round(RareEvent(0.01).probability_unseen(100), 4)
    0.366
    """

    probability: float
    label: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.probability < 1:
            raise ValueError(
                "The 'probability' parameter of RareEvent must be a float in the range "
                f"(0.0, 1.0). Got {self.probability} instead."
            )

    def sample(self, n_samples: int, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw independent rows, labels in {-1, +1}."""
        random = check_random_state(random_state)
        X = (random.uniform(size=(n_samples, 1)) < self.probability).astype(float)
        return X, self.bayes_rule(X)

    def bayes_rule(self, X: np.ndarray) -> np.ndarray:
        """Return the true label of every row.

        Parameters
        ----------
        X : ndarray of shape (n_samples, 1)
            Inputs, 0 or 1.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            In {-1, +1}.
        """
        return np.where(X[:, 0] == 1, self.label, -1)

    @property
    def bayes_risk(self) -> float:
        """Zero: the labels are a function of the inputs."""
        return 0.0

    def probability_unseen(self, n_samples: int) -> float:
        """Return the probability that the rare point is absent from a sample.

        Parameters
        ----------
        n_samples : int
            Sample size m.

        Returns
        -------
        probability : float
            (1 - probability)^m, at most exp(-probability * m).
        """
        return float((1 - self.probability) ** n_samples)
