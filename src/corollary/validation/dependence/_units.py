"""Sums and means of rows by unit."""

import numpy as np


def unit_sums(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Sum the rows of each unit."""
    n_units = int(codes.max(initial=-1)) + 1
    sums = np.empty((n_units, values.shape[1]))
    for j, column in enumerate(values.T):
        sums[:, j] = np.bincount(codes, weights=column, minlength=n_units)
    return sums


def unit_means(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return for each row the mean of its unit."""
    return (unit_sums(values, codes) / np.bincount(codes)[:, None])[codes]
