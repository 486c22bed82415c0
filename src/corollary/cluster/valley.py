r"""Are there clusters at all? A test for a valley between two hills.

Along a direction on which the law of the rows is unimodal, three windows of equal width, one after
the other, never find the middle one rarer than both of its neighbours. Half of the rows chooses a
direction and three such windows; the other half, which has no part in the choice, counts. If there
is no valley, one of the two comparisons of the middle count with a neighbour is a coin that shows
the middle at least half of the time, so that the larger of two binomial p-values is an exact one.
Gaussian, uniform, skewed and correlated columns have no valley: every projection of a log-concave
law is unimodal.
"""

from typing import NamedTuple

import numpy as np
from scipy.stats import binom
from sklearn.utils import check_array, check_random_state

from corollary.core.estimator import (
    Count,
    CountFromZero,
    Probability,
    RandomSeed,
    RowsLike,
    checked,
)

#: Cells of a projection between its outer quantiles, and the windows' widths in cells.
_CELLS, _OUTER, _WIDTHS = 96, 0.01, (4, 6, 9, 14, 20, 28)
#: Share of the rows from which a value is one of those that rounding makes.
_SHARED = 0.02
#: Leading principal directions that are looked along; those from which two means start, and their
#: steps at most.
_LEADING, _STARTS, _STEPS = 10, 3, 30


class Valley(NamedTuple):
    """The clearest valley that one half of the rows proposed, and what the other half says of it.

    Parameters
    ----------
    p_value : float
        At most `level` with at most that probability if no direction has a valley.
    direction : ndarray of shape (n_features,)
        Rows are projected on it.
    cut : float
        Middle of the valley along the direction.
    counts : tuple of int
        Rows of the counting half on the left hill, in the valley and on the right hill.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.cluster import find_valley
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> X[:100, 1] += 6
    >>> valley = find_valley(X, random_state=0)
    >>> valley.p_value < 1e-4, bool(2 < valley.cut / valley.direction[1] < 4)
    (True, True)
    """

    p_value: float
    direction: np.ndarray
    cut: float
    counts: tuple[int, int, int]


class ValleyClusters(NamedTuple):
    """Clusters that valleys separate.

    Parameters
    ----------
    labels : ndarray of int of shape (n_samples,)
        Cluster of each row; the largest cluster is number 0.
    n_clusters : int
        Number of clusters; 1 if no valley was shown.
    p_value : float
        That of the first valley, on which it rests that there are clusters at all.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.cluster import split_at_valleys
    >>> split_at_valleys(np.arange(6.0).reshape(-1, 1), random_state=0).n_clusters
    1
    """

    labels: np.ndarray
    n_clusters: int
    p_value: float


