"""From a table to a tree: what the exact and the histogram growers share.

A :class:`Problem` is what a tree is grown for: targets and a criterion. Sums over rows decide, so
a row of weight k counts like k rows; only ``min_samples_split`` and ``min_samples_leaf`` count
rows. Features that a split may use are drawn by a generator of its own for each tree, so that a
forest does not depend on the order in which its trees are grown.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from corollary.tree.binning import Bins
from corollary.tree.structure import Tree

_IMPURITY = {"gini": 1, "entropy": 2, "log_loss": 2, "misclassification": 3}
_LIMIT = 2**62
_NEAR_BYTES = 2**18


@dataclass(frozen=True)
class Problem:
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
    >>> from corollary.tree.grow import Problem
    >>> Problem(np.array([0.0, 1.0]), "gini", 2).moments
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
class Rules:
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
    >>> from corollary.tree.grow import Rules
    >>> Rules(max_depth=3).max_depth
    3
    """

    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0
    min_gain: float = 0.0
    max_leaf_nodes: int | None = None
    max_features: int | None = None

    def _compiled(self, kind: Any, n_features: int, unit: float, *more: Any) -> Any:
        return kind(
            _LIMIT if self.max_depth is None else int(self.max_depth),
            # A split needs two leaves, so a smaller node need not be searched.
            max(2, int(self.min_samples_split), 2 * int(self.min_samples_leaf)),
            int(self.min_samples_leaf),
            float(self.min_weight_leaf),
            # Rounding must not keep a split that has just the gain asked for.
            float(self.min_gain) / unit * (1 - 1e-12),
            _LIMIT if self.max_leaf_nodes is None else int(self.max_leaf_nodes),
            n_features if self.max_features is None else min(n_features, int(self.max_features)),
            *more,
        )


@dataclass(frozen=True)
class BinnedTable:
    """A table as bytes, ready to grow many trees.

    Parameters
    ----------
    bins : Bins
        Thresholds of the columns.
    codes : ndarray of uint8 of shape (n_samples, n_features)
        Bins of all values, column by column.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.tree import find_bins
    >>> from corollary.tree.grow import BinnedTable
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> bins = find_bins(X)
    >>> BinnedTable(bins, bins.transform(X)).cuts[0, :3]
    array([0.5, 1.5, inf])
    """

    bins: Bins
    codes: np.ndarray
    cuts: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        cuts = np.full((len(self.bins.cuts), 256), np.inf)
        for j, own in enumerate(self.bins.cuts):
            cuts[j, : len(own)] = own
        object.__setattr__(self, "cuts", cuts)


def grow_histogram(
    table: BinnedTable,
    problem: Problem,
    rules: Rules,
    *,
    sample_weight: np.ndarray | None = None,
    features: np.ndarray | None = None,
    monotone: np.ndarray | None = None,
    seed: int = 0,
) -> Tree:
    """Grow a tree by histograms of binned columns."""
    from corollary.tree._loops import histogram as compiled

    n_features = table.codes.shape[1]
    row, target, weight, unit = _entries(problem, sample_weight)
    n, width = len(row), problem.width
    columns = np.arange(n_features) if features is None else np.sort(features)
    binary = problem.moments and problem.n_classes == 2
    limits = rules._compiled(compiled.Rules, len(columns), unit, binary)
    categories = np.where(table.bins.categorical, table.bins.n_bins, 0)
    kinds = categories if categories.any() else None
    capacity = max(1, 2 * n - 1)
    value = np.empty(2 * n)
    value[0::2], value[1::2] = target, weight
    lists = np.zeros(513, dtype=np.int64)
    lists[0] = seed
    work = compiled.Work(
        row.astype(np.uint32),
        value,
        np.empty(n, dtype=np.uint32),
        np.empty(2 * n),
        np.zeros(257 * width),
        lists,
        columns.astype(np.int32),
        np.empty(4 * n, dtype=np.int64),
        np.empty((n_features, _near_rows(limits, n, n_features)), dtype=np.uint8),
    )
    grown = compiled.Grown(
        np.empty(4 * capacity, dtype=np.int32),
        np.empty((capacity, width)),
        np.empty(capacity),
        np.empty((1 if kinds is None else capacity, 256), dtype=np.bool_),
    )
    grown.total[0] = _channel_sums(problem, target, weight)
    bounds = _bounds(compiled.Monotone, monotone, capacity)
    size = compiled.grow_tree(table.codes.T, kinds, problem.impurity, limits, work, grown, bounds)
    feature, cut, to_left, left = grown.nodes[: 4 * size].reshape(-1, 4).T
    inner = left >= 0
    threshold = np.zeros(size)
    threshold[inner] = table.cuts[feature[inner], cut[inner]]
    categorical = inner & (cut == 255)
    threshold[categorical] = 0.0
    value = _values(problem, grown.total[:size], bounds)
    return _tree(
        feature, threshold, to_left, left, value, grown.total[:size, 0],
        grown.gain[:size] * unit, n_features, categorical,
        grown.bits[:size] if kinds is not None else grown.bits[:0],
    )  # fmt: skip


