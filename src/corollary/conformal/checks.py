"""What conformal wrappers check of targets and predictions, and what they say of missing ones."""

import sys
import warnings
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import column_or_1d
from sklearn.utils.validation import assert_all_finite

from corollary.conformal.quantile import BLOCK, smallest_calibration_size

# Modules whose lines a user's warning does not point at.
_INSIDE = ("corollary.", "sklearn.")


def check_real_targets(y: Any, *, finite: bool = True) -> np.ndarray:
    """Return targets of a regressor as an array of floats, or say what is wrong with them."""
    if not finite and type(y) is np.ndarray and y.ndim == 1 and y.dtype == np.float64:
        return y
    y = check_one_target(y)
    if y.dtype.kind == "O":
        assert_all_finite(y, input_name="y")  # which knows more kinds of missing values
    numbers = as_numbers(y)
    if numbers is None:
        raise ValueError(
            f"The targets of prediction intervals must be real numbers. Got {y[0]!r} of type "
            f"{y.dtype}; for labels, use SplitConformalClassifier."
        )
    assert_all_finite(numbers, input_name="y")
    return numbers


def check_one_target(y: Any) -> np.ndarray:
    """Return targets as an array of one dimension, or say that they are several for each row."""
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


def predict_one_target(wrapper: Any, model: Any, X: Any) -> np.ndarray:
    """Return one prediction per row, or say that the model has several targets."""
    if hasattr(model, "classes_") and is_classifier(model):
        raise TypeError(
            f"{type(wrapper).__name__} needs a regressor. {type(model).__name__} is a classifier; "
            "use SplitConformalClassifier for sets of classes."
        )
    prediction, rows = np.asarray(model.predict(X)), count_rows(X)
    if prediction.size != rows:
        raise ValueError(
            f"{type(wrapper).__name__} needs one prediction for each row. {type(model).__name__} "
            f"gave shape {prediction.shape} for {rows} rows; fit it to one target."
        )
    numbers = as_numbers(prediction.ravel())
    if numbers is None:
        raise TypeError(
            f"{type(wrapper).__name__} needs predictions that are numbers. {type(model).__name__} "
            f"gave {prediction.ravel()[0]!r} of type {prediction.dtype}; wrap a regressor."
        )
    return numbers


def is_text(labels: np.ndarray) -> bool:
    """Say whether labels are text."""
    return labels.dtype.kind in "US" or (
        labels.dtype.kind == "O" and all(isinstance(label, str) for label in labels)
    )


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


def reach(threshold: np.ndarray, unit: np.ndarray | None = None) -> np.ndarray:
    """Return how far ends must move so that no target within a threshold is lost to rounding.

    A score is a rounded difference, an end of an interval a rounded sum, and the one need not undo
    the other: 0.2 + (0.9 - 0.2) is less than 0.9. With targets on a lattice, as prices are, many
    rows may sit on just that end.
    """
    if unit is None:
        return np.nextafter(threshold, np.inf)
    return threshold * (1 + 2.0**-50) * unit


def widen(wrapper: Any, lower: np.ndarray, upper: np.ndarray, threshold: np.ndarray) -> np.ndarray:
    """Move both ends of intervals outwards."""
    intervals = np.empty((2, len(lower)))
    finite = np.isfinite(threshold).all()
    with np.errstate(invalid="ignore", over="ignore"):
        for start in range(0, len(lower), BLOCK):  # both ends while a block is in the cache
            rows = slice(start, start + BLOCK)
            by = threshold[rows] if len(threshold) > 1 else threshold
            np.subtract(lower[rows], by, out=intervals[0, rows])
            np.add(upper[rows], by, out=intervals[1, rows])
            size = len(lower[rows])
            finite = finite and np.count_nonzero(np.isfinite(lower[rows])) == size
    if finite and (upper is lower or np.isfinite(upper).all()):
        return intervals.T
    # An infinite prediction less an infinite threshold is no number; every target is possible.
    low, high = intervals
    low[np.isnan(low)], high[np.isnan(high)] = -np.inf, np.inf
    unknown = np.isnan(lower) | np.isnan(upper) | np.isnan(threshold)
    if unknown.any():
        low[unknown], high[unknown] = -np.inf, np.inf
        warn_of_no_predictions(wrapper, int(unknown.sum()), "intervals are infinite")
    return intervals.T


def warn_user(message: str) -> None:
    """Warn at the line that called the library, however deep the call went."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(_INSIDE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)


def warn_of_no_predictions(wrapper: Any, n_rows: int, fallback: str) -> None:
    """Say that a model had no numbers to say of some new rows."""
    warn_user(
        f"{type(wrapper).__name__} got predictions that are not numbers for {n_rows} "
        f"{'row' if n_rows == 1 else 'rows'}: {fallback} for them."
    )


def warn_of_missing_rows(
    wrapper: Any,
    n_rows: int,
    confidence: float,
    fallback: str = "intervals are infinite",
    rows: str = "rows",
) -> None:
    """Say how many rows are missing if a level cannot be had from those there are."""
    needed = smallest_calibration_size(confidence)
    missing = needed - n_rows
    if missing > 0:
        warn_user(
            f"{type(wrapper).__name__} has {n_rows} {rows[:-1] if n_rows == 1 else rows}; "
            f"confidence {confidence:g} takes at least {needed}. Until {missing} more "
            f"{'row is' if missing == 1 else 'rows are'} given, {fallback}."
        )
