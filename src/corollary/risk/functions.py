"""Every loss as a plain function of truths and predictions, for use without objects."""

from typing import Any

import numpy as np

from corollary.risk.label_losses import CrossEntropyLoss, ZeroOneLoss
from corollary.risk.margin_losses import (
    ExponentialLoss,
    HingeLoss,
    LogisticLoss,
    PerceptronLoss,
    RampLoss,
    SquaredHingeLoss,
)
from corollary.risk.regression_losses import (
    AbsoluteLoss,
    EpsilonInsensitiveLoss,
    PinballLoss,
    SquareLoss,
)


def hinge_loss(y_true: Any, score: Any) -> np.ndarray:
    """Return ``max(1 - y * score, 0)`` for every row.

    Parameters
    ----------
    y_true : array-like
        Labels -1 and +1.
    score : array-like
        Real scores.

    Returns
    -------
    losses : ndarray
        One loss for each.

    Examples
    --------
    >>> from corollary.risk import hinge_loss
    >>> hinge_loss([1, -1], [0.5, 0.5])
    array([0.5, 1.5])
    """
    return HingeLoss()(y_true, score)


def squared_hinge_loss(y_true: Any, score: Any) -> np.ndarray:
    """Return ``max(1 - y * score, 0)^2`` for every row.

    Parameters
    ----------
    y_true : array-like
        Labels -1 and +1.
    score : array-like
        Real scores.

    Returns
    -------
    losses : ndarray
        One loss for each.

    Examples
    --------
    >>> from corollary.risk import squared_hinge_loss
    >>> squared_hinge_loss([1, -1], [0.5, 0.5])
    array([0.25, 2.25])
    """
    return SquaredHingeLoss()(y_true, score)


def logistic_loss(y_true: Any, score: Any) -> np.ndarray:
    """Return ``log(1 + exp(-y * score))`` for every row, without overflow.

    Parameters
    ----------
    y_true : array-like
        Labels -1 and +1.
    score : array-like
        Real scores.

    Returns
    -------
    losses : ndarray
        One loss for each.

    Examples
    --------
    >>> from corollary.risk import logistic_loss
    >>> logistic_loss([1, -1], [0.0, 1000.0]).round(4)
    array([6.931e-01, 1.000e+03])
    """
    return LogisticLoss()(y_true, score)


def exponential_loss(y_true: Any, score: Any) -> np.ndarray:
    """Return ``exp(-y * score)`` for every row.

    Parameters
    ----------
    y_true : array-like
        Labels -1 and +1.
    score : array-like
        Real scores.

    Returns
    -------
    losses : ndarray
        One loss for each.

    Examples
    --------
    >>> from corollary.risk import exponential_loss
    >>> exponential_loss([1, -1], [0.0, 0.0])
    array([1., 1.])
    """
    return ExponentialLoss()(y_true, score)


def perceptron_loss(y_true: Any, score: Any) -> np.ndarray:
    """Return ``max(-y * score, 0)`` for every row.

    Parameters
    ----------
    y_true : array-like
        Labels -1 and +1.
    score : array-like
        Real scores.

    Returns
    -------
    losses : ndarray
        One loss for each.

    Examples
    --------
    >>> from corollary.risk import perceptron_loss
    >>> perceptron_loss([1, -1], [0.5, 0.5])
    array([0. , 0.5])
    """
    return PerceptronLoss()(y_true, score)


def ramp_loss(y_true: Any, score: Any, *, gamma: float = 1.0) -> np.ndarray:
    """Return the ramp loss ``min(1, max(1 - y * score / gamma, 0))`` for every row.

    Parameters
    ----------
    y_true : array-like
        Labels -1 and +1.
    score : array-like
        Real scores.
    gamma : float, default=1.0
        Margin, positive.

    Returns
    -------
    losses : ndarray
        One loss for each, in [0, 1].

    Examples
    --------
    >>> from corollary.risk import ramp_loss
    >>> ramp_loss([1, -1], [0.5, 0.5], gamma=2.0)
    array([0.75, 1.  ])
    """
    return RampLoss(gamma)(y_true, score)


