"""What a node asks and answers, in words."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from corollary.tree.binning.bitsets import unpack_categories


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
    tree = model.nodes_
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
    value, weight = model.nodes_.value[node], model.nodes_.weight[node]
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
    n_more = len(values) - len(shown)
    return "{" + ", ".join(shown) + (f", {n_more} more" if n_more else "") + "}"
