"""Exact confidence bounds from counts.

A count of errors among independent rows has a binomial law, and inverting its tail gives the best
bound that holds for every error rate. The same law, applied to the rank of an observation, bounds
the quantiles of any distribution.
"""

import math
from numbers import Integral
from typing import Annotated, Any

import numpy as np
from scipy import special

from corollary.core.compat import Interval
from corollary.core.estimator import ArrayLike, Probability, checked

_Errors = Annotated[Any, Integral, "array-like"]
_Rows = Annotated[Any, Interval(Integral, 1, None, closed="left"), "array-like"]


def _check_counts(errors: Any, n_samples: Any, who: str) -> tuple[np.ndarray, np.ndarray]:
    errors, n_samples = np.asarray(errors), np.asarray(n_samples)
    if not (np.issubdtype(errors.dtype, np.integer) and np.issubdtype(n_samples.dtype, np.integer)):
        raise ValueError(
            f"The 'errors' and 'n_samples' parameters of {who} must be whole numbers. "
            f"Got {errors.dtype} and {n_samples.dtype} instead."
        )
    if np.any(errors < 0) or np.any(errors > n_samples) or np.any(n_samples < 1):
        raise ValueError(
            f"The 'errors' parameter of {who} must lie between 0 and 'n_samples', which must be at "
            f"least 1. Got {errors.tolist()} errors in {n_samples.tolist()} rows instead."
        )
    return errors.astype(float), n_samples.astype(float)


def _scalar_or_array(values: np.ndarray) -> Any:
    return float(values) if values.ndim == 0 else values


@checked
def binomial_tail_inversion(errors: _Errors, n_samples: _Rows, delta: Probability) -> Any:
    r"""Return the largest error rate under which so few errors are not surprising.

    .. math:: \max\{p : P\{\mathrm{Bin}(n, p) \le k\} \ge \delta\},

    with :math:`k` = `errors` and :math:`n` = `n_samples`: the unique root of "tail = delta", or 1
    if every row was an error.

    Parameters
    ----------
    errors : int or array-like of int
        Number of errors.
    n_samples : int or array-like of int
        Number of rows.
    delta : float
        Probability of failure, strictly between 0 and 1.

    Returns
    -------
    rate : float or ndarray
        The largest rate.

    See Also
    --------
    clopper_pearson_upper : The same number, named after its use.

    Notes
    -----
    The tail is a regularised incomplete beta function of the rate, so its inverse is a quantile
    of Beta(k + 1, n - k); it is taken from the upper tail, which stays accurate for tiny delta.

    References
    ----------
    Langford, J. (2005). Tutorial on practical prediction theory for classification. Journal of
    Machine Learning Research 6, definition 3.2.

    Examples
    --------
    >>> from corollary.theory import binomial_tail_inversion
    >>> round(binomial_tail_inversion(0, 100, delta=0.05), 4)  # 1 - 0.05 ** (1 / 100)
    0.0295
    """
    errors, n_samples = _check_counts(errors, n_samples, "binomial_tail_inversion")
    errors, n_samples = np.broadcast_arrays(errors, n_samples)
    inside = errors < n_samples
    free = np.where(inside, n_samples - errors, 1.0)
    rate = np.where(inside, special.betainccinv(errors + 1, free, delta), 1.0)
    # Where the inversion gives up, the trivial limit is left.
    return _scalar_or_array(np.where(np.isnan(rate), 1.0, rate))


@checked
def clopper_pearson_upper(errors: _Errors, n_samples: _Rows, delta: Probability) -> Any:
    """Bound an error rate from above, exactly.

    Parameters
    ----------
    errors : int or array-like of int
        Number of errors.
    n_samples : int or array-like of int
        Number of independent rows.
    delta : float
        Probability of failure, strictly between 0 and 1; all of it is spent on this side.

    Returns
    -------
    bound : float or ndarray
        Upper confidence bound; 1 if every row was an error, which is vacuous.

    See Also
    --------
    clopper_pearson_lower : The other side.
    clopper_pearson_interval : Both sides, sharing delta.
    rows_needed : How many rows a smaller bound would take.

    Notes
    -----
    Guarantee: whatever the true rate, the bound is below it with probability at most delta.
    No bound that is a non-decreasing function of the count and valid for every rate is smaller.
    Checked by ``tests/theory/test_binomial.py``.

    References
    ----------
    Clopper, C. J. and Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated
    in the case of the binomial. Biometrika 26.

    Examples
    --------
    >>> from corollary.theory import clopper_pearson_upper
    >>> round(clopper_pearson_upper(2, 143, delta=0.05), 4)
    0.0434
    """
    return binomial_tail_inversion(errors, n_samples, delta)


