"""Margin losses: functions of ``s = y * score`` for labels y in {-1, +1}.

============== ========================= ========================== =================
loss           phi(s)                    minimiser for p = P(+1|x)  Lipschitz
============== ========================= ========================== =================
hinge          max(1 - s, 0)             sign(2p - 1)               1
squared hinge  max(1 - s, 0)^2           2p - 1                     infinite
logistic       log(1 + exp(-s))          log(p / (1 - p))           1
exponential    exp(-s)                   log(p / (1 - p)) / 2       infinite
perceptron     max(-s, 0)                0                          1
ramp           min(1, max(1 - s/g, 0))   g sign(2p - 1)             1 / g
square         (1 - s)^2 = (y - f)^2     2p - 1                     infinite
============== ========================= ========================== =================

The zero-one loss of a score is *not* a margin loss: by ``sign(0) = +1`` it depends on the label
at s = 0. It lies below ``1{s <= 0}``, see :mod:`corollary.risk.losses.surrogates`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit

from corollary.core.schema import Number, Schema
from corollary.risk import _codes
from corollary.risk.losses._checks import check_range
from corollary.risk.losses.margin import MarginLoss


@dataclass(frozen=True)
class HingeLoss(MarginLoss):
    """Hinge loss ``max(1 - s, 0)`` of support vector machines.

    Convex, 1-Lipschitz, at least the zero-one loss; the subgradient is ``-1{s < 1}``.

    Examples
    --------
    >>> from corollary.risk import HingeLoss
    >>> HingeLoss()([1, 1, -1], [2.0, 0.5, 0.5])
    array([0. , 0.5, 1.5])
    """

    name = "hinge"
    code = _codes.HINGE
    _schema = Schema()
    differentiable = False

    def _value(self, s: np.ndarray) -> np.ndarray:
        return np.maximum(1 - s, 0)

    def _slope(self, s: np.ndarray) -> np.ndarray:
        return np.where(s < 1, -1.0, 0.0)

    def _link(self, p: np.ndarray) -> np.ndarray:
        return np.where(p >= 0.5, 1.0, -1.0)


@dataclass(frozen=True)
class SquaredHingeLoss(MarginLoss):
    """Squared hinge loss ``max(1 - s, 0)^2``, which comes from squared slacks.

    Examples
    --------
    >>> from corollary.risk import SquaredHingeLoss
    >>> SquaredHingeLoss()([1, 1, -1], [2.0, 0.5, 0.5])
    array([0.  , 0.25, 2.25])
    """

    name = "squared_hinge"
    code = _codes.SQUARED_HINGE
    _schema = Schema()

    def _value(self, s: np.ndarray) -> np.ndarray:
        return np.maximum(1 - s, 0) ** 2

    def _slope(self, s: np.ndarray) -> np.ndarray:
        return -2 * np.maximum(1 - s, 0)

    def _curvature(self, s: np.ndarray) -> np.ndarray:
        return np.where(s < 1, 2.0, 0.0)

    def _link(self, p: np.ndarray) -> np.ndarray:
        return 2 * p - 1

    def _inverse_link(self, score: np.ndarray) -> np.ndarray:
        # Scores beyond -1 and 1 are no worse than -1 and 1 for sure labels.
        return (np.clip(score, -1, 1) + 1) / 2


@dataclass(frozen=True)
class LogisticLoss(MarginLoss):
    """Logistic loss ``log(1 + exp(-s))``, the negative log-likelihood of logistic regression.

    Everything is computed from ``exp(-|s|)``, which neither overflows nor loses digits.

    Examples
    --------
    >>> from corollary.risk import LogisticLoss
    >>> LogisticLoss()([1, 1, -1], [0.0, 800.0, 800.0]).round(4)
    array([6.931e-01, 0.000e+00, 8.000e+02])
    """

    name = "logistic"
    code = _codes.LOGISTIC
    _schema = Schema()

    def _value(self, s: np.ndarray) -> np.ndarray:
        return np.maximum(-s, 0) + np.log1p(np.exp(-np.abs(s)))

    def _slope(self, s: np.ndarray) -> np.ndarray:
        return -expit(-s)

    def _curvature(self, s: np.ndarray) -> np.ndarray:
        return self.terms_of_margin(s)[2]

    def terms_of_margin(self, margin: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return loss, slope and curvature as functions of the margin, from one exponential."""
        s = np.asarray(margin, dtype=float)
        small = np.exp(-np.abs(s))
        whole = 1 + small
        slope = -np.where(s >= 0, small, 1.0) / whole
        return np.maximum(-s, 0) + np.log1p(small), slope, small / whole**2

    def _link(self, p: np.ndarray) -> np.ndarray:
        return logit(p)

    def _inverse_link(self, score: np.ndarray) -> np.ndarray:
        return expit(score)


