"""Partitions of rows into groups that each have a threshold of their own, as frozen objects.

A partition sees what is known before the target: the inputs, and what the model predicts. Coverage
then holds within every group (Mondrian conformal prediction). :class:`PerClass` is the exception:
it looks at the candidate label, so that coverage holds for every class.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from corollary.conformal._fitting import Rows
from corollary.conformal.split._partition import Partition, groups_of
from corollary.core.compat import safe_indexing
from corollary.core.schema import Instance, Integer, List, Nullable, Number, Schema, Text


@dataclass(frozen=True)
class Groups(Partition):
    """One group for each value of a column.

    Parameters
    ----------
    column : str or int
        Name of the column in a data frame, or its number.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyRegressor
    >>> from corollary.conformal import Groups, SplitConformalRegressor
    >>> X = np.repeat([[0.0], [1.0]], 50, axis=0)
    >>> y = X[:, 0] * np.random.default_rng(0).normal(size=100)
    >>> model = SplitConformalRegressor(DummyRegressor(), partition=Groups(0), random_state=0)
    >>> np.diff(model.fit(X, y).predict_interval([[0.0], [1.0]]))[:, 0].round(1)
    array([0. , 3.5])
    """

    column: str | int

    _schema: ClassVar[Schema] = Schema(column=Text() | Integer())

    def groups(self, rows: Rows) -> Any:
        """Return the column."""
        return _column(rows.X, self.column)


def _edges_ascend(bands: "Bands") -> str | None:
    return None if np.all(np.diff(bands.edges) > 0) else "its edges do not ascend"


@dataclass(frozen=True)
class Bands(Partition):
    """Groups of rows by a number: bands between edges, numbered from 0.

    Parameters
    ----------
    edges : tuple of float
        Where bands end, ascending; a number that equals an edge belongs to the band above. Take
        them from training rows, so that calibration rows stay exchangeable with new ones within
        each band.
    column : str, int or None, default=None
        Name or number of the column that is cut; None for the prediction of the model.

    Examples
    --------
    >>> from corollary.conformal import Bands
    >>> bands = Bands.between_quantiles([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], n_bands=2)
    >>> bands.edges
    (3.5,)
    >>> bands.of([0.0, 3.5, 9.0])
    array([0, 1, 1])
    """

    edges: tuple[float, ...]
    column: str | int | None = None

    _schema: ClassVar[Schema] = Schema(
        _edges_ascend, edges=List(Number()), column=Nullable(Text() | Integer())
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", tuple(float(edge) for edge in self.edges))
        if not np.all(np.diff(self.edges) > 0) or np.isnan(self.edges).any():
            raise ValueError(f"The 'edges' parameter of Bands must ascend. Got {self.edges}.")

    @classmethod
    def between_quantiles(
        cls, values: Any, n_bands: int, *, column: str | int | None = None
    ) -> Self:
        """Cut where numbers of training rows would fall into bands of one size.

        Parameters
        ----------
        values : array-like of shape (n_samples,)
            Numbers of training rows.
        n_bands : int
            How many bands; fewer if many numbers are equal.
        column : str, int or None, default=None
            See :class:`Bands`.

        Returns
        -------
        bands : Bands
            The partition.
        """
        inner = np.linspace(0, 1, n_bands + 1)[1:-1]
        edges = np.unique(np.quantile(np.asarray(values, dtype=float), inner))
        return cls(tuple(edges.tolist()), column)

    def of(self, values: Any) -> np.ndarray:
        """Return the band of each number.

        Parameters
        ----------
        values : array-like of shape (n_samples,)
            Numbers.

        Returns
        -------
        bands : ndarray of int of shape (n_samples,)
            Number of the band, ascending with the values.
        """
        return np.searchsorted(self.edges, np.asarray(values, dtype=float), side="right")

    def groups(self, rows: Rows) -> np.ndarray:
        """Return the band of each row."""
        if self.column is None:
            return self.of(rows.predict(rows.estimator))
        values = np.asarray(_column(rows.X, self.column), dtype=float)
        if np.isnan(values).any():
            raise ValueError(
                f"Bands of column {self.column!r} need numbers. Got {int(np.isnan(values).sum())} "
                "that are missing; fill them, or give such rows a group of their own."
            )
        return self.of(values)


@dataclass(frozen=True)
class PerClass(Partition):
    """A threshold for every class, so that coverage holds given the label.

    Parameters
    ----------
    within : Groups, Bands, callable or None, default=None
        A partition of rows; classes then have thresholds within each of its groups.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from corollary.conformal import PerClass, SplitConformalClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SplitConformalClassifier(
    ...     GaussianNB(), partition=PerClass(), confidence=0.8, random_state=0
    ... )
    >>> model.fit(X, y).thresholds_.shape
    (3,)
    """

    within: Any = None

    _schema: ClassVar[Schema] = Schema(within=Nullable(Instance("groups")))

    def groups(self, rows: Rows) -> Any:
        """Return the groups of the partition within which classes are kept apart."""
        return groups_of(self.within, rows)


def _column(X: Any, column: str | int) -> Any:
    if isinstance(column, int) and not hasattr(X, "shape"):
        X = np.asarray(X)
    return safe_indexing(X, column, axis=1)
