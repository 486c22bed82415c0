"""Gram matrices that are never whole: what computes any part of one."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from corollary.kernels import _arrays as arrays

# Kernel values in single precision of rows with at most this many columns are computed as fast as
# they are read.
CHEAP_COLUMNS = 32

_buffers = threading.local()


def _buffer(rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Return this thread's scratch matrix: fresh memory costs more than the kernel's values."""
    size = rows * columns * dtype.itemsize
    if getattr(_buffers, "flat", None) is None or _buffers.flat.size < size:
        _buffers.flat = np.empty(size, dtype=np.uint8)
    return _buffers.flat[:size].view(dtype).reshape(rows, columns)


class GramTiles:
    """A symmetric matrix of n inputs that computes any part of itself.

    A tile of rows and columns is made in two steps, so that what is done for single inputs is done
    once: ``tiles.tile(tiles.rows(a), tiles.columns(b))``. Subclasses set ``n`` and ``diagonal`` and
    define ``rows``, ``columns`` unless they are like rows, and ``tile``.

    Attributes
    ----------
    n : int
        Number of inputs.
    diagonal : ndarray of shape (n,)
        The diagonal.
    dtype : type
        Precision of the tiles.
    cheap : bool
        Whether values cost less than memory for them, so that no one should keep them.

    Examples
    --------
    >>> from corollary.kernels import RBF
    >>> tiles = RBF().tiles([[0.0], [1.0], [2.0]])
    >>> tiles.tile(tiles.rows(slice(0, 1)), tiles.columns(slice(0, 3))).round(4)
    array([[1.    , 0.6065, 0.1353]])
    """

    n: int
    diagonal: np.ndarray
    dtype: Any = np.float64
    cheap: bool = False

    def rows(self, which: Any) -> Any:
        """Prepare some inputs as the rows of a tile.

        Parameters
        ----------
        which : slice or ndarray of int
            The inputs.

        Returns
        -------
        rows : object
            What :meth:`tile` needs to know of them.
        """
        raise NotImplementedError  # abstract: the classes below define it

    def columns(self, which: Any) -> Any:
        """Prepare some inputs as the columns of a tile.

        Parameters
        ----------
        which : slice or ndarray of int
            The inputs.

        Returns
        -------
        columns : object
            What :meth:`tile` needs to know of them.
        """
        return self.rows(which)

    def tile(self, rows: Any, columns: Any) -> np.ndarray:
        """Return the values of all pairs.

        Parameters
        ----------
        rows : object
            Inputs from :meth:`rows`.
        columns : object
            Inputs from :meth:`columns`.

        Returns
        -------
        values : ndarray
            One for each pair; this thread's next tile may overwrite them.
        """
        raise NotImplementedError  # abstract: the classes below define it

    def single(self) -> "GramTiles":
        """Return the matrix in single precision, if that is faster.

        Returns
        -------
        tiles : GramTiles
            The same matrix, perhaps rounded.
        """
        return self

    @staticmethod
    def part(prepared: Any, which: Any) -> Any:
        """Return some of the inputs that :meth:`rows` or :meth:`columns` prepared.

        Parameters
        ----------
        prepared : object
            Inputs as a tile takes them.
        which : slice or ndarray of int
            Which of them.

        Returns
        -------
        part : object
            The same for fewer inputs.
        """
        return arrays.take(prepared, which)


class PrecomputedTiles(GramTiles):
    """A matrix that exists, as tiles.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.kernels import PrecomputedTiles
    >>> tiles = PrecomputedTiles(np.array([[2.0, 1.0], [1.0, 3.0]]))
    >>> tiles.diagonal
    array([2., 3.])
    """

    def __init__(self, K: np.ndarray) -> None:
        self.K = np.ascontiguousarray(K)
        self.n = len(K)
        self.diagonal = np.diagonal(K).copy()

    def rows(self, which: Any) -> Any:
        """See :class:`GramTiles`."""
        return which

    def tile(self, rows: Any, columns: Any) -> np.ndarray:
        """See :class:`GramTiles`."""
        if isinstance(rows, slice) or isinstance(columns, slice):
            return self.K[rows, columns]
        return self.K[rows[:, None], columns]


class KernelTiles(GramTiles):
    """The matrix of a kernel that follows the contract of prepared inputs."""

    def __init__(
        self, prepared: Any, evaluate: Callable[[Any, Any, bool], Any], diagonal: Any
    ) -> None:
        self.prepared, self.evaluate = prepared, evaluate
        self.n = arrays.n_prepared(prepared)
        self.diagonal = np.asarray(diagonal, dtype=np.float64)

    def rows(self, which: Any) -> Any:
        """See :class:`GramTiles`."""
        return arrays.take(self.prepared, which)

    def tile(self, rows: Any, columns: Any) -> np.ndarray:
        """See :class:`GramTiles`."""
        return self.evaluate(rows, columns, False)


class RBFTiles(GramTiles):
    """The RBF kernel of dense rows: one matrix product gives the exponents.

    With z the scaled and centred rows, ``-|z - z'|^2 / 2`` is the inner product of
    ``(z, -|z|^2 / 2, 1)`` and ``(z', 1, -|z'|^2 / 2)``, which saves most passes over a tile.
    """

    def __init__(self, prepared: tuple[np.ndarray, np.ndarray]) -> None:
        rows, squares = prepared
        half, one = -0.5 * squares[:, None], np.ones((len(rows), 1))
        self.left = np.hstack([rows, half, one])
        self.right = np.hstack([rows, one, half])
        self.n = len(rows)
        self.diagonal = np.ones(self.n)
        # Single precision where it leaves the kernel's values at least four digits.
        rough = squares.max(initial=0.0) * np.finfo(np.float32).eps > 1e-4
        self._single: GramTiles | None = self if rough else None

    def single(self) -> GramTiles:
        """See :class:`GramTiles`."""
        if self._single is None:
            self._single = SingleRBFTiles(self)
        return self._single

    def rows(self, which: Any) -> Any:
        """See :class:`GramTiles`."""
        return self.left[which]

    def columns(self, which: Any) -> Any:
        """See :class:`GramTiles`."""
        return self.right[which]

    def tile(self, rows: Any, columns: Any) -> np.ndarray:
        """See :class:`GramTiles`."""
        values = _buffer(len(rows), len(columns), rows.dtype)
        np.matmul(rows, columns.T, out=values)
        return np.exp(values, out=values)


class SingleRBFTiles(RBFTiles):
    """The RBF kernel in single precision, a third of the time: powers of two."""

    dtype = np.float32

    def __init__(self, gram: RBFTiles) -> None:
        self.left = (gram.left / np.log(2.0)).astype(np.float32)
        self.right = gram.right.astype(np.float32)
        self.n, self.diagonal = gram.n, gram.diagonal
        self.cheap = self.left.shape[1] <= CHEAP_COLUMNS
        self._single = self

    def tile(self, rows: Any, columns: Any) -> np.ndarray:
        """See :class:`GramTiles`."""
        from corollary.kernels._loops.powers import powers_of_two

        values = _buffer(len(rows), len(columns), rows.dtype)
        np.matmul(rows, columns.T, out=values)
        powers_of_two(values)
        return values
