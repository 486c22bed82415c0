r"""Tests: how often chance alone would do what was seen.

A p-value is the largest probability, over the laws of the null hypothesis, of a statistic at least
as large as the observed one. Rejecting when it is at most alpha has size at most alpha; that holds
for finite numbers of draws and permutations too, because the observed value counts as one of them.
"""

from collections.abc import Callable, Iterator
from itertools import permutations
from math import factorial
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from corollary.risk import check_law
from corollary.validation._units import read_units


def exact_p_value(observed: float, values: Any, probabilities: Any) -> float:
    """Compute a p-value from the exact law of the statistic.

    Parameters
    ----------
    observed : float
        Observed statistic.
    values : array-like of shape (n,)
        What the statistic can be.
    probabilities : array-like of shape (n,) or (n_nulls, n)
        Its law under the null hypothesis; several rows for a composite one.

    Returns
    -------
    p_value : float
        Largest probability of a value at least as large as the observed one.

    Examples
    --------
    >>> from corollary.validation import exact_p_value
    >>> exact_p_value(2, [0, 1, 2], [0.25, 0.5, 0.25])
    0.25
    """
    values, laws = np.asarray(values, dtype=float), np.atleast_2d(probabilities)
    for law in laws:
        if len(check_law("exact_p_value", "probabilities", law)) != len(values):
            raise ValueError("exact_p_value needs one probability per value.")
    # Values that differ from the observed one by rounding alone count as equal to it.
    tolerance = 1e-12 * max(1.0, abs(observed))
    return min(1.0, float(laws[:, values >= observed - tolerance].sum(axis=1).max()))


def monte_carlo_p_value(observed: float, draws: Any) -> float:
    """Compute a p-value from draws of the statistic under the null hypothesis.

    Parameters
    ----------
    observed : float
        Observed statistic.
    draws : array-like of shape (n_draws,)
        Independent draws under the null hypothesis.

    Returns
    -------
    p_value : float
        ``(1 + draws at least as large) / (1 + n_draws)``: exact in level for any number of draws.

    Examples
    --------
    >>> from corollary.validation import monte_carlo_p_value
    >>> monte_carlo_p_value(3.0, [1.0, 2.0, 3.0])
    0.5
    """
    draws = np.asarray(draws, dtype=float)
    if draws.ndim != 1 or np.isnan(draws).any() or np.isnan(observed):
        raise ValueError("monte_carlo_p_value needs a number and a vector of draws, none NaN.")
    tolerance = 1e-12 * max(1.0, abs(observed))
    return float(1 + np.sum(draws >= observed - tolerance)) / (1 + len(draws))


def permutation_test(
    statistic: Callable[[Any, np.ndarray], float],
    x: Any,
    y: Any,
    *,
    n_permutations: int = 999,
    groups: Any = None,
    random_state: Any = None,
) -> float:
    """Test whether two columns have anything to do with each other.

    Parameters
    ----------
    statistic : callable
        ``statistic(x, y)``, large when they have.
    x : array-like of shape (n_samples, ...)
        One column, or several; left as it is.
    y : array-like of shape (n_samples,)
        The other, which is permuted. Group labels test for a difference of groups.
    n_permutations : int, default=999
        Permutations to draw; all of them are used when there are no more.
    groups : array-like of shape (n_samples,) or None, default=None
        The unit of each row. Units change places, not rows: a unit takes the values of another one,
        of any size if `y` has one value in each unit, otherwise of its own size, row by row.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    p_value : float
        Exact in level when rows are exchangeable under the null hypothesis, or units with `groups`.

    See Also
    --------
    scipy.stats.permutation_test : Of samples of numbers and vectorised statistics; here `x` may be
        anything with rows, a data frame or several columns, and is never copied.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.validation import permutation_test
    >>> x = np.arange(7.0)
    >>> permutation_test(lambda x, y: abs(np.corrcoef(x, y)[0, 1]), x, x, n_permutations=10_000)
    0.0003968253968253968
    """
    y = np.asarray(y)
    if n_permutations < 1 or not len(y):
        raise ValueError("permutation_test needs rows and at least one permutation.")
    observed, rng = float(statistic(x, y)), check_random_state(random_state)
    if groups is None:
        units = first = np.arange(len(y))
    else:
        units = read_units("permutation_test", groups, len(y), least=2)
        first = np.unique(units, return_index=True)[1]
        if not np.array_equal(y[first][units], y):
            swaps = _swaps_of_equal_units(units, rng, n_permutations)
            return monte_carlo_p_value(observed, [statistic(x, y[rows]) for rows in swaps])
    if len(first) <= 9 and factorial(len(first)) <= n_permutations:
        orders = permutations(range(len(first)))
        every = np.array([statistic(x, y[first[list(order)]][units]) for order in orders])
        return float(np.mean(every >= observed - 1e-12 * max(1.0, abs(observed))))
    draws = (y[first[rng.permutation(len(first))]][units] for _ in range(n_permutations))
    return monte_carlo_p_value(observed, [statistic(x, draw) for draw in draws])


