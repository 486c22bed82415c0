"""Standard errors and intervals of means over cross-validated rows, whose training rows overlap."""

import math
from typing import Any

import numpy as np

from corollary.core.estimator import ArrayLike, Count, Positive, Probability, checked
from corollary.theory import unit_means
from corollary.validation._units import read_units
from corollary.validation.intervals import Estimate, mean_interval


@checked
def overlap_inflation(n_folds: Count, ratio: Positive | None = None) -> float:
    r"""Give the factor by which shared training rows inflate the standard error over folds.

    Nadeau and Bengio replace the variance :math:`s^2 / K` of a mean over K folds by
    :math:`s^2 (1/K + n_2/n_1)`, with :math:`n_2/n_1` the ratio of held-out to training rows.

    Parameters
    ----------
    n_folds : int
        Folds, K.
    ratio : float or None, default=None
        Held-out rows over training rows; None for the 1 / (K - 1) of equal folds.

    Returns
    -------
    factor : float
        :math:`\sqrt{1 + K n_2 / n_1}`, 1.5 for five equal folds.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio (2003). Inference for the generalization error. Machine
       Learning 52, 239-281.

    Examples
    --------
    >>> from corollary.validation import overlap_inflation
    >>> overlap_inflation(5)
    1.5
    """
    ratio = 1.0 / max(n_folds - 1.0, 1.0) if ratio is None else ratio
    return math.sqrt(1.0 + n_folds * ratio)


@checked
def cross_validated_interval(
    values: ArrayLike, n_folds: Count, confidence: Probability, *, units: Any = None
) -> Estimate:
    """Estimate the mean of cross-validated losses, or of paired differences of them, by row.

    Training sets overlap, so the rows are not independent: the interval of a mean is widened by
    :func:`overlap_inflation`. Guarantee: approximate; no unbiased variance of cross-validation
    exists.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Loss of each row, or the difference of two learners' losses, when it was held out.
    n_folds : int
        Folds.
    confidence : float
        Nominal confidence.
    units : array-like of shape (n,) or None, default=None
        The unit of each row, if folds left out whole units: the mean is then that of units' means,
        and units are counted.

    Returns
    -------
    estimate : Estimate
        Mean and interval; without ends if a value is not finite.

    See Also
    --------
    compare_learners : The comparison of two estimators by folds.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.validation import cross_validated_interval
    >>> value, low, high, n = cross_validated_interval(np.tile([0.0, 1.0], 50), 5, 0.95)
    >>> value, round(low, 2), round(high, 2)
    (0.5, 0.35, 0.65)
    """
    if len(values) < 2 or not np.isfinite(values).all():
        return Estimate(float(np.mean(values)), -math.inf, math.inf, len(values))
    values = _pieces("cross_validated_interval", values, units)
    return mean_interval(values, confidence, inflation=overlap_inflation(n_folds))


@checked
def cross_validated_error(values: ArrayLike, n_folds: Count, *, units: Any = None) -> float:
    """Compute the standard error of a mean of cross-validated values.

    Parameters
    ----------
    values : ndarray of shape (n,)
        As for :func:`cross_validated_interval`.
    n_folds : int
        Folds.
    units : array-like of shape (n,) or None, default=None
        The unit of each row, if folds left out whole units.

    Returns
    -------
    error : float
        Standard error by rows or units, inflated by :func:`overlap_inflation`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.validation import cross_validated_error
    >>> round(cross_validated_error(np.tile([0.0, 1.0], 50), 5), 3)
    0.075
    """
    values = _pieces("cross_validated_error", values, units)
    return float(np.std(values, ddof=1) / np.sqrt(len(values)) * overlap_inflation(n_folds))


def _pieces(who: str, values: Any, units: Any) -> np.ndarray:
    """Return what counts as independent: values of rows, or means of units."""
    if units is None:
        return np.asarray(values, dtype=float)
    return unit_means(values, read_units(who, units, len(values)))
