"""How much larger one loss is than another on the same rows, with an interval that counts units."""

import math
from typing import Any

import numpy as np

from corollary.core.estimator import NonNegative, Probability, checked
from corollary.validation.intervals import Estimate


@checked
def unit_excess(
    worse: Any,
    better: Any,
    units: Any,
    *,
    floor: NonNegative = 0.0,
    confidence: Probability = 0.95,
) -> tuple[Estimate, float]:
    r"""Estimate the relative excess of one mean loss over another on the same rows.

    The excess is :math:`R = \bar w / \bar b - 1`. Rows of a unit stand or fall together, so that
    units are counted: the variance of R is that of the sums of :math:`w_i - (1 + R) b_i` over
    units, and Student's law has as many degrees of freedom as there would be units of equal
    size, :math:`(\sum m)^2 / \sum m^2`, less 1. With losses of folds that leave whole units out,
    and of folds of rows dealt at random, R is what a model gains by having seen the unit.

    Parameters
    ----------
    worse : array-like of shape (n_rows,)
        Losses of the rows, out of fold, such as with whole units left out.
    better : array-like of shape (n_rows,)
        Losses to compare with, such as with rows dealt at random.
    units : array-like of shape (n_rows,)
        Unit of each row.
    floor : float, default=0.0
        Least value of the denominator, for targets that can be predicted exactly.
    confidence : float, default=0.95
        Nominal probability that the interval covers.

    Returns
    -------
    excess : Estimate
        The excess, its interval, and the number of units.
    p_value : float
        One-sided, of no excess.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.validation import unit_excess
    >>> rng = np.random.default_rng(0)
    >>> owner, loss = np.repeat(np.arange(20), 6), rng.random(120)
    >>> excess, p_value = unit_excess(loss + 0.2 * rng.random(20)[owner], loss, owner)
    >>> round(excess.value, 2), excess.n, p_value < 0.01
    (0.19, 20, True)
    """
    worse, better = (np.asarray(x, dtype=np.float64) for x in (worse, better))
    codes = np.unique(np.asarray(units), return_inverse=True)[1].reshape(-1)
    if not len(worse) == len(better) == len(codes) or not len(codes):
        raise ValueError(
            "unit_excess needs two losses and a unit for each row, and at least one row. "
            f"Got {len(worse)}, {len(better)} and {len(codes)}."
        )
    base = max(float(better.mean()), floor)
    if base <= 0:
        raise ValueError(
            "unit_excess needs a positive loss to compare with. Got losses of zero only. "
            "Pass a floor, such as a small share of the loss of guessing."
        )
    difference = float((worse - better).mean())
    value = difference / base
    size = np.bincount(codes).astype(np.float64)
    count = float(size.sum() ** 2 / (size**2).sum())
    if count < 1.5:
        return Estimate(value, -math.inf, math.inf, len(size)), 1.0
    error = _standard_error(worse - better - difference, codes, count)
    p_value = _student_tail(difference / error, count - 1) if error > 0 else float(difference <= 0)
    # Where the floor is the denominator it is a constant, and does not vary with the rows.
    slope = 1 + value if base > floor else 1.0
    ratio_error = _standard_error(_centred(worse - slope * better), codes, count) / base
    reach = ratio_error * _student_quantile((1 + confidence) / 2, count - 1)
    return Estimate(value, value - reach, value + reach, len(size)), p_value


def _centred(values: np.ndarray) -> np.ndarray:
    """Subtract the mean."""
    return values - values.mean()


def _standard_error(deviations: np.ndarray, codes: np.ndarray, count: float) -> float:
    """Return the standard error of a mean of rows, by the sums of deviations over units."""
    sums = np.bincount(codes, weights=deviations)
    return math.sqrt(float((sums**2).sum()) * count / (count - 1)) / len(codes)


def _student_tail(statistic: float, degrees: float) -> float:
    """Upper tail of Student's law."""
    from scipy.special import stdtr

    return float(stdtr(degrees, -statistic))


def _student_quantile(level: float, degrees: float) -> float:
    """Quantile of Student's law."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, level))
