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

import heapq
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from corollary.core.threads import Team
from corollary.tree.binning import Bins
from corollary.tree.bitsets import pack_categories
from corollary.tree.structure import Tree

# Rows whose derivatives fit in one word of a histogram: 14 bits count them, 22 hold second and 28
# first derivatives.
ROOM = 2**14 - 1
# Words of fewer rows have bits to spare, and rounding to the nearest keeps equal rows equal.
DITHER_ABOVE = 1024
# Leaves with fewer rows than this are not worth waking a thread for.
ALONE = 6000
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


@dataclass(eq=False)
class Node:
    """A node while its tree grows."""

    name: int
    spans: np.ndarray
    total: np.ndarray
    depth: int
    low: float = -np.inf
    high: float = np.inf
    hist: np.ndarray | None = None
    gain: float = -1.0
    found: np.ndarray = field(default_factory=lambda: np.zeros(6, dtype=np.int64))
    goes_left: np.ndarray = field(default_factory=lambda: np.zeros(256, dtype=np.uint8))


@dataclass(eq=False)
class Grown:
    """A grown tree before its leaves have values.

    Parameters
    ----------
    arrays : dict of str to list
        Arrays of the tree.
    sides : ndarray of uint8 of shape (n_nodes, 256)
        Side of every bin at every split.
    leaves : list of Node
        The leaves.
    order : ndarray of uint32
        Training rows, leaf by leaf within each block.
    """

    arrays: dict[str, Any]
    sides: np.ndarray
    leaves: list[Node]
    order: np.ndarray

    def rows(self, leaf: Node) -> np.ndarray:
        """Return the training rows of a leaf, in the order of the data."""
        return np.concatenate([self.order[a:b] for a, b in leaf.spans.tolist()])

    def finish(self, values: np.ndarray, weights: np.ndarray, n_features: int) -> Tree:
        """Return the tree with values and weights of its leaves; those of others are averages."""
        arrays = self.arrays
        left = np.array(arrays["left"])
        n = len(left)
        value, weight = np.zeros((n, values.shape[1])), np.zeros(n)
        names = [leaf.name for leaf in self.leaves]
        value[names], weight[names] = values, weights
        for node in range(n - 1, -1, -1):
            if left[node] < 0:
                continue
            a, b = left[node], left[node] + 1
            weight[node] = weight[a] + weight[b]
            share = weight[a] / weight[node] if weight[node] > 0 else 0.5
            value[node] = share * value[a] + (1.0 - share) * value[b]
        given = dict(arrays)
        if not any(c >= 0 for c in arrays["categories"]):
            given["categories"], given["bitsets"] = (), None
        return Tree.from_arrays(value=value, weight=weight, n_features=n_features, **given)


def scale_of(limit: float, peak: float) -> float:
    """Return the largest power of two that keeps ``peak`` within ``limit``."""
    if not 0.0 < peak < np.inf:
        return 1.0
    return float(2.0 ** np.clip(np.floor(np.log2(limit / peak)), -1000, 1000))


