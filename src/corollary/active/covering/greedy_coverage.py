r"""Batch active learning by covering a pool with balls.

Choose b points of a pool so that as many others as possible lie within a radius of one of them.
The best choice is NP-hard to find. Greedy choice, always the ball with the most points not yet
covered, reaches at least :math:`1-(1-1/b)^b>1-1/e` of the best, because coverage is submodular.

The number of uncovered points in every ball is kept up to date: a point that becomes covered
leaves all balls around it. Each pair of points is looked at twice in the whole run, whatever the
budget, and memory is linear in the pool.
"""

from functools import partial
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from corollary.active._ask_tell import AskTell
from corollary.active._checks import (
    COLUMNS_AT_ONCE,
    ROWS_AT_ONCE,
    check_indices,
    check_masses,
    finite_rows,
)
from corollary.active.domain import Pool
from corollary.core.estimator import Count, NonNegative, checked
from corollary.core.parallel import in_blocks
from corollary.core.progress import track


class BallCoverage(NamedTuple):
    """Balls chosen one after another.

    Parameters
    ----------
    indices : ndarray of shape (budget,)
        Centres, in the order they were chosen.
    gains : ndarray of shape (budget,)
        Weight that each of them newly covered.
    covered : ndarray of shape (n,), dtype=bool
        Which points lie in a ball in the end.
    coverage : float
        Share of the weight that is covered.
    """

    indices: np.ndarray
    gains: np.ndarray
    covered: np.ndarray
    coverage: float


@checked
def greedy_ball_coverage(
    X: Any, budget: Count, radius: NonNegative, *, initial: Any = None, sample_weight: Any = None
) -> BallCoverage:
    r"""Choose points whose balls cover a pool, greedily.

    Each step picks the point whose ball :math:`\{x':\|x'-x\|\le\delta\}` holds most of what is
    not covered yet; the first of equal ones.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
        The pool.
    budget : int
        How many points to choose, at most those that are left.
    radius : float
        Radius :math:`\delta` of the balls, chosen beforehand; see :func:`pure_radius`.
    initial : array-like of int or None, default=None
        Indices chosen earlier, which cover their balls already and are not chosen again.
    sample_weight : array-like of shape (n,) or None, default=None
        How much each point counts when it is covered; None for one each.

    Returns
    -------
    result : BallCoverage
        Choice, gains and what is covered, with the balls of ``initial``.

    Notes
    -----
    Guarantee: the choice covers at least :math:`1-(1-1/b)^b\ge1-1/e` of what the best b points
    cover. Checked by
    ``tests/active/test_greedy_coverage.py::test_greedy_reaches_its_share_of_the_optimum``.

    Memory is linear in n; time is that of at most twice all pairs, less where a ball spans a small
    part of the widest direction of the data.

    References
    ----------
    .. [1] G. L. Nemhauser, L. A. Wolsey and M. L. Fisher, An analysis of approximations for
       maximizing submodular set functions, Mathematical Programming 14, 1978.
    .. [2] O. Yehuda et al., Active learning through a covering lens, NeurIPS 2022.

    Examples
    --------
    >>> from corollary.active import greedy_ball_coverage
    >>> X = [[0.0], [1.0], [2.0], [7.0], [8.0], [20.0]]
    >>> chosen = greedy_ball_coverage(X, budget=2, radius=1.0)
    >>> chosen.indices, chosen.gains, round(chosen.coverage, 2)
    (array([1, 3]), array([3., 2.]), 0.83)
    """
    from corollary.active._loops import add_balls

    rows = finite_rows("greedy_ball_coverage", X)
    n = len(rows)
    weight = check_masses(sample_weight, n)
    early = check_indices("greedy_ball_coverage", initial, n)
    balls = _Balls(rows, float(radius))
    left = weight[balls.order]
    taken = np.zeros(n, dtype=bool)
    place = np.empty(n, dtype=np.intp)
    place[balls.order] = np.arange(n)
    covered = np.zeros(n, dtype=bool)
    for i in np.unique(place[early]):
        covered |= balls.ball(i)
        taken[i] = True
    left[covered] = 0.0
    budget = min(int(budget), n - int(taken.sum()))
    indices, gains = np.empty(budget, dtype=np.intp), np.empty(budget)
    totals = np.zeros(n)

    def change(lost: np.ndarray, sign: float) -> None:
        for at in range(0, len(lost), ROWS_AT_ONCE):
            some = lost[at : at + ROWS_AT_ONCE]
            points = balls.points[some]
            change = sign * left[some]
            what = (balls.X, balls.keys, points, change, balls.reach, balls.limit, totals)
            in_blocks(partial(add_balls, *what), n, COLUMNS_AT_ONCE)
            step(len(some))

    uncovered = np.flatnonzero(left > 0)
    with track("covering", total=2 * len(uncovered)) as step:
        change(uncovered, 1.0)
        for b in range(budget):
            best = _first_largest(totals, taken, balls.order)
            ball = balls.ball(best)
            lost = np.flatnonzero(ball & (left > 0))
            indices[b], gains[b] = balls.order[best], float(left[lost].sum())
            change(lost, -1.0)
            left[lost] = 0.0
            covered |= ball
            taken[best] = True
    seen = np.empty(n, dtype=bool)
    seen[balls.order] = covered
    total = float(weight.sum())
    share = float(weight[seen].sum()) / total if total > 0 else 1.0
    return BallCoverage(indices, gains, seen, min(share, 1.0))


