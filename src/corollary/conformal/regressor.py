"""Split conformal prediction intervals around any regressor."""

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from corollary.conformal.base import SCHEMA, fits_together
from corollary.conformal.checks import predict_one_target
from corollary.conformal.fitting import fit_parameters
from corollary.conformal.intervals import BaseSplitIntervals
from corollary.conformal.scores import distances
from corollary.core.compat import HasMethods, Interval, StrOptions
from corollary.core.schema import Instance, Number, Optional, Schema

# A learnt scale is kept above this share of the mean absolute residual: without a floor one row
# predicted to be perfectly easy would claim an interval of no width.
SCALE_FLOOR = 0.1


def _fits_together(estimator: Any) -> str | None:
    if hasattr(estimator, "scores_"):
        models = [estimator.estimator_]
        if estimator.conformity_score == "normalised":
            if getattr(estimator, "scale_floor_", None) is None:
                return "it has no floor of scales"
            models.append(getattr(estimator, "scale_estimator_", None))
        if any(model is None or is_classifier(model) for model in models):
            return "its models are not regressors"
    return fits_together(estimator)


class SplitConformalRegressor(BaseSplitIntervals):
    r"""Prediction intervals with a guaranteed coverage, around any regressor.

    Some rows train the model; on the others a score :math:`s_i` says how badly the target fits.
    With :math:`\hat s` the :math:`\lceil (n+1)(1-\alpha) \rceil`-th smallest of the n calibration
    scores, the interval of a new row holds every target whose score is at most :math:`\hat s`.
    Here :math:`1 - \alpha` is `confidence`.

    Parameters
    ----------
    estimator : estimator
        A regressor; fitted already if `prefit`. Rows reach it as they came, so it may be a whole
        pipeline that takes data frames.
    confidence : float, default=0.9
        Wanted coverage, strictly between 0 and 1.
    prefit : bool, default=False
        Whether `estimator` is fitted already; then all rows given to ``fit`` calibrate.
    conformity_score : {"absolute", "normalised"}, default="absolute"
        "absolute" gives intervals of one width. "normalised" divides by a learnt scale, so that
        widths follow difficulty. For quantiles see :class:`ConformalQuantileRegressor`.
    scale_estimator : estimator or None, default=None
        Regressor of the absolute residual for "normalised"; None uses a copy of `estimator`.
        With `prefit` it must be given and fitted.
    calibration_size : float or int, default=0.25
        Share or number of rows that calibrate.
    cv : int, default=5
        Folds by which the residuals for the scale are predicted.
    partition : callable or None, default=None
        ``partition(X)`` gives each row a group, and every group a threshold of its own.
    likelihood_ratio : callable or None, default=None
        ``likelihood_ratio(X)`` gives each row the density of new rows over that of calibration
        rows, up to a factor, for coverage under covariate shift; see
        :func:`weighted_conformal_quantile`.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the split.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    scale_estimator_ : estimator
        The fitted model of the scale, for "normalised".
    scale_floor_ : float
        Smallest scale, for "normalised".
    scores_ : ndarray of shape (n_calibration,)
        Calibration scores, group after group; ascending within each if they have weights.
    group_labels_ : ndarray of shape (n_groups,)
        Labels of the groups; a single 0 without `partition`.
    group_sizes_ : ndarray of shape (n_groups,)
        Calibration rows in each.
    n_calibration_ : int
        Number of calibration rows.
    weights_ : ndarray of shape (n_calibration,) or None
        Weights of the calibration scores, in their order.
    thresholds_ : ndarray of shape (n_groups,) or None
        Threshold of each group at ``calibrated_confidence_``; None with weights, where new rows
        have thresholds of their own.
    calibrated_confidence_ : float or None
        The confidence at calibration.
    n_features_in_ : int
        Number of features, if the model knows it.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the model knows them.

    See Also
    --------
    ConformalQuantileRegressor : Intervals between two quantiles.
    SplitConformalClassifier : Sets of classes.
    coverage_law : How coverage varies with the calibration rows.
    corollary.certificates.coverage_certificates : What they prove about the misses to come.

    Notes
    -----
    Guarantee: if calibration rows and the new row are exchangeable, the interval holds the target
    with probability at least `confidence`, over the draw of both, for any model and any law; and
    with probability at most ``confidence + 1 / (n + 1)`` if scores have no ties. With `partition`
    this holds within every group. Checked by ``tests/conformal/test_regressor.py`` for 1 to 30
    calibration rows.

    The scale of "normalised" is learnt from the training rows alone: their residuals come from
    cross-fitting, since residuals of rows a model was fitted to are too small. It is kept above a
    tenth of the mean absolute residual; a fitted `scale_estimator` must predict positive scales.

    Too few calibration rows give infinite intervals and a warning that says how many are missing.
    So does, for a row, a prediction that is not a number.

    References
    ----------
    Lei, J., G'Sell, M., Rinaldo, A., Tibshirani, R. and Wasserman, L. (2018). Distribution-free
    predictive inference for regression. Journal of the American Statistical Association 113.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from corollary.conformal import SplitConformalRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(1, 5, size=(400, 1))
    >>> y = X[:, 0] + X[:, 0] * rng.normal(size=400)
    >>> model = SplitConformalRegressor(
    ...     LinearRegression(), conformity_score="normalised", random_state=0
    ... )
    >>> intervals = model.fit(X, y).predict_interval([[1.0], [5.0]])
    >>> intervals.shape
    (2, 2)
    >>> easy, hard = intervals[:, 1] - intervals[:, 0]
    >>> bool(hard > 2 * easy)
    True
    """

    _parameter_constraints: dict = {
        **BaseSplitIntervals._parameter_constraints,
        "conformity_score": [StrOptions({"absolute", "normalised"})],
        "scale_estimator": [HasMethods(["fit", "predict"]), None],
        "cv": [Interval(Integral, 2, None, closed="left")],
    }
    _schema = Schema(
        _fits_together,
        None,
        scale_estimator_=Optional(Instance("predict")),
        scale_floor_=Optional(Number(0)),
        **SCHEMA,
    )

    def __init__(
        self,
        estimator: Any,
        *,
        confidence: float = 0.9,
        prefit: bool = False,
        conformity_score: str = "absolute",
        scale_estimator: Any = None,
        calibration_size: float | int = 0.25,
        cv: int = 5,
        partition: Callable[[Any], Any] | None = None,
        likelihood_ratio: Callable[[Any], Any] | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.confidence = confidence
        self.prefit = prefit
        self.conformity_score = conformity_score
        self.scale_estimator = scale_estimator
        self.calibration_size = calibration_size
        self.cv = cv
        self.partition = partition
        self.likelihood_ratio = likelihood_ratio
        self.random_state = random_state

    def _fit_models(
        self, X: Any, y: np.ndarray, rng: np.random.RandomState, sample_weight: np.ndarray | None
    ) -> None:
        self.estimator_ = self._fit_one(self.estimator, X, y, sample_weight)
        if self.conformity_score == "normalised":
            from sklearn.model_selection import KFold, cross_val_predict

            folds = KFold(min(self.cv, len(y)), shuffle=True, random_state=rng)
            how = fit_parameters(type(self).__name__, self.estimator, sample_weight)
            held_out = cross_val_predict(clone(self.estimator), X, y, cv=folds, params=how)
            residuals = np.abs(y - np.ravel(held_out))
            scale = self.estimator if self.scale_estimator is None else self.scale_estimator
            self.scale_estimator_ = self._fit_one(scale, X, residuals, sample_weight)
            mean = float(np.average(residuals, weights=sample_weight))
            self.scale_floor_ = SCALE_FLOOR * mean or 1.0

    def _parts(self) -> tuple[str, ...]:
        scaled = self.conformity_score == "normalised"
        return ("estimator", "scale_estimator") if scaled else ("estimator",)

    def _adopt_models(self) -> None:
        if self.conformity_score != "normalised":
            return
        if self.scale_estimator is None:
            raise ValueError(
                "SplitConformalRegressor with prefit=True and conformity_score='normalised' needs "
                "a fitted 'scale_estimator': the scale must be learnt on training rows, which are "
                "not given here. Pass one, or prefit=False."
            )
        self.scale_floor_ = 0.0

    def _ends(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        centre = predict_one_target(self, self.estimator_, X)
        return centre, centre, self._scale(X) if self.conformity_score == "normalised" else None

    def _scale(self, X: Any) -> np.ndarray:
        scale = np.maximum(predict_one_target(self, self.scale_estimator_, X), self.scale_floor_)
        if np.any(scale <= 0):
            raise ValueError(
                f"The fitted 'scale_estimator' {type(self.scale_estimator_).__name__} must predict "
                f"positive scales. Got {np.nanmin(scale):g}; learn the logarithm of the residual, "
                "or use prefit=False, which keeps scales above a floor."
            )
        return scale

    def _scores(self, X: Any, y: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
        centre, _, scale = self._ends(X)
        errors = distances(y, centre)
        return errors if scale is None else errors / scale
