"""What members of a stack say of rows, above all of rows that they have not seen."""

from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from corollary.core.compat import safe_indexing
from corollary.ensemble._members import aligned_probabilities, label_codes


def fold_predictions(
    who: str,
    member: Any,
    method: str,
    data: tuple[Any, np.ndarray, dict[str, np.ndarray]],
    fold: tuple[Any, Any],
    classes: Any,
) -> np.ndarray:
    """Fit a clone on some rows, with its keywords of fit, and predict others."""
    X, y, keywords = data
    train, held_out = fold
    part = {name: values[train] for name, values in keywords.items()}
    fitted = clone(member).fit(safe_indexing(X, train), y[train], **part)
    return member_columns(who, fitted, method, safe_indexing(X, held_out), classes)


def member_columns(who: str, member: Any, method: str, X: Any, classes: Any) -> np.ndarray:
    """Return what a fitted member contributes to the stack."""
    if method == "predict_proba":
        return aligned_probabilities(who, classes, member, X)
    values = np.asarray(getattr(member, method)(X))
    if classes is not None and method == "predict" and is_classifier(member):
        values = label_codes(who, classes, values)
    if values.dtype.kind not in "biuf":
        raise ValueError(f"A member of {who} must predict numbers. Got dtype {values.dtype}.")
    values = values.astype(float)
    if classes is not None and method == "decision_function":
        n_seen = len(member.classes_)
        if n_seen != len(classes):
            raise ValueError(
                f"A member of {who} saw {n_seen} of {len(classes)} classes in a fold, so its "
                "scores cannot be compared. Use stratified folds, or a member with predict_proba."
            )
    return values.reshape(len(values), -1)