def zero_one_loss(y_true: Any, prediction: Any, *, scores: bool = False) -> np.ndarray:
    """Return 1 for every mistake and 0 otherwise.

    Parameters
    ----------
    y_true : array-like
        Labels of any kind; -1 and +1 if ``scores``.
    prediction : array-like
        Labels, or real scores if ``scores``.
    scores : bool, default=False
        Whether predictions are scores whose sign is the label.

    Returns
    -------
    losses : ndarray
        One loss for each.

    Examples
    --------
    >>> from corollary.risk import zero_one_loss
    >>> zero_one_loss(["cat", "dog"], ["cat", "cat"])
    array([0., 1.])
    >>> zero_one_loss([1, -1], [0.0, 0.0], scores=True)
    array([0., 1.])
    """
    return ZeroOneLoss(scores)(y_true, prediction)


def cross_entropy_loss(y_true: Any, score: Any) -> np.ndarray:
    """Return ``log sum_k exp(score_k) - score_y`` for every row, without overflow.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class numbers 0, ..., n_classes - 1.
    score : array-like of shape (n_samples, n_classes)
        Real scores (logits).

    Returns
    -------
    losses : ndarray of shape (n_samples,)
        One loss for each.

    Examples
    --------
    >>> from corollary.risk import cross_entropy_loss
    >>> cross_entropy_loss([0, 2], [[0.0, 0.0, 0.0], [0.0, 0.0, 900.0]]).round(4)
    array([1.0986, 0.    ])
    """
    return CrossEntropyLoss()(y_true, score)


def square_loss(y_true: Any, prediction: Any) -> np.ndarray:
    """Return ``(y - prediction)^2`` for every row.

    Parameters
    ----------
    y_true : array-like
        Real truths.
    prediction : array-like
        Real predictions.

    Returns
    -------
    losses : ndarray
        One loss for each.

    Examples
    --------
    >>> from corollary.risk import square_loss
    >>> square_loss([1.0, 2.0], [1.5, 0.0])
    array([0.25, 4.  ])
    """
    return SquareLoss()(y_true, prediction)


def absolute_loss(y_true: Any, prediction: Any) -> np.ndarray:
    """Return ``|y - prediction|`` for every row.

    Parameters
    ----------
    y_true : array-like
        Real truths.
    prediction : array-like
        Real predictions.

    Returns
    -------
    losses : ndarray
        One loss for each.

    Examples
    --------
    >>> from corollary.risk import absolute_loss
    >>> absolute_loss([1.0, 2.0], [1.5, 0.0])
    array([0.5, 2. ])
    """
    return AbsoluteLoss()(y_true, prediction)


def pinball_loss(y_true: Any, prediction: Any, *, quantile: float = 0.5) -> np.ndarray:
    """Return ``max(q s, (q - 1) s)`` with ``s = y - prediction`` for every row.

    Parameters
    ----------
    y_true : array-like
        Real truths.
    prediction : array-like
        Real predictions of the quantile.
    quantile : float, default=0.5
        Level q in (0, 1).

    Returns
    -------
    losses : ndarray
        One loss for each.

    Examples
    --------
    >>> from corollary.risk import pinball_loss
    >>> pinball_loss([1.0, 2.0], [2.0, 1.0], quantile=0.9).round(2)
    array([0.1, 0.9])
    """
    return PinballLoss(quantile)(y_true, prediction)


def epsilon_insensitive_loss(y_true: Any, prediction: Any, *, epsilon: float = 0.1) -> np.ndarray:
    """Return ``max(|y - prediction| - epsilon, 0)`` for every row.

    Parameters
    ----------
    y_true : array-like
        Real truths.
    prediction : array-like
        Real predictions.
    epsilon : float, default=0.1
        Half-width of the tube within which errors cost nothing.

    Returns
    -------
    losses : ndarray
        One loss for each.

    Examples
    --------
    >>> from corollary.risk import epsilon_insensitive_loss
    >>> epsilon_insensitive_loss([1.0, 2.0], [1.25, 0.0], epsilon=0.5)
    array([0. , 1.5])
    """
    return EpsilonInsensitiveLoss(epsilon)(y_true, prediction)
