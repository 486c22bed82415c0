"""The coordinates in which hyper-parameters are searched.

Length scales are searched in ``log(reference / length_scale + 0.03)``. For features that matter it
is the logarithm; a feature that does not matter has its best length scale at infinity, which this
coordinate puts at a finite distance.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

# Share of the reference below which an inverse length scale counts as zero.
FLOOR = 0.03


@dataclass(frozen=True)
class Coordinates:
    """The coordinates in which hyper-parameters are searched."""

    reference: np.ndarray
    scales: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, search: Any) -> Self:
        """Return the coordinates for a search."""
        names = search.kernel.parameters().names
        scales = ["length_scale" in name for name in names] + [False] * search.learn_noise
        return cls(search.theta, np.array(scales, dtype=bool), search.low, search.high)

    @property
    def bounds(self) -> np.ndarray:
        """Bounds of the coordinates, of shape (p, 2)."""
        ends = self.from_theta(self.low), self.from_theta(self.high)
        return np.stack([np.minimum(*ends), np.maximum(*ends)], axis=1)

    def from_theta(self, theta: np.ndarray) -> np.ndarray:
        """Return the coordinates of hyper-parameters."""
        return np.where(self.scales, np.log(np.exp(self.reference - theta) + FLOOR), theta)

    def to_theta(self, u: np.ndarray) -> np.ndarray:
        """Return the hyper-parameters of coordinates, within their bounds."""
        ratio = np.maximum(np.exp(np.where(self.scales, u, 0.0)) - FLOOR, 1e-300)
        theta = np.where(self.scales, self.reference - np.log(ratio), u)
        return np.clip(theta, self.low, self.high)

    def slope(self, theta: np.ndarray) -> np.ndarray:
        """Return the derivatives of hyper-parameters in their coordinates."""
        # -(ratio + FLOOR) / ratio for length scales
        change = -(1.0 + FLOOR * np.exp(np.where(self.scales, theta - self.reference, 0.0)))
        return np.where(self.scales, change, 1.0)
