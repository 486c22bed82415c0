"""Checks of points and of labels -1 and 1."""

from typing import Any

import numpy as np


def check_points(name: str, X: Any, coef: Any) -> tuple[np.ndarray, np.ndarray]:
    X = np.asarray(X, dtype=np.float64)
    w = np.asarray(coef, dtype=np.float64)
    if X.ndim != 2 or X.shape[0] == 0:
        raise ValueError(
            f"The 'X' parameter of {name} must be a table of shape (n_samples, n_features) with "
            f"at least one row. Got shape {X.shape} instead."
        )
    if w.shape != (X.shape[1],) or not w.any():
        raise ValueError(
            f"The 'coef' parameter of {name} must be a non-zero vector of shape "
            f"({X.shape[1]},). Got {coef!r} instead."
        )
    return X, w


def check_signs(name: str, y: Any, n: int) -> np.ndarray:
    """Return labels -1 and 1 as numbers, or say what is wrong with them."""
    y = np.asarray(y)
    if y.shape != (n,) or not np.isin(y, (-1, 1)).all():
        raise ValueError(
            f"The 'y' parameter of {name} must hold {n} labels -1 or 1. Got "
            f"shape {y.shape} with values {np.unique(y)[:5].tolist()} instead."
        )
    return y.astype(np.float64)
