"""Nearest centres of dense rows, by bounds that are kept from step to step."""

from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np

from corollary.core.parallel import available_cores, in_blocks
from corollary.core.summary import MergeTree

_SINGLE = 2.0**-24
#: Rows of a tile, at least; a tile has 16 rows for each cluster, so that sums cost less than rows.
_TILE = 2**11
#: So many tiles are not worth a second thread.
_SHARE = 4


class _Factor(NamedTuple):
    """Centres, prepared for products with rows."""

    centres: np.ndarray
    origin: np.ndarray
    unit: float  # the largest distance of a centre from the origin
    matrix: np.ndarray  # -2 c, in units
    norms: np.ndarray  # c.c
    error: float  # of norms + matrix @ x in single precision, over 1 + 2 |x|

    @classmethod
    def of(cls, centres: np.ndarray) -> Self:
        origin = centres.mean(axis=0)
        moved = centres - origin
        unit = float(np.sqrt((moved**2).sum(axis=1).max())) or 1.0
        moved = moved / unit
        norms = (moved**2).sum(axis=1).astype(np.float32)
        # Numbers that are rounded, d of their products and the sum of these, in any order.
        error = 1.01 * (centres.shape[1] + 6) * _SINGLE + 1e-36
        return cls(centres, origin, unit, (-2.0 * moved).astype(np.float32), norms, error)


class _Drifts(NamedTuple):
    """What centres have moved by since rows were first assigned to them, in all."""

    own: np.ndarray  # the way of each centre
    others: np.ndarray  # the sum of what, in each step, another centre moved by at most
    half: np.ndarray  # half the distance of each centre from the nearest other one
    apart: np.ndarray  # what bounds that were apart by more still do not touch
    close: np.ndarray  # rows whose first bound was below are nearer to their centre than half
    margin: float

    @classmethod
    def none(cls, k: int) -> Self:
        own, others, half, apart, close = np.zeros((5, k))
        return cls(own, others, half, apart, close, 0.0)

    def to(self, before: np.ndarray, centres: np.ndarray, diameter: float) -> Self:
        """Add the step from one set of centres to another."""
        from corollary.cluster._loops.distances import all_squares

        moved = np.sqrt(((centres - before) ** 2).sum(axis=1))
        most = np.full(len(centres), moved.max())
        farthest = int(moved.argmax())
        most[farthest] = np.delete(moved, farthest).max(initial=0.0)
        gaps = np.empty((len(centres), len(centres)))
        all_squares(centres, centres, gaps)
        np.fill_diagonal(gaps, np.inf)
        own, others = self.own + moved, self.others + most
        # Far above the rounding of distances and of hundreds of steps.
        size = diameter + float(own.max() + others.max())
        margin = 16 * (centres.shape[1] + 100) * np.finfo(float).eps * size
        half = 0.5 * np.sqrt(gaps.min(axis=1))
        return type(self)(own, others, half, own + others + margin, half - own - margin, margin)


class _Bounds(NamedTuple):
    """Labels of rows, and bounds on their distances from their own and from other centres."""

    labels: np.ndarray
    upper: np.ndarray
    lower: np.ndarray


class Nearest:
    """Nearest centres of dense rows and, if the blocks of a summary are told, sums of clusters.

    A tile of a block has, for each cluster, the sum of its rows times weights, the sum of the
    weights, and the number of rows of positive weight.
    """

    def __init__(self, X: np.ndarray, k: int, weight: Any = None, block: int = 0) -> None:
        n, tile = len(X), max(_TILE, 16 * k)
        self._data = X, weight
        self._bounds = _Bounds(np.zeros(n, dtype=np.int32), np.full(n, np.inf), np.zeros(n))
        blocks = range(0, max(1, n), block or max(1, n))
        cuts = [np.arange(b, min(b + blocks.step, n), tile) for b in blocks]
        self._ends = np.cumsum([len(cut) for cut in cuts])
        self._edges = np.concatenate([*cuts, [n]]).astype(np.int64)
        self._longest = min(n, tile)
        self._tiles = np.zeros((len(self._edges) - 1 if block else 0, k, X.shape[1] + 2))
        self._workers = available_cores() if len(self._edges) > _SHARE + 1 else 1
        self._before: np.ndarray | None = None

    def label(self, centres: np.ndarray) -> np.ndarray:
        """Return the nearest centre of every row; of equally near ones the first."""
        from corollary.cluster._loops.lloyd import label_tiles

        is_first = self._before is None
        if self._before is None:
            self._before, self._low, self._high, self._reach = centres, centres[0], centres[0], 0.0
            self._drifts = _Drifts.none(len(centres))
        # Rows are within reach of the first centres, and means of rows are among them.
        self._low = np.minimum(self._low, centres.min(axis=0))
        self._high = np.maximum(self._high, centres.max(axis=0))
        diameter = 2 * self._reach + float(np.sqrt(((self._high - self._low) ** 2).sum()))
        self._drifts = drifts = self._drifts.to(self._before, centres, diameter)
        factor = _Factor.of(centres)

        def work(a: int, b: int) -> None:
            edges, tiles = self._edges[a : b + 1], self._tiles[a:b]
            data = *self._data, factor, drifts, self._bounds
            label_tiles(*data, edges, self._longest, tiles, is_first)

        in_blocks(work, len(self._edges) - 1, 1, workers=self._workers)
        self._before = centres
        if is_first:
            self._reach = float(self._bounds.upper.max(initial=0.0))
        return self._bounds.labels

    def sums(self, centres: np.ndarray) -> np.ndarray:
        """Return the sums of the clusters around centres, blocks merged as a summary's are."""
        self.label(centres)
        tree = MergeTree(np.add)
        for a, b in pairwise([0, *self._ends]):
            tree.push(self._tiles[a:b].sum(axis=0))
        return tree.result()
