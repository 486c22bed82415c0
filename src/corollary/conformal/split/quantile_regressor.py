"""Conformalised quantile regression around one model of several quantiles, or around two models."""

from dataclasses import KW_ONLY, replace
from typing import Any

from corollary.conformal.scores.intervals import Quantiles
from corollary.conformal.split._interval_mixin import IntervalMixin
from corollary.conformal.split._split import SplitConformal
from corollary.core.estimator import Predictor


class ConformalQuantileRegressor(IntervalMixin, SplitConformal):
    r"""Intervals between two quantiles, widened or narrowed until they cover.

    A calibration row's score is how far its target lies outside the interval between the lower
    and the upper quantile, negative inside: :math:`\max\{f_{lo}(x) - y, y - f_{hi}(x)\}`. With
    :math:`\hat s` the :math:`\lceil (n+1)(1-\alpha) \rceil`-th smallest score the interval of a
    new row is :math:`[f_{lo}(x) - \hat s, f_{hi}(x) + \hat s]`: its width follows the noise.

    Parameters
    ----------
    estimator : estimator
        A model with ``predict_quantiles``, whose first and last columns are used, such as
        ``HistGradientBoostingRegressor(loss="quantile", quantile=[0.05, 0.95])``; or one with its
        quantile as a parameter (``quantile``, or ``alpha`` beside ``loss="quantile"``), of which
        two copies are fitted, at the quantiles (1 - confidence) / 2 and (1 + confidence) / 2; or
        the model of the lower quantile, if `upper_estimator` is given. Fitted already if
        `prefit`.
    confidence : float, default=0.9
        Wanted coverage, strictly between 0 and 1; it need not be that of the quantiles.
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
        Whether the models are fitted already; then all rows given to ``fit`` calibrate.
    calibration_size : float or int, default=0.25
        Share or number of rows that calibrate, or of groups.
    upper_estimator : estimator or None, default=None
        The model of the upper quantile, if one model does not know both.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model, or that of the lower quantile.
    conformity_score_ : Quantiles
        The score, its models fitted.
    upper_estimator_ : estimator or None
        The fitted model of the upper quantile; None if one model knows both.
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
    Quantiles : The score.
    SplitConformalRegressor : Intervals around a model of the mean.
    corollary.certificates.coverage_certificates : What they prove about the misses to come.

    Notes
    -----
    Guarantee: if calibration rows and the new row are exchangeable, the interval holds the target
    with probability at least `confidence`, and at most ``confidence + 1 / (n + 1)`` if scores
    have no ties, however wrong the quantiles are. Checked by ``tests/conformal/test_cqr.py``.

    A lower end above the upper one means an empty interval.

    Rows that come in groups, given to ``fit`` as `groups`: if groups are exchangeable, a row drawn
    from a new group (or with `covers` all of its rows) is covered with probability at least
    `confidence`, and the number of calibration groups is the sample size. With `partition` the
    former holds given the part that the row is in. Checked by ``tests/conformal/test_groups.py``.

    References
    ----------
    Romano, Y., Patterson, E. and Candes, E. (2019). Conformalized quantile regression. Advances
    in Neural Information Processing Systems 32.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.conformal import ConformalQuantileRegressor
    >>> from corollary.ensemble import HistGradientBoostingRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(1, 5, size=(400, 1))
    >>> y = X[:, 0] * rng.normal(size=400)
    >>> boost = HistGradientBoostingRegressor(loss="quantile", quantile=[0.05, 0.95], max_iter=20)
    >>> model = ConformalQuantileRegressor(boost, random_state=0).fit(X, y)
    >>> narrow, wide = np.diff(model.predict_interval([[1.0], [5.0]]))[:, 0]
    >>> bool(narrow < wide)
    True
    """

    _: KW_ONLY
    upper_estimator: Predictor | None = None

    def _score(self) -> Quantiles:
        return Quantiles(high=self.upper_estimator)

    @property
    def upper_estimator_(self) -> Any:
        """The fitted model of the upper quantile; None if one model knows both."""
        if "conformity_score_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} is not fitted yet.")
        return self.conformity_score_.high

    @classmethod
    def _with_score(cls, score: Quantiles, state: dict[str, Any]) -> dict[str, Any]:
        score = replace(score, high=state.pop("upper_estimator_", None))
        return state | {"conformity_score_": score}