def _swaps_of_equal_units(
    units: np.ndarray, rng: np.random.RandomState, n_draws: int
) -> Iterator[np.ndarray]:
    """Yield row positions after units of one size have changed places."""
    sizes, order = np.bincount(units), np.argsort(units, kind="stable")
    blocks = [order[sizes[units[order]] == size].reshape(-1, size) for size in np.unique(sizes)]
    if all(len(block) == 1 for block in blocks):
        raise ValueError(
            "permutation_test needs units of equal size that can change places, or one value of y "
            f"in each unit. Got {len(sizes)} units of different sizes."
        )
    for _ in range(n_draws):
        rows = np.empty(len(units), dtype=int)
        for block in blocks:
            rows[block] = block[rng.permutation(len(block))]
        yield rows


class WaldTest(NamedTuple):
    """Outcome of a Wald test.

    Parameters
    ----------
    statistic : float
        Squared distance from the null in standard errors.
    degrees : int
        Number of parameters tested.
    p_value : float
        From the chi-square law, in the limit of many rows.
    """

    statistic: float
    degrees: int
    p_value: float


def wald_test(estimate: Any, covariance: Any, null: Any = 0.0) -> WaldTest:
    r"""Test whether parameters have given values, by their estimates and covariance.

    Parameters
    ----------
    estimate : float or array-like of shape (q,)
        Estimates, asymptotically normal.
    covariance : float or array-like of shape (q, q)
        Their variance or covariance matrix, positive definite.
    null : float or array-like of shape (q,), default=0.0
        Values under the null hypothesis.

    Returns
    -------
    test : WaldTest
        :math:`W=(\hat\theta-\theta_0)^\top\hat\Sigma^{-1}(\hat\theta-\theta_0)` against the
        chi-square law with q degrees of freedom.

    Notes
    -----
    Asymptotic: the size tends to the level as rows grow. A value lies inside the interval
    :math:`\hat\theta\pm z\hat\sigma` exactly when its test does not reject.

    Examples
    --------
    >>> from corollary.validation import wald_test
    >>> round(wald_test([1.0, 2.0], [[1.0, 0.0], [0.0, 1.0]]).statistic, 6)
    5.0
    """
    from scipy.special import chdtrc

    shift = np.atleast_1d(np.asarray(estimate, dtype=float) - np.asarray(null, dtype=float))
    matrix = np.atleast_2d(np.asarray(covariance, dtype=float))
    if shift.ndim != 1 or matrix.shape != (len(shift), len(shift)):
        raise ValueError(
            "wald_test needs q estimates and their (q, q) covariance. Got shapes "
            f"{shift.shape} and {matrix.shape}."
        )
    try:
        L = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError as error:
        raise ValueError("wald_test needs a positive definite covariance.") from error
    statistic = float(np.sum(np.linalg.solve(L, shift) ** 2))
    return WaldTest(statistic, len(shift), float(chdtrc(len(shift), statistic)))
