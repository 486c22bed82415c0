r"""Balls, purity and coverage, and what they say about the nearest-neighbour rule.

Every point of a population has its label, without noise. The ball :math:`B_\delta(x)` is *pure* if
all points in it have the label of x. A labelled set L *covers* what lies within :math:`\delta` of
it. The nearest-neighbour rule is right on every covered point whose ball is pure, since its
nearest labelled point lies in that ball. Therefore
:math:`R\le1-P(C(L,\delta))+\pi(\delta)` with :math:`\pi(\delta)` the mass of impure balls.
"""

from functools import partial
from numbers import Real
from typing import Annotated, Any, NamedTuple

import numpy as np

from corollary.active._checks import (
    COLUMNS_AT_ONCE,
    ROWS_AT_ONCE,
    check_indices,
    check_masses,
    finite_rows,
)
from corollary.core.compat import Interval
from corollary.core.estimator import NonNegative, checked
from corollary.core.parallel import in_blocks


class CoverageRegions(NamedTuple):
    """What a labelled set covers, and where its nearest-neighbour rule is right.

    Parameters
    ----------
    covered : ndarray of shape (n,), dtype=bool
        Points within the radius of the labelled set.
    right : ndarray of shape (n,), dtype=bool
        Covered points that the nearest-neighbour rule labels right.
    wrong : ndarray of shape (n,), dtype=bool
        Covered points that it labels wrong.
    pure : ndarray of shape (n,), dtype=bool
        Points whose balls hold one label only.
    error : ndarray of shape (n,), dtype=bool
        All points that the rule labels wrong, covered or not.
    """

    covered: np.ndarray
    right: np.ndarray
    wrong: np.ndarray
    pure: np.ndarray
    error: np.ndarray


class CoverageBound(NamedTuple):
    r"""A bound on the risk of the nearest-neighbour rule and its parts.

    Parameters
    ----------
    bound : float
        :math:`\min(1,1-P(C)+\pi(\delta))`.
    coverage : float
        Mass :math:`P(C(L,\delta))` of what is covered.
    impurity : float
        Mass :math:`\pi(\delta)` of impure balls.
    risk : float
        Risk of the rule on this population, which the bound is about.
    """

    bound: float
    coverage: float
    impurity: float
    risk: float


def enemy_distances(X: Any, y: Any) -> np.ndarray:
    """Return the distance of every point to the nearest one with another label.

    The ball of a point is impure if and only if its radius is at least this.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
        The population.
    y : array-like of shape (n,)
        Labels of any kind.

    Returns
    -------
    distances : ndarray of shape (n,)
        Infinity if there is one label only.

    Examples
    --------
    >>> from corollary.active import enemy_distances
    >>> enemy_distances([[0.0], [1.0], [3.0]], ["a", "a", "b"])
    array([3., 2., 2.])
    """
    rows, labels = _labelled("enemy_distances", X, y)
    return np.sqrt(_nearest(rows, rows, labels, labels)[0])


@checked
def impurity(X: Any, y: Any, radius: NonNegative, *, sample_weight: Any = None) -> float:
    r"""Return the mass of points whose balls hold more than one label.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
        The population.
    y : array-like of shape (n,)
        Labels of any kind.
    radius : float
        Radius :math:`\delta` of the balls, which include their surface.
    sample_weight : array-like of shape (n,) or None, default=None
        Masses of the points; None for equal ones.

    Returns
    -------
    impurity : float
        :math:`\pi(\delta)=P(B_\delta(x)\text{ is not pure})`, non-decreasing in the radius.

    See Also
    --------
    pure_radius : The largest radius for a wanted impurity.

    Examples
    --------
    >>> from corollary.active import impurity
    >>> impurity([[0.0], [1.0], [3.0], [9.0]], [0, 0, 1, 1], radius=2.0)
    0.5
    """
    impure = enemy_distances(X, y) <= radius
    return _mass(impure, sample_weight)


@checked
def pure_radius(
    X: Any, y: Any, allowed: Annotated[float, Interval(Real, 0, 1, closed="left")] = 0.05
) -> float:
    r"""Return the largest radius at which few balls are impure.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
        Points with labels, such as those of a cluster analysis.
    y : array-like of shape (n,)
        Labels of any kind.
    allowed : float, default=0.05
        Share of impure balls that is allowed, below 1.

    Returns
    -------
    radius : float
        The largest number :math:`\delta` with :math:`\pi(\delta)` at most ``allowed``; infinity
        if there is one label only, and 0 if already equal points have too many labels.

    Examples
    --------
    >>> from corollary.active import impurity, pure_radius
    >>> X, y = [[0.0], [1.0], [3.0], [9.0]], [0, 0, 1, 1]
    >>> radius = pure_radius(X, y, allowed=0.5)
    >>> radius < 3.0, impurity(X, y, radius)
    (True, 0.5)
    """
    distances = np.sort(enemy_distances(X, y))
    first_too_many = int(np.floor(allowed * len(distances) + 1e-9))
    too_large = float(distances[first_too_many])
    # Already at this radius one ball too many would be impure.
    return too_large if np.isinf(too_large) else max(0.0, float(np.nextafter(too_large, 0.0)))


