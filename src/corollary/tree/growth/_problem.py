"""From a table to a tree: what the exact and the histogram growers share.

A :class:`GrowthProblem` is what a tree is grown for: targets and a criterion. Sums over rows
decide, so a row of weight k counts like k rows; only ``min_samples_split`` and
``min_samples_leaf`` count rows. Features that a split may use are drawn by a generator of its own
for each tree, so that a forest does not depend on the order in which its trees are grown.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.tree.structure.tree import Tree

_IMPURITY = {"gini": 1, "entropy": 2, "log_loss": 2, "misclassification": 3}
_LIMIT = 2**62
# Least weight of a side, which is a difference and may round to zero or below: products of two such
# weights are still positive. Estimators bring the largest weight of a row to at least 1e-100.
_NO_WEIGHT = 1e-150


@dataclass(frozen=True)
class GrowthProblem:
    """Targets and the criterion by which splits are judged.

    Parameters
    ----------
    target : ndarray of shape (n_samples,)
        Numbers, or class numbers from 0.
    criterion : {"gini", "entropy", "log_loss", "misclassification", "squared_error", \
"absolute_error"}
        What splits lower.
    n_classes : int
        Number of classes; 0 for numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.tree import GrowthProblem
    >>> GrowthProblem(np.array([0.0, 1.0]), "gini", 2).moments
    True
    """

    target: np.ndarray
    criterion: str
    n_classes: int

    @property
    def moments(self) -> bool:
        """Whether weight and mean of a node decide, as for the Gini index of two classes."""
        return self.n_classes == 0 or (self.criterion == "gini" and self.n_classes <= 2)

    @property
    def width(self) -> int:
        """Channels of a node's sums."""
        return 2 if self.moments else 1 + self.n_classes

    @property
    def impurity(self) -> int | None:
        """Code of the impurity in compiled code; None for squared error."""
        return None if self.moments else _IMPURITY[self.criterion]

    def scale(self) -> tuple[float, float]:
        """Return centre and scale of numbers, so that sums neither cancel nor overflow."""
        if self.n_classes or not len(self.target) or self.criterion == "absolute_error":
            return 0.0, 1.0
        low, high = float(np.min(self.target)), float(np.max(self.target))
        middle, spread = 0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low
        # Only far from zero: elsewhere a centre would cost the last digit of every mean. A power
        # of two costs none.
        centre = middle if abs(middle) > 64.0 * spread else 0.0
        largest = max(abs(low - centre), abs(high - centre))
        return centre, float(2.0 ** np.frexp(largest)[1]) if largest > 0.0 else 1.0


@dataclass(frozen=True)
class GrowthRules:
    """When a tree stops growing.

    Parameters
    ----------
    max_depth : int or None, default=None
        Splits above a leaf at most; None for no limit.
    min_samples_split : int, default=2
        Rows a node must have to be split.
    min_samples_leaf : int, default=1
        Rows a leaf must have.
    min_weight_leaf : float, default=0.0
        Weight a leaf must have.
    min_gain : float, default=0.0
        By how much a split must lower the criterion, as a sum over rows.
    max_leaf_nodes : int or None, default=None
        Leaves at most; with a limit the split of largest gain comes first. None for no limit.
    max_features : int or None, default=None
        Columns drawn at random at every node; None for all.

    Examples
    --------
    >>> from corollary.tree import GrowthRules
    >>> GrowthRules(max_depth=3).max_depth
    3
    """

    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0
    min_gain: float = 0.0
    max_leaf_nodes: int | None = None
    max_features: int | None = None


def compiled_rules(rules: GrowthRules, problem: GrowthProblem, n_features: int, unit: float) -> Any:
    """Return rules as loops take them; ``unit`` is that of gains."""
    from corollary.tree._loops import growth

    most = n_features if rules.max_features is None else int(rules.max_features)
    return growth.Rules(
        max_depth=_LIMIT if rules.max_depth is None else int(rules.max_depth),
        # A split needs two leaves, so a smaller node need not be searched.
        min_samples_split=max(2, int(rules.min_samples_split), 2 * int(rules.min_samples_leaf)),
        min_samples_leaf=int(rules.min_samples_leaf),
        min_weight_leaf=max(float(rules.min_weight_leaf), _NO_WEIGHT),
        # Rounding must not keep a split that has just the gain asked for.
        min_gain=float(rules.min_gain) / unit * (1 - 1e-12),
        max_leaf_nodes=_LIMIT if rules.max_leaf_nodes is None else int(rules.max_leaf_nodes),
        max_features=min(n_features, most),
        binary=problem.moments and problem.n_classes == 2,
    )


