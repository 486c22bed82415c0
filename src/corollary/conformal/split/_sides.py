"""Which rows train and which calibrate: dealt at random, by whole groups, or by time."""

import math
from numbers import Integral

import numpy as np

Sides = tuple[np.ndarray, np.ndarray]


def deal_rows(n: int, size: float, rng: np.random.RandomState, who: str) -> Sides:
    """Return the numbers of the rows that train and of those that calibrate, at random."""
    n_kept = _number_kept(n, size, "rows", who)
    order = rng.permutation(n)
    return order[n_kept:], order[:n_kept]


def deal_groups(groups: np.ndarray, size: float, rng: np.random.RandomState, who: str) -> Sides:
    """Deal whole groups: those that train and those that calibrate have none in common."""
    labels, numbers = np.unique(groups, return_inverse=True)
    kept = rng.permutation(len(labels))[: _number_kept(len(labels), size, "groups", who)]
    calibrates = np.isin(numbers, kept)
    return np.flatnonzero(~calibrates), np.flatnonzero(calibrates)


def cut_time(moments: np.ndarray, size: float, who: str) -> Sides:
    """Let the latest rows calibrate, and with them all that share the first of their moments."""
    n_kept = _number_kept(len(moments), size, "rows", who)
    calibrates = moments >= np.sort(moments)[len(moments) - n_kept]
    if calibrates.all():
        raise ValueError(
            f"{who} needs rows to train before those that calibrate. Got {len(moments)} rows of "
            f"which the latest {n_kept} reach back to the first moment; give a finer time."
        )
    return np.flatnonzero(~calibrates), np.flatnonzero(calibrates)


def _number_kept(n: int, size: float, units: str, who: str) -> int:
    """Return how many of n rows or groups calibrate, so that some are left to train."""
    n_kept = int(size) if isinstance(size, Integral) else math.ceil(size * n)
    if n_kept >= n:
        what = "n_samples" if units == "rows" else "n_groups"
        raise ValueError(
            f"{who} needs {units} to train and {units} to calibrate. Got {what}={n} and "
            f"calibration_size={size!r}; give more {units} or another share."
        )
    return n_kept