@checked
def coverage_regions(X: Any, y: Any, labelled: Any, radius: NonNegative) -> CoverageRegions:
    r"""Say what a labelled set covers and where its nearest-neighbour rule errs.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
        The population.
    y : array-like of shape (n,)
        Labels of all points.
    labelled : array-like of int
        Indices of the points L whose labels the rule knows.
    radius : float
        Radius :math:`\delta`.

    Returns
    -------
    regions : CoverageRegions
        Covered points C, split in right and wrong ones, pure balls and all errors.

    Notes
    -----
    A covered point with a pure ball is never wrong, so that ``wrong`` lies in the complement of
    ``pure``. Of several nearest points the first in ``labelled`` counts.

    Examples
    --------
    >>> from corollary.active import coverage_regions
    >>> regions = coverage_regions([[0.0], [1.0], [2.0]], [0, 0, 1], [0, 2], radius=1.0)
    >>> regions.covered, regions.right
    (array([ True,  True,  True]), array([ True,  True,  True]))
    """
    rows, labels = _labelled("coverage_regions", X, y)
    chosen = check_indices("coverage_regions", labelled, len(rows))
    pure = enemy_distances(rows, labels) > radius
    none = np.zeros(len(rows), dtype=bool)
    if not len(chosen):
        return CoverageRegions(none, none.copy(), none.copy(), pure, ~none)
    squares, nearest = _nearest(rows, np.ascontiguousarray(rows[chosen]))
    covered = np.sqrt(squares) <= radius
    error = labels[chosen][nearest] != labels
    return CoverageRegions(covered, covered & ~error, covered & error, pure, error)


@checked
def coverage_bound(
    X: Any, y: Any, labelled: Any, radius: NonNegative, *, sample_weight: Any = None
) -> CoverageBound:
    r"""Bound the risk of the nearest-neighbour rule by coverage and purity.

    :math:`R(\hat f)\le1-P(C(L,\delta))+\pi(\delta)` for labels without noise.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
        The population.
    y : array-like of shape (n,)
        Labels of all points.
    labelled : array-like of int
        Indices of the points whose labels the rule knows.
    radius : float
        Radius :math:`\delta`; the bound holds for every one.
    sample_weight : array-like of shape (n,) or None, default=None
        Masses of the points; None for equal ones.

    Returns
    -------
    result : CoverageBound
        The bound, its parts and the risk itself.

    See Also
    --------
    greedy_ball_coverage : Chooses what to label so that the coverage is large.

    Notes
    -----
    Guarantee: a statement about this population, not about a sample from another: it holds with
    certainty for every labelled set and radius. Checked by
    ``tests/active/test_coverage.py::test_bound_holds_on_every_finite_population``.

    Examples
    --------
    >>> from corollary.active import coverage_bound
    >>> coverage_bound([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1], [0], radius=1.0)
    CoverageBound(bound=0.5, coverage=0.5, impurity=0.0, risk=0.5)
    """
    regions = coverage_regions(X, y, labelled, radius)
    cover, mixed = _mass(regions.covered, sample_weight), _mass(~regions.pure, sample_weight)
    bound = min(1.0, max(0.0, 1.0 - cover) + mixed)
    return CoverageBound(bound, cover, mixed, _mass(regions.error, sample_weight))


def _mass(which: np.ndarray, sample_weight: Any) -> float:
    weight = check_masses(sample_weight, len(which))
    total = float(weight.sum())
    if not total > 0:
        raise ValueError("The masses of a population must not all be zero.")
    return float(weight[which].sum()) / total


def _labelled(who: str, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    rows = np.ascontiguousarray(finite_rows(who, X))
    values = np.asarray(y)
    if values.shape != (len(rows),) or not len(rows):
        raise ValueError(
            f"{who} needs at least one point and one label for each. "
            f"Got {len(rows)} points and labels of shape {values.shape}."
        )
    return rows, np.unique(values, return_inverse=True)[1].astype(np.int64)


def _nearest(
    X: np.ndarray,
    Y: np.ndarray,
    labels: np.ndarray | None = None,
    others: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    from corollary.active._loops import nearest

    squares, indices = np.full(len(X), np.inf), np.full(len(X), -1, dtype=np.int64)
    columns = np.ascontiguousarray(X.T)
    if labels is None or others is None:
        labels, others = np.zeros(len(X), dtype=np.int64), np.full(len(Y), -1, dtype=np.int64)
    for at in range(0, len(Y), ROWS_AT_ONCE):
        some = slice(at, at + ROWS_AT_ONCE)
        part = np.full(len(X), -1, dtype=np.int64)
        what = (columns, Y[some], labels, others[some], squares, part)
        in_blocks(partial(nearest, *what), len(X), COLUMNS_AT_ONCE)
        indices = np.where(part >= 0, at + part, indices)
    return squares, indices
