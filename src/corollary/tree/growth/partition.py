r"""Regression by a constant on each part of a partition.

Given disjoint boxes :math:`R_1, \dots, R_P` that cover the space, the best constants for squared
error are the means, :math:`f(x) = \sum_p c_p 1[x \in R_p]`. The best partition itself is out of
reach in general, which is why trees split greedily; on a line it is found by dynamic programming
(:func:`optimal_segments`), the yardstick of greedy splits.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.core.estimator import ArrayLike, Count, checked
from corollary.tree.structure.tree import Tree


@dataclass(frozen=True, eq=False)
class PiecewiseConstant:
    """A function that is constant on boxes ``lower < x <= upper``.

    Parameters
    ----------
    lower : ndarray of shape (n_boxes, n_features)
        Lower corners, not part of the boxes.
    upper : ndarray of shape (n_boxes, n_features)
        Upper corners, part of the boxes.
    values : ndarray of shape (n_boxes,)
        The constants.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.tree import PiecewiseConstant
    >>> inf = np.inf
    >>> step = PiecewiseConstant(np.array([[-inf], [0.0]]), np.array([[0.0], [inf]]),
    ...                          np.array([1.0, 2.0]))
    >>> step(np.array([[-3.0], [0.0], [0.1]]))
    array([1., 1., 2.])
    """

    lower: np.ndarray
    upper: np.ndarray
    values: np.ndarray

    def boxes(self, X: Any) -> np.ndarray:
        """Return the box of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows without missing values.

        Returns
        -------
        box : ndarray of int of shape (n_samples,)
            Numbers of boxes.

        Raises
        ------
        ValueError
            If a row lies in no box or in several.
        """
        X = np.asarray(X, dtype=np.float64)
        inside = np.ones((len(X), len(self.lower)), dtype=bool)
        for j in range(self.lower.shape[1]):
            x = X[:, j, None]
            inside &= (self.lower[:, j] < x) & (x <= self.upper[:, j])
        hits = inside.sum(axis=1)
        if (hits != 1).any():
            i = int(np.flatnonzero(hits != 1)[0])
            raise ValueError(
                "The boxes must be disjoint and cover all rows. "
                f"Row {i} lies in {int(hits[i])} of them."
            )
        return inside.argmax(axis=1)

    def __call__(self, X: Any) -> np.ndarray:
        """Return the constant of each row's box."""
        return self.values[self.boxes(X)]


def fit_partition(
    lower: Any, upper: Any, X: Any, y: Any, *, sample_weight: Any = None
) -> PiecewiseConstant:
    """Fit the best constant to each box by least squares: the mean of its rows.

    Parameters
    ----------
    lower : array-like of shape (n_boxes, n_features)
        Lower corners; minus infinity where there is no limit.
    upper : array-like of shape (n_boxes, n_features)
        Upper corners; infinity where there is no limit.
    X : array-like of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Targets.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights.

    Returns
    -------
    function : PiecewiseConstant
        Boxes without rows get the mean of all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.tree import fit_partition
    >>> inf = np.inf
    >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array([1.0, 3.0, 7.0])
    >>> fit_partition([[-inf], [2.0]], [[2.0], [inf]], X, y).values
    array([2., 7.])
    """
    low, high = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
    if low.ndim != 2 or low.shape != high.shape or not (low < high).all():
        raise ValueError(
            "Boxes need lower corners below upper corners, both of shape (n_boxes, n_features). "
            f"Got shapes {low.shape} and {high.shape}."
        )
    y = np.asarray(y, dtype=np.float64)
    weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    box = PiecewiseConstant(low, high, np.zeros(len(low))).boxes(X)
    mass = np.bincount(box, weights=weight, minlength=len(low))
    sums = np.bincount(box, weights=weight * y, minlength=len(low))
    mean = np.average(y, weights=weight)
    values = np.where(mass > 0, sums / np.where(mass > 0, mass, 1.0), mean)
    return PiecewiseConstant(low, high, values)


