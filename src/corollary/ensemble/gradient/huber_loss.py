"""Huber's loss in gradient boosting: squares of small residuals, absolute values of large ones."""

from dataclasses import dataclass

import numpy as np

from corollary.ensemble.boosting.losses import BoostingLoss
from corollary.ensemble.boosting.quantile_losses import weighted_quantile


@dataclass(frozen=True)
class HuberBoostingLoss(BoostingLoss):
    r"""Half the squared residual up to :math:`\delta`, beyond :math:`\delta(|y-f|-\delta/2)`.

    Parameters
    ----------
    delta : float
        Where the loss becomes linear.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import HuberBoostingLoss
    >>> HuberBoostingLoss(1.0).value(np.array([0.5, 3.0]), np.zeros((2, 1)))
    array([0.125, 2.5  ])
    """

    delta: float
    kernel = "square"
    renews = True

    def start(self, y: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """Return the median, moved by the mean of the residuals that are not cut."""
        return self.leaf_value(y, np.zeros((len(y), 1)), weight)

    def value(self, y: np.ndarray, raw: np.ndarray) -> np.ndarray:
        """Return Huber's losses."""
        size = np.abs(y - raw[:, 0])
        near = np.minimum(size, self.delta)
        return near * (size - 0.5 * near)

    def derivatives(
        self, y: np.ndarray, raw: np.ndarray, weight: np.ndarray | None = None, iteration: int = 0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return slopes, and ones for curvatures."""
        slope = np.clip(raw[:, 0] - y, -self.delta, self.delta)
        factor = np.ones(len(y)) if weight is None else weight
        return (factor * slope)[None], factor[None]

    def leaf_value(
        self, y: np.ndarray, raw: np.ndarray, weight: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the median of the residuals plus the mean of what is near it."""
        residual = y - raw[:, 0]
        median = weighted_quantile(residual, 0.5, weight)
        near = np.clip(residual - median, -self.delta, self.delta)
        return np.array([median + np.average(near, weights=weight)])
