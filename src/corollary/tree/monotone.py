"""Constraints: whether an answer may only rise or only fall with a feature."""

from typing import Any

import numpy as np


def read_signs(model: Any, categorical: np.ndarray) -> np.ndarray:
    """Read the ``monotonic_cst`` of a model."""
    given, who, n_features = model.monotonic_cst, type(model).__name__, len(categorical)
    signs = np.zeros(n_features)
    if isinstance(given, dict):
        names = [str(name) for name in getattr(model, "feature_names_in_", [])]
        for name, sign in given.items():
            if str(name) not in names:
                raise ValueError(
                    f"monotonic_cst of {who} names {name!r}, which is not a column of X. "
                    + (f"It has {names}." if names else "X has no column names; give a list.")
                )
            signs[names.index(str(name))] = sign
    elif given is not None:
        array = np.asarray(given)
        if array.shape != (n_features,):
            raise ValueError(
                f"monotonic_cst of {who} must have one entry for each of {n_features} features. "
                f"Got shape {array.shape}."
            )
        signs[:] = array
    if not np.isin(signs, (-1, 0, 1)).all():
        raise ValueError(f"monotonic_cst of {who} must be -1, 0 or 1 for every feature.")
    if (categorical & (signs != 0)).any():
        raise ValueError(
            f"A categorical feature has no order and cannot be monotonic: {who} was given "
            f"monotonic_cst for column {int(np.flatnonzero(categorical & (signs != 0))[0])}."
        )
    return signs.astype(np.int64)


def monotone_signs(model: Any, categorical: np.ndarray) -> np.ndarray | None:
    """Read the ``monotonic_cst`` of a tree or a forest, whose answers are means."""
    signs, who = read_signs(model, categorical), type(model).__name__
    if not signs.any():
        return None
    if getattr(model, "n_classes_", 2) > 2:
        raise ValueError(
            f"monotonic_cst of {who} constrains the probability of the second of two classes. Got "
            f"{model.n_classes_} classes; leave monotonic_cst at None."
        )
    if model.criterion == "absolute_error":
        raise ValueError(
            f"monotonic_cst of {who} bounds means, and criterion='absolute_error' answers medians. "
            "Take criterion='squared_error', or GradientBoostingRegressor with "
            "loss='absolute_error'."
        )
    # With one class there is nothing to constrain.
    return signs if getattr(model, "n_classes_", 2) == 2 else None
