"""Where queries may be: the rows of a pool, or the points of a box."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from corollary.active._checks import finite_rows


class Queries(NamedTuple):
    """Points that a learner asks for.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
        The points.
    indices : ndarray of shape (n,) or None, default=None
        Their rows in the pool; None in a box.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.active import Queries
    >>> Queries(np.zeros((1, 2)), np.array([4])).indices
    array([4])
    """

    X: np.ndarray
    indices: np.ndarray | None = None


class ExhaustedError(RuntimeError):
    """Raised by ``ask`` when there is nothing left that may be asked.

    Examples
    --------
    >>> from corollary.active import CoverageSampler
    >>> sampler = CoverageSampler([[0.0]], radius=1.0)
    >>> sampler.tell(sampler.ask(), [1.0])
    >>> sampler.ask()
    Traceback (most recent call last):
        ...
    corollary.active.domain.ExhaustedError: CoverageSampler has asked for all 1 points of its pool.
    """


@dataclass(frozen=True, eq=False)
class Pool:
    """Finitely many points that may be queried.

    Parameters
    ----------
    X : array-like or data frame of shape (n, n_features)
        The points, finite numbers.

    Examples
    --------
    >>> from corollary.active import Pool
    >>> Pool([[0.0], [0.5], [1.0]]).locate([[0.5]])
    array([1])
    """

    X: np.ndarray
    _rows: dict[bytes, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        X = finite_rows("Pool", self.X) + 0.0  # a copy, in which -0.0 and 0.0 are the same
        if not X.size:
            raise ValueError(f"Pool needs at least one row and one feature. Got shape {X.shape}.")
        X.setflags(write=False)
        object.__setattr__(self, "X", X)
        rows: dict[bytes, int] = {}
        for i, row in enumerate(X):
            rows.setdefault(row.tobytes(), i)
        object.__setattr__(self, "_rows", rows)

    @property
    def n_features(self) -> int:
        """Length of a point."""
        return self.X.shape[1]

    def locate(self, X: Any) -> np.ndarray:
        """Return the indices of points of the pool.

        Parameters
        ----------
        X : array-like of shape (k, n_features) or array-like of int
            Rows of the pool, or indices, which are checked and returned.

        Returns
        -------
        indices : ndarray of int
            The first index of each row.

        Raises
        ------
        ValueError
            If a point is not in the pool.
        """
        values = np.asarray(X)
        if values.ndim == 1 and values.dtype.kind in "iu":
            wrong = (values < 0) | (values >= len(self.X))
            if wrong.any():
                raise ValueError(
                    f"Indices into the pool go from 0 to {len(self.X) - 1}. "
                    f"Got {int(values[wrong][0])}."
                )
            return values.astype(np.intp)
        rows = finite_rows("A pool's learner", values, self.n_features)
        indices = self.find(rows)
        if (indices < 0).any():
            raise ValueError(
                f"The point {rows[indices < 0][0].tolist()} is not in the pool. Give points "
                "exactly as ask returned them, or their indices."
            )
        return indices

    def find(self, X: np.ndarray) -> np.ndarray:
        """Return the indices of points that may be in the pool.

        Parameters
        ----------
        X : ndarray of shape (k, n_features)
            Points.

        Returns
        -------
        indices : ndarray of int of shape (k,)
            The first index of each row, -1 for points that are not in the pool.
        """
        return np.array([self._rows.get(row.tobytes(), -1) for row in X + 0.0], dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Box:
    """All points between bounds.

    Parameters
    ----------
    bounds : array-like of shape (n_features, 2)
        Lower and upper bound of each feature.

    Examples
    --------
    >>> from corollary.active import Box
    >>> box = Box([(0.0, 1.0), (-2.0, 2.0)])
    >>> box.spread(4, seed=0).shape
    (4, 2)
    """

    bounds: np.ndarray

    def __post_init__(self) -> None:
        bounds = np.array(self.bounds, dtype=float)
        good = bounds.ndim == 2 and bounds.shape[1:] == (2,) and len(bounds) > 0
        if not good or not np.isfinite(bounds).all() or not (bounds[:, 0] < bounds[:, 1]).all():
            raise ValueError(
                "Box needs one pair (low, high) of finite numbers with low < high for each "
                f"feature. Got {self.bounds!r}."
            )
        bounds.setflags(write=False)
        object.__setattr__(self, "bounds", bounds)

    @property
    def n_features(self) -> int:
        """Length of a point."""
        return len(self.bounds)

    def check(self, X: Any) -> np.ndarray:
        """Return points as an array if all of them lie in the box.

        Parameters
        ----------
        X : array-like of shape (k, n_features)
            The points.

        Returns
        -------
        X : ndarray of shape (k, n_features)
            The points.
        """
        rows = finite_rows("A box's learner", X, self.n_features)
        low, high = self.bounds.T
        outside = ((rows < low) | (rows > high)).any(axis=1)
        if outside.any():
            raise ValueError(
                f"The point {rows[outside][0].tolist()} is outside of the box "
                f"{self.bounds.tolist()}."
            )
        return rows

    def spread(self, n: int, seed: Any) -> np.ndarray:
        """Spread points evenly over the box: a scrambled Sobol sequence.

        Parameters
        ----------
        n : int
            How many; a power of two is best.
        seed : int or sequence of int
            What the scrambling depends on.

        Returns
        -------
        X : ndarray of shape (n, n_features)
            The points.
        """
        from scipy.stats import qmc

        exponent = max(int(n) - 1, 0).bit_length()
        sobol = qmc.Sobol(self.n_features, rng=np.random.default_rng(seed))
        low, high = self.bounds.T
        return low + sobol.random_base2(exponent)[:n] * (high - low)

    def around(self, centres: np.ndarray, radius: float, n: int, rng: Any) -> np.ndarray:
        """Draw points near others, within the box.

        Parameters
        ----------
        centres : ndarray of shape (c, n_features)
            Points of the box.
        radius : float
            Standard deviation as a share of the box's edges.
        n : int
            How many for each centre.
        rng : Generator
            Generator.

        Returns
        -------
        X : ndarray of shape (c * n, n_features)
            The points.
        """
        low, high = self.bounds.T
        steps = radius * (high - low) * rng.standard_normal((len(centres), n, self.n_features))
        return np.clip(centres[:, None] + steps, low, high).reshape(-1, self.n_features)
