"""Intervals around predictions that are made already, with widths that follow difficulty.

The error is measured in units of its expected size at the row, learnt from the out-of-fold errors
of the training rows, and each band of predictions has a threshold of its own (Mondrian conformal
prediction), so that coverage holds within every band. Models of the logarithm are calibrated on the
log scale.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from corollary.conformal._groups import row_weights
from corollary.conformal._order import grouped_threshold
from corollary.conformal.quantile import conformal_quantile, smallest_calibration_size
from corollary.conformal.scores.functions import reach
from corollary.conformal.split.partitions import Bands
from corollary.core.schema import Array, Flag, Number, Schema

#: Calibration rows per band of predictions, so that each threshold is an order statistic of many.
_ROWS_PER_BAND = 100
_MOST_BANDS = 5
#: Groups per band, in units of those that a finite threshold takes: bands share groups unevenly.
_NEEDED_GROUPS_PER_BAND = 3
#: Training rows below which errors are too few to learn where they are large.
_FEWEST_FOR_DIFFICULTY = 50
#: Share of the mean error below which errors are not told apart.
_LEAST_ERROR = 0.001


@dataclass(frozen=True, eq=False)
class Difficulty:
    r"""The expected size of the error at a row.

    It is :math:`\exp(\mathrm{clip}(w_0 + w^\top (z, u, u^2)))`, with :math:`z` the features and
    :math:`u` the standardised prediction.

    Parameters
    ----------
    weights : ndarray of shape (n_features + 3,)
        Intercept, weights of the features, of u and of u squared.
    limits : ndarray of shape (2,)
        Smallest and largest logarithm of the difficulty.
    centre : float
        Mean prediction in training.
    spread : float
        Spread of predictions in training.
    log : bool
        Whether errors are those of the logarithm.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.conformal import Difficulty
    >>> twice = Difficulty(np.log([2.0, 1, 1, 1]), np.array([-5.0, 5.0]), 0.0, 1.0, False)
    >>> twice.difficulty(np.zeros((1, 1)), np.array([10.0]))
    array([2.])
    """

    weights: np.ndarray
    limits: np.ndarray
    centre: float
    spread: float
    log: bool

    def difficulty(self, features: np.ndarray, prediction: np.ndarray) -> np.ndarray:
        """Give the expected size of the error at each row.

        Parameters
        ----------
        features : ndarray of shape (n, n_features)
            The rows.
        prediction : ndarray of shape (n,)
            Their predictions.

        Returns
        -------
        size : ndarray of shape (n,)
            Positive.
        """
        values = np.log(prediction) if self.log else prediction
        u = np.clip((values - self.centre) / self.spread, -4.0, 4.0)
        logs = self.weights[0] + features @ self.weights[1:-2]
        logs = logs + self.weights[-2] * u + self.weights[-1] * u**2
        return np.exp(np.clip(logs, *self.limits))

    def errors(self, features: np.ndarray, y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
        """Give the error at each row in units of its expected size.

        Parameters
        ----------
        features : ndarray of shape (n, n_features)
            The rows.
        y : ndarray of shape (n,)
            Their targets.
        prediction : ndarray of shape (n,)
            Their predictions.

        Returns
        -------
        errors : ndarray of shape (n,)
            Positive where the target is larger than the prediction.
        """
        return _errors_of(y, prediction, self.log) / self.difficulty(features, prediction)


def _bands_fit(calibration: "IntervalCalibration") -> str | None:
    edges = calibration.edges
    if len(calibration.thresholds) != len(edges) + 1 or (np.diff(edges) < 0).any():
        return "its bands do not fit its thresholds"
    if not (calibration.thresholds >= 0).all():  # infinite where rows are too few
        return "its thresholds are not positive"
    if not calibration.spread > 0:
        return "its difficulty has no spread"
    return None


@dataclass(frozen=True, eq=False)
class IntervalCalibration(Difficulty):
    """Thresholds of prediction intervals, and the difficulty they are multiplied by.

    Parameters
    ----------
    weights : ndarray of shape (n_features + 3,)
        Intercept, weights of the features, of u and of u squared.
    limits : ndarray of shape (2,)
        Smallest and largest logarithm of the difficulty.
    centre : float
        Mean prediction in training.
    spread : float
        Spread of predictions in training.
    log : bool
        Whether errors are those of the logarithm.
    edges : ndarray of shape (n_bands - 1,)
        Predictions at which bands end.
    thresholds : ndarray of shape (n_bands,)
        Conformal threshold of each band.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.conformal import IntervalCalibration
    >>> nowhere, one_band = np.zeros(0), np.array([2.0])
    >>> everywhere_1 = {"weights": np.zeros(4), "limits": np.zeros(2), "centre": 0.0, "spread": 1.0}
    >>> calibration = IntervalCalibration(
    ...     edges=nowhere, thresholds=one_band, log=False, **everywhere_1
    ... )
    >>> calibration.intervals(np.zeros((1, 1)), np.array([10.0]))
    (array([8.]), array([12.]))
    """

    edges: np.ndarray
    thresholds: np.ndarray

    _schema = Schema(
        _bands_fit,
        weights=Array("f", "*"),
        limits=Array("f", 2, low=-700.0, below=700.0),
        centre=Number(),
        spread=Number(0.0),
        edges=Array("f", "*"),
        thresholds=Array("f", "*", infinite=True),
        log=Flag(),
    )

    def intervals(
        self, features: np.ndarray, prediction: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Give the prediction intervals.

        Parameters
        ----------
        features : ndarray of shape (n, n_features)
            Encoded rows.
        prediction : ndarray of shape (n,)
            Their predictions.

        Returns
        -------
        low : ndarray of shape (n,)
            Lower ends.
        high : ndarray of shape (n,)
            Upper ends.
        """
        bands, unit = self.bands(prediction), self.difficulty(features, prediction)
        radius = reach(self.thresholds[bands], unit)
        if not self.log:
            return prediction - radius, prediction + radius
        with np.errstate(over="ignore"):
            return prediction * np.exp(-radius), prediction * np.exp(radius)

    def bands(self, prediction: np.ndarray) -> np.ndarray:
        """Give the band of each prediction.

        Parameters
        ----------
        prediction : ndarray of shape (n,)
            Predictions.

        Returns
        -------
        bands : ndarray of shape (n,)
            Band numbers, ascending with the prediction.
        """
        return np.searchsorted(self.edges, prediction, side="right")