class Grower:
    """Grow trees on binned rows.

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
        self.codes, self.bins, self.growth, self.team = codes, bins, growth, team
        self.n_blocks = n_blocks
        self.kinds = np.where(bins.categorical, 2, monotone).astype(np.int64)
        self.columns = np.stack([bins.n_bins, self.kinds], axis=1)
        self.ranks = (np.empty(256, np.int64), np.empty(256, np.int64), np.empty(256))
        useful = (bins.n_bins > 1) | bins.missing
        self.features = np.flatnonzero(useful).astype(np.int64)
        self.packed = np.empty(len(codes), dtype=np.int64)
        self.spare: list[np.ndarray] = []
        self.scratch = [
            (np.empty(ROOM, dtype=np.int64), np.empty(1024, dtype=np.int64))
            for _ in range(n_blocks)
        ]
        self.aside = [np.empty(0, dtype=np.uint32)] * n_blocks

    def blocks(self, n_rows: int) -> np.ndarray:
        """Return first and last place of every block."""
        edges = np.linspace(0, n_rows, self.n_blocks + 1).astype(np.int64)
        return np.stack([edges[:-1], edges[1:]], axis=1)

    def grow(
        self,
        gradient: np.ndarray,
        hessian: np.ndarray,
        peaks: np.ndarray,
        rows: np.ndarray,
        rng: np.random.Generator,
    ) -> Grown:
        """Grow a tree.

        Parameters
        ----------
        gradient : ndarray of shape (n_samples,)
            First derivatives; only those of ``rows`` are read.
        hessian : ndarray of shape (n_samples,)
            Second derivatives.
        peaks : ndarray of shape (2,)
            Bounds of their absolute values.
        rows : ndarray of uint32
            Rows to learn from, ascending.
        rng : Generator
            Draws the features of a split.

        Returns
        -------
        grown : Grown
            The structure.
        """
        from corollary.ensemble._histogram import pack

        n = len(rows)
        self.order = rows.copy()
        spans = self.blocks(n)
        if any(len(a) < b - s for a, (s, b) in zip(self.aside, spans.tolist())):
            self.aside = [np.empty(b - s, dtype=np.uint32) for s, b in spans.tolist()]
        room = min(n, ROOM)
        c_bits = room.bit_length()
        h_bits = (64 - c_bits) * 22 // 50
        g_bits = 64 - c_bits - h_bits
        shift = n.bit_length()
        g_limit = (2.0 ** (g_bits - 1) - 1) / room - 1
        h_limit = min((2.0**h_bits - 1) / room - 1, 2.0 ** (62 - shift) / n - 1)
        scales = np.array([scale_of(g_limit, peaks[0]), scale_of(h_limit, peaks[1])])
        self.scales = 1.0 / scales
        bits = np.array([h_bits, c_bits, n > DITHER_ABOVE])
        self.layout = np.array([h_bits, c_bits, shift, room])
        self.limits = np.array(
            [shift, self.growth.l2, self.growth.min_samples_leaf, MIN_HESSIAN, -np.inf, np.inf]
        )
        everything = self.cuts_of(len(gradient))
        self.team.map(
            lambda s: pack(gradient, hessian, s[0], s[1], scales, bits, self.packed), everything
        )
        return self._grow(Node(0, spans, np.zeros(2, dtype=np.int64), 0), rng)

    def cuts_of(self, n_rows: int) -> list[tuple[int, int]]:
        """Return blocks of all rows, as pairs."""
        return [(a, b) for a, b in self.blocks(n_rows).tolist()]

    def _grow(self, root: Node, rng: np.random.Generator) -> Grown:
        arrays: dict[str, list[Any]] = {
            "feature": [-1],
            "threshold": [0.0],
            "missing_left": [False],
            "left": [-1],
            "gain": [0.0],
            "categories": [-1],
            "bitsets": [],
        }
        sides = [root.goes_left]
        limit = self.growth.max_leaf_nodes or 2**31
        leaves = {0: root}
        heap: list[tuple[float, int]] = []
        if len(self.features) and len(self.order):
            root.hist = self._histogram(root)
            root.total = root.hist[self.features[0]].sum(axis=0)
            self._search(root, heap, rng)
        while heap and len(leaves) < limit:
            node = leaves.pop(heapq.heappop(heap)[1])
            name = len(arrays["left"])
            self._note_split(node, name, arrays)
            pair = self._children(node, name, last=len(leaves) + 2 >= limit)
            for key in ("feature", "left", "categories"):
                arrays[key] += [-1, -1]
            for key, zero in (("threshold", 0.0), ("missing_left", False), ("gain", 0.0)):
                arrays[key] += [zero, zero]
            for child in pair:
                leaves[child.name] = child
                sides.append(child.goes_left)
                if child.hist is not None:
                    self._search(child, heap, rng)
        for node in leaves.values():
            self._free(node)
        ordered = [leaves[name] for name in sorted(leaves)]
        return Grown(arrays, np.stack(sides), ordered, self.order)

    def _note_split(self, node: Node, name: int, arrays: dict[str, list[Any]]) -> None:
        feature, split = int(node.found[0]), int(node.found[1])
        arrays["feature"][node.name] = feature
        arrays["left"][node.name] = name
        arrays["gain"][node.name] = 0.5 * node.gain
        arrays["missing_left"][node.name] = bool(node.goes_left[255])
        if self.kinds[feature] == 2:
            arrays["categories"][node.name] = len(arrays["bitsets"])
            arrays["bitsets"].append(pack_categories(np.flatnonzero(node.goes_left[:255])))
        else:
            arrays["threshold"][node.name] = self.bins.threshold(feature, split)

    def _count(self, total: np.ndarray) -> int:
        return int(total[1]) & ((1 << int(self.layout[2])) - 1)

    def _children(self, node: Node, name: int, *, last: bool) -> tuple[Node, Node]:
        """Partition the rows of a node and give both children histograms, if they need them."""
        from corollary.ensemble._histogram import add_histogram, partition

        feature = int(node.found[0])
        left_total = node.found[3:5].copy()
        right_total = node.total - left_total
        size, left_size = self._count(node.total), self._count(left_total)
        small_is_left = 2 * left_size <= size
        depth = node.depth + 1
        too_deep = self.growth.max_depth is not None and depth >= self.growth.max_depth
        largest = max(left_size, size - left_size)
        done = last or too_deep or largest < 2 * self.growth.min_samples_leaf
        middles = np.empty(self.n_blocks, dtype=np.int64)
        parts: list[np.ndarray | None] = [None] * self.n_blocks

        def share(b: int) -> None:
            span = node.spans[b]
            middle = partition(self.codes, feature, node.goes_left, self.order, span, self.aside[b])
            middles[b] = middle
            if done:
                return
            part = np.array([span[0], middle] if small_is_left else [middle, span[1]])
            hist = parts[b]
            assert hist is not None
            add_histogram(
                self.codes,
                self.order,
                part,
                self.packed,
                self.features,
                self.layout,
                self.scratch[b],
                hist,
            )

        small = self._in_blocks(share, parts, size, done)
        spans = node.spans.copy(), node.spans
        spans[0][:, 1] = spans[1][:, 0] = middles
        children = (
            Node(name, spans[0], left_total, depth, node.low, node.high),
            Node(name + 1, spans[1], right_total, depth, node.low, node.high),
        )
        self._bound(node, children)
        if small is None:
            self._free(node)
            return children
        big = node.hist
        assert big is not None
        np.subtract(big, small, out=big)
        node.hist = None
        children[0].hist, children[1].hist = (small, big) if small_is_left else (big, small)
        return children

    def _in_blocks(
        self, share: Any, parts: list[np.ndarray | None], size: int, done: bool
    ) -> np.ndarray | None:
        """Do a share of every block; return the sum of their histograms."""
        together = self.n_blocks == 1 or size < ALONE
        for b in range(self.n_blocks):
            if not done:
                parts[b] = parts[0] if together and b else self._fresh()
        if together:
            for b in range(self.n_blocks):
                share(b)
            return parts[0]
        self.team.map(share, range(self.n_blocks))
        total = parts[0]
        for part in parts[1:]:
            if total is not None and part is not None:
                total += part
                self.spare.append(part)
        return total

    def _histogram(self, node: Node) -> np.ndarray:
        from corollary.ensemble._histogram import add_histogram

        parts: list[np.ndarray | None] = [None] * self.n_blocks

        def share(b: int) -> None:
            hist = parts[b]
            assert hist is not None
            add_histogram(
                self.codes,
                self.order,
                node.spans[b],
                self.packed,
                self.features,
                self.layout,
                self.scratch[b],
                hist,
            )

        hist = self._in_blocks(share, parts, len(self.order), done=False)
        assert hist is not None
        return hist

    def _search(self, node: Node, heap: list[tuple[float, int]], rng: np.random.Generator) -> None:
        from corollary.ensemble._histogram import best_split

        deep = self.growth.max_depth is not None and node.depth >= self.growth.max_depth
        if deep or self._count(node.total) < 2 * self.growth.min_samples_leaf:
            self._free(node)
            return
        features = self.features
        if self.growth.max_features < 1.0:
            size = max(1, int(np.ceil(self.growth.max_features * len(features))))
            features = np.sort(rng.choice(features, size, replace=False))
        self.limits[4], self.limits[5] = node.low, node.high
        node.gain = best_split(
            node.hist,
            node.total,
            features,
            self.columns,
            self.limits,
            self.scales,
            self.ranks,
            (node.found, node.goes_left),
        )
        if node.gain > 0.0:
            heapq.heappush(heap, (-node.gain, node.name))
        else:
            self._free(node)

    def _bound(self, node: Node, children: tuple[Node, Node]) -> None:
        """Keep the values below a monotone split on their sides of its middle."""
        kind = self.kinds[int(node.found[0])]
        if kind not in (1, -1):
            return
        mask = (1 << int(self.layout[2])) - 1
        values = []
        for child in children:
            g = float(child.total[0]) * self.scales[0]
            h = float((int(child.total[1]) & ~mask) >> int(self.layout[2])) * self.scales[1]
            values.append(np.clip(-g / (h + self.growth.l2), node.low, node.high))
        middle = float(0.5 * (values[0] + values[1]))
        left, right = children if kind == 1 else children[::-1]
        left.high, right.low = middle, middle

    def _fresh(self) -> np.ndarray:
        if self.spare:
            hist = self.spare.pop()
            hist.fill(0)
            return hist
        return np.zeros((self.codes.shape[1], 256, 2), dtype=np.int64)

    def _free(self, node: Node) -> None:
        if node.hist is not None:
            self.spare.append(node.hist)
            node.hist = None

    def leaf_sums(
        self, grown: Grown, gradient: np.ndarray, hessian: np.ndarray, peaks: np.ndarray
    ) -> np.ndarray:
        """Return the sums of derivatives in every leaf.

        Parameters
        ----------
        grown : Grown
            A tree.
        gradient : ndarray of shape (n_samples,)
            First derivatives.
        hessian : ndarray of shape (n_samples,)
            Second derivatives.
        peaks : ndarray of shape (2,)
            Bounds of their absolute values.

        Returns
        -------
        sums : ndarray of shape (n_leaves, 2)
            Each row is rounded by at most n 2^-62 of the largest value, for n rows in all.
        """
        from corollary.ensemble._histogram import sum_leaves

        limit = 2.0**62 / max(1, len(grown.order))
        scales = np.array([scale_of(limit, peaks[0]), scale_of(limit, peaks[1])])
        spans = np.stack([leaf.spans for leaf in grown.leaves])
        parts = np.zeros((self.n_blocks, len(grown.leaves), 2), dtype=np.int64)

        def share(b: int) -> None:
            mine = np.ascontiguousarray(spans[:, b])
            sum_leaves(gradient, hessian, grown.order, mine, scales, parts[b])

        self.team.map(share, range(self.n_blocks))
        return parts.sum(axis=0) / scales

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
        from corollary.ensemble._histogram import add_leaves, walk_codes

        spans = np.stack([leaf.spans for leaf in grown.leaves])

        def share(b: int) -> None:
            add_leaves(raw, column, grown.order, np.ascontiguousarray(spans[:, b]), steps)

        self.team.map(share, range(self.n_blocks))
        if not len(outside):
            return
        feature = np.array(grown.arrays["feature"], dtype=np.int32)
        left = np.array(grown.arrays["left"], dtype=np.int32)
        place = np.zeros(len(left), dtype=np.int64)
        place[[leaf.name for leaf in grown.leaves]] = np.arange(len(grown.leaves))

        def walk(span: tuple[int, int]) -> None:
            rows = outside[span[0] : span[1]]
            leaves = np.empty(len(rows), dtype=np.int64)
            walk_codes(self.codes, rows, feature, left, grown.sides, leaves)
            raw[rows, column : column + steps.shape[1]] += steps[place[leaves]]

        self.team.map(walk, self.cuts_of(len(outside)))
