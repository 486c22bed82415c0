"""Jackknife+ and CV+ intervals around any regressor."""

from dataclasses import KW_ONLY
from typing import Any, Literal, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import is_classifier
from sklearn.utils import check_random_state, indexable
from sklearn.utils.validation import check_is_fitted

from corollary.conformal._checks import check_groups, count_rows, warn_of_missing_rows
from corollary.conformal._fitting import Rows, Training, check_training_weights
from corollary.conformal._groups import hash_labels, numbers_of_groups
from corollary.conformal._order import rank_of_level, smallest_finite_size
from corollary.conformal.plus._base import PlusWrapper
from corollary.conformal.plus._ends import grouped_ends, interval_ends
from corollary.conformal.plus.hierarchical import hierarchical_plus_coverage
from corollary.conformal.plus.intervals import plus_coverage
from corollary.conformal.split.calibration import CalibrationFolds
from corollary.core.compat import fit_context, safe_indexing
from corollary.core.estimator import CountFromTwo, RandomSeed, fitted
from corollary.core.schema import Array, Instance, List, Optional

# Predictions held at once while intervals are made: rows times models.
_BLOCK = 4_000_000


class CVPlusRegressor(PlusWrapper):
    r"""Prediction intervals from cross-validation, CV+ or jackknife+, around any regressor.

    The rows are dealt into K folds. For each fold a copy of the model is fitted to the others;
    it gives the fold's rows their residuals :math:`R_i` and a prediction
    :math:`\hat\mu_{-S(i)}(x)` of each new row. With
    :math:`k = \lceil (n+1)(1-\alpha) \rceil` the interval reaches from the k-th largest
    :math:`\hat\mu_{-S(i)}(x) - R_i` to the k-th smallest :math:`\hat\mu_{-S(i)}(x) + R_i`. All
    rows train and all calibrate.

    Parameters
    ----------
    estimator : estimator
        A regressor, possibly a whole pipeline: all of it is fitted anew for each fold, and rows
        reach it as they came.
    confidence : float, default=0.9
        The level :math:`1 - \alpha` at which intervals are built, strictly between 0 and 1. They
        usually cover about as often; what is proved is ``guaranteed_coverage_``.
    cv : int or "loo", default=10
        Number K of folds; "loo" leaves one row out at a time (jackknife+), which takes n fits.
    n_jobs : int or None, default=None
        Jobs of joblib that fit the models.
    random_state : int, RandomState instance or None, default=None
        Seed or generator that deals the rows into folds.

    Attributes
    ----------
    estimator_ : estimator
        The model fitted to all rows, for ``predict``.
    models_ : list of estimator
        The models of the folds.
    residuals_ : ndarray of shape (n_samples,)
        Absolute residuals, fold after fold, ascending within each.
    fold_sizes_ : ndarray of int of shape (n_folds,)
        Rows of each fold.
    weights_ : ndarray of shape (n_samples,) or None
        One over the rows of its group for each residual, if ``fit`` was given groups.
    training_groups_ : ndarray of shape (n_groups,) or None
        Hashes of the groups.
    guaranteed_coverage_ : float
        The coverage that is proved, see :func:`plus_coverage` and, for groups,
        :func:`hierarchical_plus_coverage`.

    See Also
    --------
    SplitConformalRegressor : One fit and the full level, for fewer training rows.
    JackknifeAfterBootstrapRegressor : The same idea at the price of one bagged ensemble.
    corollary.certificates.coverage_certificates : What its rows prove about the misses to come.

    Notes
    -----
    Guarantee: for exchangeable rows and a model that does not mind their order, an interval holds
    the target with probability at least ``guaranteed_coverage_``: about :math:`1 - 2\alpha`, not
    :math:`1 - \alpha`, and less with few folds. In practice coverage is near
    :math:`1 - \alpha` unless the model is unstable. Both are simulated in
    ``tests/guarantees/conformal.py`` and ``tests/conformal/test_cv_plus.py``.

    Rows that come in groups, given to ``fit`` as `groups`: folds are of whole groups, dealt without
    regard to their sizes, "loo" leaves one group out at a time, and the rows of a group weigh as
    much as one. If groups are exchangeable, a row drawn from a new group is covered with
    probability at least ``guaranteed_coverage_``. No group is spent on calibration, so that nine
    are enough for intervals at 90%. Simulated in ``tests/guarantees/conformal.py``.

    Predicting m rows takes memory for m times K predictions at most, in blocks, never for m
    times n numbers, except that "loo" has n models.

    References
    ----------
    Barber, R. F., Candes, E. J., Ramdas, A. and Tibshirani, R. J. (2021). Predictive inference
    with the jackknife+. Annals of Statistics 49.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from corollary.conformal import CVPlusRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(1, 5, size=(400, 1))
    >>> y = 2 * X[:, 0] + rng.normal(size=400)
    >>> model = CVPlusRegressor(LinearRegression(), random_state=0).fit(X, y)
    >>> model.predict_interval([[2.0]]).round(1)
    array([[2.4, 5.7]])
    >>> round(model.guaranteed_coverage_, 3)
    0.786
    """

    _: KW_ONLY
    cv: CountFromTwo | Literal["loo"] = 10
    n_jobs: int | None = None
    random_state: RandomSeed = None

    models_: list[Any] = fitted(List(Instance("predict")))
    fold_sizes_: np.ndarray = fitted(Array("i", "k", low=0))
    weights_: Any = fitted(Optional(Array("f", "n", low=0)))
    training_groups_: Any = fitted(Optional(Array("u", "*")))

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Fit a model for each fold, and one to all rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows, passed to the model as they come.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of rows in the fits of all models. Every residual counts once. The guarantee
            needs weights that belong to their rows, so that rows with them are exchangeable.
        groups : array-like of shape (n_samples,) or None, default=None
            Group of each row, such as the owner of several, if rows of one group resemble each
            other. The promise is then about a row of a new group.

        Returns
        -------
        self : CVPlusRegressor
            The fitted estimator.

        Raises
        ------
        ValueError
            If there are fewer rows or groups than folds, or the model takes no weights.
        """
        y = self._check_pair(X, y)
        weight = check_training_weights(sample_weight, y)
        (X,) = indexable(X)  # sparse formats without rows, and objects that only become arrays
        rng = check_random_state(self.random_state)
        units, weights = np.arange(len(y)), None
        if groups is not None:
            groups = check_groups(groups, len(y), who=f"The 'groups' of {type(self).__name__}")
            units, sizes = numbers_of_groups(groups, len(y), type(self).__name__)
            weights = 1.0 / sizes[units]
        n_units = int(units.max()) + 1
        folds = self._deal(units, n_units, rng)
        training = self._training(X, y, weight, rng)
        self.estimator_ = training.fit(self.estimator)
        results = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_fold)(training, self.estimator, kept, left) for kept, left in folds
        )
        self.models_ = [model for model, _, _ in results]
        self.fold_sizes_ = np.array([len(residuals) for _, residuals, _ in results])
        self.residuals_ = np.concatenate([residuals for _, residuals, _ in results])
        if not np.isfinite(self.residuals_).all():
            raise ValueError(
                "CVPlusRegressor got predictions that are not finite numbers from "
                f"{type(self.estimator).__name__}."
            )
        self.weights_, self.training_groups_ = None, None
        self.guaranteed_coverage_ = plus_coverage(n_units, len(folds), self.confidence)
        if weights is not None:
            self.weights_ = weights[np.concatenate([rows for _, _, rows in results])]
            self.training_groups_ = np.unique(hash_labels(groups))
            self.guaranteed_coverage_ = hierarchical_plus_coverage(
                n_units, len(folds), self.confidence
            )
        self._warn_if_too_few(self.confidence)
        return self

    def _deal(
        self, units: np.ndarray, n_units: int, rng: np.random.RandomState
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Deal units to folds; return the rows that each fold keeps and leaves out."""
        from sklearn.model_selection import KFold

        n_folds = n_units if self.cv == "loo" else int(self.cv)
        if not 2 <= n_folds <= n_units:
            kind = "rows" if n_units == len(units) else "groups"
            raise ValueError(
                f"CVPlusRegressor needs at least {max(2, n_folds)} {kind}, one for each fold. Got "
                f"n_samples={len(units)} in {n_units} {kind}; give more {kind} or lower 'cv'."
            )
        # Sizes must not decide where a group goes: the new one is exchangeable with all of them.
        folds = KFold(n_folds, shuffle=True, random_state=rng).split(np.arange(n_units))
        left = [np.isin(units, fold) for _, fold in folds]
        return [(np.flatnonzero(~rows), np.flatnonzero(rows)) for rows in left]

    def _warn_if_too_few(self, level: float) -> None:
        groups, n, kind = self.training_groups_, len(self.residuals_), "rows"
        if groups is not None:
            n, kind = len(groups), "groups"
        warn_of_missing_rows(type(self).__name__, n, level, rows=kind)

    def predict_interval(self, X: Any, *, confidence: float | None = None) -> np.ndarray:
        """Predict an interval for each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows, passed to the models as they come.
        confidence : float or None, default=None
            Another level than that of the constructor, from the same models; what is proved of
            it says :func:`plus_coverage` or, for groups, :func:`hierarchical_plus_coverage`.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2)
            Lower and upper ends, both included.
        """
        check_is_fitted(self)
        level = self._check_confidence(confidence)
        if level != self.confidence:
            self._warn_if_too_few(level)
        (X,) = indexable(X)
        n = count_rows(X)
        step = max(1, _BLOCK // len(self.models_))
        parts = []
        for i in range(0, max(n, 1), step):
            rows = X if n <= step else safe_indexing(X, np.arange(i, min(n, i + step)))
            parts.append(self._block(rows, level))
        return np.concatenate(parts)

    def knows_groups(self, groups: Any) -> np.ndarray | None:
        """Say which groups have rows among those that the wrapper was fitted on.

        Parameters
        ----------
        groups : array-like of shape (n_samples,)
            Group of each row, as they were given to ``fit``; a number and its text are the same.

        Returns
        -------
        known : ndarray of bool of shape (n_samples,) or None
            True for groups that were fitted on: the promise about new groups does not speak of
            their rows. None if it was fitted without groups.
        """
        check_is_fitted(self)
        if self.training_groups_ is None:
            return None
        labels = check_groups(groups, count_rows(groups), who="CVPlusRegressor.knows_groups")
        return np.isin(hash_labels(labels), self.training_groups_)

    def calibration_folds(self) -> CalibrationFolds | None:
        """Say how many rows each model left out, and which rank makes the ends of intervals.

        Returns
        -------
        folds : CalibrationFolds or None
            At `confidence`; None if ``fit`` was given groups, whose rows are not drawn alike.
        """
        check_is_fitted(self)
        if self.training_groups_ is not None:
            return None
        level = self._check_confidence(None)
        return CalibrationFolds(
            self.fold_sizes_,
            rank_of_level(len(self.residuals_), level),
            smallest_finite_size(level),
        )

    def _fits_together(self) -> str | None:
        models, sizes, residuals = self.models_, self.fold_sizes_, self.residuals_
        if len(sizes) != len(models) or sizes.sum() != len(residuals):
            return "its folds do not fit its residuals"
        if any(is_classifier(model) for model in (*models, self.estimator_)):
            return "its models are not regressors"
        if not len(models) or not np.isfinite(residuals).all() or (residuals < 0).any():
            return "a residual is not a number"
        for part in np.split(residuals, np.cumsum(sizes)[:-1]):
            if np.any(part[1:] < part[:-1]):
                return "its residuals are not sorted"
        groups, weights = self.training_groups_, self.weights_
        if (groups is None) != (weights is None):
            return "it has groups or weights, but not both"
        if groups is not None and not np.isclose(weights.sum(), len(groups)):
            return "its weights are not those of its groups"
        return None

    @classmethod
    def _from_former(cls, parameters: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
        """Give the state of a file written before groups what it had without saying."""
        return state | dict.fromkeys(("weights_", "training_groups_")) | state if state else state

    def _block(self, X: Any, level: float) -> np.ndarray:
        rows = Rows(type(self).__name__, self.estimator_, X)
        said = np.column_stack([rows.predict(model) for model in self.models_])
        self._warn_of_unknown(said)
        if self.weights_ is not None:
            return grouped_ends(said, self.residuals_, self.fold_sizes_, self.weights_, level)
        return interval_ends(said, self.residuals_, self.fold_sizes_, level)


def _fit_fold(
    training: Training, estimator: Any, kept: np.ndarray, left: np.ndarray
) -> tuple[Any, np.ndarray, np.ndarray]:
    """Fit a copy of the model to some rows; return it, the residuals of the others and these."""
    model = training.of(kept).fit(estimator)
    said = Rows(training.who, model, safe_indexing(training.X, left)).predict(model)
    residuals = np.abs(training.y[left] - said)
    order = np.argsort(residuals, kind="stable")
    return model, residuals[order], left[order]
