"""Weighted sums of kernels around rows, exact or with a stated error.

Rows are cut into blocks of neighbours by a k-d tree of which only the leaves are kept. A query
measures every row of a block, or none if the distance to the block's box shows that its terms do
not change the sum.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from corollary.core.parallel import in_blocks
from corollary.core.schema import Array, Number, Optional, Schema, Text
from corollary.density.kernel.profiles import CODES, KernelName

#: Terms are left out of an exact sum if all of them are below this share of it.
_ROUNDING = 2.0**-54
_QUERIES = 64


def _fits(kernels: Any) -> str | None:
    if not len(kernels.rows) or kernels.kernel not in CODES or not kernels.p >= 1:
        return "it has no rows, or no kernel or norm that is known"
    return None


@dataclass(frozen=True, eq=False)
class KernelSum:
    """The function that sums ``w_i K(|x - x_i| / h_i)`` over the rows ``x_i``.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_features)
        Centres of the kernels.
    weight : ndarray of shape (n_samples,)
        Their weights, not negative.
    radius : ndarray of shape (n_samples,) or None, default=None
        Bandwidth of each; None for 1.
    kernel : {"gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"}, \
            default="gaussian"
        The kernel, as in :func:`log_kernel_integral`.
    p : float, default=2.0
        Power of the Minkowski norm, at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.density import KernelSum
    >>> kernels = KernelSum(np.array([[0.0], [1.0]]), np.ones(2), kernel="linear")
    >>> np.exp(kernels.log_values([[0.0], [0.5], [1.5]])).round(6)
    array([1. , 1. , 0.5])
    """

    rows: np.ndarray
    weight: np.ndarray
    radius: np.ndarray | None = None
    kernel: KernelName = "gaussian"
    p: float = 2.0

    _schema = Schema(
        _fits,
        rows=Array("f", "n", "d"),
        weight=Array("f", "n", low=0),
        radius=Optional(Array("f", "n", low=0)),
        kernel=Text(),
        p=Number(1),
    )

    def log_values(self, X: Any, *, rtol: float = 0.0, atol: float = 0.0) -> np.ndarray:
        """Return the logarithm of the sum at rows.

        A row alone and among others has the same bits, whatever the number of threads.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Where.
        rtol, atol : float, default=0.0
            Share of the sum, and part of it, that may be left out; zeros leave out what rounding
            would.
        """
        X = np.ascontiguousarray(X, dtype=np.float64)
        return self._sums(X, np.full(len(X), -1), rtol, atol)

    def log_leave_one_out(self) -> np.ndarray:
        """Return the logarithm of the sum at each row, without the row's own kernel.

        It is minus infinity where no other kernel reaches.
        """
        order, _ = self._blocks
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return self._sums(np.ascontiguousarray(self.rows), place, 0.0, 0.0)

    def _sums(self, X: np.ndarray, own: np.ndarray, rtol: float, atol: float) -> np.ndarray:
        from corollary.density._loops import BLOCK, Work, log_kernel_sums

        _, blocks = self._blocks
        n_blocks, out = len(blocks.mass), np.empty(len(X))
        share, floor = max(rtol, _ROUNDING) / n_blocks, atol / n_blocks
        code, power = CODES[self.kernel], float(self.p)

        def work(start: int, stop: int) -> None:
            bits = np.empty(BLOCK, dtype=np.int64)
            squares, factors, bounds = np.empty(BLOCK), np.empty(BLOCK), np.empty(n_blocks)
            room = Work(bounds, squares, bits, bits.view(np.float64), factors)
            these = slice(start, stop)
            numbers = (code, power, share, floor)
            log_kernel_sums(X[these], own[these], blocks, *numbers, room, out[these])

        in_blocks(work, len(X), _QUERIES)
        return out

    @cached_property
    def _blocks(self) -> tuple[np.ndarray, Any]:
        """The order of rows in blocks, and the blocks."""
        from corollary.density._loops import BLOCK, Blocks

        order = np.concatenate(list(_leaves(self.rows, np.arange(len(self.rows)), BLOCK)))
        padded = np.append(order, np.full(-len(order) % BLOCK, order[-1])).reshape(-1, BLOCK)
        rows, weight = self.rows[padded], self.weight[padded]
        weight.ravel()[len(order) :] = 0.0
        rate = None if self.radius is None else self.radius[padded] ** -2.0
        slowest = np.ones(len(rows)) if rate is None else rate.min(axis=1)
        box, mass = (rows.min(axis=1), rows.max(axis=1)), weight.sum(axis=1)
        columns = np.ascontiguousarray(rows.transpose(0, 2, 1))
        return order, Blocks(columns, weight, rate, *box, mass, slowest)


def _leaves(rows: np.ndarray, places: np.ndarray, size: int) -> Any:
    """Yield blocks of places: all but the last have the same size, and their rows are near."""
    if len(places) <= size:
        yield places
        return
    widest = int(np.argmax(np.ptp(rows[places], axis=0)))
    half = -(-len(places) // (2 * size)) * size
    halves = np.argpartition(rows[places, widest], half)
    yield from _leaves(rows, places[halves[:half]], size)
    yield from _leaves(rows, places[halves[half:]], size)
