"""A table as bytes, ready to grow many trees."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from corollary.tree.binning._columns import check_room
from corollary.tree.binning.bins import Bins, find_bins


@dataclass(frozen=True)
class BinnedTable:
    """A table as bytes, ready to grow many trees.

    Parameters
    ----------
    bins : Bins
        Thresholds of the columns.
    codes : ndarray of uint8 of shape (n_samples, n_features)
        Bins of all values, column by column.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.tree import BinnedTable
    >>> BinnedTable.of(np.array([[0.0], [1.0], [2.0]])).cuts[0, :3]
    array([0.5, 1.5, inf])
    """

    bins: Bins
    codes: np.ndarray
    cuts: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        cuts = np.full((len(self.bins.cuts), 256), np.inf)
        for j, column_cuts in enumerate(self.bins.cuts):
            cuts[j, : len(column_cuts)] = column_cuts
        object.__setattr__(self, "cuts", cuts)

    @classmethod
    def of(
        cls,
        X: Any,
        *,
        sample_weight: np.ndarray | None = None,
        categorical: np.ndarray | None = None,
        n_jobs: int | None = None,
    ) -> Self:
        """Bin the columns of a table.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            Numbers and codes; columns of a sparse matrix are filled one at a time.
        sample_weight : ndarray of shape (n_samples,) or None, default=None
            Weights; bins have about equal weight.
        categorical : ndarray of bool of shape (n_features,) or None, default=None
            Which columns hold codes of categories; None for none.
        n_jobs : int or None, default=None
            Threads; None means one per available core. The result does not depend on it.

        Returns
        -------
        table : BinnedTable
            One byte per value.
        """
        if hasattr(X, "indptr"):
            check_room("Bins", X.shape, 1, "Keep fewer columns, or reduce them first")
        bins = find_bins(X, sample_weight=sample_weight, categorical=categorical, n_jobs=n_jobs)
        return cls(bins, bins.transform(X, n_jobs=n_jobs))
