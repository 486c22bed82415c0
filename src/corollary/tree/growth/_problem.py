"""From a table to a tree: what the exact and the histogram growers share.

A :class:`GrowthProblem` is what a tree is grown for: targets and a criterion. Sums over rows
decide, so a row of weight k counts like k rows; only ``min_samples_split`` and
``min_samples_leaf`` count rows. Features that a split may use are drawn by a generator of its own
for each tree, so that a forest does not depend on the order in which its trees are grown.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import xlogy

from corollary.tree.growth.impurity import gini_index, misclassification, node_entropy
from corollary.tree.structure.tree import Tree

_IMPURITY = {"gini": 1, "entropy": 2, "log_loss": 2, "misclassification": 3}
_IMPURITY |= {"squared_error": 1, "friedman_mse": 1, "poisson": 4}  # of several targets, and counts
_LIMIT = 2**62
# Compiled sums are in nats; limits and gains of the entropy are in bits.
_BITS = 1.0 / float(np.log(2.0))
# Least weight of a side, which is a difference and may round to zero or below: products of two such
# weights are still positive. Estimators bring the largest weight of a row to at least 1e-100.
_NO_WEIGHT = 1e-150


@dataclass(frozen=True)
class GrowthProblem:
    """Targets and the criterion by which splits are judged.

    Parameters
    ----------
    target : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Numbers, or class numbers from 0; a column for each of several targets.
    criterion : {"gini", "entropy", "log_loss", "misclassification", "squared_error", \
"absolute_error", "poisson"}
        What splits lower; of several targets the mean.
    n_classes : int or tuple of int
        Number of classes, of each target if there are several; 0 for numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.tree import GrowthProblem
    >>> GrowthProblem(np.array([0.0, 1.0]), "gini", 2).moments
    True
    """

    target: np.ndarray
    criterion: str
    n_classes: int | tuple[int, ...]

    @property
    def moments(self) -> bool:
        """Whether weight and mean of a node decide, as for the Gini index of two classes."""
        if self.several or self.criterion == "poisson":
            return False
        return self.n_classes == 0 or (self.criterion == "gini" and self.n_classes in (1, 2))

    @property
    def several(self) -> bool:
        """Whether there are several targets."""
        return self.target.ndim == 2

    @property
    def labels(self) -> tuple[int, ...]:
        """Number of classes of each target; empty for numbers."""
        counts = self.n_classes if isinstance(self.n_classes, tuple) else (self.n_classes,)
        return tuple(count for count in counts if count > 0)

    @property
    def width(self) -> int:
        """Channels of a node's sums."""
        return 2 if self.moments else 1 + (sum(self.labels) or self.n_targets)

    @property
    def n_targets(self) -> int:
        """Number of targets."""
        return self.target.shape[1] if self.several else 1

    @property
    def in_bins(self) -> bool:
        """Whether sums by bin say all: medians have none, and several targets many."""
        return not (self.several or self.criterion in ("absolute_error", "poisson"))

    @property
    def impurity(self) -> int | None:
        """Code of the impurity in compiled code; None for squared error."""
        return None if self.moments else _IMPURITY.get(self.criterion)

    def scale(self) -> tuple[float, float]:
        """Return centre and scale of numbers, so that sums neither cancel nor overflow."""
        if self.labels or not self.target.size or self.criterion == "absolute_error":
            return 0.0, 1.0
        low, high = float(np.min(self.target)), float(np.max(self.target))
        middle, spread = 0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low
        # Only far from zero: elsewhere a centre would cost the last digit of every mean. A power
        # of two costs none. Counts keep their zero.
        far = abs(middle) > 64.0 * spread and self.criterion != "poisson"
        centre = middle if far else 0.0
        largest = max(abs(low - centre), abs(high - centre))
        return centre, float(2.0 ** np.frexp(largest)[1]) if largest > 0.0 else 1.0

    def unit(self) -> float:
        """Return the unit of gains: what one in scaled targets is in the criterion."""
        _, scale = self.scale()
        # Two classes are numbers 0 and 1, whose squared error is half of the Gini index. Where
        # squares would overflow or vanish, gains keep the scaled unit, so that shares stay right.
        unit = 2.0 if self.labels and self.moments else scale * scale
        if self.criterion in ("entropy", "log_loss"):
            unit = _BITS
        elif self.criterion == "poisson":
            unit = scale
        unit /= self.n_targets
        return unit if 1e-280 < unit < 1e280 else 1.0

    def outputs(self, target: np.ndarray) -> np.ndarray | None:
        """Return a number for each row and channel where targets are several, or counts.

        Parameters
        ----------
        target : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Scaled numbers, or class numbers.

        Returns
        -------
        outputs : ndarray of shape (n_samples, n_channels) or None
            The numbers, or marks of classes; None where one target decides.
        """
        if self.in_bins or self.criterion == "absolute_error":
            return None
        columns = target.reshape(len(target), -1)
        if not self.labels:
            return np.ascontiguousarray(columns)
        marks = [column[:, None] == np.arange(k) for column, k in zip(columns.T, self.labels)]
        return np.concatenate(marks, axis=1).astype(np.float64)


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
        binary=problem.moments and problem.labels == (2,),
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
    if not problem.labels:
        target = (target - centre) / scale
    return row, target, weight, problem.unit()


