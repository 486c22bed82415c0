"""Losses by row, and the choice of the one that models are compared by."""

from collections.abc import Callable
from functools import partial

import numpy as np

Loss = Callable[[np.ndarray, np.ndarray], np.ndarray]


def log_loss(y: np.ndarray, probability: np.ndarray) -> np.ndarray:
    """Compute the negative logarithm of the probability given to each row's class."""
    return -np.log(probability[np.arange(len(y)), y])


def squared_error(y: np.ndarray, prediction: np.ndarray, variance: float = 1.0) -> np.ndarray:
    """Compute squared errors."""
    return (y - prediction) ** 2 / variance


def squared_log_error(
    y: np.ndarray,
    prediction: np.ndarray,
    variance: float = 1.0,
    smallest: float = np.finfo(np.float64).tiny,
) -> np.ndarray:
    """Compute squared errors of the logarithm."""
    positive = np.maximum(prediction, np.finfo(np.float64).tiny)
    return (np.log(np.where(y > 0, y, smallest)) - np.log(positive)) ** 2 / variance


def absolute_error(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """Compute absolute errors."""
    return np.abs(y - prediction)


def choose_loss(task: str, y: np.ndarray, severe: bool) -> tuple[Loss, str]:
    """Choose the loss of the comparison."""
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
