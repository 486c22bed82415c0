r"""Thresholds for the errors of rows to come, from errors on stretches of time that are over.

Levels wander, so that rows of one stretch err alike: a stretch of hundreds of rows is little more
than one draw of how far the level went. No theorem bounds the next draw by two or three others.
What can be done is to treat stretches, not rows, as the sample, and to measure what that covers.
"""

import math

import numpy as np

from corollary.conformal._checks import check_scores
from corollary.conformal.quantile import conformal_quantile, smallest_calibration_size
from corollary.core.estimator import ArrayLike, Count, Probability, checked

#: Parts of a stretch whose means are its slow errors, and rows that a part has at least.
_PARTS, _ROWS_PER_PART = 8, 8


@checked
def ahead_quantile(
    errors: ArrayLike,
    stretches: ArrayLike,
    trained: ArrayLike,
    n_train: Count,
    coverage: Probability,
    *,
    confidence: Probability = 0.95,
) -> float:
    r"""Return a threshold for the absolute errors of the stretch that follows.

    An error e is split into the mean m of its eighth of the stretch, which is slow, and the rest.
    The slow part is multiplied by

    .. math:: \frac{t_K}{z} \sqrt{\frac{n}{n_s}},

    where :math:`t_K` and z are the quantiles of Student's law with K degrees of freedom and of the
    normal law at :math:`(1 + \text{confidence})/2`, K is the number of stretches, :math:`n_s` the
    rows behind the predictions of the stretch and n those behind the predictions to come. The
    threshold is the largest over stretches of the conformal quantile of
    :math:`|m \cdot \text{factor} + (e - m)|`.

    Parameters
    ----------
    errors : array-like of shape (n_samples,)
        Target less prediction, of rows in order of time, each predicted from rows before its
        stretch.
    stretches : array-like of shape (n_samples,)
        Stretch of each row; a stretch is about as long as the period to come.
    trained : array-like of shape (n_samples,)
        Number of rows that the prediction of each row was learnt from.
    n_train : int
        Number of rows that the predictions to come are learnt from.
    coverage : float
        Share of rows of the period to come that shall err by no more, strictly between 0 and 1.
    confidence : float, default=0.95
        How often that share shall be reached, strictly between 0 and 1.

    Returns
    -------
    threshold : float
        Infinite if there are fewer rows than :func:`smallest_calibration_size`.

    See Also
    --------
    hierarchical_quantile : A theorem, for at least nine exchangeable stretches at 90%.
    adaptive_coverage_bound : A theorem for streams, whose truths come one by one.

    Notes
    -----
    Nothing is proved of it. Student's factor pays for a scale that K stretches show and no more,
    and the root for levels that stray from the mean of their history as walks do, the further the
    longer it is. Errors that are not slow are not widened, so that rows drawn alike lose little.
    ``tests/conformal/test_ahead.py`` counts how often the share is reached on walks, on levels with
    memory and on rows drawn alike, and how often row counting reaches it.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.conformal import ahead_quantile
    >>> fast, slow = np.tile([-1.0, 1.0], 40), np.ones(80)
    >>> stretches, trained = np.repeat([0, 1], 40), np.repeat([40, 80], 40)
    >>> ahead_quantile(fast, stretches, trained, 120, 0.9)
    1.0
    >>> round(ahead_quantile(slow, stretches, trained, 120, 0.9), 2)
    3.8
    """
    from scipy import special

    errors = check_scores(errors, "ahead_quantile")
    stretches, trained = np.asarray(stretches), np.asarray(trained)
    if stretches.shape != errors.shape or trained.shape != errors.shape:
        raise ValueError(
            "ahead_quantile needs one stretch and one number of rows per error. Got shapes "
            f"{errors.shape}, {stretches.shape} and {trained.shape}."
        )
    if not (np.isfinite(errors).all() and (trained > 0).all()):
        raise ValueError(
            "ahead_quantile needs finite errors and positive numbers of rows. Got "
            f"{int((~np.isfinite(errors)).sum())} errors and {int((~(trained > 0)).sum())} numbers "
            "that are not; leave such rows out."
        )
    names = np.unique(stretches)
    if not len(names):
        return math.inf
    level = (1 + confidence) / 2
    student = float(special.stdtrit(len(names), level) / special.ndtri(level))
    slow = slow_errors(errors, stretches)
    widened = np.abs(np.maximum(1.0, student * np.sqrt(n_train / trained)) * slow + errors - slow)
    parts = [widened[stretches == name] for name in names]
    if min(map(len, parts)) < smallest_calibration_size(coverage):
        return conformal_quantile(widened, coverage)  # stretches of so few rows have no quantile
    return max(conformal_quantile(part, coverage) for part in parts)


@checked
def slow_errors(errors: ArrayLike, stretches: ArrayLike) -> np.ndarray:
    """Return the part of errors that lasts: means over eighths of stretches of time.

    Parameters
    ----------
    errors : array-like of shape (n_samples,)
        Errors in order of time.
    stretches : array-like of shape (n_samples,)
        Stretch of each row. A part of one has at least eight rows.

    Returns
    -------
    slow : ndarray of shape (n_samples,)
        Mean error of the part that a row belongs to.

    Examples
    --------
    >>> from corollary.conformal import slow_errors
    >>> slow_errors([1.0] * 8 + [2.0, 4.0] * 4, [0] * 16)[[0, 15]]
    array([1., 3.])
    """
    errors, stretches = check_scores(errors, "slow_errors"), np.asarray(stretches)
    slow = np.empty_like(errors)
    for name in np.unique(stretches):
        rows = np.flatnonzero(stretches == name)
        n_parts = int(np.clip(len(rows) // _ROWS_PER_PART, 1, _PARTS))
        part = np.arange(len(rows)) * n_parts // len(rows)
        slow[rows] = (np.bincount(part, weights=errors[rows]) / np.bincount(part))[part]
    return slow
