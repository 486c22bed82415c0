"""Growth of a tree by histograms of binned columns."""

from typing import Any

import numpy as np

from corollary.tree.binning.table import BinnedTable
from corollary.tree.growth._problem import (
    GrowthProblem,
    GrowthRules,
    answers,
    channel_sums,
    compiled_rules,
    make_bounds,
    make_tree,
    weighted_rows,
)
from corollary.tree.structure.tree import Tree

# What one core keeps near it.
_NEAR_BYTES = 2**18


def grow_histogram(
    table: BinnedTable,
    problem: GrowthProblem,
    rules: GrowthRules,
    *,
    sample_weight: np.ndarray | None = None,
    features: np.ndarray | None = None,
    monotone: np.ndarray | None = None,
    seed: int = 0,
) -> Tree:
    """Grow a tree by histograms of binned columns.

    Parameters
    ----------
    table : BinnedTable
        The columns.
    problem : GrowthProblem
        Targets and criterion; not the absolute error.
    rules : GrowthRules
        When to stop.
    sample_weight : ndarray of shape (n_samples,) or None, default=None
        Weights; rows of weight zero are left out.
    features : ndarray of int or None, default=None
        Columns the tree may use; None for all.
    monotone : ndarray of int of shape (n_features,) or None, default=None
        Sign of the constraint of each column: the mean target, or the share of the second of two
        classes, must not fall (1) or not rise (-1) with it. None for no constraints.
    seed : int, default=0
        Start of the random numbers by which columns are drawn.

    Returns
    -------
    tree : Tree
        The tree; its values are means or class shares.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.tree import BinnedTable, GrowthProblem, GrowthRules, grow_histogram
    >>> table = BinnedTable.of(np.arange(6.0)[:, None])
    >>> problem = GrowthProblem(np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0]), "gini", 2)
    >>> grow_histogram(table, problem, GrowthRules()).threshold
    array([2.5, 0. , 0. ])
    """
    from corollary.tree._loops import histogram as compiled
    from corollary.tree._loops.growth import OPEN

    n_features = table.codes.shape[1]
    row, target, weight, unit = weighted_rows(problem, sample_weight)
    n, width = len(row), problem.width
    columns = np.arange(n_features) if features is None else np.sort(features)
    limits = compiled_rules(rules, problem, len(columns), unit)
    categories = np.where(table.bins.categorical, table.bins.n_bins, 0)
    kinds = categories if categories.any() else None
    capacity = max(1, 2 * n - 1)
    histogram = compiled.Histogram(
        sums=np.zeros((256, width)),
        counts=np.zeros(256, dtype=np.int64),
        seen=np.empty(256, dtype=np.int64),
        left=np.empty(width),
    )
    entry = np.empty(n, compiled.ENTRY)
    entry["row"], entry["target"], entry["weight"] = row, target, weight
    random = np.array([seed], dtype=np.int64)
    work = compiled.Work(entry, histogram, columns.astype(np.int64), random)
    room = compiled.Room(
        open=np.empty(n, OPEN),
        goes_left=np.empty(256, dtype=np.bool_),
        spare=np.empty(n, compiled.ENTRY),
        near=np.empty((n_features, _near_rows(limits, n, n_features)), dtype=np.uint8),
    )
    grown = compiled.Grown(
        nodes=np.empty(capacity, compiled.NODE),
        total=np.empty((capacity, width)),
        bits=np.empty((1 if kinds is None else capacity, 256), dtype=np.bool_),
    )
    grown.total[0] = channel_sums(problem, target, weight)
    bounds = make_bounds(monotone, capacity)
    size = compiled.grow_tree(
        table.codes.T, kinds, problem.impurity, limits, work, room, grown, bounds
    )
    nodes = grown.nodes[:size]
    inner = nodes["left"] >= 0
    categorical = inner & (nodes["cut"] == compiled.MISSING)
    threshold = np.zeros(size)
    threshold[inner] = table.cuts[nodes["feature"][inner], nodes["cut"][inner]]
    threshold[categorical] = 0.0
    value = answers(problem, grown.total[:size], bounds)
    centre, scale = problem.scale()
    owned = centre + scale * entry["target"], entry["weight"]
    return make_tree(nodes, threshold, value, grown, problem, n_features, categorical, owned)


def _near_rows(limits: Any, n_samples: int, n_features: int) -> int:
    """Return from how many rows on a branch copies its bins: what stays in the cache of a core.

    Copying pays if a good part of the columns is looked at again below, and if all rows together
    do not fit in the cache anyway.
    """
    rows = _NEAR_BYTES // n_features
    if limits.max_leaf_nodes < n_samples or n_features > 16 * limits.max_features:
        return 0
    return 0 if n_samples <= rows or rows < 256 else rows
