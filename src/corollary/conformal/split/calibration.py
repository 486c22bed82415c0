"""What calibration leaves behind that says something about the coverage to come."""

from typing import NamedTuple

import numpy as np


class CalibrationCell(NamedTuple):
    """Calibration rows that share a threshold.

    Parameters
    ----------
    rows : str
        Which rows, in words that follow "such rows"; empty for all.
    n_calibration : int
        Their number n.
    rank : int
        Place of the threshold among their scores, 1 for the smallest; n + 1 or more if they are
        too few, and every region holds everything.
    beyond : int
        How many of them have a score above the threshold: n - rank, or fewer if scores tie.
    finite : bool
        Whether the threshold is a number.
    n_needed : int
        How many rows a finite threshold takes.

    See Also
    --------
    coverage_law : What they say about coverage.
    corollary.certify : Says it.
    """

    rows: str
    n_calibration: int
    rank: int
    beyond: int
    finite: bool
    n_needed: int


class CalibrationFolds(NamedTuple):
    """Rows that each were left out by the model of their fold.

    Parameters
    ----------
    sizes : ndarray of int of shape (n_folds,)
        Rows of each fold, n together.
    rank : int
        Place of the ends of intervals among n numbers; n + 1 if rows are too few, and intervals
        are infinite.
    n_needed : int
        How many rows finite intervals take.

    See Also
    --------
    plus_coverage : What is proved of a row to come, on average over training rows.
    """

    sizes: np.ndarray
    rank: int
    n_needed: int
