r"""Growing one tree of gradient boosting: leaf by leaf, on histograms of whole numbers.

The leaf with the largest gain is split next, where the gain of a split is

.. math:: \frac{G_L^2}{H_L+\lambda}+\frac{G_R^2}{H_R+\lambda}-\frac{G^2}{H+\lambda}

for sums G and H of first and second derivatives. Only the smaller child's histogram is built, the
other is what is left of the parent's.

Derivatives enter histograms as whole numbers of about 13 bits, rounded without systematic error,
and the values of leaves are sums of 62 bits. Sums of whole numbers have no order, so trees are the
same bits for any number of threads and any cut of the rows into blocks. The rounding adds at most
one part in a thousand to the noise of a sum unless the largest gradient exceeds the typical one
several hundred times.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from corollary.core.threads import Team
from corollary.tree.binning import Bins
from corollary.tree.bitsets import pack_categories
from corollary.tree.structure import Trees

# Rows whose derivatives fit in one word of a histogram: 14 bits count them, 22 hold second and 28
# first derivatives.
ROOM = 2**14 - 1
# Words of fewer rows have bits to spare, and rounding to the nearest keeps equal rows equal.
DITHER_ABOVE = 1024
# Fewer values than this (rows times features) are not worth waking a thread for.
ALONE = 160_000
# The least second derivative of a leaf; below, its step would be noise.
MIN_HESSIAN = 1e-3


@dataclass(frozen=True)
class Growth:
    """When a tree stops to grow and what its splits must respect.

    Parameters
    ----------
    max_leaf_nodes : int or None
        Most leaves.
    max_depth : int or None
        Most splits on a way.
    min_samples_leaf : int
        Fewest rows of a leaf.
    l2 : float
        Penalty of squared leaf values.
    max_features : float
        Share of the features that are tried at a split.
    """

    max_leaf_nodes: int | None
    max_depth: int | None
    min_samples_leaf: int
    l2: float
    max_features: float


@dataclass(frozen=True, eq=False)
class Grown:
    """A grown tree before its leaves have values.

    Parameters
    ----------
    splits : ndarray of int64 of shape (n_nodes, 4)
        Feature (-1 in leaves), last bin on the left, whether missing values go left, left child.
    gain : ndarray of shape (n_nodes,)
        Twice the decrease of the loss, by a quadratic approximation.
    bounds : ndarray of shape (n_leaves, 2)
        Least and largest value that each leaf may have.
    sides : ndarray of uint8 of shape (n_nodes, 256)
        Side of every bin at every split.
    leaves : ndarray of int64 of shape (n_leaves,)
        Which nodes are leaves.
    spans : ndarray of int64 of shape (n_nodes, 2 n_blocks)
        Where the rows of nodes begin and end in ``order``, block by block.
    order : ndarray of uint32
        Training rows, leaf by leaf within each block.
    """

    splits: np.ndarray
    gain: np.ndarray
    bounds: np.ndarray
    sides: np.ndarray
    leaves: np.ndarray
    spans: np.ndarray
    order: np.ndarray

    def rows(self, leaf: int) -> np.ndarray:
        """Return the training rows of a leaf, in the order of the data."""
        edges = self.spans[self.leaves[leaf]].tolist()
        return np.concatenate([self.order[a:b] for a, b in zip(edges[::2], edges[1::2])])

    def sizes(self) -> np.ndarray:
        """Return the number of training rows of every leaf."""
        edges = self.spans[self.leaves]
        return np.asarray(edges[:, 1::2].sum(axis=1) - edges[:, ::2].sum(axis=1))


@dataclass(frozen=True, eq=False)
class Kept:
    """What is kept of a tree until all are joined.

    Parameters
    ----------
    splits : ndarray of int64 of shape (n_nodes, 4)
        As in :class:`Grown`.
    gain : ndarray of shape (n_nodes,)
        Gains.
    bitsets : dict of int to ndarray
        Categories that go left, by node.
    values : ndarray of shape (n_nodes, n_outputs)
        Values of leaves.
    weights : ndarray of shape (n_nodes,)
        Weights of leaves.
    """

    splits: np.ndarray
    gain: np.ndarray
    bitsets: dict[int, np.ndarray]
    values: np.ndarray
    weights: np.ndarray


def keep(grown: Grown, bins: Bins, values: np.ndarray, weights: np.ndarray) -> Kept:
    """Keep a tree with the values and weights of its leaves.

    Parameters
    ----------
    grown : Grown
        The tree.
    bins : Bins
        Bins of its features.
    values : ndarray of shape (n_leaves, n_outputs)
        Values.
    weights : ndarray of shape (n_leaves,)
        Weights.

    Returns
    -------
    kept : Kept
        Copies.
    """
    n = len(grown.gain)
    value, weight = np.zeros((n, values.shape[1])), np.zeros(n)
    value[grown.leaves], weight[grown.leaves] = values, weights
    bitsets = {}
    if bins.categorical.any():
        feature = grown.splits[:, 0]
        for node in np.flatnonzero((feature >= 0) & bins.categorical[feature]).tolist():
            bitsets[node] = pack_categories(np.flatnonzero(grown.sides[node, :255]))
    return Kept(grown.splits.copy(), grown.gain.copy(), bitsets, value, weight)


def join(kept: list[Kept], bins: Bins) -> Trees:
    """Put trees end to end; inner nodes get the weighted average of their leaves.

    Parameters
    ----------
    kept : list of Kept
        At least one tree.
    bins : Bins
        Bins of their features.

    Returns
    -------
    trees : Trees
        All of them.
    """
    offsets = np.cumsum([0, *(len(k.gain) for k in kept)], dtype=np.int64)
    splits = np.concatenate([k.splits for k in kept])
    feature, left = splits[:, 0].astype(np.int32), splits[:, 3].astype(np.int32)
    value = np.concatenate([k.values for k in kept])
    weight = np.concatenate([k.weights for k in kept])
    _average_up(offsets, left, value, weight)
    inner = feature >= 0
    by_number = inner & ~bins.categorical[feature]
    cuts = np.full((len(bins.cuts), 256), np.inf)
    for f, own in enumerate(bins.cuts):
        if not bins.categorical[f]:
            cuts[f, : len(own)] = own
    threshold = np.where(by_number, cuts[feature, splits[:, 1]], 0.0)
    sets = [(start + node, words) for k, start in zip(kept, offsets.tolist())
            for node, words in k.bitsets.items()]  # fmt: skip
    categories = np.full(len(feature) if sets else 0, -1, dtype=np.int32)
    for place, (node, _) in enumerate(sets):
        categories[node] = place
    return Trees(
        offsets=offsets,
        feature=feature,
        threshold=threshold,
        missing_left=inner & (splits[:, 2] > 0),
        left=left,
        value=value,
        weight=weight,
        gain=np.where(inner, 0.5 * np.concatenate([k.gain for k in kept]), 0.0),
        n_features=len(bins.cuts),
        categories=categories,
        bitsets=np.stack([w for _, w in sets]) if sets else np.zeros((0, 8), dtype=np.uint32),
    )


def _average_up(
    offsets: np.ndarray, left: np.ndarray, value: np.ndarray, weight: np.ndarray
) -> None:
    """Give inner nodes the weight of their leaves and the weighted mean of their values."""
    below = left + np.repeat(offsets[:-1], np.diff(offsets))
    levels = [offsets[:-1]]
    while len(inner := levels[-1][left[levels[-1]] >= 0]):
        levels.append(np.concatenate([below[inner], below[inner] + 1]))
    for level in levels[::-1]:
        inner = level[left[level] >= 0]
        a, b = below[inner], below[inner] + 1
        weight[inner] = weight[a] + weight[b]
        share = np.full(len(inner), 0.5)
        np.divide(weight[a], weight[inner], out=share, where=weight[inner] > 0)
        value[inner] = share[:, None] * value[a] + (1.0 - share)[:, None] * value[b]


def scale_of(limit: float, peak: float) -> float:
    """Return the largest power of two that keeps ``peak`` within ``limit``."""
    if not 0.0 < peak < math.inf:
        return 1.0
    if peak < limit * 2.0**-1000:
        return 2.0**1000
    # 2^(e - 1) <= limit / peak < 2^e
    return math.ldexp(1.0, max(math.frexp(limit / peak)[1] - 1, -1000))


@lru_cache(maxsize=64)
def cut(n_rows: int, n_blocks: int) -> np.ndarray:
    """Return first and last place of blocks of about equal size."""
    edges = np.linspace(0, n_rows, n_blocks + 1).astype(np.int64)
    return np.stack([edges[:-1], edges[1:]], axis=1)


class Grower:
    """Grow trees on binned rows, one after the other.

    Parameters
    ----------
    codes : ndarray of uint8 of shape (n_samples, n_features)
        Bins of all rows, column-major.
    bins : Bins
        Their thresholds.
    growth : Growth
        Stopping rules.
    monotone : ndarray of int64 of shape (n_features,)
        1 and -1 for features whose effect must not fall or rise, else 0.
    team : Team
        Threads.
    n_blocks : int
        Blocks of rows that are worked on at the same time.
    """

    def __init__(
        self,
        codes: np.ndarray,
        bins: Bins,
        growth: Growth,
        monotone: np.ndarray,
        team: Team,
        n_blocks: int,
    ) -> None:
        from corollary.ensemble import _boosted_tree as compiled

        self.codes, self.growth, self.team, self.n_blocks = codes, growth, team, n_blocks
        n_bins = np.asarray(bins.n_bins, dtype=np.int64)
        stops = np.cumsum(n_bins + 1)
        kinds = np.where(bins.categorical, 2, 0)
        self.columns = np.stack([n_bins, kinds, stops - n_bins - 1], axis=1).astype(np.int64)
        self.features = np.flatnonzero((n_bins > 1) | bins.missing).astype(np.int64)
        self.lines = int(stops[-1]) if len(stops) else 0
        self.flat = codes.ravel(order="F")
        self.packed = np.empty(len(codes), dtype=np.int64)
        self.aside = np.empty(len(codes), dtype=np.uint32)
        self.work = [
            compiled.Work(
                np.empty(ROOM, dtype=np.int64),
                np.zeros(1024, dtype=np.int64),
            )
            for _ in range(n_blocks)
        ]
        self.ranks = np.empty(256, dtype=np.int64) if bins.categorical.any() else None
        self.monotone = monotone if monotone.any() else None
        leaves = min(growth.max_leaf_nodes or 64, 64)
        self.nodes = compiled.Nodes(
            np.empty((2 * leaves, compiled.SPANS + 2 * n_blocks), dtype=np.int64),
            np.empty((2 * leaves, 3)),
            np.zeros((2 * leaves, 256), dtype=np.uint8),
        )
        # Histograms of the blocks of a node come first, and then one for every leaf.
        self.shared = n_blocks if n_blocks > 1 else 0
        slots = self.shared + leaves + 1
        self.pool = compiled.Pool(
            np.zeros((slots, 2 * self.lines), dtype=np.int64),
            np.empty(slots, dtype=np.int64),
            np.zeros(6, dtype=np.int64),
        )

    def grow(
        self, derivatives: np.ndarray, peaks: np.ndarray, rows: np.ndarray, seed: int
    ) -> Grown:
        """Grow a tree.

        Parameters
        ----------
        derivatives : ndarray of shape (n_samples, 2)
            First and second derivatives; only those of ``rows`` are read.
        peaks : ndarray of shape (2,)
            Bounds of their absolute values.
        rows : ndarray of uint32
            Rows to learn from, ascending.
        seed : int
            Of the choice of features at every split.

        Returns
        -------
        grown : Grown
            The structure; its arrays are overwritten by the next tree.
        """
        from corollary.ensemble import _boosted_tree as compiled

        order = rows.copy()
        self._plant(len(rows))
        if len(self.features) and len(rows):
            given = compiled.Rows(self.flat, derivatives, self.packed, order, self.aside)
            self._grow(given, self.plan(len(rows), peaks), seed)
        n = int(self.pool.counts[compiled.N_NODES])
        whole, real = self.nodes.whole[:n], self.nodes.real[:n]
        leaves = np.flatnonzero(whole[:, compiled.LEFT] < 0)
        wanted = [compiled.FEATURE, compiled.BIN, compiled.MISSING, compiled.LEFT]
        splits = whole[:, wanted]
        splits[leaves] = -1, 0, 0, -1
        return Grown(
            splits=splits,
            gain=real[:, compiled.GAIN],
            bounds=real[leaves, compiled.LOW : compiled.HIGH + 1],
            sides=self.nodes.sides[:n],
            leaves=leaves,
            spans=whole[:, compiled.SPANS :],
            order=order,
        )

    def plan(self, n: int, peaks: np.ndarray) -> Any:
        """Return what rules the growth of a tree.

        Parameters
        ----------
        n : int
            Its rows.
        peaks : ndarray of shape (2,)
            Bounds of the absolute values of their derivatives.

        Returns
        -------
        plan : Plan
            For the compiled code.
        """
        from corollary.ensemble import _boosted_tree as compiled

        growth, most = self.growth, compiled.MOST
        room = max(1, min(n, ROOM))
        c_bits = room.bit_length()
        h_bits = (64 - c_bits) * 22 // 50
        g_bits = 64 - c_bits - h_bits
        shift = n.bit_length()
        g_limit = (2.0 ** (g_bits - 1) - 1) / room - 1
        h_limit = min((2.0**h_bits - 1) / room - 1, 2.0 ** (62 - shift) / max(n, 1) - 1)
        g_scale, h_scale = scale_of(g_limit, float(peaks[0])), scale_of(h_limit, float(peaks[1]))
        whole = [h_bits, c_bits, shift, room, growth.min_samples_leaf, growth.max_depth or most]
        whole += [growth.max_leaf_nodes or most, n > DITHER_ABOVE, self.n_blocks]
        return compiled.Plan(
            self.features,
            self.columns,
            np.ones((1, len(self.columns)), dtype=np.uint8),
            np.array(whole, dtype=np.int64),
            np.array([growth.l2, MIN_HESSIAN, 1.0 / g_scale, 1.0 / h_scale]),
        )

    def _plant(self, n: int) -> None:
        """Begin with a root of n rows and an empty histogram."""
        from corollary.ensemble import _boosted_tree as compiled

        nodes, pool = self.nodes, self.pool
        free = len(pool.free) - self.shared - 1
        pool.free[: free + 1] = np.arange(self.shared, len(pool.free))
        slot = len(pool.free) - 1
        pool.hists[slot] = 0
        share = 2**62 if self.n_blocks == 1 else ALONE // max(1, len(self.features))
        pool.counts[:] = 1, free, 0, share, self.n_blocks > 1, -1
        root = nodes.whole[0]
        root[:] = 0
        root[compiled.FEATURE] = root[compiled.LEFT] = -1
        root[compiled.SLOT] = slot
        root[compiled.SPANS :] = cut(n, self.n_blocks).ravel()
        nodes.real[0] = 0.0, -np.inf, np.inf

    def _grow(self, rows: Any, plan: Any, seed: int) -> None:
        from corollary.ensemble import _boosted_tree as compiled

        name = 0
        plan = self._draw(plan, seed)
        while name != compiled.DONE:
            if name == compiled.FULL:
                self._enlarge()
                plan = self._draw(plan, seed)
            else:
                self._take(name, rows, plan)
            name = self._run(0, -1, rows, plan)

    def _take(self, name: int, rows: Any, plan: Any) -> None:
        """Take the rows of a node, a block in each thread."""

        def share(b: int) -> None:
            self._run(name, b, rows, plan)

        self.team.map(share, range(self.n_blocks))

    def _run(self, name: int, block: int, rows: Any, plan: Any) -> int:
        from corollary.ensemble._boosted_tree import grow

        work, rare = self.work[max(block, 0)], (self.ranks, self.monotone)
        return int(grow(name, block, rows, plan, self.nodes, self.pool, work, *rare))

    def _draw(self, plan: Any, seed: int) -> Any:
        """Draw the features that are tried at each node, those of earlier nodes being kept."""
        n_features = len(self.features)
        size = max(1, math.ceil(self.growth.max_features * n_features))
        if size >= n_features:
            return plan
        old, n_nodes = len(plan.tried) if len(plan.tried) > 1 else 0, len(self.nodes.whole)
        keys = np.random.default_rng([seed, old]).random((n_nodes - old, n_features))
        chosen = self.features[np.argpartition(keys, size, axis=1)[:, :size]]
        tried = np.zeros((n_nodes - old, len(self.columns)), dtype=np.uint8)
        np.put_along_axis(tried, chosen, 1, axis=1)
        return plan._replace(tried=np.concatenate([plan.tried[:old], tried]))

    def _enlarge(self) -> None:
        """Double the room for nodes or histograms, whichever is full, keeping what there is."""
        from corollary.ensemble import _boosted_tree as compiled

        def longer(array: np.ndarray, by: int) -> np.ndarray:
            return np.concatenate([array, np.zeros((by, *array.shape[1:]), dtype=array.dtype)])

        n_nodes, pool = len(self.nodes.whole), self.pool
        if pool.counts[compiled.N_FREE] > 0:
            self.nodes = compiled.Nodes(*(longer(array, n_nodes) for array in self.nodes))
            return
        slots = len(pool.free)
        pool.counts[compiled.N_FREE] = slots
        free = np.concatenate([np.arange(slots, 2 * slots), np.empty(slots, dtype=np.int64)])
        self.pool = compiled.Pool(longer(pool.hists, slots), free, pool.counts)

    def leaf_sums(self, grown: Grown, values: np.ndarray, peaks: np.ndarray) -> np.ndarray:
        """Return the sums of pairs of values in every leaf.

        Parameters
        ----------
        grown : Grown
            A tree.
        values : ndarray of shape (n_samples, 2)
            First and second derivatives, say.
        peaks : ndarray of shape (2,)
            Bounds of their absolute values.

        Returns
        -------
        sums : ndarray of shape (n_leaves, 2)
            Each row is rounded by at most n 2^-62 of the largest value, for n rows in all.
        """
        from corollary.ensemble._leaves import sum_leaves

        limit = 2.0**62 / max(1, len(grown.order))
        scales = np.array([scale_of(limit, float(peaks[0])), scale_of(limit, float(peaks[1]))])
        parts = np.empty((self.n_blocks, len(grown.leaves), 2), dtype=np.int64)

        def share(b: int) -> None:
            sum_leaves(values, grown.order, grown.leaves, grown.spans, b, scales, parts[b])

        self.team.map(share, range(self.n_blocks))
        return np.asarray(parts.sum(axis=0) / scales)

    def add_steps(
        self,
        grown: Grown,
        steps: np.ndarray,
        raw: np.ndarray,
        column: int,
        outside: np.ndarray,
    ) -> None:
        """Add the values of leaves to predictions.

        Parameters
        ----------
        grown : Grown
            A tree.
        steps : ndarray of shape (n_leaves, n_outputs)
            Values of its leaves.
        raw : ndarray of shape (n_samples, n_columns)
            Predictions of all rows.
        column : int
            Where they are added.
        outside : ndarray of uint32
            Rows that the tree has not seen.
        """
        from corollary.ensemble._leaves import add_leaves, walk_codes

        def share(b: int) -> None:
            add_leaves(raw, column, grown.order, grown.leaves, grown.spans, b, steps)

        self.team.map(share, range(self.n_blocks))
        if not len(outside):
            return
        feature, left = grown.splits[:, [0, 3]].T.copy()
        place = np.zeros(len(left), dtype=np.int64)
        place[grown.leaves] = np.arange(len(grown.leaves))

        def walk(span: np.ndarray) -> None:
            rows = outside[span[0] : span[1]]
            leaves = np.empty(len(rows), dtype=np.int64)
            walk_codes(self.codes, rows, feature, left, grown.sides, leaves)
            raw[rows, column : column + steps.shape[1]] += steps[place[leaves]]

        self.team.map(walk, list(cut(len(outside), self.n_blocks)))
