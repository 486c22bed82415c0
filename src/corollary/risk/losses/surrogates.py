"""How surrogate losses relate to the zero-one loss, and scores to probabilities.

For a margin loss phi that does not increase on the negative half-line,

    1{sign(f) != y} <= 1{y f <= 0} <= c phi(y f),      c = 1 / phi(0),

and no smaller c will do, as s = 0 shows. Taking expectations, the error rate of ``sign(f)`` is at
most c times the surrogate risk of f, whatever f is.
"""

from typing import Any

import numpy as np
from scipy.special import expit, logit

from corollary.risk.losses.loss import check_loss
from corollary.risk.losses.margin import MarginLoss


def domination_constant(loss: str | MarginLoss) -> float:
    """Return the smallest c with ``1{s <= 0} <= c phi(s)`` for all margins s.

    Parameters
    ----------
    loss : str or MarginLoss
        The surrogate.

    Returns
    -------
    constant : float
        1 for hinge, squared hinge, ramp, square and exponential, ``1 / log 2`` for logistic,
        infinite for the perceptron loss, which is zero at s = 0.

    Raises
    ------
    TypeError
        If the loss is not a margin loss.

    Examples
    --------
    >>> from corollary.risk import domination_constant
    >>> domination_constant("hinge")
    1.0
    >>> round(domination_constant("logistic"), 4)
    1.4427
    """
    at_zero = float(_check_margin_loss("domination_constant", loss).of_margin(0.0))
    return 1 / at_zero if at_zero > 0 else np.inf


def bound_error_rate(loss: str | MarginLoss, surrogate_risk: Any) -> np.ndarray:
    """Bound the error rate of ``sign(f)`` by the surrogate risk of f.

    Parameters
    ----------
    loss : str or MarginLoss
        The surrogate.
    surrogate_risk : array-like
        Risk of the scores under that surrogate, on any law or sample.

    Returns
    -------
    bound : ndarray
        Upper bound of the zero-one risk on the same law or sample, at most 1.

    Notes
    -----
    Guarantee: holds for every f and every law, without probability. Checked by
    ``tests/risk/test_surrogates.py::test_error_rate_is_below_the_bound``.

    Examples
    --------
    >>> from corollary.risk import bound_error_rate
    >>> bound_error_rate("logistic", 0.1).round(4)
    np.float64(0.1443)
    """
    constant = domination_constant(loss)
    risk = np.asarray(surrogate_risk, dtype=float)
    if not np.all(risk >= 0):
        raise ValueError("The 'surrogate_risk' parameter of bound_error_rate must not be negative.")
    return np.ones_like(risk)[()] if np.isinf(constant) else np.minimum(1, constant * risk)


def half_log_odds(probability: Any) -> np.ndarray:
    """Return ``log(p / (1 - p)) / 2``, the population minimiser of the exponential loss.

    Parameters
    ----------
    probability : array-like
        Probabilities p of the label +1, in [0, 1].

    Returns
    -------
    score : ndarray of the same shape
        Half the log-odds; infinite at 0 and 1.

    Examples
    --------
    >>> from corollary.risk import half_log_odds
    >>> half_log_odds([0.5, 0.9]).round(4)
    array([0.    , 1.0986])
    """
    p = np.asarray(probability, dtype=float)
    if not np.all((p >= 0) & (p <= 1)):
        raise ValueError("The 'probability' parameter of half_log_odds must lie in [0, 1].")
    return logit(p) / 2


def probability_from_half_log_odds(score: Any) -> np.ndarray:
    """Return ``exp(f) / (exp(f) + exp(-f))``, the way back from :func:`half_log_odds`.

    Parameters
    ----------
    score : array-like
        Half log-odds f.

    Returns
    -------
    probability : ndarray of the same shape
        Probabilities of the label +1.

    Examples
    --------
    >>> from corollary.risk import half_log_odds, probability_from_half_log_odds
    >>> probability_from_half_log_odds(half_log_odds([0.1, 0.8])).round(12)
    array([0.1, 0.8])
    """
    return expit(2 * np.asarray(score, dtype=float))


def _check_margin_loss(name: str, loss: Any) -> MarginLoss:
    loss = check_loss(loss)
    if not isinstance(loss, MarginLoss):
        raise TypeError(f"{name} needs a margin loss. Got {loss!r}.")
    return loss
