"""What rules for bandwidths ask of rows."""

from typing import Any

import numpy as np

from corollary.core.summary import Moments
from corollary.risk import check_weights


def moments_of(who: str, X: Any, sample_weight: Any) -> Moments:
    """Return the moments of rows of which there are two or more."""
    X, weight = weighted_rows(who, X, sample_weight)
    return Moments.of_columns([X], weight)


def weighted_rows(who: str, X: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and their weights, without those of weight zero."""
    X = np.asarray(X, dtype=float)
    if X.ndim != 2 or not np.isfinite(X).all():
        raise ValueError(f"{who} needs rows of finite numbers. Got shape {X.shape}.")
    weight = check_weights(who, sample_weight, len(X))
    weight = np.ones(len(X)) if weight is None else weight
    X, weight = X[weight > 0], weight[weight > 0]
    if not weight.sum() > 1:
        raise ValueError(
            f"{who} needs two rows or more, or weights whose sum exceeds 1. Got {len(X)} rows "
            f"of weight {weight.sum():g}."
        )
    return X, weight
