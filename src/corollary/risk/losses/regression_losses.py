"""Regression losses: functions of the residual ``s = y - prediction``, and one of counts.

==================== ============================ =======================
loss                 rho(s)                       population minimiser
==================== ============================ =======================
square               s^2                          conditional mean
absolute             abs(s)                       conditional median
pinball              max(q s, (q - 1) s)          conditional q-quantile
epsilon-insensitive  max(abs(s) - epsilon, 0)     an interval's end
huber                s^2, straight beyond epsilon a mean without tails
poisson              exp(f) - y f + constant(y)   log of conditional mean
==================== ============================ =======================

The sign of the residual matters for the pinball loss: with ``prediction - y`` in place of
``y - prediction`` the minimiser would be the (1 - q)-quantile.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import xlogy

from corollary.core.schema import Number, Schema
from corollary.risk import _codes
from corollary.risk.losses._checks import check_posterior, check_range, pair
from corollary.risk.losses.loss import Loss

# Cumulative sums of probabilities carry rounding of this order; without it a quantile level that
# is hit exactly (0.5 of ten tenths) could fall on the next outcome.
_ROUNDING = 1e-12


class RegressionLoss(Loss):
    """A convex loss ``rho(y - prediction)`` of the residual.

    Examples
    --------
    >>> from corollary.risk import RegressionLoss, SquareLoss
    >>> isinstance(SquareLoss(), RegressionLoss), SquareLoss().slope([1.0], [3.0])
    (True, array([4.]))
    """

    @abstractmethod
    def _value(self, s: np.ndarray) -> np.ndarray: ...

    @abstractmethod
    def _slope(self, s: np.ndarray) -> np.ndarray: ...

    def _curvature(self, s: np.ndarray) -> np.ndarray:
        return np.zeros_like(s)

    @abstractmethod
    def _minimiser(self, posterior: np.ndarray, outcomes: np.ndarray) -> np.ndarray: ...

    def value(self, y_true: Any, prediction: Any) -> np.ndarray:
        """Return the loss ``rho(y_true - prediction)`` of every prediction."""
        return self._value(self._residual(y_true, prediction))

    def slope(self, y_true: Any, prediction: Any) -> np.ndarray:
        """Return the derivative ``-rho'(y_true - prediction)`` of every loss."""
        return -self._slope(self._residual(y_true, prediction))

    def curvature(self, y_true: Any, prediction: Any) -> np.ndarray:
        """Return the second derivative ``rho''(y_true - prediction)`` of every loss."""
        return self._curvature(self._residual(y_true, prediction))

    def _residual(self, y_true: Any, prediction: Any) -> np.ndarray:
        y_true, prediction = pair(type(self).__name__, y_true, prediction)
        return y_true.astype(float) - prediction.astype(float)

    def minimiser(self, posterior: Any, outcomes: Any) -> np.ndarray:
        """Return the prediction with the smallest expected loss.

        Parameters
        ----------
        posterior : array-like of shape (n_samples, n_outcomes)
            Probabilities of the outcomes.
        outcomes : array-like of shape (n_outcomes,)
            Real values of the truth.

        Returns
        -------
        prediction : ndarray of shape (n_samples,)
            The optimal predictions; the smallest where several are optimal, except for the
            epsilon-insensitive loss, see there.
        """
        posterior, outcomes = check_posterior(type(self).__name__, posterior, outcomes)
        return self._minimiser(posterior, outcomes.astype(float))

    def upper_bound_on(self, low: float = -np.inf, high: float = np.inf) -> float:
        """Return the largest loss when truths and predictions lie in a range."""
        return float(self._value(self._ends(low, high)).max())

    def lipschitz_on(self, low: float = -np.inf, high: float = np.inf) -> float:
        """Return the largest absolute slope when truths and predictions lie in a range."""
        return float(np.abs(self._slope(self._ends(low, high))).max())

    def smoothness_on(self, low: float = -np.inf, high: float = np.inf) -> float:
        """Return the curvature, constant where there is one; infinite for a loss with a kink."""
        largest = float(self._curvature(self._ends(low, high)).max())
        return largest if self.differentiable else np.inf

    def _ends(self, low: float, high: float) -> np.ndarray:
        check_range(type(self).__name__, low, high)
        return np.array([low - high, high - low], dtype=float)


