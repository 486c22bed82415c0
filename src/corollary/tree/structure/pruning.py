r"""Cost-complexity pruning by weakest links.

Among the pruned forms T of a large tree, minimise

.. math:: C_\lambda(T) = \sum_{\text{leaves } p} m_p Q_p + \lambda |T|,

with :math:`m_p Q_p` the criterion summed over the rows of leaf p and :math:`|T|` the number of
leaves. For every :math:`\lambda` there is one smallest minimiser, and these are nested: collapsing
again and again the inner node t whose branch earns least per leaf,
:math:`g(t) = (R(t) - R(T_t)) / (|T_t| - 1)`, passes through all of them. The numerator is the sum
of the gains in the branch, so the path needs no data.
"""

import heapq
from dataclasses import dataclass

import numpy as np

from corollary.tree.structure._cut import cut
from corollary.tree.structure.tree import Tree


@dataclass(frozen=True, eq=False)
class PruningPath:
    """All minimisers of the cost, from the whole tree to its root.

    Parameters
    ----------
    lambdas : ndarray of shape (n_steps,)
        Prices of a leaf at which the tree shrinks, ascending, the first one 0.
    n_leaves : ndarray of int of shape (n_steps,)
        Leaves of the smallest minimiser from each price on.
    lost : ndarray of shape (n_steps,)
        Criterion of that tree minus that of the whole tree, as a sum over rows.
    collapse : ndarray of shape (n_nodes,)
        Price at which each node is no longer split; minus infinity for leaves.

    Examples
    --------
    >>> from corollary.tree import DecisionTreeRegressor, weakest_links
    >>> model = DecisionTreeRegressor().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 9.0])
    >>> path = weakest_links(model.nodes_)
    >>> path.lambdas.round(6), path.n_leaves
    (array([ 0.      ,  0.5     , 48.166667]), array([3, 2, 1]))
    """

    lambdas: np.ndarray
    n_leaves: np.ndarray
    lost: np.ndarray
    collapse: np.ndarray


def weakest_links(tree: Tree) -> PruningPath:
    """Collapse the weakest link again and again, down to the root.

    Parameters
    ----------
    tree : Tree
        A grown tree.

    Returns
    -------
    path : PruningPath
        The nested minimisers.

    Examples
    --------
    >>> from corollary.tree import DecisionTreeClassifier, weakest_links
    >>> model = DecisionTreeClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    >>> weakest_links(model.nodes_).n_leaves
    array([4, 1])
    """
    left, parent = tree.left, tree.parent
    n_leaves = np.ones(tree.n_nodes, dtype=np.int64)
    gain = np.where(left >= 0, tree.gain, 0.0)
    for node in range(tree.n_nodes - 1, -1, -1):  # children come after their parents
        child = left[node]
        if child >= 0:
            n_leaves[node] = n_leaves[child] + n_leaves[child + 1]
            gain[node] += gain[child] + gain[child + 1]
    total_leaves, total_gain = int(n_leaves[0]), float(gain[0])
    collapse = np.full(tree.n_nodes, -np.inf)
    links = [(gain[t] / (n_leaves[t] - 1), int(t)) for t in np.flatnonzero(left >= 0)]
    heapq.heapify(links)
    gone = np.zeros(tree.n_nodes, dtype=bool)
    # Gains that are equal but for rounding belong to one step.
    slack = 1e-12 * total_gain
    lambdas, counts, lost, price = [0.0], [total_leaves], [0.0], 0.0
    while links:
        link, node = heapq.heappop(links)
        if gone[node] or link != gain[node] / (n_leaves[node] - 1):
            continue
        if link > price + slack:
            price = float(link)
            lambdas.append(price)
            counts.append(counts[-1])
            lost.append(lost[-1])
        branch = [node]
        while branch:
            inner = branch.pop()
            if left[inner] >= 0 and not gone[inner]:
                gone[inner] = True
                collapse[inner] = price
                branch += [int(left[inner]), int(left[inner]) + 1]
        fewer, less = int(n_leaves[node]) - 1, float(gain[node])
        above = int(parent[node])
        while above >= 0:
            n_leaves[above] -= fewer
            gain[above] -= less
            heapq.heappush(links, (gain[above] / (n_leaves[above] - 1), above))
            above = int(parent[above])
        counts[-1] -= fewer
        lost[-1] += less
    return PruningPath(np.array(lambdas), np.array(counts), np.array(lost), collapse)


def prune(tree: Tree, lambda_: float, *, path: PruningPath | None = None) -> Tree:
    """Return the smallest pruned tree that minimises the cost at a price of leaves.

    Parameters
    ----------
    tree : Tree
        A grown tree.
    lambda_ : float
        Price of a leaf, in units of the criterion summed over rows: the number (or weight) of
        rows times scikit-learn's ``ccp_alpha``.
    path : PruningPath or None, default=None
        From :func:`weakest_links`, if it is known.

    Returns
    -------
    tree : Tree
        The pruned tree.

    Notes
    -----
    Guarantee: no other pruned form has a lower cost, and none with fewer leaves the same; checked
    against all pruned forms in ``tests/tree/test_pruning.py::test_no_pruned_tree_is_cheaper``.

    Examples
    --------
    >>> from corollary.tree import DecisionTreeRegressor, prune
    >>> model = DecisionTreeRegressor().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 9.0])
    >>> prune(model.nodes_, 1.0).n_leaves
    2
    """
    if not lambda_ >= 0:
        raise ValueError(f"The price of a leaf must be at least 0. Got {lambda_!r} instead.")
    path = weakest_links(tree) if path is None else path
    return cut(tree, (tree.left >= 0) & (path.collapse <= lambda_))
