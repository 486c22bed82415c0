"""Checks that losses share."""

from typing import Any

import numpy as np


def pair(name: str, y_true: Any, prediction: Any) -> tuple[np.ndarray, np.ndarray]:
    """Check that truths and predictions can be compared entry by entry."""
    y_true, prediction = np.asarray(y_true), np.asarray(prediction)
    if y_true.ndim and prediction.ndim and y_true.shape != prediction.shape:
        raise ValueError(
            f"{name} compares truths and predictions entry by entry: shapes must be equal. "
            f"Got y_true of shape {y_true.shape} and prediction of shape {prediction.shape}; "
            "reshape one of them, for instance with ravel()."
        )
    return y_true, prediction


def check_range(name: str, low: float, high: float) -> None:
    """Refuse an empty range."""
    if not low <= high:
        raise ValueError(f"{name} needs a range with low <= high. Got low={low}, high={high}.")


def check_posterior(name: str, posterior: Any, outcomes: Any) -> tuple[np.ndarray, np.ndarray]:
    """Check conditional laws and the values they refer to."""
    posterior, outcomes = np.asarray(posterior, dtype=float), np.asarray(outcomes)
    if posterior.ndim != 2 or outcomes.shape != posterior.shape[1:]:
        raise ValueError(
            f"{name} needs a posterior of shape (n_samples, n_outcomes) and as many outcomes. "
            f"Got shapes {posterior.shape} and {outcomes.shape}."
        )
    if not np.all(posterior >= 0) or not np.allclose(posterior.sum(axis=1), 1, atol=1e-8):
        raise ValueError(
            f"{name} needs rows of probabilities: non-negative and summing to 1. "
            "Divide each row by its sum."
        )
    return posterior, outcomes
