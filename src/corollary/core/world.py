"""World: a data distribution that is known.

Guarantees are simulated on worlds and demonstrations are drawn from them. A world states what it
knows exactly; what it does not know it does not define, so that a test cannot mistake an
estimate for the truth.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state


class RiskEstimate(NamedTuple):
    """A risk found by simulation.

    Parameters
    ----------
    value : float
        Mean loss over the draws.
    standard_error : float
        Its standard error.
    """

    value: float
    standard_error: float


class World(ABC):
    """A known joint law of inputs ``X`` and outputs ``y``.

    Subclasses are frozen dataclasses. Besides :meth:`sample` a world may define, where they exist
    in closed form, ``bayes_rule(X)`` (the best prediction), ``bayes_risk`` (its risk),
    ``risk(predictor)`` (the exact risk of a predictor), ``logdensity(X, y)`` and
    ``score(X)`` (gradient of the log density in X).
    """

    @abstractmethod
    def sample(self, n_samples: int, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw independent rows.

        Parameters
        ----------
        n_samples : int
            How many.
        random_state : int, RandomState instance or None, default=None
            Seed or generator.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Inputs.
        y : ndarray of shape (n_samples,)
            Outputs.
        """

    def estimate_risk(
        self,
        predictor: Callable[[np.ndarray], np.ndarray],
        loss: Callable[[np.ndarray, np.ndarray], np.ndarray],
        *,
        n_samples: int = 100_000,
        random_state: Any = None,
    ) -> RiskEstimate:
        """Estimate a predictor's risk on fresh rows, with its standard error.

        Parameters
        ----------
        predictor : callable
            Maps X to predictions.
        loss : callable
            ``loss(y_true, prediction)``, elementwise.
        n_samples : int, default=100000
            Fresh rows to draw.
        random_state : int, RandomState instance or None, default=None
            Seed or generator.

        Returns
        -------
        risk : RiskEstimate
            Mean loss and standard error.
        """
        X, y = self.sample(n_samples, check_random_state(random_state))
        losses = np.asarray(loss(y, predictor(X)), dtype=float)
        return RiskEstimate(float(losses.mean()), float(losses.std(ddof=1) / np.sqrt(n_samples)))
