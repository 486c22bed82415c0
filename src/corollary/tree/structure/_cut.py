"""Cutting branches off."""

import numpy as np

from corollary.tree.structure._nodes import MEASURED
from corollary.tree.structure.tree import Tree


def cut(tree: Tree, collapsed: np.ndarray) -> Tree:
    """Make leaves of nodes and drop what is below them."""
    left = np.where(collapsed, -1, tree.left)
    kept = np.zeros(tree.n_nodes, dtype=bool)
    level = np.zeros(1, dtype=np.int64)
    while len(level):
        kept[level] = True
        inner = level[left[level] >= 0]
        level = np.concatenate([left[inner], left[inner] + 1])
    place = np.cumsum(kept) - 1
    left = left[kept]
    leaf = left < 0
    categories, bitsets = tree.categories, tree.bitsets
    if len(categories):
        sets = np.where(leaf, -1, categories[kept])
        used = sets[sets >= 0]
        sets[sets >= 0] = np.arange(len(used))
        categories, bitsets = sets.astype(np.int32), bitsets[used]
        if not len(used):
            categories = categories[:0]
    return Tree(
        feature=np.where(leaf, -1, tree.feature[kept]).astype(np.int32),
        threshold=np.where(leaf, 0.0, tree.threshold[kept]),
        missing_left=tree.missing_left[kept] & ~leaf,
        left=np.where(leaf, -1, place[left]).astype(np.int32),
        value=np.ascontiguousarray(tree.value[kept]),
        weight=tree.weight[kept],
        gain=np.where(leaf, 0.0, tree.gain[kept]),
        n_features=tree.n_features,
        categories=categories,
        bitsets=bitsets,
        **{name: array[kept] for name in MEASURED if len(array := vars(tree)[name])},
    )
