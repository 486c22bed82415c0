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
from sklearn.utils import check_array, check_random_state

from corollary.cluster._windows import propose, valley_p_value
from corollary.core.estimator import Count, Probability, RandomSeed, RowsLike, checked

#: Share of the rows from which a value is one of those that rounding makes.
_SHARED = 0.02


class Valley(NamedTuple):
    """A valley that one half of the rows proposed, and what the other half says of it."""

    p_value: float
    direction: np.ndarray
    cut: float
    counts: tuple[int, int, int]


class ValleyClusters(NamedTuple):
    """Clusters that valleys separate, and the p-value of the first valley."""

    labels: np.ndarray
    n_clusters: int
    p_value: float


@checked
def find_valley(
    X: RowsLike, *, max_rows: Count = 10_000, random_state: RandomSeed = None
) -> Valley:
    """Test whether rows fall into clusters that a valley separates.

    Each half of the rows chooses the clearest of the valleys along columns, leading principal
    directions and the lines between two means, for which the other half computes
    :func:`valley_p_value`. Twice the smaller of the two is the ``p_value`` of the result, which is
    1 where rows are too few to show a valley: fewer than about 25. It also has the ``direction`` on
    which rows are projected, the ``cut`` in the middle of the valley, and ``counts`` of rows on the
    left hill, in the valley and on the right hill.

    Rows are independent; of more than ``max_rows`` so many are drawn. Numbers on a lattice, such as
    whole ones, are spread over its steps. The ``random_state`` determines halves and draws. See
    :func:`split_at_valleys`, which cuts rows as long as there are valleys.

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
    >>> X[:150, 1] += 20
    >>> valley = find_valley(X, random_state=0)
    >>> valley.p_value < 1e-4, bool(5 < valley.cut / valley.direction[1] < 20)
    (True, True)
    """
    X = check_array(X, dtype=np.float64)
    random = check_random_state(random_state)
    rows = random.permutation(len(X))[:max_rows]
    sample = _spread_steps(X[rows], random)
    half = len(sample) // 2
    parts = sample[:half], sample[half:]
    valleys = (_count(*propose(rows), judges) for rows, judges in (parts, parts[::-1]))
    best = min(valleys, key=lambda valley: valley.p_value)
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

    Rows are cut at the valley of :func:`find_valley` if its p-value is at most the ``level``, and
    the parts are cut in turn, each at the level times its share of the rows, into ``max_clusters``
    at most. The level bounds the chance that rows without a valley are cut; later cuts are made by
    the same rule, on parts that the same rows have cut.

    The result has ``labels``, 0 for the largest cluster, ``n_clusters``, which is 1 unless a valley
    is shown, and the ``p_value`` of the first valley, on which it rests that there are clusters at
    all. See :func:`find_valley` for the other parameters, which are those of each test.

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


def _count(direction: np.ndarray, edges: np.ndarray, rows: np.ndarray) -> Valley:
    """Count rows in the windows that other rows chose."""
    values = rows @ direction
    left, middle, right = (
        int(((values >= a) & (values < b)).sum()) for a, b in edges.reshape(3, 2)
    )
    p_value = valley_p_value(left, middle, right)
    return Valley(p_value, direction, float(edges[2:4].mean()), (left, middle, right))
