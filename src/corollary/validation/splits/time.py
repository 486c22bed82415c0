"""Folds of rows that come in time: later rows predicted from earlier ones, stretches left out."""

from typing import Any

import numpy as np

from corollary.core.estimator import CountFromTwo, Probability, checked
from corollary.validation._units import Fold, read_moments, read_span


@checked
def split_latest(
    moments: Any, test_share: Probability, *, gap: Any = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Keep aside the latest rows.

    Parameters
    ----------
    moments : array-like of shape (n_samples,)
        When each row happened: numbers or dates. Equal moments stay together.
    test_share : float
        Share of the rows that are kept aside, as nearly as equal moments allow.
    gap : float or timedelta, default=0
        Rows less than this before the first row that is kept aside are left out.

    Returns
    -------
    train : ndarray
        Positions of the rows to learn from.
    test : ndarray
        Positions of the rows that are kept aside.

    Examples
    --------
    >>> from corollary.validation import split_latest
    >>> train, test = split_latest([2021, 2020, 2023, 2022], 0.25)
    >>> train.tolist(), test.tolist()
    ([0, 1, 3], [2])
    """
    return _chain("split_latest", moments, 1, None, gap, 1 - test_share)[0]


@checked
def forward_folds(
    moments: Any,
    n_folds: Any,
    *,
    horizon: Any = None,
    gap: Any = 0,
    first: Probability | None = None,
) -> list[Fold]:
    """Predict each stretch of time from the rows before it.

    Parameters
    ----------
    moments : array-like of shape (n_samples,)
        When each row happened, in any order of rows: numbers, or dates of numpy, pandas or polars.
    n_folds : int
        Stretches that are predicted, one after the other up to the last row.
    horizon : float or timedelta or None, default=None
        Length of a stretch, a number in the unit of the moments or a length of time for dates. None
        makes stretches of equal numbers of rows; equal moments are never divided.
    gap : float or timedelta, default=0
        Training rows lie at least this much before the first row of the stretch: how late outcomes
        become known.
    first : float or None, default=None
        Share of the rows, the earliest ones, that are never predicted; None for as many as a
        stretch has. With a horizon they are what its stretches leave.

    Returns
    -------
    folds : list of tuple of ndarray
        Positions of training rows and of predicted rows, earliest stretch first.

    See Also
    --------
    ForwardChaining : The splitter of scikit-learn's kind.
    block_folds : For series that are to be filled in, not continued.

    Examples
    --------
    >>> from corollary.validation import forward_folds
    >>> for train, test in forward_folds([1, 2, 3, 4, 5, 6], 2):
    ...     print(train.tolist(), test.tolist())
    [0, 1] [2, 3]
    [0, 1, 2, 3] [4, 5]
    >>> for train, test in forward_folds([1, 2, 3, 4, 5, 6], 2, horizon=1, gap=2):
    ...     print(train.tolist(), test.tolist())
    [0, 1, 2] [4]
    [0, 1, 2, 3] [5]
    """
    return _chain("forward_folds", moments, n_folds, horizon, gap, first)


@checked
def block_folds(moments: Any, n_folds: CountFromTwo, *, gap: Any = 0) -> list[Fold]:
    """Leave out stretches of time, and the rows next to them from training.

    This measures filling in: rows after the stretch train as well as rows before it. Neighbours in
    time resemble each other, so that a random fold would be too kind; a `gap` of the length of that
    memory makes the stretch new.

    Parameters
    ----------
    moments : array-like of shape (n_samples,)
        When each row happened: numbers or dates, in any order of rows.
    n_folds : int
        Stretches of equal numbers of rows; equal moments are never divided.
    gap : float or timedelta, default=0
        Training rows lie at least this much before the first or after the last row left out.

    Returns
    -------
    folds : list of tuple of ndarray
        Positions of training rows and of rows left out, earliest stretch first.

    Examples
    --------
    >>> from corollary.validation import block_folds
    >>> train, test = block_folds([1, 2, 3, 4, 5, 6], 3, gap=2)[1]
    >>> train.tolist(), test.tolist()
    ([0, 5], [2, 3])
    """
    times = read_moments("block_folds", moments)
    span = read_span("block_folds", "gap", gap, times)
    stretch = _stretches("block_folds", times, np.linspace(0, 1, n_folds + 1)[1:-1])
    folds = []
    for block in range(n_folds):
        test = stretch == block
        before = times <= times[test].min() - span
        train = ~test & (before | (times >= times[test].max() + span))
        folds.append(_fold("block_folds", train, test))
    return folds


def _chain(
    who: str, moments: Any, n_folds: Any, horizon: Any, gap: Any, first: float | None
) -> list[Fold]:
    """Return the folds of forward chaining."""
    times = read_moments(who, moments)
    if not isinstance(n_folds, int | np.integer) or n_folds < 1:
        raise ValueError(f"{who} needs a whole number of folds, at least 1. Got {n_folds!r}.")
    span = read_span(who, "gap", gap, times)
    if horizon is None:
        first = 1 / (n_folds + 1) if first is None else first
        stretch = _stretches(who, times, np.linspace(first, 1, n_folds + 1)[:-1]) - 1
    elif first is not None:
        raise ValueError(f"{who} takes 'horizon' or 'first': one follows from the other. Got both.")
    else:
        stretch = _steps(who, times, int(n_folds), horizon)
    folds = []
    for block in range(n_folds):
        test = stretch == block
        train = (stretch < block) & (times <= times[test].min() - span)
        folds.append(_fold(who, train, test))
    return folds


def _stretches(who: str, times: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Return the stretch of each row: time cut at shares of the rows, equal moments undivided."""
    distinct, place, counts = np.unique(times, return_inverse=True, return_counts=True)
    if len(distinct) <= len(cuts):
        raise ValueError(
            f"{who} needs at least {len(cuts) + 1} different moments for its stretches. Got "
            f"{len(distinct)}; ask for fewer folds."
        )
    ends = np.cumsum(counts)
    starts, last = np.zeros(len(distinct), dtype=int), 0
    for i, cut in enumerate(cuts):
        # The moment after which the share of rows is nearest to what is asked for.
        nearest = int(np.argmin(np.abs(ends - cut * len(times)))) + 1
        last = min(max(nearest, last + 1), len(distinct) - len(cuts) + i)
        starts[last] = 1
    return np.cumsum(starts)[place]


def _steps(who: str, times: np.ndarray, n_folds: int, horizon: Any) -> np.ndarray:
    """Return the stretch of each row: steps of one horizon back from the last row."""
    step = read_span(who, "horizon", horizon, times)
    if not step > 0 * step:
        raise ValueError(f"The 'horizon' parameter of {who} must be positive. Got {horizon!r}.")
    end = times.max()
    edges = np.array([end - k * step for k in range(n_folds, 0, -1)])
    if edges[0] < times.min():
        raise ValueError(
            f"{who} needs rows before the first of {n_folds} stretches of length {horizon}. Got "
            f"moments from {times.min()} to {end}; ask for fewer folds or a shorter horizon."
        )
    # A stretch has its end and not its start: rows up to the edge train.
    stretch = np.searchsorted(edges, times, side="left") - 1
    empty = np.setdiff1d(np.arange(n_folds), stretch)
    if len(empty):
        raise ValueError(
            f"{who} needs rows in each stretch. Got none after {edges[empty[0]]} for a length of "
            f"{horizon}; ask for a longer horizon or fewer folds."
        )
    return stretch


def _fold(who: str, train: np.ndarray, test: np.ndarray) -> Fold:
    """Return positions, and refuse a fold without training rows."""
    if not train.any():
        raise ValueError(
            f"{who} needs rows to learn from outside each stretch and its gap. Got none; ask for a "
            "shorter gap or fewer folds."
        )
    return np.flatnonzero(train), np.flatnonzero(test)