def grow_exact(
    X: np.ndarray,
    problem: Problem,
    rules: Rules,
    *,
    sample_weight: np.ndarray | None = None,
    categorical: np.ndarray | None = None,
    monotone: np.ndarray | None = None,
    seed: int = 0,
) -> Tree:
    """Grow a tree by exact splits: every cut between neighbouring values is tried."""
    from corollary.tree._loops import exact as compiled

    n_features = X.shape[1]
    row, target, weight, unit = _entries(problem, sample_weight)
    n, width, levels = len(row), problem.width, None
    if problem.criterion == "absolute_error":
        levels, ranks = np.unique(target, return_inverse=True)
        target = ranks.astype(np.float64)
    kinds = np.zeros(n_features, dtype=np.int64)
    if categorical is not None:
        kinds[categorical] = 255
    columns = np.ascontiguousarray(X[row].T, dtype=np.float64)
    limits = rules._compiled(compiled.Rules, n_features, unit)
    capacity = max(1, 2 * n - 1)
    work = compiled.Work(
        columns,
        np.argsort(columns, axis=1, kind="stable").astype(np.int64),
        target,
        weight,
        np.empty(n, dtype=np.int64),
        np.empty(n),
        np.empty(n, dtype=np.bool_),
        np.zeros((4, n + 2 if levels is not None else 0)),
        np.zeros((4, max(256, width))),
        np.arange(n_features, dtype=np.int64),
        np.array([seed], dtype=np.int64),
        np.empty((n, 2), dtype=np.int64),
    )
    grown = compiled.Grown(
        np.empty((capacity, 5), dtype=np.int64),
        np.empty(capacity),
        np.empty((capacity, width)),
        np.empty(capacity),
        np.empty((capacity if kinds.any() else 1, 256), dtype=np.bool_),
    )
    grown.total[0] = _channel_sums(problem, target, weight)
    given = kinds if kinds.any() else None
    bounds = _bounds(compiled.Monotone, monotone, capacity)
    size = compiled.grow_exact(given, problem.impurity, levels, limits, work, grown, bounds)
    feature, to_left, left, start, stop = grown.nodes[:size].T
    categorical_split = (left >= 0) & (kinds[feature] > 0)
    threshold = np.where((left >= 0) & ~categorical_split, grown.threshold[:size], 0.0)
    if levels is not None:
        order, y = work.order[0], levels[target.astype(np.int64)]
        spans = [order[a:b] for a, b in zip(start, stop)]
        value = np.array([[weighted_median(y[s], weight[s])] for s in spans])
    else:
        value = _values(problem, grown.total[:size], bounds)
    return _tree(
        feature, threshold, to_left, left, value, grown.total[:size, 0],
        grown.gain[:size] * unit, n_features, categorical_split,
        grown.bits[:size] if kinds.any() else grown.bits[:0],
    )  # fmt: skip


