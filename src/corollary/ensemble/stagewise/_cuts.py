"""Cutting rows in two at a threshold of one column."""

from typing import NamedTuple

import numpy as np


class Presorted(NamedTuple):
    """Columns and the order of their rows, to fit many stumps to the same rows."""

    columns: np.ndarray  # the transposed rows
    order: np.ndarray  # rows of each column in ascending order


class Cut(NamedTuple):
    """A feature and a threshold."""

    feature: int  # column
    threshold: float  # rows at or above it go up; minus infinity if no cut is better than none
    above: np.ndarray  # which rows go up


def presort(X: np.ndarray) -> Presorted:
    """Sort the columns of a table."""
    columns = np.ascontiguousarray(X.T)
    return Presorted(columns, np.argsort(columns, axis=1, kind="stable"))


def label_cut(table: Presorted, codes: np.ndarray, weights: np.ndarray, n_classes: int) -> Cut:
    """Find the cut with the smallest weighted error when each side predicts one class."""
    from corollary.ensemble._loops.stump import best_label_split

    return _cut(table, *best_label_split(*table, codes, weights, n_classes))


def square_cut(table: Presorted, y: np.ndarray, weights: np.ndarray) -> Cut:
    """Find the cut with the smallest weighted squared error when each side predicts its mean."""
    from corollary.ensemble._loops.stump import best_square_split

    residual = y - np.average(y, weights=weights)
    return _cut(table, *best_square_split(*table, residual, weights))


def _cut(table: Presorted, feature: int, place: int) -> Cut:
    columns, order = table
    if feature < 0:
        return Cut(0, -np.inf, np.ones(columns.shape[1], dtype=bool))
    low, high = columns[feature, order[feature, place : place + 2]]
    middle = 0.5 * low + 0.5 * high
    # Between neighbouring floats there is no third one.
    threshold = float(middle) if low < middle <= high else float(high)
    return Cut(int(feature), threshold, columns[feature] >= threshold)


def leaf_weights(cut: Cut, codes: np.ndarray, weights: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the weights of the classes below and above a cut."""
    cells = np.bincount(
        cut.above * n_classes + codes, weights=weights, minlength=2 * n_classes
    ).reshape(2, n_classes)
    if not cells[0].any():  # a constant: nothing lies below
        cells[0] = cells[1]
    return cells