def conditional_mean(posterior: Any, outcomes: Any) -> np.ndarray:
    """Return the mean of each conditional law: the Bayes regressor for the square loss.

    Parameters
    ----------
    posterior : array-like of shape (n_samples, n_outcomes)
        Probabilities of the outcomes.
    outcomes : array-like of shape (n_outcomes,)
        Real values of the truth.

    Returns
    -------
    mean : ndarray of shape (n_samples,)
        ``E[y | x]``.

    Examples
    --------
    >>> from corollary.risk import conditional_mean
    >>> conditional_mean([[0.5, 0.5], [0.25, 0.75]], [0.0, 4.0])
    array([2., 3.])
    """
    posterior, outcomes = check_posterior("conditional_mean", posterior, outcomes)
    return posterior @ outcomes.astype(float)


def conditional_quantile(posterior: Any, outcomes: Any, quantile: float) -> np.ndarray:
    """Return a quantile of each conditional law: the Bayes regressor for the pinball loss.

    Parameters
    ----------
    posterior : array-like of shape (n_samples, n_outcomes)
        Probabilities of the outcomes.
    outcomes : array-like of shape (n_outcomes,)
        Real values of the truth, in any order.
    quantile : float
        Level q in (0, 1).

    Returns
    -------
    quantile : ndarray of shape (n_samples,)
        The smallest outcome whose cumulative probability is at least q.

    Examples
    --------
    >>> from corollary.risk import conditional_quantile
    >>> conditional_quantile([[0.2, 0.3, 0.5]], [1.0, 2.0, 3.0], 0.5)
    array([2.])
    """
    posterior, outcomes = check_posterior("conditional_quantile", posterior, outcomes)
    _check_level("conditional_quantile", quantile)
    order = np.argsort(outcomes)
    reached = np.cumsum(posterior[:, order], axis=1) >= quantile - _ROUNDING
    return outcomes.astype(float)[order][reached.argmax(axis=1)]


def _check_level(name: str, quantile: float) -> None:
    if not 0 < quantile < 1:
        raise ValueError(
            f"The 'quantile' parameter of {name} must be a float in the range (0.0, 1.0). "
            f"Got {quantile!r} instead."
        )


@dataclass(frozen=True)
class SquareLoss(RegressionLoss):
    """Square loss ``(y - prediction)^2``.

    Its mean over rows is the mean square error ``||y - Xw||^2 / n`` of a linear predictor. For
    truths and predictions in {0, 1} it equals the zero-one loss.

    Examples
    --------
    >>> from corollary.risk import SquareLoss
    >>> SquareLoss()([1.0, 2.0], [1.5, 0.0])
    array([0.25, 4.  ])
    >>> SquareLoss().upper_bound_on(0, 3)
    9.0
    """

    name = "square"
    code = _codes.SQUARE
    _schema = Schema()

    def _value(self, s: np.ndarray) -> np.ndarray:
        return s**2

    def _slope(self, s: np.ndarray) -> np.ndarray:
        return 2 * s

    def _curvature(self, s: np.ndarray) -> np.ndarray:
        return np.full_like(s, 2.0)

    def _minimiser(self, posterior: np.ndarray, outcomes: np.ndarray) -> np.ndarray:
        return conditional_mean(posterior, outcomes)


@dataclass(frozen=True)
class AbsoluteLoss(RegressionLoss):
    """Absolute loss ``|y - prediction|``.

    Examples
    --------
    >>> from corollary.risk import AbsoluteLoss
    >>> AbsoluteLoss()([1.0, 2.0], [1.5, 0.0])
    array([0.5, 2. ])
    """

    name = "absolute"
    code = _codes.ABSOLUTE
    _schema = Schema()
    differentiable = False

    def _value(self, s: np.ndarray) -> np.ndarray:
        return np.abs(s)

    def _slope(self, s: np.ndarray) -> np.ndarray:
        return np.sign(s)

    def _minimiser(self, posterior: np.ndarray, outcomes: np.ndarray) -> np.ndarray:
        return conditional_quantile(posterior, outcomes, 0.5)


