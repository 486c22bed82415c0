"""Where a valley may lie: directions that rows propose, three windows along each, their counts."""

import numpy as np
from scipy.stats import binom

from corollary.core.estimator import CountFromZero, checked

#: Cells of a projection between its outer quantiles, and the windows' widths in cells.
_CELLS, _OUTER, _WIDTHS = 96, 0.01, (4, 6, 9, 14, 20, 28)
#: Leading principal directions that are looked along; those from which two means start, and their
#: steps at most.
_LEADING, _STARTS, _STEPS = 10, 3, 30


def propose(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Choose the direction with the clearest valley, and the edges of its three windows."""
    directions = _directions(rows)
    if not len(directions):
        return np.zeros(rows.shape[1]), np.zeros(6)
    scores, edges = zip(*(best_windows(rows @ direction) for direction in directions))
    best = int(np.argmax(scores))
    return directions[best], edges[best]


def _directions(rows: np.ndarray) -> np.ndarray:
    """List columns, leading principal directions and lines between two means, in units of rows."""
    spread = rows.std(axis=0) if len(rows) > 1 else np.zeros(rows.shape[1])
    varies = np.flatnonzero(spread > 1e-12 * np.abs(rows).max(axis=0, initial=0.0))
    if not len(varies):
        return np.zeros((0, rows.shape[1]))
    unit = (rows[:, varies] - rows[:, varies].mean(axis=0)) / spread[varies]
    _, sizes, axes = np.linalg.svd(unit, full_matrices=False)
    axes = axes[:_LEADING][sizes[:_LEADING] > 1e-8 * sizes[0]]
    scores = unit @ axes.T
    white = scores / scores.std(axis=0)
    lines = [np.eye(len(varies)), axes]
    for start in scores.T[:_STARTS]:
        # From the halves along a leading direction, in both metrics.
        lines.append(_line_between_means(unit, start > np.median(start))[None])
        line = _line_between_means(white, start > np.median(start))
        lines.append((line / scores.std(axis=0) @ axes)[None])
    directions = np.zeros((sum(map(len, lines)), rows.shape[1]))
    directions[:, varies] = np.vstack(lines) / spread[varies]
    return directions


def _line_between_means(points: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Give the line between the two means that Lloyd's iteration reaches from a halving."""
    line = np.zeros(points.shape[1])
    for _ in range(_STEPS):
        if upper.all() or not upper.any():
            break
        ends = points[upper].mean(axis=0), points[~upper].mean(axis=0)
        line, middle = ends[0] - ends[1], (ends[0] + ends[1]) / 2
        before, upper = upper, (points - middle) @ line > 0
        if (before == upper).all():
            break
    return line


def best_windows(values: np.ndarray) -> tuple[float, np.ndarray]:
    """Find the three windows of equal width that show the clearest valley in some numbers."""
    low, high = np.quantile(values, [_OUTER, 1 - _OUTER])
    if not high > low:
        return -np.inf, np.zeros(6)
    cells, edges = np.histogram(values, bins=_CELLS, range=(low, high))
    total, best = np.concatenate([[0], np.cumsum(cells)]), (-np.inf, np.zeros(6))
    for width in _WIDTHS:
        counts = total[width:] - total[:-width]
        starts = np.arange(width, len(counts) - width)
        left = np.maximum.accumulate(counts)[starts - width]
        right = np.maximum.accumulate(counts[::-1])[::-1][starts + width]
        hill, middle = np.minimum(left, right), counts[starts]
        score = (hill - middle) / np.sqrt(np.maximum(hill + middle, 1))
        at = int(np.argmax(score))
        if score[at] > best[0]:
            start = int(starts[at])
            first = int(np.argmax(counts[: start - width + 1]))
            last = start + width + int(np.argmax(counts[start + width :]))
            places = [p for s in (first, start, last) for p in (s, s + width)]
            best = float(score[at]), edges[places]
    return best


@checked
def valley_p_value(left: CountFromZero, valley: CountFromZero, right: CountFromZero) -> float:
    r"""Return the p-value of a valley by the counts in three windows of equal width.

    It is at most t with probability at most t if there is no valley, and the windows were chosen
    without the rows that are counted. See :func:`find_valley`.

    If the density is unimodal, the middle window is at least as probable as one of its neighbours.
    Given the sum of the two counts, its count is then binomial with a chance of at least 1/2; not
    knowing which neighbour it is, one takes the larger of both p-values.

    Notes
    -----
    Guarantee: enumerated over all counts by ``tests/cluster/test_valley.py``.

    Examples
    --------
    >>> from corollary.cluster import valley_p_value
    >>> valley_p_value(10, 0, 4), valley_p_value(5, 5, 50)
    (0.0625, 0.623046875)
    """
    return max(float(binom.cdf(valley, valley + hill, 0.5)) for hill in (left, right))
