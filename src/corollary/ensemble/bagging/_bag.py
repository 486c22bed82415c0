"""What bags for labels and for numbers have in common: drawing, fitting, out-of-bag rows."""

import warnings
from abc import ABC, abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.utils import (
    check_consistent_length,
    check_random_state,
    column_or_1d,
    get_tags,
    indexable,
)
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import (
    assert_all_finite,
    check_is_fitted,
    validate_data,
)

from corollary.core.compat import HasMethods, Interval, check_sample_weight, safe_indexing
from corollary.core.estimator import MetaEstimator, clear_errors, takes_weights
from corollary.core.schema import (
    Array,
    Instance,
    Integer,
    List,
    Number,
    Optional,
    Size,
    Spec,
    Strings,
)
from corollary.ensemble._members import label_codes, make_member, note_rows
from corollary.ensemble.bagging._warm_start import check_same_rows, earlier_fit, settings_of
from corollary.ensemble.bagging.bootstrap import bootstrap_counts, generators, number_of_draws

_FRACTION = [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="right")]

#: What a fitted bag has.
FITTED_BAG: dict[str, Spec] = {
    "estimator_": Instance("fit", "predict"),
    "estimators_": List(Instance("fit", "predict"), "b"),
    "estimators_features_": List(Array("i", "*", low=0), "b"),
    "n_samples_": Integer(1, 2**31),
    "seed_": Integer(0, 2**31),
    "bag_weight_": Optional(Array("f", "n", low=0)),
    "oob_score_": Optional(Number(nan=True)),
    "settings_": Optional(Strings("*")),
    "n_features_in_": Size("d"),
    "feature_names_in_": Optional(Strings("d")),
    "fingerprint_": Optional(Instance("merge", "overlap")),
}


def bag_fits(model: Any) -> str | None:
    """Say what is wrong between a loaded bag and its members, or None."""
    kind = is_classifier if hasattr(model, "classes_") else is_regressor
    if not model.estimators_:
        return "a bag needs members"
    for member, columns in zip(model.estimators_, model.estimators_features_):
        if not kind(member):
            return f"a member is not a {kind.__name__[3:]}"
        check_is_fitted(member)
        if not len(columns) or columns.max() >= model.n_features_in_:
            return "a member uses columns that do not exist"
        if getattr(member, "n_features_in_", len(columns)) != len(columns):
            return "a member has other columns"
        if hasattr(model, "classes_"):
            label_codes(type(model).__name__, model.classes_, member.classes_)
    for name in ("oob_decision_function_", "oob_prediction_", "bag_weight_"):
        if getattr(model, name, None) is not None and len(getattr(model, name)) != model.n_samples_:
            return f"{name} does not fit the number of rows"
    return None


