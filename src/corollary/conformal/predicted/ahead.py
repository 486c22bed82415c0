"""Intervals for rows to come, around predictions that are made already."""

from dataclasses import fields

import numpy as np

from corollary.conformal.ahead import ahead_quantile, slow_errors
from corollary.conformal.predicted.intervals import IntervalCalibration, learn_difficulty


def calibrate_intervals_ahead(
    features: np.ndarray,
    y: np.ndarray,
    prediction: np.ndarray,
    coverage: float,
    *,
    stretches: np.ndarray,
    trained: np.ndarray,
    n_train: int,
    log: bool = False,
    confidence: float = 0.95,
) -> IntervalCalibration:
    """Learn the threshold of prediction intervals for the stretch of time that follows.

    Nothing is proved of them: see :func:`ahead_quantile`, which is applied to errors in units of
    their expected sizes. Sizes are learnt from what :func:`slow_errors` leave: how far a level
    went says when it did so, not which rows are hard.

    Parameters
    ----------
    features : ndarray of shape (n, n_features)
        Rows of earlier stretches, in order of time.
    y : ndarray of shape (n,)
        Their targets.
    prediction : ndarray of shape (n,)
        Their predictions, each from rows before its stretch.
    coverage : float
        Wanted coverage.
    stretches : ndarray of shape (n,)
        Stretch of each row.
    trained : ndarray of shape (n,)
        Number of rows that each prediction was learnt from.
    n_train : int
        Number of rows that the predictions to come are learnt from.
    log : bool, default=False
        Whether to measure errors of the logarithm.
    confidence : float, default=0.95
        How often the wanted coverage shall be reached.

    Returns
    -------
    calibration : IntervalCalibration
        One threshold, for all predictions.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.conformal import calibrate_intervals_ahead
    >>> x, y, stretches = np.zeros((40, 1)), np.tile([-1.0, 1.0], 20), np.repeat([0, 1], 20)
    >>> calibration = calibrate_intervals_ahead(
    ...     x, y, np.zeros(40), 0.9, stretches=stretches, trained=20 + 20 * stretches, n_train=60
    ... )
    >>> low, high = calibration.intervals(x[:1], np.zeros(1))
    >>> low.round(6), high.round(6)
    (array([-1.]), array([1.]))
    """
    slow = slow_errors(np.log(y / prediction) if log else y - prediction, stretches)
    rest = y * np.exp(-slow) if log else y - slow
    difficulty = learn_difficulty(features, rest, prediction, log=log)
    errors = difficulty.errors(features, y, prediction)
    threshold = ahead_quantile(errors, stretches, trained, n_train, coverage, confidence=confidence)
    learnt = {field.name: getattr(difficulty, field.name) for field in fields(difficulty)}
    return IntervalCalibration(edges=np.zeros(0), thresholds=np.array([threshold]), **learnt)
