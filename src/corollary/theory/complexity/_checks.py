"""What the functions of classes ask of their points."""

from typing import Any

import numpy as np


def check_points(who: str, X: Any) -> np.ndarray:
    """Return points as a table of finite numbers, or refuse them."""
    X = np.asarray(X, dtype=float)
    if X.ndim != 2 or not X.size or not np.all(np.isfinite(X)):
        raise ValueError(
            f"The 'X' parameter of {who} must hold finite points, one per row. Got shape {X.shape}."
        )
    return X
