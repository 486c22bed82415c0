"""Importance of groups of columns by shuffling them together, with an interval over the rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from corollary.core.progress import track


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
    from scipy.special import stdtrit

    rng, n = np.random.default_rng(random_state), len(y)
    before = loss(y, predict(X) if predicted is None else predicted)
    quantile = float(stdtrit(n - 1, (1 + confidence) / 2)) if n > 1 else np.inf
    orders = [rng.permutation(n) for _ in range(n_repeats)]
    importances = []
    with track("shuffling columns", total=len(groups)) as step:
        for group in groups:
            # All shuffles at once: one call costs a forest or a process little more than another.
            shuffled = np.concatenate([X] * n_repeats)
            shuffled[:, group] = X[np.concatenate(orders)][:, group]
            after = loss(np.tile(y, n_repeats), predict(shuffled)).reshape(n_repeats, n)
            rise, lent = np.zeros(n), np.zeros(n)
            for order, losses in zip(orders, after):
                part = (losses - before) / n_repeats
                rise += part
                lent[order] += part
            mean = float(rise.mean())
            spread = float((rise + lent).std(ddof=1)) if n > 1 else np.inf
            radius = float(quantile * spread / np.sqrt(n))
            importances.append(GroupImportance(mean, mean - radius, mean + radius, n))
            step()
    return importances
