"""What ensembles of any estimators share: making members, weighting them, reading their labels."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_array, validate_data

from corollary.core.estimator import clear_errors, remember_rows

_SEED_RANGE = 2**31 - 1


class FollowsMember:
    """Takes rows of the kinds that its base learner ``estimator`` takes; None takes plain ones."""

    estimator: Any

    def _input_checks(self) -> dict[str, Any]:
        if self.estimator is None:
            return {}
        tags = get_tags(self.estimator).input_tags
        return {
            "accept_sparse": ["csr", "csc"] if tags.sparse else False,
            "ensure_all_finite": "allow-nan" if tags.allow_nan else True,
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        if self.estimator is not None:
            inner = get_tags(self.estimator).input_tags
            tags.input_tags.sparse = inner.sparse
            tags.input_tags.allow_nan = inner.allow_nan
        return tags


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
    known = {label: code for code, label in enumerate(classes.tolist())}
    distinct, inverse = np.unique(labels, return_inverse=True)
    strangers = [label for label in distinct.tolist() if label not in known]
    if strangers:
        raise ValueError(
            f"A member of {who} predicts the label {strangers[0]!r}, which is not among its "
            f"classes {classes.tolist()[:5]}."
        )
    table = np.array([known[label] for label in distinct.tolist()], dtype=np.intp)
    return table[inverse.ravel()].reshape(labels.shape)


def aligned_probabilities(who: str, classes: np.ndarray, member: Any, X: Any) -> np.ndarray:
    """Return a member's probabilities with one column per class of the ensemble."""
    given = np.asarray(member.predict_proba(X), dtype=float)
    codes = label_codes(who, classes, member.classes_)
    if given.ndim != 2 or given.shape[1] != len(codes):
        raise ValueError(
            f"A member of {who} gives probabilities of shape {given.shape} for {len(codes)} "
            "classes."
        )
    table = np.zeros((len(given), len(classes)))
    table[:, codes] = given
    return table


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


def members_fit(model: Any) -> str | None:
    """Say what is wrong between a loaded ensemble and its members, or None."""
    from sklearn.base import is_classifier, is_regressor
    from sklearn.utils.validation import check_is_fitted

    kind = is_classifier if hasattr(model, "classes_") else is_regressor
    for member in model.estimators_:
        if not kind(member):
            return f"a member is not a {kind.__name__[3:]}"
        check_is_fitted(member)
        if getattr(member, "n_features_in_", model.n_features_in_) != model.n_features_in_:
            return "a member has other columns"
        if hasattr(model, "classes_"):
            label_codes(type(model).__name__, model.classes_, member.classes_)
    return None
