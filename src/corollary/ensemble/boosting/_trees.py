"""A boosted tree that is grown, what is kept of it, and all of them end to end."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from corollary.ensemble.boosting._layout import worth_a_split
from corollary.tree import Bins, Trees, pack_categories


@dataclass(frozen=True, eq=False)
class Grown:
    """A grown tree; its arrays are overwritten by the next one."""

    # nodes, see :mod:`corollary.ensemble._loops.records`; the values of leaves are apart
    nodes: np.ndarray
    steps: np.ndarray  # values of leaves, once they are settled
    sides: np.ndarray  # side of every bin at every split
    spans: np.ndarray  # where the rows of nodes begin and end in the order, block by block
    rows: Any  # training rows and their derivatives

    @property
    def leaves(self) -> np.ndarray:
        """Which nodes are leaves."""
        return np.flatnonzero(self.nodes["left"] < 0)

    def members(self, node: int) -> np.ndarray:
        """Return the training rows of a node, in the order of the data."""
        return np.concatenate([self.rows.order[a:b] for a, b in self.spans[node].tolist()])


@dataclass(frozen=True, eq=False)
class Kept:
    """What is kept of a tree until all are joined."""

    nodes: np.ndarray  # as in :class:`Grown`
    values: np.ndarray  # values of leaves
    bitsets: dict[int, np.ndarray]  # categories that go left, by node


def keep(grown: Grown, bins: Bins) -> Kept:
    """Keep a tree whose leaves are settled."""
    bitsets = {}
    if bins.categorical.any():
        feature = _features_of(grown.nodes, bins)
        for node in np.flatnonzero((feature >= 0) & bins.categorical[feature]).tolist():
            left = grown.sides[node, : bins.n_bins[feature[node]]]
            bitsets[node] = pack_categories(np.flatnonzero(left))
    return Kept(grown.nodes.copy(), grown.steps.copy(), bitsets)


def join(kept: list[Kept], bins: Bins) -> Trees:
    """Put trees end to end; inner nodes get the weighted average of their leaves."""
    offsets = np.cumsum([0, *(len(k.nodes) for k in kept)], dtype=np.int64)
    # As bytes, because records of many arrays are compared field by field.
    nodes = np.concatenate([k.nodes.view(np.uint8) for k in kept]).view(kept[0].nodes.dtype)
    left = nodes["left"].astype(np.int32)
    inner = left >= 0
    feature = _features_of(nodes, bins).astype(np.int32)
    value = np.concatenate([k.values for k in kept])
    weight = nodes["mass"].copy()
    _average_up(offsets, left, value, weight)
    by_number = inner & ~bins.categorical[feature]
    cuts = np.full((len(bins.cuts), 256), np.inf)
    for f, own in enumerate(bins.cuts):
        if not bins.categorical[f]:
            cuts[f, : len(own)] = own
    threshold = np.zeros(len(feature))
    threshold[by_number] = cuts[feature[by_number], nodes["bin"][by_number]]
    sets = [(start + node, words) for k, start in zip(kept, offsets.tolist())
            for node, words in k.bitsets.items()]  # fmt: skip
    categories = np.full(len(feature) if sets else 0, -1, dtype=np.int32)
    for place, (node, _) in enumerate(sets):
        categories[node] = place
    return Trees(
        offsets=offsets,
        feature=feature,
        threshold=threshold,
        missing_left=inner & (nodes["missing"] > 0),
        left=left,
        value=value,
        weight=weight,
        gain=np.where(inner, 0.5 * nodes["gain"], 0.0),
        n_features=len(bins.cuts),
        categories=categories,
        bitsets=np.stack([w for _, w in sets]) if sets else np.zeros((0, 8), dtype=np.uint32),
    )


def rescale(trees: Trees, factors: np.ndarray) -> Trees:
    """Multiply the values of trees; their factors repeat from iteration to iteration."""
    factor = np.resize(factors, len(trees))
    return replace(trees, value=trees.value * np.repeat(factor, np.diff(trees.offsets))[:, None])


def _features_of(nodes: np.ndarray, bins: Bins) -> np.ndarray:
    """Return the feature of every node, and -1 for leaves, whose splits were never made."""
    features = np.append(worth_a_split(bins), -1)
    return np.asarray(features[np.where(nodes["left"] < 0, -1, nodes["feature"])])


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
