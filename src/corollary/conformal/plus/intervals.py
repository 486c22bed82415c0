r"""Intervals from models that each left some rows out: jackknife+ and CV+.

Every row i has a residual :math:`R_i` under the model that did not see it, and this model also
predicts the new row. The interval is bounded by order statistics of
:math:`\hat\mu_{-i}(x) \pm R_i`. Nothing is lost to a calibration set; the price is that the
theorem promises only about :math:`1 - 2\alpha`.
"""

import math

import numpy as np

from corollary.conformal.plus._ends import check_folds, interval_ends
from corollary.conformal.quantile import conformal_rank
from corollary.core.estimator import ArrayLike, Count, Probability, checked


@checked
def plus_coverage(n_samples: Count, n_folds: Count, confidence: Probability) -> float:
    r"""Return the coverage that CV+ is proved to have, for any model and any law.

    With :math:`c = \lfloor \alpha(n+1) \rfloor - 1` (the largest number of rows that fit no better
    than a target outside the interval), K folds and :math:`\alpha = 1 -` `confidence`, an
    interval misses with probability at most

    .. math:: \min\left\{ \frac{2c + K}{n + K}, \frac{2c + n/K}{n + n/K} \right\}

    if the folds are of equal size and 2c is a multiple of K; the first term is a little larger
    otherwise, and stands alone for unequal folds. For K = n (jackknife+) this is
    :math:`(2c + 1)/(n + 1) < 2\alpha`.

    Parameters
    ----------
    n_samples : int
        Number n of training rows.
    n_folds : int
        Number K of folds, from 2 to n.
    confidence : float
        The level :math:`1 - \alpha` at which the interval is built, strictly between 0 and 1.

    Returns
    -------
    coverage : float
        In [0, 1]; 1 if the rows are so few that intervals are infinite.

    Notes
    -----
    The first term. Within the fold k of :math:`m_k` rows the rank of the target's residual among
    theirs is a p-value :math:`P_k` with values :math:`r / (m_k + 1)`. Weighted by
    :math:`m_k + 1` the p-values average to K plus the rows that fit no better, over n + K: at
    most :math:`\epsilon = (c + K)/(n + K)` for a miss. For every b > 1 the indicator of this is
    at most the average of the convex functions :math:`(b - P_k/\epsilon)_+ / (b - 1)`, whatever
    the dependence of the p-values; its probability is therefore at most

    .. math:: \frac{1}{(n + K)(b - 1)} \sum_k \sum_{r=1}^{m_k + 1}
              \Big( b - \frac{r}{(m_k + 1)\,\epsilon} \Big)_+ ,

    of which the smallest over a few b near 2 is taken.

    The second term. Let the new row be one of n/K that make a further fold, and compare every
    two rows of different folds by their residuals under the model that saw neither fold. A row
    whose target is missed loses or ties at most c of its n games. Among s such rows, of which
    each meets at least s - n/K others, someone fails to win in every game, so that
    :math:`s (s - n/K) / 2 \le s c` and :math:`s \le 2c + n/K`; by exchangeability the new row is
    one of them with probability at most s / (n + n/K).

    Published (theorem 4 of the first reference) is :math:`1 - 2\alpha` minus
    :math:`\min\{2(1 - 1/K)/(n/K + 1), (1 - K/n)/(K + 1)\} \le \sqrt{2/n}`, by the same two
    arguments with b = 2, p-values taken for continuous, and ranks rounded. The terms here never
    promise less.

    Guarantee: simulated in ``tests/guarantees/conformal.py``; the two counts are checked against
    all outcomes of small tournaments and all joint laws of small p-values in
    ``tests/conformal/test_cv_plus.py``.

    References
    ----------
    Barber, R. F., Candes, E. J., Ramdas, A. and Tibshirani, R. J. (2021). Predictive inference
    with the jackknife+. Annals of Statistics 49.

    Vovk, V. and Wang, R. (2020). Combining p-values via averaging. Biometrika 107.

    Examples
    --------
    >>> from corollary.conformal import plus_coverage
    >>> round(plus_coverage(99, 99, 0.9), 3), round(plus_coverage(1000, 10, 0.9), 3)
    (0.81, 0.794)
    """
    if n_folds > n_samples:
        raise ValueError(
            "plus_coverage needs at most one fold per row. "
            f"Got {n_folds} folds of {n_samples} rows."
        )
    rank = conformal_rank(n_samples, confidence)
    if rank > n_samples:
        return 1.0
    worse = n_samples - rank
    miss = _average_of_p_values(n_samples, n_folds, worse)
    if n_samples % n_folds == 0:
        size = n_samples // n_folds
        miss = min(miss, (2 * worse + size) / (n_samples + size))
    return max(0.0, 1.0 - miss)


def _average_of_p_values(n: int, n_folds: int, worse: int) -> float:
    """Bound the probability that p-values of folds average to at most (worse + K) / (n + K)."""
    small, larger = divmod(n, n_folds)
    # Values of a p-value of each size of fold, and how many folds have it.
    folds = [(small + 1, n_folds - larger), (small + 2, larger)]
    level = (worse + n_folds) / (n + n_folds)
    best = 1.0
    for values, count in folds:
        # The bound has its minima over b where b * level is one of the values.
        middle = 2 * level * values
        for r in range(math.floor(middle) - 1, math.ceil(middle) + 2) if count else ():
            b = r / (level * values)
            if b > 1 + 1e-9:
                total = sum(k * _positive_part(b, level, v) for v, k in folds)
                best = min(best, total / ((n + n_folds) * (b - 1)))
    return best


def _positive_part(b: float, level: float, values: int) -> float:
    """Return the sum of (b - r / (values * level))_+ over r from 1 to values."""
    last = min(values, math.floor(b * level * values + 1e-9))
    return b * last - last * (last + 1) / (2 * values * level)


@checked
def plus_intervals(
    predictions: ArrayLike, residuals: ArrayLike, folds: ArrayLike, confidence: Probability
) -> np.ndarray:
    r"""Combine the predictions of K models with the residuals of the rows that each left out.

    With :math:`k = \lceil (n+1)(1-\alpha) \rceil` the upper end is the k-th smallest of
    :math:`\hat\mu_{-S(i)}(x) + R_i` and the lower end the k-th largest of
    :math:`\hat\mu_{-S(i)}(x) - R_i`.

    Parameters
    ----------
    predictions : array-like of shape (n_new, n_folds)
        What each model says of each new row.
    residuals : array-like of shape (n_samples,)
        Absolute residual of each training row under the model of its fold; infinite if none is
        known.
    folds : array-like of int of shape (n_samples,)
        Column of the model that left the row out.
    confidence : float
        The level :math:`1 - \alpha`, strictly between 0 and 1.

    Returns
    -------
    intervals : ndarray of shape (n_new, 2)
        Lower and upper ends. The memory beside it grows with the rows, never with their product.

    See Also
    --------
    plus_coverage : What is proved of them.
    CVPlusRegressor : The estimator.

    Examples
    --------
    >>> from corollary.conformal import plus_intervals
    >>> plus_intervals([[10.0, 20.0]], [1.0, 2.0, 3.0], [0, 0, 1], 0.5)
    array([[ 9., 12.]])
    """
    predictions, residuals, folds = check_folds(predictions, residuals, folds, "plus_intervals")
    order = np.lexsort((residuals, folds))
    sizes = np.bincount(folds, minlength=predictions.shape[1])
    return interval_ends(predictions, residuals[order], sizes, confidence)
