r"""The value of one policy from the logs of another.

A log holds losses of arms that a logging policy chose with known probabilities. The loss a target
policy would have had is estimated by weighting rows with the ratio of its probability to the
logging one. The interval by the central limit theorem is an approximation; the empirical
Bernstein interval is a guarantee at every sample size, also for logs of a learner that adapted
while it was logging.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import ndtri

from corollary.bandit._checks import check_array
from corollary.core.estimator import ArrayLike, Positive, Probability, checked

# The largest bet of the empirical Bernstein bound: any number below 1 is valid.
LARGEST_BET = 0.75


@dataclass(frozen=True)
class OffPolicyValue:
    r"""An estimate of a policy's mean loss with its interval.

    Parameters
    ----------
    value : float
        The estimate.
    low : float
        Lower end of the interval.
    high : float
        Upper end.
    confidence : float
        Its level.
    guaranteed : bool
        Whether the level is a theorem at this sample size (empirical Bernstein), or an
        approximation for large samples (central limit theorem).
    n_samples : int
        Rows of the log.
    effective_sample_size : float
        Rows of equal weight that would be worth as much, :math:`(\sum w)^2 / \sum w^2`.
    max_weight : float
        Largest weight met.
    """

    value: float
    low: float
    high: float
    confidence: float
    guaranteed: bool
    n_samples: int
    effective_sample_size: float
    max_weight: float


@checked
def off_policy_value(
    losses: ArrayLike,
    propensity: ArrayLike,
    target: ArrayLike,
    *,
    method: Literal["importance", "self_normalised", "doubly_robust"] = "importance",
    interval: Literal["clt", "bernstein"] = "clt",
    predicted: ArrayLike | None = None,
    predicted_target: ArrayLike | None = None,
    max_weight: Positive | None = None,
    confidence: Probability = 0.95,
) -> OffPolicyValue:
    r"""Estimate the mean loss that a policy would have had on the rounds of a log.

    With weights :math:`w_t = \pi(a_t \mid x_t) / b(a_t \mid x_t)` the estimates are

    * importance weighting: :math:`\frac1n \sum_t w_t l_t`, unbiased;
    * self-normalised: :math:`\sum_t w_t l_t / \sum_t w_t`, biased for small samples, within the
      range of the losses;
    * doubly robust: :math:`\frac1n \sum_t \hat l(x_t, \pi) + w_t (l_t - \hat l(x_t, a_t))`,
      unbiased for any predictor :math:`\hat l` that was fitted on other rows, and of small
      variance for a good one.

    Parameters
    ----------
    losses : array-like of shape (n_samples,)
        Losses :math:`l_t` of the arms that were played.
    propensity : array-like of shape (n_samples,)
        Probability :math:`b(a_t \mid x_t)` with which the logging policy chose the arm it played.
    target : array-like of shape (n_samples,)
        Probability :math:`\pi(a_t \mid x_t)` with which the target policy would have chosen it.
    method : {"importance", "self_normalised", "doubly_robust"}, default="importance"
        The estimate.
    interval : {"clt", "bernstein"}, default="clt"
        "clt" is approximate. "bernstein" is a guarantee for losses in [0, 1]; it exists for
        "importance", and for "doubly_robust" with ``max_weight``.
    predicted : array-like of shape (n_samples,) or None, default=None
        Predicted loss :math:`\hat l(x_t, a_t)` of the arm that was played.
    predicted_target : array-like of shape (n_samples,) or None, default=None
        Mean predicted loss :math:`\hat l(x_t, \pi)` under the target policy.
    max_weight : float or None, default=None
        Largest weight that could occur, known before the log was seen.
    confidence : float, default=0.95
        Level of the interval.

    Returns
    -------
    value : OffPolicyValue
        Estimate, interval and diagnostics.

    Raises
    ------
    ValueError
        If a probability is impossible or predictions are missing.

    See Also
    --------
    importance_weighted : The estimate of a single value.

    Notes
    -----
    Guarantee ("bernstein"): with probability at least ``confidence`` the interval holds the
    target's mean loss, if every arm that the target plays had a positive chance to be logged,
    and the expected loss of the target is the same in every round given the past (independent
    contexts); the logging policy may learn from round to round. No bound on the weights is needed
    for importance weighting: :math:`w l` and :math:`w (1 - l)` are not negative and their means
    are :math:`V` and :math:`1 - V`, so both are bounded from below. Checked with the
    approximation's coverage by ``tests/bandit/test_off_policy.py``.

    References
    ----------
    Waudby-Smith, I., Wu, L., Ramdas, A., Karampatziakis, N. and Mineiro, P. (2024). Anytime-valid
    off-policy inference for contextual bandits. ACM/IMS Journal of Data Science 1.
    Dudik, M., Langford, J. and Li, L. (2011). Doubly robust policy evaluation and learning.
    International Conference on Machine Learning.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.bandit import off_policy_value
    >>> random = np.random.default_rng(0)
    >>> arms = random.integers(2, size=4000)  # logged: both arms with probability 1/2
    >>> losses = (random.uniform(size=4000) < np.where(arms == 0, 0.2, 0.6)).astype(float)
    >>> target = np.where(arms == 0, 0.9, 0.1)  # its mean loss is 0.24
    >>> result = off_policy_value(losses, np.full(4000, 0.5), target, interval="bernstein")
    >>> result.low < 0.24 < result.high, result.guaranteed
    (True, True)
    """
    who = "off_policy_value"
    bounded = {"low": 0.0, "high": 1.0} if interval == "bernstein" else {}
    losses = check_array(who, "losses", losses, ndim=(1,), **bounded)
    n = len(losses)
    propensity = _rows(who, "propensity", propensity, n, low=0.0, high=1.0)
    target = _rows(who, "target", target, n, low=0.0, high=1.0)
    if propensity.min() <= 0:
        raise ValueError(
            "The 'propensity' parameter of off_policy_value must be positive: the log cannot hold "
            "arms that are never played. Got 0; look for rounding in the log."
        )
    weight = target / propensity
    if max_weight is not None and weight.max() > max_weight * (1 + 1e-12):
        raise ValueError(
            f"The 'max_weight' parameter of off_policy_value is {max_weight:g}, but the log has a "
            f"weight of {weight.max():g}."
        )
    alpha = (1 - confidence) / 2
    if method == "doubly_robust":
        if predicted is None or predicted_target is None:
            raise ValueError(
                "The doubly robust estimate needs 'predicted' and 'predicted_target': predicted "
                "losses of the arms played, and their mean under the target policy."
            )
        model = _rows(who, "predicted", predicted, n, **bounded)
        model_target = _rows(who, "predicted_target", predicted_target, n, **bounded)
        terms = model_target + weight * (losses - model)
    else:
        terms = weight * losses
    value = float(terms.mean())
    if interval == "bernstein":
        low, high = _guaranteed(method, losses, weight, terms, max_weight, alpha)
    elif method == "self_normalised":
        total = weight.sum()
        if total == 0:
            raise ValueError(
                "The target policy never plays an arm of the log, so that no row has weight. "
                "Collect a log that covers it."
            )
        value = float(terms.sum() / total)
        error = math.sqrt(float((weight**2 * (losses - value) ** 2).sum())) / total
        low, high = value - float(ndtri(1 - alpha)) * error, value + float(ndtri(1 - alpha)) * error
    else:
        error = float(terms.std(ddof=1)) / math.sqrt(n) if n > 1 else math.inf
        low, high = value - float(ndtri(1 - alpha)) * error, value + float(ndtri(1 - alpha)) * error
    squares = float((weight**2).sum())
    return OffPolicyValue(
        value=value,
        low=float(low),
        high=float(high),
        confidence=confidence,
        guaranteed=interval == "bernstein",
        n_samples=n,
        effective_sample_size=float(weight.sum() ** 2) / squares if squares else 0.0,
        max_weight=float(weight.max()),
    )


def lower_bound_of_mean(values: Any, delta: float) -> float:
    r"""Bound from below the mean of non-negative values, which lies in [0, 1], by betting.

    With a prediction :math:`\hat x_t \in [0, 1]` of the next value and a bet
    :math:`\lambda_t \in [0, 1)`, both functions of the past,

    .. math:: L = \frac{\sum_t \lambda_t x_t - \ln(1/\delta)
              - \sum_t \psi(\lambda_t) (x_t - \hat x_t)^2}{\sum_t \lambda_t}, \qquad
              \psi(\lambda) = -\ln(1 - \lambda) - \lambda.

    Parameters
    ----------
    values : array-like of shape (n_samples,)
        Values :math:`x_t \ge 0` whose mean given the past is always the same number in [0, 1];
        single values may be as large as they like.
    delta : float
        Probability of failure.

    Returns
    -------
    bound : float
        At least 0.

    Notes
    -----
    Guarantee: the mean is at least the bound with probability at least 1 - delta. For
    :math:`y \ge -1`, :math:`e^{\lambda y - \psi(\lambda) y^2} \le 1 + \lambda y`; with
    :math:`y = x_t - \hat x_t` the products of the left-hand side form a supermartingale, and
    Ville's inequality does the rest. Checked by ``tests/bandit/test_off_policy.py``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.bandit import lower_bound_of_mean
    >>> round(lower_bound_of_mean(np.full(1000, 0.5), delta=0.05), 3)
    0.496
    """
    x = check_array("lower_bound_of_mean", "values", values, ndim=(1,), low=0.0)
    n = len(x)
    before = np.arange(1, n + 1)  # one imagined value of 1/2 before the first
    sums = 0.5 + np.concatenate([[0.0], np.cumsum(x)[:-1]])
    prediction = np.minimum(sums / before, 1.0)
    squares = (x - prediction) ** 2
    # An imagined value for the spread, too.
    variance = (0.25 + np.concatenate([[0.0], np.cumsum(squares)[:-1]])) / before
    bet = np.minimum(np.sqrt(2 * math.log(1 / delta) / (variance * n)), LARGEST_BET)
    price = -np.log1p(-bet) - bet
    gain = float((bet * x).sum() - math.log(1 / delta) - (price * squares).sum())
    return max(0.0, gain / float(bet.sum()))


def _guaranteed(
    method: str,
    losses: np.ndarray,
    weight: np.ndarray,
    terms: np.ndarray,
    max_weight: float | None,
    alpha: float,
) -> tuple[float, float]:
    if method == "importance":
        low = lower_bound_of_mean(terms, alpha)
        return low, max(low, 1 - lower_bound_of_mean(weight * (1 - losses), alpha))
    if method == "self_normalised" or max_weight is None:
        raise ValueError(
            "The empirical Bernstein interval exists for method='importance', and for "
            f"'doubly_robust' with max_weight known beforehand. Got method={method!r} and "
            f"max_weight={max_weight!r}."
        )
    # A term is at least -max_weight, and so is one minus a term.
    scale = 1 + max_weight
    low = scale * lower_bound_of_mean(np.maximum(terms + max_weight, 0) / scale, alpha) - max_weight
    up = scale * lower_bound_of_mean(np.maximum(1 - terms + max_weight, 0) / scale, alpha)
    low = max(low, 0.0)
    return low, max(low, min(1.0, 1 - (up - max_weight)))


def _rows(who: str, name: str, values: Any, n: int, **bounds: float) -> np.ndarray:
    array = check_array(who, name, values, ndim=(1,), **bounds)
    if len(array) != n:
        raise ValueError(
            f"The '{name}' parameter of {who} must have {n} entries, one for each loss. Got "
            f"{len(array)} instead."
        )
    return array
