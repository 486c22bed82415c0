"""What bags for labels and for numbers have in common: drawing, fitting, out-of-bag rows."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from corollary.core.compat import fit_context, safe_indexing
from corollary.core.estimator import (
    Count,
    NoEffect,
    Predictor,
    RandomSeed,
    Share,
    fitted,
    takes_weights,
)
from corollary.core.schema import Array, Instance, List, Nullable, Spec
from corollary.ensemble._members import MemberEnsemble, MemberSequence, label_codes, make_member
from corollary.ensemble.bagging._bootstrapped import Bootstrapped
from corollary.ensemble.bagging.bootstrap import number_of_draws


class BaseBagging(MemberSequence, MemberEnsemble, Bootstrapped):
    """Abstract bag; subclasses say how answers are combined."""

    estimator: Predictor | None = None
    n_estimators: Count = 10
    _: KW_ONLY
    max_samples: Count | Share | None = None
    max_features: Count | Share = 1.0
    bootstrap: bool = True
    bootstrap_features: bool = False
    oob_score: bool = False
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: RandomSeed = None
    verbose: NoEffect = 0

    estimator_: Any = fitted(Instance("fit", "predict"))
    estimators_: list[Any] = fitted(List(Instance("fit", "predict"), "b"))
    estimators_features_: list[np.ndarray] = fitted(List(Array("i", "*", low=0), "b"))

    _saved_parameters: ClassVar[dict[str, Spec]] = {
        "estimator": Nullable(Instance("fit", "predict", "get_params"))
    }

    @abstractmethod
    def _default(self) -> Any:
        """Return the estimator to bag if none is given."""

    @abstractmethod
    def _answers(self, member: Any, X: Any) -> np.ndarray:
        """Return what a member says of rows, of shape (n_samples, n_outputs)."""

    @abstractmethod
    def _keep_out_of_bag(self, mean: np.ndarray, answered: np.ndarray, y: np.ndarray) -> None:
        """Store out-of-bag predictions and their score."""

    # Members validate what concerns them: their parameters and the rows.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the members.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Training inputs, as the members take them.
        y : array-like of shape (n_samples,)
            Labels or numbers.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows: their chances to be drawn.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        earlier = self._begin()
        X, y, weight = self._check_rows(_as_table(X), y, sample_weight)
        if weight is not None and not weight.any():
            raise ValueError(
                f"{type(self).__name__} needs a row of positive weight. All weights are zero."
            )
        seeds = self._set_up_draws(earlier, weight, len(y))
        self.estimator_ = self._inner()["estimator"]
        kind, other = self._kinds()
        if other(self.estimator_):
            raise ValueError(
                f"{type(self).__name__} needs a {kind} as estimator. "
                f"{type(self.estimator_).__name__} is not one."
            )
        pairs = [] if earlier is None else list(zip(self.estimators_, self.estimators_features_))
        pairs += Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(self._fit_one)(seed, X, y) for seed in seeds[len(pairs) :]
        )
        self.estimators_ = [member for member, _ in pairs]
        self.estimators_features_ = [columns for _, columns in pairs]
        if self.oob_score:
            answers = self._answers_out_of_bag(X, seeds)
            mean, answered = self._average_out_of_bag(answers, self._n_outputs())
            if not answered.any():
                raise ValueError("No member has rows that it has not seen. Raise n_estimators.")
            self._keep_out_of_bag(mean, answered, y)
        return self

    def _answers_out_of_bag(
        self, X: Any, seeds: list[Any]
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the rows that each member has not seen and what it says of them."""
        for member, columns, seed in zip(self.estimators_, self.estimators_features_, seeds):
            left_out = np.flatnonzero(self._draw(seed)[1] == 0)
            if len(left_out):
                rows = self._columns(safe_indexing(X, left_out), columns)
                yield left_out, self._answers(member, rows)

    def _n_outputs(self) -> int:
        """Return how many numbers a member says of a row."""
        return 1

    def _inner(self) -> dict[str, Any]:
        return {"estimator": self._default() if self.estimator is None else self.estimator}

    def _kinds(self) -> tuple[str, Callable[[Any], bool]]:
        """Return what members are, and what tells that one is of the other kind."""
        if is_classifier(self):
            return "classifier", is_regressor
        return "regressor", is_classifier

    def _fit_one(self, seed: Any, X: Any, y: np.ndarray) -> tuple[Any, np.ndarray]:
        """Draw rows and columns, and fit a member to them."""
        random, counts = self._draw(seed)
        n_columns = number_of_draws(self.max_features, self.n_features_in_)
        columns = np.arange(self.n_features_in_)
        if self.bootstrap_features or n_columns < self.n_features_in_:
            columns = random.choice(columns, n_columns, replace=self.bootstrap_features)
        state = np.random.RandomState(int(random.integers(2**31 - 1)))
        member = make_member(self.estimator_, state)
        rows = np.flatnonzero(counts)
        weighs = takes_weights(member)
        if weighs and is_classifier(self) and len(np.unique(y[rows])) < len(self.classes_):
            # With weight zero the member still knows the classes that it has not drawn.
            rows = np.arange(len(y))
        if not weighs:
            rows = np.repeat(np.arange(len(y)), counts)
        drawn = self._columns(safe_indexing(X, rows), columns)
        if weighs:
            member.fit(drawn, y[rows], sample_weight=counts[rows].astype(np.float64))
        else:
            member.fit(drawn, y[rows])
        return member, columns

    def _columns(self, X: Any, columns: np.ndarray) -> Any:
        whole = len(columns) == self.n_features_in_ and (np.diff(columns) == 1).all()
        return X if whole else safe_indexing(X, columns, axis=1)

    def _new(self, X: Any) -> Any:
        return _as_table(super()._new(X))

    def _mean(self, X: Any) -> np.ndarray:
        answers = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(self._answers)(member, self._columns(X, columns))
            for member, columns in zip(self.estimators_, self.estimators_features_)
        )
        return sum(answers[1:], start=answers[0]) / len(answers)

    def _fits_together(self) -> str | None:
        kind, other = self._kinds()
        if not self.estimators_:
            return "a bag needs members"
        for member, columns in zip(self.estimators_, self.estimators_features_):
            if other(member):
                return f"a member is not a {kind}"
            check_is_fitted(member)
            if not len(columns) or columns.max() >= self.n_features_in_:
                return "a member uses columns that do not exist"
            if getattr(member, "n_features_in_", len(columns)) != len(columns):
                return "a member has other columns"
            if hasattr(self, "classes_"):
                label_codes(type(self).__name__, self.classes_, member.classes_)
        return self._draws_fit()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._inner()["estimator"]).input_tags
        tags.input_tags.sparse = inner.sparse
        tags.input_tags.allow_nan = inner.allow_nan
        return tags


def _as_table(X: Any) -> Any:
    return X if hasattr(X, "shape") else np.asarray(X)
