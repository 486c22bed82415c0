"""Conformalised quantile regression around one model of several quantiles, or around two models."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin, is_classifier
from sklearn.utils.validation import check_is_fitted

from corollary.conformal.base import SCHEMA, BaseSplitConformal, fits_together
from corollary.conformal.checks import check_real_targets, predict_one_target, widen
from corollary.conformal.scores import quantile_score
from corollary.core.compat import HasMethods, fit_context
from corollary.core.schema import Instance, Optional, Schema


def _fits_together(estimator: Any) -> str | None:
    if hasattr(estimator, "scores_"):
        models = [estimator.estimator_]
        upper = getattr(estimator, "upper_estimator_", None)
        if upper is not None:
            models.append(upper)
        elif not hasattr(estimator.estimator_, "predict_quantiles"):
            return "its model has no quantiles"
        if any(is_classifier(model) for model in models):
            return "its models are not regressors"
    return fits_together(estimator)


class ConformalQuantileRegressor(RegressorMixin, BaseSplitConformal):
    r"""Intervals between two quantiles, widened or narrowed until they cover.

    A calibration row's score is how far its target lies outside the interval between the lower
    and the upper quantile, negative inside: :math:`\max\{f_{lo}(x) - y, y - f_{hi}(x)\}`. With
    :math:`\hat s` the :math:`\lceil (n+1)(1-\alpha) \rceil`-th smallest score the interval of a
    new row is :math:`[f_{lo}(x) - \hat s, f_{hi}(x) + \hat s]`: its width follows the noise.

    Parameters
    ----------
    estimator : estimator
        Either a model with ``predict_quantiles``, whose first and last columns are used, such as
        ``GradientBoostingRegressor(loss="quantile", quantile=[0.05, 0.95])``; or the model of the
        lower quantile, if `upper_estimator` is given. Fitted already if `prefit`.
    upper_estimator : estimator or None, default=None
        The model of the upper quantile, if one model does not know both.
    confidence : float, default=0.9
        Wanted coverage, strictly between 0 and 1; it need not be that of the quantiles.
    prefit : bool, default=False
        Whether the models are fitted already; then all rows given to ``fit`` calibrate.
    calibration_size : float or int, default=0.25
        Share or number of rows that calibrate.
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
        The fitted model, or that of the lower quantile.
    upper_estimator_ : estimator or None
        The fitted model of the upper quantile.
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
    SplitConformalRegressor : Intervals around a model of the mean.

    Notes
    -----
    Guarantee: if calibration rows and the new row are exchangeable, the interval holds the target
    with probability at least `confidence`, and at most ``confidence + 1 / (n + 1)`` if scores
    have no ties, however wrong the quantiles are. Checked by ``tests/conformal/test_cqr.py``.

    A lower end above the upper one means an empty interval.

    References
    ----------
    Romano, Y., Patterson, E. and Candes, E. (2019). Conformalized quantile regression. Advances
    in Neural Information Processing Systems 32.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.conformal import ConformalQuantileRegressor
    >>> from corollary.ensemble import GradientBoostingRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(1, 5, size=(400, 1))
    >>> y = X[:, 0] * rng.normal(size=400)
    >>> boost = GradientBoostingRegressor(loss="quantile", quantile=[0.05, 0.95], n_estimators=20)
    >>> model = ConformalQuantileRegressor(boost, random_state=0).fit(X, y)
    >>> narrow, wide = np.diff(model.predict_interval([[1.0], [5.0]]))[:, 0]
    >>> bool(narrow < wide)
    True
    """

    _parameter_constraints: dict = {
        **BaseSplitConformal._parameter_constraints,
        "upper_estimator": [HasMethods(["fit", "predict"]), None],
    }
    _schema = Schema(_fits_together, None, upper_estimator_=Optional(Instance("predict")), **SCHEMA)
    _fallback = "intervals are infinite"

    def __init__(
        self,
        estimator: Any,
        *,
        upper_estimator: Any = None,
        confidence: float = 0.9,
        prefit: bool = False,
        calibration_size: float | int = 0.25,
        partition: Callable[[Any], Any] | None = None,
        likelihood_ratio: Callable[[Any], Any] | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.upper_estimator = upper_estimator
        self.confidence = confidence
        self.prefit = prefit
        self.calibration_size = calibration_size
        self.partition = partition
        self.likelihood_ratio = likelihood_ratio
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on some rows and calibrate on the others.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows, passed to the models as they come.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of rows in the fits of the models. Calibration counts every row once, or by
            `likelihood_ratio`.

        Returns
        -------
        self : ConformalQuantileRegressor
            The fitted estimator.

        Raises
        ------
        ValueError
            If a model takes no weights, or `prefit` leaves none to be trained.
        """
        return self._fit(X, y, sample_weight)

    def predict_interval(
        self, X: Any, *, confidence: float | None = None, weights: Any = None
    ) -> np.ndarray:
        """Predict an interval for each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows, passed to the models as they come.
        confidence : float or None, default=None
            Another coverage than that of the constructor, from the same calibration rows.
        weights : array-like of shape (n_samples,) or None, default=None
            Density ratio of new rows to calibration rows, if ``calibrate`` was given one.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2)
            Lower and upper ends, both included.
        """
        check_is_fitted(self)
        threshold = self._thresholds(X, self._level(confidence), weights)[:, 0]
        return widen(self, *self._ends(X), threshold)

    def _check_targets(self, y: Any) -> np.ndarray:
        return check_real_targets(y)

    def _fit_models(
        self, X: Any, y: np.ndarray, rng: np.random.RandomState, sample_weight: np.ndarray | None
    ) -> None:
        self._check_parts(self.estimator)
        self.estimator_ = self._fit_one(self.estimator, X, y, sample_weight)
        upper = self.upper_estimator
        self.upper_estimator_ = None if upper is None else self._fit_one(upper, X, y, sample_weight)

    def _adopt_models(self) -> None:
        self._check_parts(self.estimator_)
        self.upper_estimator_ = self.upper_estimator
        if self.upper_estimator_ is not None:
            self._require_fitted(self.upper_estimator_)

    def _check_parts(self, model: Any) -> None:
        if self.upper_estimator is None and not hasattr(model, "predict_quantiles"):
            raise ValueError(
                "ConformalQuantileRegressor needs a model with predict_quantiles, or an "
                f"'upper_estimator' beside the model of the lower quantile. Got {model!r} alone."
            )

    def _ends(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        if self.upper_estimator_ is not None:
            lower = predict_one_target(self, self.estimator_, X)
            return lower, predict_one_target(self, self.upper_estimator_, X)
        quantiles = np.asarray(self.estimator_.predict_quantiles(X), dtype=float)
        if quantiles.ndim != 2 or quantiles.shape[1] < 2:
            raise ValueError(
                "ConformalQuantileRegressor needs at least two quantiles. "
                f"{type(self.estimator_).__name__} gave shape {quantiles.shape}; set e.g. "
                "quantile=[0.05, 0.95]."
            )
        return quantiles[:, 0], quantiles[:, -1]

    def _scores(self, X: Any, y: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
        return quantile_score(y, *self._ends(X))
