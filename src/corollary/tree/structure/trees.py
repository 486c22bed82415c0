"""Trees as flat arrays: one tree, or many trees end to end.

A node is a place in arrays. The two children of a split are neighbours: ``left[node]`` is the
number of the left one, the right one follows it, and both come after their parent; a leaf has
``left[node] == -1``. A row goes left if

* its value is missing (NaN) and ``missing_left[node]``,
* the split is categorical and the row's category is in the node's bitset (a category the bitset
  cannot hold counts as missing),
* otherwise if ``x[feature[node]] <= threshold[node]``.

Every node has a value, so that a tree can be cut at any place. One forest is a handful of arrays:
files are small, and rows walk down all trees in one compiled call.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy import sparse

from corollary.core.parallel import ordered_map
from corollary.core.schema import Array, Schema, Size
from corollary.tree.binning.bitsets import WORDS
from corollary.tree.structure._rows import BLOCK_ROWS, block_of, filled_rows

_DTYPES = {
    "feature": np.int32,
    "threshold": np.float64,
    "missing_left": np.bool_,
    "left": np.int32,
    "value": np.float64,
    "weight": np.float64,
    "gain": np.float64,
    "categories": np.int32,
    "bitsets": np.uint32,
}
_SPECS = {
    "feature": Array("i", "n", low=-1),
    "threshold": Array("f", "n"),
    "missing_left": Array("b", "n"),
    "left": Array("i", "n", low=-1),
    "value": Array("f", "n", "k"),
    "weight": Array("f", "n"),
    "gain": Array("f", "n"),
    "n_features": Size("d"),
    # Before the categories, which are bounded by its size.
    "bitsets": Array("u", "c", WORDS),
    "categories": Array("i", "n", low=-1, below="c") | Array("i", 0),
}


def _tree_problem(tree: "Tree") -> str | None:
    return _problem(tree, np.array([0, len(tree.left)]))


def _trees_problem(trees: "Trees") -> str | None:
    return _problem(trees, trees.offsets)


def _problem(nodes: Any, offsets: np.ndarray) -> str | None:
    """Say why a walk down the trees could leave the arrays or not end."""
    for name, dtype in _DTYPES.items():
        array = getattr(nodes, name)
        if array.dtype != dtype or not array.flags.c_contiguous:
            return f"{name} must have dtype {np.dtype(dtype).name} in C order"
    n = len(nodes.left)
    if offsets.dtype != np.int64 or len(offsets) < 2 or offsets[0] != 0 or offsets[-1] != n:
        return "offsets must start at 0 and end at the number of nodes"
    sizes = np.diff(offsets)
    if sizes.min() < 1:
        return "every tree must have a node"
    if nodes.value.shape[1] < 1:
        return "nodes must have values"
    first = np.repeat(offsets[:-1], sizes)
    place = np.arange(n)
    inner = np.flatnonzero(nodes.left >= 0)
    child = first[inner] + nodes.left[inner]
    if np.any(child <= place[inner]) or np.any(
        child + 1 >= (first + np.repeat(sizes, sizes))[inner]
    ):
        return "children must follow their parent, inside their tree"
    parents = np.bincount(np.concatenate([child, child + 1]), minlength=n)
    parents[offsets[:-1]] += 1
    if np.any(parents != 1):
        return "every node but the roots must have one parent"
    feature = nodes.feature[inner]
    if np.any(feature < 0) or np.any(feature >= nodes.n_features):
        return "splits must name existing features"
    if len(nodes.categories) not in (0, n):
        return "categories must be empty or have one entry per node"
    return None


@dataclass(frozen=True)
class Tree:
    """One tree.

    Parameters
    ----------
    feature : ndarray of int32 of shape (n_nodes,)
        Column of each split; -1 in leaves.
    threshold : ndarray of shape (n_nodes,)
        Rows with values up to it go left; 0 in leaves and categorical splits.
    missing_left : ndarray of bool of shape (n_nodes,)
        Where missing values go.
    left : ndarray of int32 of shape (n_nodes,)
        Left child, the right one is the next node; -1 in leaves.
    value : ndarray of shape (n_nodes, n_outputs)
        What a leaf answers, and what an inner node would.
    weight : ndarray of shape (n_nodes,)
        Total weight of the training rows in each node.
    gain : ndarray of shape (n_nodes,)
        By how much the split lowers the training criterion, as a sum over rows; 0 in leaves.
    n_features : int
        Number of columns.
    categories : ndarray of int32 of shape (n_nodes,) or (0,)
        Row of ``bitsets`` of each categorical split, -1 elsewhere; empty if there are none.
    bitsets : ndarray of uint32 of shape (n_categorical_splits, 8)
        Categories that go left, see :func:`pack_categories`.

    See Also
    --------
    Trees : Many of them.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.tree import Tree
    >>> stump = Tree.from_arrays(
    ...     feature=[0, -1, -1], threshold=[0.5, 0.0, 0.0], left=[1, -1, -1],
    ...     value=[[2.0], [1.0], [3.0]], n_features=1,
    ... )
    >>> stump.predict_values(np.array([[0.0], [1.0]]))
    array([[1.],
           [3.]])
    >>> stump.max_depth, stump.n_leaves
    (1, 2)
    """

    feature: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    left: np.ndarray
    value: np.ndarray
    weight: np.ndarray
    gain: np.ndarray
    n_features: int
    categories: np.ndarray
    bitsets: np.ndarray

    _schema = Schema(_tree_problem, **_SPECS)

    @classmethod
    def from_arrays(
        cls,
        *,
        feature: Any,
        threshold: Any,
        left: Any,
        value: Any,
        n_features: int,
        missing_left: Any = None,
        weight: Any = None,
        gain: Any = None,
        categories: Any = (),
        bitsets: Any = None,
    ) -> "Tree":
        """Make a tree from anything like its arrays, and check it.

        Parameters
        ----------
        feature : array-like of int of shape (n_nodes,)
            Column of each split; -1 in leaves.
        threshold : array-like of shape (n_nodes,)
            Largest value that goes left.
        left : array-like of int of shape (n_nodes,)
            Left child; -1 in leaves.
        value : array-like of shape (n_nodes, n_outputs)
            Answers.
        n_features : int
            Number of columns.
        missing_left : array-like of bool of shape (n_nodes,) or None, default=None
            Where missing values go; None means right.
        weight : array-like of shape (n_nodes,) or None, default=None
            Weight of the rows in each node; None means zero.
        gain : array-like of shape (n_nodes,) or None, default=None
            Gain of each split; None means zero.
        categories : array-like of int of shape (n_nodes,) or (0,), default=()
            Rows of ``bitsets``, -1 for splits by a threshold.
        bitsets : array-like of int of shape (n_categorical_splits, 8) or None, default=None
            Categories that go left; None if no split is categorical.

        Returns
        -------
        tree : Tree
            The tree.

        Raises
        ------
        ValueError
            If a walk down the tree could leave the arrays or not end.
        """
        n = len(left)
        columns: dict[str, Any] = {
            "feature": feature,
            "threshold": threshold,
            "missing_left": np.zeros(n) if missing_left is None else missing_left,
            "left": left,
            "value": value,
            "weight": np.zeros(n) if weight is None else weight,
            "gain": np.zeros(n) if gain is None else gain,
            "categories": categories,
            "bitsets": np.zeros((0, WORDS)) if bitsets is None else bitsets,
        }
        arrays: dict[str, Any] = {
            name: np.ascontiguousarray(columns[name], dtype=_DTYPES[name]) for name in columns
        }
        tree = cls(n_features=int(n_features), **arrays)
        problem = cls._schema.problem({}, vars(tree)) or _tree_problem(tree)
        if problem is not None:
            raise ValueError(f"The arrays make no tree: {problem}.")
        return tree

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.left)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(np.count_nonzero(self.left < 0))

    @property
    def right(self) -> np.ndarray:
        """Right child of each node; -1 in leaves."""
        return np.where(self.left < 0, self.left, self.left + 1)

    @property
    def parent(self) -> np.ndarray:
        """Parent of each node; -1 for the root."""
        parent = np.full(self.n_nodes, -1, dtype=np.int64)
        inner = np.flatnonzero(self.left >= 0)
        parent[self.left[inner]] = parent[self.left[inner] + 1] = inner
        return parent

    @property
    def depth(self) -> np.ndarray:
        """Splits above each node."""
        depth = np.zeros(self.n_nodes, dtype=np.int64)
        level = np.zeros(1, dtype=np.int64)
        while len(level := level[self.left[level] >= 0]):
            below = np.concatenate([self.left[level], self.left[level] + 1])
            depth[below] = np.concatenate([depth[level], depth[level]]) + 1
            level = below
        return depth

    @property
    def max_depth(self) -> int:
        """Splits on the longest way to a leaf."""
        return int(self.depth.max())

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf of each row.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            Rows; NaN is a missing value, categorical columns hold codes.

        Returns
        -------
        leaves : ndarray of int32 of shape (n_samples,)
            Numbers of nodes.
        """
        return Trees.join([self]).apply(X)[:, 0]

    def predict_values(self, X: Any) -> np.ndarray:
        """Return the value of each row's leaf.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            Rows; NaN is a missing value, categorical columns hold codes.

        Returns
        -------
        values : ndarray of shape (n_samples, n_outputs)
            The values.
        """
        return Trees.join([self]).predict_values(X)

    def decision_path(self, X: Any) -> sparse.csr_matrix:
        """Mark the nodes that rows pass.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        indicator : sparse matrix of shape (n_samples, n_nodes)
            One where a row passes a node, its leaf included.
        """
        return Trees.join([self]).decision_path(X)


