"""What learners check of points, numbers and indices."""

from numbers import Real
from typing import Any

import numpy as np

#: Points given to compiled code at a time, so that an interruption is noticed.
ROWS_AT_ONCE = 4096
COLUMNS_AT_ONCE = 1024  # candidates that one thread looks at


def finite_rows(who: str, X: Any, n_features: int | None = None) -> np.ndarray:
    """Return a matrix of finite numbers, or say what is wrong with it."""
    rows = np.asarray(X, dtype=float)
    if rows.ndim != 2 or (n_features is not None and rows.shape[1] != n_features):
        expected = "features" if n_features is None else f"{n_features} features"
        raise ValueError(f"{who} needs rows of {expected}. Got an array of shape {rows.shape}.")
    if not np.isfinite(rows).all():
        raise ValueError(f"{who} needs finite numbers. Got NaN or infinity.")
    return rows


def same_rows(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return which rows of one array occur in another."""
    # Adding zero makes -0.0 and 0.0 the same bytes.
    others = {row.tobytes() for row in Y + 0.0}
    return np.array([row.tobytes() in others for row in X + 0.0], dtype=bool)


def check_positive(who: str, name: str, value: Any) -> float:
    """Return a positive finite number, or say what is wrong with it."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not (number and 0 < float(value) < np.inf):
        raise ValueError(
            f"The '{name}' parameter of {who} must be a positive finite float. "
            f"Got {value!r} instead."
        )
    return float(value)


def one_for_each(who: str, name: str, value: Any, k: int) -> np.ndarray:
    """Return a number for each of k functions, from one for all or from k."""
    values = np.asarray(value, dtype=float)
    if values.ndim > 1 or (values.ndim == 1 and len(values) != k) or not np.isfinite(values).all():
        raise ValueError(
            f"The '{name}' parameter of {who} must be a finite float or {k} of them. "
            f"Got {value!r} instead."
        )
    if name != "threshold":
        for number in np.atleast_1d(values):
            check_positive(who, name, float(number))
    return np.broadcast_to(values, (k,)).copy()


def check_masses(sample_weight: Any, n: int) -> np.ndarray:
    """Return the mass of each of n points, 1 if none is given."""
    if sample_weight is None:
        return np.ones(n)
    weight = np.asarray(sample_weight, dtype=float)
    if weight.shape != (n,) or not (np.isfinite(weight) & (weight >= 0)).all():
        raise ValueError(
            f"The 'sample_weight' must hold {n} finite non-negative numbers, one for each row. "
            f"Got an array of shape {weight.shape}."
        )
    return weight


def check_indices(who: str, values: Any, n: int) -> np.ndarray:
    """Return places among n points as whole numbers."""
    places = np.atleast_1d(np.asarray([] if values is None else values))
    if places.size and (places.dtype.kind not in "iu" or places.min() < 0 or places.max() >= n):
        raise ValueError(f"{who} needs indices from 0 to {n - 1}. Got {places.tolist()[:5]}.")
    return places.astype(np.intp)
