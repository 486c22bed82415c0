"""A tree in words: one line for each node."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from corollary.core.compat import Interval, validate_params
from corollary.tree.base import BaseDecisionTree
from corollary.tree.bitsets import unpack_categories


@validate_params(
    {
        "model": [BaseDecisionTree],
        "feature_names": ["array-like", None],
        "max_depth": [Interval(Integral, 0, None, closed="left")],
        "digits": [Interval(Integral, 1, None, closed="left")],
    },
    prefer_skip_nested_validation=True,
)
def export_text(
    model: Any, *, feature_names: Any = None, max_depth: int = 10, digits: int = 3
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
    tree, lines = model.tree_, []
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


def column_names(model: Any, feature_names: Any = None) -> list[str]:
    """Return names for the columns of a fitted model."""
    if feature_names is None:
        feature_names = getattr(model, "feature_names_in_", None)
    if feature_names is None:
        return [f"x{j}" for j in range(model.n_features_in_)]
    names = [str(name) for name in feature_names]
    if len(names) != model.n_features_in_:
        raise ValueError(
            f"feature_names must name {model.n_features_in_} columns. Got {len(names)} names."
        )
    return names


def conditions(model: Any, node: int, names: list[str], digits: int) -> tuple[str, str]:
    """Say what goes left and what goes right at a split."""
    tree = model.tree_
    name = names[tree.feature[node]]
    if len(tree.categories) and tree.categories[node] >= 0:
        place = int(np.flatnonzero(model.categories_.columns == tree.feature[node])[0])
        values = model.categories_.values[place]
        inside = np.isin(
            np.arange(len(values)), unpack_categories(tree.bitsets[tree.categories[node]])
        )
        sides = [_listed(values[inside]), _listed(values[~inside])]
        return f"{name} in {sides[0]}", f"{name} in {sides[1]}"
    threshold = tree.threshold[node]
    if np.isinf(threshold):
        return f"{name} is known", f"{name} is missing"
    limit = _number(threshold, digits)
    return f"{name} <= {limit}", f"{name} > {limit}"


def answer(model: Any, node: int, digits: int) -> str:
    """Say what a node answers."""
    value, weight = model.tree_.value[node], model.tree_.weight[node]
    rows = f"{weight:.0f}" if np.isclose(weight, round(weight)) else f"{weight:.2f}"
    size = f"({rows} row{'' if rows == '1' else 's'})"
    if is_classifier(model):
        best = int(value.argmax())
        return f"class: {model.classes_[best]} at {value[best]:.2f} {size}"
    return f"value: {_number(value[0], digits)} {size}"


def _number(x: float, digits: int) -> str:
    """Write a number with significant digits, but no power of ten where none is needed."""
    return f"{x:.0f}" if 10.0**digits <= abs(x) < 1e15 else f"{x:.{digits}g}"


def _listed(values: np.ndarray, most: int = 4) -> str:
    shown = [f"{v:g}" if isinstance(v, float) else str(v) for v in values[:most].tolist()]
    rest = len(values) - len(shown)
    return "{" + ", ".join(shown) + (f", {rest} more" if rest else "") + "}"


def _leaves_below(left: np.ndarray) -> np.ndarray:
    count = np.ones(len(left), dtype=np.int64)
    for node in range(len(left) - 1, -1, -1):
        if left[node] >= 0:
            count[node] = count[left[node]] + count[left[node] + 1]
    return count