def _errors_of(y: np.ndarray, prediction: np.ndarray, log: bool) -> np.ndarray:
    """Compute errors on the scale that is calibrated."""
    if not log:
        return y - prediction
    positive = np.where(y > 0, y, 1.0)
    return np.where(y > 0, np.log(positive) - np.log(prediction), -np.inf)


def learn_difficulty(
    features: np.ndarray, y: np.ndarray, prediction: np.ndarray, *, log: bool = False
) -> Difficulty:
    """Learn where errors are large, from out-of-fold predictions of training rows.

    Parameters
    ----------
    features : ndarray of shape (n, n_features)
        Training rows.
    y : ndarray of shape (n,)
        Their targets.
    prediction : ndarray of shape (n,)
        Their predictions by models that have not seen them.
    log : bool, default=False
        Whether to measure errors of the logarithm.

    Returns
    -------
    difficulty : Difficulty
        A ridge regression of log errors; the same for every row below 50 rows.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.conformal import learn_difficulty
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(1, 10, 2000)
    >>> learnt = learn_difficulty(x[:, None], x + x * rng.normal(size=2000), x)
    >>> near, far = learnt.difficulty(np.array([[1.0], [9.0]]), np.array([1.0, 9.0]))
    >>> bool(far > 3 * near)
    True
    """
    from corollary.linear import RidgeCV

    values = np.log(prediction) if log else prediction
    centre, spread = float(values.mean()), float(values.std()) or 1.0
    errors = np.abs(_errors_of(y, prediction, log))
    # The floor keeps rows predicted right, exactly or to the last digit, from pulling the logarithm
    # to minus infinity: intervals of no width promise what a few such rows cannot.
    floor = max(0.1 * float(np.median(errors)), _LEAST_ERROR * float(errors.mean())) or 1.0
    target = np.log(errors + floor)
    weights = np.zeros(features.shape[1] + 3)
    weights[0] = target.mean()
    limits = np.array([target.mean(), target.mean()])
    if len(y) >= _FEWEST_FOR_DIFFICULTY and np.ptp(target) > 0:
        u = np.clip((values - centre) / spread, -4.0, 4.0)
        design = np.column_stack([features, u, u**2])
        model = RidgeCV(alphas=tuple(10.0 ** np.arange(0.0, 6.0))).fit(design, target)
        weights[0], weights[1:] = float(model.intercept_), np.ravel(model.coef_)
        # Beyond what most training rows show, difficulty is not extrapolated.
        limits = np.quantile(model.predict(design), [0.02, 0.98])
    return Difficulty(weights, limits, centre, spread, log)


