"""Which features of boosted trees may interact: be on one way from the root to a leaf."""

from numbers import Integral
from typing import Any

import numpy as np


def read_interactions(model: Any, n_features: int) -> np.ndarray | None:
    """Read ``interaction_cst``: a line for each group of features; None if all may interact.

    Features that no group names are a group of their own.
    """
    groups, who = model.interaction_cst, type(model).__name__
    if groups is None:
        return None
    if isinstance(groups, str):
        if groups == "no_interactions":
            return np.eye(n_features, dtype=np.uint8)
        first, second = np.triu_indices(n_features, 1)
        lines = np.zeros((max(1, len(first)), n_features), dtype=np.uint8)
        lines[np.arange(len(first)), first] = lines[np.arange(len(first)), second] = 1
        return lines if len(first) else np.ones((1, n_features), dtype=np.uint8)
    lines = np.zeros((len(groups), n_features), dtype=np.uint8)
    for line, group in zip(lines, groups):
        places = [] if isinstance(group, str | Integral) else list(group)
        whole = all(isinstance(place, Integral) for place in places)
        if not places or not whole or not all(0 <= place < n_features for place in places):
            raise ValueError(
                f"interaction_cst of {who} must be a sequence of groups of feature indices, each "
                f"an integer from 0 to n_features - 1={n_features - 1}. Got the group {group!r}."
            )
        line[places] = 1
    unnamed = (lines.sum(axis=0) == 0).astype(np.uint8)
    return np.vstack([lines, unnamed]) if unnamed.any() else lines
