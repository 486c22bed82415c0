"""The base of margin losses: functions of ``s = y * score`` for labels y in {-1, +1}."""

from abc import abstractmethod
from typing import Any

import numpy as np

from corollary.risk.losses._checks import check_posterior, check_range, pair
from corollary.risk.losses.loss import Loss, sign


class MarginLoss(Loss):
    """A loss ``phi(y * score)`` of the margin, for labels -1 and +1.

    Examples
    --------
    >>> from corollary.risk import LogisticLoss, MarginLoss
    >>> loss = LogisticLoss()
    >>> isinstance(loss, MarginLoss), loss.slope(1, 0.0), loss.curvature(1, 0.0), loss.link(0.5)
    (True, np.float64(-0.5), np.float64(0.25), np.float64(0.0))
    """

    @abstractmethod
    def _value(self, s: np.ndarray) -> np.ndarray: ...

    @abstractmethod
    def _slope(self, s: np.ndarray) -> np.ndarray: ...

    def _curvature(self, s: np.ndarray) -> np.ndarray:
        return np.zeros_like(s)

    @abstractmethod
    def _link(self, p: np.ndarray) -> np.ndarray: ...

    def _inverse_link(self, score: np.ndarray) -> np.ndarray:
        raise TypeError(
            f"The population minimiser of {type(self).__name__} does not determine the "
            "probability; use LogisticLoss, ExponentialLoss, SquaredHingeLoss or SquareMarginLoss."
        )

    def of_margin(self, margin: Any) -> np.ndarray:
        """Return the loss as a function of the margin.

        Parameters
        ----------
        margin : array-like
            Products ``s`` of label and score.

        Returns
        -------
        losses : ndarray of the same shape
            ``phi(s)``.
        """
        return self._value(np.asarray(margin, dtype=float))

    def terms_of_margin(self, margin: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return loss, slope and curvature as functions of the margin, computed together.

        Parameters
        ----------
        margin : array-like
            Products ``s`` of label and score.

        Returns
        -------
        losses : ndarray of the same shape
            ``phi(s)``.
        slopes : ndarray of the same shape
            ``phi'(s)``; at a kink, the right derivative. The slope in the score is this times
            the label.
        curvatures : ndarray of the same shape
            ``phi''(s)``, which is also the curvature in the score.
        """
        s = np.asarray(margin, dtype=float)
        return self._value(s), self._slope(s), self._curvature(s)

    def value(self, y_true: Any, prediction: Any) -> np.ndarray:
        """Return the loss ``phi(y * score)`` of every score."""
        y, score = self._labels_and_scores(y_true, prediction)
        return self._value(y * score)

    def slope(self, y_true: Any, prediction: Any) -> np.ndarray:
        """Return the derivative ``y * phi'(y * score)`` of every loss in its score."""
        y, score = self._labels_and_scores(y_true, prediction)
        return y * self._slope(y * score)

    def curvature(self, y_true: Any, prediction: Any) -> np.ndarray:
        """Return the second derivative ``phi''(y * score)`` of every loss in its score."""
        y, score = self._labels_and_scores(y_true, prediction)
        return self._curvature(y * score)

    def _labels_and_scores(self, y_true: Any, prediction: Any) -> tuple[np.ndarray, np.ndarray]:
        y, score = pair(type(self).__name__, y_true, prediction)
        return check_signs(type(self).__name__, y), score.astype(float)

    def select(self, prediction: Any) -> np.ndarray:
        """Turn scores into labels -1 and +1 by their sign, with ``sign(0) = +1``."""
        return sign(prediction)

    def minimiser(self, posterior: Any, outcomes: Any) -> np.ndarray:
        """Return the score with the smallest expected loss.

        Parameters
        ----------
        posterior : array-like of shape (n_samples, 2)
            Probabilities of the two labels.
        outcomes : array-like of shape (2,)
            The labels -1 and +1, in the order of the columns.

        Returns
        -------
        score : ndarray of shape (n_samples,)
            The optimal scores; infinite where the infimum is not attained.
        """
        name = type(self).__name__
        posterior, outcomes = check_posterior(name, posterior, outcomes)
        outcomes = check_signs(name, outcomes)
        return self._link(posterior[:, outcomes > 0].sum(axis=1))

    def link(self, probability: Any) -> np.ndarray:
        """Return the population minimiser for given probabilities of the label +1.

        Parameters
        ----------
        probability : array-like
            Probabilities ``P(y = +1 | x)`` in [0, 1].

        Returns
        -------
        score : ndarray of the same shape
            The score that minimises the expected loss.

        Raises
        ------
        ValueError
            If a probability lies outside [0, 1].
        """
        p = np.asarray(probability, dtype=float)
        if not np.all((p >= 0) & (p <= 1)):
            raise ValueError(
                f"The 'probability' parameter of {type(self).__name__}.link must lie in [0, 1]."
            )
        return self._link(p)

    def inverse_link(self, score: Any) -> np.ndarray:
        """Return the probability of the label +1 for which a score is the population minimiser.

        Parameters
        ----------
        score : array-like
            Real scores.

        Returns
        -------
        probability : ndarray of the same shape
            ``P(y = +1 | x)``.

        Raises
        ------
        TypeError
            If the minimiser of this loss does not determine the probability.
        """
        return self._inverse_link(np.asarray(score, dtype=float))

    def upper_bound_on(self, low: float = -np.inf, high: float = np.inf) -> float:
        """Return the largest loss of scores in a range, whatever the label."""
        # Convex or monotone in the margin, so the supremum is at an end of the margins' range.
        return float(self._value(self._ends(low, high)).max())

    def lipschitz_on(self, low: float = -np.inf, high: float = np.inf) -> float:
        """Return the largest absolute slope of scores in a range, whatever the label."""
        # The slope of a convex function is monotone: its extremes are at the ends.
        return float(np.abs(self._slope(self._ends(low, high))).max())

    def smoothness_on(self, low: float = -np.inf, high: float = np.inf) -> float:
        """Return the largest curvature of scores in a range; infinite for a loss with a kink."""
        # Curvatures here grow towards one end or, symmetric ones, towards zero.
        places = np.append(self._ends(low, high), np.clip(0.0, low, high))
        return float(self._curvature(places).max()) if self.differentiable else np.inf

    def _ends(self, low: float, high: float) -> np.ndarray:
        check_range(type(self).__name__, low, high)
        return np.array([low, high, -low, -high], dtype=float)


def check_signs(name: str, y: Any) -> np.ndarray:
    """Return labels -1 and +1 as numbers, or refuse others.

    Parameters
    ----------
    name : str
        Who asks, for the message.
    y : array-like
        Labels.

    Returns
    -------
    y : ndarray of the same shape, dtype=float64
        The labels.

    Raises
    ------
    ValueError
        If one of them is neither -1 nor +1.

    Examples
    --------
    >>> from corollary.risk import check_signs
    >>> check_signs("my_function", [1, -1])
    array([ 1., -1.])
    """
    y = np.asarray(y)
    if y.dtype.kind not in "iuf" or not np.all(np.abs(y.astype(float)) == 1):
        raise ValueError(
            f"{name} needs labels -1 and +1. Got {np.unique(y)[:5].tolist()}; "
            "recode, for instance with np.where(y == positive, 1, -1)."
        )
    return y.astype(float)
