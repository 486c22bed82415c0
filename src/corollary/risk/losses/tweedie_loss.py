r"""Deviances of Tweedie's family: laws whose variance is a power of their mean.

The variance is proportional to :math:`\mu^p`: constant for p = 0 (normal), the mean for p = 1
(Poisson), its square for p = 2 (gamma). In between, sums of a Poisson number of gamma variables
have zeros and positive amounts, as claims and rainfall have. Half the deviance has the slope

.. math:: \frac{\partial}{\partial \mu} \ell(y, \mu) = \mu^{-p} (\mu - y)

in the predicted mean, whatever p is.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import xlogy

from corollary.core.schema import Number, Schema, Text
from corollary.risk.losses._checks import pair
from corollary.risk.losses.loss import Loss
from corollary.risk.losses.regression_losses import conditional_mean


@dataclass(frozen=True)
class TweedieLoss(Loss):
    r"""Half the deviance of a law whose variance is a power of its mean.

    With mean :math:`\mu` the loss is :math:`(y - \mu)^2 / 2` for p = 0,
    :math:`\mu - y + y \log(y / \mu)` for p = 1, :math:`\log(\mu / y) + y / \mu - 1` for p = 2, else

    .. math:: \frac{\max(y, 0)^{2-p}}{(1-p)(2-p)} - \frac{y \mu^{1-p}}{1-p}
              + \frac{\mu^{2-p}}{2-p}.

    It is convex in the logarithm of the mean for powers from 1 to 2, and zero where the mean is
    the truth.

    Parameters
    ----------
    power : float, default=1.5
        The power p; no such law exists for powers between 0 and 1. Truths are positive for powers
        of at least 2, at least 0 for powers of at least 1.
    link : {"log", "identity"}, default="log"
        Whether a prediction is the logarithm of the mean, or the mean.

    See Also
    --------
    PoissonLoss : The same for counts, with a compiled form.

    Examples
    --------
    >>> from corollary.risk import TweedieLoss
    >>> TweedieLoss(power=2)([1.0, 2.0], [0.0, 0.0]).round(6)
    array([0.      , 0.306853])
    """

    power: float = 1.5
    link: Literal["log", "identity"] = "log"
    name = "tweedie"
    convex = False  # not for all powers
    _schema = Schema(power=Number(), link=Text(("log", "identity")))

    def __post_init__(self) -> None:
        if not np.isfinite(self.power) or 0 < self.power < 1:
            raise ValueError(
                "The 'power' parameter of TweedieLoss must be a float outside of (0, 1), where no "
                f"such law exists. Got {self.power!r} instead."
            )
        if self.link not in ("log", "identity"):
            raise ValueError(
                "The 'link' parameter of TweedieLoss must be 'log' or 'identity'. Got "
                f"{self.link!r} instead."
            )

    def is_truth(self, y_true: Any) -> np.ndarray:
        """Say of every number whether the law can give it.

        Parameters
        ----------
        y_true : array-like
            Numbers.

        Returns
        -------
        possible : ndarray of bool
            Positive for powers of at least 2, at least 0 for powers of at least 1, else any.
        """
        y = np.asarray(y_true, dtype=float)
        if self.power <= 0:
            return np.isfinite(y)
        return y > 0 if self.power >= 2 else y >= 0

    def value(self, y_true: Any, prediction: Any) -> np.ndarray:
        """Return half deviances; infinite where a prediction is no mean."""
        y, f = self._pair(y_true, prediction)
        p = self.power
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            if p == 0:
                value = 0.5 * (y - self.select(f)) ** 2
            elif p == 1:
                value = self._mean_to(1, f) - y - y * self._log_mean(f) + xlogy(y, y)
            elif p == 2:
                value = self._log_mean(f) - np.log(y) + y * self._mean_to(-1, f) - 1
            else:
                value = self._mean_to(2 - p, f) / (2 - p) - y * self._mean_to(1 - p, f) / (1 - p)
                value = value + np.maximum(y, 0) ** (2 - p) / ((1 - p) * (2 - p))
        return np.where(np.isnan(value), np.inf, value)

    def slope(self, y_true: Any, prediction: Any) -> np.ndarray:
        """Return derivatives in the prediction."""
        y, f = self._pair(y_true, prediction)
        return self._mean_to(1 - self.power + self._log, f) - y * self._mean_to(
            self._log - self.power, f
        )

    def curvature(self, y_true: Any, prediction: Any) -> np.ndarray:
        """Return second derivatives in the prediction."""
        y, f = self._pair(y_true, prediction)
        # The derivative of a power q of the mean is q times the power q, or q - 1.
        less, first, second = 1 - self._log, 1 - self.power + self._log, self._log - self.power
        bend = first * self._mean_to(first - less, f)
        return bend if second == 0 else bend - second * y * self._mean_to(second - less, f)

    def information(self, prediction: Any) -> np.ndarray:
        """Return curvatures in expectation over truths with the predicted mean.

        Parameters
        ----------
        prediction : array-like
            Predictions.

        Returns
        -------
        information : ndarray
            Fisher's information of each prediction, which is never negative.
        """
        return self._mean_to(2 * self._log - self.power, np.asarray(prediction, dtype=float))

    @property
    def _log(self) -> int:
        """Whether the prediction is a logarithm, as a number."""
        return int(self.link == "log")

    def _log_mean(self, f: np.ndarray) -> np.ndarray:
        return f if self.link == "log" else np.log(f)

    def _mean_to(self, power: float, f: np.ndarray) -> np.ndarray:
        """Return a power of the predicted mean."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            if self.link == "identity" and power in (0, 1):
                return f**power
            return np.exp(power * self._log_mean(f))

    def _pair(self, y_true: Any, prediction: Any) -> tuple[np.ndarray, np.ndarray]:
        y, f = pair("TweedieLoss", y_true, prediction)
        y = y.astype(float)
        if not np.all(self.is_truth(y)):
            least = "positive truths" if self.power >= 2 else "truths of at least 0"
            raise ValueError(
                f"TweedieLoss(power={self.power:g}) needs {least}. Got {np.min(y):g}; take another "
                "power, or leave these rows out."
            )
        return y, f.astype(float)

    def select(self, prediction: Any) -> np.ndarray:
        """Return predicted means."""
        prediction = np.asarray(prediction, dtype=float)
        with np.errstate(over="ignore"):
            return np.exp(prediction) if self.link == "log" else prediction

    def minimiser(self, posterior: Any, outcomes: Any) -> np.ndarray:
        """Return the conditional means, or their logarithms."""
        mean = conditional_mean(posterior, outcomes)
        with np.errstate(divide="ignore"):
            return np.log(mean) if self.link == "log" else mean
