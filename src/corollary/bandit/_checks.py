"""Checks that the parts of this family share."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from corollary.core.compat import Interval, InvalidParameterError


def check_number(who: str, name: str, value: Any, interval: Interval) -> None:
    """Verify a number of a policy or environment."""
    if isinstance(value, bool | np.bool_) or not interval.is_satisfied_by(value):
        raise InvalidParameterError(
            f"The {name!r} parameter of {who} must be {interval}. Got {value!r} instead."
        )


def check_array(
    who: str,
    name: str,
    values: Any,
    *,
    ndim: Sequence[int],
    low: float = -np.inf,
    high: float = np.inf,
) -> np.ndarray:
    """Turn values into a finite, non-empty array of doubles within a range."""
    try:
        array = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"The {name!r} parameter of {who} must be numbers: {error}.") from None
    if np.ndim(values) not in ndim or array.size == 0:
        wanted = " or ".join(str(n) for n in ndim)
        raise ValueError(
            f"The {name!r} parameter of {who} must be a non-empty array with {wanted} "
            f"dimension(s). Got shape {np.shape(values)} instead."
        )
    if not np.isfinite(array).all() or array.min() < low or array.max() > high:
        unit = (low, high) == (0.0, 1.0)
        raise ValueError(
            f"The {name!r} parameter of {who} must be finite numbers"
            + (f" in [{low:g}, {high:g}]" if low > -np.inf or high < np.inf else "")
            + f". Got values from {array.min():g} to {array.max():g} instead"
            + (
                "; a reward r in [0, 1] is the loss 1 - r, and other ranges are scaled linearly."
                if unit
                else "."
            )
        )
    return array
