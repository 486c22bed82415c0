"""Ends of intervals: order statistics of predictions plus and minus residuals."""

import numpy as np

from corollary.conformal._order import grouped_threshold, order_statistic, rank_of_level
from corollary.conformal.scores.functions import reach
from corollary.core.estimator import ArrayLike


def interval_ends(
    predictions: np.ndarray, residuals: np.ndarray, sizes: np.ndarray, confidence: float
) -> np.ndarray:
    """Return the intervals of predictions by each model and residuals that ascend within folds."""
    from corollary.conformal._loops import shifted_quantiles
    from corollary.core.parallel import ordered_map

    # A model file may hold numbers of another precision than the kernel takes.
    residuals = reach(np.ascontiguousarray(residuals, dtype=np.float64))
    predictions = np.ascontiguousarray(predictions, dtype=np.float64)
    known = np.isfinite(predictions).all(axis=1)
    if not known.all():
        # The kernel searches among numbers; what is not one would lead it out of its arrays.
        intervals = np.full((len(predictions), 2), [-np.inf, np.inf])
        intervals[known] = interval_ends(predictions[known], residuals, sizes, confidence)
        return intervals
    n, m = len(residuals), len(predictions)
    intervals = np.empty((m, 2))
    rank = rank_of_level(n, confidence)
    centre = np.inf if rank > n else order_statistic(residuals, rank)
    if not np.isfinite(centre):
        intervals[:] = -np.inf, np.inf
        return intervals
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    ends = np.empty((2, m))

    def fill(piece: tuple[int, slice]) -> None:
        end, rows = piece
        shifts = predictions[rows] if end else -predictions[rows]
        shifted_quantiles(shifts, residuals, starts, rank, centre, ends[end, rows])

    pieces = [(end, slice(i, i + 8192)) for i in range(0, m, 8192) for end in (0, 1)]
    for _ in ordered_map(fill, pieces, workers=None if m * n > 100_000 else 1):
        pass
    intervals[:, 0], intervals[:, 1] = -ends[0], ends[1]
    return intervals


def grouped_ends(
    predictions: np.ndarray,
    residuals: np.ndarray,
    sizes: np.ndarray,
    weights: np.ndarray,
    confidence: float,
) -> np.ndarray:
    """Return the intervals of predictions and residuals, fold after fold; groups weigh one."""
    reaches = reach(np.ascontiguousarray(residuals, dtype=np.float64))
    fold = np.repeat(np.arange(len(sizes)), sizes)
    intervals = np.full((len(predictions), 2), [-np.inf, np.inf])
    for row in np.flatnonzero(np.isfinite(predictions).all(axis=1)):
        said = predictions[row, fold]
        intervals[row, 0] = -grouped_threshold(reaches - said, weights, confidence)
        intervals[row, 1] = grouped_threshold(reaches + said, weights, confidence)
    return intervals


def check_folds(
    predictions: ArrayLike, residuals: ArrayLike, folds: ArrayLike, who: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return predictions, residuals and folds as arrays, or say what is wrong with them."""
    predictions = np.ascontiguousarray(predictions, dtype=float)
    residuals, folds = np.asarray(residuals, dtype=float), np.asarray(folds)
    if predictions.ndim != 2 or residuals.ndim != 1 or folds.shape != residuals.shape:
        raise ValueError(
            f"{who} needs predictions of shape (n_new, n_folds) and one residual and one fold per "
            f"row. Got shapes {predictions.shape}, {residuals.shape} and {folds.shape}."
        )
    if folds.dtype.kind not in "iub" and len(folds):
        raise ValueError(f"{who} needs folds that are whole numbers. Got type {folds.dtype}.")
    folds = folds.astype(np.int64)
    if len(folds) and (folds.min() < 0 or folds.max() >= predictions.shape[1]):
        raise ValueError(
            f"{who} needs folds from 0 to {predictions.shape[1] - 1}. "
            f"Got {folds.min()} to {folds.max()}."
        )
    if np.isnan(residuals).any() or not np.isfinite(predictions).all() or (residuals < 0).any():
        raise ValueError(
            f"{who} needs finite predictions and residuals that are not negative. Got "
            f"{int((~np.isfinite(predictions)).sum())} predictions and "
            f"{int((~(residuals >= 0)).sum())} residuals that are not."
        )
    return predictions, residuals, folds
