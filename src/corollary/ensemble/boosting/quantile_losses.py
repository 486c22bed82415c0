"""Losses of gradient boosting whose leaves hold quantiles: of one level, or of several."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.ensemble.boosting.losses import BoostingLoss
from corollary.risk import PinballLoss

# A leaf moves the logarithm of a gap between quantiles at most this far.
_GAP_STEP = 2.0


def weighted_quantile(values: Any, level: float, weights: Any = None) -> float:
    """Return the smallest value with at least a share ``level`` of the weight at or below it.

    Parameters
    ----------
    values : array-like of shape (n,)
        Numbers; minus infinity is allowed.
    level : float
        From 0 to 1.
    weights : array-like of shape (n,) or None, default=None
        Non-negative weights; None for equal ones.

    Returns
    -------
    quantile : float
        One of the values.

    Examples
    --------
    >>> from corollary.ensemble import weighted_quantile
    >>> weighted_quantile([1.0, 2.0, 3.0, 4.0], 0.5)
    2.0
    >>> weighted_quantile([1.0, 2.0, 3.0], 0.5, [1.0, 1.0, 3.0])
    3.0
    """
    values = np.asarray(values, dtype=np.float64)
    if not values.size:
        raise ValueError("weighted_quantile needs at least one value. Got none.")
    if weights is None:
        place = int(np.ceil(level * len(values) - 1e-9)) - 1
        place = min(max(place, 0), len(values) - 1)
        return float(np.partition(values, place)[place])
    order = np.argsort(values, kind="stable")
    mass = np.cumsum(np.asarray(weights, dtype=np.float64)[order])
    place = int(np.searchsorted(mass, level * mass[-1] * (1 - 1e-12)))
    return float(values[order[min(place, len(values) - 1)]])


@dataclass(frozen=True)
class PinballBoostingLoss(BoostingLoss):
    r"""The loss of a quantile, :math:`\max(\tau(y-f),(\tau-1)(y-f))`; leaves hold quantiles.

    Parameters
    ----------
    level : float, default=0.5
        The level :math:`\tau`; one half gives half the absolute error.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import PinballBoostingLoss
    >>> PinballBoostingLoss(0.9).value(np.array([1.0, -1.0]), np.zeros((2, 1)))
    array([0.9, 0.1])
    """

    level: float = 0.5
    kernel = "pinball"
    renews = True

    def parameters(self, iteration: int) -> np.ndarray:
        """Return the level."""
        return np.array([self.level])

    def start(self, y: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """Return the quantile."""
        return np.array([weighted_quantile(y, self.level, weight)])

    def value(self, y: np.ndarray, raw: np.ndarray) -> np.ndarray:
        """Return pinball losses."""
        return PinballLoss(self.level).value(y, raw[:, 0])

    def leaf_value(
        self, y: np.ndarray, raw: np.ndarray, weight: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the quantile of the residuals."""
        return np.array([weighted_quantile(y - raw[:, 0], self.level, weight)])


@dataclass(frozen=True)
class QuantilesBoostingLoss(BoostingLoss):
    r"""Several quantiles that cannot cross.

    The raw predictions are the quantile at the base level (the one next to the median) and the
    logarithms of the gaps to the others,

    .. math:: q_b=f_b,\qquad q_{k+1}=q_k+e^{f_{k+1}}\ (k\ge b),\qquad
        q_{k}=q_{k+1}-e^{f_{k}}\ (k<b),

    so that the quantiles are ordered whatever the trees say. A tree is grown on the pinball loss
    of one level, the levels taking turns; each of its leaves holds a step for every level, chosen
    so that the right share of its rows lies below.

    Parameters
    ----------
    levels : tuple of float
        Ascending levels.

    Notes
    -----
    Guarantee: quantiles at higher levels are never smaller; checked by
    ``tests/ensemble/test_gradient_boosting.py::test_quantiles_never_cross``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import QuantilesBoostingLoss
    >>> QuantilesBoostingLoss((0.1, 0.5, 0.9)).quantiles(np.array([[0.0, 5.0, 0.0]]))
    array([[4., 5., 6.]])
    """

    levels: tuple[float, ...]
    kernel = "quantiles"
    renews = True

    @property
    def n_outputs(self) -> int:  # type: ignore[override]
        """Raw predictions per row."""
        return len(self.levels)

    @property
    def base(self) -> int:
        """Position of the level next to one half."""
        return int(np.argmin(np.abs(np.array(self.levels) - 0.5)))

    def parameters(self, iteration: int) -> np.ndarray:
        """Return the position of the level in turn, of the base level, and the level."""
        at = (self.base + iteration) % len(self.levels)
        return np.array([at, self.base, self.levels[at]])

    def quantiles(self, raw: np.ndarray) -> np.ndarray:
        """Return the quantiles that raw predictions stand for.

        Parameters
        ----------
        raw : ndarray of shape (n_samples, n_levels)
            Raw predictions.

        Returns
        -------
        quantiles : ndarray of shape (n_samples, n_levels)
            Ascending in every row.
        """
        base = self.base
        with np.errstate(over="ignore"):
            gaps = np.minimum(np.exp(raw), np.finfo(np.float64).max / 1e3)
        result = np.empty(raw.shape)
        result[:, base] = raw[:, base]
        for k in range(base + 1, raw.shape[1]):
            result[:, k] = result[:, k - 1] + gaps[:, k]
        for k in range(base - 1, -1, -1):
            result[:, k] = result[:, k + 1] - gaps[:, k]
        return result

    def start(self, y: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """Return the base quantile and logarithms of the gaps between quantiles of y."""
        quantiles = np.array([weighted_quantile(y, level, weight) for level in self.levels])
        spread = float(np.ptp(y)) or max(1.0, abs(float(y[0]))) * 1e-9
        raw = np.empty(len(quantiles))
        raw[self.base] = quantiles[self.base]
        for k in range(len(quantiles)):
            if k != self.base:
                inner = k - 1 if k > self.base else k + 1
                raw[k] = np.log(max(abs(quantiles[k] - quantiles[inner]), 1e-6 * spread))
        return raw

    def value(self, y: np.ndarray, raw: np.ndarray) -> np.ndarray:
        """Return the mean of the pinball losses of all levels."""
        columns = zip(self.levels, self.quantiles(raw).T)
        return np.mean([PinballLoss(level).value(y, q) for level, q in columns], axis=0)

    def leaf_value(
        self, y: np.ndarray, raw: np.ndarray, weight: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the steps after which the shares of rows below the quantiles are right."""
        base, levels = self.base, self.levels
        now = raw.copy()
        step = np.zeros(len(levels))
        step[base] = weighted_quantile(y - now[:, base], levels[base], weight)
        now[:, base] += step[base]
        sides = [(range(base + 1, len(levels)), 1.0), (range(base - 1, -1, -1), -1.0)]
        for ways, sign in sides:
            inner = now[:, base].copy()
            for k in ways:
                beyond = sign * (y - inner)
                with np.errstate(divide="ignore", invalid="ignore"):
                    ratio = np.where(beyond > 0.0, np.log(beyond) - now[:, k], -np.inf)
                level = levels[k] if sign > 0 else 1.0 - levels[k]
                change = weighted_quantile(ratio, level, weight)
                step[k] = np.clip(change, -_GAP_STEP, _GAP_STEP)
                now[:, k] += step[k]
                inner += sign * np.exp(now[:, k])
        return step