@dataclass(frozen=True)
class PinballLoss(RegressionLoss):
    """Pinball loss: ``q s`` for s > 0 and ``-(1 - q) s`` otherwise, ``s = y - prediction``.

    At ``s = 0`` the subgradient is that of ``s < 0``, so that its expectation is exactly
    ``F(prediction) - q`` with F the distribution function of y.

    Parameters
    ----------
    quantile : float, default=0.5
        Level q in (0, 1); at 0.5 the loss is half the absolute loss.

    Examples
    --------
    >>> from corollary.risk import PinballLoss
    >>> PinballLoss(quantile=0.75)([1.0, 2.0], [2.0, 1.0])
    array([0.25, 0.75])
    """

    quantile: float = 0.5
    name = "pinball"
    code = _codes.PINBALL
    _schema = Schema(quantile=Number(0, 1))
    differentiable = False

    def __post_init__(self) -> None:
        _check_level("PinballLoss", self.quantile)

    @property
    def shape(self) -> float:
        """The level q."""
        return self.quantile

    def _value(self, s: np.ndarray) -> np.ndarray:
        return np.maximum(self.quantile * s, (self.quantile - 1) * s)

    def _slope(self, s: np.ndarray) -> np.ndarray:
        return np.where(s > 0, self.quantile, self.quantile - 1)

    def _minimiser(self, posterior: np.ndarray, outcomes: np.ndarray) -> np.ndarray:
        return conditional_quantile(posterior, outcomes, self.quantile)


@dataclass(frozen=True)
class EpsilonInsensitiveLoss(RegressionLoss):
    """Epsilon-insensitive loss ``max(|y - prediction| - epsilon, 0)`` of support vector regression.

    The expected loss is piecewise linear with kinks at ``outcome +- epsilon``; its minimiser is
    the smallest kink that attains the minimum.

    Parameters
    ----------
    epsilon : float, default=0.1
        Half-width of the tube within which errors cost nothing; not negative.

    Examples
    --------
    >>> from corollary.risk import EpsilonInsensitiveLoss
    >>> EpsilonInsensitiveLoss(epsilon=0.5)([1.0, 2.0], [1.25, 0.0])
    array([0. , 1.5])
    """

    epsilon: float = 0.1
    name = "epsilon_insensitive"
    code = _codes.EPSILON_INSENSITIVE
    _schema = Schema(epsilon=Number(0))
    differentiable = False

    def __post_init__(self) -> None:
        if not self.epsilon >= 0:
            raise ValueError(
                "The 'epsilon' parameter of EpsilonInsensitiveLoss must be a float in the range "
                f"[0.0, inf). Got {self.epsilon!r} instead."
            )

    @property
    def shape(self) -> float:
        """Half the width of the tube."""
        return self.epsilon

    def _value(self, s: np.ndarray) -> np.ndarray:
        return np.maximum(np.abs(s) - self.epsilon, 0)

    def _slope(self, s: np.ndarray) -> np.ndarray:
        return np.where(np.abs(s) > self.epsilon, np.sign(s), 0.0)

    def _minimiser(self, posterior: np.ndarray, outcomes: np.ndarray) -> np.ndarray:
        kinks = np.sort(np.concatenate([outcomes - self.epsilon, outcomes + self.epsilon]))
        risks = posterior @ self._value(outcomes[:, None] - kinks[None, :])
        # Equal up to rounding counts as equal, so that the smallest is found reliably.
        best = risks <= risks.min(axis=1, keepdims=True) + _ROUNDING
        return kinks[best.argmax(axis=1)]


