"""Split conformal prediction intervals around any regressor."""

from dataclasses import KW_ONLY, replace
from typing import Any, Literal

from corollary.conformal.scores._base import IntervalScore
from corollary.conformal.scores.intervals import Absolute, Quantiles, Scaled
from corollary.conformal.split._interval_mixin import IntervalMixin
from corollary.conformal.split._split import SplitConformal
from corollary.core.estimator import CountFromTwo, Predictor


class SplitConformalRegressor(IntervalMixin, SplitConformal):
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
    partition : Groups, Bands, callable or None, default=None
        What gives each row a group, and every group a threshold of its own: a frozen object, or
        a function of X, which model files cannot hold.
    covers : {"row", "group"}, default="row"
        What is promised if ``fit`` is given groups: that a row drawn from a new group is covered,
        or that all rows of it are at once, which takes wider intervals.
    likelihood_ratio : callable or None, default=None
        ``likelihood_ratio(X)`` gives each row the density of new rows over that of calibration
        rows, up to a factor, for coverage under covariate shift; see
        :func:`weighted_conformal_quantile`.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the split.
    prefit : bool, default=False
        Whether `estimator` is fitted already; then all rows given to ``fit`` calibrate.
    calibration_size : float or int, default=0.25
        Share or number of rows that calibrate, or of groups.
    conformity_score : {"absolute", "normalised"} or score, default="absolute"
        "absolute" is short for ``Absolute()`` and gives intervals of one width. "normalised" is
        short for ``Scaled(scale_estimator, cv)``: errors are divided by a learnt scale, so that
        widths follow difficulty. ``Quantiles(low, high)`` gives the interval between two models.
    scale_estimator : estimator or None, default=None
        Regressor of the absolute residual for "normalised"; None uses a copy of `estimator`.
        With `prefit` it must be given and fitted.
    cv : int, default=5
        Folds by which the residuals for the scale are predicted.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    conformity_score_ : Absolute, Scaled or Quantiles
        The score, its models fitted.
    scale_estimator_ : estimator
        The fitted model of the scale, for "normalised".
    scale_floor_ : float
        Smallest scale, for "normalised".
    scores_ : ndarray of shape (n_calibration,)
        Calibration scores, group after group; ascending within each if they have weights.
    group_labels_ : ndarray of shape (n_groups,)
        Labels of the groups of `partition`; a single 0 without it.
    group_sizes_ : ndarray of shape (n_groups,)
        Calibration rows in each.
    n_calibration_ : int
        Number of calibration rows.
    weights_ : ndarray of shape (n_calibration,) or None
        Weights of the calibration scores, in their order: density ratios, or what rows weigh in
        their groups.
    thresholds_ : ndarray of shape (n_groups,) or None
        Threshold of each group at ``calibrated_confidence_``; None with density ratios,
        where new rows have thresholds of their own.
    calibrated_confidence_ : float or None
        The confidence at calibration.
    exchangeable_ : {"rows", "groups", "nothing"}
        What calibration takes to be exchangeable with what is new; nothing if ``fit`` was given
        time.
    calibration_groups_ : ndarray of shape (n_calibration_groups,) or None
        Hashes of the groups that calibrated, if ``fit`` was given groups.
    training_groups_ : ndarray of shape (n_training_groups,) or None
        Hashes of the groups that trained.

    See Also
    --------
    Absolute, Scaled, Quantiles : The scores.
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

    Rows that come in groups, given to ``fit`` as `groups`: if groups are exchangeable, a row drawn
    from a new group (or with `covers` all of its rows) is covered with probability at least
    `confidence`, and the number of calibration groups is the sample size. With `partition` the
    former holds given the part that the row is in. Checked by ``tests/conformal/test_groups.py``.

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

    _: KW_ONLY
    conformity_score: Literal["absolute", "normalised"] | Absolute | Scaled | Quantiles = "absolute"
    scale_estimator: Predictor | None = None
    cv: CountFromTwo = 5

    def _score(self) -> IntervalScore:
        if self.conformity_score == "absolute":
            return Absolute()
        if self.conformity_score == "normalised":
            return Scaled(self.scale_estimator, cv=self.cv)
        return self.conformity_score

    @property
    def scale_estimator_(self) -> Any:
        """The fitted model of the scale, for a normalised score."""
        return self._scaled().model

    @property
    def scale_floor_(self) -> float:
        """Smallest scale, for a normalised score."""
        return self._scaled().floor

    def _scaled(self) -> Scaled:
        """Return the fitted score, if it has a scale."""
        score = vars(self).get("conformity_score_")
        if not isinstance(score, Scaled):
            raise AttributeError(f"{type(self).__name__} has no fitted model of the scale.")
        return score

    @classmethod
    def _with_score(cls, score: IntervalScore, state: dict[str, Any]) -> dict[str, Any]:
        model, floor = state.pop("scale_estimator_", None), state.pop("scale_floor_", None)
        if isinstance(score, Scaled):
            score = replace(score, model=model, floor=floor or 0.0)
        return state | {"conformity_score_": score}
