"""Compare two models on the same rows.

Rows that are hard for one model are hard for the other, so the difference of losses, row by row,
varies less than the losses do. Errors (0 or 1) are compared exactly; other losses by Student's
interval, which is exact for normal differences and approximate otherwise.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from corollary.core.display import Difference
from corollary.core.estimator import ArrayLike, Probability, checked
from corollary.theory.concentration.binomial import clopper_pearson_interval

# Share of delta that the interval for 0-1 losses spends on which model is better; the rest goes
# to how often they differ. Which is better is what is asked, so it gets most.
_SIGN_SHARE = 0.8


@dataclass(frozen=True, repr=False)
class PairedComparison(Difference):
    """Difference of two models' mean losses on the same rows.

    Parameters
    ----------
    difference : float
        Mean of first minus second loss; negative if the first model is better.
    lower : float
        Lower end of the confidence interval.
    upper : float
        Upper end of the confidence interval.
    p_value : float
        Probability, if the models are equally good, of a difference at least as large.
    confidence : float
        Confidence of the interval.
    method : {"exact", "t"}
        How it was computed.
    n_samples : int
        Rows compared.

    See Also
    --------
    compare_losses : Computes it.
    """

    difference: float
    lower: float
    upper: float
    p_value: float
    confidence: float
    method: str
    n_samples: int


@checked
def compare_losses(
    first: ArrayLike,
    second: ArrayLike,
    *,
    confidence: Probability = 0.95,
    method: Literal["auto", "exact", "t"] = "auto",
) -> PairedComparison:
    r"""Compare the losses of two models on the same rows.

    Parameters
    ----------
    first : array-like of shape (n_samples,)
        Losses of the first model.
    second : array-like of shape (n_samples,)
        Losses of the second model on the same rows.
    confidence : float, default=0.95
        Confidence of the interval.
    method : {"auto", "exact", "t"}, default="auto"
        "exact" for losses that are 0 or 1, "t" for any; "auto" takes "exact" where it can.

    Returns
    -------
    comparison : PairedComparison
        Difference, interval and two-sided p-value.

    Raises
    ------
    ValueError
        If the losses are not numbers, have different lengths, or do not fit the method.

    Notes
    -----
    Exact: of the rows on which exactly one model errs, the share :math:`\theta` on which it is the
    first decides which is better; the p-value is that of the exact sign test on them (McNemar).
    The difference is :math:`\pi (2\theta - 1)` with :math:`\pi` the share of such rows; both have
    exact intervals, and the union bound joins them.

    Guarantee: the exact interval misses the true difference with probability at most
    1 - confidence, for independent rows; Student's interval does so for normal differences and
    approximately for many rows. Checked by ``tests/theory/test_paired.py``.

    References
    ----------
    McNemar, Q. (1947). Note on the sampling error of the difference between correlated
    proportions or percentages. Psychometrika 12.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import compare_losses
    >>> first = np.zeros(100)
    >>> second = np.r_[np.ones(12), np.zeros(88)]
    >>> comparison = compare_losses(first, second)
    >>> comparison.difference, comparison.distinguishable, round(comparison.p_value, 4)
    (-0.12, True, 0.0005)
    """
    first, second = (np.asarray(losses, dtype=float) for losses in (first, second))
    if first.ndim != 1 or first.shape != second.shape or len(first) == 0:
        raise ValueError(
            "compare_losses needs one loss per row and model, for the same rows. "
            f"Got shapes {first.shape} and {second.shape}."
        )
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("compare_losses needs finite losses. Got NaN or infinity.")
    binary = bool(np.isin(first, (0, 1)).all() and np.isin(second, (0, 1)).all())
    if method == "exact" and not binary:
        raise ValueError(
            "method='exact' of compare_losses needs losses that are 0 or 1. Got others; use "
            "method='t'."
        )
    if method == "t" or not binary:
        return _student(first - second, confidence)
    return _exact(first, second, confidence)


def _student(differences: np.ndarray, confidence: float) -> PairedComparison:
    from scipy.special import stdtr, stdtrit

    n, mean = len(differences), float(differences.mean())
    if n == 1:
        lower, upper, p_value = -math.inf, math.inf, 1.0
    else:
        error = float(differences.std(ddof=1)) / math.sqrt(n)
        radius = float(stdtrit(n - 1, (1 + confidence) / 2)) * error
        lower, upper = mean - radius, mean + radius
        if error > 0:
            p_value = 2 * float(stdtr(n - 1, -abs(mean) / error))
        else:
            p_value = 1.0 if mean == 0 else 0.0
    return PairedComparison(mean, lower, upper, p_value, confidence, "t", n)


def _exact(first: np.ndarray, second: np.ndarray, confidence: float) -> PairedComparison:
    from scipy.stats import binomtest

    n = len(first)
    worse, better = int(np.sum(first > second)), int(np.sum(first < second))
    differing, delta = worse + better, 1 - confidence
    p_value, theta = 1.0, (0.0, 1.0)
    if differing:
        p_value = float(binomtest(worse, differing, 0.5).pvalue)
        theta = clopper_pearson_interval(worse, differing, _SIGN_SHARE * delta)
    rare, often = clopper_pearson_interval(differing, n, (1 - _SIGN_SHARE) * delta)
    ends = [2 * side - 1 for side in theta]
    lower = ends[0] * (rare if ends[0] > 0 else often)
    upper = ends[1] * (rare if ends[1] < 0 else often)
    return PairedComparison((worse - better) / n, lower, upper, p_value, confidence, "exact", n)