def weighted_rows(
    problem: GrowthProblem, sample_weight: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Return rows with weight, their scaled targets, weights, and the unit of gains."""
    if sample_weight is None:
        row = np.arange(len(problem.target))
        weight = np.ones(len(row))
    else:
        row = np.flatnonzero(sample_weight > 0)
        weight = np.asarray(sample_weight[row], dtype=np.float64)
    if not len(row):
        raise ValueError("A tree needs at least one row of positive weight. Got none.")
    target = np.asarray(problem.target[row], dtype=np.float64)
    centre, scale = problem.scale()
    if problem.n_classes == 0:
        target = (target - centre) / scale
    # Two classes are numbers 0 and 1, whose squared error is half of the Gini index. Where squares
    # would overflow or vanish, gains keep the scaled unit, so that their shares stay right.
    unit = 2.0 if problem.n_classes and problem.moments else scale * scale
    unit = unit if 1e-280 < unit < 1e280 else 1.0
    return row, target, weight, unit


def channel_sums(problem: GrowthProblem, target: np.ndarray, weight: np.ndarray) -> np.ndarray:
    if problem.moments:
        return np.array([weight.sum(), (weight * target).sum()])
    by_class = np.bincount(target.astype(np.int64), weights=weight, minlength=problem.n_classes)
    return np.append(weight.sum(), by_class)


def make_bounds(monotone: np.ndarray | None, capacity: int) -> Any:
    """Make room for the bounds of nodes; the root has none."""
    from corollary.tree._loops.growth import BOUND, Monotone

    if monotone is None:
        return None
    bounds = np.empty(capacity, BOUND)
    bounds["low"], bounds["high"] = -np.inf, np.inf
    return Monotone(np.ascontiguousarray(monotone, dtype=np.int64), bounds)


def answers(problem: GrowthProblem, total: np.ndarray, bounds: Any = None) -> np.ndarray:
    share = total[:, 1:] / total[:, :1]
    if bounds is not None:
        # Splits of columns without a constraint may leave the bounds; answers may not.
        bound = bounds.bounds[: len(share)]
        share[:, -1] = np.clip(share[:, -1], bound["low"], bound["high"])
        if share.shape[1] == 2:
            share[:, 0] = 1.0 - share[:, 1]
    if problem.n_classes == 0:
        centre, scale = problem.scale()
        return centre + scale * share
    if problem.n_classes == 1:
        return np.ones_like(share)
    return np.hstack([1.0 - share, share]) if problem.moments else share


def make_tree(
    nodes: np.ndarray,
    threshold: np.ndarray,
    value: np.ndarray,
    grown: Any,
    unit: float,
    n_features: int,
    categorical: np.ndarray,
) -> Tree:
    """Turn what a grower wrote into a tree; ``categorical`` marks the splits by categories."""
    inner = nodes["left"] >= 0
    categories, bitsets = np.zeros(0, dtype=np.int32), np.zeros((0, 8), dtype=np.uint32)
    if categorical.any():
        categories = np.full(len(nodes), -1, dtype=np.int32)
        categories[categorical] = np.arange(np.count_nonzero(categorical), dtype=np.int32)
        chosen = grown.bits[: len(nodes)][categorical]
        packed = np.packbits(chosen, axis=1, bitorder="little")
        bitsets = packed.view("<u4").astype(np.uint32)
    return Tree(
        feature=np.where(inner, nodes["feature"], -1).astype(np.int32),
        threshold=threshold,
        missing_left=(nodes["missing_left"] != 0) & inner,
        left=nodes["left"].astype(np.int32),
        value=np.ascontiguousarray(value),
        weight=grown.total[: len(nodes), 0].copy(),
        gain=np.where(inner, nodes["gain"] * unit, 0.0),
        n_features=int(n_features),
        categories=categories,
        bitsets=bitsets,
    )