@dataclass(frozen=True)
class Trees:
    """Many trees, end to end in the arrays of :class:`Tree`.

    Parameters
    ----------
    offsets : ndarray of int64 of shape (n_trees + 1,)
        Tree t owns the nodes from ``offsets[t]`` up to ``offsets[t + 1]``. Children are numbered
        within their tree, bitsets throughout.
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
    feature: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    left: np.ndarray
    value: np.ndarray
    weight: np.ndarray
    gain: np.ndarray
    n_features: int
    categories: np.ndarray
    bitsets: np.ndarray

    _schema = Schema(_trees_problem, offsets=Array("i", "*", low=0), **_SPECS)

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
        names = [n for n in _DTYPES if n != "categories"]
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
        arrays: dict[str, Any] = {
            f.name: getattr(self, f.name)[part]
            for f in fields(self)
            if f.name not in ("offsets", "n_features", "bitsets")
        }
        bitsets = self.bitsets[:0]
        if len(sets := arrays["categories"]):
            used = sets[sets >= 0]
            arrays["categories"] = np.full(len(sets), -1, dtype=np.int32)
            arrays["categories"][sets >= 0] = np.arange(len(used), dtype=np.int32)
            bitsets = self.bitsets[used]
        return Tree(n_features=self.n_features, bitsets=bitsets, **arrays)

    def predict_values(
        self,
        X: Any,
        *,
        groups: int = 1,
        first: int = 0,
        stop: int | None = None,
        start: np.ndarray | None = None,
        n_jobs: int | None = None,
    ) -> np.ndarray:
        """Add up the values of the leaves that rows fall into.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            Rows; NaN is a missing value, categorical columns hold codes.
        groups : int, default=1
            Tree t adds to the columns of group ``t % groups``: boosting for several classes deals
            its trees to the classes in turn.
        first : int, default=0
            First tree to walk.
        stop : int or None, default=None
            One after the last tree to walk; None means all.
        start : ndarray of shape (groups * n_outputs,) or None, default=None
            Where each row's sums begin; None means zero.
        n_jobs : int or None, default=None
            Threads; None means one per available core. The result does not depend on it.

        Returns
        -------
        values : ndarray of shape (n_samples, groups * n_outputs)
            The sums, in the order of the trees.
        """
        total = np.zeros((X.shape[0], groups * self.value.shape[1]))
        if start is not None:
            total += start
        none = np.empty((0, 0), dtype=np.int32)
        self._walk(X, total, none, groups, first, len(self) if stop is None else stop, n_jobs)
        return total

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
        leaves = np.empty((X.shape[0], len(self)), dtype=np.int32)
        total = np.empty((X.shape[0], self.value.shape[1]))
        self._walk(X, total, leaves, 1, 0, len(self), n_jobs)
        return leaves

    def decision_path(self, X: Any) -> sparse.csr_matrix:
        """Mark the nodes that rows pass.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            Rows; NaN is a missing value, categorical columns hold codes.

        Returns
        -------
        indicator : sparse matrix of shape (n_samples, n_nodes)
            One where a row passes a node, its leaf included; ``offsets`` says which columns belong
            to which tree.
        """
        parent = np.concatenate([self[t].parent for t in range(len(self))])
        first = np.repeat(self.offsets[:-1], np.diff(self.offsets))
        parent = np.where(parent < 0, -1, parent + first)
        here = (self.apply(X) + self.offsets[:-1]).ravel()
        rows = np.repeat(np.arange(X.shape[0]), len(self))
        passed: list[tuple[np.ndarray, np.ndarray]] = []
        while len(here):
            passed.append((rows, here))
            here = parent[here]
            rows, here = rows[here >= 0], here[here >= 0]
        marks = np.concatenate([r for r, _ in passed]), np.concatenate([h for _, h in passed])
        shape = (X.shape[0], len(self.left))
        return sparse.csr_matrix((np.ones(len(marks[0]), dtype=np.int64), marks), shape=shape)

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

    def _walk(
        self,
        X: Any,
        total: np.ndarray,
        leaves: np.ndarray,
        groups: int,
        first: int,
        stop: int,
        n_jobs: int | None,
    ) -> None:
        from corollary.tree._loops.descend import Nodes, descend

        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise ValueError(
                f"The trees need rows of {self.n_features} columns. Got shape {X.shape} instead."
            )
        nodes = Nodes(*(getattr(self, name) for name in Nodes._fields))

        step = block_of(X)

        def work(a: int) -> None:
            b = a + step
            rows = filled_rows(X, a, b)
            descend(nodes, rows, first, stop, groups, total[a:b], leaves[a:b])

        few = X.shape[0] * (stop - first) <= 8 * BLOCK_ROWS
        for _ in ordered_map(work, range(0, X.shape[0], step), workers=1 if few else n_jobs):
            pass