def channel_sums(problem: GrowthProblem, target: np.ndarray, weight: np.ndarray) -> np.ndarray:
    if problem.moments or problem.criterion == "absolute_error":
        return np.array([weight.sum(), (weight * target).sum()])
    if (outputs := problem.outputs(target)) is not None:
        return np.append(weight.sum(), (weight[:, None] * outputs).sum(axis=0))
    by_class = np.bincount(target.astype(np.int64), weights=weight, minlength=problem.labels[0])
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
    if not problem.labels:
        centre, scale = problem.scale()
        return centre + scale * share
    if problem.labels == (1,):
        return np.ones_like(share)
    return np.hstack([1.0 - share, share]) if problem.moments else share


def make_tree(
    nodes: np.ndarray,
    threshold: np.ndarray,
    value: np.ndarray,
    grown: Any,
    problem: GrowthProblem,
    n_features: int,
    categorical: np.ndarray,
    in_order: tuple[np.ndarray, np.ndarray],
) -> Tree:
    """Turn what a grower wrote into a tree; ``categorical`` marks the splits by categories.

    ``in_order`` has targets and weights of rows in the order in which nodes own them.
    """
    inner = nodes["left"] >= 0
    weight, gain = grown.total[: len(nodes), 0], nodes["gain"] * problem.unit()
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
        weight=weight.copy(),
        gain=np.where(inner, gain, 0.0),
        n_features=int(n_features),
        categories=categories,
        bitsets=bitsets,
        samples=(nodes["stop"] - nodes["start"]).astype(np.int32),
        impurity=node_impurity(problem, nodes, value, weight, in_order),
    )


def node_impurity(
    problem: GrowthProblem,
    nodes: np.ndarray,
    value: np.ndarray,
    weight: np.ndarray,
    in_order: tuple[np.ndarray, np.ndarray],
) -> np.ndarray:
    """Return the mean criterion of the rows in each node."""
    if problem.labels:
        measure = _MEASURES.get(problem.criterion, node_entropy)
        starts = np.cumsum((0, *problem.labels))
        parts = [measure(value[:, a:b]) for a, b in pairwise(starts)]
        bits = _BITS if measure is node_entropy else 1.0
        return np.asarray(bits * np.mean(parts, axis=0))
    target, row_weight = in_order
    # Leaves own all rows, one after the other, and a node has what its children have and its gain.
    leaves = np.flatnonzero(nodes["left"] < 0)
    leaves = leaves[np.argsort(nodes["start"][leaves], kind="stable")]
    sizes = nodes["stop"][leaves] - nodes["start"][leaves]
    answer = np.repeat(value[leaves], sizes, axis=0)
    loss = _row_losses(problem.criterion, target.reshape(len(target), -1), answer)
    total = np.zeros(len(nodes))
    total[leaves] = np.add.reduceat(row_weight * loss, nodes["start"][leaves])
    left, gain = nodes["left"], nodes["gain"] * problem.unit()
    levels = [np.zeros(1, dtype=np.int64)]
    while len(inner := levels[-1][left[levels[-1]] >= 0]):
        levels.append(np.concatenate([left[inner], left[inner] + 1]))
    for level in levels[::-1]:
        inner = level[left[level] >= 0]
        total[inner] = total[left[inner]] + total[left[inner] + 1] + gain[inner]
    return np.asarray(total / weight)


_MEASURES = {"gini": gini_index, "misclassification": misclassification}


def _row_losses(criterion: str, target: np.ndarray, answer: np.ndarray) -> np.ndarray:
    """Return the mean loss over targets of each row, judged by the answer of its leaf."""
    with np.errstate(over="ignore"):
        if criterion == "absolute_error":
            loss = np.abs(target - answer)
        elif criterion == "poisson":
            loss = xlogy(target, target / np.where(answer > 0.0, answer, 1.0)) + answer - target
        else:
            loss = (target - answer) ** 2
    return np.asarray(loss.mean(axis=1))
