r"""The mean of a fixed number of bounded observations, by betting against every candidate.

A gambler who doubts that the mean is as large as :math:`\mu` bets a share b of the capital that an
observation is small. If the mean is :math:`\mu` the game is fair, and the final capital reaches
:math:`1/\delta` with probability at most :math:`\delta`, by Markov's inequality. The bound is the
smallest candidate at which it did.
"""

import math

import numpy as np

from corollary.core.estimator import AnyReal, ArrayLike, Probability, checked
from corollary.theory.concentration.bounded_losses import check_losses

# How many gamblers share the capital; more of them change the third digit.
_BETS = 9
# The most careful of them bets no less than this, or a handful of observations would not do.
_BOLD = 0.9


@checked
def betting_mean_bound(
    observations: ArrayLike, delta: Probability, *, low: AnyReal = 0.0, high: AnyReal = 1.0
) -> float:
    r"""Bound the mean of bounded observations, however they depend on each other.

    For observations in [0, 1] the bound is the smallest :math:`\mu` with

    .. math:: \frac1k\sum_{j=1}^k\prod_{i=1}^n\frac{1-b_jx_i}{1-b_j\mu}\ge\frac1\delta,

    where the stakes :math:`b_1..b_k` are spaced geometrically from
    :math:`\min(0.9, 2\sqrt{\log(1/\delta)/n})` to 1.

    Parameters
    ----------
    observations : array-like of shape (n_samples,)
        Observations in any order, for example the mean loss of each of n owners. Their number must
        not depend on their values.
    delta : float
        Probability of failure, strictly between 0 and 1.
    low : float, default=0.0
        Smallest possible value.
    high : float, default=1.0
        Largest possible value.

    Returns
    -------
    bound : float
        Upper bound on the mean, at most `high`; it does not depend on the order.

    Raises
    ------
    ValueError
        If an observation is not a number or lies outside the range.

    See Also
    --------
    betting_sequence : Limits that hold after every observation.
    hoeffding_bound : Uses the range only.
    clopper_pearson_upper : Exact, for independent zeros and ones.

    Notes
    -----
    Guarantee: with probability at least 1 - delta the bound is at least
    :math:`\bar\mu=\frac1n\sum_iE[X_i\,|\,X_1..X_{i-1}]`, whatever the law of the observations
    within their range; for independent observations of one law this is their expectation. For one
    stake, :math:`\prod_i(1-bX_i)/(1-b\mu_i)` with the conditional means :math:`\mu_i` has
    expectation 1, and :math:`\prod_i(1-b\mu_i)\le(1-b\bar\mu)^n` since the geometric mean is at
    most the arithmetic one. The mean over stakes that are fixed beforehand has expectation 1 at
    most. Checked by ``tests/guarantees/dependent_rows.py``.

    References
    ----------
    Waudby-Smith, I. and Ramdas, A. (2023). Estimating means of bounded random variables by
    betting. Journal of the Royal Statistical Society B 86, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import betting_mean_bound, hoeffding_bound
    >>> means = np.array([0.0, 0.1, 0.0, 0.2, 0.05, 0.0, 0.1, 0.3, 0.0, 0.1])
    >>> round(betting_mean_bound(means, 0.05), 3)
    0.339
    >>> round(float(means.mean()) + hoeffding_bound(n_samples=10, delta=0.05), 3)
    0.472
    """
    x = check_losses(observations, low, high, who="betting_mean_bound")
    if x.ndim != 1:
        raise ValueError(
            "The 'observations' parameter of betting_mean_bound must be one-dimensional. "
            f"Got shape {x.shape} instead."
        )
    x = (x - low) / (high - low)
    bets = np.geomspace(min(_BOLD, 2 * math.sqrt(math.log(1 / delta) / len(x))), 1.0, _BETS)
    with np.errstate(divide="ignore"):  # who bets all of it may lose all of it
        gains = np.log1p(-np.outer(bets, x)).sum(axis=1) - math.log(_BETS)
    # A capital that rounding lifts over the threshold is not there.
    threshold = math.log((1 + 1e-9) / delta)

    def is_rich(mean: float) -> bool:
        return bool(np.logaddexp.reduce(gains - len(x) * np.log1p(-bets * mean)) >= threshold)

    least, most = 0.0, 1 - 1e-12
    if not is_rich(most):
        return float(high)
    # The capital grows with the candidate, so that bisection finds the smallest one.
    for _ in range(50):
        middle = (least + most) / 2
        least, most = (least, middle) if is_rich(middle) else (middle, most)
    return float(min(high, low + (high - low) * most))
