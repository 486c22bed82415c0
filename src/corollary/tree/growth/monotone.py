"""Constraints: whether an answer may only rise or only fall with a feature."""

from typing import Any

import numpy as np


def read_signs(model: Any, categorical: np.ndarray) -> np.ndarray:
    """Read the ``monotonic_cst`` of a model.

    Parameters
    ----------
    model : estimator
        Its ``monotonic_cst`` is a list, or a dictionary from names of columns.
    categorical : ndarray of bool of shape (n_features,)
        Which features hold categories, which have no order.

    Returns
    -------
    signs : ndarray of int64 of shape (n_features,)
        1, -1 or 0: whether answers may only rise, only fall, or both.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.tree import DecisionTreeRegressor, read_signs
    >>> read_signs(DecisionTreeRegressor(monotonic_cst=[1, 0]), np.zeros(2, dtype=bool))
    array([1, 0])
    """
    cst, who, n_features = model.monotonic_cst, type(model).__name__, len(categorical)
    signs = np.zeros(n_features)
    if isinstance(cst, dict):
        names = [str(name) for name in getattr(model, "feature_names_in_", [])]
        for name, sign in cst.items():
            if str(name) not in names:
                raise ValueError(
                    f"monotonic_cst of {who} names {name!r}, which is not a column of X. "
                    + (f"It has {names}." if names else "X has no column names; give a list.")
                )
            signs[names.index(str(name))] = sign
    elif cst is not None:
        array = np.asarray(cst)
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
