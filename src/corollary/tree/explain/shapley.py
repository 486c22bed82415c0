r"""Which feature contributes what: exact Shapley values of sums of trees.

The game of one row: the value of a set S of features is the expected answer of a tree when the
features in S are those of the row and at splits on other features the row goes both ways, in
proportion to the training rows that did (path-dependent expectation). The Shapley value of a
feature is its mean increment over all orders in which features may enter.
"""

from typing import Any

import numpy as np

from corollary.core.parallel import ordered_map
from corollary.tree.structure._rows import BLOCK_ROWS, block_of, filled_rows
from corollary.tree.structure.tree import Tree
from corollary.tree.structure.trees import Trees


def tree_contributions(
    trees: Tree | Trees, X: Any, *, groups: int = 1, n_jobs: int | None = None
) -> np.ndarray:
    r"""Compute exact Shapley values of every feature for the sum of trees.

    Parameters
    ----------
    trees : Tree or Trees
        The trees; the weights of their nodes say how often rows go left and right.
    X : array-like of shape (n_samples, n_features)
        Rows; NaN is a missing value, categorical columns hold codes.
    groups : int, default=1
        Tree t counts for the outputs of group ``t % groups``.
    n_jobs : int or None, default=None
        Threads; None means one per available core. The result does not depend on it.

    Returns
    -------
    contributions : ndarray of shape (n_samples, n_features, groups * n_outputs)
        For each row and output they add up to the prediction minus
        :func:`expected_values`.

    Notes
    -----
    The work is that of the leaves times the square of the number of different features on the way
    to each, instead of all subsets.

    Guarantee (efficiency): the sum equals the prediction minus its expectation up to rounding;
    checked by ``tests/tree/test_shapley.py::test_contributions_add_up``.

    References
    ----------
    Lundberg, S., et al. (2020). From local explanations to global understanding with explainable
    AI for trees. Nature Machine Intelligence 2.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.tree import Tree, tree_contributions
    >>> stump = Tree.from_arrays(
    ...     feature=[0, -1, -1], threshold=[0.5, 0.0, 0.0], left=[1, -1, -1],
    ...     value=[[0.0], [1.0], [3.0]], weight=[4.0, 1.0, 3.0], n_features=2,
    ... )
    >>> tree_contributions(stump, np.array([[0.0, 0.0], [1.0, 0.0]]))[:, :, 0]
    array([[-1.5,  0. ],
           [ 0.5,  0. ]])
    """
    from corollary.tree._loops.descend import Nodes
    from corollary.tree._loops.shapley import contribute

    trees = Trees.join([trees]) if isinstance(trees, Tree) else trees
    X = X if hasattr(X, "indptr") else np.asarray(X)
    if X.ndim != 2 or X.shape[1] != trees.n_features:
        raise ValueError(
            f"The trees need rows of {trees.n_features} columns. Got shape {X.shape} instead."
        )
    phi = np.zeros((X.shape[0], trees.n_features, groups * trees.value.shape[1]))
    nodes = Nodes(*(getattr(trees, name) for name in Nodes._fields))

    step = block_of(X)

    def work(a: int) -> None:
        contribute(nodes, trees.weight, filled_rows(X, a, a + step), groups, phi[a : a + step])

    few = X.shape[0] * len(trees) <= 8 * BLOCK_ROWS
    for _ in ordered_map(work, range(0, X.shape[0], step), workers=1 if few else n_jobs):
        pass
    return phi


def expected_values(trees: Tree | Trees, *, groups: int = 1) -> np.ndarray:
    """Return the expected sum of the trees over their training rows.

    Parameters
    ----------
    trees : Tree or Trees
        The trees; the weights of their nodes say how often rows go left and right.
    groups : int, default=1
        Tree t counts for the outputs of group ``t % groups``.

    Returns
    -------
    expected : ndarray of shape (groups * n_outputs,)
        What :func:`tree_contributions` start from.

    Examples
    --------
    >>> from corollary.tree import Tree, expected_values
    >>> stump = Tree.from_arrays(
    ...     feature=[0, -1, -1], threshold=[0.5, 0.0, 0.0], left=[1, -1, -1],
    ...     value=[[0.0], [1.0], [3.0]], weight=[4.0, 1.0, 3.0], n_features=2,
    ... )
    >>> expected_values(stump)
    array([2.5])
    """
    from corollary.tree._loops.shapley import reach

    trees = Trees.join([trees]) if isinstance(trees, Tree) else trees
    chance = np.empty(len(trees.left))
    reach(trees.offsets, trees.left, trees.weight, chance)
    leaf = trees.left < 0
    tree = np.repeat(np.arange(len(trees)), np.diff(trees.offsets))[leaf]
    total = np.zeros((groups, trees.value.shape[1]))
    np.add.at(total, tree % groups, chance[leaf, None] * trees.value[leaf])
    return total.ravel()
