"""Many trees end to end: a forest is a handful of arrays.

Files are small, and rows walk down all trees in one compiled call.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.core.schema import Array, Schema
from corollary.tree.structure._nodes import DTYPES, MEASURED, SPECS, Nodes, nodes_problem
from corollary.tree.structure.tree import Tree


@dataclass(frozen=True)
class Trees(Nodes):
    """Many trees, end to end in the arrays of :class:`Tree`.

    Parameters
    ----------
    feature : ndarray of int32 of shape (n_nodes,)
        Column of each split; -1 in leaves.
    threshold : ndarray of shape (n_nodes,)
        Rows with values up to it go left.
    missing_left : ndarray of bool of shape (n_nodes,)
        Where missing values go.
    left : ndarray of int32 of shape (n_nodes,)
        Left child, the right one is the next node; -1 in leaves.
    value : ndarray of shape (n_nodes, n_outputs)
        What a leaf answers, and what an inner node would.
    weight : ndarray of shape (n_nodes,)
        Total weight of the training rows in each node.
    gain : ndarray of shape (n_nodes,)
        By how much the split lowers the training criterion.
    n_features : int
        Number of columns.
    categories : ndarray of int32 of shape (n_nodes,) or (0,)
        Row of ``bitsets`` of each categorical split, -1 elsewhere; empty if there are none.
    bitsets : ndarray of uint32 of shape (n_categorical_splits, 8)
        Categories that go left.
    samples : ndarray of int32 of shape (n_nodes,) or (0,), default=()
        Number of training rows in each node; empty if it is not known.
    impurity : ndarray of shape (n_nodes,) or (0,), default=()
        Mean training criterion of the rows in each node; empty if it is not known.
    offsets : ndarray of int64 of shape (n_trees + 1,)
        Tree t owns the nodes from ``offsets[t]`` up to ``offsets[t + 1]``. Children are numbered
        within their tree, bitsets throughout.

    See Also
    --------
    Tree : One of them.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.tree import Tree, Trees
    >>> stump = Tree.from_arrays(
    ...     feature=[0, -1, -1], threshold=[0.5, 0.0, 0.0], left=[1, -1, -1],
    ...     value=[[2.0], [1.0], [3.0]], n_features=1,
    ... )
    >>> Trees.join([stump, stump]).predict_values(np.array([[0.0], [1.0]]))
    array([[2.],
           [6.]])
    """

    offsets: np.ndarray

    _schema = Schema(nodes_problem, offsets=Array("i", "*", low=0), **SPECS)

    @classmethod
    def join(cls, trees: Iterable[Tree]) -> "Trees":
        """Put trees end to end.

        Parameters
        ----------
        trees : iterable of Tree
            At least one, with equal numbers of features and outputs.

        Returns
        -------
        trees : Trees
            All of them.
        """
        trees = list(trees)
        offsets = np.cumsum([0, *(tree.n_nodes for tree in trees)], dtype=np.int64)
        categories = [np.zeros(0, dtype=np.int32)]
        if any(len(tree.categories) for tree in trees):
            seen = 0
            for tree in trees:
                sets = tree.categories
                if not len(sets):
                    sets = np.full(tree.n_nodes, -1, dtype=np.int32)
                categories.append(np.where(sets < 0, sets, sets + np.int32(seen)))
                seen += len(tree.bitsets)
        unknown = {n for n in MEASURED if any(not len(getattr(tree, n)) for tree in trees)}
        names = [n for n in DTYPES if n != "categories" and n not in unknown]
        if len(trees) == 1:
            joined = {name: getattr(trees[0], name) for name in names}
        else:
            joined = {name: np.concatenate([getattr(t, name) for t in trees]) for name in names}
        return cls(
            offsets=offsets,
            n_features=trees[0].n_features,
            categories=np.concatenate(categories),
            **joined,
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, t: int) -> Tree:
        if not -len(self) <= t < len(self):
            raise IndexError(f"There are {len(self)} trees. Got index {t}.")
        t %= len(self)
        part = slice(int(self.offsets[t]), int(self.offsets[t + 1]))
        arrays: dict[str, Any] = {n: getattr(self, n)[part] for n in DTYPES if n != "bitsets"}
        bitsets = self.bitsets[:0]
        if len(sets := arrays["categories"]):
            used = sets[sets >= 0]
            arrays["categories"] = np.full(len(sets), -1, dtype=np.int32)
            arrays["categories"][sets >= 0] = np.arange(len(used), dtype=np.int32)
            bitsets = self.bitsets[used]
        return Tree(n_features=self.n_features, bitsets=bitsets, **arrays)

    def _bounds(self) -> np.ndarray:
        return self.offsets

    def apply(self, X: Any, *, n_jobs: int | None = None) -> np.ndarray:
        """Return the leaf of each row in each tree.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            Rows; NaN is a missing value, categorical columns hold codes.
        n_jobs : int or None, default=None
            Threads; None means one per available core.

        Returns
        -------
        leaves : ndarray of int32 of shape (n_samples, n_trees)
            Numbers of nodes within their trees.
        """
        return self._leaves(X, n_jobs)

    def gain_by_feature(self) -> np.ndarray:
        """Add up the gains of each feature's splits in each tree.

        Returns
        -------
        gains : ndarray of shape (n_trees, n_features)
            The sums.
        """
        tree = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        inner = self.left >= 0
        place = tree[inner] * self.n_features + self.feature[inner]
        size = len(self) * self.n_features
        sums = np.bincount(place, weights=self.gain[inner], minlength=size)
        return sums.reshape(len(self), self.n_features)
