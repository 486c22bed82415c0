r"""Conformal thresholds when new rows come from another law of inputs.

Under covariate shift a calibration row with input x counts :math:`w(x)` times, the ratio of the
new density to the old, and the new row itself counts too: its mass sits at infinity, since nothing
is known of its score. A new row whose weight outgrows the calibration rows has no finite threshold.
"""

import numpy as np

from corollary.conformal._checks import check_scores, check_weights
from corollary.conformal._order import weighted_thresholds
from corollary.core.estimator import ArrayLike, Probability, checked


@checked
def weighted_conformal_quantile(
    scores: ArrayLike, weights: ArrayLike, new_weights: ArrayLike, confidence: Probability
) -> np.ndarray:
    r"""Return the thresholds of new rows under covariate shift.

    The smallest score s with

    .. math:: \sum_{i : s_i \le s} w(x_i) \ge (1-\alpha) \Big( \sum_i w(x_i) + w(x) \Big),

    infinite if there is none. With equal weights it is :func:`conformal_quantile`.

    Parameters
    ----------
    scores : array-like of shape (n_calibration,)
        Scores of calibration rows.
    weights : array-like of shape (n_calibration,)
        Density ratio :math:`w(x_i)` of new rows to calibration rows, up to a common factor.
    new_weights : array-like of shape (n_new,)
        The same ratio at the new rows; infinite where calibration rows cannot be.
    confidence : float
        Wanted coverage :math:`1 - \alpha`, strictly between 0 and 1.

    Returns
    -------
    thresholds : ndarray of shape (n_new,)
        One per new row.

    See Also
    --------
    effective_sample_size : What the weights leave of the calibration rows.

    Notes
    -----
    Guarantee: if calibration rows are drawn from one law, the new row from another with the same
    law of targets given inputs, and w is the true ratio, the new score is at most its threshold
    with probability at least `confidence`. Checked by ``tests/conformal/test_weighted.py``.

    References
    ----------
    Tibshirani, R. J., Barber, R. F., Candes, E. J. and Ramdas, A. (2019). Conformal prediction
    under covariate shift. Advances in Neural Information Processing Systems 32.

    Examples
    --------
    >>> from corollary.conformal import weighted_conformal_quantile
    >>> weighted_conformal_quantile([1.0, 2.0, 3.0], [1.0, 1.0, 2.0], [1.0, 9.0], 0.6)
    array([ 3., inf])
    """
    scores = check_scores(scores, "weighted_conformal_quantile")
    weights = check_weights(weights, len(scores), who="weighted_conformal_quantile")
    new = np.atleast_1d(np.asarray(new_weights, dtype=float))
    new = check_weights(new, new.size, who="weighted_conformal_quantile", infinite=True)
    order = np.argsort(scores, kind="stable")
    return weighted_thresholds(scores[order], weights[order], new, confidence)


@checked
def effective_sample_size(weights: ArrayLike) -> float:
    r"""Return how many equally weighted rows some weighted rows are worth.

    Parameters
    ----------
    weights : array-like of shape (n_samples,)
        Weights, not negative.

    Returns
    -------
    size : float
        :math:`(\sum w_i)^2 / \sum w_i^2`, between 1 and n; 0 if all weights are zero.

    Examples
    --------
    >>> from corollary.conformal import effective_sample_size
    >>> effective_sample_size([1.0, 1.0, 1.0]), effective_sample_size([1.0, 0.0, 0.0])
    (3.0, 1.0)
    """
    weights = np.asarray(weights, dtype=float)
    weights = check_weights(weights, weights.size, who="effective_sample_size")
    largest = weights.max(initial=0.0)
    if largest == 0:
        return 0.0
    weights = weights / largest
    return float(weights.sum() ** 2 / (weights**2).sum())
