"""What the picture of predictions against truth shows."""

from dataclasses import dataclass

import numpy as np

from corollary.reporting._records import Evidence
from corollary.reporting.trust._coverage import held_truth

MOST_POINTS = 2000
CELLS = 60


@dataclass(frozen=True, eq=False)
class Cells:
    """Counts of rows in the cells of a grid, where there are any."""

    x_edges: np.ndarray
    y_edges: np.ndarray
    counts: tuple[tuple[int, int, int], ...]  # column, row, test rows


@dataclass(frozen=True)
class RibbonPart:
    """The median interval among rows predicted alike."""

    predicted: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Scatter:
    """Predictions against what happened: points, or cells where there are too many."""

    points: tuple[tuple[float, float, bool], ...]  # predicted, actual, held by its interval
    cells: Cells | None
    ribbon: tuple[RibbonPart, ...]
    domain: tuple[float, float]
    n: int


def measure_scatter(evidence: Evidence) -> Scatter:
    """Set predictions against what happened."""
    rows = evidence.test
    predicted = np.asarray(rows.prediction, dtype=float)
    actual = np.asarray(rows.truth, dtype=float)
    domain = min(predicted.min(), actual.min()), max(predicted.max(), actual.max())
    ends = float(domain[0]), float(domain[1])
    ribbon = _ribbon(evidence, predicted)
    if len(actual) <= MOST_POINTS:
        inside = held_truth(evidence)
        held = np.ones(len(actual), dtype=bool) if inside is None else inside
        points = tuple(zip(predicted.tolist(), actual.tolist(), held.tolist()))
        return Scatter(points, None, ribbon, ends, len(actual))
    counts, xs, ys = np.histogram2d(predicted, actual, bins=CELLS, range=[domain, domain])
    filled = tuple((int(i), int(j), int(counts[i, j])) for i, j in np.argwhere(counts > 0))
    return Scatter((), Cells(xs, ys, filled), ribbon, ends, len(actual))


def _ribbon(evidence: Evidence, predicted: np.ndarray) -> tuple[RibbonPart, ...]:
    """Summarise the intervals by the medians of their ends among rows predicted alike."""
    rows = evidence.test
    if rows.low is None or rows.high is None or len(predicted) < 2 * 10:
        return ()
    order = np.argsort(predicted, kind="stable")
    parts = []
    for part in np.array_split(order, int(np.clip(len(order) // 10, 2, 12))):
        middle = float(np.median(predicted[part]))
        below = float(np.median((predicted - rows.low)[part]))
        above = float(np.median((rows.high - predicted)[part]))
        if np.isfinite([middle, below, above]).all():
            parts.append(RibbonPart(middle, middle - below, middle + above))
    return tuple(parts)
