"""Nodes of one or more trees as flat arrays, and rows that walk down them.

A node is a place in arrays. The two children of a split are neighbours: ``left[node]`` is the
number of the left one, the right one follows it, and both come after their parent; a leaf has
``left[node] == -1``. A row goes left if

* its value is missing (NaN) and ``missing_left[node]``,
* the split is categorical and the row's category is in the node's bitset (a category the bitset
  cannot hold counts as missing),
* otherwise if ``x[feature[node]] <= threshold[node]``.

Every node has a value, so that a tree can be cut at any place.
"""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from corollary.core.parallel import ordered_map
from corollary.core.schema import Array, Optional, Size
from corollary.tree.binning.bitsets import WORDS
from corollary.tree.structure._rows import BLOCK_ROWS, block_of, filled_rows

DTYPES = {
    "feature": np.int32,
    "threshold": np.float64,
    "missing_left": np.bool_,
    "left": np.int32,
    "value": np.float64,
    "weight": np.float64,
    "gain": np.float64,
    "categories": np.int32,
    "bitsets": np.uint32,
    "samples": np.int32,
    "impurity": np.float64,
}
SPECS = {
    "feature": Array("i", "n", low=-1),
    "threshold": Array("f", "n", infinite=True),
    "missing_left": Array("b", "n"),
    "left": Array("i", "n", low=-1),
    "value": Array("f", "n", "k"),
    "weight": Array("f", "n"),
    "gain": Array("f", "n"),
    "n_features": Size("d"),
    # Before the categories, which are bounded by its size.
    "bitsets": Array("u", "c", WORDS),
    "categories": Array("i", "n", low=-1, below="c") | Array("i", 0),
    "samples": Optional(Array("i", "n", low=0) | Array("i", 0)),
    "impurity": Optional(Array("f", "n", infinite=True) | Array("f", 0)),
}
#: What is empty where it is not known, as in boosting and in files of older versions.
MEASURED = ("samples", "impurity")


@dataclass(frozen=True)
class Nodes:
    """The arrays that trees have, and the walk of rows; children are numbered within their tree."""

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
    samples: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32), kw_only=True)
    impurity: np.ndarray = field(default_factory=lambda: np.empty(0), kw_only=True)

    @abstractmethod
    def _bounds(self) -> np.ndarray:
        """Return where the nodes of each tree begin, and where those of the last one end."""

    def _roots(self) -> np.ndarray:
        """Return the place of each node's root."""
        bounds = self._bounds()
        return np.repeat(bounds[:-1], np.diff(bounds))

    def _parents(self) -> np.ndarray:
        """Return the place of each node's parent; -1 for roots."""
        parent = np.full(len(self.left), -1, dtype=np.int64)
        inner = np.flatnonzero(self.left >= 0)
        child = self._roots()[inner] + self.left[inner]
        parent[child] = parent[child + 1] = inner
        return parent

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
        stop = len(self._bounds()) - 1 if stop is None else stop
        none = np.empty((0, 0), dtype=np.int32)
        self._walk(X, total, none, groups, range(first, stop), n_jobs)
        return total

    def decision_path(self, X: Any) -> sparse.csr_matrix:
        """Mark the nodes that rows pass.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            Rows; NaN is a missing value, categorical columns hold codes.

        Returns
        -------
        indicator : sparse matrix of shape (n_samples, n_nodes)
            One where a row passes a node, its leaf included; the nodes of trees end to end.
        """
        parent = self._parents()
        leaves = self._leaves(X)
        here = (leaves + self._bounds()[:-1]).ravel()
        rows = np.repeat(np.arange(X.shape[0]), leaves.shape[1])
        passed: list[tuple[np.ndarray, np.ndarray]] = []
        while len(here):
            passed.append((rows, here))
            here = parent[here]
            rows, here = rows[here >= 0], here[here >= 0]
        marks = np.concatenate([r for r, _ in passed]), np.concatenate([h for _, h in passed])
        shape = (X.shape[0], len(self.left))
        return sparse.csr_matrix((np.ones(len(marks[0]), dtype=np.int64), marks), shape=shape)

    def _leaves(self, X: Any, n_jobs: int | None = None) -> np.ndarray:
        """Return the number of each row's leaf within each tree."""
        n_trees = len(self._bounds()) - 1
        leaves = np.empty((X.shape[0], n_trees), dtype=np.int32)
        total = np.empty((X.shape[0], self.value.shape[1]))
        self._walk(X, total, leaves, 1, range(n_trees), n_jobs)
        return leaves

    def _walk(
        self,
        X: Any,
        total: np.ndarray,
        leaves: np.ndarray,
        groups: int,
        trees: range,
        n_jobs: int | None,
    ) -> None:
        """Walk rows down trees, in blocks: add values to ``total``, note ``leaves``."""
        from corollary.tree._loops import descend as loops

        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise ValueError(
                f"The trees need rows of {self.n_features} columns. Got shape {X.shape} instead."
            )
        arrays = {name: getattr(self, name) for name in loops.Nodes._fields if name in DTYPES}
        nodes = loops.Nodes(offsets=self._bounds(), **arrays)
        step = block_of(X)

        def work(a: int) -> None:
            b = a + step
            rows = filled_rows(X, a, b)
            loops.descend(nodes, rows, trees.start, trees.stop, groups, total[a:b], leaves[a:b])

        few = X.shape[0] * len(trees) <= 8 * BLOCK_ROWS
        for _ in ordered_map(work, range(0, X.shape[0], step), workers=1 if few else n_jobs):
            pass


def nodes_problem(nodes: Nodes) -> str | None:
    """Say why a walk down the trees could leave the arrays or not end."""
    for name, dtype in DTYPES.items():
        array = getattr(nodes, name)
        if array.dtype != dtype or not array.flags.c_contiguous:
            return f"{name} must have dtype {np.dtype(dtype).name} in C order"
    n, bounds = len(nodes.left), nodes._bounds()
    if bounds.dtype != np.int64 or len(bounds) < 2 or bounds[0] != 0 or bounds[-1] != n:
        return "offsets must start at 0 and end at the number of nodes"
    if np.diff(bounds).min() < 1:
        return "every tree must have a node"
    if nodes.value.shape[1] < 1:
        return "nodes must have values"
    for name in ("categories", *MEASURED):
        if len(getattr(nodes, name)) not in (0, n):
            return f"{name} must be empty or have one entry per node"
    feature = nodes.feature[nodes.left >= 0]
    if np.any(feature < 0) or np.any(feature >= nodes.n_features):
        return "splits must name existing features"
    return _links_problem(nodes.left, bounds)


def _links_problem(left: np.ndarray, bounds: np.ndarray) -> str | None:
    """Say why children are not those of trees."""
    sizes = np.diff(bounds)
    inner = np.flatnonzero(left >= 0)
    child = np.repeat(bounds[:-1], sizes)[inner] + left[inner]
    if np.any(child <= inner) or np.any(child + 1 >= np.repeat(bounds[1:], sizes)[inner]):
        return "children must follow their parent, inside their tree"
    parents = np.bincount(np.concatenate([child, child + 1]), minlength=len(left))
    parents[bounds[:-1]] += 1
    if np.any(parents != 1):
        return "every node but the roots must have one parent"
    return None
