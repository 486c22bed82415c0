"""One tree as flat arrays."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.core.schema import Schema
from corollary.tree.binning.bitsets import WORDS
from corollary.tree.structure._nodes import DTYPES, SPECS, Nodes, nodes_problem


@dataclass(frozen=True)
class Tree(Nodes):
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
    samples : ndarray of int32 of shape (n_nodes,) or (0,), default=()
        Number of training rows in each node; empty if it is not known.
    impurity : ndarray of shape (n_nodes,) or (0,), default=()
        Mean training criterion of the rows in each node; empty if it is not known.

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

    _schema = Schema(nodes_problem, **SPECS)

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
            name: np.ascontiguousarray(array, dtype=DTYPES[name]) for name, array in columns.items()
        }
        tree = cls(n_features=int(n_features), **arrays)
        problem = cls._schema.problem({}, vars(tree)) or nodes_problem(tree)
        if problem is not None:
            raise ValueError(f"The arrays make no tree: {problem}.")
        return tree

    def _bounds(self) -> np.ndarray:
        return np.array([0, self.n_nodes])

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
        return self._parents()

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
        return self._leaves(X)[:, 0]
