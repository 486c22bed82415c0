r"""Conformal thresholds when rows come in groups: several of one owner, patient, shop or batch.

Rows of one group resemble each other, so that only the groups are exchangeable. A group then counts
once, however many rows it has, and the number of groups is the sample size.
"""

import numpy as np

from corollary.conformal._checks import check_scores
from corollary.conformal._groups import numbers_of_groups, row_weights
from corollary.conformal._order import grouped_threshold
from corollary.core.estimator import ArrayLike, Probability, checked


@checked
def hierarchical_quantile(scores: ArrayLike, groups: ArrayLike, confidence: Probability) -> float:
    r"""Return the threshold that a row of a new group stays below, with confidence.

    With K groups, of which group g has :math:`m_g` rows, it is the smallest score s with

    .. math::

        \sum_{g=1}^{K} \frac{1}{K+1} \cdot \frac{\#\{i \text{ in } g : s_i \le s\}}{m_g}
        \ge 1 - \alpha,

    where :math:`1 - \alpha` is `confidence`: every score weighs :math:`1/((K+1)m_g)`, and the new
    group puts the weight :math:`1/(K+1)` on infinity.

    Parameters
    ----------
    scores : array-like of shape (n_calibration,)
        Scores of calibration rows, large for rows that fit badly; infinities allowed.
    groups : array-like of shape (n_calibration,)
        Group of each row.
    confidence : float
        Wanted coverage, strictly between 0 and 1.

    Returns
    -------
    threshold : float
        Infinite if there are fewer than :math:`1/\alpha - 1` groups, see
        :func:`smallest_calibration_size`.

    See Also
    --------
    group_maxima : For a threshold that all rows of a new group stay below.
    conformal_quantile : The same where every group has one row.

    Notes
    -----
    Guarantee: if the groups, with the numbers of their rows, are exchangeable with the new one, and
    the model was trained on other groups, the score of a row drawn from the new group is at most
    the threshold with probability at least `confidence`. Rows of one group may depend on each other
    in any way. Nothing is said of a row drawn from all rows of new groups, where large groups count
    more. Checked by ``tests/conformal/test_groups.py`` and ``tests/guarantees/conformal.py``.

    References
    ----------
    Lee, Y., Barber, R. F. and Willett, R. (2023). Distribution-free inference with hierarchical
    data. arXiv:2306.06342.

    Examples
    --------
    >>> from corollary.conformal import hierarchical_quantile
    >>> hierarchical_quantile([1.0, 2.0, 3.0, 4.0, 9.0], list("aabbc"), 0.5)
    4.0
    >>> hierarchical_quantile([1.0, 2.0, 3.0, 4.0, 9.0], list("aabbc"), 0.9)
    inf
    """
    scores = check_scores(scores, "hierarchical_quantile")
    weights = row_weights(groups, len(scores), "hierarchical_quantile")
    return grouped_threshold(scores, weights, confidence)


@checked
def group_maxima(scores: ArrayLike, groups: ArrayLike) -> np.ndarray:
    r"""Return the largest score of each group.

    Groups are exchangeable, so that the conformal quantile of :math:`\max_{i \text{ in } g} s_i`
    over the groups covers the largest score of a new group, hence all of its rows at once.

    Parameters
    ----------
    scores : array-like of shape (n_calibration,)
        Scores of calibration rows.
    groups : array-like of shape (n_calibration,)
        Group of each row.

    Returns
    -------
    maxima : ndarray of shape (n_groups,)
        In ascending order of the labels of groups.

    See Also
    --------
    conformal_quantile : Its quantile of the maxima covers all rows of a new group.
    hierarchical_quantile : For one row of a new group.

    Notes
    -----
    Guarantee: with the assumptions of :func:`hierarchical_quantile`, all scores of the new group
    are at most ``conformal_quantile(group_maxima(scores, groups), confidence)`` with probability at
    least `confidence`. Checked by ``tests/conformal/test_groups.py`` and
    ``tests/guarantees/conformal.py``.

    Examples
    --------
    >>> from corollary.conformal import conformal_quantile, group_maxima
    >>> maxima = group_maxima([1.0, 2.0, 3.0, 4.0, 9.0], list("aabbc"))
    >>> maxima
    array([2., 4., 9.])
    >>> conformal_quantile(maxima, 0.5)
    4.0
    """
    scores = check_scores(scores, "group_maxima")
    numbers, sizes = numbers_of_groups(groups, len(scores), "group_maxima")
    maxima = np.full(len(sizes), -np.inf)
    np.maximum.at(maxima, numbers, scores)
    return maxima
