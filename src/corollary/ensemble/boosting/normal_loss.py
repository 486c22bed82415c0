"""The loss of gradient boosting that learns a normal law, and the calibration of its scale."""

from dataclasses import dataclass

import numpy as np

from corollary.ensemble.boosting.losses import BoostingLoss


@dataclass(frozen=True)
class NormalBoostingLoss(BoostingLoss):
    r"""Minus the log density of a normal law whose mean and log standard deviation are learnt.

    Trees for both parameters descend along the natural gradient: the derivative divided by
    Fisher's information, :math:`\sigma^{-2}` for the mean and 2 for the log scale. Trees that fit
    their rows leave small residuals there, and a scale that is too small elsewhere; so
    :meth:`calibrate` replaces the log scale s by a + b s with the a and the b from 0 to 1 that
    suit held-out rows best.

    Parameters
    ----------
    floor : float, default=0.0
        The standard deviation never falls far below it: residuals are taken to be at least this
        large where the scale is learnt.

    References
    ----------
    Duan, T., et al. (2020). NGBoost: natural gradient boosting for probabilistic prediction.
    ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import NormalBoostingLoss
    >>> NormalBoostingLoss().start(np.array([0.0, 2.0])).round(6)
    array([1., 0.])
    """

    floor: float = 0.0
    n_outputs = 2
    n_trees = 2
    tempers = True
    calibrates = True
    kernel = "normal"

    def parameters(self, iteration: int) -> np.ndarray:
        """Return the square of the floor."""
        return np.array([self.floor**2])

    def start(self, y: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """Return mean and log standard deviation."""
        mean = float(np.average(y, weights=weight))
        variance = float(np.average((y - mean) ** 2, weights=weight))
        tiny = np.finfo(np.float64).tiny ** 0.5
        floor = max(abs(mean) * 1e-9, tiny)
        return np.array([mean, np.log(max(np.sqrt(variance), floor))])

    def value(self, y: np.ndarray, raw: np.ndarray) -> np.ndarray:
        """Return minus log densities."""
        z = (y - raw[:, 0]) * np.exp(-raw[:, 1])
        return np.asarray(0.5 * z * z + raw[:, 1] + 0.5 * np.log(2.0 * np.pi))

    def temper(self, steps: np.ndarray, output: int) -> np.ndarray:
        """Widen the scale to what fits the leaf and no further."""
        if output == 0:
            return steps
        # A leaf whose mean of z^2 is m has step (m - 1) / 2; log(m) / 2 is its best one.
        return np.where(steps > 0.0, 0.5 * np.log1p(2.0 * np.maximum(steps, 0.0)), steps)

    def calibrate(
        self, start: np.ndarray, y: np.ndarray, raw: np.ndarray, weight: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the start and the factors that turn the log scale s into a + b s."""
        tiny = np.finfo(np.float64).tiny ** 0.5
        floor = max(self.floor, 1e-9 * abs(start[0]), tiny)
        squares = (y - raw[:, 0]) ** 2 + floor**2
        a, b = calibrated_scale(squares, raw[:, 1], weight)
        return np.array([start[0], a + b * start[1]]), np.array([1.0, b])


def calibrated_scale(
    squares: np.ndarray, log_scale: np.ndarray, weight: np.ndarray | None = None
) -> tuple[float, float]:
    r"""Return the a and b for which :math:`\sigma=e^{a+bs}` is the likeliest scale of residuals.

    For each b the best a is half the logarithm of the mean of :math:`r^2e^{-2bs}`, which leaves a
    convex function of b. As a is learnt from m residuals, the variance is enlarged by
    (m + 1)/(m - 2), which is that of new rows.

    Parameters
    ----------
    squares : ndarray of shape (n_samples,)
        Squared residuals of rows that no model was fitted to, above 0.
    log_scale : ndarray of shape (n_samples,)
        Logarithms s of the scale as it was learnt.
    weight : ndarray of shape (n_samples,) or None, default=None
        Weights.

    Returns
    -------
    a : float
        The shift.
    b : float
        The factor, from 0 (the same scale for all rows) to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import calibrated_scale
    >>> s = np.tile([0.0, 1.0], 500)
    >>> a, b = calibrated_scale(np.exp(2 * (0.5 + s)), s)
    >>> round(a, 2), round(b, 2)
    (0.5, 1.0)
    """
    logs = np.log(squares)
    weight = np.ones(len(logs)) if weight is None else weight
    share = weight / weight.sum()
    centre = float(share @ log_scale)

    def best_shift(b: float) -> float:
        exponents = logs - 2.0 * b * log_scale
        top = exponents.max()
        return 0.5 * float(top + np.log(share @ np.exp(exponents - top)))

    def slope(b: float) -> float:
        exponents = logs - 2.0 * b * log_scale
        tilted = share * np.exp(exponents - exponents.max())
        return centre - float(tilted @ log_scale / tilted.sum())

    low, high = 0.0, 1.0
    for _ in range(50):
        b = 0.5 * (low + high)
        low, high = (b, high) if slope(b) < 0.0 else (low, b)
    rows = 1.0 / float(share @ share)
    return best_shift(b) + 0.5 * float(np.log((rows + 1.0) / max(rows - 2.0, 0.5))), b