def weighted_median(y: np.ndarray, weight: np.ndarray) -> float:
    """Return the middle of the minimisers of the weighted absolute error."""
    order = np.argsort(y, kind="stable")
    mass = np.cumsum(weight[order])
    half = 0.5 * mass[-1]
    low = int(np.searchsorted(mass, half * (1 - 1e-12)))
    high = int(np.searchsorted(mass, half * (1 + 1e-12), side="right"))
    return float(0.5 * y[order[low]] + 0.5 * y[order[min(high, len(y) - 1)]])


def _entries(
    problem: Problem, sample_weight: np.ndarray | None
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


def _near_rows(limits: Any, n_samples: int, n_features: int) -> int:
    """Return from how many rows on a branch copies its bins: what stays in the cache of a core.

    Copying pays if a good part of the columns is looked at again below, and if all rows together
    do not fit in the cache anyway.
    """
    rows = _NEAR_BYTES // n_features
    if limits.max_leaf_nodes < n_samples or n_features > 16 * limits.max_features:
        return 0
    return 0 if n_samples <= rows or rows < 256 else rows


def _channel_sums(problem: Problem, target: np.ndarray, weight: np.ndarray) -> np.ndarray:
    if problem.moments:
        return np.array([weight.sum(), (weight * target).sum()])
    by_class = np.bincount(target.astype(np.int64), weights=weight, minlength=problem.n_classes)
    return np.append(weight.sum(), by_class)


def _bounds(kind: Any, monotone: np.ndarray | None, capacity: int) -> Any:
    """Make room for the bounds of nodes; the root has none."""
    if monotone is None:
        return None
    signs = np.ascontiguousarray(monotone, dtype=np.int64)
    return kind(signs, np.full(capacity, -np.inf), np.full(capacity, np.inf))


def _values(problem: Problem, total: np.ndarray, bounds: Any = None) -> np.ndarray:
    share = total[:, 1:] / total[:, :1]
    if bounds is not None:
        # Splits of columns without a constraint may leave the bounds; answers may not.
        low, high = bounds.low[: len(share)], bounds.high[: len(share)]
        share[:, -1] = np.clip(share[:, -1], low, high)
        if share.shape[1] == 2:
            share[:, 0] = 1.0 - share[:, 1]
    if problem.n_classes == 0:
        centre, scale = problem.scale()
        return centre + scale * share
    if problem.n_classes == 1:
        return np.ones_like(share)
    return np.hstack([1.0 - share, share]) if problem.moments else share


def _tree(
    feature: np.ndarray,
    threshold: np.ndarray,
    to_left: np.ndarray,
    left: np.ndarray,
    value: np.ndarray,
    weight: np.ndarray,
    gain: np.ndarray,
    n_features: int,
    categorical: np.ndarray,
    bits: np.ndarray,
) -> Tree:
    inner = left >= 0
    categories, bitsets = np.zeros(0, dtype=np.int32), np.zeros((0, 8), dtype=np.uint32)
    if categorical.any():
        categories = np.full(len(left), -1, dtype=np.int32)
        categories[categorical] = np.arange(np.count_nonzero(categorical), dtype=np.int32)
        packed = np.packbits(bits[categorical], axis=1, bitorder="little")
        bitsets = packed.view("<u4").astype(np.uint32)
    return Tree(
        feature=np.where(inner, feature, -1).astype(np.int32),
        threshold=threshold,
        missing_left=(to_left != 0) & inner,
        left=left.astype(np.int32),
        value=np.ascontiguousarray(value),
        weight=weight.copy(),
        gain=np.where(inner, gain, 0.0),
        n_features=int(n_features),
        categories=categories,
        bitsets=bitsets,
    )
