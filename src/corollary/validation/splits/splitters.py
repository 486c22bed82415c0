"""Folds of units and of time as splitters of scikit-learn's kind."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator

from corollary.validation._units import Fold, count_rows, read_moments, read_units
from corollary.validation.splits.time import block_folds, forward_folds
from corollary.validation.splits.units import unit_folds


class _Splitter(BaseCrossValidator):
    """What splitters share: the number of folds is a parameter."""

    n_splits: int

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X : object, default=None
            Not read.
        y : object, default=None
            Not read.
        groups : object, default=None
            Not read.

        Returns
        -------
        n_splits : int
            The parameter.
        """
        return self.n_splits


class UnitKFold(_Splitter):
    """K folds of whole units, of nearly equal numbers of rows.

    Parameters
    ----------
    n_splits : int, default=5
        Folds, at least 2 and at most the number of units.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the order in which units are dealt.
    stratify : bool, default=False
        Whether `y` holds class labels whose shares the folds shall have, as far as units allow.

    See Also
    --------
    unit_folds : What it does, as a function.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import cross_val_score
    >>> from corollary.linear import Ridge
    >>> from corollary.validation import UnitKFold
    >>> X, clients = np.arange(20.0)[:, None], np.repeat(np.arange(5), 4)
    >>> folds = UnitKFold(5, random_state=0)
    >>> scores = cross_val_score(Ridge(), X, 2 * X[:, 0], cv=folds, groups=clients)
    >>> len(scores)
    5
    """

    # So that scikit-learn's metadata routing hands the groups over.
    __metadata_request__split = {"groups": True}

    def __init__(
        self, n_splits: int = 5, *, random_state: Any = None, stratify: bool = False
    ) -> None:
        self.n_splits = n_splits
        self.random_state = random_state
        self.stratify = stratify

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Fold]:
        """Yield the positions of training rows and of rows left out, fold by fold.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; only their number is read.
        y : array-like of shape (n_samples,) or None, default=None
            Class labels, read if `stratify`.
        groups : array-like of shape (n_samples,), default=None
            The unit of each row; required.

        Yields
        ------
        train : ndarray
            Positions of training rows.
        test : ndarray
            Positions of rows left out.
        """
        if groups is None:
            raise ValueError("UnitKFold needs the unit of each row. Pass them as groups=.")
        codes = read_units("UnitKFold", groups, count_rows(X), least=2)
        labels = y if self.stratify else None
        fold = unit_folds(codes, self.n_splits, self.random_state, y=labels)
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


class _TimeSplitter(_Splitter):
    """What splitters by time share: the moments of the rows."""

    time: Any

    @abstractmethod
    def folds(self, moments: Any) -> list[Fold]:
        """Return the folds of rows with these moments."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Fold]:
        """Yield the positions of training rows and of predicted rows, earliest stretch first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; only their number is read.
        y : object, default=None
            Not read.
        groups : object, default=None
            Not read.

        Yields
        ------
        train : ndarray
            Positions of training rows.
        test : ndarray
            Positions of predicted rows.
        """
        n = count_rows(X)
        who = type(self).__name__
        yield from self.folds(
            np.arange(n) if self.time is None else read_moments(who, self.time, n)
        )


class ForwardChaining(_TimeSplitter):
    """Stretches of time, each predicted from the rows before it.

    Parameters
    ----------
    n_splits : int, default=5
        Stretches that are predicted.
    horizon : float or timedelta or None, default=None
        Length of a stretch; None for equal numbers of rows.
    gap : float or timedelta, default=0
        Training rows lie at least this much before the stretch.
    first : float or None, default=None
        Share of the rows that are never predicted; None for as many as a stretch has.
    time : array-like of shape (n_samples,) or None, default=None
        When each row happened: numbers or dates. None if the rows are in the order of time.
        :func:`cross_validate` and its siblings hand over their own ``time=``.

    See Also
    --------
    forward_folds : What it does, as a function.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from corollary.linear import Ridge
    >>> from corollary.validation import ForwardChaining
    >>> years = [2003, 2001, 2002, 2005, 2004, 2006]
    >>> search = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=ForwardChaining(2, time=years))
    >>> search.fit([[year] for year in years], years).n_splits_
    2
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        horizon: Any = None,
        gap: Any = 0,
        first: float | None = None,
        time: Any = None,
    ) -> None:
        self.n_splits = n_splits
        self.horizon = horizon
        self.gap = gap
        self.first = first
        self.time = time

    def folds(self, moments: Any) -> list[Fold]:
        """Return the folds of rows with these moments.

        Parameters
        ----------
        moments : array-like of shape (n_samples,)
            When each row happened.

        Returns
        -------
        folds : list of tuple of ndarray
            Positions of training rows and of predicted rows.
        """
        return forward_folds(
            moments, self.n_splits, horizon=self.horizon, gap=self.gap, first=self.first
        )


class BlockKFold(_TimeSplitter):
    """Stretches of time that are left out, together with their neighbours.

    Parameters
    ----------
    n_splits : int, default=5
        Stretches of equal numbers of rows.
    gap : float or timedelta, default=0
        Training rows lie at least this much before or after the stretch.
    time : array-like of shape (n_samples,) or None, default=None
        When each row happened: numbers or dates. None if the rows are in the order of time.

    See Also
    --------
    block_folds : What it does, as a function.

    Examples
    --------
    >>> from corollary.validation import BlockKFold
    >>> train, test = next(BlockKFold(3, gap=2).split([[0]] * 6))
    >>> train.tolist(), test.tolist()
    ([3, 4, 5], [0, 1])
    """

    def __init__(self, n_splits: int = 5, *, gap: Any = 0, time: Any = None) -> None:
        self.n_splits = n_splits
        self.gap = gap
        self.time = time

    def folds(self, moments: Any) -> list[Fold]:
        """Return the folds of rows with these moments.

        Parameters
        ----------
        moments : array-like of shape (n_samples,)
            When each row happened.

        Returns
        -------
        folds : list of tuple of ndarray
            Positions of training rows and of rows left out.
        """
        return block_folds(moments, self.n_splits, gap=self.gap)
