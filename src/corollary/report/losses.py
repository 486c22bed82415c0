"""Losses by row, and the choice of the one that models are compared by."""

from collections.abc import Callable
from functools import partial

import numpy as np

Loss = Callable[[np.ndarray, np.ndarray], np.ndarray]


def log_loss(y: np.ndarray, probability: np.ndarray) -> np.ndarray:
    """Compute the negative logarithm of the probability given to each row's class.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Class indices.
    probability : ndarray of shape (n, n_classes)
        Probabilities.

    Returns
    -------
    loss : ndarray of shape (n,)
        In nats.
    """
    return -np.log(probability[np.arange(len(y)), y])


def squared_error(y: np.ndarray, prediction: np.ndarray, variance: float = 1.0) -> np.ndarray:
    """Compute squared errors.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Targets.
    prediction : ndarray of shape (n,)
        Predictions.
    variance : float, default=1.0
        Unit of the loss; with the variance of the target, guessing the mean costs 1.

    Returns
    -------
    loss : ndarray of shape (n,)
        By row.
    """
    return (y - prediction) ** 2 / variance


def squared_log_error(
    y: np.ndarray,
    prediction: np.ndarray,
    variance: float = 1.0,
    smallest: float = np.finfo(np.float64).tiny,
) -> np.ndarray:
    """Compute squared errors of the logarithm.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Targets. One that is not positive has no logarithm; it is taken as ``smallest``.
    prediction : ndarray of shape (n,)
        Predictions. One that is not positive has no logarithm; it is taken as the smallest
        positive number, and so punished rather than excused.
    variance : float, default=1.0
        Unit of the loss.
    smallest : float, default=tiny
        What a target that is not positive counts as: the smallest positive one that is known.

    Returns
    -------
    loss : ndarray of shape (n,)
        By row.
    """
    positive = np.maximum(prediction, np.finfo(np.float64).tiny)
    return (np.log(np.where(y > 0, y, smallest)) - np.log(positive)) ** 2 / variance


def absolute_error(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """Compute absolute errors.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Targets.
    prediction : ndarray of shape (n,)
        Predictions.

    Returns
    -------
    loss : ndarray of shape (n,)
        By row.
    """
    return np.abs(y - prediction)


def choose_loss(task: str, y: np.ndarray, severe: bool) -> tuple[Loss, str]:
    """Choose the loss of the comparison.

    Parameters
    ----------
    task : {"classification", "regression"}
        Kind of prediction.
    y : ndarray of shape (n,)
        Training targets.
    severe : bool
        Whether the target is so skewed that a few rows would decide every squared error.

    Returns
    -------
    loss : callable
        ``loss(y, prediction)`` by row.
    name : str
        Its name for readers.
    """
    if task == "classification":
        return log_loss, "log loss"
    if severe:
        unit = float(np.var(np.log(y))) or 1.0
        name = "squared error of the logarithm (in units of its variance)"
        return partial(squared_log_error, variance=unit, smallest=float(y.min())), name
    unit = float(np.var(y)) or 1.0
    return partial(squared_error, variance=unit), (
        "squared error (in units of the target's variance)"
    )
