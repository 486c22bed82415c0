r"""Intervals that count units: clients, patients, copies of one row.

Rows of one unit tell the same story again; ten rows of each of twenty clients are twenty pieces of
evidence. The target is a row of a new unit: with :math:`L_g` the mean over the rows of unit g it is
:math:`\theta = \mathbb{E}L_g`, in which large units count no more than small ones, and the
:math:`L_g` are independent.
"""

import math
from typing import Any

import numpy as np

from corollary.core.estimator import ArrayLike, Positive, Probability, RandomSeed, checked
from corollary.theory import betting_mean_bound, one_row_per_unit, unit_means
from corollary.validation._units import read_units
from corollary.validation.intervals import Estimate, mean_interval, quantile_interval, share_upper


@checked
def unit_mean_interval(
    values: ArrayLike, units: Any, confidence: Probability, *, inflation: Positive = 1.0
) -> Estimate:
    r"""Estimate the mean of a row of a new unit, with an interval that counts units.

    The mean over units of their means, with :func:`mean_interval` over the units: Student's law
    with one degree of freedom less than there are units, corrected for skewness.

    Guarantee: none for finite numbers of units: no finite interval exists for unbounded losses.
    Simulated coverage of 95% intervals with 5, 10, 20 and 40 units stands in
    ``tests/validation/test_unit_intervals.py``.

    Parameters
    ----------
    values : array-like of shape (n_samples,)
        A number for each row, a loss for instance.
    units : array-like of shape (n_samples,)
        The unit of each row.
    confidence : float
        Nominal probability that the interval covers the mean.
    inflation : float, default=1.0
        Factor on the standard error, such as :func:`overlap_inflation` for cross-validated rows.

    Returns
    -------
    estimate : Estimate
        Mean and interval, and the number of units; without ends for one unit.

    See Also
    --------
    unit_share_upper : A theorem, for errors that are 0 or 1.
    unit_quantile_interval : A theorem, for the median of losses of any size.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.validation import unit_mean_interval
    >>> losses, clients = np.repeat([1.0, 2.0, 3.0], [1, 4, 40]), np.repeat([7, 8, 9], [1, 4, 40])
    >>> estimate = unit_mean_interval(losses, clients, 0.95)
    >>> estimate.value, round(estimate.low, 2), round(estimate.high, 2), estimate.n
    (2.0, -0.48, 4.48, 3)
    """
    means = unit_means(*_read("unit_mean_interval", values, units))
    return mean_interval(means, confidence, inflation=inflation)


@checked
def unit_share_upper(hits: ArrayLike, units: Any, confidence: Probability) -> float:
    r"""Bound the probability of a hit for a row of a new unit from above.

    The shares :math:`L_g` of the units are independent numbers in [0, 1], whose mean is bounded by
    betting (:func:`corollary.theory.betting_mean_bound`). Where every unit has one row this is the
    exact binomial bound.

    Guarantee: the bound holds at least as often as the confidence says, for any number of units and
    any sizes, also where size and share have to do with each other, if units are drawn
    independently of each other and of the model whose hits they are. Checked by
    ``tests/validation/test_unit_intervals.py``.

    Parameters
    ----------
    hits : array-like of shape (n_samples,)
        Whether each row is a hit, a mistake for instance: 0 or 1.
    units : array-like of shape (n_samples,)
        The unit of each row.
    confidence : float
        Probability that the bound holds, at least.

    Returns
    -------
    high : float
        The bound.

    See Also
    --------
    hold_out_interval : Limits on both sides, for bounded losses.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.validation import share_upper, unit_share_upper
    >>> mistakes = np.repeat([0, 1, 0, 0], 25)  # one of four clients is always wrong
    >>> round(share_upper(25, 100, 0.95), 2)
    0.33
    >>> round(unit_share_upper(mistakes, np.repeat([1, 2, 3, 4], 25), 0.95), 2)
    0.83
    """
    values, codes = _read("unit_share_upper", hits, units)
    if not np.isin(values, (0, 1)).all():
        raise ValueError("unit_share_upper needs hits that are 0 or 1 for each row.")
    n_units = int(codes.max()) + 1
    if n_units == len(codes):
        return share_upper(int(values.sum()), n_units, confidence)
    return betting_mean_bound(unit_means(values, codes), 1 - confidence)


@checked
def unit_quantile_interval(
    values: ArrayLike,
    units: Any,
    level: Probability,
    confidence: Probability,
    random_state: RandomSeed = None,
) -> Estimate:
    """Estimate a quantile of a row of a new unit, with an interval that counts units.

    The point estimate gives the rows of a unit of m rows the weight 1 / m. The interval is that of
    order statistics for one row drawn from each unit, which are independent; it is widened to hold
    the point estimate.

    Guarantee: the interval covers at least as often as the confidence says, for every continuous
    distribution, any number of units and any sizes. Checked by
    ``tests/validation/test_unit_intervals.py``.

    Parameters
    ----------
    values : array-like of shape (n_samples,)
        A number for each row, a loss for instance.
    units : array-like of shape (n_samples,)
        The unit of each row.
    level : float
        Level of the quantile, 0.5 for the median.
    confidence : float
        Probability that the interval covers, at least.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the draw from each unit.

    Returns
    -------
    estimate : Estimate
        Quantile and interval, and the number of units; an end is infinite where there are too few.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.validation import unit_quantile_interval
    >>> losses, clients = np.arange(60.0), np.arange(60) // 3
    >>> estimate = unit_quantile_interval(losses, clients, 0.5, 0.95, random_state=0)
    >>> estimate.value, bool(15 <= estimate.low <= 17), bool(42 <= estimate.high <= 44), estimate.n
    (29.0, True, True, 20)
    """
    values, codes = _read("unit_quantile_interval", values, units)
    sizes = np.bincount(codes)
    order = np.argsort(values, kind="stable")
    mass = np.cumsum(1 / sizes[codes[order]]) / len(sizes)
    middle = float(values[order[min(int(np.searchsorted(mass, level - 1e-9)), len(mass) - 1)]])
    sample = values[one_row_per_unit(codes, random_state)]
    _, low, high = quantile_interval(sample, level, confidence)
    return Estimate(
        middle,
        -math.inf if low is None else min(low, middle),
        math.inf if high is None else max(high, middle),
        len(sizes),
    )


def _read(who: str, values: Any, units: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers and units of rows."""
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1:
        raise ValueError(f"{who} needs one value for each row. Got shape {numbers.shape}.")
    if np.isnan(numbers).any():
        raise ValueError(f"{who} needs numbers, none of them NaN. Leave these rows out.")
    return numbers, read_units(who, units, len(numbers))
