"""The picture of a tree."""

from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from corollary.core.display import axes_for
from corollary.tree._decision_tree import DecisionTree
from corollary.tree.explain._sentences import answer, column_names, conditions
from corollary.tree.structure._cut import cut


class TreeDisplay:
    """Draw a decision tree.

    Splits stand above their sides, the left side being the one for which the condition holds.
    Branches are as thick as the share of training rows that take them; colour is the predicted
    class, paler where it is less sure, or the predicted number.

    Parameters
    ----------
    model : DecisionTreeClassifier or DecisionTreeRegressor
        A fitted tree.
    feature_names : list of str or None, default=None
        Names of the columns; None for those of training.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the tree was drawn.
    figure_ : matplotlib Figure
        The figure it belongs to.
    texts_ : list of matplotlib Text
        One for each node drawn.

    See Also
    --------
    export_text : The tree in words.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from corollary.tree import DecisionTreeClassifier, TreeDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DecisionTreeClassifier(max_depth=2).fit(X, y)
    >>> len(TreeDisplay.from_estimator(model).texts_)
    5
    """

    def __init__(self, model: Any, *, feature_names: list[str] | None = None) -> None:
        self.model = model
        self.feature_names = feature_names

    def plot(self, ax: Any = None, *, max_depth: int = 4, digits: int = 3) -> Self:
        """Draw the tree.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure large enough for the leaves.
        max_depth : int, default=4
            Deeper branches are drawn as one node.
        digits : int, default=3
            Significant digits of thresholds and values.

        Returns
        -------
        display : TreeDisplay
            Itself, with ``ax_``, ``figure_`` and ``texts_``.
        """
        whole = self.model.nodes_
        tree = cut(whole, (whole.left >= 0) & (whole.depth >= max_depth))
        # The nodes of the shallow tree in the numbering of the whole one.
        kept = np.flatnonzero(whole.depth <= max_depth)
        depth, x = tree.depth, self._places(tree)
        size = (max(4.0, 1.55 * tree.n_leaves), 1.5 + 1.15 * tree.max_depth)
        ax = axes_for(ax, figsize=size, layout="constrained")
        names = column_names(self.model, self.feature_names)
        colours = self._colours(tree)
        share = tree.weight / max(tree.weight[0], 1e-300)
        self.texts_ = []
        for node in range(tree.n_nodes):
            child = int(tree.left[node])
            for below in (child, child + 1) if child >= 0 else ():
                ax.plot(
                    [x[node], x[below]],
                    [-depth[node], -depth[below]],
                    color="0.7",
                    linewidth=0.8 + 7.0 * share[below],
                    solid_capstyle="round",
                    zorder=1,
                )
            text = answer(self.model, int(kept[node]), digits).replace(" (", "\n(")
            if child >= 0:
                left, _ = conditions(self.model, int(kept[node]), names, digits)
                text = _folded(left)
            elif whole.left[kept[node]] >= 0:
                text += "\n..."
            face, ink = colours[node] if child < 0 else ((1.0,) * 3, "black")
            box = {"boxstyle": "round,pad=0.35", "facecolor": face, "edgecolor": "0.45"}
            self.texts_.append(
                ax.text(
                    x[node],
                    -depth[node],
                    text,
                    color=ink,
                    fontsize=9,
                    ha="center",
                    va="center",
                    bbox=box,
                    zorder=2,
                )
            )
        ax.set_xlim(-0.6, tree.n_leaves - 0.4)
        ax.set_ylim(-tree.max_depth - 0.5, 0.5)
        if tree.n_nodes > 1:
            ax.text(0.5 * x[1] + 0.5 * x[0] - 0.12, -0.42, "yes", fontsize=8, ha="right")
            ax.text(0.5 * x[2] + 0.5 * x[0] + 0.12, -0.42, "no", fontsize=8, ha="left")
        ax.set_axis_off()
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        *,
        feature_names: Any = None,
        ax: Any = None,
        max_depth: int = 4,
        digits: int = 3,
    ) -> "TreeDisplay":
        """Draw a fitted tree.

        Parameters
        ----------
        model : DecisionTreeClassifier or DecisionTreeRegressor
            A fitted tree.
        feature_names : array-like of str or None, default=None
            Names of the columns; None for those of training.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        max_depth : int, default=4
            Deeper branches are drawn as one node.
        digits : int, default=3
            Significant digits of thresholds and values.

        Returns
        -------
        display : TreeDisplay
            The drawn display.
        """
        if not isinstance(model, DecisionTree):
            raise TypeError(
                "TreeDisplay draws DecisionTreeClassifier and DecisionTreeRegressor. "
                f"Got {type(model).__name__} instead."
            )
        check_is_fitted(model)
        names = None if feature_names is None else column_names(model, feature_names)
        return cls(model, feature_names=names).plot(ax, max_depth=max_depth, digits=digits)

    def _places(self, tree: Any) -> np.ndarray:
        """Put leaves side by side and every split above the middle of its sides."""
        x, next_leaf, stack = np.zeros(tree.n_nodes), 0, [0]
        while stack:  # left sides first, so that leaves are met from left to right
            node = stack.pop()
            if tree.left[node] < 0:
                x[node] = next_leaf
                next_leaf += 1
            else:
                stack += [int(tree.left[node]) + 1, int(tree.left[node])]
        for node in range(tree.n_nodes - 1, -1, -1):
            child = tree.left[node]
            if child >= 0:
                x[node] = 0.5 * (x[child] + x[child + 1])
        return x

    def _colours(self, tree: Any) -> list[tuple[tuple[float, ...], str]]:
        import matplotlib as mpl

        colours: list[tuple[tuple[float, ...], str]] = []
        if is_classifier(self.model):
            palette = [mpl.colormaps["tab10"](k)[:3] for k in range(10)]
            n_classes = tree.value.shape[1]
            for value in tree.value:
                best = int(value.argmax())
                sure = (value[best] - 1.0 / n_classes) / (1.0 - 1.0 / n_classes or 1.0)
                strength = 0.15 + 0.6 * float(np.clip(sure, 0.0, 1.0))
                base = np.array(palette[best % len(palette)])
                face = tuple(float(v) for v in 1.0 - strength * (1.0 - base))
                colours.append((face, "black"))
            return colours
        leaf = tree.value[tree.left < 0, 0]
        low, high = float(leaf.min()), float(leaf.max())
        for value in tree.value[:, 0]:
            place = (value - low) / (high - low) if high > low else 0.5
            face = mpl.colormaps["viridis"](float(np.clip(place, 0.0, 1.0)))[:3]
            dark = 0.3 * face[0] + 0.6 * face[1] + 0.1 * face[2] < 0.5
            colours.append((tuple(float(v) for v in face), "white" if dark else "black"))
        return colours


def _folded(text: str, width: int = 18) -> str:
    """Break a condition over lines, so that boxes of neighbours do not overlap."""
    lines, line = [], ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return "\n".join([*lines, line])
