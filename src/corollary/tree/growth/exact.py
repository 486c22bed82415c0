"""Growth of a tree by exact splits: every cut between neighbouring values is tried."""

from dataclasses import replace

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


def grow_exact(
    X: np.ndarray,
    problem: GrowthProblem,
    rules: GrowthRules,
    *,
    sample_weight: np.ndarray | None = None,
    categorical: np.ndarray | None = None,
    features: np.ndarray | None = None,
    monotone: np.ndarray | None = None,
    at_random: bool = False,
    seed: int = 0,
) -> Tree:
    """Grow a tree by exact splits: every cut between neighbouring values is tried.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Columns; NaN is a missing value, categorical columns hold codes from 0 to 254.
    problem : GrowthProblem
        Targets and criterion.
    rules : GrowthRules
        When to stop.
    sample_weight : ndarray of shape (n_samples,) or None, default=None
        Weights; rows of weight zero are left out.
    categorical : ndarray of bool of shape (n_features,) or None, default=None
        Which columns hold categories; None for none.
    features : ndarray of int or None, default=None
        Columns that the tree may use; None for all.
    monotone : ndarray of int of shape (n_features,) or None, default=None
        Sign of the constraint of each column, as of :func:`grow_histogram`; not for the absolute
        error.
    at_random : bool, default=False
        Whether to try one cut of each column, drawn evenly between its least and its largest value
        in a node, as extremely randomised trees do.
    seed : int, default=0
        Start of the random numbers by which columns and cuts are drawn.

    Returns
    -------
    tree : Tree
        The tree; its values are means, medians or class shares.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.tree import GrowthProblem, GrowthRules, grow_exact
    >>> X = np.arange(6.0)[:, None]
    >>> problem = GrowthProblem(np.array([0.0, 0.0, 0.0, 1.0, 1.0, 9.0]), "squared_error", 0)
    >>> grow_exact(X, problem, GrowthRules(max_depth=1)).threshold
    array([4.5, 0. , 0. ])
    """
    from corollary.tree._loops import exact as compiled
    from corollary.tree._loops.growth import OPEN
    from corollary.tree._loops.medians import SUMS, Medians

    n_features = X.shape[1]
    row, target, weight, unit = weighted_rows(problem, sample_weight)
    n, width, medians, outputs = len(row), problem.width, None, problem.outputs(target)
    unscaled = np.asarray(problem.target[row], dtype=np.float64)
    if problem.criterion == "absolute_error":
        levels, ranks = np.unique(target, return_inverse=True)
        fenwick = np.zeros(len(levels) + 1, SUMS)
        medians = Medians(levels, fenwick, np.empty(n + 1), np.empty(n + 1))
        target = ranks.astype(np.float64)
    kinds = None
    if categorical is not None and categorical.any():
        kinds = np.where(categorical, 255, 0)
    columns = np.ascontiguousarray(X[row].T, dtype=np.float64)
    usable = np.arange(n_features) if features is None else np.sort(features)
    capacity = max(1, 2 * n - 1)
    order = np.arange(n)[None] if at_random else np.argsort(columns, axis=1, kind="stable")
    work = compiled.Work(
        columns=columns,
        order=order.astype(np.int64),
        rows=np.empty(n, compiled.ROW),
        places=np.empty(n, compiled.PLACE),
        categories=np.empty(256, compiled.CATEGORY),
        left=np.empty(width),
        goes_left=np.empty(n, dtype=np.bool_),
        features=usable.astype(np.int64),
        random=np.array([seed], dtype=np.int64),
        open=np.empty(n, OPEN),
        bits=np.empty(256, dtype=np.bool_),
    )
    work.rows["target"], work.rows["weight"] = (target if outputs is None else 0.0), weight
    grown = compiled.Grown(
        nodes=np.empty(capacity, compiled.NODE),
        total=np.empty((capacity, width)),
        bits=np.empty((1 if kinds is None else capacity, 256), dtype=np.bool_),
    )
    grown.total[0] = channel_sums(problem, target, weight)
    bounds = make_bounds(monotone, capacity)
    limits = compiled_rules(rules, problem, len(usable), unit)
    lone = True if at_random else None
    size = compiled.grow_exact(
        kinds, problem.impurity, medians, outputs, limits, work, grown, bounds, lone
    )
    nodes = grown.nodes[:size]
    inner = nodes["left"] >= 0
    by_category = np.zeros(size, dtype=bool)
    if kinds is not None:
        by_category = inner & (kinds[nodes["feature"]] > 0)
    threshold = np.where(inner & ~by_category, nodes["threshold"], 0.0)
    if medians is not None:
        y = levels[target.astype(np.int64)]
        spans = [work.order[0, a:b] for a, b in zip(nodes["start"], nodes["stop"])]
        value = np.array([[_weighted_median(y[s], weight[s])] for s in spans])
    else:
        value = answers(problem, grown.total[:size], bounds)
    owned = unscaled[work.order[0]], weight[work.order[0]]
    return make_tree(nodes, threshold, value, grown, problem, n_features, by_category, owned)


def grow_on_bins(
    table: BinnedTable,
    problem: GrowthProblem,
    rules: GrowthRules,
    *,
    sample_weight: np.ndarray | None = None,
    features: np.ndarray | None = None,
    monotone: np.ndarray | None = None,
    seed: int = 0,
) -> Tree:
    """Grow a tree by trying exactly the cuts between bins, for what has no histogram.

    Parameters
    ----------
    table : BinnedTable
        Columns in bins.
    problem : GrowthProblem
        Targets and criterion.
    rules : GrowthRules
        When to stop.
    sample_weight : ndarray of shape (n_samples,) or None, default=None
        Weights; rows of weight zero are left out.
    features : ndarray of int or None, default=None
        Columns that the tree may use; None for all.
    monotone : ndarray of int of shape (n_features,) or None, default=None
        Sign of the constraint of each column.
    seed : int, default=0
        Start of the random numbers by which columns are drawn.

    Returns
    -------
    tree : Tree
        The tree; its thresholds are those of the bins.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.tree import BinnedTable, GrowthProblem, GrowthRules, grow_on_bins
    >>> table = BinnedTable.of(np.arange(6.0)[:, None])
    >>> problem = GrowthProblem(np.array([0.0, 0.0, 0.0, 1.0, 1.0, 9.0]), "absolute_error", 0)
    >>> grow_on_bins(table, problem, GrowthRules(max_depth=1)).threshold
    array([4.5, 0. , 0. ])
    """
    codes = np.where(table.codes == 255, np.nan, table.codes)
    categorical = table.bins.categorical
    grown = grow_exact(
        codes,
        problem,
        rules,
        sample_weight=sample_weight,
        categorical=categorical,
        features=features,
        monotone=monotone,
        seed=seed,
    )
    threshold = grown.threshold.copy()
    by_number = (grown.left >= 0) & ~categorical[grown.feature]
    last = np.minimum(np.floor(threshold[by_number]), 255).astype(np.int64)
    threshold[by_number] = table.cuts[grown.feature[by_number], last]
    return replace(grown, threshold=threshold)


def _weighted_median(y: np.ndarray, weight: np.ndarray) -> float:
    """Return the middle of the minimisers of the weighted absolute error."""
    order = np.argsort(y, kind="stable")
    mass = np.cumsum(weight[order])
    half = 0.5 * mass[-1]
    low = int(np.searchsorted(mass, half * (1 - 1e-12)))
    high = int(np.searchsorted(mass, half * (1 + 1e-12), side="right"))
    return float(0.5 * y[order[low]] + 0.5 * y[order[min(high, len(y) - 1)]])
