"""What ensembles of any estimators share: making members, weighting them, reading their labels."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import check_consistent_length, column_or_1d, get_tags, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    assert_all_finite,
    check_array,
    check_is_fitted,
    validate_data,
)

from corollary.core.compat import check_sample_weight, fit_context
from corollary.core.estimator import Learner, MetaEstimator, clear_errors, remember_rows

_SEED_RANGE = 2**31 - 1


class FollowsMember(MetaEstimator):
    """Takes rows of the kinds that its base learner ``estimator`` takes; None takes plain ones."""

    estimator: Any

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit base learners, one after the other.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Training rows; sparse only if the base learner takes them.
        y : array-like of shape (n_samples,)
            Their targets or labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative weights.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        self._fit_rounds(X, y, sample_weight)
        return self

    @abstractmethod
    def _fit_rounds(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Check rows and fit base learners to them."""

    def _kept(self, X: Any, y: np.ndarray, w: np.ndarray | None) -> tuple[Any, np.ndarray, Any]:
        """Leave out rows of weight zero."""
        if w is None or (w > 0).all():
            return X, y, w
        return X[w > 0], y[w > 0], w[w > 0]

    def _row_checks(self) -> dict[str, Any]:
        if self.estimator is None:
            return {}
        tags = get_tags(self.estimator).input_tags
        return {
            "accept_sparse": ["csr", "csc"] if tags.sparse else False,
            "ensure_all_finite": "allow-nan" if tags.allow_nan else True,
        }


class MemberSequence:
    """An ensemble whose fitted members can be counted, picked and gone through."""

    estimators_: Any

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, index: Any) -> Any:
        return self.estimators_[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)


class MemberEnsemble(MetaEstimator, Learner):
    """An ensemble of estimators that take rows as they come, and check them themselves."""

    classes_: np.ndarray  # of classifiers

    def _check_rows(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """Check targets and weights, set ``classes_``, and remember the rows."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        if getattr(X, "format", None) != "csc":  # which members may take as it is
            (X,) = indexable(X)
        self._require_table(X)
        check_consistent_length(X, y)
        y = column_or_1d(y, warn=True)
        if is_classifier(self):
            self._check_labels(y)
            self.classes_ = np.unique(y)
        else:
            with clear_errors(self, None, y):
                y = y.astype(np.float64)
            assert_all_finite(y, input_name="y")
        note_rows(self, X)
        if sample_weight is not None:
            sample_weight = check_sample_weight(
                sample_weight, y, dtype=np.float64, ensure_non_negative=True
            )
        return X, y, sample_weight

    def _check_labels(self, y: np.ndarray) -> None:
        if y.dtype.kind == "f":
            assert_all_finite(y, input_name="y")
        is_text = [isinstance(label, str) for label in y.tolist()] if y.dtype == object else []
        if any(is_text) and not all(is_text):
            raise ValueError(
                f"{type(self).__name__} needs labels of one kind, none of them missing. Got "
                f"{y[is_text.index(False)]!r} among text in y."
            )
        check_classification_targets(y)

    def _new(self, X: Any) -> Any:
        check_is_fitted(self)
        self._require_table(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return X

    def _require_table(self, X: Any) -> None:
        if getattr(X, "ndim", 2) == 1:
            raise ValueError(
                f"{type(self).__name__} needs rows of shape (n_samples, n_features). Got a 1D "
                "array instead. Reshape your data with X.reshape(1, -1) if it is a single row."
            )


def make_member(template: Any, random: np.random.RandomState) -> Any:
    """Clone an estimator and give it, and all inside it, seeds of their own."""
    member = clone(template)
    names = sorted(
        name
        for name in member.get_params(deep=True)
        if name == "random_state" or name.endswith("__random_state")
    )
    return member.set_params(**{name: int(random.randint(_SEED_RANGE)) for name in names})


def label_codes(who: str, classes: np.ndarray, labels: Any) -> np.ndarray:
    """Return the position of every label among the classes."""
    labels = np.asarray(labels)
    if labels.dtype.kind == classes.dtype.kind and labels.dtype.kind in "biufU" and len(classes):
        codes = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
        if np.array_equal(classes[codes], labels):
            return codes
    # Labels of another kind (2.0 for 2), or unknown ones: look each up.
    code_of = {label: code for code, label in enumerate(classes.tolist())}
    distinct, inverse = np.unique(labels, return_inverse=True)
    strangers = [label for label in distinct.tolist() if label not in code_of]
    if strangers:
        raise ValueError(
            f"A member of {who} predicts the label {strangers[0]!r}, which is not among its "
            f"classes {classes.tolist()[:5]}."
        )
    table = np.array([code_of[label] for label in distinct.tolist()], dtype=np.intp)
    return table[inverse.ravel()].reshape(labels.shape)


def aligned_probabilities(who: str, classes: np.ndarray, member: Any, X: Any) -> np.ndarray:
    """Return a member's probabilities with one column per class of the ensemble."""
    probabilities = np.asarray(member.predict_proba(X), dtype=float)
    codes = label_codes(who, classes, member.classes_)
    if probabilities.ndim != 2 or probabilities.shape[1] != len(codes):
        raise ValueError(
            f"A member of {who} gives probabilities of shape {probabilities.shape} for "
            f"{len(codes)} classes."
        )
    table = np.zeros((len(probabilities), len(classes)))
    table[:, codes] = probabilities
    return table


def winners(shares: np.ndarray) -> np.ndarray:
    """Return the first column that holds the largest share, up to rounding."""
    slack = 1e-12 * np.abs(shares).sum(axis=1, keepdims=True)
    return (shares >= shares.max(axis=1, keepdims=True) - slack).argmax(axis=1)


def note_rows(estimator: Any, X: Any) -> None:
    """Remember columns and rows of training data that members take as they come."""
    with clear_errors(estimator, X):
        validate_data(estimator, X, skip_check_array=True)
    if not (X.shape[0] if hasattr(X, "shape") else len(X)):
        raise ValueError(f"{type(estimator).__name__} needs at least one row. Got none.")
    vars(estimator).pop("fingerprint_", None)
    try:
        rows = check_array(X, dtype=np.float64, accept_sparse="csr", ensure_all_finite=False)
    except (TypeError, ValueError):
        return  # text and other things have no fingerprint
    remember_rows(estimator, rows)


def members_fit(model: Any, *, regressors: bool = False) -> str | None:
    """Say what is wrong between a loaded ensemble and its members, or None."""
    kind = is_classifier if hasattr(model, "classes_") else is_regressor
    for member in model.estimators_:
        if not (kind(member) or (regressors and is_regressor(member))):
            return f"a member is not a {kind.__name__[3:]}"
        check_is_fitted(member)
        if getattr(member, "n_features_in_", model.n_features_in_) != model.n_features_in_:
            return "a member has other columns"
        if hasattr(model, "classes_") and is_classifier(member):
            label_codes(type(model).__name__, model.classes_, member.classes_)
    return None
