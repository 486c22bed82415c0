"""A tree in words: one line for each node."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from corollary.core.estimator import ArrayLike, Count, CountFromZero, checked
from corollary.tree._decision_tree import DecisionTree
from corollary.tree.explain._sentences import answer, column_names, conditions


@checked
def export_text(
    model: DecisionTree,
    *,
    feature_names: ArrayLike | None = None,
    max_depth: CountFromZero = 10,
    digits: Count = 3,
) -> str:
    """List the rules of a tree.

    Parameters
    ----------
    model : DecisionTreeClassifier or DecisionTreeRegressor
        A fitted tree.
    feature_names : array-like of str or None, default=None
        Names of the columns; None for those of training, or "x0", "x1" and so on.
    max_depth : int, default=10
        Deeper branches are summarised by a line.
    digits : int, default=3
        Significant digits of thresholds and values.

    Returns
    -------
    text : str
        One line for each side of a split, indented by depth; leaves with their answers, and the
        weight of their training rows.

    Examples
    --------
    >>> from corollary.tree import DecisionTreeRegressor, export_text
    >>> model = DecisionTreeRegressor().fit([[0.0], [1.0], [1.0]], [3.0, 5.0, 5.0])
    >>> print(export_text(model, feature_names=["size"]))
    size <= 0.5
    |   value: 3 (1 row)
    size > 0.5
    |   value: 5 (2 rows)
    """
    check_is_fitted(model)
    names = column_names(model, feature_names)
    tree, lines = model.nodes_, []
    depth = tree.depth
    below = _leaves_below(tree.left)
    stack: list[tuple[int, str]] = [(0, "")]
    while stack:
        node, head = stack.pop()
        indent = "|   " * max(0, int(depth[node]) - 1)
        if head:
            lines.append(indent + head)
        indent = "|   " * int(depth[node])
        if tree.left[node] < 0:
            lines.append(indent + answer(model, node, digits))
        elif depth[node] >= max_depth:
            lines.append(f"{indent}... a branch of {below[node]} leaves")
        else:
            left, right = conditions(model, node, names, digits)
            child = int(tree.left[node])
            stack += [(child + 1, right), (child, left)]
    return "\n".join(lines)


def _leaves_below(left: np.ndarray) -> np.ndarray:
    count = np.ones(len(left), dtype=np.int64)
    for node in range(len(left) - 1, -1, -1):
        if left[node] >= 0:
            count[node] = count[left[node]] + count[left[node] + 1]
    return count
