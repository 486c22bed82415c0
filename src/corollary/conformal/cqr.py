"""Conformalised quantile regression around one model of several quantiles, or around two models."""

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from sklearn.base import clone, is_classifier

from corollary.conformal.base import SCHEMA, fits_together
from corollary.conformal.checks import count_rows, predict_one_target
from corollary.conformal.intervals import BaseSplitIntervals
from corollary.conformal.scores import quantile_score
from corollary.core.compat import HasMethods
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


class ConformalQuantileRegressor(BaseSplitIntervals):
    r"""Intervals between two quantiles, widened or narrowed until they cover.

    A calibration row's score is how far its target lies outside the interval between the lower
    and the upper quantile, negative inside: :math:`\max\{f_{lo}(x) - y, y - f_{hi}(x)\}`. With
    :math:`\hat s` the :math:`\lceil (n+1)(1-\alpha) \rceil`-th smallest score the interval of a
    new row is :math:`[f_{lo}(x) - \hat s, f_{hi}(x) + \hat s]`: its width follows the noise.

    Parameters
    ----------
    estimator : estimator
        A model with ``predict_quantiles``, whose first and last columns are used, such as
        ``GradientBoostingRegressor(loss="quantile", quantile=[0.05, 0.95])``; or one that has its
        quantile as a parameter (``quantile``, or ``alpha`` beside ``loss="quantile"``), of which
        two copies are fitted, at the quantiles (1 - confidence) / 2 and (1 + confidence) / 2; or
        the model of the lower quantile, if `upper_estimator` is given. Fitted already if
        `prefit`.
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
        The fitted model of the upper quantile; None if one model knows both.
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
    corollary.certificates.coverage_certificates : What they prove about the misses to come.

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
        **BaseSplitIntervals._parameter_constraints,
        "upper_estimator": [HasMethods(["fit", "predict"]), None],
    }
    _schema = Schema(_fits_together, None, upper_estimator_=Optional(Instance("predict")), **SCHEMA)

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

    def predict(self, X: Any) -> np.ndarray:
        """Predict one number for each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows, passed to the models as they come.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            What the model of several quantiles predicts; of two models, the middle between their
            quantiles, which is the middle of the interval at every confidence.
        """
        self._require_calibrated()
        if self.upper_estimator_ is None:
            return self.estimator_.predict(X)
        lower, upper, _ = self._ends(X)
        return 0.5 * lower + 0.5 * upper

    def _fit_models(
        self, X: Any, y: np.ndarray, rng: np.random.RandomState, sample_weight: np.ndarray | None
    ) -> None:
        lower, upper = self.estimator, self.upper_estimator
        if upper is None and not hasattr(lower, "predict_quantiles"):
            name = _quantile_parameter(lower)
            if name is None:
                self._refuse(lower)
            miss = 1 - self.confidence
            lower, upper = (
                clone(self.estimator).set_params(**{name: level})
                for level in (miss / 2, 1 - miss / 2)
            )
        self.estimator_ = self._fit_one(lower, X, y, sample_weight)
        self.upper_estimator_ = None if upper is None else self._fit_one(upper, X, y, sample_weight)

    def _parts(self) -> tuple[str, ...]:
        return ("estimator", "upper_estimator")

    def _adopt_models(self) -> None:
        if self.upper_estimator is None and not hasattr(self.estimator_, "predict_quantiles"):
            self._refuse(self.estimator_)

    def _refuse(self, model: Any) -> NoReturn:
        raise ValueError(
            "ConformalQuantileRegressor needs a model with predict_quantiles, or an "
            "'upper_estimator' beside the model of the lower quantile, or, unless prefit, a model "
            f"that has its quantile as a parameter. Got {model!r} alone."
        )

    def _ends(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        if self.upper_estimator_ is not None:
            lower = predict_one_target(self, self.estimator_, X)
            return lower, predict_one_target(self, self.upper_estimator_, X), None
        quantiles = np.asarray(self.estimator_.predict_quantiles(X), dtype=float)
        if quantiles.ndim != 2 or quantiles.shape[1] < 2 or len(quantiles) != count_rows(X):
            raise ValueError(
                "ConformalQuantileRegressor needs at least two quantiles of each row. "
                f"{type(self.estimator_).__name__} gave shape {quantiles.shape}; set e.g. "
                "quantile=[0.05, 0.95]."
            )
        return quantiles[:, 0], quantiles[:, -1], None

    def _scores(self, X: Any, y: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
        lower, upper, _ = self._ends(X)
        return quantile_score(y, lower, upper)


def _quantile_parameter(model: Any) -> str | None:
    """Return the name under which a model, or the last step of a pipeline, takes its quantile."""
    steps = getattr(model, "steps", None)
    prefix, last = (f"{steps[-1][0]}__", steps[-1][1]) if steps else ("", model)
    given = last.get_params(deep=False) if hasattr(last, "get_params") else {}
    if given.get("loss", "quantile") != "quantile":
        return None
    if "quantile" in given:
        return f"{prefix}quantile"
    return f"{prefix}alpha" if "loss" in given and "alpha" in given else None
