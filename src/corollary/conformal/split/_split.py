"""Split conformal wrappers: some rows train the models, the others calibrate them."""

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state, indexable
from sklearn.utils.validation import check_is_fitted

from corollary.conformal._checks import check_groups, check_moments, count_rows
from corollary.conformal._fitting import Rows, check_training_weights
from corollary.conformal._groups import hash_labels
from corollary.conformal.split._calibrated import CalibratedWrapper, Exchangeable
from corollary.conformal.split._files import calibration_problem
from corollary.conformal.split._sides import Sides, cut_time, deal_groups, deal_rows
from corollary.core.compat import fit_context, safe_indexing
from corollary.core.estimator import Count, Probability, fitted
from corollary.core.guard import refuse_training_rows
from corollary.core.schema import Array, Optional


class SplitConformal(CalibratedWrapper):
    """Fit on some rows or adopt fitted models, and calibrate on rows that they have not seen."""

    _: KW_ONLY
    prefit: bool = False
    calibration_size: Probability | Count = 0.25

    training_groups_: Any = fitted(Optional(Array("u", "*")))

    def _inner(self) -> dict[str, Any]:
        return {"estimator": self.estimator} | self._score().models()

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, time: Any = None
    ) -> Self:
        """Train on some rows and calibrate on the others.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows, passed to the models as they come.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of rows in the fits of all models. Calibration counts every row once, or by
            `likelihood_ratio`: a weight that makes a model better says nothing of how often a
            new row resembles this one.
        groups : array-like of shape (n_samples,) or None, default=None
            Group of each row, such as the owner of several, if rows of one group resemble each
            other. Whole groups train or calibrate, `calibration_size` being a share or number of
            groups, and the promise is about rows of new groups: one or all of them, see `covers`
            and :func:`hierarchical_quantile`.
        time : array-like of shape (n_samples,) or None, default=None
            Moment of each row, as a number or a date, if rows change with time. The latest rows
            calibrate. Nothing is promised for rows to come: the intervals or sets hold as often
            as wanted only while rows stay like those. :class:`AdaptiveThreshold` follows a drift
            where the truth becomes known after each row.

        Returns
        -------
        self : estimator
            The fitted estimator.

        Raises
        ------
        ValueError
            If a model takes no weights, or `prefit` leaves none to be trained; or if a fitted
            model remembers having been trained on some of the rows.
        """
        y = self._check_pair(X, y, finite=not self.prefit)
        weight = check_training_weights(sample_weight, y)
        groups = self._check_groups(groups, len(y))
        if groups is not None and time is not None:
            raise ValueError(
                f"{type(self).__name__} splits by groups or by time. Got both; give the one that "
                "new rows will differ in."
            )
        if time is not None:
            time = check_moments(time, len(y), who=f"The 'time' of {type(self).__name__}")
        exchangeable: Exchangeable = "rows" if time is None else "nothing"
        if groups is not None:
            exchangeable = "groups"
        if self.prefit:
            if weight is not None:
                raise ValueError(
                    f"{type(self).__name__} with prefit=True trains no model, so that "
                    "sample_weight would have no effect. Give it to the fit of the model; for "
                    "covariate shift, pass weights to calibrate and to the prediction."
                )
            return self._adopt_and_calibrate(X, y, None, groups, exchangeable)
        rng = check_random_state(self.random_state)
        train, kept = self._split(len(y), groups, time, rng)
        (X,) = indexable(X)  # sparse formats without rows, and objects that only become arrays
        training = self._training(X, y, weight, rng)._replace(groups=groups).of(train)
        self.estimator_, self.conformity_score_ = self._score().fit(self.estimator, training)
        self.conformity_score_.check_models(self._rows(X))
        self.exchangeable_, self.training_groups_ = exchangeable, None
        if groups is not None:
            self.training_groups_, groups = np.unique(hash_labels(groups[train])), groups[kept]
        self._calibrate(safe_indexing(X, kept), y[kept], rng, None, groups)
        return self

    def _split(self, n: int, groups: Any, time: Any, rng: np.random.RandomState) -> Sides:
        """Return the numbers of the rows that train and of those that calibrate."""
        size, who = self.calibration_size, type(self).__name__
        if groups is not None:
            return deal_groups(groups, size, rng, who)
        return deal_rows(n, size, rng, who) if time is None else cut_time(time, size, who)

    def _check_groups(self, groups: Any, n_rows: int, weights: Any = None) -> np.ndarray | None:
        """Return the group of each row as an array, or say why there cannot be any."""
        if groups is None:
            return None
        who = type(self).__name__
        if weights is not None or self.likelihood_ratio is not None:
            raise ValueError(
                f"{who} weighs calibration rows by their groups or by a density ratio. Got both; "
                "no theorem covers them together, so leave out one."
            )
        if self.covers == "group" and (self._row_partition() is not None or self._by_class()):
            raise ValueError(
                f"{who} with covers='group' needs one threshold for all rows of a group. Got a "
                "partition into several; leave it out, or ask for covers='row'."
            )
        return check_groups(groups, n_rows, who=f"The 'groups' of {who}")

    @fit_context(prefer_skip_nested_validation=False)
    def calibrate(self, X: Any, y: Any, *, weights: Any = None, groups: Any = None) -> Self:
        """Calibrate on rows that the model was not trained on, in place of earlier ones.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Calibration rows, passed to the model as they come.
        y : array-like of shape (n_samples,)
            Their targets.
        weights : array-like of shape (n_samples,) or None, default=None
            Density ratio of new rows to these, in place of `likelihood_ratio`; predictions then
            need weights too.
        groups : array-like of shape (n_samples,) or None, default=None
            Group of each row, as in ``fit``; none of those that trained.

        Returns
        -------
        self : estimator
            The same object.

        Raises
        ------
        ValueError
            If the model remembers having been trained on some of the rows or of their groups.
        """
        y = self._check_pair(X, y, finite=False)
        groups = self._check_groups(groups, len(y), weights)
        # That rows change with time does not end with the rows that were fitted to.
        drifts = vars(self).get("exchangeable_") == "nothing"
        exchangeable: Exchangeable = "nothing" if drifts else "rows"
        if groups is not None:
            exchangeable = "groups"
        if self.prefit:
            return self._adopt_and_calibrate(X, y, weights, groups, exchangeable)
        check_is_fitted(self)
        for model in [self.estimator_, *self.conformity_score_.models().values()]:
            self._refuse_training_rows(model, X)
        self._refuse_training_groups(groups)
        self.exchangeable_ = exchangeable
        self._calibrate(X, y, check_random_state(self.random_state), weights, groups)
        return self

    def _adopt_and_calibrate(
        self,
        X: Any,
        y: np.ndarray,
        weights: Any,
        groups: np.ndarray | None,
        exchangeable: Exchangeable,
    ) -> Self:
        """Calibrate models that were fitted before."""
        score = self._score()
        for model in [self.estimator, *score.models().values()]:
            self._require_fitted_model(model)
            self._refuse_training_rows(model, X)
        score.check_models(Rows(type(self).__name__, self.estimator, X))
        self.estimator_, self.conformity_score_ = self.estimator, score
        self.exchangeable_, self.training_groups_ = exchangeable, None
        self._calibrate(X, y, check_random_state(self.random_state), weights, groups)
        return self

    def _require_fitted_model(self, model: Any) -> None:
        """Raise if a model was said to be fitted and is not."""
        try:
            check_is_fitted(model)
        except NotFittedError:
            raise NotFittedError(
                f"{type(self).__name__} with prefit=True needs fitted models, and this "
                f"{type(model).__name__} is not fitted yet. Fit it first, or pass prefit=False."
            ) from None

    def _refuse_training_rows(self, model: Any, X: Any) -> None:
        """Raise if a model remembers having been trained on some of the rows."""
        refuse_training_rows(
            model,
            X,
            who=f"Calibrating {type(self).__name__}",
            repair="Scores of training rows are too small: calibrate on rows kept aside.",
        )

    def _refuse_training_groups(self, groups: np.ndarray | None) -> None:
        """Raise if rows belong to groups that trained, or if it cannot be told."""
        if self.training_groups_ is None:
            return
        who = f"Calibrating {type(self).__name__}, which was trained on groups,"
        if groups is None:
            raise ValueError(f"{who} needs groups of the calibration rows. Got none; pass them.")
        seen = np.isin(hash_labels(groups), self.training_groups_)
        if seen.any():
            raise ValueError(
                f"{who} needs rows of other groups. Got {int(seen.sum())} of {len(groups)} rows of "
                f"groups that trained it (such as {groups[seen].tolist()[0]!r}); leave these out."
            )

    def knows_groups(self, groups: Any) -> np.ndarray | None:
        """Say which groups have rows among those that the wrapper was fitted on.

        Parameters
        ----------
        groups : array-like of shape (n_samples,)
            Group of each row, as they were given to ``fit``; a number and its text are the same.

        Returns
        -------
        known : ndarray of bool of shape (n_samples,) or None
            True for groups that trained or calibrated: the promise about new groups does not
            speak of their rows. None if it was fitted without groups.
        """
        check_is_fitted(self)
        memories = [self.training_groups_, self.calibration_groups_]
        memories = [hashes for hashes in memories if hashes is not None]
        if not memories:
            return None
        who = f"{type(self).__name__}.knows_groups"
        labels = check_groups(groups, count_rows(groups), who=who)
        return np.isin(hash_labels(labels), np.concatenate(memories))

    @classmethod
    def _from_former(cls, parameters: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
        """Give the state of a file written before groups, or scores, what it had without saying."""
        if not state:
            return state
        missing = ("weights_", "thresholds_", "calibrated_confidence_")
        nothing = dict.fromkeys((*missing, "training_groups_", "calibration_groups_"))
        state = state | {"exchangeable_": "rows"} | nothing | state  # in the order of the file
        if "conformity_score_" in state:
            return state
        return cls._with_score(cls(**parameters)._score(), state)

    @classmethod
    def _with_score(cls, score: Any, state: dict[str, Any]) -> dict[str, Any]:
        """Move what belonged to a score from a former state into it."""
        return state | {"conformity_score_": score}

    def _fits_together(self) -> str | None:
        return calibration_problem(self)
