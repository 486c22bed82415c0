"""Sets of classes from probabilities that are predicted already.

A set holds every class whose score, one minus its probability, stays below the conformal threshold;
the most probable class is always in it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.conformal.hierarchical import hierarchical_quantile
from corollary.conformal.quantile import conformal_quantile
from corollary.conformal.scores.functions import lac_score
from corollary.core.schema import Number, Schema


@dataclass(frozen=True, eq=False)
class SetCalibration:
    """Threshold of prediction sets.

    Parameters
    ----------
    threshold : float
        Largest score in a set; infinite if there were too few calibration rows.
    n_calibration : int
        Calibration rows.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.conformal import SetCalibration
    >>> SetCalibration(0.7, 100).sets(np.array([[0.6, 0.35, 0.05]])).tolist()
    [[True, True, False]]
    """

    threshold: float
    n_calibration: int

    _schema = Schema(threshold=Number(infinite=True), n_calibration=Number(0))

    def sets(self, probability: np.ndarray) -> np.ndarray:
        """Give the prediction sets.

        Parameters
        ----------
        probability : ndarray of shape (n, n_classes)
            Class probabilities.

        Returns
        -------
        sets : ndarray of bool of shape (n, n_classes)
            Whether each class is in the set.
        """
        sets = lac_score(probability) <= self.threshold
        sets[np.arange(len(sets)), probability.argmax(axis=1)] = True
        return sets


def calibrate_sets(
    probability: np.ndarray, y: np.ndarray, coverage: float, *, groups: Any = None
) -> SetCalibration:
    """Learn the threshold of prediction sets.

    Guarantee: sets of rows exchangeable with the calibration rows hold their class at least as
    often as wanted. With `groups` the set of a row drawn from a new group does, if groups are
    exchangeable and the model was trained on others.

    Parameters
    ----------
    probability : ndarray of shape (n, n_classes)
        Class probabilities of the calibration rows.
    y : ndarray of shape (n,)
        Their classes, as column numbers.
    coverage : float
        Wanted coverage.
    groups : array-like of shape (n,) or None, default=None
        Group of each calibration row, if rows come in groups; see :func:`hierarchical_quantile`.

    Returns
    -------
    calibration : SetCalibration
        The threshold; infinite if there are too few rows, or too few groups: a level takes
        :func:`smallest_calibration_size` of them.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.conformal import calibrate_sets
    >>> calibrate_sets(np.tile([0.7, 0.3], (20, 1)), np.arange(20) % 4 // 3, 0.9).threshold
    0.7
    """
    scores = lac_score(probability)[np.arange(len(y)), y] if len(y) else np.empty(0)
    if groups is None:
        return SetCalibration(conformal_quantile(scores, coverage), len(y))
    return SetCalibration(hierarchical_quantile(scores, groups, coverage), len(y))
