"""Gradient boosting for regression: means, medians, quantiles and distributions."""

from collections.abc import Iterator
from dataclasses import KW_ONLY
from typing import Any, Literal

import numpy as np

from corollary.core.estimator import ArrayLike, Probability, Regressor, check_squares
from corollary.ensemble.boosting._estimator import HistGradientBoosting
from corollary.ensemble.boosting.losses import (
    BoostingLoss,
    GammaBoostingLoss,
    PoissonBoostingLoss,
    SquareBoostingLoss,
)
from corollary.ensemble.boosting.normal_loss import NormalBoostingLoss
from corollary.ensemble.boosting.quantile_losses import PinballBoostingLoss, QuantilesBoostingLoss


class HistGradientBoostingRegressor(HistGradientBoosting, Regressor):
    r"""Gradient boosting of trees for regression, quantiles and whole distributions.

    The raw prediction is a sum of trees, :math:`f_t=f_{t-1}+\eta\,h_t`. For smooth losses each
    leaf of :math:`h_t` takes a regularised Newton step, for absolute errors and quantiles it holds
    the median or quantile of its residuals.

    Parameters
    ----------
    loss : str, default="squared_error"
        "squared_error", "absolute_error", "quantile", "poisson", "gamma" or "normal": squared or
        absolute error; the pinball loss of one or several quantiles; the deviance of counts, or of
        positive numbers, with a logarithmic link; or a normal law whose mean and standard
        deviation both depend on the inputs, learnt along the natural gradient; its scale is
        calibrated by rows held out (``validation_fraction``).
    learning_rate : float, default=0.1
        Shrinkage: the share of its best step that each tree takes.
    max_iter : int, default=100
        Iterations; each adds one tree, or one per class if there are more than two.
    max_leaf_nodes : int or None, default=31
        Most leaves of a tree; None for no limit.
    max_depth : int or None, default=None
        Most splits on the way to a leaf; None for no limit.
    min_samples_leaf : int, default=20
        Fewest rows in a leaf, whatever their weights.
    l2_regularization : float, default=0.0
        Penalty :math:`\lambda` of squared leaf values.
    max_features : float, default=1.0
        Share of the features, drawn at random, that are tried at each split.
    max_bins : int, default=255
        Most bins of a numerical feature; one more holds missing values.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Categorical features: those of a data frame whose type is categorical or text, or a mask,
        positions or names. The 255 most frequent values of each are told apart.
    monotonic_cst : array-like of int of shape (n_features,), dict or None, default=None
        1 where predictions must not fall as a feature grows, -1 where they must not rise, 0
        elsewhere; a dictionary goes by names.
    interaction_cst : {"pairwise", "no_interactions"}, sequence of groups or None, default=None
        Groups of positions of features that may be together on the way to a leaf; features that
        none names are a group of their own. "no_interactions" gives each feature its own group,
        "pairwise" all pairs; None does not limit interactions.
    warm_start : bool, default=False
        Whether a further ``fit`` to the same rows adds iterations up to ``max_iter``.
    early_stopping : "auto" or bool, default="auto"
        Whether to stop when the loss no longer falls; "auto" does above 10,000 rows.
    scoring : str, callable or None, default="loss"
        What judges that: the loss, or a score as in scikit-learn; None for :meth:`score`.
    validation_fraction : float, int or None, default=0.1
        Share or number of the rows held out to judge that; None judges by the training loss. The
        loss "normal" always holds rows out, at least 100 or a quarter of them, to calibrate its
        scale (see Notes); with None it does not, and its standard deviations are far too small.
    n_iter_no_change : int, default=10
        Iterations without improvement to wait for.
    tol : float, default=1e-7
        Least fall of the loss that counts as improvement.
    verbose : int, default=0
        Changes nothing: in a terminal long work shows its progress by itself.
    random_state : int, RandomState instance or None, default=None
        Draws held-out rows, row samples and feature samples.
    subsample : float, default=1.0
        Share of the rows, drawn without replacement, that each tree learns from.
    n_jobs : int or None, default=None
        Threads; None means one per available core. The result does not depend on it.
    quantile : float, sequence of float or None, default=None
        Level for the loss "quantile"; None for the median. Several ascending levels give one model
        whose quantiles never cross, see :meth:`predict_quantiles`.

    Attributes
    ----------
    trees_ : Trees
        The trees in their order; those of one iteration follow each other.
    start_ : ndarray of shape (n_outputs,)
        Raw prediction before the first tree.
    n_iter_ : int
        Iterations kept; after early stopping those up to the best.
    n_trees_per_iteration_ : int
        Trees that an iteration adds.
    do_early_stopping_ : bool
        Whether it may have stopped early.
    is_categorical_ : ndarray of bool of shape (n_features,) or None
        Which features are categorical; None if none is.
    train_score_ : ndarray
        Minus the mean training loss, or the score of ``scoring``, before the first and after each
        iteration, if stopping early.
    validation_score_ : ndarray
        The same on the rows held out.
    categories_ : Categories
        Values of the categorical features.
    feature_importances_ : ndarray of shape (n_features,)
        Shares of the features in the gains of all splits.
    expected_value_ : float or ndarray of shape (n_outputs,)
        Mean raw prediction, where :meth:`contributions` start.

    See Also
    --------
    HistGradientBoostingClassifier : The same for labels.
    corollary.conformal.SplitConformalRegressor : Intervals with guaranteed coverage around it.

    Notes
    -----
    Features are cut into bins of equal weight, trees grow leaf by leaf on histograms, and the
    smaller child's histogram gives its sibling's by subtraction. Missing values go to the better
    side of each split; the categories of a feature are ordered by their mean gradient and split
    in two.

    The loss "normal" fits the training rows too well to read the scale of new residuals off them:
    without held-out rows intervals of 95% held 57% to 84% of new rows of three simulated laws. So
    the logarithm of its scale is shifted and shrunk by rows that no tree has seen
    (:func:`calibrated_scale`). On average over rows the scale is then right, up to the error of
    the calibration rows (with 100, about 7%): intervals of 95% held 94% to 95% where there were
    1,500 or 5,000 rows, and 92% where there were 200. No coverage is guaranteed, and
    none for parts of the rows; where it must be, see
    :class:`corollary.conformal.SplitConformalRegressor`.

    Guarantee: the model has the same bits for any number of threads; checked by
    ``tests/ensemble/test_gradient_boosting.py::test_threads_do_not_change_a_bit``. Histograms add
    up whole numbers (derivatives rounded without systematic error), which no order changes; leaf
    values come from unrounded derivatives.

    References
    ----------
    Friedman, J. (2001). Greedy function approximation: a gradient boosting machine. Annals of
    Statistics 29.
    Ke, G., et al. (2017). LightGBM: a highly efficient gradient boosting decision tree. NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import HistGradientBoostingRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, size=(2000, 1))
    >>> y = X[:, 0] ** 2 + rng.normal(size=2000) * (0.1 + (X[:, 0] > 0))
    >>> model = HistGradientBoostingRegressor(loss="normal", random_state=0).fit(X, y)
    >>> model.predict_std([[-1.0], [1.0]]).round(1)
    array([0.1, 1.3])
    """

    loss: Literal["squared_error", "absolute_error", "quantile", "poisson", "gamma", "normal"] = (
        "squared_error"
    )
    _: KW_ONLY
    quantile: Probability | ArrayLike | None = None

    _labels = False

    def _loss(self) -> BoostingLoss:
        if self.loss == "quantile":
            return _quantile_loss(0.5 if self.quantile is None else self.quantile)
        simple: dict[str, BoostingLoss] = {
            "squared_error": SquareBoostingLoss(),
            "absolute_error": PinballBoostingLoss(0.5),
            "poisson": PoissonBoostingLoss(),
            "gamma": GammaBoostingLoss(),
            "normal": NormalBoostingLoss(),
        }
        return simple[self.loss]

    def _training_loss(self, y: np.ndarray) -> BoostingLoss:
        if self.loss == "normal":  # a leaf of equal targets must not end at scale zero
            return NormalBoostingLoss(floor=1e-3 * float(y.std()))
        return self._loss()

    def _read_targets(self, y: np.ndarray) -> np.ndarray:
        return self._known_targets(y)

    def _known_targets(self, y: np.ndarray) -> np.ndarray:
        return np.asarray(y, dtype=np.float64)

    def _boost(self, rows: Any, y: np.ndarray, *how: Any) -> None:
        check_squares(self, y[:0], y)
        if self.loss == "poisson" and (y.min() < 0 or y.max() <= 0):
            raise ValueError(
                "The Poisson loss needs targets that are not negative and not all 0. Got values "
                f"from {y.min():g} to {y.max():g}."
            )
        if self.loss == "gamma" and y.min() <= 0:
            raise ValueError(
                f"The gamma loss needs targets that are positive. Got values from {y.min():g}."
            )
        super()._boost(rows, y, *how)

    def _point(self, raw: np.ndarray) -> np.ndarray:
        loss = self._loss()
        if isinstance(loss, PoissonBoostingLoss | GammaBoostingLoss):
            return np.exp(raw[:, 0])
        return raw[:, loss.base if isinstance(loss, QuantilesBoostingLoss) else 0]

    def _predict(self, X: Any) -> np.ndarray:
        return self._point(self._raw(X))

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Predict after each iteration.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Inputs.

        Yields
        ------
        y : ndarray of shape (n_samples,)
            Predictions.
        """
        for raw in self._stages(X):
            yield self._point(raw)

    def predict_quantiles(self, X: Any, levels: Any = None) -> np.ndarray:
        """Predict quantiles that never cross.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Inputs.
        levels : array-like of float or None, default=None
            Levels, for the loss "normal"; with the loss "quantile" they are those of training.

        Returns
        -------
        quantiles : ndarray of shape (n_samples, n_levels)
            One column per level.
        """
        raw = self._raw(self._new(X))
        if self.loss == "normal":
            if levels is None:
                raise ValueError(
                    "predict_quantiles of a normal law needs levels, e.g. [0.05, 0.5, 0.95]."
                )
            from scipy.special import ndtri

            z = ndtri(np.asarray(levels, dtype=np.float64))
            return np.asarray(raw[:, :1] + np.exp(raw[:, 1:]) * z)
        if self.loss != "quantile":
            raise ValueError(
                "predict_quantiles needs a model fitted with loss='quantile' or loss='normal'. "
                f"Got loss={self.loss!r}."
            )
        level = 0.5 if self.quantile is None else self.quantile
        learnt = np.atleast_1d(np.asarray(level, dtype=np.float64))
        if levels is not None and not np.array_equal(np.atleast_1d(levels), learnt):
            raise ValueError(
                f"The model has learnt the levels {learnt.tolist()}. Got {levels!r}; fit with "
                "quantile set to those."
            )
        loss = self._loss()
        return loss.quantiles(raw) if isinstance(loss, QuantilesBoostingLoss) else raw

    def predict_std(self, X: Any) -> np.ndarray:
        """Predict standard deviations, for the loss "normal".

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        std : ndarray of shape (n_samples,)
            Standard deviations of the targets.
        """
        self._need_normal("predict_std")
        return np.exp(self._raw(self._new(X))[:, 1])

    def predict_dist(self, X: Any) -> Any:
        """Predict whole distributions, for the loss "normal".

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        distribution : scipy.stats frozen distribution
            Normal laws, one per row: ``pdf``, ``cdf``, ``ppf``, ``interval``, ``rvs``.
        """
        from scipy.stats import norm

        self._need_normal("predict_dist")
        raw = self._raw(self._new(X))
        return norm(raw[:, 0], np.exp(raw[:, 1]))

    def _need_normal(self, method: str) -> None:
        if self.loss != "normal":
            raise ValueError(
                f"{method} needs a model fitted with loss='normal'. Got loss={self.loss!r}."
            )


def _quantile_loss(quantile: Any) -> BoostingLoss:
    levels = np.asarray(quantile, dtype=np.float64)
    if levels.ndim > 1 or not levels.size or not ((levels > 0) & (levels < 1)).all():
        raise ValueError(
            "The 'quantile' parameter of HistGradientBoostingRegressor must be one or several "
            f"levels in the range (0.0, 1.0). Got {quantile!r} instead."
        )
    if levels.size == 1:
        return PinballBoostingLoss(float(levels.ravel()[0]))
    if (np.diff(levels) <= 0).any():
        raise ValueError(
            "Several levels in 'quantile' must be ascending and distinct. "
            f"Got {quantile!r} instead."
        )
    return QuantilesBoostingLoss(tuple(levels.tolist()))