def calibrate_intervals(
    difficulty: Difficulty,
    training_prediction: np.ndarray,
    features: np.ndarray,
    y: np.ndarray,
    prediction: np.ndarray,
    coverage: float,
    *,
    groups: Any = None,
) -> IntervalCalibration:
    """Learn the thresholds of prediction intervals, one for each band of predictions.

    Guarantee: intervals of rows exchangeable with the calibration rows hold their target at least
    as often as wanted, within every band. With `groups` the interval of a row drawn from a new
    group does, over all bands and given its band, if groups are exchangeable and the model was
    trained on others.

    Parameters
    ----------
    difficulty : Difficulty
        Expected sizes of errors, learnt on other rows.
    training_prediction : ndarray of shape (n_train,)
        Predictions of training rows, which set the bands.
    features : ndarray of shape (n, n_features)
        Calibration rows.
    y : ndarray of shape (n,)
        Their targets.
    prediction : ndarray of shape (n,)
        Their predictions.
    coverage : float
        Wanted coverage.
    groups : array-like of shape (n,) or None, default=None
        Group of each calibration row, if rows come in groups; see :func:`hierarchical_quantile`.
        Few groups have one band.

    Returns
    -------
    calibration : IntervalCalibration
        Infinite thresholds where a band has too few rows, or too few groups: a level takes
        :func:`smallest_calibration_size` of them.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.conformal import calibrate_intervals, learn_difficulty
    >>> x, y = np.zeros((40, 1)), np.tile([-1.0, 1.0, 2.0, -3.0], 10)
    >>> difficulty = learn_difficulty(x, y, np.zeros(40))
    >>> learnt = calibrate_intervals(difficulty, np.zeros(40), x, y, np.zeros(40), 0.9)
    >>> low, high = learnt.intervals(x[:1], np.zeros(1))
    >>> low.round(6), high.round(6)
    (array([-3.]), array([3.]))
    """
    weights = None if groups is None else row_weights(groups, len(y), "calibrate_intervals")
    n_bands = _number_of_bands(len(y), weights, coverage)
    # Bands come from training rows alone: the calibration rows then stay exchangeable with new
    # ones within each band.
    edges = np.array(Bands.between_quantiles(training_prediction, n_bands).edges)
    sizes = {field.name: getattr(difficulty, field.name) for field in fields(difficulty)}
    draft = IntervalCalibration(edges=edges, thresholds=np.zeros(len(edges) + 1), **sizes)
    scores = np.abs(draft.errors(features, y, prediction))
    bands = draft.bands(prediction)
    thresholds = np.array(
        [
            conformal_quantile(scores[bands == band], coverage)
            if weights is None
            else grouped_threshold(scores[bands == band], weights[bands == band], coverage)
            for band in range(len(edges) + 1)
        ]
    )
    return IntervalCalibration(edges=edges, thresholds=thresholds, **sizes)


def _number_of_bands(n_rows: int, weights: np.ndarray | None, coverage: float) -> int:
    """Return how many bands rows, or the groups that their weights add up to, are enough for."""
    n_bands = n_rows // _ROWS_PER_BAND
    if weights is not None:
        needed = smallest_calibration_size(coverage)
        n_bands = min(n_bands, round(weights.sum()) // (_NEEDED_GROUPS_PER_BAND * needed))
    return int(np.clip(n_bands, 1, _MOST_BANDS))
