"""Distances from a band of numbers, and bands that are moved outwards by a distance."""

import numpy as np

from corollary.conformal._checks import warn_of_no_predictions


def distance_outside(y: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Return how far targets lie outside a band, negative inside it."""
    if upper is lower:
        distance = y - lower
        return np.abs(distance, out=distance)
    return np.maximum(lower - y, y - upper)


def widen(who: str, lower: np.ndarray, upper: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Move both ends outwards; where that gives no number, every target is possible."""
    intervals = np.empty((2, len(lower)))
    low, high = intervals
    with np.errstate(invalid="ignore", over="ignore"):
        np.subtract(lower, by, out=low)
        np.add(upper, by, out=high)
    ends = [lower] if upper is lower else [lower, upper]
    if all(np.isfinite(values).all() for values in (by, *ends)):
        return intervals.T
    unknown = np.isnan(lower) | np.isnan(upper) | np.isnan(by)
    # An infinite prediction less an infinite threshold is no number either.
    low[unknown | np.isnan(low)], high[unknown | np.isnan(high)] = -np.inf, np.inf
    if unknown.any():
        warn_of_no_predictions(who, int(unknown.sum()), "intervals are infinite")
    return intervals.T
