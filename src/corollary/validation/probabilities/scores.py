r"""Proper scores: losses of predicted laws that are smallest, on average, for the true law.

All are losses, the smaller the better, one per row.
"""

from typing import Any

import numpy as np


def brier_score(y: Any, probability: Any) -> np.ndarray:
    r"""Compute the squared error of predicted class probabilities.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Class of each row, as column number of `probability`; 0 or 1 if that is a vector.
    probability : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probability of class 1, or of every class.

    Returns
    -------
    score : ndarray of shape (n_samples,)
        :math:`\sum_k(p_k-1\{y=k\})^2`; for a vector the square of one difference, half of that.

    Examples
    --------
    >>> from corollary.validation import brier_score
    >>> brier_score([1, 0], [0.8, 0.5])
    array([0.04, 0.25])
    """
    y, p = _classes("brier_score", y, probability)
    if p.ndim == 1:
        return (p - y) ** 2
    return np.sum((p - np.eye(p.shape[1])[y]) ** 2, axis=1)


def log_score(y: Any, probability: Any) -> np.ndarray:
    """Compute the negative log of the probability that was given to what happened.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Class of each row, as column number of `probability`; 0 or 1 if that is a vector.
    probability : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probability of class 1, or of every class.

    Returns
    -------
    score : ndarray of shape (n_samples,)
        Infinite where something happened that was called impossible.

    Examples
    --------
    >>> from corollary.validation import log_score
    >>> log_score([1, 0], [1.0, 0.5]).round(4)
    array([0.    , 0.6931])
    """
    y, p = _classes("log_score", y, probability)
    chance = np.where(y == 1, p, 1 - p) if p.ndim == 1 else p[np.arange(len(y)), y]
    with np.errstate(divide="ignore"):
        # 0.0 - log turns the negative zero of a sure and right prediction into zero.
        return 0.0 - np.log(chance)


def crps_sample(y: Any, draws: Any, *, fair: bool = True) -> np.ndarray:
    r"""Compute the continuous ranked probability score of predictions given by draws.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        What happened.
    draws : array-like of shape (n_samples, n_draws)
        Draws from the predicted law of each row.
    fair : bool, default=True
        Whether to estimate the score of the law the draws came from, without bias; False for the
        score of the draws themselves as a law.

    Returns
    -------
    score : ndarray of shape (n_samples,)
        :math:`E|X-y|-\tfrac12E|X-X'|`, by sorting.

    Examples
    --------
    >>> from corollary.validation import crps_sample
    >>> crps_sample([1.0], [[0.0, 2.0]], fair=False)
    array([0.5])
    """
    y, draws = np.asarray(y, dtype=float), np.sort(np.asarray(draws, dtype=float), axis=-1)
    if draws.ndim != 2 or y.shape != (len(draws),) or draws.shape[1] < 1 + fair:
        raise ValueError(
            "crps_sample needs draws of shape (n_samples, n_draws), at least two per row for the "
            f"fair score, and one value per row. Got shapes {y.shape} and {draws.shape}."
        )
    m = draws.shape[1]
    first = np.mean(np.abs(draws - y[:, None]), axis=1)
    # The sum of |x_i - x_j| over pairs is a weighted sum of the sorted values.
    pairs = draws @ (2 * np.arange(1, m + 1) - m - 1)
    return first - pairs / (m * (m - 1) if fair else m**2)


def _classes(who: str, y: Any, probability: Any) -> tuple[np.ndarray, np.ndarray]:
    y, p = np.asarray(y), np.asarray(probability, dtype=float)
    most = 2 if p.ndim == 1 else p.shape[-1]
    if p.ndim not in (1, 2) or y.shape != (len(p),) or not np.all((p >= 0) & (p <= 1)):
        raise ValueError(
            f"{who} needs one class per row and probabilities between 0 and 1. Got shapes "
            f"{y.shape} and {p.shape}."
        )
    if y.dtype.kind not in "iub" or not np.all((y >= 0) & (y < most)):
        raise ValueError(
            f"{who} needs classes as whole numbers from 0 to {most - 1}, the columns of the "
            "probabilities. Encode other labels first."
        )
    if p.ndim == 2 and not np.allclose(p.sum(axis=1), 1, atol=1e-6):
        raise ValueError(f"{who} needs probabilities that sum to 1 in each row.")
    return y.astype(int), p