class BaseBagging(MetaEstimator, BaseEstimator, ABC):
    """Abstract bag; subclasses say how answers are combined."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "max_samples": [*_FRACTION, None],
        "max_features": _FRACTION,
        "bootstrap": ["boolean"],
        "bootstrap_features": ["boolean"],
        "oob_score": ["boolean"],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    estimators_: list[Any]
    estimators_features_: list[np.ndarray]

    @abstractmethod
    def _default(self) -> Any:
        """Return the estimator to bag if none is given."""

    @abstractmethod
    def _answers(self, member: Any, X: Any) -> np.ndarray:
        """Return what a member says of rows, of shape (n_samples, n_outputs)."""

    @abstractmethod
    def _keep_out_of_bag(self, mean: np.ndarray, known: np.ndarray, y: np.ndarray) -> None:
        """Store out-of-bag predictions and their score."""

    def _fit_bag(self, X: Any, y: Any, sample_weight: Any) -> None:
        who = type(self).__name__
        if self.oob_score and not self.bootstrap:
            raise ValueError(
                "Out-of-bag predictions need rows that members have not seen. "
                "Set bootstrap=True or oob_score=False."
            )
        earlier = earlier_fit(self, "estimators_")
        X, y, weight = self._check_rows(X, y, sample_weight)
        self.n_samples_ = len(y)
        check_same_rows(self, earlier, weight)
        self.estimator_ = self._default() if self.estimator is None else self.estimator
        kind = is_classifier if is_classifier(self) else is_regressor
        if not kind(self.estimator_):
            raise ValueError(
                f"{who} needs a {kind.__name__[3:]} as estimator. "
                f"{type(self.estimator_).__name__} is not one."
            )
        if earlier is None:
            self.seed_ = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.settings_ = settings_of(self)
        for name in ("bag_weight_", "oob_score_", "oob_decision_function_", "oob_prediction_"):
            self.__dict__.pop(name, None)
        if weight is not None:
            self.bag_weight_ = weight
        seeds = generators(self.seed_, self.n_estimators)
        results: list[tuple[Any, np.ndarray, np.ndarray]] = []
        if earlier is not None:
            known = zip(self.estimators_, self.estimators_features_, seeds)
            results = [(member, columns, self._draw(seed)[1]) for member, columns, seed in known]
        results += Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(self._fit_one)(seed, X, y) for seed in seeds[len(results) :]
        )
        self.estimators_ = [member for member, _, _ in results]
        self.estimators_features_ = [columns for _, columns, _ in results]
        if not self.oob_score:
            return
        sums: Any = 0.0
        seen = np.zeros(self.n_samples_, dtype=np.int64)
        for member, columns, counts in results:
            left_out = np.flatnonzero(counts == 0)
            if not len(left_out):
                continue
            rows = self._columns(safe_indexing(X, left_out), columns)
            answers = self._answers(member, rows)
            whole = np.zeros((self.n_samples_, answers.shape[1]))
            whole[left_out] = answers
            sums = sums + whole
            seen[left_out] += 1
        if not seen.all():
            warnings.warn(
                f"{int((seen == 0).sum())} rows were seen by all {self.n_estimators} members and "
                "have no out-of-bag prediction. Raise n_estimators.",
                stacklevel=4,
            )
        if not seen.any():
            raise ValueError("No member has rows that it has not seen. Raise n_estimators.")
        with np.errstate(invalid="ignore"):
            self._keep_out_of_bag(sums / seen[:, None], seen > 0, y)

    def _check_rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, Any]:
        """Check targets and weights, and remember the rows; members check X."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        (X,) = indexable(X)
        X = X if hasattr(X, "shape") else np.asarray(X)
        self._check_two_dimensional(X)
        check_consistent_length(X, y)
        y = column_or_1d(y, warn=True)
        if is_classifier(self):
            if y.dtype.kind == "f":
                assert_all_finite(y, input_name="y")
            check_classification_targets(y)
            self.classes_ = np.unique(y)
            self.n_classes_ = len(self.classes_)
        else:
            with clear_errors(self, None, y):
                y = y.astype(np.float64)
            assert_all_finite(y, input_name="y")
        note_rows(self, X)
        if sample_weight is not None:
            sample_weight = check_sample_weight(
                sample_weight, y, dtype=np.float64, ensure_non_negative=True
            )
            if not sample_weight.any():
                raise ValueError(
                    f"{type(self).__name__} needs a row of positive weight. All weights are zero."
                )
        return X, y, sample_weight

    def _inner(self) -> dict[str, Any]:
        return {"estimator": self._default() if self.estimator is None else self.estimator}

    def _check_two_dimensional(self, X: Any) -> None:
        if getattr(X, "ndim", 2) == 1:
            raise ValueError(
                f"{type(self).__name__} needs rows of shape (n_samples, n_features). Got a 1D "
                "array instead. Reshape your data with X.reshape(1, -1) if it is a single row."
            )

    def _draw(self, seed: Any) -> tuple[np.random.Generator, np.ndarray]:
        random = np.random.Generator(np.random.PCG64(seed))
        n_draws = number_of_draws(self.max_samples, self.n_samples_)
        counts = bootstrap_counts(
            self.n_samples_,
            n_draws,
            random,
            sample_weight=getattr(self, "bag_weight_", None),
            replace=self.bootstrap,
        )
        return random, counts

    def _fit_one(self, seed: Any, X: Any, y: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
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
        mine = self._columns(safe_indexing(X, rows), columns)
        if weighs:
            member.fit(mine, y[rows], sample_weight=counts[rows].astype(np.float64))
        else:
            member.fit(mine, y[rows])
        return member, columns, counts

    def _columns(self, X: Any, columns: np.ndarray) -> Any:
        whole = len(columns) == self.n_features_in_ and (np.diff(columns) == 1).all()
        return X if whole else safe_indexing(X, columns, axis=1)

    def _mean(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        self._check_two_dimensional(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        X = X if hasattr(X, "shape") else np.asarray(X)
        answers = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(self._answers)(member, self._columns(X, columns))
            for member, columns in zip(self.estimators_, self.estimators_features_)
        )
        total = answers[0]
        for more in answers[1:]:
            total = total + more
        return total / len(answers)

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """Rows drawn for each member, repeated as often as they were drawn."""
        check_is_fitted(self)
        rows, found = np.arange(self.n_samples_), []
        for seed in generators(self.seed_, len(self.estimators_)):
            found.append(np.repeat(rows, self._draw(seed)[1]))
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._default() if self.estimator is None else self.estimator).input_tags
        tags.input_tags.sparse = inner.sparse
        tags.input_tags.allow_nan = inner.allow_nan
        return tags