@checked
def valley_p_value(left: CountFromZero, valley: CountFromZero, right: CountFromZero) -> float:
    r"""Return the p-value of a valley by the counts in three windows of equal width.

    If the density is unimodal, the middle window is at least as probable as one of its neighbours.
    Given the sum of the two counts, its count is then binomial with a chance of at least 1/2; not
    knowing which neighbour it is, one takes the larger of both p-values.

    Parameters
    ----------
    left, valley, right : int
        Rows in the windows, which were chosen without these rows.

    Returns
    -------
    p_value : float
        At most t with probability at most t if there is no valley.

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


@checked
def find_valley(
    X: RowsLike, *, max_rows: Count = 10_000, random_state: RandomSeed = None
) -> Valley:
    """Test whether rows fall into clusters that a valley separates.

    Each half of the rows chooses the clearest of the valleys along columns, leading principal
    directions and the lines between two means, for which the other half computes
    :func:`valley_p_value`. Twice the smaller of the two is returned.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Independent rows. Numbers on a lattice, such as whole ones, are spread over its steps.
    max_rows : int, default=10000
        Of more rows so many are drawn.
    random_state : int, RandomState instance or None, default=None
        Determines halves and draws.

    Returns
    -------
    valley : Valley
        With a p-value of 1 where rows are too few to show one: fewer than about 25.

    See Also
    --------
    split_at_valleys : Cut the rows into clusters, as long as there are valleys.

    Notes
    -----
    Guarantee: simulated on Gaussian, uniform, skewed, heavy-tailed, correlated and rounded columns
    by ``tests/cluster/test_valley.py``. A valley shows that there are two hills, and not that each
    is a ball: rings and moons have none along any line.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.cluster import find_valley
    >>> X = np.random.default_rng(0).exponential(size=(300, 4))
    >>> find_valley(X, random_state=0).p_value > 0.05
    True
    """
    X = check_array(X, dtype=np.float64)
    random = check_random_state(random_state)
    rows = random.permutation(len(X))[:max_rows]
    sample = _spread_steps(X[rows], random)
    half = len(sample) // 2
    parts = sample[:half], sample[half:]
    found = [_count(*_propose(mine), other) for mine, other in (parts, parts[::-1])]
    best = min(found, key=lambda valley: valley.p_value)
    return best._replace(p_value=min(1.0, 2.0 * best.p_value))


@checked
def split_at_valleys(
    X: RowsLike,
    *,
    level: Probability = 0.05,
    max_clusters: Count = 8,
    max_rows: Count = 10_000,
    random_state: RandomSeed = None,
) -> ValleyClusters:
    """Cut rows into clusters at valleys that are shown; leave them whole where none is.

    Rows are cut at the valley of :func:`find_valley` if its p-value is at most the level, and
    the parts are cut in turn, each at the level times its share of the rows.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Independent rows.
    level : float, default=0.05
        Chance, at most, that rows without a valley are cut.
    max_clusters : int, default=8
        Clusters, at most.
    max_rows : int, default=10000
        Each test draws so many rows, at most.
    random_state : int, RandomState instance or None, default=None
        Determines the tests.

    Returns
    -------
    clusters : ValleyClusters
        All rows in one cluster unless the first valley is shown.

    Notes
    -----
    The level speaks of the first cut. Later ones are made by the same rule, on parts that the same
    rows have cut.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.cluster import split_at_valleys
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> X[:150] += 6
    >>> X[:50, 0] += 6
    >>> np.bincount(split_at_valleys(X, random_state=0).labels).tolist()
    [150, 100, 50]
    """
    X = check_array(X, dtype=np.float64)
    random, n = check_random_state(random_state), len(X)
    labels, open_parts, n_clusters, first = np.zeros(n, dtype=np.int64), [0], 1, None
    while open_parts and n_clusters < max_clusters:
        inside = np.flatnonzero(labels == open_parts.pop(0))
        valley = find_valley(X[inside], max_rows=max_rows, random_state=random)
        first = valley.p_value if first is None else first
        if valley.p_value > level * len(inside) / n:
            continue
        labels[inside[X[inside] @ valley.direction > valley.cut]] = n_clusters
        open_parts += [int(labels[inside].min()), n_clusters]
        n_clusters += 1
    sizes = np.bincount(labels, minlength=n_clusters)
    rank = np.argsort(np.argsort(-sizes, kind="stable"), kind="stable")
    return ValleyClusters(rank[labels], n_clusters, 1.0 if first is None else first)


def _spread_steps(X: np.ndarray, random: np.random.RandomState) -> np.ndarray:
    """Move rounded numbers at random inside their step, so that they have a density."""
    steps = np.array([_step(column) for column in X.T])
    return X + random.uniform(-0.5, 0.5, X.shape) * steps


def _step(column: np.ndarray) -> float:
    """Tell how far apart the values lie that many rows share; 0 if none is shared."""
    values, counts = np.unique(column, return_counts=True)
    if len(values) == len(column) or len(values) == 1:
        return 0.0
    shared = values[counts >= max(2.0, _SHARED * len(column))]
    least = np.diff(values).min()
    return float(max(least, np.median(np.diff(shared)) if len(shared) > 1 else 0.0))


def _propose(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Choose the direction with the clearest valley, and the edges of its three windows."""
    directions = _directions(rows)
    if not len(directions):
        return np.zeros(rows.shape[1]), np.zeros(6)
    scores, edges = zip(*(_best_windows(rows @ direction) for direction in directions))
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
    found = np.zeros((sum(map(len, lines)), rows.shape[1]))
    found[:, varies] = np.vstack(lines) / spread[varies]
    return found


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


def _best_windows(values: np.ndarray) -> tuple[float, np.ndarray]:
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


def _count(direction: np.ndarray, edges: np.ndarray, rows: np.ndarray) -> Valley:
    """Count rows in the windows that other rows chose."""
    values = rows @ direction
    left, middle, right = (
        int(((values >= a) & (values < b)).sum()) for a, b in edges.reshape(3, 2)
    )
    p_value = valley_p_value(left, middle, right)
    return Valley(p_value, direction, float(edges[2:4].mean()), (left, middle, right))
