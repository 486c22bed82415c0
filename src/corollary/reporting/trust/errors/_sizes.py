"""How large the errors of a regression are: median, quantiles, histogram, the worst."""

from dataclasses import dataclass

import numpy as np

from corollary.reporting._records import Evidence
from corollary.reporting.trust._pieces import Pieces

LEVELS = (0.5, 0.9, 0.99)


@dataclass(frozen=True)
class ErrorQuantile:
    """A quantile of the error; an end is None where the sample has none."""

    level: float
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, eq=False)
class ErrorSizes:
    """How large the errors of model and guessing are."""

    median: ErrorQuantile
    mean: float
    baseline_median: float
    baseline_mean: float
    within: tuple[float, ...]  # what half, 9 of 10 and 99 of 100 rows stay within
    quantiles: tuple[ErrorQuantile, ...]  # of the levels that the sample is large enough for
    worst: int  # place of the largest error among the test rows
    largest: float
    too_high: int  # rows predicted too high
    rows: int
    n: int  # pieces of evidence: units, or rows that are units themselves
    counts: np.ndarray  # histogram
    edges: np.ndarray


def measure_error_sizes(evidence: Evidence) -> ErrorSizes:
    """Measure the sizes of the errors."""
    rows, pieces = evidence.test, Pieces.of(evidence)
    errors = rows.errors
    guess = np.abs(np.asarray(rows.truth) - np.asarray(rows.baseline))
    n = pieces.n
    quantiles = tuple(
        ErrorQuantile(level, *pieces.quantile_interval(errors, level, evidence.confidence))
        for level in LEVELS
        # others: the sample is too small to have such a quantile
        if level == 0.5 or level * n <= n - 1
    )
    bins = int(np.clip(np.sqrt(len(errors)) * 1.5, 8, 40))
    counts, edges = np.histogram(errors, bins=bins, range=(0.0, float(errors.max()) or 1.0))
    worst = int(np.argmax(errors))
    return ErrorSizes(
        quantiles[0],
        pieces.mean(errors),
        _middle(guess, pieces),
        pieces.mean(guess),
        tuple(_within(errors, level, pieces) for level in LEVELS),
        quantiles,
        worst,
        float(errors[worst]),
        int(np.sum(np.asarray(rows.prediction) > np.asarray(rows.truth))),
        len(errors),
        n,
        counts,
        edges,
    )


def _weights(pieces: Pieces) -> np.ndarray:
    """Let each unit count the same."""
    units = np.asarray(pieces.units)
    _, place, sizes = np.unique(units, return_inverse=True, return_counts=True)
    return 1 / sizes[place]


def _within(errors: np.ndarray, level: float, pieces: Pieces) -> float:
    """Give the smallest error that at least so large a share of rows does not exceed."""
    n = len(errors)
    order = np.argsort(errors, kind="stable")
    if pieces.units is None:
        return float(errors[order[max(int(np.ceil(level * n - 1e-9)), 1) - 1]])
    reached = np.cumsum(_weights(pieces)[order])
    return float(errors[order[np.searchsorted(reached, level * reached[-1] - 1e-9)]])


def _middle(errors: np.ndarray, pieces: Pieces) -> float:
    return float(np.median(errors)) if pieces.units is None else _within(errors, 0.5, pieces)