@dataclass(frozen=True)
class ExponentialLoss(MarginLoss):
    """Exponential loss ``exp(-s)`` of boosting.

    Its population minimiser is *half* the log-odds, ``log(p / (1 - p)) / 2``, and
    ``p = exp(f) / (exp(f) + exp(-f))`` leads back.

    Examples
    --------
    >>> from corollary.risk import ExponentialLoss
    >>> loss = ExponentialLoss()
    >>> loss([1, -1], [0.0, 1.0]).round(3)
    array([1.   , 2.718])
    >>> round(float(loss.link(0.9)), 4), round(float(loss.inverse_link(loss.link(0.9))), 4)
    (1.0986, 0.9)
    """

    name = "exponential"
    code = _codes.EXPONENTIAL
    _schema = Schema()

    def _value(self, s: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return np.exp(-s)

    def _slope(self, s: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return -np.exp(-s)

    def _curvature(self, s: np.ndarray) -> np.ndarray:
        return self._value(s)

    def _link(self, p: np.ndarray) -> np.ndarray:
        return logit(p) / 2

    def _inverse_link(self, score: np.ndarray) -> np.ndarray:
        return expit(2 * score)


@dataclass(frozen=True)
class PerceptronLoss(MarginLoss):
    """Perceptron loss ``max(-s, 0)``.

    Zero exactly when every margin is at least zero, hence also for the zero score: it does not
    bound the zero-one loss.

    Examples
    --------
    >>> from corollary.risk import PerceptronLoss
    >>> PerceptronLoss()([1, 1, -1], [2.0, 0.0, 0.5])
    array([0. , 0. , 0.5])
    """

    name = "perceptron"
    code = _codes.PERCEPTRON
    _schema = Schema()
    differentiable = False

    def _value(self, s: np.ndarray) -> np.ndarray:
        return np.maximum(-s, 0)

    def _slope(self, s: np.ndarray) -> np.ndarray:
        return np.where(s < 0, -1.0, 0.0)

    def _link(self, p: np.ndarray) -> np.ndarray:
        return np.zeros_like(p)


@dataclass(frozen=True)
class RampLoss(MarginLoss):
    """Ramp loss: 1 below margin 0, 0 above margin gamma, straight in between.

    It lies between two zero-one losses, ``1{s <= 0} <= ramp(s) <= 1{s < gamma}``, has values in
    [0, 1] and is ``1 / gamma``-Lipschitz, which makes it the loss of margin bounds. Equals
    ``min(1, hinge(s / gamma))``; not convex.

    Parameters
    ----------
    gamma : float, default=1.0
        Margin, positive.

    Examples
    --------
    >>> from corollary.risk import RampLoss
    >>> RampLoss(gamma=0.5)([1, 1, 1, 1], [-3.0, 0.0, 0.25, 0.5])
    array([1. , 1. , 0.5, 0. ])
    """

    gamma: float = 1.0
    name = "ramp"
    code = _codes.RAMP
    _schema = Schema(gamma=Number(0))
    convex = False
    differentiable = False

    def __post_init__(self) -> None:
        if not self.gamma > 0:
            raise ValueError(
                "The 'gamma' parameter of RampLoss must be a float in the range (0.0, inf). "
                f"Got {self.gamma!r} instead."
            )

    @property
    def shape(self) -> float:
        """The margin gamma."""
        return self.gamma

    def _value(self, s: np.ndarray) -> np.ndarray:
        return np.clip(1 - s / self.gamma, 0, 1)

    def _slope(self, s: np.ndarray) -> np.ndarray:
        return np.where((s >= 0) & (s < self.gamma), -1 / self.gamma, 0.0)

    def _link(self, p: np.ndarray) -> np.ndarray:
        return self.gamma * np.where(p >= 0.5, 1.0, -1.0)

    def lipschitz_on(self, low: float = -np.inf, high: float = np.inf) -> float:
        """Return ``1 / gamma``, or 0 if all scores of the range are beyond gamma."""
        check_range(type(self).__name__, low, high)
        # Not convex, so the ends say nothing: the ramp is flat only beyond gamma.
        return 0.0 if low >= self.gamma or high <= -self.gamma else 1 / self.gamma


@dataclass(frozen=True)
class SquareMarginLoss(MarginLoss):
    """Square loss as a margin loss, ``(1 - s)^2 = (y - score)^2``.

    It punishes large positive margins too.

    Examples
    --------
    >>> from corollary.risk import SquareMarginLoss
    >>> SquareMarginLoss()([1, -1], [3.0, 0.0])
    array([4., 1.])
    """

    name = "square_margin"
    code = _codes.SQUARE_MARGIN
    _schema = Schema()

    def _value(self, s: np.ndarray) -> np.ndarray:
        return (1 - s) ** 2

    def _slope(self, s: np.ndarray) -> np.ndarray:
        return -2 * (1 - s)

    def _curvature(self, s: np.ndarray) -> np.ndarray:
        return np.full_like(s, 2.0)

    def _link(self, p: np.ndarray) -> np.ndarray:
        return 2 * p - 1

    def _inverse_link(self, score: np.ndarray) -> np.ndarray:
        return (np.clip(score, -1, 1) + 1) / 2