class _Balls:
    """Points sorted along their widest feature, which bounds where a ball can reach."""

    def __init__(self, X: np.ndarray, radius: float) -> None:
        # Rounding moves differences of features by less than this.
        slack = 8.0 * float(np.finfo(float).eps) * (radius + float(np.abs(X).max(initial=0.0)))
        self.reach, self.limit = radius + slack, _largest_square(radius)
        columns = np.argsort(-np.ptp(X, axis=0), kind="stable") if len(X) else np.arange(X.shape[1])
        self.order = np.argsort(X[:, columns[0]], kind="stable") if len(X) else np.arange(0)
        self.points = np.ascontiguousarray(X[np.ix_(self.order, columns)])
        self.X = np.ascontiguousarray(self.points.T)
        self.keys = self.X[0]

    def ball(self, i: int) -> np.ndarray:
        from corollary.active._loops import squared_distances

        squares = np.empty(len(self.points))
        squared_distances(self.X, self.points[i], squares)
        return squares <= self.limit


def _largest_square(radius: float) -> float:
    """Return the largest number whose root is at most the radius, so that both tests agree."""
    limit = radius * radius
    while np.sqrt(np.nextafter(limit, np.inf)) <= radius:
        limit = float(np.nextafter(limit, np.inf))
    return limit


def _first_largest(totals: np.ndarray, taken: np.ndarray, order: np.ndarray) -> int:
    scores = np.where(taken, -1.0, np.maximum(totals, 0.0))
    ties = np.flatnonzero(scores == scores.max())
    return int(ties[np.argmin(order[ties])])


class CoverageSampler(AskTell):
    """Ask for labels of points whose balls cover a pool.

    Parameters
    ----------
    domain : Pool or array-like of shape (n, n_features)
        The pool.
    radius : float
        Radius of the balls.

    See Also
    --------
    greedy_ball_coverage : The choice as a function.
    coverage_bound : What it promises about the nearest-neighbour rule.

    Notes
    -----
    The choice depends on no label: asking for b points at once or one by one is the same. Labels
    are numbers; each point is asked once.

    Examples
    --------
    >>> from corollary.active import CoverageSampler
    >>> sampler = CoverageSampler([[0.0], [1.0], [2.0], [7.0], [8.0]], radius=1.0)
    >>> sampler.ask().indices, sampler.ask().indices
    (array([1]), array([3]))
    """

    def __init__(self, domain: Any, radius: float) -> None:
        super().__init__(domain, repeat=False, random_state=0)
        if not isinstance(self.domain, Pool):
            raise ValueError("CoverageSampler covers the points of a pool. Got a box.")
        if not (isinstance(radius, Real) and 0 <= radius < np.inf):
            raise ValueError(
                "The 'radius' parameter of CoverageSampler must be a finite float in the range "
                f"[0.0, inf). Got {radius!r} instead."
            )
        self.radius: float = float(radius)

    def _choose(self, n: int) -> list[int]:
        assert isinstance(self.domain, Pool)
        seen = self._told + self._pending
        if n > len(self.domain.X) - len(set(seen)):
            raise self._nothing_left(len(self.domain.X))
        chosen = greedy_ball_coverage(self.domain.X, n, self.radius, initial=np.array(seen, int))
        for index in chosen.indices.tolist():
            self._expect(index)
        return chosen.indices.tolist()

    def _learn(self, keys: list[int], values: np.ndarray) -> None:
        """Labels do not change what is asked."""
