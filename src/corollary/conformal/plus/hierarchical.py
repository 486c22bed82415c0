r"""Jackknife+ and CV+ when rows come in groups: whole groups are left out, and each counts once.

A model that has seen rows of an owner errs less on the others, and many rows of one owner are
little more than one draw of an owner. Here every model leaves whole groups out, and the rows of a
group share the weight of one. No group is lost to calibration, so that a dozen are enough.
"""

import numpy as np

from corollary.conformal._groups import numbers_of_groups
from corollary.conformal.plus._ends import check_folds, grouped_ends
from corollary.core.estimator import ArrayLike, Count, Probability, checked


@checked
def hierarchical_plus_coverage(n_groups: Count, n_folds: Count, confidence: Probability) -> float:
    r"""Return the coverage of a row of a new group that CV+ by groups is proved to have.

    With K groups, F folds of whole groups, :math:`\alpha = 1 -` `confidence` and
    :math:`c = \alpha (K + 1) - 1`, an interval misses a row drawn from a new group with
    probability at most

    .. math:: \min\left\{ \frac{2(c + F)}{K + F}, \frac{2c + K/F}{K + K/F} \right\}

    if the folds have equally many groups; the first term stands alone otherwise. If one group is
    left out at a time (jackknife+) this is :math:`(2c + 1)/(K + 1) < 2\alpha`.

    Parameters
    ----------
    n_groups : int
        Number K of groups.
    n_folds : int
        Number F of folds, from 2 to K.
    confidence : float
        The level :math:`1 - \alpha` at which the interval is built, strictly between 0 and 1.

    Returns
    -------
    coverage : float
        In [0, 1]; 1 if groups are so few that intervals are infinite.

    See Also
    --------
    hierarchical_plus_intervals : The intervals.
    plus_coverage : The same where every group has one row.

    Notes
    -----
    Give each row of a group of m rows the weight 1/m. A target outside its interval fits worse
    than rows of weight :math:`(1-\alpha)(K+1)`, so that rows of weight c at most fit no better.

    The first term. Within a fold of :math:`m_k` groups, one plus the weight of its rows that fit no
    better, over :math:`m_k + 1`, is a p-value, as in :func:`hierarchical_quantile`. Their mean,
    weighted by :math:`m_k + 1`, is :math:`(c + F)/(K + F)` at most for a miss, and a mean of
    p-values is below t with probability at most 2t, whatever their dependence.

    The second term. Let the new group be one of K/F that make a further fold, and compare every
    two rows of different folds by their residuals under the model that saw neither fold. Call a row
    strange that fails to win against rows of weight c at most, let :math:`s_g` be the share of
    strange rows in group g, and s their sum. Of two strange rows someone fails to win, so that the
    products :math:`s_g s_h` over pairs of groups in different folds add up to cs at most; they add
    up to at least :math:`s (s - K/F) / 2`, since no fold has more than K/F strange groups. Hence
    :math:`s \le 2c + K/F`, and a row of the new group is strange with probability at most
    s / (K + K/F).

    Guarantee: for groups that are exchangeable with the new one, dealt to folds without regard to
    their rows, and a model that does not mind their order. Simulated in
    ``tests/guarantees/conformal.py``; the count of strange rows is checked against all outcomes
    of small tournaments in ``tests/conformal/test_hierarchical_plus.py``.

    References
    ----------
    Lee, Y., Barber, R. F. and Willett, R. (2023). Distribution-free inference with hierarchical
    data. arXiv:2306.06342.

    Examples
    --------
    >>> from corollary.conformal import hierarchical_plus_coverage
    >>> round(hierarchical_plus_coverage(9, 9, 0.9), 3), hierarchical_plus_coverage(8, 8, 0.9)
    (0.9, 1.0)
    >>> round(hierarchical_plus_coverage(40, 10, 0.9), 3)
    0.768
    """
    if not 2 <= n_folds <= n_groups:
        raise ValueError(
            "hierarchical_plus_coverage needs from 2 folds to one for each group. "
            f"Got {n_folds} folds of {n_groups} groups."
        )
    no_better = (1 - confidence) * (n_groups + 1) - 1
    if no_better < -1e-9:  # the rounding of 1 - confidence
        return 1.0
    no_better = max(0.0, no_better)
    miss = 2 * (no_better + n_folds) / (n_groups + n_folds)
    if n_groups % n_folds == 0:
        size = n_groups // n_folds
        miss = min(miss, (2 * no_better + size) / (n_groups + size))
    return max(0.0, 1.0 - miss)


@checked
def hierarchical_plus_intervals(
    predictions: ArrayLike,
    residuals: ArrayLike,
    folds: ArrayLike,
    groups: ArrayLike,
    confidence: Probability,
) -> np.ndarray:
    r"""Combine predictions of models that left whole groups out with the residuals of their rows.

    With K groups, of which group g has :math:`m_g` rows, the upper end is the smallest u with

    .. math::

        \sum_{g=1}^{K} \frac{1}{K+1} \cdot
        \frac{\#\{i \text{ in } g : \hat\mu_{-S(g)}(x) + R_i \le u\}}{m_g} \ge 1 - \alpha,

    and the lower end is found alike from :math:`\hat\mu_{-S(g)}(x) - R_i`.

    Parameters
    ----------
    predictions : array-like of shape (n_new, n_folds)
        What each model says of each new row.
    residuals : array-like of shape (n_samples,)
        Absolute residual of each training row under the model of its fold.
    folds : array-like of int of shape (n_samples,)
        Column of the model that left the row out; the same for all rows of a group.
    groups : array-like of shape (n_samples,)
        Group of each row.
    confidence : float
        The level :math:`1 - \alpha`, strictly between 0 and 1.

    Returns
    -------
    intervals : ndarray of shape (n_new, 2)
        Lower and upper ends; infinite if there are fewer than :math:`1/\alpha - 1` groups.

    See Also
    --------
    hierarchical_plus_coverage : What is proved of them.
    CVPlusRegressor : The estimator, whose ``fit`` takes groups.
    plus_intervals : The same where every group has one row.

    Examples
    --------
    >>> from corollary.conformal import hierarchical_plus_intervals
    >>> hierarchical_plus_intervals([[10.0, 20.0]], [1.0, 2.0, 3.0], [0, 0, 1], list("aab"), 0.5)
    array([[ 9., 23.]])
    """
    predictions, residuals, folds = check_folds(
        predictions, residuals, folds, "hierarchical_plus_intervals"
    )
    numbers, sizes = numbers_of_groups(groups, len(residuals), "hierarchical_plus_intervals")
    _, first = np.unique(numbers, return_index=True)
    if (folds != folds[first][numbers]).any():
        raise ValueError(
            "hierarchical_plus_intervals needs folds of whole groups. Got a group with rows in "
            "several; deal groups, not rows, to folds."
        )
    order, weights = np.argsort(folds, kind="stable"), 1.0 / sizes[numbers]
    rows = np.bincount(folds, minlength=predictions.shape[1])
    return grouped_ends(predictions, residuals[order], rows, weights[order], confidence)