def leaf_boxes(tree: Tree) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the boxes of a tree's leaves.

    Parameters
    ----------
    tree : Tree
        A tree without categorical splits.

    Returns
    -------
    leaves : ndarray of int of shape (n_leaves,)
        Numbers of the leaves.
    lower : ndarray of shape (n_leaves, n_features)
        Lower corners, not part of the boxes.
    upper : ndarray of shape (n_leaves, n_features)
        Upper corners, part of the boxes.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.tree import DecisionTreeRegressor, leaf_boxes
    >>> model = DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
    >>> leaves, lower, upper = leaf_boxes(model.nodes_)
    >>> lower.ravel(), upper.ravel()
    (array([-inf,  0.5]), array([0.5, inf]))
    """
    if len(tree.categories) and (tree.categories >= 0).any():
        raise ValueError("A categorical split makes no box. Got a tree that has one.")
    lower = np.full((tree.n_nodes, tree.n_features), -np.inf)
    upper = np.full((tree.n_nodes, tree.n_features), np.inf)
    for node in np.flatnonzero(tree.left >= 0):
        left, f, cut = tree.left[node], tree.feature[node], tree.threshold[node]
        for child in (left, left + 1):
            lower[child], upper[child] = lower[node], upper[node]
        upper[left, f] = min(upper[left, f], cut)
        lower[left + 1, f] = max(lower[left + 1, f], cut)
    leaves = np.flatnonzero(tree.left < 0)
    return leaves, lower[leaves], upper[leaves]


@checked
def optimal_segments(x: ArrayLike, y: ArrayLike, n_segments: Count) -> tuple[np.ndarray, float]:
    """Find the best partition of a line into segments, by dynamic programming.

    Parameters
    ----------
    x : array-like of shape (n_samples,)
        Places on the line.
    y : array-like of shape (n_samples,)
        Targets.
    n_segments : int
        Number of segments; fewer if there are fewer distinct places.

    Returns
    -------
    cuts : ndarray of shape (n_segments - 1,)
        Ends of all segments but the last, midway between neighbouring places.
    residual : float
        The least residual sum of squares. It takes time quadratic in the distinct places.

    Examples
    --------
    >>> from corollary.tree import optimal_segments
    >>> optimal_segments([0.0, 1.0, 2.0, 3.0], [5.0, 0.0, 0.0, 5.0], 3)
    (array([0.5, 2.5]), 0.0)
    """
    x, y = np.asarray(x, dtype=np.float64).ravel(), np.asarray(y, dtype=np.float64).ravel()
    if len(x) != len(y) or not len(x):
        raise ValueError(
            "optimal_segments needs a target for each of at least one place. "
            f"Got {len(x)} places and {len(y)} targets."
        )
    y = y - y.mean()
    places, group = np.unique(x, return_inverse=True)
    n = np.append(0.0, np.cumsum(np.bincount(group)))
    s = np.append(0.0, np.cumsum(np.bincount(group, weights=y)))
    q = np.append(0.0, np.cumsum(np.bincount(group, weights=y * y)))
    size = len(places)
    n_segments = min(n_segments, size)
    # best[j] is the least residual of the first j places in the segments so far.
    best = np.append(0.0, np.full(size, np.inf))
    back = np.zeros((n_segments, size + 1), dtype=np.int64)
    for k in range(n_segments):
        new = np.full(size + 1, np.inf)
        for j in range(k + 1, size + 1):
            i = np.arange(k, j)
            cost = best[i] + q[j] - q[i] - (s[j] - s[i]) ** 2 / (n[j] - n[i])
            least = int(np.argmin(cost))
            new[j], back[k, j] = cost[least], i[least]
        best = new
    ends, j = [], size
    for k in range(n_segments - 1, 0, -1):
        j = int(back[k, j])
        ends.append(j)
    last = np.array(ends[::-1], dtype=np.int64)
    cuts = 0.5 * places[last - 1] + 0.5 * places[last] if len(last) else np.empty(0)
    return cuts, max(0.0, float(best[size]))