@checked
def clopper_pearson_lower(errors: _Errors, n_samples: _Rows, delta: Probability) -> Any:
    """Bound an error rate from below, exactly.

    Parameters
    ----------
    errors : int or array-like of int
        Number of errors.
    n_samples : int or array-like of int
        Number of independent rows.
    delta : float
        Probability of failure, strictly between 0 and 1; all of it is spent on this side.

    Returns
    -------
    bound : float or ndarray
        Lower confidence bound; 0 if no row was an error.

    See Also
    --------
    clopper_pearson_upper : The other side.

    Notes
    -----
    Guarantee: whatever the true rate, the bound is above it with probability at most delta.
    Checked by ``tests/theory/test_binomial.py``.

    Examples
    --------
    >>> from corollary.theory import clopper_pearson_lower
    >>> round(clopper_pearson_lower(141, 143, delta=0.025), 3)
    0.95
    """
    errors, n_samples = _check_counts(errors, n_samples, "clopper_pearson_lower")
    errors, n_samples = np.broadcast_arrays(errors, n_samples)
    inside = errors > 0
    bound = special.betaincinv(np.where(inside, errors, 1.0), n_samples - errors + 1, delta)
    # Where the inversion gives up (limits below 1e-100), the trivial limit is left.
    return _scalar_or_array(np.where(inside & ~np.isnan(bound), bound, 0.0))


@checked
def clopper_pearson_interval(
    errors: _Errors, n_samples: _Rows, delta: Probability
) -> tuple[Any, Any]:
    """Bound an error rate from both sides, exactly.

    Parameters
    ----------
    errors : int or array-like of int
        Number of errors.
    n_samples : int or array-like of int
        Number of independent rows.
    delta : float
        Probability that the rate lies outside, strictly between 0 and 1; each side gets half.

    Returns
    -------
    lower : float or ndarray
        Lower end.
    upper : float or ndarray
        Upper end.

    See Also
    --------
    clopper_pearson_upper : One side at full delta.

    Notes
    -----
    Guarantee: whatever the true rate, it lies outside with probability at most delta. Checked by
    ``tests/theory/test_binomial.py``.

    Examples
    --------
    >>> from corollary.theory import clopper_pearson_interval
    >>> lower, upper = clopper_pearson_interval(141, 143, delta=0.05)
    >>> round(lower, 3), round(upper, 3)
    (0.95, 0.998)
    """
    return (
        clopper_pearson_lower(errors, n_samples, delta / 2),
        clopper_pearson_upper(errors, n_samples, delta / 2),
    )


@checked
def quantile_upper_bound(values: ArrayLike, level: Probability, delta: Probability) -> float:
    r"""Bound a quantile of any distribution from above by an order statistic.

    The bound is the :math:`k`-th smallest value with the smallest :math:`k` such that
    :math:`P\{\mathrm{Bin}(n, q) \ge k\} \le \delta`, where :math:`q` is `level`.

    Parameters
    ----------
    values : array-like of shape (n_samples,)
        Independent observations, for example absolute errors on held-out rows.
    level : float
        Which quantile, strictly between 0 and 1.
    delta : float
        Probability of failure, strictly between 0 and 1.

    Returns
    -------
    bound : float
        A value that at least a share `level` of the population does not exceed; infinite if
        there are fewer than :func:`quantile_rows_needed` observations.

    Raises
    ------
    ValueError
        If there are no values or one of them is not a number.

    See Also
    --------
    quantile_rows_needed : The smallest sample with a finite bound.

    Notes
    -----
    Guarantee: with probability at least 1 - delta, at least a share `level` of the population lies
    at or below the bound, for independent draws from any distribution, ties included. Checked by
    ``tests/theory/test_binomial.py``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import quantile_upper_bound
    >>> quantile_upper_bound(np.arange(1, 101), level=0.9, delta=0.05)
    96.0
    """
    values = np.asarray(values, dtype=float)
    if values.ndim != 1 or len(values) == 0 or np.isnan(values).any():
        raise ValueError(
            "The 'values' parameter of quantile_upper_bound must be one-dimensional, not empty and "
            f"free of NaN. Got shape {values.shape} with {int(np.isnan(values).sum())} NaN instead."
        )
    rank = _upper_rank(len(values), level, delta)
    if rank > len(values):
        return math.inf
    return float(np.partition(values, rank - 1)[rank - 1])


def _upper_rank(n: int, level: float, delta: float) -> int:
    """Find the smallest k with P(Bin(n, level) >= k) <= delta by bisection on the exact tail."""
    least, most = 1, n + 1
    while least < most:
        middle = (least + most) // 2
        if special.betainc(middle, n - middle + 1, level) <= delta:
            most = middle
        else:
            least = middle + 1
    return least


@checked
def quantile_rows_needed(level: Probability, delta: Probability) -> int:
    """Return the smallest sample whose largest value bounds a quantile from above.

    Parameters
    ----------
    level : float
        Which quantile, strictly between 0 and 1.
    delta : float
        Probability of failure, strictly between 0 and 1.

    Returns
    -------
    n_samples : int
        Smallest n with ``level ** n <= delta``.

    See Also
    --------
    quantile_upper_bound : The bound.

    Examples
    --------
    >>> from corollary.theory import quantile_rows_needed
    >>> quantile_rows_needed(level=0.9, delta=0.05)
    29
    """
    n = max(1, math.floor(math.log(delta) / math.log(level)) - 1)
    while n * math.log(level) > math.log(delta):
        n += 1
    return n
