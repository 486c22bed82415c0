"""Partial dependence of a tree: what it answers on average where some columns are set."""

import numpy as np

from corollary.core.estimator import ArrayLike, checked
from corollary.tree.structure.tree import Tree


@checked
def tree_partial_dependence(tree: Tree, grid: ArrayLike, features: ArrayLike) -> np.ndarray:
    r"""Return the mean answer of a tree where some columns have given values.

    A row goes down the tree: where a split asks for one of the columns it follows the value, else
    it is divided in the shares that the training rows had. No row is predicted, so that a curve
    costs one walk through the nodes.

    Parameters
    ----------
    tree : Tree
        The tree, with the weights of its nodes.
    grid : array-like of shape (n_points, n_columns)
        Values of the columns; missing ones go where the tree sends them.
    features : array-like of int of shape (n_columns,)
        Numbers of the columns.

    Returns
    -------
    mean : ndarray of shape (n_points, n_outputs)
        Mean answers.

    References
    ----------
    .. [1] J. H. Friedman (2001). Greedy function approximation: a gradient boosting machine. Annals
       of Statistics 29, section 8.2.

    Examples
    --------
    Of four training rows three are at the first column's zero:

    >>> import numpy as np
    >>> from corollary.tree import DecisionTreeRegressor, tree_partial_dependence
    >>> X = np.array([[0, 0], [0, 0], [0, 1], [1, 0]])
    >>> tree = DecisionTreeRegressor().fit(X, [0.0, 0.0, 0.0, 8.0]).nodes_
    >>> tree_partial_dependence(tree, [[0.0], [1.0]], [0])[:, 0]
    array([0., 8.])
    >>> tree_partial_dependence(tree, [[0.0], [1.0]], [1])[:, 0]
    array([2., 2.])
    """
    points = np.asarray(grid, dtype=np.float64)
    place = {int(feature): k for k, feature in enumerate(np.asarray(features))}
    mean = np.zeros((len(points), tree.value.shape[1]))
    walks = [(0, np.ones(len(points)))]
    while walks:
        node, share = walks.pop()
        left = int(tree.left[node])
        if left < 0:
            mean += share[:, None] * tree.value[node]
            continue
        feature = int(tree.feature[node])
        if feature not in place:
            part = tree.weight[left] / tree.weight[node]
            walks += [(left, part * share), (left + 1, (1.0 - part) * share)]
            continue
        if len(tree.categories) and tree.categories[node] >= 0:
            raise ValueError(
                f"tree_partial_dependence needs columns of numbers. Column {feature} holds "
                "categories; predict rows in which it is set instead (method='brute')."
            )
        values = points[:, place[feature]]
        goes_left = np.where(
            np.isnan(values), tree.missing_left[node], values <= tree.threshold[node]
        )
        walks += [(left, share * goes_left), (left + 1, share * ~goes_left)]
    return mean
