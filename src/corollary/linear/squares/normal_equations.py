r"""Normal equations: all that least squares needs to know about the data.

Minimising :math:`\sum_i w_i (y_i - x_i^\top\beta - b)^2 + \alpha\|\beta\|^2` involves the
rows only through the weighted means of X and y and the centred cross products

.. math::

    G = \sum_i w_i (x_i - \bar x)(x_i - \bar x)^\top, \qquad
    c = \sum_i w_i (x_i - \bar x)(y_i - \bar y)^\top,

which are sums over rows: :class:`NormalEquations` computes them over arrays, files and clusters.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from corollary.core.schema import Instance, Integer, Schema
from corollary.core.summary import Chunk, Moments, Summary


def _fits_together(equations: Any) -> str | None:
    if not isinstance(equations.moments, Moments):
        return "its moments are none"
    if equations.n_features > len(equations.moments.mean):
        return "there are fewer columns than features"
    return None


@dataclass(frozen=True, eq=False)
class NormalEquations(Summary):
    """Centred cross products of inputs and targets.

    A chunk is ``(X, y)`` or ``(X, y, sample_weight)``; X may be sparse, y may have several
    columns.

    Parameters
    ----------
    n_features : int
        Columns of X.
    moments : Moments
        Moments of the rows of ``[X, y]``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import NormalEquations
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0])
    >>> equations = NormalEquations.of_width(1).update((X, y))
    >>> equations.gram(), equations.cross()
    (array([[2.]]), array([[4.]]))
    """

    n_features: int
    moments: Moments

    _schema = Schema(_fits_together, n_features=Integer(0), moments=Instance("covariance"))

    @classmethod
    def of_width(cls, n_features: int, n_targets: int = 1) -> Self:
        """Return the equations of no rows.

        Parameters
        ----------
        n_features : int
            Columns of X.
        n_targets : int, default=1
            Columns of y.

        Returns
        -------
        equations : NormalEquations
            With weight 0.
        """
        return cls(n_features, Moments.of_width(n_features + n_targets))

    @classmethod
    def for_data(cls, X: Any, y: Any) -> Self:
        """Return the equations of no rows, as wide as these arrays.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Inputs.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Targets.

        Returns
        -------
        equations : NormalEquations
            With weight 0.
        """
        return cls.of_width(X.shape[1], 1 if y.ndim == 1 else y.shape[1])

    def empty(self) -> Self:
        """Return the equations of no rows of the same width."""
        return type(self)(self.n_features, self.moments.empty())

    def update(self, chunk: Chunk) -> Self:
        """Add the rows of ``(X, y)`` or ``(X, y, sample_weight)``."""
        weight = chunk[2] if len(chunk) > 2 else None
        part = Moments.of_columns(chunk[:2], weight)
        return type(self)(self.n_features, self.moments.merge(part))

    def merge(self, other: Self) -> Self:
        """Unite the equations of two sets of rows."""
        return type(self)(self.n_features, self.moments.merge(other.moments))

    @property
    def n_rows(self) -> int:
        """Rows of positive weight."""
        return self.moments.n_rows

    @property
    def weight(self) -> float:
        """Sum of the weights."""
        return self.moments.weight

    @property
    def x_mean(self) -> np.ndarray:
        """Weighted mean of X, of shape (n_features,)."""
        return self.moments.mean[: self.n_features]

    @property
    def y_mean(self) -> np.ndarray:
        """Weighted mean of y, of shape (n_targets,)."""
        return self.moments.mean[self.n_features :]

    def gram(self, *, centred: bool = True) -> np.ndarray:
        """Return the products of the columns of X.

        Parameters
        ----------
        centred : bool, default=True
            Whether about the mean; otherwise about zero.

        Returns
        -------
        gram : ndarray of shape (n_features, n_features)
            Symmetric and positive semi-definite up to rounding.
        """
        d = self.n_features
        gram = self.moments.scatter[:d, :d]
        return gram if centred else gram + np.outer(self.x_mean, self.weight * self.x_mean)

    def cross(self, *, centred: bool = True) -> np.ndarray:
        """Return the products of the columns of X with those of y.

        Parameters
        ----------
        centred : bool, default=True
            Whether about the means; otherwise about zero.

        Returns
        -------
        cross : ndarray of shape (n_features, n_targets)
            The right-hand sides.
        """
        d = self.n_features
        cross = self.moments.scatter[:d, d:]
        return cross if centred else cross + np.outer(self.x_mean, self.weight * self.y_mean)

    def target_squares(self, *, centred: bool = True) -> np.ndarray:
        """Return the sum of squares of each column of y.

        Parameters
        ----------
        centred : bool, default=True
            Whether about the mean; otherwise about zero.

        Returns
        -------
        squares : ndarray of shape (n_targets,)
            Total sums of squares.
        """
        squares = np.diag(self.moments.scatter)[self.n_features :]
        return squares.copy() if centred else squares + self.weight * self.y_mean**2
