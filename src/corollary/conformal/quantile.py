"""The quantile behind conformal prediction, and what it covers.

Of n + 1 exchangeable scores the last is equally likely to have any rank. A threshold at the k-th
smallest of the first n therefore covers the last with probability k / (n + 1), whatever the law of
the scores; the whole of split conformal prediction follows from choosing k.
"""

import math
from typing import Any

import numpy as np

from corollary.conformal._checks import check_groups, check_scores
from corollary.conformal._order import (
    order_statistic,
    rank_of_level,
    round_up,
    smallest_finite_size,
    threshold,
)
from corollary.core.estimator import ArrayLike, CountFromZero, NonNegative, Probability, checked


@checked
def empirical_quantile(values: ArrayLike, level: NonNegative) -> float:
    r"""Return the empirical quantile as an order statistic, infinite at the ends.

    .. math:: \inf\{v : \#\{a_i \le v\} / m \ge q\}

    with :math:`q` = `level`: the :math:`\lceil qm \rceil`-th smallest of m values,
    :math:`-\infty` for q = 0 and :math:`+\infty` for q > 1.

    Parameters
    ----------
    values : array-like of shape (n_values,)
        Numbers, infinities allowed.
    level : float
        Which quantile, not negative.

    Returns
    -------
    quantile : float
        One of the values or an infinity; infinite also for no values and a positive level.

    See Also
    --------
    conformal_quantile : The quantile with a guarantee for the next value.

    Examples
    --------
    >>> from corollary.conformal import empirical_quantile
    >>> empirical_quantile([3.0, 1.0, 2.0], 0.5), empirical_quantile([3.0, 1.0, 2.0], 1.1)
    (2.0, inf)
    """
    values = check_scores(values, "empirical_quantile")
    rank = round_up(level * len(values), len(values)) if len(values) else math.ceil(level)
    if level == 0:
        return -math.inf
    if level > 1 or rank > len(values):
        return math.inf
    return order_statistic(values, max(rank, 1))


@checked
def conformal_rank(n_calibration: CountFromZero, confidence: Probability) -> int:
    r"""Return which order statistic of n scores covers the next one.

    Parameters
    ----------
    n_calibration : int
        Number n of calibration scores.
    confidence : float
        Wanted coverage :math:`1 - \alpha`, strictly between 0 and 1.

    Returns
    -------
    rank : int
        :math:`k = \lceil (n + 1)(1 - \alpha) \rceil`, at most n + 1; n + 1 stands for infinity.

    See Also
    --------
    conformal_quantile : The order statistic itself.

    Examples
    --------
    >>> from corollary.conformal import conformal_rank
    >>> conformal_rank(10, 0.9), conformal_rank(8, 0.9)
    (10, 9)
    """
    return rank_of_level(n_calibration, confidence)


@checked
def conformal_quantile(scores: ArrayLike, confidence: Probability) -> float:
    r"""Return the threshold that a further exchangeable score stays below, with confidence.

    The :math:`\lceil (n + 1)(1 - \alpha) \rceil`-th smallest of n scores, where
    :math:`1 - \alpha` is `confidence`.

    Parameters
    ----------
    scores : array-like of shape (n_calibration,)
        Scores of calibration rows, large for rows that fit badly; infinities allowed.
    confidence : float
        Wanted coverage, strictly between 0 and 1.

    Returns
    -------
    threshold : float
        Infinite if the scores are too few, see :func:`smallest_calibration_size`.

    Raises
    ------
    ValueError
        If a score is not a number.

    See Also
    --------
    conformal_rank : Which order statistic it is.
    coverage_law : How coverage varies with the calibration rows.
    naive_coverage : What the plain quantile would cover.

    Notes
    -----
    Guarantee: with rank k, P(next score <= threshold) is at least k / (n + 1) >= confidence for
    exchangeable scores, and equals k / (n + 1) if they have no ties. Checked by
    ``tests/conformal/test_quantile.py``.

    References
    ----------
    Vovk, V., Gammerman, A. and Shafer, G. (2005). Algorithmic learning in a random world,
    chapter 2.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.conformal import conformal_quantile
    >>> conformal_quantile(np.arange(1, 11), 0.9), conformal_quantile([1.0, 2.0], 0.9)
    (10.0, inf)
    """
    scores = check_scores(scores, "conformal_quantile")
    return threshold(scores, confidence)


@checked
def group_conditional_quantiles(
    scores: ArrayLike, groups: ArrayLike, confidence: Probability
) -> dict[Any, float]:
    """Return one conformal threshold per group, each from this group's scores alone.

    Parameters
    ----------
    scores : array-like of shape (n_calibration,)
        Scores of calibration rows.
    groups : array-like of shape (n_calibration,)
        Group of each row, a function of what is known before its target.
    confidence : float
        Wanted coverage within every group, strictly between 0 and 1.

    Returns
    -------
    thresholds : dict
        Group label to threshold; infinite for groups with too few rows.

    See Also
    --------
    conformal_quantile : The threshold of one group.

    Notes
    -----
    Guarantee: coverage is at least `confidence` given the group, for every group. Coverage given
    a continuous input is impossible without infinite sets. Checked by
    ``tests/conformal/test_quantile.py``.

    Examples
    --------
    >>> from corollary.conformal import group_conditional_quantiles
    >>> group_conditional_quantiles([1, 2, 3, 10, 20, 30], list("aaabbb"), 0.5)
    {'a': 2.0, 'b': 20.0}
    """
    scores = check_scores(scores, "group_conditional_quantiles")
    groups = check_groups(groups, len(scores), who="group_conditional_quantiles")
    return {
        label: conformal_quantile(scores[groups == label], confidence)
        for label in np.unique(groups).tolist()
    }


@checked
def smallest_calibration_size(
    confidence: Probability, *, slack: Probability | None = None, delta: Probability = 0.05
) -> int:
    """Return how many calibration rows a level takes.

    Parameters
    ----------
    confidence : float
        Wanted coverage, strictly between 0 and 1.
    slack : float or None, default=None
        None asks for a finite threshold only. A number asks for more: that coverage, given the
        calibration rows, be at least ``confidence - slack`` with probability 1 - delta.
    delta : float, default=0.05
        Probability that the calibration rows are bad luck; used with `slack`.

    Returns
    -------
    n_calibration : int
        The smallest size from which on the demand is met.

    See Also
    --------
    coverage_law : The law of coverage given the calibration rows.

    Examples
    --------
    >>> from corollary.conformal import smallest_calibration_size
    >>> smallest_calibration_size(0.9), smallest_calibration_size(0.95)
    (9, 19)
    >>> smallest_calibration_size(0.9, slack=0.02)
    650
    """
    n = smallest_finite_size(confidence)
    if slack is None or confidence <= slack:
        return n
    from scipy.special import betainc, rel_entr

    level = confidence - slack

    def meets(size: int) -> bool:
        rank = rank_of_level(size, confidence)
        return rank > size or bool(betainc(rank, size + 1 - rank, level) <= delta)

    # Ranks are whole numbers, so that the condition flickers near its border. Beyond Chernoff's
    # bound of the binomial tail it always holds: walk back from there.
    exponent = rel_entr(confidence, level) + rel_entr(1 - confidence, 1 - level)
    most = max(n, math.ceil(-math.log(delta) / exponent))
    while most > n and meets(most - 1):
        most -= 1
    return most
