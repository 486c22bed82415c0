"""What conformal wrappers check of targets and predictions, and what they say of missing ones."""

import sys
import warnings
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.validation import assert_all_finite

from corollary.conformal._order import smallest_finite_size
from corollary.core.compat import is_missing

# Modules whose lines a user's warning does not point at.
_INSIDE = ("corollary.", "sklearn.")


def check_real_targets(y: Any, *, finite: bool = True) -> np.ndarray:
    """Return targets of a regressor as an array of floats, or say what is wrong with them."""
    y = check_one_target(y)
    if y.dtype.kind == "O":
        assert_all_finite(y, input_name="y")  # which knows more kinds of missing values
    numbers = as_numbers(y)
    if numbers is None:
        raise ValueError(
            f"The targets of prediction intervals must be real numbers. Got {y[0]!r} of type "
            f"{y.dtype}; for labels, use SplitConformalClassifier."
        )
    if finite:
        assert_all_finite(numbers, input_name="y")
    return numbers


def check_one_target(y: Any) -> np.ndarray:
    """Return targets as an array of one dimension, or say that they are several for each row."""
    if isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind != "c":
        return y
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if len(shape) == 2 and shape[1] > 1:
        raise ValueError(
            f"Conformal regions are of one target, and y should be a 1d array. Got shape {shape}; "
            "wrap a model of each column, at levels whose misses add up to the one wanted."
        )
    return column_or_1d(y, warn=True)


def count_rows(X: Any) -> int:
    """Return the number of rows of an array, a sparse matrix, a frame or a list."""
    if hasattr(X, "shape"):
        return X.shape[0]
    return len(X) if hasattr(X, "__len__") else len(np.asarray(X))


def check_scores(scores: Any, who: str) -> np.ndarray:
    """Return scores as an array of floats, or say what is wrong with them."""
    scores = np.asarray(scores, dtype=float)
    if scores.ndim != 1 or np.isnan(scores).any():
        raise ValueError(
            f"The scores given to {who} must be one-dimensional and free of NaN. "
            f"Got shape {scores.shape} with {int(np.isnan(scores).sum())} NaN."
        )
    return scores


def check_groups(groups: Any, n_rows: int, *, who: str) -> np.ndarray:
    """Return labels of groups as an array, or say what is wrong with them."""
    labels = np.asarray(groups)
    if labels.shape != (n_rows,):
        raise ValueError(
            f"{who} needs one label for each of {n_rows} rows. Got shape {labels.shape} instead."
        )
    kinds = {type(label) for label in labels} if labels.dtype.kind == "O" else set()
    got = ""
    if len(kinds) > 1:
        got = f"labels of type {', '.join(sorted(kind.__name__ for kind in kinds))}"
    elif n_missing := sum(map(is_missing, labels)) if kinds else int((labels != labels).sum()):
        got = f"{n_missing} that are missing"
    if got:
        raise ValueError(
            f"{who} needs labels of one kind, none of them missing. Got {got}; give missing "
            "values a name of their own."
        )
    return labels


def check_moments(time: Any, n_rows: int, *, who: str) -> np.ndarray:
    """Return moments of rows as an array that can be sorted, or say what is wrong with them."""
    moments = check_groups(time, n_rows, who=who)
    if is_text(moments):
        raise ValueError(
            f"{who} needs numbers or dates, which can be put in order. Got the text "
            f"{moments.tolist()[0]!r}; read it as a date first."
        )
    return moments


def check_weights(weights: Any, n_rows: int, *, who: str, infinite: bool = False) -> np.ndarray:
    """Return weights as an array, or say what is wrong with them."""
    values = np.asarray(weights, dtype=float)
    good = values >= 0 if infinite else (values >= 0) & (values < np.inf)
    if values.shape != (n_rows,) or not np.all(good):
        raise ValueError(
            f"{who} needs one {'' if infinite else 'finite '}weight, not negative, for each of "
            f"{n_rows} rows. Got shape {values.shape} with {int((~good).sum())} values that are "
            "not."
        )
    return values


def is_text(labels: np.ndarray) -> bool:
    """Say whether labels are text."""
    return labels.dtype.kind in "US" or (
        labels.dtype.kind == "O" and all(isinstance(label, str) for label in labels)
    )


def places_of_labels(y: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the place of each label among the classes, and whether it has one."""
    nowhere = np.zeros(len(y), dtype=np.intp)
    if is_text(classes) != is_text(y):
        return nowhere, nowhere.astype(bool)  # text and numbers cannot be compared
    if classes.dtype.kind in "iu" and y.dtype.kind in "iu":
        codes = classes.astype(np.int64)
        if np.array_equal(codes, codes[0] + np.arange(len(codes))):
            # Whole numbers without a gap say their place themselves, faster than a search does.
            place = y.astype(np.int64) - codes[0]
            known = (place >= 0) & (place < len(codes))
            return (place if known.all() else np.where(known, place, 0)), known
    order = np.argsort(classes)
    place = np.searchsorted(classes, y, sorter=order)
    place = order[np.minimum(place, len(order) - 1)]
    return place, classes[place] == y


def held_labels(y: np.ndarray, sets: np.ndarray, classes: np.ndarray, *, who: str) -> np.ndarray:
    """Look labels up in their prediction sets."""
    if is_text(y) != is_text(classes):
        raise ValueError(
            f"{who} needs labels of the kind that the classes are. Got {y[0]!r} of type {y.dtype} "
            f"and classes of type {classes.dtype}; encode y as in training."
        )
    return np.any(sets & (y[:, None] == classes[None, :]), axis=1)


def as_numbers(values: np.ndarray) -> np.ndarray | None:
    """Return values as floats, or None if some are not real numbers."""
    kind = values.dtype.kind
    # Text that looks like numbers, and dates, would be turned into floats in silence.
    if kind not in "biufO" or (kind == "O" and any(isinstance(v, str | bytes) for v in values)):
        return None
    try:
        return values.astype(float, copy=False)
    except (TypeError, ValueError):
        return None


def warn_user(message: str) -> None:
    """Warn at the line that called the library, however deep the call went."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(_INSIDE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)


def warn_of_no_predictions(who: str, n_rows: int, fallback: str) -> None:
    """Say that a model had no numbers to say of some new rows."""
    warn_user(
        f"{who} got predictions that are not numbers for {n_rows} "
        f"{'row' if n_rows == 1 else 'rows'}: {fallback} for them."
    )


def warn_of_missing_rows(
    who: str,
    n_rows: int,
    confidence: float,
    fallback: str = "intervals are infinite",
    rows: str = "rows",
) -> None:
    """Say how many rows are missing if a level cannot be had from those there are."""
    needed, kind = smallest_finite_size(confidence), rows.split()[-1]
    missing = needed - n_rows
    if missing > 0:
        warn_user(
            f"{who} has {n_rows} {rows[:-1] if n_rows == 1 else rows}; "
            f"confidence {confidence:g} takes at least {needed}. Until {missing} more "
            f"{f'{kind[:-1]} is' if missing == 1 else f'{kind} are'} given, {fallback}."
        )
