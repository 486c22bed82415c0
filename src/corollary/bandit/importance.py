r"""Importance weighting: estimates of what is seen only by chance.

A value that is seen with probability :math:`p` is divided by :math:`p` when it is seen and
counted as zero when not. On average this is the value itself; the price is variance.
"""

from typing import Any, NamedTuple

import numpy as np

from corollary.bandit._checks import check_array


def importance_weighted(values: Any, probability: Any, seen: Any) -> np.ndarray:
    r"""Estimate values that were seen by independent coins.

    The estimate is :math:`\hat\theta = \frac Xp 1[Z_p = 1]`.

    Parameters
    ----------
    values : array-like
        The values :math:`X`; those that were not seen are ignored and may be NaN.
    probability : array-like
        Probabilities :math:`p` in (0, 1] of being seen.
    seen : array-like of bool
        Outcomes of the coins :math:`Z_p`.

    Returns
    -------
    estimate : ndarray
        Unbiased given the values: :math:`E[\hat\theta \mid X] = X`.

    See Also
    --------
    importance_variance : Variance of the estimate.
    off_policy_value : Values of policies from logs of other policies.

    Examples
    --------
    >>> from corollary.bandit import importance_weighted
    >>> importance_weighted([3.0, 5.0], 0.25, [True, False])
    array([12.,  0.])
    """
    p = _check_probability("importance_weighted", probability)
    values, p, seen = np.broadcast_arrays(
        np.asarray(values, dtype=float), p, np.asarray(seen, bool)
    )
    estimate = np.zeros(values.shape)
    np.divide(values, p, out=estimate, where=seen)
    return estimate


def importance_variance(values: Any, probability: Any) -> np.ndarray:
    r"""Compute the variance of the estimate given the value, :math:`X^2 (1 - p) / p`.

    Parameters
    ----------
    values : array-like
        The values :math:`X`.
    probability : array-like
        Probabilities :math:`p` in (0, 1] of being seen.

    Returns
    -------
    variance : ndarray
        Zero where a value is always seen.

    Examples
    --------
    >>> from corollary.bandit import importance_variance
    >>> importance_variance([3.0, 3.0], [0.25, 1.0])
    array([27.,  0.])
    """
    p = _check_probability("importance_variance", probability)
    return np.asarray(values, dtype=float) ** 2 * (1 - p) / p


def hallucinated_loss(loss: float, arm: int, probabilities: Any) -> np.ndarray:
    r"""Estimate the whole loss vector from the loss of one arm.

    With :math:`\hat y \sim v`, :math:`l^h_i = \frac{l_i}{v_i} 1[i = \hat y]`.

    Parameters
    ----------
    loss : float
        Loss :math:`l_{\hat y}` of the arm that was played.
    arm : int
        The arm :math:`\hat y`.
    probabilities : array-like of shape (n_arms,)
        The law :math:`v` it was drawn from.

    Returns
    -------
    losses : ndarray of shape (n_arms,)
        Zero but for the arm that was played; :math:`v^\top l^h` is the loss paid.

    See Also
    --------
    hallucinated_moments : Its expectations.

    Examples
    --------
    >>> from corollary.bandit import hallucinated_loss
    >>> hallucinated_loss(0.5, 1, [0.75, 0.25])
    array([0., 2.])
    """
    v = _check_law("hallucinated_loss", probabilities)
    if not (isinstance(arm, int | np.integer) and 0 <= arm < len(v)) or v[arm] == 0:
        raise ValueError(
            "The 'arm' parameter of hallucinated_loss must be an arm of positive probability, "
            f"0 to {len(v) - 1}. Got {arm!r} instead."
        )
    losses = np.zeros(len(v))
    losses[arm] = loss / v[arm]
    return losses


class HallucinatedMoments(NamedTuple):
    """Exact expectations of a hallucinated loss vector.

    Parameters
    ----------
    mean : ndarray of shape (n_arms,)
        Expectation of each entry: the losses themselves.
    second : ndarray of shape (n_arms,)
        Expectation of each squared entry.
    weighted_second : float
        Expectation of the squares weighted by the probabilities, at most the number of arms for
        losses in [0, 1].
    paid : float
        Expected loss of the arm that is played.
    """

    mean: np.ndarray
    second: np.ndarray
    weighted_second: float
    paid: float


def hallucinated_moments(losses: Any, probabilities: Any) -> HallucinatedMoments:
    r"""Compute the moments of the hallucinated loss when every arm has positive probability.

    :math:`E[l^h_i] = l_i`, :math:`E[(l^h_i)^2] = l_i^2 / v_i` and
    :math:`E[\sum_i v_i (l^h_i)^2] = \sum_i l_i^2 \le n` for losses in [0, 1].

    Parameters
    ----------
    losses : array-like of shape (n_arms,)
        The losses :math:`l`.
    probabilities : array-like of shape (n_arms,)
        The law :math:`v` of the arm, positive everywhere.

    Returns
    -------
    moments : HallucinatedMoments
        The expectations over the arm.

    Examples
    --------
    >>> from corollary.bandit import hallucinated_moments
    >>> hallucinated_moments([1.0, 0.5], [0.8, 0.2]).second
    array([1.25, 1.25])
    """
    v = _check_law("hallucinated_moments", probabilities)
    losses = check_array("hallucinated_moments", "losses", losses, ndim=(1,))
    if losses.shape != v.shape or v.min() == 0:
        raise ValueError(
            "hallucinated_moments needs one positive probability for each loss. Got "
            f"{len(losses)} losses and {len(v)} probabilities from {v.min():g} on."
        )
    squares = losses**2
    return HallucinatedMoments(losses.copy(), squares / v, float(squares.sum()), float(v @ losses))


def _check_probability(who: str, probability: Any) -> np.ndarray:
    p = np.asarray(probability, dtype=float)
    if not ((p > 0) & (p <= 1)).all():
        raise ValueError(
            f"The 'probability' parameter of {who} must lie in (0, 1]: what can never be seen "
            f"cannot be estimated. Got {probability!r} instead."
        )
    return p


def _check_law(who: str, probabilities: Any) -> np.ndarray:
    v = check_array(who, "probabilities", probabilities, ndim=(1,), low=0.0, high=1.0)
    if abs(v.sum() - 1) > 1e-9:
        raise ValueError(
            f"The 'probabilities' parameter of {who} must sum to 1. Got sum {v.sum():.12g} instead."
        )
    return v
