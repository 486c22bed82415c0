"""A fitted tree under the names, and in the conventions, of scikit-learn's ``tree_``."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.tree.structure.tree import Tree

_UNDEFINED = -2


@dataclass(frozen=True, eq=False)
class TreeArrays:
    """A fitted tree as scikit-learn's ``tree_`` shows it, for tools that read trees.

    ``sklearn.tree.plot_tree`` and ``sklearn.tree.export_text`` work on models that have it.

    Parameters
    ----------
    nodes : Tree
        The tree in the arrays of this library.
    labels : tuple of int
        Number of classes of each target; empty for numbers.

    Notes
    -----
    The split of a categorical column has the threshold NaN; ``nodes`` knows its categories.
    Attributes are made when asked for.

    Examples
    --------
    >>> from corollary.tree import DecisionTreeRegressor
    >>> tree = DecisionTreeRegressor().fit([[0.0], [1.0]], [2.0, 3.0]).tree_
    >>> tree.children_left, tree.feature, tree.threshold, tree.value[:, 0, 0]
    (array([ 1, -1, -1]), array([ 0, -2, -2]), array([ 0.5, -2. , -2. ]), array([2.5, 2. , 3. ]))
    """

    nodes: Tree
    labels: tuple[int, ...]

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.nodes.n_features

    @property
    def n_outputs(self) -> int:
        """Number of targets."""
        return len(self.labels) or self.nodes.value.shape[1]

    @property
    def n_classes(self) -> np.ndarray:
        """Number of classes of each target; ones for numbers."""
        return np.array(self.labels or [1] * self.n_outputs)

    @property
    def max_n_classes(self) -> int:
        """The largest of them."""
        return int(self.n_classes.max())

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return self.nodes.n_nodes

    @property
    def capacity(self) -> int:
        """Room for nodes, all of which is used."""
        return self.nodes.n_nodes

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return self.nodes.n_leaves

    @property
    def max_depth(self) -> int:
        """Splits on the longest way to a leaf."""
        return self.nodes.max_depth

    @property
    def children_left(self) -> np.ndarray:
        """Left child of each node; -1 in leaves."""
        return self.nodes.left.astype(np.int64)

    @property
    def children_right(self) -> np.ndarray:
        """Right child of each node; -1 in leaves."""
        return self.nodes.right.astype(np.int64)

    @property
    def feature(self) -> np.ndarray:
        """Column of each split; -2 in leaves."""
        return np.where(self.nodes.left < 0, _UNDEFINED, self.nodes.feature).astype(np.int64)

    @property
    def threshold(self) -> np.ndarray:
        """Largest value that goes left; -2 in leaves, NaN where categories decide."""
        threshold = np.where(self.nodes.left < 0, float(_UNDEFINED), self.nodes.threshold)
        if len(self.nodes.categories):
            threshold[self.nodes.categories >= 0] = np.nan
        return threshold

    @property
    def missing_go_to_left(self) -> np.ndarray:
        """Whether missing values go left."""
        return self.nodes.missing_left.astype(np.uint8)

    @property
    def value(self) -> np.ndarray:
        """Answers, of shape (n_nodes, n_outputs, max_n_classes): numbers, or shares of classes."""
        flat = self.nodes.value
        if not self.labels:
            return flat[:, :, None].copy()
        value, start = np.zeros((len(flat), self.n_outputs, self.max_n_classes)), 0
        for k, count in enumerate(self.labels):
            value[:, k, :count] = flat[:, start : start + count]
            start += count
        return value

    @property
    def impurity(self) -> np.ndarray:
        """Mean training criterion in each node; NaN if the file of the model is older than it."""
        return self._measured("impurity", np.nan)

    @property
    def n_node_samples(self) -> np.ndarray:
        """Training rows in each node; -1 if the file of the model is older than the count."""
        return self._measured("samples", -1).astype(np.int64)

    @property
    def weighted_n_node_samples(self) -> np.ndarray:
        """Total weight of the training rows in each node."""
        return self.nodes.weight.copy()

    def _measured(self, name: str, unknown: float) -> np.ndarray:
        array = getattr(self.nodes, name)
        return array.copy() if len(array) else np.full(self.node_count, unknown)

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf of each row.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        leaves : ndarray of int of shape (n_samples,)
            Numbers of nodes.
        """
        return self.nodes.apply(X).astype(np.int64)

    def decision_path(self, X: Any) -> Any:
        """Mark the nodes that rows pass.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        indicator : sparse matrix of shape (n_samples, n_nodes)
            One where a row passes a node.
        """
        return self.nodes.decision_path(X)

    def predict(self, X: Any) -> np.ndarray:
        """Return the answers of the leaves that rows fall into.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        values : ndarray of shape (n_samples, max_n_classes) or \
(n_samples, n_outputs, max_n_classes)
            Entries of ``value``; without the axis of targets if there is one.
        """
        values = self.value[self.nodes.apply(X)]
        return values[:, 0] if self.n_outputs == 1 else values

    def compute_node_depths(self) -> np.ndarray:
        """Return how many nodes there are on the way to each node, itself included.

        Returns
        -------
        depths : ndarray of int of shape (n_nodes,)
            One for the root.
        """
        return self.nodes.depth + 1

    def compute_feature_importances(self, normalize: bool = True) -> np.ndarray:
        """Return what the splits of each feature gain, as a share of the weight of all rows.

        Parameters
        ----------
        normalize : bool, default=True
            Whether the gains are divided by their sum.

        Returns
        -------
        importances : ndarray of shape (n_features,)
            Gains.
        """
        inner = self.nodes.left >= 0
        gains = np.bincount(
            self.nodes.feature[inner], self.nodes.gain[inner], minlength=self.n_features
        )
        total = gains.sum() if normalize else self.nodes.weight[0]
        return gains / total if total > 0 else gains
