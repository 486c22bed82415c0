"""Importance of groups of columns by shuffling them together, with an interval over the rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from corollary.core.progress import track

#: Numbers of shuffled rows that are predicted at a time.
MOST_NUMBERS = 2**22


@dataclass(frozen=True)
class GroupImportance:
    """By how much the loss rises when the columns of a group are shuffled together.

    Parameters
    ----------
    rise : float
        Mean rise of the loss.
    low : float
        Lower end of its interval.
    high : float
        Upper end.
    n : int
        Rows.
    """

    rise: float
    low: float
    high: float
    n: int


def grouped_importance(
    predict: Callable[[np.ndarray], np.ndarray],
    X: np.ndarray,
    y: np.ndarray,
    groups: Sequence[np.ndarray],
    loss: Callable[[np.ndarray, np.ndarray], np.ndarray],
    *,
    predicted: np.ndarray | None = None,
    n_repeats: int = 5,
    confidence: float = 0.95,
    random_state: int | np.random.Generator = 0,
) -> list[GroupImportance]:
    """Measure how much the loss rises when groups of columns are shuffled among the rows.

    Features that were made of one column of a table belong together: shuffled together they stand
    for the column itself. A row moves the mean rise twice, by its own rise and by the values that
    it gives to another row; the interval allows for both. Guarantee: approximate (Student's law
    over the rows), checked by simulation in ``tests/reporting/test_importance.py``.

    Parameters
    ----------
    predict : callable
        ``predict(X)`` gives what the loss is computed from.
    X : ndarray of shape (n, n_features)
        Rows that the model has not seen.
    y : ndarray of shape (n,)
        Their targets.
    groups : sequence of ndarray
        Columns of each group, as positions or as a mask.
    loss : callable
        ``loss(y, prediction)`` by row.
    predicted : ndarray or None, default=None
        Predictions of X, if they are known already.
    n_repeats : int, default=5
        Shuffles; the same for all groups.
    confidence : float, default=0.95
        Nominal confidence of each interval.
    random_state : int or Generator, default=0
        Determines the shuffles.

    Returns
    -------
    importances : list of GroupImportance
        One for each group.

    See Also
    --------
    permutation_importance : Column by column, for a fitted estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import grouped_importance
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> first_two = lambda X: X[:, 0] + X[:, 1]
    >>> error = lambda y, p: np.abs(y - p)
    >>> groups = [np.array([0, 1]), np.array([2])]
    >>> found = grouped_importance(first_two, X, first_two(X), groups, error)
    >>> [one.low > 0 for one in found]
    [True, False]
    """
    rng, n = np.random.default_rng(random_state), len(y)
    before = loss(y, predict(X) if predicted is None else predicted)
    orders = np.array([rng.permutation(n) for _ in range(n_repeats)])
    # Several groups, and all shuffles of each, in one call: to most models a call with more rows
    # costs little more. The block is filled once; only the columns of a group change in its rows.
    size = n_repeats * n
    together = min(max(1, MOST_NUMBERS // max(1, n_repeats * X.size)), max(1, len(groups)))
    block, targets = np.tile(X, (together * n_repeats, 1)), np.tile(y, together * n_repeats)
    importances = []
    with track("shuffling columns", total=len(groups)) as step:
        for start in range(0, len(groups), together):
            some = groups[start : start + together]
            for k, group in enumerate(some):
                block[k * size : (k + 1) * size, group] = X[:, group][orders.ravel()]
            rows = len(some) * size
            after = loss(targets[:rows], predict(block[:rows])).reshape(-1, n_repeats, n)
            importances += [_importance(losses - before, orders, confidence) for losses in after]
            for k, group in enumerate(some):
                block[k * size : (k + 1) * size, group] = np.tile(X[:, group], (n_repeats, 1))
                step()
    return importances


def _importance(rises: np.ndarray, orders: np.ndarray, confidence: float) -> GroupImportance:
    """Average the rises of rows over shuffles; a row moves them by its own and by what it lent."""
    from scipy.special import stdtrit

    n_repeats, n = rises.shape
    rise, lent = rises.mean(axis=0), np.zeros(n)
    for order, part in zip(orders, rises):
        lent[order] += part / n_repeats
    mean = float(rise.mean())
    spread = float((rise + lent).std(ddof=1)) if n > 1 else np.inf
    quantile = float(stdtrit(n - 1, (1 + confidence) / 2)) if n > 1 else np.inf
    radius = float(quantile * spread / np.sqrt(n))
    return GroupImportance(mean, mean - radius, mean + radius, n)