@dataclass(frozen=True)
class HuberLoss(RegressionLoss):
    """Huber's loss: the square of small residuals, a straight line for large ones.

    Equals ``s^2`` for ``|s| <= epsilon`` and ``2 epsilon |s| - epsilon^2`` beyond, so that no row
    pulls harder than one at ``epsilon``.

    Parameters
    ----------
    epsilon : float, default=1.35
        Where the line begins; positive.

    Examples
    --------
    >>> from corollary.risk import HuberLoss
    >>> HuberLoss(epsilon=1.0)([0.5, 3.0], [0.0, 0.0])
    array([0.25, 5.  ])
    """

    epsilon: float = 1.35
    name = "huber"
    _schema = Schema(epsilon=Number(0))

    def __post_init__(self) -> None:
        if not self.epsilon > 0:
            raise ValueError(
                "The 'epsilon' parameter of HuberLoss must be a float in the range (0.0, inf). "
                f"Got {self.epsilon!r} instead."
            )

    def _value(self, s: np.ndarray) -> np.ndarray:
        near = np.minimum(np.abs(s), self.epsilon)
        return near * (2 * np.abs(s) - near)

    def _slope(self, s: np.ndarray) -> np.ndarray:
        return 2 * np.clip(s, -self.epsilon, self.epsilon)

    def _curvature(self, s: np.ndarray) -> np.ndarray:
        return np.where(np.abs(s) <= self.epsilon, 2.0, 0.0)

    def _minimiser(self, posterior: np.ndarray, outcomes: np.ndarray) -> np.ndarray:
        # The slope of the expected loss rises with the prediction and is linear between kinks.
        kinks = np.sort(np.concatenate([outcomes - self.epsilon, outcomes + self.epsilon]))
        slopes = -posterior @ self._slope(outcomes[:, None] - kinks[None, :])
        after = np.maximum((slopes >= -_ROUNDING).argmax(axis=1), 1)
        rows = np.arange(len(posterior))
        low, high = slopes[rows, after - 1], slopes[rows, after]
        share = np.where(high > low, -low / np.where(high > low, high - low, 1.0), 0.0)
        return kinks[after - 1] + np.clip(share, 0.0, 1.0) * (kinks[after] - kinks[after - 1])

    def smoothness_on(self, low: float = -np.inf, high: float = np.inf) -> float:
        """Return the largest curvature, that of small residuals."""
        check_range("HuberLoss", low, high)
        return 2.0


@dataclass(frozen=True)
class PoissonLoss(Loss):
    """Half the deviance of counts whose predicted mean is ``exp(prediction)``.

    Equals ``exp(f) - y - y f + y log(y)`` for a truth y of at least 0 and a prediction f, and is 0
    where ``exp(f) = y``.

    Examples
    --------
    >>> from corollary.risk import PoissonLoss
    >>> PoissonLoss()([1.0, 0.0], [0.0, 0.0])
    array([0., 1.])
    """

    name = "poisson"
    code = _codes.POISSON
    _schema = Schema()

    def value(self, y_true: Any, prediction: Any) -> np.ndarray:
        """Return half deviances."""
        y, f = self._counts(y_true, prediction)
        with np.errstate(over="ignore"):
            return np.exp(f) - y - y * f + xlogy(y, y)

    def slope(self, y_true: Any, prediction: Any) -> np.ndarray:
        """Return predicted mean minus truth."""
        y, f = self._counts(y_true, prediction)
        with np.errstate(over="ignore"):
            return np.exp(f) - y

    def curvature(self, y_true: Any, prediction: Any) -> np.ndarray:
        """Return predicted means."""
        with np.errstate(over="ignore"):
            return np.exp(self._counts(y_true, prediction)[1])

    def _counts(self, y_true: Any, prediction: Any) -> tuple[np.ndarray, np.ndarray]:
        y, f = pair("PoissonLoss", y_true, prediction)
        y = y.astype(float)
        if not np.all(y >= 0):
            raise ValueError("PoissonLoss needs truths of at least 0; it is a loss of counts.")
        return y, f.astype(float)

    def select(self, prediction: Any) -> np.ndarray:
        """Return predicted means."""
        return np.exp(np.asarray(prediction, dtype=float))

    def minimiser(self, posterior: Any, outcomes: Any) -> np.ndarray:
        """Return the logarithms of the conditional means."""
        with np.errstate(divide="ignore"):
            return np.log(conditional_mean(posterior, outcomes))

    def smoothness_on(self, low: float = -np.inf, high: float = np.inf) -> float:
        """Return the largest predicted mean."""
        check_range("PoissonLoss", low, high)
        return float(np.exp(high))
