"""How many rows a wanted bound takes."""

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from corollary.core.estimator import AnyReal, Probability, checked
from corollary.theory.concentration.binomial import clopper_pearson_upper
from corollary.theory.concentration.bounded_losses import hoeffding_bound


@checked
def rows_needed(
    target: AnyReal,
    empirical: AnyReal = 0.0,
    *,
    delta: Probability = 0.05,
    method: Literal["exact", "hoeffding"] = "exact",
    low: AnyReal = 0.0,
    high: AnyReal = 1.0,
) -> float:
    """Say how many held-out rows a wanted bound takes, if the empirical value stays as it is.

    Parameters
    ----------
    target : float
        The wanted upper bound.
    empirical : float, default=0.0
        Empirical mean loss, assumed to stay; for error rates errors are rounded up.
    delta : float, default=0.05
        Probability of failure, strictly between 0 and 1.
    method : {"exact", "hoeffding"}, default="exact"
        The exact binomial bound for error rates, or Hoeffding's for any bounded loss.
    low : float, default=0.0
        Smallest possible loss; used by "hoeffding".
    high : float, default=1.0
        Largest possible loss; used by "hoeffding".

    Returns
    -------
    n_samples : float
        The smallest number of rows, a whole number; infinite if the empirical value is not below
        the target, since no number of rows proves that.

    See Also
    --------
    clopper_pearson_upper : The exact bound.
    hoeffding_bound : The other.

    Examples
    --------
    >>> from corollary.theory import rows_needed
    >>> rows_needed(0.01)  # no errors seen
    299.0
    >>> rows_needed(0.022, 2 / 143)
    991.0
    """
    if math.isnan(target) or math.isnan(empirical):
        raise ValueError(
            "The 'target' and 'empirical' parameters of rows_needed must be numbers. Got "
            f"target={target} and empirical={empirical}."
        )
    if method == "hoeffding":
        if target <= empirical:
            return math.inf
        return hoeffding_bound(radius=target - empirical, delta=delta, low=low, high=high)
    if not 0 <= empirical <= 1:
        raise ValueError(
            "The 'empirical' parameter of rows_needed must be an error rate in [0, 1] for "
            f"method='exact'. Got {empirical} instead."
        )
    if target >= 1:
        return 1.0
    if target <= empirical:
        return math.inf
    from scipy.special import betaincc

    # With a fractional count the condition is monotone in n and weaker than with the count
    # rounded up: bisection gives a start from which to look for the first whole count.
    start = smallest_size(
        lambda n: betaincc(empirical * n + 1, n * (1 - empirical), target) <= delta
    )
    if math.isinf(start):
        return start
    first = int(start)
    while True:
        sizes = np.arange(first, first + 4096)
        counts = np.ceil(sizes * empirical - 1e-9).astype(int)
        enough = clopper_pearson_upper(counts, sizes, delta) <= target
        if enough.any():
            return float(sizes[np.argmax(enough)])
        first += 4096


def smallest_size(holds: Callable[[int], bool]) -> float:
    """Find the smallest number of rows at which a condition holds that stays true once true.

    Parameters
    ----------
    holds : callable
        ``holds(n)`` for n = 1, 2, 3, ...

    Returns
    -------
    n_samples : float
        A whole number; infinite if the condition is still false beyond 2 ** 62.

    Examples
    --------
    >>> from corollary.theory import hoeffding_bound, smallest_size
    >>> smallest_size(lambda n: hoeffding_bound(n_samples=n, delta=0.05) < 0.1)
    150
    """
    most = 1
    while not holds(most):
        most *= 2
        if most > 2**62:
            return math.inf
    least = most // 2 + 1
    while least < most:
        middle = (least + most) // 2
        if holds(middle):
            most = middle
        else:
            least = middle + 1
    return most
