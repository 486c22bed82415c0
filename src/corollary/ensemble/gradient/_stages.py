"""One stage of Friedman's gradient boosting: a tree on residuals, and the steps of its leaves."""

from dataclasses import dataclass, replace

import numpy as np

from corollary.ensemble.boosting.losses import BoostingLoss
from corollary.ensemble.boosting.quantile_losses import PinballBoostingLoss
from corollary.tree import GrowthProblem, GrowthRules, Tree, grow_exact, prune

# Curvature of a leaf below which its Newton step would be noise.
_FLAT = 1e-150


@dataclass(frozen=True, eq=False)
class Ground:
    """What all trees grow on: rows without gaps in memory, rules, and the price of a leaf."""

    X: np.ndarray
    categorical: np.ndarray
    rules: GrowthRules
    ccp_alpha: float

    def grow(self, residual: np.ndarray, weight: np.ndarray | None, seed: int) -> Tree:
        """Grow a tree by the squared error of residuals."""
        problem = GrowthProblem(residual, "squared_error", 0)
        tree = grow_exact(
            self.X,
            problem,
            self.rules,
            sample_weight=weight,
            categorical=self.categorical,
            seed=seed,
        )
        return prune(tree, self.ccp_alpha * tree.weight[0]) if self.ccp_alpha > 0 else tree


def leaf_steps(
    loss: BoostingLoss,
    leaves: np.ndarray,
    n_nodes: int,
    y: np.ndarray,
    raw: np.ndarray,
    weight: np.ndarray | None,
    derivatives: tuple[np.ndarray, np.ndarray],
) -> np.ndarray:
    """Return, by node, the best step of the rows that fell into a leaf: Newton's, or a quantile."""
    steps = np.zeros(n_nodes)
    if not loss.renews:
        gradient, hessian = derivatives
        factor = 1.0 if weight is None else weight
        slope = np.bincount(leaves, factor * gradient, minlength=n_nodes)
        curvature = np.bincount(leaves, factor * hessian, minlength=n_nodes)
        np.divide(-slope, curvature, out=steps, where=curvature > _FLAT)
        return steps
    order = np.argsort(leaves, kind="stable")
    names, starts = np.unique(leaves[order], return_index=True)
    for name, rows in zip(names, np.split(order, starts[1:])):
        some = None if weight is None else weight[rows]
        if some is None or some.any():
            steps[name] = loss.leaf_value(y[rows], raw[rows], some)[0]
    return steps


def grow_stage(
    ground: Ground,
    loss: BoostingLoss,
    y: np.ndarray,
    raw: np.ndarray,
    weight: np.ndarray | None,
    seeds: list[int],
    learning_rate: float,
) -> list[Tree]:
    """Grow the trees of one stage, give their leaves values, and move the predictions.

    Rows of weight zero are not learnt from, but their predictions move, too.
    """
    gradient, hessian = loss.derivatives(y, raw)
    if isinstance(loss, PinballBoostingLoss):  # of the slopes at zero that of scikit-learn
        gradient = np.where(y >= raw[:, 0], -loss.level, 1.0 - loss.level)[None]
    before, trees = raw.copy(), []
    used = slice(None) if weight is None else np.flatnonzero(weight > 0)
    some = None if weight is None else weight[used]
    for k, seed in enumerate(seeds):
        tree = ground.grow(-gradient[k], weight, seed)
        leaves = tree.apply(ground.X)
        slopes = gradient[k][used], hessian[k][used]
        rows = y[used], before[used]
        steps = leaf_steps(loss, leaves[used], tree.n_nodes, *rows, some, slopes)
        value = np.where(tree.left < 0, steps, tree.value[:, 0])[:, None]
        trees.append(replace(tree, value=value))
        raw[:, k] += learning_rate * steps[leaves]
    return trees
