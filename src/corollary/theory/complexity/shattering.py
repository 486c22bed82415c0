"""How many ways a class can label points: dichotomies, growth, and the VC dimension.

A finite class is a table of labels, one row per hypothesis and one column per point of a ground
set; an infinite class is given by what it does on that set. Enumeration is compiled: a set can only
be shattered if all of its subsets are, so sets are grown one point at a time.
"""

import math
from itertools import combinations
from typing import Any

import numpy as np

# Labels are packed into the bits of one integer, and patterns of a set index a table.
_MOST_POINTS, _LARGEST_SET = 62, 24


def count_dichotomies(labels: Any) -> int:
    """Count the different labellings in a table.

    Parameters
    ----------
    labels : array-like of shape (n_hypotheses, n_points)
        Two different values, such as -1 and +1.

    Returns
    -------
    count : int
        At most ``2 ** n_points``.

    Examples
    --------
    >>> from corollary.theory import count_dichotomies
    >>> count_dichotomies([[1, 1], [1, -1], [1, 1]])
    2
    """
    return len(np.unique(_check("count_dichotomies", labels), axis=0))


def is_shattered(labels: Any) -> bool:
    """Tell whether a class labels its points in every possible way.

    Parameters
    ----------
    labels : array-like of shape (n_hypotheses, n_points)
        Labels of the points by each hypothesis.

    Returns
    -------
    shattered : bool
        Whether all ``2 ** n_points`` labellings occur.

    Examples
    --------
    >>> from corollary.theory import is_shattered
    >>> is_shattered([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    True
    """
    table = _check("is_shattered", labels)
    return (
        table.shape[1] <= math.log2(len(table)) and count_dichotomies(table) == 2 ** table.shape[1]
    )


def growth_function(labels: Any, n: int) -> int:
    """Compute the largest number of labellings of n points of a ground set.

    Parameters
    ----------
    labels : array-like of shape (n_hypotheses, n_points)
        Labels of the ground set by each hypothesis; at most 62 points.
    n : int
        Number of points, at most 24.

    Returns
    -------
    count : int
        Maximum of :func:`count_dichotomies` over all sets of n points.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import growth_function
    >>> thresholds = np.where(np.arange(6) < np.arange(7)[:, None], 1, -1)
    >>> [growth_function(thresholds, n) for n in (1, 2, 3)]
    [2, 3, 4]
    """
    from corollary.theory._loops import largest_growth

    masks, n_points = _pack("growth_function", labels)
    if not 1 <= n <= min(n_points, _LARGEST_SET):
        raise ValueError(
            "The 'n' parameter of growth_function must be an int from 1 to the number of points, "
            f"{n_points}, and at most {_LARGEST_SET}. Got {n!r} instead."
        )
    if math.comb(n_points, n) > 20_000_000:
        raise ValueError(
            f"growth_function would look at {math.comb(n_points, n):,} sets of {n} of {n_points} "
            "points. Give a smaller ground set."
        )
    subsets = np.array(list(combinations(range(n_points), n)), dtype=np.int64)
    return int(largest_growth(masks, subsets))


def vc_dimension(labels: Any) -> int:
    """Compute the VC dimension of a class on a finite ground set.

    Parameters
    ----------
    labels : array-like of shape (n_hypotheses, n_points)
        Labels of the ground set by each hypothesis; at most 62 points.

    Returns
    -------
    dimension : int
        Size of the largest shattered set of points; 0 if none is. For an infinite class this is a
        lower bound, reached when the ground set holds a largest shattered set.

    See Also
    --------
    shattered_set : The set itself.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import vc_dimension
    >>> x = np.arange(6)
    >>> intervals = [np.where((x >= a) & (x < b), 1, -1) for a in range(7) for b in range(a, 7)]
    >>> vc_dimension(intervals)
    2
    """
    return len(shattered_set(labels))


def shattered_set(labels: Any) -> tuple[int, ...]:
    """Find a largest set of points that a class shatters.

    Parameters
    ----------
    labels : array-like of shape (n_hypotheses, n_points)
        Labels of the ground set by each hypothesis; at most 62 points.

    Returns
    -------
    points : tuple of int
        Columns of the table, the first such set in lexicographic order.

    Examples
    --------
    >>> from corollary.theory import shattered_set
    >>> shattered_set([[1, 1, 1], [1, -1, 1], [1, 1, -1], [1, -1, -1]])
    (1, 2)
    """
    from corollary.theory._loops import grow_shattered

    masks, n_points = _pack("shattered_set", labels)
    sets = np.zeros((1, 0), dtype=np.int64)
    # More than log2 of the hypotheses cannot be shattered.
    while sets.shape[1] < min(n_points, int(math.log2(len(masks))), _LARGEST_SET):
        larger = grow_shattered(masks, sets, n_points)
        if not len(larger):
            break
        sets = larger
    return tuple(int(point) for point in sets[0])


def _check(who: str, labels: Any) -> np.ndarray:
    table = np.asarray(labels)
    if table.ndim != 2 or not table.size:
        raise ValueError(
            f"The 'labels' parameter of {who} must have one row per hypothesis and one column per "
            f"point. Got shape {table.shape}."
        )
    values = np.unique(table)
    if len(values) > 2:
        raise ValueError(
            f"The 'labels' parameter of {who} must hold two different labels. Got "
            f"{values[:5].tolist()}."
        )
    return table == values[-1]


def _pack(who: str, labels: Any) -> tuple[np.ndarray, int]:
    table = _check(who, labels)
    n_points = table.shape[1]
    if n_points > _MOST_POINTS:
        raise ValueError(
            f"{who} takes at most {_MOST_POINTS} points. Got {n_points}: give a smaller ground set."
        )
    masks = table.astype(np.int64) @ (np.int64(1) << np.arange(n_points, dtype=np.int64))
    return np.unique(masks), n_points
